/* SPDX-License-Identifier: BSD-3-Clause */
/* mount.c - on which mount a path lies */
#include "config.h"
#include "base/mount.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* The nearest part of the path that exists, resolved; malloc'ed, NULL when there is none. */
static char *resolve(const char *path)
{
    struct weir_str part = { 0 };
    char *real = NULL, *slash;

    if (path[0] != '/')
        weir_str_addf(&part, "./");
    weir_str_addf(&part, "%s", path);
    while (part.text && !(real = realpath(part.text, NULL)) && (slash = strrchr(part.text, '/'))) {
        if (slash == part.text) {
            real = realpath("/", NULL);
            break;
        }
        *slash = '\0';
    }
    weir_str_free(&part);
    return real;
}

/* Is the path at or below the mount point? Its length then, else 0. */
static size_t covers(const char *point, const char *path)
{
    size_t len = strlen(point);

    if (strncmp(point, path, len) != 0)
        return 0;
    return len == 1 || path[len] == '/' || path[len] == '\0' ? len : 0;
}

void weir_mount_find_in(const char *table, const char *path, struct weir_str *point,
                        struct weir_str *type)
{
    char *real = resolve(path), line[4 * PATH_MAX]; /* options that do not fit are cut off */
    size_t best = 0, len;
    struct mntent mount;
    FILE *f;

    weir_str_clear(point);
    weir_str_clear(type);
    f = real ? setmntent(table, "r") : NULL;
    while (f && getmntent_r(f, &mount, line, sizeof(line))) {
        len = covers(mount.mnt_dir, real);
        if (len == 0 || len < best) /* of mounts on one directory the last one is seen */
            continue;
        best = len;
        weir_str_clear(point);
        weir_str_clear(type);
        weir_str_addf(point, "%s", mount.mnt_dir);
        weir_str_addf(type, "%s", mount.mnt_type);
    }
    if (f)
        endmntent(f);
    free(real);
}

void weir_mount_find(const char *path, struct weir_str *point, struct weir_str *type)
{
    weir_mount_find_in("/proc/self/mounts", path, point, type);
}

bool weir_mount_space(const char *path, uint64_t *bytes)
{
    char *real = resolve(path);
    struct statvfs v;
    bool known = real && statvfs(real, &v) == 0 && v.f_blocks > 0;

    if (known)
        *bytes = (uint64_t)v.f_bavail * v.f_frsize;
    free(real);
    return known;
}
