/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-directories.c - checkpoints in directories of the system: published by a new name, when all files are durable */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "par/textfile.h"

/* ---- take ---- */

/* One job saves into a directory at a time: what is not published there would be taken for the rest of a killed
 * one. The lock ends with the process. Where there are no locks the user takes care. */
static int take_lock(struct mc_test *t, struct weir_err *err)
{
    t->lock = open(t->o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->lock < 0)
        return weir_fail(err, WEIR_ESETUP, "open directory '%s'", t->o->path);
    if (flock(t->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "another model_checkpoint saves into '%s'; wait for it, or choose another directory (-o)", t->o->path);
}

static int take(struct mc_test *t, struct weir_err *err)
{
    if (mkdir(t->o->path, 0777) == 0)
        t->made_dir = true;
    else if (errno != EEXIST)
        return weir_fail(err, WEIR_ESETUP, "make directory '%s'", t->o->path);
    return take_lock(t, err);
}

/* ---- what is there ---- */

/* A file that has the name of a checkpoint is none, but no checkpoint can have its name. */
static int keep_name(const char *dir, const struct dirent *e, struct mc_found *f, struct weir_err *err)
{
    const char *name = e->d_name;

    for (int what = MC_PUBLISHED; what <= MC_REMOVED; what++) {
        int64_t step = mc_place_step(name, strlen(name), (enum mc_name)what);

        if (step < 0)
            continue;
        f->last = step > f->last ? step : f->last;
        if (what == MC_PUBLISHED)
            return e->d_type == DT_REG ? 0 : mc_found_add(f, step, err);
        weir_str_addf(&f->left, "%s/%s\n", dir, name);
    }
    return 0;
}

static int look(struct mc_test *t, struct mc_found *f, struct weir_err *err)
{
    const char *dir = t->o->path;
    DIR *d = opendir(dir);
    struct dirent *e;
    int rc = 0;

    if (!d)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "open directory '%s'", dir);
    errno = 0;
    while (rc == 0 && (e = readdir(d)))
        rc = keep_name(dir, e, f, err);
    if (rc == 0 && errno != 0)
        rc = weir_fail(err, WEIR_EIO, "read directory '%s'", dir);
    closedir(d);
    return rc;
}

static int files(struct mc_test *t, const char *path, struct weir_str *out, bool *ours, struct weir_err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool all = d != NULL;
    struct dirent *e;
    struct stat st;

    (void)t;
    if (!d && fd >= 0)
        close(fd);
    while (all && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        all = mc_place_is_file(e->d_name) && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
        weir_str_addf(out, "%s/%s\n", path, e->d_name);
    }
    if (d)
        closedir(d);
    *ours = all;
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the names in '%s'", path) : 0;
}

/* Metadata that cannot be opened are no fault of the options; a pipe would be waited for. */
static int look_at_file(const char *path, struct weir_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        rc = weir_fail(err, WEIR_EIO, "open metadata '%s'", path);
    else if (!S_ISREG(st.st_mode))
        rc = weir_refuse(err, WEIR_EDATA, "'%s' is not an ordinary file", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int read_begin(const char *path, size_t most, struct weir_str *text, struct weir_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    char piece[256];
    ssize_t n;

    if (fd < 0)
        return weir_fail(err, WEIR_EIO, "open metadata '%s'", path);
    n = read(fd, piece, most < sizeof(piece) ? most : sizeof(piece));
    close(fd);
    weir_str_add(text, piece, n > 0 ? (size_t)n : 0);
    return n < 0 ? weir_fail(err, WEIR_EIO, "read metadata '%s'", path) : 0;
}

static int read_text(struct mc_test *t, const char *path, size_t most, struct weir_str *text, struct weir_err *err)
{
    (void)t;
    if (most < SIZE_MAX)
        return read_begin(path, most, text, err);
    return look_at_file(path, err) < 0 ? -1 : weir_text_read("metadata", path, WEIR_EUSAGE, text, err);
}

/* ---- publish ---- */

static int sync_directory(const char *path, struct weir_err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

    /* Some file systems have no fsync of a directory: their names are durable without. */
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != EROFS))
        rc = weir_fail(err, WEIR_EIO, "fsync directory '%s'", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int put(const char *path, const struct weir_str *text, struct weir_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc = 0;
    size_t done = 0;

    if (fd < 0)
        return weir_fail(err, WEIR_EIO, "create '%s'", path);
    while (rc == 0 && done < text->len) {
        ssize_t n = write(fd, text->text + done, text->len - done);

        if (n < 0 && errno != EINTR)
            rc = weir_fail(err, WEIR_EIO, "write '%s' at offset %zu", path, done);
        done += n > 0 ? (size_t)n : 0;
    }
    if (rc == 0 && fsync(fd) < 0)
        rc = weir_fail(err, WEIR_EIO, "fsync '%s'", path);
    if (close(fd) < 0 && rc == 0)
        rc = weir_fail(err, WEIR_EIO, "close '%s'", path);
    return rc;
}
static int make(struct mc_test *t, struct weir_err *err)
{
    if (mkdir(weir_str_text(&t->staged), 0777) < 0)
        return weir_fail(err, WEIR_EIO, "make directory '%s'", weir_str_text(&t->staged));
    return 0;
}

static int rename_directory(const char *from, const char *to, struct weir_err *err)
{
    return rename(from, to) < 0 ? weir_fail(err, WEIR_EIO, "rename '%s' to '%s'", from, to) : 0;
}

/* The order makes it safe: files, metadata, their names; then the name of the checkpoint, and that is durable. */
static int put_and_rename(struct mc_test *t, struct weir_err *err)
{
    const char *staged = weir_str_text(&t->staged), *place = weir_str_text(&t->place);
    struct weir_str path = { 0 };
    int rc;

    weir_str_addf(&path, "%s/" MC_METADATA, staged);
    rc = path.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a name") : put(weir_str_text(&path), &t->names, err);
    weir_str_free(&path);
    if (rc < 0 || sync_directory(staged, err) < 0 || rename_directory(staged, place, err) < 0)
        return -1;
    t->is_staged = false;
    return sync_directory(t->o->path, err);
}

static int publish(struct mc_test *t, struct weir_err *err)
{
    weir_session_enter(&t->session, "publish", weir_str_text(&t->staged)); /* for --io-timeout */
    return weir_session_leave(&t->session, put_and_rename(t, err));
}

/* ---- removal ---- */

static int withdraw(struct mc_test *t, const char *from, const char *to, struct weir_err *err)
{
    (void)t;
    return rename_directory(from, to, err);
}

/* A file that is gone was removed by somebody else, which is as good. */
static int unlink_file(struct mc_test *t, const char *path, struct weir_err *err)
{
    int rc = 0;

    weir_session_enter(&t->session, "remove", path);
    if (unlink(path) < 0 && errno != ENOENT)
        rc = weir_fail(err, WEIR_EIO, "remove '%s'", path);
    return weir_session_leave(&t->session, rc);
}

static int remove_directory(struct mc_test *t, const char *path, struct weir_err *err)
{
    (void)t;
    return rmdir(path) < 0 && errno != ENOENT ? weir_fail(err, WEIR_EIO, "remove directory '%s'", path) : 0;
}

const struct mc_store mc_directories = {
    .written = MC_STAGED,
    .withdrawn = MC_REMOVED,
    .take = take,
    .look = look,
    .files = files,
    .make = make,
    .publish = publish,
    .withdraw = withdraw,
    .unlink = unlink_file,
    .rmdir = remove_directory,
    .read = read_text,
};
