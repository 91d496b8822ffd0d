/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-layout.c - options of Lustre, GPFS and BeeGFS, and the file system that handles them */
#include "backends/posix/posix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const struct posix_fs *const systems[] = { &posix_lustre, &posix_gpfs, &posix_beegfs };

#define SYSTEMS (sizeof(systems) / sizeof(*systems))

int posix_open_parent(const char *path, const char **name, struct weir_err *err)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX] = ".";
    int fd;

    *name = slash ? slash + 1 : path;
    if (slash)
        snprintf(dir, sizeof(dir), "%.*s", (int)(*name - path), path);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? weir_fail(err, WEIR_EIO, "open directory '%s'", dir) : fd;
}

/* ---- their libraries ----
 *
 * They are loaded when an option asks for them. A program that is linked with them does not
 * start on a node where one is missing, with or without that option. */

void *posix_function(const char *const *files, const char *name, struct weir_err *err)
{
    struct weir_str reasons = { 0 };
    void *library = NULL, *function = NULL;

    for (const char *const *file = files; *file && !library; file++) {
        library = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            weir_str_addf(&reasons, "%s%s", file == files ? "" : "; ", dlerror());
    }
    if (library && !(function = dlsym(library, name)))
        weir_refuse(err, WEIR_ESETUP, "%s", dlerror());
    else if (!library)
        weir_refuse(err, WEIR_ESETUP,
                    "load the library that has %s: %s (the dynamic linker also looks in "
                    "LD_LIBRARY_PATH)",
                    name, weir_str_text(&reasons));
    weir_str_free(&reasons);
    return function;
}

/* ---- options ---- */

static const struct posix_fs *system_of(const struct weir_opt *row)
{
    for (size_t i = 0; i < SYSTEMS; i++)
        if (strncmp(row->name, systems[i]->prefix, strlen(systems[i]->prefix)) == 0)
            return systems[i];
    return NULL;
}

static bool is_missing(const struct posix_fs *fs, const char *option)
{
    for (const char *const *name = fs->missing; name && *name; name++)
        if (strcmp(*name, option) == 0)
            return true;
    return false;
}

/* -1 and err: no memory to compare them. */
static int compare_with_default(const struct weir_opt *row, const void *opt, bool *same,
                                struct weir_err *err)
{
    const char *def = row->def ? row->def : row->type == WEIR_OPT_STR ? "" : "0";
    struct weir_str shown = { 0 };
    bool failed;

    weir_opt_show(row, opt, &shown);
    *same = strcmp(weir_str_text(&shown), def) == 0;
    failed = shown.failed;
    weir_str_free(&shown);
    errno = ENOMEM;
    return failed ? weir_fail(err, WEIR_ESETUP, "memory for option --posix.%s", row->name) : 0;
}

static int check_option(const struct weir_opt *row, const void *opt, struct weir_err *err)
{
    const struct posix_fs *fs = system_of(row);
    bool same = true;

    if (fs && compare_with_default(row, opt, &same, err) < 0)
        return -1;
    if (same)
        return 0;
    if (!fs->is_built)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.%s needs a build with %s; this one was made without it",
                           row->name, fs->needs);
    if (is_missing(fs, row->name))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.%s needs a newer %s than this build was made with", row->name,
                           fs->needs);
    return fs->files && !posix_function(fs->files, fs->function, err) ? -1 : 0;
}

int posix_layout_check(const struct weir_opt *rows, const void *opt, const struct posix_layout *l,
                       struct weir_err *err)
{
    for (const struct weir_opt *row = rows; row->name; row++)
        if (check_option(row, opt, err) < 0)
            return -1;
    for (size_t i = 0; i < SYSTEMS; i++)
        if (systems[i]->check && systems[i]->check(l, err) < 0)
            return -1;
    return 0;
}

int posix_layout_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    for (size_t i = 0; i < SYSTEMS; i++)
        if (systems[i]->create && systems[i]->create(path, l, err) < 0)
            return -1;
    return 0;
}

int posix_layout_apply(int fd, const char *path, const struct posix_layout *l, struct weir_err *err)
{
    for (size_t i = 0; i < SYSTEMS; i++)
        if (systems[i]->apply && systems[i]->apply(fd, path, l, err) < 0)
            return -1;
    return 0;
}

int posix_layout_is_other(const char *path, const struct posix_layout *l)
{
    int known = -1;

    for (size_t i = 0; i < SYSTEMS && known < 1; i++) {
        int other = systems[i]->is_other ? systems[i]->is_other(path, l) : -1;

        known = other > known ? other : known;
    }
    return known;
}
