/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-place.c - the directory of checkpoints: what is published, what a killed run has left, and what may be
 * removed */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define DIGITS 8 /* at least */

static const struct {
    const char *before, *after;
} forms[] = {
    [MC_PUBLISHED] = { "checkpoint-", "" },
    [MC_STAGED] = { ".checkpoint-", ".staged" },
    [MC_REMOVED] = { ".checkpoint-", ".removed" },
};

void mc_place_name(const char *dir, enum mc_name what, int64_t step, struct weir_str *out)
{
    weir_str_addf(out, "%s/%s%0*" PRId64 "%s", dir, forms[what].before, DIGITS, step, forms[what].after);
}

/* The step in a name; -1: it is no name of ours. */
static int64_t step_of(const char *name, enum mc_name what)
{
    size_t n = strlen(forms[what].before);
    uint64_t step;
    char *end;

    if (strncmp(name, forms[what].before, n) != 0 || strspn(name + n, "0123456789") < DIGITS)
        return -1;
    errno = 0;
    step = strtoull(name + n, &end, 10);
    return errno == 0 && step < INT64_MAX / 2 && strcmp(end, forms[what].after) == 0 ? (int64_t)step : -1;
}

static int keep_step(struct mc_found *f, int64_t step, struct weir_err *err)
{
    if (!weir_mem_room(&f->step, f->n, &f->room, sizeof(*f->step)))
        return weir_refuse(err, WEIR_ESETUP, "no memory for a list of checkpoints");
    f->step[f->n++] = step;
    return 0;
}

/* A file that has the name of a checkpoint is none, but no checkpoint can have its name. */
static int keep_name(const char *dir, const struct dirent *e, struct mc_found *f, struct weir_err *err)
{
    const char *name = e->d_name;

    for (int what = MC_PUBLISHED; what <= MC_REMOVED; what++) {
        int64_t step = step_of(name, (enum mc_name)what);

        if (step < 0)
            continue;
        f->last = step > f->last ? step : f->last;
        if (what == MC_PUBLISHED)
            return e->d_type == DT_REG ? 0 : keep_step(f, step, err);
        weir_str_addf(&f->left, "%s/%s\n", dir, name);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int mc_place_look(const char *dir, struct mc_found *f, struct weir_err *err)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int rc = 0;

    *f = (struct mc_found) { .last = -1 };
    if (!d)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "open directory '%s'", dir);
    errno = 0;
    while (rc == 0 && (e = readdir(d)))
        rc = keep_name(dir, e, f, err);
    if (rc == 0 && errno != 0)
        rc = weir_fail(err, WEIR_EIO, "read directory '%s'", dir);
    closedir(d);
    if (rc == 0 && f->left.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names in '%s'", dir);
    if (f->n > 0)
        qsort(f->step, f->n, sizeof(*f->step), compare);
    return rc;
}

void mc_found_free(struct mc_found *f)
{
    free(f->step);
    weir_str_free(&f->left);
    *f = (struct mc_found) { .last = -1 };
}

int64_t mc_place_sequence(const char *dir, int64_t step)
{
    static const char key[] = "\nsequence = ";
    struct weir_str path = { 0 };
    char text[256], *at = NULL;
    ssize_t n = -1;
    int fd;

    mc_place_name(dir, MC_PUBLISHED, step, &path);
    weir_str_addf(&path, "/" MC_METADATA);
    fd = open(weir_str_text(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    weir_str_free(&path);
    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    if (n > 0) {
        text[n] = '\0';
        at = strstr(text, key);
    }
    return at ? (int64_t)(strtoull(at + sizeof(key) - 1, NULL, 10) & INT32_MAX) : 0;
}

/* ---- files of a checkpoint ---- */

static bool is_name(const char *name)
{
    static const char *const begins[] = { "rank-", "tp-", "parameters-", "optimizer-", "checkpoint." };
    size_t len = strlen(name);

    if (strcmp(name, MC_METADATA) == 0 || strcmp(name, MC_ARRAYS_FILE) == 0)
        return true;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return len > 5 && strcmp(name + len - 5, ".data") == 0;
    return false;
}

bool mc_place_files(const char *path, struct weir_str *out)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool all = d != NULL;
    struct dirent *e;
    struct stat st;

    if (!d && fd >= 0)
        close(fd);
    while (all && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        all = is_name(e->d_name) && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
        weir_str_addf(out, "%s/%s\n", path, e->d_name);
    }
    if (d)
        closedir(d);
    return all && !out->failed;
}

/* A file that is gone was removed by somebody else, which is as good. */
static int remove_all(char *names, const char *dir, struct weir_err *err)
{
    for (char *at = names, *end; at && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        if (unlink(at) < 0 && errno != ENOENT)
            return weir_fail(err, WEIR_EIO, "remove '%s'", at);
    }
    return rmdir(dir) < 0 && errno != ENOENT ? weir_fail(err, WEIR_EIO, "remove directory '%s'", dir) : 0;
}

int mc_place_remove(const char *path, bool *stays, struct weir_err *err)
{
    struct weir_str names = { 0 };
    int rc = 0;

    *stays = !mc_place_files(path, &names);
    if (!*stays)
        rc = remove_all(names.text, path, err);
    weir_str_free(&names);
    return rc;
}

int mc_place_sync(const char *path, struct weir_err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

    /* Some file systems have no fsync of a directory: their names are durable without. */
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != EROFS))
        rc = weir_fail(err, WEIR_EIO, "fsync directory '%s'", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

int mc_place_put(const char *path, const struct weir_str *text, struct weir_err *err)
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
