/* SPDX-License-Identifier: BSD-3-Clause */
/* preflight.c - checks before the first byte is moved */
#include "engine/observe/all.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/set.h"
#include "engine/place/pagecache.h"
#include "engine/place/targets.h"
#include "engine/place/usage.h"
#include "engine/program.h"
#include "par/agree.h"

#define PROBE_WAIT_S 1.0 /* for a name that another node has made */
#define PROBE_TEXT 4096

/* Check that the program can do what --existing and --drop-cache ask for. */
static int check(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err)
{
    const struct weir_program *p = files->program;
    unsigned way = weir_existing(o);

    if (o->drop_cache && !weir_program_has(p, WEIR_STAGE_READS))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --drop-cache: %s has no phase that reads data, and --drop-cache "
                           "cannot drop cached metadata; let another node access the files, or use "
                           "files of an earlier run", p->name);
    if (way == 0 || (p->files && (way & p->files->existing)))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --existing=%s is not supported by %s", o->existing, p->name);
}

/* ---- the place ---- */

/* The directory in which something is or will be made. */
struct directory {
    const char *of; /* the first len bytes of this */
    size_t len;
    struct weir_str name;
    struct stat st; /* of none, the mode is 0 */
};

/* The path itself, or the nearest one above it that exists. The last one is kept. */
static void find_directory(const char *path, size_t len, struct directory *d)
{
    struct weir_str *dir = &d->name;

    if (d->of == path && d->len == len)
        return;
    d->of = path;
    d->len = len;
    weir_str_clear(dir);
    weir_str_add(dir, path, len);
    while (dir->len > 0 && (stat(weir_str_text(dir), &d->st) < 0 || !S_ISDIR(d->st.st_mode))) {
        while (dir->len > 0 && dir->text[dir->len - 1] != '/')
            dir->len--;
        while (dir->len > 1 && dir->text[dir->len - 1] == '/')
            dir->len--;
        dir->text[dir->len] = '\0';
    }
    if (dir->len > 0)
        return;
    weir_str_addf(dir, ".");
    if (stat(".", &d->st) < 0)
        d->st.st_mode = 0;
}

