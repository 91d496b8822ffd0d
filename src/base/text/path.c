/* SPDX-License-Identifier: BSD-3-Clause */
/* path.c - where a path leads: through symbolic links, and to which mount */
#include "base/text/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as Linux has it */

/* By the system call itself: a preloaded library that counts open calls (a profiler) then sees only
 * those of the test. */
static int open_place(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
}

/* realpath(3) asks the file system once for each directory above; the kernel knows the place of an
 * open file. */
static char *place_of(int fd, const char *path)
{
    char link[64], real[PATH_MAX];
    ssize_t len;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    len = readlink(link, real, sizeof(real));
    if (len <= 0 || len == sizeof(real) || real[0] != '/')
        return realpath(path, NULL);
    real[len] = '\0';
    /* A directory that is gone has these words after its name. */
    return strstr(real, " (deleted)") ? realpath(path, NULL) : strdup(real);
}

char *weir_path_real(const char *path)
{
    int fd = open_place(path);
    char *real;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? NULL
                                                                            : realpath(path, NULL);
    real = place_of(fd, path);
    close(fd);
    return real;
}

int weir_path_open(const char *path, char **real, bool *failed)
{
    struct weir_str part = { 0 };
    char *slash;
    int fd = -1;

    *real = NULL;
    if (path[0] != '/')
        weir_str_addf(&part, "./");
    weir_str_addf(&part, "%s", path);
    while (part.text && (fd = open_place(part.text)) < 0 && (slash = strrchr(part.text, '/')) &&
           strcmp(part.text, "/") != 0)
        slash[slash == part.text] = '\0';
    if (fd >= 0)
        *real = place_of(fd, part.text);
    *failed |= part.failed || (fd >= 0 && !*real && errno == ENOMEM);
    weir_str_free(&part);
    return fd;
}

/* Return the length of the mount point when the path is at or below it, else 0. */
static size_t covers(const char *point, const char *path)
{
    size_t len = strlen(point);

    if (strncmp(point, path, len) != 0)
        return 0;
    return len == 1 || path[len] == '/' || path[len] == '\0' ? len : 0;
}

static void put(struct weir_str *out, const char *text)
{
    weir_str_clear(out);
    weir_str_addf(out, "%s", text);
}

void weir_mount_of(const char *table, const char *real, struct weir_mount *m)
{
    char line[4 * PATH_MAX]; /* options that do not fit are cut off */
    FILE *f = setmntent(table, "r");
    size_t best = 0, len;
    struct mntent mount;

    weir_mount_free(m);
    while (f && getmntent_r(f, &mount, line, sizeof(line))) {
        len = covers(mount.mnt_dir, real);
        if (len == 0 || len < best) /* of mounts on one directory the last one is seen */
            continue;
        best = len;
        put(&m->source, mount.mnt_fsname);
        put(&m->point, mount.mnt_dir);
        put(&m->type, mount.mnt_type);
        put(&m->options, mount.mnt_opts);
    }
    if (f)
        endmntent(f);
    m->failed |= m->source.failed || m->point.failed || m->type.failed || m->options.failed;
}

void weir_mount_find(const char *table, const char *path, struct weir_mount *m)
{
    bool failed = false;
    char *real;
    int fd = weir_path_open(path, &real, &failed);

    weir_mount_free(m);
    if (real)
        weir_mount_of(table, real, m);
    m->failed |= failed;
    if (fd >= 0)
        close(fd);
    free(real);
}

void weir_mount_free(struct weir_mount *m)
{
    weir_str_free(&m->source);
    weir_str_free(&m->point);
    weir_str_free(&m->type);
    weir_str_free(&m->options);
    m->failed = false;
}

bool weir_mount_option(const char *options, const char *name, char *value, size_t size)
{
    size_t len = strlen(name), word;

    for (const char *o = options; *o; o += word + (o[word] == ',')) {
        word = strcspn(o, ",");
        if (strncmp(o, name, len) != 0 || (o[len] != '=' && len != word))
            continue;
        if (value)
            snprintf(value, size, "%.*s", (int)(len < word ? word - len - 1 : 0),
                     len < word ? o + len + 1 : "");
        return true;
    }
    return false;
}

