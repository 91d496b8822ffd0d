/* SPDX-License-Identifier: BSD-3-Clause */
/* session-names.c - names: what a backend cannot is an error, and a dry run does nothing */
#include "backends/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/hash.h"
#include "base/text/path.h"

static const struct weir_ns no_names;

/* The functions of the backend; none in a dry run. */
static const struct weir_ns *names_of(const struct weir_session *s)
{
    return s->be->ns && !s->access.dry_run ? s->be->ns : &no_names;
}

/* There is no such function: that is an error, but in a dry run. */
static int cannot(const struct weir_session *s, const char *what, const char *path,
                  struct weir_err *err)
{
    if (s->access.dry_run)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s (needed for '%s')", s->be->name, what, path);
}

int weir_session_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    *yes = false;
    return names_of(s)->exists
               ? weir_session_leave(s, names_of(s)->exists(weir_session_enter(s, "exists", path), path, yes, err))
               : cannot(s, "report whether a file exists", path, err);
}

/* True when the session's names are those of a file system. */
static bool has_names(const struct weir_session *s)
{
    return !s->access.dry_run && !(s->flags & (WEIR_BE_NO_DATA | WEIR_BE_OBJECTS));
}

/* ---- existing files ---- */

/* The session has used files: what is wrong now was right then. Else the user has named it, or its
 * directory. */
static enum weir_code code_of(const struct weir_session *s)
{
    return s->opened ? WEIR_EIO : WEIR_EUSAGE;
}

static int refuse_own(const struct weir_session *s, const char *path, mode_t mode,
                      struct weir_err *err)
{
    return weir_refuse(err, code_of(s),
                       "'%s' is %s, but this program needs a regular file of that name; remove it, "
                       "or give another directory", path, weir_kind_of_file(mode));
}

/* True when a name has no file (*there is false) or a regular one of its own; false: another kind,
 * or not known. Mostly one call. */
static bool is_simple(struct weir_session *s, const char *path, bool *there)
{
    struct stat st;

    *there = false;
    if (!has_names(s) || !names_of(s)->ordinary)
        return false;
    weir_session_enter(s, "look", path);
    *there = lstat(weir_system_path(s->be, path), &st) == 0;
    weir_session_leave(s, 0);
    return *there ? S_ISREG(st.st_mode) : errno == ENOENT;
}

/* The name in the file system that a path stands for. */
static int follow(const struct weir_session *s, const char *path, struct weir_str *name,
                  struct weir_err *err)
{
    const char *system = weir_system_path(s->be, path);
    struct weir_str full = { 0 };
    struct stat st;
    int rc = 0;

    /* The name after a driver may itself begin like one. */
    weir_str_addf(&full, "%s%s", system && system != path && *system != '/' ? "./" : "",
                  system ? system : path);
    if (!has_names(s))
        weir_str_addf(name, "%s", weir_str_text(&full));
    else if (!s->access.own_names)
        rc = weir_link_follow(weir_str_text(&full), name, err);
    else if (lstat(system, &st) == 0 && S_ISLNK(st.st_mode))
        rc = refuse_own(s, path, st.st_mode, err);
    else
        weir_str_addf(name, "%s", weir_str_text(&full));
    weir_str_free(&full);
    return rc;
}

static int refuse_device(const struct weir_session *s, const char *path, struct weir_err *err)
{
    const char *how = s->access.in_place;

    return weir_refuse(err, code_of(s), "'%s' is a device, which would be removed; give %s%s", path,
                       how ? how : "a file", how ? " to write to it in place" : "");
}

/* No link on the path of a file that is not there leads nowhere. A file can be made behind a link,
 * where the directory of the target is there. */
static int check_links(const struct weir_session *s, const char *path, enum weir_intent intent,
                       struct weir_err *err)
{
    struct weir_str name = { 0 };
    struct stat st;
    int rc = weir_link_follow(path, &name, err);
    char *slash = rc == 0 ? strrchr(name.text, '/') : NULL;
    bool cut = slash && slash > name.text;