/* Make a file with a new name, on rank 0; false: it cannot be made. */
static bool make_probe(const struct weir_str *dir, struct weir_str *name)
{
    int fd;

    weir_str_clear(name);
    weir_str_addf(name, "%s/.weir-probe-%ld-%llx", weir_str_text(dir), (long)getpid(),
                  (unsigned long long)weir_now_ns());
    fd = open(weir_str_text(name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Other nodes may see a new name a moment later. */
static bool see_probe(const char *name)
{
    uint64_t begin_ns = weir_now_ns();

    while (access(name, F_OK) < 0) {
        if ((double)(weir_now_ns() - begin_ns) > PROBE_WAIT_S * WEIR_NS_PER_S)
            return false;
        weir_sleep_ns(50000000);
    }
    return true;
}

/* Check that one task of every node sees what rank 0 makes in this directory. */
static int probe(struct weir_run *run, const struct weir_str *dir, struct weir_err *err)
{
    const struct weir_par *par = &run->par;
    struct weir_str name = { 0 };
    char text[PROBE_TEXT] = "";
    int rc = 0;

    if (par->rank == 0 && dir->len + 64 < sizeof(text) && make_probe(dir, &name))
        memcpy(text, weir_str_text(&name), name.len + 1);
    weir_bcast(par, text, sizeof(text), 0);
    if (*text && par->rank != 0 && weir_par_asks(par) && !see_probe(text))
        rc = weir_refuse(err, WEIR_ESETUP, "this node does not see a file that rank 0 created in "
                                           "the directory '%.*s'; use a file system that all nodes "
                                           "share", (int)(strrchr(text, '/') - text), text);
    rc = weir_agree(par, rc, err);
    if (*text && par->rank == 0 && unlink(text) < 0 && errno != ENOENT)
        weir_note(&run->log, "the file '%s', which was to show whether all nodes see the directory, could not be removed: %s",
                  text, strerror(errno));
    weir_str_free(&name);
    return rc;
}

static int probe_all(struct weir_run *run, const char *path, struct directory *dir,
                     struct weir_err *err)
{
    uint64_t asked = weir_par_asks(&run->par);
    int rc = 0;

    if (run->par.without_mpi)
        return 0;
    weir_allsum_u64(&run->par, &asked, 1);
    if (asked < 2)
        return 0;
    for (size_t n; rc == 0 && *path; path += n + (path[n] != '\0')) {
        n = strcspn(path, run->test->plan.between);
        if (run->par.rank == 0)
            find_directory(path, n, dir);
        rc = probe(run, &dir->name, err);
    }
    return rc;
}

/* ---- space ---- */

/* A file system, and the first place of the test on it. */
struct place {
    struct statvfs vfs;
    dev_t device;
    const char *path;
    size_t len;
    int shares; /* places on it */
};

#define PLACES 64 /* of which the space is known */

/* File systems of the places, each with the number of those that stand on it. Returns how many
 * there are; 0: not known. */
static int find_places(const char *path, const char *between, struct directory *dir,
                       struct place *list, int *places)
{
    int n = 0;

    *places = 0;
    for (size_t len; *path; path += len + (path[len] != '\0'), (*places)++) {
        int i = 0;

        len = strcspn(path, between);
        find_directory(path, len, dir);
        if (*places == PLACES || dir->st.st_mode == 0 ||
            statvfs(weir_str_text(&dir->name), &list[n].vfs) < 0)
            return 0;
        while (i < n && list[i].device != dir->st.st_dev)
            i++;
        if (i == n)
            list[n++] = (struct place) { list[i].vfs, dir->st.st_dev, path, len, 0 };
        list[i].shares++;
    }
    return n;
}

/* Tasks use the places in turn, so each has about the same part. held: bytes that are there
 * already. */
static int check_place(struct weir_run *run, const struct place *p, int places,
                       struct weir_plan need, uint64_t held, struct weir_err *err)
{
    struct weir_str path = { 0 };
    struct weir_fs_usage u = { .total_bytes = (uint64_t)p->vfs.f_blocks * p->vfs.f_frsize,
                               .avail_bytes = (uint64_t)p->vfs.f_bavail * p->vfs.f_frsize,
                               .inodes = p->vfs.f_files };
    int rc;

    if (p->shares < places) {
        need.bytes = need.bytes / (uint64_t)places * (uint64_t)p->shares;
        need.inodes = need.inodes / (uint64_t)places * (uint64_t)p->shares;
    }
    u.free_inodes = p->vfs.f_ffree + (held > 0 ? need.inodes : 0);
    weir_str_add(&path, p->path, p->len);
    rc = weir_usage_judge(run, weir_str_text(&path), &need, &u, err);
    weir_str_free(&path);
    return rc;
}

static void note_use(const struct statvfs *vfs, struct weir_found *f)
{
    if (vfs->f_blocks > 0)
        f->full = fmax(f->full, 1 - (double)vfs->f_bfree / (double)vfs->f_blocks);
    if (vfs->f_files > 0)
        f->full_inodes = fmax(f->full_inodes, 1 - (double)vfs->f_ffree / (double)vfs->f_files);
}

/* Compute the use of a place, and its need as a fraction of the free space. */
static void expect_use(const struct place *p, int places, const struct weir_plan *need,
                       struct weir_found *f)
{
    double part = (double)p->shares / places;
    double all = (double)p->vfs.f_blocks, free = (double)p->vfs.f_bavail; /* for us */
    double blocks = part * (double)need->bytes / (double)p->vfs.f_frsize;

    if (all <= 0)
        return;
    f->full = fmax(f->full, 1 - ((double)p->vfs.f_bfree - blocks) / all);
    f->need_of_free = fmax(f->need_of_free, blocks / fmax(1, free));
    if (p->vfs.f_files > 1)
        f->need_of_free = fmax(f->need_of_free,
                               part * (double)need->inodes / fmax(1, (double)p->vfs.f_ffree));
}

/* Check the free space for what the tasks of a node make. Rank 0 looks, or one task of each
 * node where each has a file system of its own. The bytes in 'held', on all of them, go first.
 * In a dry run too little space is a finding, and a warning. */
static int check_space(struct weir_run *run, const char *path, struct directory *dir,
                      uint64_t held, bool apart, struct weir_err *err)
{
    const struct weir_par *par = &run->par;
    struct weir_plan need = run->test->plan;
    struct weir_found *f = &run->test->found;
    bool dry = need.options->dry_run, looks = par->rank == (apart ? par->leader : 0);
    struct weir_err why = WEIR_ERR_INIT;
    struct place list[PLACES + 1];
    int places = 0, n = looks ? find_places(path, need.between, dir, list, &places) : 0, rc = 0;

    need.bytes -= held < need.bytes ? held : need.bytes;
    if (apart) {
        need.bytes = (uint64_t)((double)need.bytes / par->size * (par->followers + 1));
        need.inodes = (uint64_t)((double)need.inodes / par->size * (par->followers + 1));
    }
    for (int i = 0; i < n; i++)
        if (dry)
            expect_use(&list[i], places, &need, f);
        else
            note_use(&list[i].vfs, f);
    for (int i = 0; rc == 0 && i < n; i++)
        rc = check_place(run, &list[i], places, need, held, &why);
    if (rc < 0 && dry)
        rc = (f->excess = weir_arena_strdup(&run->arena, why.text, err)) ? weir_warn(&run->log, err, "%s", why.text) : -1;
    else if (rc < 0)
        *err = why;
    return weir_agree(par, rc, err);
}

static int check_test(struct weir_run *run, struct weir_set *made, struct directory *dir,
                      struct weir_err *err)
{
    const struct weir_test *t = run->test;
    const char *path = t->plan.path;
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_targets there = { 0 };
    bool apart; /* each node has a directory of its own: a finding where tasks share no file */

    if (!path || !*path || !t->plan.writes || t->n_used == 0 ||
        (t->used[0].be->flags & WEIR_BE_NO_DATA))
        return 0;
    path = weir_system_path(t->used[0].be, path); /* NULL: no directory of this node, and
                                                   * unknown free space */
    if (weir_agree(&run->par, weir_targets_check(run, made, &there, err), err) < 0)
        return -1;
    weir_allsum_u64(&run->par, (uint64_t *)&there, sizeof(there) / sizeof(uint64_t));
    if (t->plan.options->dry_run)
        return path ? check_space(run, path, dir, there.bytes, false, err) : 0;
    apart = path && probe_all(run, path, dir, &why) < 0;
    if (path)
        run->test->found.apart = apart;
    if (apart && t->plan.shared) {
        *err = why;
        return -1;
    }
    if (path && t->plan.bytes + t->plan.inodes > 0 &&
        check_space(run, path, dir, there.bytes, apart, err) < 0)
        return -1;
    weir_targets_note(run, &there);
    return 0;
}

/* A test without a place that all tasks share has one for each file. */
static void find_place(struct weir_run *run)
{
    const struct weir_test_files *files = run->test->program->files;
    const char *path = run->test->plan.path;
    struct weir_str file = { 0 };

    if (!path && files && files->target && files->target(run, run->test->state, 0, &file))
        path = weir_str_text(&file);
    weir_pagecache_place(run, path && *path ? path : ".");
    weir_str_free(&file);
}

/* ---- the file system goes away ---- */

struct preflight {
    struct weir_set made;   /* names of the files of all tests on this rank */
    struct weir_str
        places; /* directories of the test, each with its NUL; nothing on ranks that do not look */
    dev_t device[PLACES];   /* of each of them */
};

/* With "/." a file system is mounted that is only mounted on demand. */
static void keep_devices(struct weir_run *run, struct preflight *p, struct directory *dir)
{
    const struct weir_test *t = run->test;
    const char *path = t->plan.path && t->n_used > 0 && weir_par_asks(&run->par)
                           ? weir_system_path(t->used[0].be, t->plan.path)
                           : NULL;
    struct stat st;

    weir_str_clear(&p->places);
    for (size_t len, n = 0; path && *path && n < PLACES; path += len + (path[len] != '\0'), n++) {
        len = strcspn(path, t->plan.between);
        find_directory(path, len, dir);
        weir_str_addf(&dir->name, "/.");
        p->device[n] = stat(weir_str_text(&dir->name), &st) == 0 ? st.st_dev : 0;
        weir_str_add(&p->places, weir_str_text(&dir->name), dir->name.len + 1);
        dir->of = NULL;
    }
    run->report.lost |= p->places.failed;
}

/* Where a mount is lost, the files would be made on the disk below its mount point. */
static int check_devices(const struct preflight *p, struct weir_err *err)
{
    const dev_t *was = p->device;
    struct stat st;

    for (const char *dir = NULL; (dir = weir_str_next(&p->places, dir)); was++)
        if (*was != 0 && stat(dir, &st) == 0 && st.st_dev != *was)
            return weir_refuse(err, WEIR_EIO,
                               "'%s' was on device %u:%u at the start of the test and is on device "
                               "%u:%u now: a file "
                               "system was mounted or unmounted there",
                               dir, major(*was), minor(*was), major(st.st_dev), minor(st.st_dev));
    return 0;
}

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    return run->test->plan.path ? weir_agree(&run->par, check_devices(state, err), err) : 0;
}

/* The sum of a phase: the ranks that find another device at its end. */
static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    (void)rec;
    *sum = run->test->plan.path && check_devices(state, NULL) < 0;
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    return rec->failed || *rec->sums == 0 ? 0 : before(run, state, rec, err);
}

static int test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct directory dir = { .of = NULL };
    struct preflight *p = state;
    int rc;

    run->test->found = (struct weir_found) { .apart = -1, .full = NAN, .full_inodes = NAN, .need_of_free = NAN };
    find_place(run);
    rc = check_test(run, &p->made, &dir, err);
    keep_devices(run, p, &dir);
    weir_str_free(&dir.name);
    return weir_agree_same(run, rc, err);
}

static void release(struct weir_run *run, void *state)
{
    struct preflight *p = state;

    weir_set_free(&p->made);
    weir_str_free(&p->places);
}

const struct weir_observer weir_preflight = {
    .name = "preflight",
    .state_size = sizeof(struct preflight),
    .sums = 1,
    .check = check,
    .release = release,
    .test_start = test_start,
    .before = before,
    .add = add,
    .after = after,
};