bool weir_mount_space(const char *path, uint64_t *bytes, bool *failed)
{
    char *real;
    int fd = weir_path_open(path, &real, failed);
    struct statvfs v;
    bool known = fd >= 0 && fstatvfs(fd, &v) == 0 && v.f_blocks > 0;

    if (known)
        *bytes = (uint64_t)v.f_bavail * v.f_frsize;
    if (fd >= 0)
        close(fd);
    free(real);
    return known;
}

const char *weir_kind_of_file(mode_t mode)
{
    return S_ISLNK(mode)                    ? "a symbolic link"
           : S_ISDIR(mode)                  ? "a directory"
           : S_ISBLK(mode) || S_ISCHR(mode) ? "a device"
           : S_ISREG(mode)                  ? "a file"
                                            : "a pipe or socket";
}

/* A target without slash at its beginning is meant from the directory of the link. */
static void go_to(struct weir_str *path, const char *target)
{
    const char *slash = strrchr(weir_str_text(path), '/');
    size_t keep = slash && target[0] != '/' ? (size_t)(slash - path->text) + 1 : 0;
    struct weir_str next = { 0 };

    weir_str_add(&next, weir_str_text(path), keep);
    weir_str_addf(&next, "%s", target);
    weir_str_free(path);
    *path = next;
}

int weir_link_follow(const char *path, struct weir_str *out, struct weir_err *err)
{
    char target[PATH_MAX];

    weir_str_clear(out);
    weir_str_addf(out, "%s", path);
    for (int links = 0; !out->failed; links++) {
        ssize_t len = readlink(weir_str_text(out), target, sizeof(target) - 1);

        if (len < 0 && (errno == EINVAL || errno == ENOENT || errno == ENOTDIR))
            return 0;
        if ((len < 0 && errno == ELOOP) || links == MOST_LINKS)
            return weir_refuse(err, WEIR_EUSAGE, "'%s': the symbolic links form a loop", path);
        if (len < 0)
            return weir_fail(err, errno == ENAMETOOLONG ? WEIR_EUSAGE : WEIR_EIO, "%s '%s'",
                             links ? "follow the symbolic link" : "look at", weir_str_text(out));
        target[len] = '\0';
        go_to(out, target);
    }
    return weir_refuse(err, WEIR_ESETUP, "no memory for a file name");
}

bool weir_path_is_too_long(const char *path)
{
    size_t len;

    for (const char *at = path; *at; at += len + (at[len] == '/')) {
        len = strcspn(at, "/");
        if (len > NAME_MAX)
            return true;
    }
    return strlen(path) >= PATH_MAX;
}

int weir_path_holds(const char *dir, size_t below, struct weir_err *err)
{
    size_t len = strlen(dir) + below;

    if (len < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return weir_fail(err, WEIR_EUSAGE, "names of %zu bytes in '%s'", len, dir);
}

int weir_path_leads(const char *path, struct weir_err *err)
{
    struct weir_str part = { 0 }, target = { 0 };
    struct stat st;
    size_t len = 0;
    int rc = 0;

    if (weir_path_is_too_long(path)) {
        errno = ENAMETOOLONG;
        return weir_fail(err, WEIR_EUSAGE, "'%s'", path);
    }
    while (rc == 0 && path[len] && stat(path, &st) < 0) {
        len += strspn(path + len, "/");
        len += strcspn(path + len, "/");
        weir_str_clear(&part);
        weir_str_add(&part, path, len);
        if (stat(weir_str_text(&part), &st) == 0) {
            if (!S_ISDIR(st.st_mode))
                rc = weir_refuse(err, WEIR_EUSAGE, "'%s' is %s, not a directory",
                                 weir_str_text(&part), weir_kind_of_file(st.st_mode));
            continue;
        }
        if (lstat(weir_str_text(&part), &st) < 0 || !S_ISLNK(st.st_mode))
            break;
        rc = weir_link_follow(weir_str_text(&part), &target, err);
        if (rc == 0)
            rc = weir_refuse(err, WEIR_EUSAGE,
                             "'%s' is a symbolic link to '%s', which does not exist",
                             weir_str_text(&part), weir_str_text(&target));
    }
    weir_str_free(&part);
    weir_str_free(&target);
    return rc;
}
