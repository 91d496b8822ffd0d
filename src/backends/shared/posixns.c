/* SPDX-License-Identifier: BSD-3-Clause */
/* posixns.c - names in an ordinary file system, shared by every backend whose files live there */
#include "backends/shared/posixns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/shared/mpins.h"
#include "par/io/mpifile.h"

const char *weir_system_path(const struct weir_backend *be, const char *path)
{
    return be->flags & WEIR_BE_OBJECTS     ? NULL
           : be->flags & WEIR_BE_NEEDS_MPI ? weir_mpi_path(path)
                                           : path;
}

static int make_dir(struct weir_session *s, const char *path, unsigned mode, struct weir_err *err)
{
    path = weir_system_path(s->be, path);
    return mkdir(path, (mode_t)mode) < 0 ? weir_fail(err, WEIR_EIO, "create directory '%s'", path)
                                         : 0;
}

static int remove_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    path = weir_system_path(s->be, path);
    return rmdir(path) < 0 ? weir_fail(err, WEIR_EIO, "remove directory '%s'", path) : 0;
}

static int remove_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    return unlink(path) < 0 ? weir_fail(err, WEIR_EIO, "remove '%s'", path) : 0;
}

static int rename_file(struct weir_session *s, const char *from, const char *to,
                       struct weir_err *err)
{
    return rename(from, to) < 0 ? weir_fail(err, WEIR_EIO, "rename '%s' to '%s'", from, to) : 0;
}

static int stat_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct stat st;

    path = weir_system_path(s->be, path);
    return stat(path, &st) < 0 ? weir_fail(err, WEIR_EIO, "stat '%s'", path) : 0;
}

/* A link without a target exists, too: a new file cannot be made there. */
static int file_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    struct stat st;

    path = weir_system_path(s->be, path);
    *yes = lstat(path, &st) == 0;
    if (*yes || errno == ENOENT || errno == ENOTDIR)
        return 0;
    return weir_fail(err, WEIR_EIO, "stat '%s'", path);
}

static int file_size(struct weir_session *s, const char *path, uint64_t *bytes,
                     struct weir_err *err)
{
    struct stat st;

    path = weir_system_path(s->be, path);
    if (stat(path, &st) < 0)
        return weir_fail(err, WEIR_EIO, "get the size of '%s'", path);
    *bytes = (uint64_t)st.st_size;
    return 0;
}

static int make_node(struct weir_session *s, const char *path, struct weir_err *err)
{
    return mknod(path, S_IFREG | S_IRUSR, 0) < 0 ? weir_fail(err, WEIR_EIO, "mknod '%s'", path) : 0;
}

/* The directory of a file: its path without the last part. malloc'ed; NULL and err: no memory. */
static char *dir_of(const char *path, struct weir_err *err)
{
    const char *slash = strrchr(path, '/');
    char *dir;

    while (slash && slash > path && slash[-1] == '/')
        slash--;
    if (!slash)
        dir = strdup(".");
    else
        dir = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!dir)
        weir_fail(err, WEIR_ESETUP, "memory for the directory of '%s'", path);
    return dir;
}

/* A directory may be made only later: ask its nearest parent that exists. Shortens dir. */
static int statvfs_near(char *dir, struct statvfs *v)
{
    char *slash;

    while (statvfs(dir, v) < 0) {
        if (errno != ENOENT)
            return -1;
        slash = strrchr(dir, '/');
        if (strcmp(dir, "/") == 0 || strcmp(dir, ".") == 0)
            return -1;
        if (slash)
            slash[slash == dir] = '\0';
        else
            memcpy(dir, ".", 2);
    }
    return 0;
}

static int fs_usage(struct weir_session *s, const char *path, struct weir_fs_usage *u,
                    struct weir_err *err)
{
    char *dir = dir_of(weir_system_path(s->be, path), err);
    struct statvfs v;
    int rc = 0;

    if (!dir)
        return -1;
    if (statvfs_near(dir, &v) < 0)
        rc = weir_fail(err, WEIR_EIO, "statvfs '%s'", dir);
    else
        *u = (struct weir_fs_usage) {
            .total_bytes = (uint64_t)v.f_blocks * v.f_frsize,
            .free_bytes = (uint64_t)v.f_bfree * v.f_frsize,
            .avail_bytes = (uint64_t)v.f_bavail * v.f_frsize,
            .inodes = v.f_files,
            .free_inodes = v.f_ffree,
        };
    free(dir);
    return rc;
}

/* path may be a file or a directory. */
static int sync_fs(struct weir_session *s, const char *path, struct weir_err *err)
{
    int fd, rc = 0;

    path = weir_system_path(s->be, path);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return weir_fail(err, WEIR_EIO, "open '%s' to sync its file system", path);
    if (syncfs(fd) < 0)
        rc = weir_fail(err, WEIR_EIO, "syncfs on '%s'", path);
    close(fd); /* opened read-only, so nothing was written through it */
    return rc;
}

