/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-places.c - the directories of a rehearsal: their names, and how they are made */
#include "programs/weir-io500/io500-run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/registry.h"
#include "engine/about/banner.h"
#include "par/agree.h"

const char *io500_places_name(struct weir_run *run, const struct io500 *t, int family,
                              struct weir_err *err)
{
    if (family == IO500_FAMILIES)
        return t->place.data;
    return weir_arena_textf(&run->arena, err, "%s/%s", t->place.data,
                            io500_families[family].section);
}

const char *io500_places_trial(struct weir_run *run, const struct io500 *t, struct weir_err *err)
{
    char *dir = weir_arena_strdup(&run->arena, t->place.data, err);

    while (dir && access(dir, F_OK) < 0)
        dir = dirname(dir);
    return dir ? weir_arena_textf(&run->arena, err, "%s/.weir-io500.%ld", dir, (long)getpid())
               : NULL;
}

/* ---- names ---- */

/* Return when a rehearsal in base/name last kept something. Negative: there is none. */
static double when_kept(const char *base, const char *name)
{
    struct weir_str path = { 0 };
    struct stat st;
    bool found;

    weir_str_addf(&path, "%s/%s/" IO500_STATE, base, name);
    found = stat(weir_str_text(&path), &st) == 0;
    weir_str_free(&path);
    return found ? (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9 : -1;
}

/* The name of the last rehearsal below a directory. */
static void find_last(const char *base, char stamp[32])
{
    DIR *d = opendir(base);
    double last = -1, when;

    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strlen(e->d_name) < 32 && (when = when_kept(base, e->d_name)) > last) {
            memcpy(stamp, e->d_name, strlen(e->d_name) + 1);
            last = when;
        }
    if (d)
        closedir(d);
}

/* Rank 0. */
static int choose_stamp(struct io500 *t, struct weir_err *err)
{
    const char *base = io500_text(&t->config, "global", "resultdir");
    bool again = t->o->resume || t->o->cleanup;

    if (t->o->timestamp && strlen(t->o->timestamp) >= sizeof(t->stamp))
        return weir_refuse(err, WEIR_EUSAGE, "option --timestamp: at most %zu characters", sizeof(t->stamp) - 1);
    if (t->o->timestamp)
        memcpy(t->stamp, t->o->timestamp, strlen(t->o->timestamp) + 1);
    else if (again && io500_flag(&t->config, "global", "timestamp-resultdir"))
        find_last(base, t->stamp);
    if (!t->stamp[0] && !again)
        weir_banner_now(t->stamp, "%Y.%m.%d-%H.%M.%S");
    if (again && when_kept(base, io500_flag(&t->config, "global", "timestamp-resultdir") ? t->stamp
                                                                                         : ".") < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "there is no rehearsal in '%s%s%s' (no file " IO500_STATE "): %s", base, t->stamp[0] ? "/" : "", t->stamp,
                           t->o->resume ? "leave --resume out, or name another directory of results or --timestamp"
                                        : "only files of a rehearsal are removed");
    return 0;
}

static const char *name_place(struct weir_run *run, const struct io500 *t, const char *key, const char *stamped, struct weir_err *err)
{
    const char *base = io500_text(&t->config, "global", key);

    if (t->o->forecast && strcmp(key, "resultdir") == 0)
        return weir_arena_textf(&run->arena, err, "%s/forecast", base);
    return weir_arena_textf(&run->arena, err,
                       io500_flag(&t->config, "global", stamped) && t->stamp[0] ? "%s/%s" : "%s",
                       base, t->stamp);
}

/* A directory cannot be made, for the reason in errno. A name that is too long is a wrong one. */
static int fail_make(const char *path, struct weir_err *err)
{
    return weir_fail(err, errno == ENAMETOOLONG ? WEIR_EUSAGE : WEIR_ESETUP, "create directory '%s'", path);
}

/* Nothing is made of a path that is too long. */
static int check_length(const char *path, struct weir_err *err)
{
    if (!weir_path_is_too_long(path))
        return 0;
    errno = ENAMETOOLONG;
    return fail_make(path, err);
}

/* The names of both directories. */
static int name_places(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    t->place.data = name_place(run, t, "datadir", "timestamp-datadir", err);
    t->place.results = name_place(run, t, "resultdir", "timestamp-resultdir", err);
    if (!t->place.data || !t->place.results)
        return -1;
    if (check_length(t->place.data, err) < 0)
        return weir_err_within(err, "[global] datadir");
    return check_length(t->place.results, err) < 0 ? weir_err_within(err, "[global] resultdir") : 0;
}

int io500_places_find(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    if (weir_agree_root(&run->world, run->world.rank == 0 ? choose_stamp(t, err) : 0, err) < 0)
        return -1;
    weir_bcast(&run->world, t->stamp, sizeof(t->stamp), 0);
    if (weir_backend_of_name(io500_text(&t->config, "global", "datadir")))
        return weir_refuse(err, WEIR_EUSAGE, "[global] datadir names an object, but a directory is "
                                             "needed; use ior and mdtest -a S3 to measure objects");
    t->place.config = &t->config;
    if (weir_agree(&run->world, name_places(run, t, err), err) < 0)
        return -1;
    t->left = t->o->forecast && run->world.rank == 0 && when_kept(t->place.results, ".") >= 0;
    weir_bcast(&run->world, &t->left, sizeof(t->left), 0);
    return 0;
}

/* ---- directories ---- */

