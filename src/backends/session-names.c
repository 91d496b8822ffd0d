/* SPDX-License-Identifier: BSD-3-Clause */
/* session-names.c - names of a session: what a backend cannot is an error, a dry run does nothing */
#include "config.h"
#include "backends/session.h"

#include "backends/session-call.h"

static const struct weir_ns no_names;

static const struct weir_ns *names_of(const struct weir_session *s)
{
    return s->be->ns ? s->be->ns : &no_names;
}

static int cannot(const struct weir_session *s, const char *what, const char *path,
                  struct weir_err *err)
{
    return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s (wanted for '%s')", s->be->name, what, path);
}

int weir_session_unlink(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return names_of(s)->unlink
               ? leave_call(s, names_of(s)->unlink(enter_call(s, "unlink", path), path, err))
               : cannot(s, "remove files", path, err);
}

int weir_session_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    *yes = false;
    if (s->access.dry_run)
        return 0;
    return names_of(s)->exists
               ? leave_call(s, names_of(s)->exists(enter_call(s, "exists", path), path, yes, err))
               : cannot(s, "tell whether a file exists", path, err);
}

int weir_session_is_new(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    bool there = false;
    int rc = weir_session_exists(s, path, &there, err);

    *yes = rc == 0 && !there;
    return rc;
}

int weir_session_remove(struct weir_session *s, const char *path, struct weir_err *err)
{
    bool there;

    if (weir_session_exists(s, path, &there, err) < 0)
        return -1;
    return there ? weir_session_unlink(s, path, err) : 0;
}

int weir_session_size(struct weir_session *s, const char *path, uint64_t *bytes,
                      struct weir_err *err)
{
    *bytes = 0;
    if (s->access.dry_run)
        return 0;
    return names_of(s)->size
               ? leave_call(s, names_of(s)->size(enter_call(s, "size", path), path, bytes, err))
               : cannot(s, "tell a file's size", path, err);
}

int weir_session_mkdir(struct weir_session *s, const char *path, unsigned mode,
                       struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return names_of(s)->mkdir
               ? leave_call(s, names_of(s)->mkdir(enter_call(s, "mkdir", path), path, mode, err))
               : cannot(s, "make directories", path, err);
}

int weir_session_rmdir(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return names_of(s)->rmdir
               ? leave_call(s, names_of(s)->rmdir(enter_call(s, "rmdir", path), path, err))
               : cannot(s, "remove directories", path, err);
}

int weir_session_usage(struct weir_session *s, const char *path, struct weir_fs_usage *u,
                       struct weir_err *err)
{
    *u = (struct weir_fs_usage) { 0 };
    if (s->access.dry_run)
        return 0;
    return names_of(s)->usage
               ? leave_call(s, names_of(s)->usage(enter_call(s, "usage", path), path, u, err))
               : cannot(s, "tell how full the file system is", path, err);
}

int weir_session_syncfs(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return names_of(s)->syncfs
               ? leave_call(s, names_of(s)->syncfs(enter_call(s, "syncfs", path), path, err))
               : cannot(s, "sync a file system", path, err);
}

int weir_session_reset_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return s->be->reset_dir
               ? leave_call(s, s->be->reset_dir(enter_call(s, "reset layout", path), path, err))
               : cannot(s, "reset the layout of a directory", path, err);
}
