/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-file.c - what stands at the name of a test file: links are followed, devices are spared */
#include "config.h"
#include "drivers/ior/ior.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/link.h"

/* Are there names of a file system at all? */
static bool has_names(const struct ior_test *t)
{
    return !t->o->run.dry_run && !(t->session.flags & WEIR_BE_NO_DATA);
}

static int refuse_loop(const struct ior_test *t, struct weir_err *err)
{
    struct weir_str name = { 0 };
    int rc = weir_link_follow(t->path.text, &name, err);

    weir_str_free(&name);
    return rc;
}

int ior_file_check(const struct ior_test *t, bool write, struct weir_err *err)
{
    struct stat st;

    if (!has_names(t))
        return 0;
    if (stat(t->path.text, &st) < 0)
        return errno == ELOOP ? refuse_loop(t, err) : 0;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return 0;
    if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is a pipe or socket, which has no offsets; give a file",
                           t->path.text);
    if (!write || (t->o->use_existing && t->o->keep))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "'%s' is a device, which would be removed; give -E and -k to write to it in "
                       "place",
                       t->path.text);
}

/* The name in the file system that stands for t->path, and whether something is there. */
static int find_file(struct ior_test *t, struct weir_str *name, bool *there, struct weir_err *err)
{
    weir_str_clear(name);
    weir_str_addf(name, "%s", t->path.text);
    if (has_names(t) && weir_link_follow(t->path.text, name, err) < 0)
        return -1;
    return weir_session_exists(&t->session, weir_str_text(name), there, err);
}

int ior_file_exists(struct ior_test *t, bool *there, struct weir_err *err)
{
    struct weir_str name = { 0 };
    int rc = find_file(t, &name, there, err);

    weir_str_free(&name);
    return rc;
}

int ior_file_remove(struct ior_test *t, struct weir_err *err)
{
    struct weir_str name = { 0 };
    bool there = false;
    int rc = find_file(t, &name, &there, err);

    if (rc == 0 && there)
        rc = weir_session_unlink(&t->session, weir_str_text(&name), err);
    weir_str_free(&name);
    return rc;
}
