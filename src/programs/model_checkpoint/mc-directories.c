/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-directories.c - checkpoints in directories of the system: published by a new name, when all files are durable */
#include "programs/model_checkpoint/mc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/path.h"
#include "base/text/wholefile.h"
#include "par/textfile.h"

/* ---- take ---- */

/* The name that the user has given is that of a directory, or of nothing. */
static int check_place(const char *path, struct weir_err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return weir_path_leads(path, err);
    if (S_ISDIR(st.st_mode))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "'%s' is %s, and checkpoints are kept in a directory (-o)",
                       path, weir_kind_of_file(st.st_mode));
}

/* The names of a save are such that the system allows. */
static int check_names(const struct mc_test *t, struct weir_err *err)
{
    size_t staged = strlen("/.checkpoint-00000000.staged/"), longest = strlen(MC_METADATA);

    for (int k = 0; k < t->save.regions; k++)
        if (strlen(t->save.region[k].file) > longest)
            longest = strlen(t->save.region[k].file);
    return weir_path_holds(t->o->path, staged + longest, err);
}

/* One job saves into a directory at a time: its unpublished files would be taken for the rest
 * of a killed job. The lock ends with the process. Without locks the user takes care. */
static int take_place(struct mc_test *t, struct weir_err *err)
{
    if (check_place(t->o->path, err) < 0 || check_names(t, err) < 0)
        return -1;
    if (mkdir(t->o->path, 0777) == 0)
        t->pub.made_dir = true;
    else if (errno != EEXIST)
        return weir_fail(err, WEIR_ESETUP, "create directory '%s'", t->o->path);
    t->pub.lock = open(t->o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->pub.lock < 0)
        return weir_fail(err, WEIR_ESETUP, "open directory '%s'", t->o->path);
    if (flock(t->pub.lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "another model_checkpoint saves into '%s'; wait for it, or choose another directory (-o)", t->o->path);
}

/* ---- existing checkpoints ---- */

static int give(DIR *d, const struct dirent *e, weir_name_fn *take, void *mine,
                struct weir_err *err)
{
    char name[sizeof(e->d_name) + 1];
    bool is_file = e->d_type == DT_REG;
    struct stat st;

    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return 0;
    if (e->d_type == DT_UNKNOWN)
        is_file = fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISREG(st.st_mode);
    snprintf(name, sizeof(name), "%s%s", e->d_name, is_file ? "" : "/");
    return take(mine, name, 0, err);
}

static int list(struct mc_test *t, const char *of, weir_name_fn *take, void *mine,
                struct weir_err *err)
{
    const char *path = of ? of : t->o->path;
    int fd, rc = of ? 0 : check_place(path, err);
    struct dirent *e;
    DIR *d;

    if (rc < 0)
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (of ? O_NOFOLLOW : 0));
    d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        rc = of                ? take(mine, "/", 0, err)
             : errno == ENOENT ? 0
                               : weir_fail(err, WEIR_EIO, "open directory '%s'", path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    while (errno = 0, rc == 0 && (e = readdir(d)))
        rc = give(d, e, take, mine, err);
    if (rc == 0 && errno != 0)
        rc = weir_fail(err, WEIR_EIO, "read directory '%s'", path);
    closedir(d);
    return rc;
}

static int read_text(struct mc_test *t, const char *path, struct weir_str *text, struct weir_err *err)
{
    if (weir_session_admit(&t->session, path, WEIR_INTENT_READ, err) < 0)
        return -1;
    return weir_text_read("metadata", path, WEIR_EIO, text, err);
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
    if (weir_write_all(fd, text->text, text->len, &done) < 0)
        rc = weir_fail(err, WEIR_EIO, "write '%s' at offset %zu", path, done);
    if (rc == 0)
        rc = weir_fsync(fd, path, err);
    if (close(fd) < 0 && rc == 0)
        rc = weir_fail(err, WEIR_EIO, "close '%s'", path);
    return rc;
}

static int make(struct mc_test *t, struct weir_err *err)
{
    const char *path = weir_str_text(&t->pub.staged);

    return mkdir(path, 0777) < 0 ? weir_fail(err, WEIR_EIO, "create directory '%s'", path) : 0;
}

static int rename_directory(struct mc_test *t, const char *from, const char *to, struct weir_err *err)
{
    return rename(from, to) < 0 ? weir_fail(err, WEIR_EIO, "rename '%s' to '%s'", from, to) : 0;
}

/* The order makes it safe: files, metadata, their names; then the name of the checkpoint, and that is durable. */
static int publish(struct mc_test *t, struct weir_err *err)
{
    const char *staged = weir_str_text(&t->pub.staged), *place = weir_str_text(&t->pub.place);
    const char *path = mc_path(t, staged, MC_METADATA, err);
    int rc = -1;

    weir_session_enter(&t->session, "publish", staged); /* for --io-timeout */
    if (path && put(path, &t->pub.names, err) == 0 && sync_directory(staged, err) == 0 &&
        rename_directory(t, staged, place, err) == 0) {
        t->pub.is_staged = false;
        rc = sync_directory(t->o->path, err);
    }
    return weir_session_leave(&t->session, rc);
}

/* ---- removal ---- */

/* A missing file was removed by another process, which is no error. */
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
    return rmdir(path) < 0 && errno != ENOENT ? weir_fail(err, WEIR_EIO, "remove directory '%s'", path) : 0;
}

const struct mc_store mc_directories = {
    .take = take_place,
    .list = list,
    .make = make,
    .publish = publish,
    .withdraw = rename_directory,
    .unlink = unlink_file,
    .rmdir = remove_directory,
    .read = read_text,
};
