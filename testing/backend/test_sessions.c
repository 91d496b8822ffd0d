/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sessions.c - a session of every backend at the same time, each with several files */
#include "backends/plugin.h"
#include "backends/registry.h"
#include "backends/session/session.h"

#include <string.h>
#include <unistd.h>

#include "backend/setup.h"
#include "backend/tap.h"
#include "base/rng.h"

#define TRANSFER 4096u
#define FILES 2 /* of a session; file k has k + 1 segments of PER_BLOCK transfers */
#define PER_BLOCK 3u
#define MOST (FILES * PER_BLOCK)
#define PLACES 16 /* backends */

/* A session and its files. */
struct place {
    const struct weir_backend *be;
    struct setup setup;
    struct weir_access access;
    struct weir_session s;
    char path[FILES][4200];
    struct weir_file *f[FILES];
    struct weir_request r[FILES][MOST]; /* where there is a queue */
    unsigned char *buf;                 /* FILES * MOST transfers */
};

struct trial {
    struct tap *tap;
    const struct weir_par *par;
    struct weir_log log;
    struct weir_err err;
    struct place place[PLACES];
    int n;
    const char *dir;
};

static unsigned transfers_of(int file)
{
    return ((unsigned)file + 1) * PER_BLOCK;
}

static struct weir_extent extent_of(const struct trial *t, const struct place *p, int file)
{
    uint64_t block = (uint64_t)PER_BLOCK * TRANSFER;
    uint64_t bytes = block * ((unsigned)file + 1);

    return (struct weir_extent) {
        .transfer = TRANSFER,
        .block = block,
        .segments = (uint64_t)file + 1,
        .task = t->par->rank,
        .file_bytes = p->access.file_per_task ? bytes : bytes * (unsigned)t->par->size,
    };
}

static uint64_t offset_of(const struct trial *t, const struct place *p, unsigned i)
{
    unsigned tasks = p->access.file_per_task ? 1 : (unsigned)t->par->size;
    unsigned task = p->access.file_per_task ? 0 : (unsigned)t->par->rank;

    return (uint64_t)((i / PER_BLOCK * tasks + task) * PER_BLOCK + i % PER_BLOCK) * TRANSFER;
}

/* The bytes of a transfer are those of its place, file and offset. */
static uint64_t seed_of(const struct trial *t, const struct place *p, int file)
{
    return (uint64_t)(p - t->place) * 100 + (uint64_t)file * 10 + (uint64_t)t->par->rank;
}

static void fill(unsigned char *buf, uint64_t seed, uint64_t off)
{
    for (size_t i = 0; i < TRANSFER; i += 8)
        memcpy(buf + i, &(uint64_t) { weir_rng_at(seed, off + i) }, 8);
}

static bool compare(const unsigned char *buf, uint64_t seed, uint64_t off)
{
    for (size_t i = 0; i < TRANSFER; i += 8)
        if (memcmp(buf + i, &(uint64_t) { weir_rng_at(seed, off + i) }, 8) != 0)
            return false;
    return true;
}

/* ---- begin and end ---- */

static int begin_place(struct trial *t, struct place *p)
{
    p->access = (struct weir_access) {
        .file_per_task = !(p->be->flags & WEIR_BE_SHARED_ONLY),
        .tasks = t->par->size,
        .nodes = t->par->nodes,
    };
    p->buf = aligned_alloc(4096, (size_t)FILES * MOST * TRANSFER);
    for (int k = 0; k < FILES; k++)
        if (snprintf(p->path[k], sizeof(p->path[k]), "%s/%s-%d.%d", t->dir, p->be->name, k,
                     p->access.file_per_task ? t->par->rank : 0) < 0)
            return -1;
    if (!p->buf || setup_options(&p->setup, p->be, NULL, &t->err) < 0 ||
        weir_session_begin(&p->s, p->be, p->setup.opt, &p->access, t->par, &t->log, &t->err) < 0)
        return -1;
    return weir_session_queue(&p->s, p->s.depth < (int)(2 * MOST) ? p->s.depth : (int)(2 * MOST),
                              &t->err);
}

static int open_files(struct trial *t, struct place *p, unsigned flags)
{
    for (int k = 0; k < FILES; k++) {
        struct weir_extent extent = extent_of(t, p, k);

        if (weir_session_open(&p->s, p->path[k], flags, &extent, &p->f[k], &t->err) < 0)
            return -1;
    }
    return 0;
}

/* The last first. */
static int close_files(struct trial *t, struct place *p)
{
    int rc = 0;

    for (int k = FILES - 1; k >= 0; k--)
        if (weir_session_close(p->f[k], rc < 0 ? NULL : &t->err) < 0)
            rc = -1;
    return rc;
}

static int remove_files(struct trial *t, struct place *p)
{
    bool there = false;
    int rc = 0;

    for (int k = 0; k < FILES && rc == 0; k++)
        if (p->access.file_per_task || t->par->rank == 0) {
            rc = weir_session_exists(&p->s, p->path[k], &there, &t->err);
            if (rc == 0 && there)
                rc = weir_session_unlink(&p->s, p->path[k], &t->err);
        }
    return rc;
}

static int end_place(struct trial *t, struct place *p)
{
    int rc = weir_session_end(&p->s, &t->err);

    setup_free(&p->setup);
    free(p->buf);
    return rc;
}

/* ---- transfers ---- */