/* ---- directories, links, attributes ---- */

static int give_entry(DIR *d, const struct weir_name_call *c, const char *name,
                      struct weir_err *err)
{
    struct stat st = { .st_size = 0 };

    if (c->op == WEIR_NAME_DIRPLUS && fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return weir_fail(err, WEIR_EIO, "stat '%s/%s'", c->path, name);
    return c->take(c->mine, name, (uint64_t)st.st_size, err);
}

static int read_dir(struct weir_name_call *c, struct weir_err *err)
{
    DIR *d = opendir(c->path);
    struct dirent *e;
    int rc = 0;

    if (!d)
        return weir_fail(err, WEIR_EIO, "open directory '%s'", c->path);
    while (errno = 0, rc == 0 && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = give_entry(d, c, e->d_name, err);
    if (rc == 0 && errno != 0)
        rc = weir_fail(err, WEIR_EIO, "%s '%s'", c->name, c->path);
    closedir(d);
    return rc;
}

static ssize_t make_call(struct weir_name_call *c)
{
    struct stat st = { .st_mode = 0 };
    int rc;

    switch (c->op) {
    case WEIR_NAME_LINK:
        return link(c->other, c->path);
    case WEIR_NAME_SYMLINK:
        return symlink(c->other, c->path);
    case WEIR_NAME_READLINK:
        return readlink(c->path, c->buf, c->len);
    case WEIR_NAME_UNLINK:
        return unlink(c->path);
    case WEIR_NAME_RENAME:
        return rename(c->path, c->other);
    case WEIR_NAME_SETXATTR:
        return setxattr(c->path, c->other, c->buf, c->len, 0);
    case WEIR_NAME_GETXATTR:
        return getxattr(c->path, c->other, c->buf, c->len);
    case WEIR_NAME_LISTXATTR:
        return listxattr(c->path, c->buf, c->len);
    case WEIR_NAME_CHMOD:
        return chmod(c->path, (mode_t)c->mode);
    default:
        rc = stat(c->path, &st);
        c->mode = st.st_mode & 07777;
        return rc;
    }
}

static int call_name(struct weir_session *s, struct weir_name_call *c, struct weir_err *err)
{
    ssize_t n;

    if (c->op >= WEIR_NAME_DIR)
        return read_dir(c, err);
    n = make_call(c);
    if (n < 0 && c->op == WEIR_NAME_RENAME)
        return weir_fail(err, WEIR_EIO, "%s '%s' to '%s'", c->name, c->path, c->other);
    if (n < 0 && c->op == WEIR_NAME_SETXATTR) /* a file system has room for a few bytes only */
        return weir_fail(err, WEIR_EIO, "%s '%s', %zu bytes", c->name, c->path, c->len);
    if (n < 0)
        return weir_fail(err, WEIR_EIO, "%s '%s'", c->name, c->path);
    c->len = (size_t)n;
    return 0;
}

/* ---- open and sync ---- */

int weir_posix_open(const struct weir_session *s, const char *path, unsigned flags, int more)
{
    int fd, sys = O_CLOEXEC | more;

    if (flags & WEIR_OPEN_WRITE)
        sys |= flags & WEIR_OPEN_READ ? O_RDWR : O_WRONLY;
    else
        sys |= O_RDONLY;
    if (flags & WEIR_OPEN_CREATE)
        sys |= O_CREAT;
    if (flags & WEIR_OPEN_TRUNC)
        sys |= O_TRUNC;
    if (flags & WEIR_OPEN_EXCL)
        sys |= O_EXCL;
    if (s->access.own_names)
        sys |= O_NOFOLLOW | O_NONBLOCK;
    do
        fd = open(path, sys, 0664);
    while (fd < 0 && errno == EINTR);
    return fd;
}

const char *weir_posix_why(const struct weir_session *s)
{
    return !s->access.own_names ? ""
           : errno == ELOOP     ? " (a symbolic link, which is not followed here)"
           : errno == ENXIO     ? " (a pipe or socket, not a file)"
                                : "";
}

const struct weir_ns weir_posix_ns = {
    .ordinary = true,
    .mkdir = make_dir,
    .rmdir = remove_dir,
    .unlink = remove_file,
    .rename = rename_file,
    .stat = stat_file,
    .exists = file_exists,
    .size = file_size,
    .mknod = make_node,
    .usage = fs_usage,
    .syncfs = sync_fs,
    .call = call_name,
};

const struct weir_ns weir_mpi_ns = {
    .ordinary = true,
    .mkdir = make_dir,
    .rmdir = remove_dir,
    .unlink = weir_mpi_delete,
    .stat = stat_file,
    .exists = file_exists,
    .size = file_size,
    .usage = fs_usage,
    .syncfs = sync_fs,
};