    if (cut)
        *slash = '\0';
    if (rc == 0 && lstat(path, &st) == 0 &&
        (intent == WEIR_INTENT_READ || (cut && stat(name.text, &st) < 0)))
        rc = weir_path_leads(path, err);
    else if (rc == 0 && cut)
        rc = weir_path_leads(name.text, err);
    if (rc < 0 && err && err->code == WEIR_EUSAGE)
        err->code = code_of(s);
    weir_str_free(&name);
    return rc;
}

int weir_session_admit(struct weir_session *s, const char *path, enum weir_intent intent,
                       struct weir_err *err)
{
    const char *system = weir_system_path(s->be, path);
    bool own = s->access.own_names, there;
    struct stat st;

    if (!has_names(s))
        return 0;
    if (is_simple(s, path, &there))
        return there ? 0 : check_links(s, system, intent, err);
    if ((own ? lstat(system, &st) : stat(system, &st)) < 0)
        return errno == ENOTDIR || errno == ENAMETOOLONG ? weir_fail(err, code_of(s), "'%s'", path)
               : errno == ELOOP || errno == ENOENT       ? check_links(s, system, intent, err)
                                                         : 0;
    if (S_ISREG(st.st_mode))
        return 0;
    if (own)
        return refuse_own(s, path, st.st_mode, err);
    if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
        return intent == WEIR_INTENT_REPLACE ? refuse_device(s, path, err) : 0;
    return weir_refuse(err, code_of(s), "'%s' is %s; give a file", path,
                       weir_kind_of_file(st.st_mode));
}

static int unlink_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    return names_of(s)->unlink
               ? weir_session_leave(s, names_of(s)->unlink(weir_session_enter(s, "unlink", path), path, err))
               : cannot(s, "remove files", path, err);
}