/* Make the directory of len bytes of a path, and those above it. */
static int make_path(const char *path, size_t len, struct weir_err *err)
{
    struct weir_str part = { 0 };
    int rc = check_length(path, err);

    for (const char *at = path; rc == 0 && at < path + len; at += *at == '/') {
        at += strcspn(at, "/");
        weir_str_clear(&part);
        weir_str_add(&part, path, (size_t)(at - path));
        if (part.len && mkdir(weir_str_text(&part), 0777) < 0 && errno != EEXIST)
            rc = fail_make(weir_str_text(&part), err);
    }
    weir_str_free(&part);
    return rc;
}

/* Two runs at once would remove each other's files. A file system without locks has none. */
static int lock_results(struct io500 *t, struct weir_err *err)
{
    t->lock = open(t->place.results, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->lock < 0)
        return weir_fail(err, WEIR_ESETUP, "read the directory '%s'", t->place.results);
    if (flock(t->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "another run works in '%s': wait for its end, or name another [global] resultdir", t->place.results);
}

/* Files of others stay out of it: the rates would be of them, too, and they would be removed. */
static int check_empty(const char *path, struct weir_err *err)
{
    DIR *d = opendir(path);
    const struct dirent *e;

    if (!d)
        return weir_fail(err, WEIR_ESETUP, "read the directory '%s'", path);
    while ((e = readdir(d)) && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)) {
        /* none of the two counts */
    }
    if (e)
        weir_refuse(err, WEIR_EUSAGE,
                    "'%s' is not empty: it has '%s'; remove it (--cleanup removes what a rehearsal "
                    "has left), or name another [global] datadir",
                    path, e->d_name);
    closedir(d);
    return e ? -1 : 0;
}

/* Check that the directories of the data can be made. Nothing of this is left. */
static int try_data(struct weir_run *run, const struct io500 *t, struct weir_err *err)
{
    const char *path = io500_places_trial(run, t, err);
    int rc = path ? 0 : -1;

    if (path && (mkdir(path, 0777) < 0 || rmdir(path) < 0))
        rc = fail_make(t->place.data, err);
    for (int f = 0; rc == 0 && f < IO500_FAMILIES; f++) {
        if (!io500_families[f].section)
            continue;
        path = io500_places_name(run, t, f, err);
        rc = !path ? -1 : access(path, F_OK) == 0 ? check_empty(path, err) : 0;
    }
    return rc < 0 ? weir_err_within(err, "[global] datadir") : 0;
}

/* A rehearsal that has not ended is not lost. */
static int make_results(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    const char *path = t->place.results;
    struct stat st;

    if (t->o->cleanup)
        return lock_results(t, err);
    if (!t->o->resume && !t->left && when_kept(path, ".") >= 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "in '%s' there is a rehearsal that has not ended: continue it with --resume, remove its files with "
                           "--cleanup, or name another directory of results",
                           path);
    if (!t->o->resume && !t->left && try_data(run, t, err) < 0)
        return -1;
    if (make_path(path, strlen(path), err) < 0)
        return weir_err_within(err, "[global] resultdir");
    if (access(path, W_OK | X_OK) < 0)
        return weir_fail(err, WEIR_ESETUP, "[global] resultdir: write to '%s'", path);
    if (lock_results(t, err) < 0)
        return -1;
    if (fstatat(t->lock, "result.json", &st, 0) == 0 &&
        !S_ISREG(st.st_mode)) /* a pipe waits for a reader */
        return weir_refuse(
            err, WEIR_EUSAGE,
            "'%s/result.json' is not a file: remove it, or name another [global] resultdir", path);
    return 0;
}

int io500_places_results(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    return weir_agree_root(&run->world, run->world.rank == 0 ? make_results(run, t, err) : 0, err);
}

static int make_family(struct weir_run *run, struct io500 *t, int family, struct weir_err *err)
{
    const char *path = io500_places_name(run, t, family, err);
    struct io500_made *made = &t->made[family];
    struct stat st;
    int rc = 0;

    if (!path)
        return -1;
    if (mkdir(path, 0777) == 0)
        made->ours = true;
    else if (errno != EEXIST)
        rc = fail_make(path, err);
    else if (!made->inode && family < IO500_FAMILIES)
        rc = check_empty(path, err);
    if (rc == 0 && stat(path, &st) == 0) {
        if (made->inode && (made->inode != st.st_ino || made->device != st.st_dev) && !made->ours)
            rc = weir_refuse(err, WEIR_EUSAGE,
                             "'%s' is not the directory of the rehearsal any more: it was replaced",
                             path);
        made->device = st.st_dev;
        made->inode = st.st_ino;
    }
    return rc;
}

/* Which of them the rehearsal has made is kept before the first file is. */
static int make_data(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    const char *slash = strrchr(t->place.data, '/');
    int rc = slash ? make_path(t->place.data, (size_t)(slash - t->place.data), err) : 0;

    if (rc == 0)
        rc = make_family(run, t, IO500_FAMILIES, err);
    for (int f = 0; f < IO500_FAMILIES && rc == 0; f++)
        if (io500_families[f].section)
            rc = make_family(run, t, f, err);
    if (rc < 0)
        return weir_err_within(err, "[global] datadir");
    return io500_state_write(t, run->par.size, t->began_phase, err);
}

int io500_places_data(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    return weir_agree_root(&run->par, run->par.rank == 0 ? make_data(run, t, err) : 0, err);
}