/* Transfer i of a file: begin it, in the queue where there is one. */
static int move(struct trial *t, struct place *p, int file, unsigned i, enum weir_dir dir)
{
    struct weir_request *r = &p->r[file][i];
    uint64_t clock_ns = weir_now_ns();

    r->file = p->f[file];
    r->io = (struct weir_io) {
        .dir = dir,
        .buf = p->buf + ((size_t)file * MOST + i) * TRANSFER,
        .len = TRANSFER,
        .off = offset_of(t, p, i),
        .tag = (uint64_t)file,
    };
    if (dir == WEIR_DIR_WRITE)
        fill(r->io.buf, seed_of(t, p, file), r->io.off);
    else
        memset(r->io.buf, 0xee, TRANSFER);
    return p->s.depth > 1 ? weir_session_submit(r, &clock_ns, &t->err)
                          : weir_session_xfer(r->file, &r->io, &clock_ns, &t->err);
}

/* Wait for what is in the queue. */
static int finish(struct trial *t, struct place *p)
{
    struct weir_request *done[MOST];
    uint64_t clock_ns = weir_now_ns();
    int rc = 0;

    while (p->s.in_flight > 0 && rc == 0) {
        int n = weir_session_complete(p->f[0], 1, MOST, done, &clock_ns, &t->err);

        rc = n < 1 ? -1 : 0;
        for (int i = 0; i < n; i++)
            if (done[i]->n != TRANSFER || done[i]->file != p->f[done[i]->io.tag])
                rc = -1;
    }
    return rc;
}

static int check(struct trial *t, struct place *p)
{
    for (int k = 0; k < FILES && !(p->s.flags & WEIR_BE_NO_DATA); k++)
        for (unsigned i = 0; i < transfers_of(k); i++)
            if (!compare(p->r[k][i].io.buf, seed_of(t, p, k), p->r[k][i].io.off))
                return weir_refuse(&t->err, WEIR_EDATA, "transfer %u of '%s' is wrong", i,
                                   p->path[k]);
    return 0;
}

/* One transfer in each file of each session, then the next; all of it in flight where it can be. */
static int move_all(struct trial *t, enum weir_dir dir)
{
    int rc = 0;

    for (unsigned i = 0; i < MOST; i++)
        for (int j = 0; j < t->n; j++)
            for (int k = 0; k < FILES; k++)
                if (rc == 0 && i < transfers_of(k))
                    rc = move(t, &t->place[j], k, i, dir);
    for (int j = t->n - 1; j >= 0; j--)
        if (finish(t, &t->place[j]) < 0)
            rc = -1;
    return rc;
}

/* ---- the trial ---- */

static bool for_each(struct trial *t, int (*what)(struct trial *, struct place *),
                     const char *words)
{
    bool all = true;

    for (int j = 0; j < t->n; j++)
        all &= tap_ok(t->tap, what(t, &t->place[j]) == 0, &t->err, "%s: %s", t->place[j].be->name,
                      words);
    return all;
}

static int create_files(struct trial *t, struct place *p)
{
    return open_files(t, p, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC);
}

static int reopen_files(struct trial *t, struct place *p)
{
    return open_files(t, p, WEIR_OPEN_READ);
}

static void find_backends(struct trial *t)
{
    for (const struct weir_backend *const *be = weir_backends(); *be && t->n < PLACES; be++) {
        if ((*be)->flags & WEIR_BE_OBJECTS) /* they need a service */
            continue;
        t->place[t->n].be = *be;
        if (tap_ok(t->tap, weir_backend_load(&t->place[t->n].be, NULL, &t->err) == 0, &t->err,
                   "%s is there", (*be)->name) &&
            t->place[t->n].be->xfer) /* else it keeps arrays only */
            t->n++;
    }
}

static void run_trial(struct trial *t)
{
    find_backends(t);
    if (!for_each(t, begin_place, "its session begins while the others are open") ||
        !for_each(t, create_files, "its files are made while the others are open"))
        return;
    tap_ok(t->tap, move_all(t, WEIR_DIR_WRITE) == 0, &t->err, "all are written in turns");
    if (!for_each(t, close_files, "its files are closed") ||
        !for_each(t, reopen_files, "and opened again"))
        return;
    tap_ok(t->tap, move_all(t, WEIR_DIR_READ) == 0, &t->err, "all are read in turns");
    for_each(t, check, "its data are its own");
    for_each(t, close_files, "its files are closed again");
    weir_barrier(t->par);
    for_each(t, remove_files, "and removed");
    for_each(t, end_place, "its session ends while others go on");
}

int main(int argc, char **argv)
{
    struct tap tap = { .failed = 0 };
    struct trial *t = calloc(1, sizeof(*t));
    struct weir_par par;
    char dir[2048] = "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tap.rank);
    if (!t)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *t = (struct trial) { .tap = &tap, .par = &par, .dir = dir };
    t->log = (struct weir_log) { .fd = 2, .rank = tap.rank };
    if (tap_ok(&tap, weir_par_init(&par, MPI_COMM_WORLD, &t->err) == 0, &t->err,
               "the ranks meet")) {
        if (tap_ok(&tap, setup_dir(&par, dir, sizeof(dir)), NULL, "there is a place to work in")) {
            run_trial(t);
            weir_barrier(&par);
            tap_ok(&tap, par.rank > 0 || rmdir(dir) == 0, NULL, "nothing is left");
        }
        weir_par_free(&par);
    }
    free(t);
    MPI_Finalize();
    return tap.failed ? 1 : 0;
}