/* The last look before a removal: what a run has made is a regular file. */
int weir_session_unlink(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct stat st;

    if (s->access.dry_run)
        return 0;
    if (has_names(s) && lstat(weir_system_path(s->be, path), &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EPERM;
        return weir_fail(err, WEIR_EIO, "'%s' is %s, which is not removed", path,
                         weir_kind_of_file(st.st_mode));
    }
    return unlink_file(s, path, err);
}

/* Follow links to the name of the file, and check whether it exists (*there). */
static int find(struct weir_session *s, const char *path, struct weir_str *name, bool *there,
                struct weir_err *err)
{
    if (follow(s, path, name, err) < 0)
        return -1;
    return weir_session_exists(s, weir_str_text(name), there, err);
}

void weir_session_keep_made(struct weir_session *s, const char *path)
{
    struct statx x;

    s->made.inode = 0;
    if (!has_names(s) ||
        statx(AT_FDCWD, weir_system_path(s->be, path), AT_STATX_DONT_SYNC, STATX_INO, &x) < 0)
        return;
    s->made.path = weir_hash(WEIR_HASH_BEGIN, path, strlen(path));
    s->made.device = makedev(x.stx_dev_major, x.stx_dev_minor);
    s->made.inode = x.stx_ino;
}

/* Fails if another file took the place of the one that was made. Not for FUSE: its inodes vary. */
static int check_made(const struct weir_session *s, const char *path, struct weir_err *err)
{
    const char *system = weir_system_path(s->be, path);
    struct statfs fs;
    struct stat st;

    if (s->made.inode == 0 || !has_names(s) ||
        s->made.path != weir_hash(WEIR_HASH_BEGIN, path, strlen(path)))
        return 0;
    if (stat(system, &st) < 0)
        return weir_fail(err, WEIR_EIO, "remove '%s', which this run has created", path);
    if ((st.st_dev == s->made.device && st.st_ino == s->made.inode) ||
        (statfs(system, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC))
        return 0;
    return weir_refuse(err, WEIR_EIO,
                       "'%s' is not the file that this run created (inode %" PRIu64 ", now "
                       "%" PRIu64 "): another process has replaced it; the new file is not removed",
                       path, s->made.inode, (uint64_t)st.st_ino);
}

int weir_session_has_file(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    struct weir_str name = { 0 };
    int rc = is_simple(s, path, yes) ? 0 : find(s, path, &name, yes, err);

    weir_str_free(&name);
    return rc;
}

int weir_session_is_new(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    bool there = false, known = is_simple(s, path, &there);
    int rc = known && there ? 0 : weir_session_admit(s, path, WEIR_INTENT_REPLACE, err);

    if (rc == 0 && !known)
        rc = weir_session_exists(s, path, &there, err);
    *yes = rc == 0 && !there;
    return rc;
}

int weir_session_clear(struct weir_session *s, const char *path, struct weir_err *err)
{
    bool there = false;

    if (is_simple(s, path, &there))
        return there ? unlink_file(s, path, err)
                     : check_links(s, weir_system_path(s->be, path), WEIR_INTENT_REPLACE, err);
    return weir_session_admit(s, path, WEIR_INTENT_REPLACE, err) < 0
               ? -1
               : weir_session_remove(s, path, err);
}

int weir_session_remove(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct weir_str name = { 0 };
    bool there = false;
    int rc;

    if (check_made(s, path, err) < 0)
        return -1;
    s->made.inode = 0;
    if (is_simple(s, path, &there))
        return there ? unlink_file(s, path, err) : 0;
    rc = find(s, path, &name, &there, err);
    if (rc == 0 && there)
        rc = weir_session_unlink(s, weir_str_text(&name), err);
    weir_str_free(&name);
    return rc;
}

int weir_session_size(struct weir_session *s, const char *path, uint64_t *bytes,
                      struct weir_err *err)
{
    *bytes = 0;
    return names_of(s)->size
               ? weir_session_leave(s, names_of(s)->size(weir_session_enter(s, "size", path), path, bytes, err))
               : cannot(s, "report a file's size", path, err);
}

int weir_session_mkdir(struct weir_session *s, const char *path, unsigned mode,
                       struct weir_err *err)
{
    return names_of(s)->mkdir
               ? weir_session_leave(s, names_of(s)->mkdir(weir_session_enter(s, "mkdir", path), path, mode, err))
               : cannot(s, "create directories", path, err);
}

int weir_session_rmdir(struct weir_session *s, const char *path, struct weir_err *err)
{
    return names_of(s)->rmdir
               ? weir_session_leave(s, names_of(s)->rmdir(weir_session_enter(s, "rmdir", path), path, err))
               : cannot(s, "remove directories", path, err);
}

int weir_session_usage(struct weir_session *s, const char *path, struct weir_fs_usage *u,
                       struct weir_err *err)
{
    const struct weir_ns *ns = s->be->ns && s->be->ns->ordinary ? s->be->ns : names_of(s);

    *u = (struct weir_fs_usage) { 0 };
    return ns->usage
               ? weir_session_leave(s, ns->usage(weir_session_enter(s, "usage", path), path, u, err))
               : cannot(s, "report how full the file system is", path, err);
}

int weir_session_syncfs(struct weir_session *s, const char *path, struct weir_err *err)
{
    return names_of(s)->syncfs
               ? weir_session_leave(s, names_of(s)->syncfs(weir_session_enter(s, "syncfs", path), path, err))
               : cannot(s, "sync a file system", path, err);
}

int weir_session_list(struct weir_session *s, const char *dir, const char *begin, weir_name_fn *take, void *mine,
                      struct weir_err *err)
{
    return names_of(s)->list
               ? weir_session_leave(s, names_of(s)->list(weir_session_enter(s, "list", dir), dir, begin, take, mine, err))
               : cannot(s, "list files", dir, err);
}

int weir_session_reset_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    return s->be->reset_dir && !s->access.dry_run
               ? weir_session_leave(s, s->be->reset_dir(weir_session_enter(s, "reset layout", path), path, err))
               : cannot(s, "reset the layout of a directory", path, err);
}
