/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conformance.c - the contract of backend.h, against every backend that was built */
#include "backends/plugin.h"
#include "backends/registry.h"
#include "backends/session/session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/setup.h"
#include "backend/tap.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

#define TRANSFER 4096u
#define PER_BLOCK 3u /* transfers */
#define BLOCK (TRANSFER * PER_BLOCK)
#define SEGMENTS 2u
#define QUEUE 3 /* requests in flight, where the backend has a queue */

/* A backend in another shape than its defaults. */
struct shape {
    const char *backend, *option;
    int depth;         /* transfers in flight; 0: what the backend chooses */
    bool needs_direct; /* a file system with O_DIRECT */
    bool stores;       /* has data though its defaults have none */
};

static const struct shape shapes[] = {
    { .backend = "POSIX", .option = "posix.rangelocks" },
    { .backend = "POSIX", .option = "posix.odirect", .needs_direct = true },
    { .backend = "AIO", .option = "posix.odirect", .needs_direct = true },
    { .backend = "URING", .depth = QUEUE },
    { .backend = "DUMMY", .option = "dummy.store", .stores = true },
    { .backend = "MMAP", .option = "mmap.madv_dont_need" },
    { .backend = "MPIIO", .option = "mpiio.useFileView" },
    { .backend = NULL },
};

/* One backend, shape and layout under test. */
struct trial {
    struct tap *tap;
    const struct weir_par *par;
    struct weir_log log;
    const struct weir_backend *be;
    struct weir_backend_opt opt;
    bool has_data; /* must have */
    int depth;     /* of the shape */
    struct weir_access access;
    struct weir_extent extent;
    struct weir_session s;
    struct weir_err err;
    const char *dir;
    char path[4096];
    unsigned char *buf;
};

static bool is_collective(const struct trial *t)
{
    return t->access.collective && !t->access.file_per_task;
}

static bool has_data(const struct trial *t)
{
    return !(t->s.flags & WEIR_BE_NO_DATA);
}

/* Offset of transfer i of a segment in the blocks of a task. */
static uint64_t offset_of(const struct trial *t, int task, unsigned segment, unsigned i)
{
    uint64_t off = (uint64_t)i * TRANSFER;

    if (t->access.file_per_task)
        return off + (uint64_t)segment * BLOCK;
    return off + ((uint64_t)segment * (unsigned)t->par->size + (unsigned)task) * BLOCK;
}

static uint64_t word_at(uint64_t seed, int task, uint64_t off)
{
    return weir_rng_at(seed * 1000 + (uint64_t)task, off);
}

static void fill(unsigned char *buf, uint64_t seed, int task, uint64_t off)
{
    size_t i;

    for (i = 0; i < TRANSFER; i += 8)
        memcpy(buf + i, &(uint64_t) { word_at(seed, task, off + i) }, 8);
}

static bool compare(const unsigned char *buf, uint64_t seed, int task, uint64_t off)
{
    size_t i;

    for (i = 0; i < TRANSFER; i += 8)
        if (memcmp(buf + i, &(uint64_t) { word_at(seed, task, off + i) }, 8) != 0)
            return false;
    return true;
}

static void name_file(struct trial *t, const char *name, int task)
{
    int n = t->access.file_per_task
                ? snprintf(t->path, sizeof(t->path), "%s/%s.%08d", t->dir, name, task)
                : snprintf(t->path, sizeof(t->path), "%s/%s", t->dir, name);

    if (n < 0 || (size_t)n >= sizeof(t->path))
        MPI_Abort(MPI_COMM_WORLD, 1);
    t->extent.task = task;
}

/* The name that is handed over is gone when the file is open. */
static int open_named(struct trial *t, unsigned flags, struct weir_file **f)
{
    char name[sizeof(t->path)];
    int rc;

    memcpy(name, t->path, sizeof(name));
    rc = weir_session_open(&t->s, name, flags, &t->extent, f, &t->err);
    memset(name, '?', sizeof(name) - 1);
    if (rc == 0 && strcmp((*f)->path, t->path) != 0)
        rc = weir_refuse(&t->err, WEIR_EBUG, "the file keeps a name that belongs to others");
    return rc;
}

/* Open as a driver does: a shared file is created by rank 0 before the others come, unless
 * opening is collective. */
static int open_file(struct trial *t, unsigned flags, struct weir_file **f)
{
    bool alone = !t->access.file_per_task && !(t->s.flags & WEIR_BE_COLLECTIVE_OPEN) &&
                 (flags & WEIR_OPEN_CREATE);
    int rc = 0;

    *f = NULL;
    if (alone && t->par->rank == 0)
        rc = open_named(t, flags, f);
    if (alone)
        weir_barrier(t->par);
    if (!alone || t->par->rank > 0)
        rc = open_named(t, alone ? flags & ~(unsigned)WEIR_OPEN_TRUNC : flags, f);
    weir_barrier(t->par);
    return rc;
}

static int move(struct trial *t, struct weir_file *f, enum weir_dir dir, uint64_t off, size_t len)
{
    struct weir_io io = { .dir = dir, .buf = t->buf, .len = len, .off = off };
    uint64_t clock_ns = weir_now_ns();

    return weir_session_xfer(f, &io, &clock_ns, &t->err);
}

/* Write our blocks of the first segments. A failed rank goes on: others may be waiting in a
 * collective call. */
static int write_blocks(struct trial *t, struct weir_file *f, uint64_t seed, unsigned segments,
                        unsigned per_block)
{
    unsigned s, i;
    int rc = 0;

    for (s = 0; s < segments; s++)
        for (i = 0; i < per_block; i++) {
            uint64_t off = offset_of(t, t->extent.task, s, i);

            fill(t->buf, seed, t->extent.task, off);
            if (move(t, f, WEIR_DIR_WRITE, off, TRANSFER) < 0)
                rc = -1;
        }
    return rc;
}

/* Read a task's blocks. Transfer 0 of each block up to segment 'fresh' has another seed. */
static int read_blocks(struct trial *t, struct weir_file *f, uint64_t seed, unsigned fresh,
                       uint64_t fresh_seed)
{
    unsigned s, i;
    int rc = 0;

    for (s = 0; s < SEGMENTS; s++)
        for (i = 0; i < PER_BLOCK; i++) {
            uint64_t off = offset_of(t, t->extent.task, s, i);
            uint64_t want = s < fresh && i == 0 ? fresh_seed : seed;

            memset(t->buf, 0xee, TRANSFER);
            if (move(t, f, WEIR_DIR_READ, off, TRANSFER) < 0)
                rc = -1;
            else if (has_data(t) && !compare(t->buf, want, t->extent.task, off))
                rc = weir_refuse(&t->err, WEIR_EDATA,
                                 "wrong data in segment %u, transfer %u of '%s'", s, i, t->path);
        }
    return rc;
}

/* Read a task's blocks from a segment on, and look at nothing. */
static int skim_blocks(struct trial *t, struct weir_file *f, unsigned first)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->buf, .len = TRANSFER };
    uint64_t clock_ns = weir_now_ns();
    unsigned s, i;
    int rc = 0;

    for (s = first; s < first + SEGMENTS; s++)
        for (i = 0; i < PER_BLOCK; i++) {
            io.off = offset_of(t, t->extent.task, s, i);
            if (rc == 0)
                rc = weir_session_xfer(f, &io, &clock_ns, &t->err);
        }
    return rc;
}

/* ---- the queue ---- */

/* Requests in flight, each with a buffer; transfer 'tag' of the blocks of our task. */
struct flight {
    struct weir_request r[QUEUE], *idle[QUEUE];
    unsigned char *pool;
    int depth, n_idle;
    unsigned done;
};

static bool begin_flight(struct trial *t, struct flight *q)
{
    *q = (struct flight) { .depth = t->s.depth < QUEUE ? t->s.depth : QUEUE };
    q->pool = aligned_alloc(4096, (size_t)QUEUE * TRANSFER);
    for (int i = 0; i < q->depth; i++) {
        q->r[i].io.buf = q->pool + (size_t)i * TRANSFER;
        q->idle[q->n_idle++] = &q->r[i];
    }
    return q->pool && weir_session_queue(&t->s, q->depth, &t->err) == 0;
}

/* Take back at least one request; what was read must be the data of 'seed'. */
static int take_back(struct trial *t, struct weir_file *f, struct flight *q, uint64_t seed)
{
    struct weir_request *done[QUEUE];
    uint64_t clock_ns = weir_now_ns();
    int n = weir_session_complete(f, 1, q->depth, done, &clock_ns, &t->err), rc = n < 1 ? -1 : 0;

    for (int i = 0; i < n; i++) {
        const struct weir_request *r = done[i];

        if (r->n != TRANSFER || r->end_ns < r->begin_ns || r->end_ns > clock_ns || r->file != f)
            rc = -1;
        else if (r->io.dir == WEIR_DIR_READ && has_data(t) &&
                 !compare(r->io.buf, seed, t->extent.task, r->io.off))
            rc = weir_refuse(&t->err, WEIR_EDATA, "wrong data at offset %llu of '%s'",
                             (unsigned long long)r->io.off, t->path);
        q->idle[q->n_idle++] = done[i];
        q->done++;
    }
    return rc;
}

/* Move all blocks of our task from segment 'first' on. */
static int queue_blocks(struct trial *t, struct weir_file *f, enum weir_dir dir, unsigned first,
                        uint64_t seed)
{
    struct flight q;
    uint64_t clock_ns = weir_now_ns();
    int rc = begin_flight(t, &q) ? 0 : -1;

    for (unsigned i = 0; i < SEGMENTS * PER_BLOCK && rc == 0; i++) {
        struct weir_request *r;

        if (q.n_idle == 0 && (rc = take_back(t, f, &q, seed)) < 0)
            break;
        r = q.idle[--q.n_idle];
        r->file = f;
        r->io.dir = dir;
        r->io.len = TRANSFER;
        r->io.off = offset_of(t, t->extent.task, first + i / PER_BLOCK, i % PER_BLOCK);
        if (dir == WEIR_DIR_WRITE)
            fill(r->io.buf, seed, t->extent.task, r->io.off);
        else
            memset(r->io.buf, 0xee, TRANSFER);
        rc = weir_session_submit(r, &clock_ns, &t->err);
    }
    while (rc == 0 && t->s.in_flight > 0)
        rc = take_back(t, f, &q, seed);
    weir_session_drain(f);
    free(q.pool);
    return rc == 0 && q.done != SEGMENTS * PER_BLOCK ? -1 : rc;
}

/* Close and pass the worse result on. */
static int close_file(struct trial *t, struct weir_file *f, int rc)
{
    if (weir_session_close(f, rc < 0 ? NULL : &t->err) < 0)
        rc = -1;
    weir_barrier(t->par);
    return rc;
}

/* Does the file exist, and does asking work? */
static bool exists(struct trial *t, bool expect)
{
    bool yes = !expect;
    int rc = weir_session_exists(&t->s, t->path, &yes, &t->err);

    weir_barrier(t->par);
    return rc == 0 && yes == expect;
}

static bool test_write(struct trial *t)
{
    struct weir_file *f;
    int rc;

    if (has_data(t))
        tap_ok(t->tap, exists(t, false), &t->err, "a file does not exist before it is created");
    rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f);
    if (!tap_ok(t->tap, rc == 0, &t->err, "a file is created"))
        return false;
    rc = write_blocks(t, f, 1, SEGMENTS, PER_BLOCK);
    tap_ok(t->tap, rc == 0, &t->err, "every rank writes its blocks");
    tap_ok(t->tap, weir_session_sync(f, &t->err) == 0, &t->err, "it is flushed to stable storage");
    return tap_ok(t->tap, close_file(t, f, 0) == 0, &t->err, "it is closed") && rc == 0;
}

static void test_size(struct trial *t)
{
    uint64_t bytes = 0;
    int rc = weir_session_size(&t->s, t->path, &bytes, &t->err);
    bool good = t->be->flags & WEIR_BE_CONTAINER ? bytes >= t->extent.file_bytes
                                                 : bytes == t->extent.file_bytes;

    if (!has_data(t))
        return;
    tap_ok(t->tap, exists(t, true), &t->err, "a written file exists");
    tap_ok(t->tap, rc == 0 && good, &t->err, "a written file has its size");
}

static void test_read(struct trial *t)
{
    struct weir_file *f;
    int rank = t->par->rank, other = (rank + 1) % t->par->size, rc;

    name_file(t, "data", rank);
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_READ, &f) == 0, &t->err,
                "a file is opened again for reading"))
        return;
    weir_session_reset(&t->s);
    rc = read_blocks(t, f, 1, 0, 0);
    tap_ok(t->tap, t->s.stats->hist[WEIR_OP_XFER].n == SEGMENTS * PER_BLOCK, NULL,
           "each transfer is measured once");
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err, "every rank reads back what it wrote");
    rc = open_file(t, WEIR_OPEN_READ, &f);
    if (rc == 0)
        rc = skim_blocks(t, f, 0);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err, "and without looking at it");

    name_file(t, "data", other);
    rc = open_file(t, WEIR_OPEN_READ, &f);
    if (rc == 0)
        rc = read_blocks(t, f, 1, 0, 0);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err, "every rank reads what its neighbour wrote");
    name_file(t, "data", rank);
}

static void test_overwrite(struct trial *t)
{
    struct weir_file *f;
    int rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &f);

    if (!tap_ok(t->tap, rc == 0, &t->err, "an existing file is opened for writing"))
        return;
    rc = write_blocks(t, f, 2, 1, 1);
    rc = close_file(t, f, rc);
    tap_ok(t->tap, rc == 0, &t->err, "a part of it is written again");
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_READ, &f) == 0, &t->err,
                "and it is opened once more"))
        return;
    rc = read_blocks(t, f, 1, 1, 2);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err,
           "without TRUNC the rest of the file is kept");
}

static void test_exclusive(struct trial *t)
{
    struct weir_file *f;
    int rc;

    if (!has_data(t))
        return;
    rc = weir_session_open(&t->s, t->path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL,
                           &t->extent, &f, &t->err);
    tap_ok(t->tap, rc < 0 && t->err.code == WEIR_EIO && strstr(t->err.text, t->path),
           rc < 0 ? &t->err : NULL, "exclusive creation of an existing file fails and names it");
    close_file(t, f, 0);
    if (!t->access.file_per_task)
        return;
    name_file(t, "fresh", t->par->rank);
    rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL, &f);
    rc = close_file(t, f, rc);
    tap_ok(t->tap, rc == 0, &t->err, "exclusive creation of a new file succeeds");
    tap_ok(t->tap, weir_session_unlink(&t->s, t->path, &t->err) == 0, &t->err, "and it is removed");
    name_file(t, "data", t->par->rank);
}

/* Several transfers at a time, where the backend has a queue. */
static void test_queue(struct trial *t)
{
    struct weir_file *f;
    int rc;

    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f) == 0,
                &t->err, "a file is opened for a queue of depth %d", t->s.depth))
        return;
    rc = queue_blocks(t, f, WEIR_DIR_WRITE, 0, 5);
    tap_ok(t->tap, rc == 0 && t->s.in_flight == 0, &t->err, "every rank writes through a queue");
    tap_ok(t->tap, weir_session_sync(f, &t->err) == 0, &t->err, "and flushes");
    tap_ok(t->tap, close_file(t, f, 0) == 0, &t->err, "it is closed");
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_READ, &f) == 0, &t->err, "and opened again"))
        return;
    rc = queue_blocks(t, f, WEIR_DIR_READ, 0, 5);
    tap_ok(t->tap, rc == 0, &t->err, "what comes back from the queue are the data");
    tap_ok(t->tap, close_file(t, f, 0) == 0, &t->err, "it is closed after reading");
}

/* Can the file be leased? Not while any process has it open. Some kernels close what was in the table of a ring a moment
 * after it is taken out. */
static bool is_closed(const char *path)
{
    bool leased = false;

    for (int i = 0; i < 500 && !leased; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        leased = fd >= 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
        if (fd >= 0)
            close(fd);
        if (!leased)
            weir_sleep_ns(20000000);
    }
    return leased;
}

/* Are there leases in this directory? Rank 0 tries. */
static bool has_leases(const struct trial *t)
{
    int64_t yes = 0;
    char path[4096];
    int fd = -1;

    if (t->par->rank == 0 && snprintf(path, sizeof(path), "%s/lease", t->dir) < (int)sizeof(path))
        fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        yes = fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
        close(fd);
        unlink(path);
    }
    weir_allmax_i64(t->par, &yes, 1);
    return yes;
}

/* Nothing of a file stays open: neither its descriptors nor those that a sync after each write needs. */
static void test_closed(struct trial *t)
{
    bool is_ours = t->access.file_per_task || t->par->rank == 0;
    struct weir_file *f;
    int rc;

    if (!has_data(t) || access(t->path, F_OK) < 0 || !has_leases(t))
        return;
    t->s.access.sync_each = true;
    rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &f);
    if (rc == 0)
        rc = write_blocks(t, f, 1, 1, 1);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err, "a file whose writes are synced is closed");
    t->s.access.sync_each = false;
    tap_ok(t->tap, !is_ours || is_closed(t->path), NULL, "and no descriptor of it is left");
    weir_barrier(t->par);
}

/* Only the first segment is there: the second one cannot be read. The file may have been laid
 * out whole. */
static void test_short(struct trial *t)
{
    bool is_whole = t->be->flags & (WEIR_BE_CONTAINER | WEIR_BE_WHOLE);
    unsigned after = is_whole ? SEGMENTS : 1;
    struct weir_file *f;
    uint64_t bytes = 0;
    int rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f);

    if (!tap_ok(t->tap, rc == 0, &t->err, "an existing file is emptied"))
        return;
    rc = write_blocks(t, f, 1, 1, PER_BLOCK);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err, "and written in part");
    if (!has_data(t))
        return;
    if (!is_whole) {
        rc = weir_session_size(&t->s, t->path, &bytes, &t->err);
        tap_ok(t->tap, rc == 0 && bytes == t->extent.file_bytes / SEGMENTS, &t->err,
               "truncation took the rest away");
    }
    if (is_collective(
            t)) /* an MPI library may hide the end of the file: only the data would show it */
        return;
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_READ, &f) == 0, &t->err, "a short file is opened"))
        return;
    rc = move(t, f, WEIR_DIR_READ, offset_of(t, t->extent.task, after, 0), TRANSFER);
    tap_ok(t->tap, rc < 0 && t->err.code == WEIR_EIO && strstr(t->err.text, t->path),
           rc < 0 ? &t->err : NULL, "reading after the end of a file fails and names it");
    rc = queue_blocks(t, f, WEIR_DIR_READ, after, 1);
    tap_ok(t->tap,
           rc < 0 && t->err.code == WEIR_EIO && strstr(t->err.text, t->path) && t->s.in_flight == 0,
           rc < 0 ? &t->err : NULL, "also through a queue");
    rc = skim_blocks(t, f, after);
    tap_ok(t->tap, rc < 0 && t->err.code == WEIR_EIO && strstr(t->err.text, t->path),
           rc < 0 ? &t->err : NULL, "also when nobody looks at the data");
    tap_ok(t->tap, close_file(t, f, 0) == 0, &t->err, "the short file is closed");
}

/* Only rank 0 has something to write, then to read; the others take part with nothing. */
static void test_taking_part(struct trial *t)
{
    uint64_t off = offset_of(t, t->extent.task, 0, 0);
    size_t len = t->par->rank == 0 ? TRANSFER : 0;
    struct weir_file *f;
    int rc;

    if (!is_collective(t))
        return;
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &f) == 0, &t->err,
                "a file is opened by all"))
        return;
    fill(t->buf, 3, t->extent.task, off);
    rc = move(t, f, WEIR_DIR_WRITE, off, len);
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err,
           "ranks take part in a collective write with nothing");
    if (!tap_ok(t->tap, open_file(t, WEIR_OPEN_READ, &f) == 0, &t->err,
                "the file is opened by all for reading"))
        return;
    memset(t->buf, 0, TRANSFER);
    rc = move(t, f, WEIR_DIR_READ, off, len);
    if (rc == 0 && len > 0 && has_data(t) && !compare(t->buf, 3, t->extent.task, off))
        rc = weir_refuse(&t->err, WEIR_EDATA, "wrong data");
    tap_ok(t->tap, close_file(t, f, rc) == 0, &t->err,
           "ranks take part in a collective read with nothing");
}

static void test_unlink(struct trial *t)
{
    bool is_ours = t->access.file_per_task || t->par->rank == 0;
    int rc = is_ours ? weir_session_unlink(&t->s, t->path, &t->err) : 0;

    weir_barrier(t->par);
    tap_ok(t->tap, rc == 0, &t->err, "a file is removed");
    if (!has_data(t))
        return;
    tap_ok(t->tap, exists(t, false), &t->err, "a removed file does not exist");
    rc = is_ours ? weir_session_unlink(&t->s, t->path, &t->err) : -1;
    weir_barrier(t->par);
    tap_ok(t->tap, rc < 0 && (!is_ours || strstr(t->err.text, t->path)), rc < 0 ? &t->err : NULL,
           "it cannot be removed twice");
}

/* Nobody knows how long the file will be. A backend that makes shapes of a geometry has no place for
 * data, and may refuse such a file; it says so. */
static void test_no_extent(struct trial *t)
{
    struct weir_extent extent = t->extent;
    struct weir_file *f;
    uint64_t off;
    int rc;

    name_file(t, "free", t->par->rank);
    off = t->access.file_per_task ? 0 : (uint64_t)t->par->rank * TRANSFER;
    t->extent = (struct weir_extent) { .task = t->extent.task };
    rc = open_file(t, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &f);
    tap_ok(t->tap, rc == 0 || ((t->be->flags & WEIR_BE_CONTAINER) && t->err.code == WEIR_EUSAGE),
           &t->err, "a file without a geometry is made, or refused in words");
    if (f && !(t->be->flags & WEIR_BE_CONTAINER)) {
        fill(t->buf, 9, t->extent.task, off);
        rc = move(t, f, WEIR_DIR_WRITE, off, TRANSFER);
    }
    rc = f ? close_file(t, f, rc) : 0;
    tap_ok(t->tap, rc == 0, &t->err, "it is written");
    if (f && has_data(t) && !(t->be->flags & WEIR_BE_CONTAINER)) {
        rc = open_file(t, WEIR_OPEN_READ, &f);
        memset(t->buf, 0xee, TRANSFER);
        if (rc == 0)
            rc = move(t, f, WEIR_DIR_READ, off, TRANSFER);
        if (rc == 0 && !compare(t->buf, 9, t->extent.task, off))
            rc = weir_refuse(&t->err, WEIR_EDATA, "wrong data in '%s'", t->path);
        rc = close_file(t, f, rc);
        tap_ok(t->tap, rc == 0, &t->err, "and read");
    }
    weir_barrier(t->par);
    if (t->access.file_per_task || t->par->rank == 0)
        unlink(t->path);
    weir_barrier(t->par);
    t->extent = extent;
}

static void test_missing(struct trial *t)
{
    struct weir_file *f;
    int rc;

    if (!has_data(t))
        return;
    name_file(t, "missing", t->par->rank);
    rc = weir_session_open(&t->s, t->path, WEIR_OPEN_READ, &t->extent, &f, &t->err);
    tap_ok(t->tap, rc < 0 && f == NULL && t->err.code == WEIR_EIO && strstr(t->err.text, t->path),
           rc < 0 ? &t->err : NULL, "opening a missing file fails with an I/O error that names it");
    tap_ok(t->tap, exists(t, false), &t->err, "and does not create it");
}

static void test_names(struct trial *t)
{
    struct weir_fs_usage u = { 0 };
    int rc = 0;

    if (t->be->ns && t->be->ns->mkdir && t->be->ns->rmdir && has_data(t)) {
        name_file(t, "dir", t->par->rank);
        if (t->par->rank == 0) {
            rc = weir_session_mkdir(&t->s, t->path, 0755, &t->err);
            if (rc == 0 && weir_session_mkdir(&t->s, t->path, 0755, &t->err) == 0)
                rc = weir_refuse(&t->err, WEIR_EBUG, "made twice");
            if (rc == 0)
                rc = weir_session_rmdir(&t->s, t->path, &t->err);
        }
        tap_ok(t->tap, rc == 0, &t->err, "a directory is made once and removed");
    }
    if (t->be->ns && t->be->ns->usage) {
        name_file(t, "data", t->par->rank);
        rc = weir_session_usage(&t->s, t->path, &u, &t->err);
        tap_ok(t->tap, rc == 0 && u.total_bytes > 0 && u.avail_bytes <= u.total_bytes, &t->err,
               "the file system tells how full it is before the file exists");
    }
}

static void test_dry_run(struct trial *t)
{
    struct weir_file *f = NULL;
    int rc;

    t->access.dry_run = true;
    name_file(t, "dry", t->par->rank);
    rc = weir_session_begin(&t->s, t->be, t->opt, &t->access, t->par, &t->log, &t->err);
    if (rc == 0) {
        rc = weir_session_open(&t->s, t->path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &t->extent, &f,
                               &t->err);
        if (rc == 0)
            rc = write_blocks(t, f, 1, 1, 1);
        if (weir_session_close(f, &t->err) < 0 || weir_session_unlink(&t->s, t->path, &t->err) < 0)
            rc = -1;
        if (weir_session_end(&t->s, &t->err) < 0)
            rc = -1;
    }
    tap_ok(t->tap, rc == 0 && access(t->path, F_OK) < 0, &t->err,
           "a dry run succeeds and creates nothing");
    t->access.dry_run = false;
}

static bool on_mpi_io(const struct weir_backend *be)
{
    static const char *const names[] = { "MPIIO", "HDF5", "NCMPI", NULL };
    const char *const *name = names;

    while (*name && strcmp(*name, be->name) != 0)
        name++;
    return *name;
}

/* A rank that MPI-IO could not open files on would leave the others in MPI_File_open. */
static void test_descriptors(struct trial *t)
{
    int last = t->par->size - 1, fd = open("/", O_RDONLY);
    struct rlimit before, none;
    int rc;

    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &before) < 0) {
        tap_ok(t->tap, false, NULL, "a descriptor is free");
        return;
    }
    close(fd);
    none = (struct rlimit) { .rlim_cur = (rlim_t)fd, .rlim_max = before.rlim_max };
    if (t->par->rank == last)
        setrlimit(RLIMIT_NOFILE, &none);
    rc = weir_session_begin(&t->s, t->be, t->opt, &t->access, t->par, &t->log, &t->err);
    setrlimit(RLIMIT_NOFILE, &before);
    tap_ok(t->tap, rc < 0 && strstr(t->err.text, "file descriptors"), NULL,
           "a session fails on all ranks where one has no free file descriptors");
}

static void run_trial(struct trial *t)
{
    int rc = weir_session_check(t->be, t->opt, &t->access, &t->extent, t->par, &t->log, &t->err);

    if (t->access.file_per_task && (t->be->flags & WEIR_BE_SHARED_ONLY)) {
        tap_ok(t->tap, rc < 0 && t->err.code == WEIR_EUSAGE, NULL, "a file per task is refused");
        return;
    }
    if (!tap_ok(t->tap, rc == 0, &t->err, "options, access and geometry suit"))
        return;
    if (on_mpi_io(t->be))
        test_descriptors(t);
    rc = weir_session_begin(&t->s, t->be, t->opt, &t->access, t->par, &t->log, &t->err);
    if (!tap_ok(t->tap, rc == 0, &t->err, "a session begins"))
        return;
    tap_ok(t->tap, has_data(t) == t->has_data, NULL, "it says whether it stores data");
    name_file(t, "data", t->par->rank);
    if (test_write(t)) {
        test_size(t);
        test_read(t);
        test_overwrite(t);
        test_queue(t);
        test_closed(t);
        test_exclusive(t);
        test_short(t);
        test_taking_part(t);
        test_unlink(t);
    }
    test_no_extent(t);
    test_missing(t);
    test_names(t);
    tap_ok(t->tap, weir_session_end(&t->s, &t->err) == 0, &t->err, "the session ends");
    test_dry_run(t);
}

/* Every layout that the backend knows. */
static void run_layouts(struct trial *t, const char *shape)
{
    int layout;

    for (layout = 0; layout < 4; layout++) {
        bool per_task = layout & 1, collective = layout & 2;
        unsigned files_of = per_task ? 1 : (unsigned)t->par->size;

        if (collective && !(t->be->flags & WEIR_BE_COLLECTIVE_XFER))
            continue;
        t->access = (struct weir_access) {
            .file_per_task = per_task,
            .collective = collective,
            .tasks = t->par->size,
            .nodes = t->par->nodes,
            .depth = t->depth,
        };
        t->extent = (struct weir_extent) {
            .transfer = TRANSFER,
            .block = BLOCK,
            .segments = SEGMENTS,
            .file_bytes = (uint64_t)BLOCK * SEGMENTS * files_of,
        };
        if (snprintf(t->tap->about, sizeof(t->tap->about), "%s%s%s, %s, %s: ", t->be->name,
                     *shape ? " " : "", shape, per_task ? "file per task" : "shared file",
                     collective ? "collective" : "independent") < 0)
            t->tap->about[0] = '\0';
        run_trial(t);
    }
    t->tap->about[0] = '\0';
}

/* The options of a backend and of its base with their defaults, and one of them set or a queue of some depth. */
static void run_shape(struct trial *t, const struct shape *shape)
{
    const char *name = !shape ? "" : shape->option ? shape->option : "in a queue";
    struct setup u = { .own = NULL };
    int rc = setup_options(&u, t->be, shape ? shape->option : NULL, &t->err);

    t->opt = u.opt;
    t->depth = shape ? shape->depth : 0;
    t->has_data = !(t->be->flags & WEIR_BE_NO_DATA) || (shape && shape->stores);
    if (tap_ok(t->tap, rc == 0, &t->err, "%s%s%s has sound options", t->be->name, *name ? " " : "", name))
        run_layouts(t, name);
    setup_free(&u);
}

/* Can files here be opened with O_DIRECT? Rank 0 tries. */
static bool has_direct(struct trial *t)
{
    int64_t fd = -1;

    t->access.file_per_task = false;
    name_file(t, "direct", 0);
    if (t->par->rank == 0) {
        fd = open(t->path, O_CREAT | O_WRONLY | O_DIRECT, 0600);
        if (fd >= 0)
            close((int)fd);
        unlink(t->path);
    }
    weir_allmax_i64(t->par, &fd, 1);
    return fd >= 0;
}

/* The backend with its defaults, then in its other shapes. */
static void run_shapes(struct trial *t)
{
    const struct shape *shape;

    run_shape(t, NULL);
    for (shape = shapes; shape->backend; shape++) {
        if (strcmp(shape->backend, t->be->name) != 0)
            continue;
        if (!shape->needs_direct || has_direct(t))
            run_shape(t, shape);
        else if (t->par->rank == 0)
            printf("ok - %s # SKIP no O_DIRECT in %s\n", shape->option, t->dir);
    }
}

static void run_backends(struct trial *t, const char *only)
{
    const struct weir_backend *const *be;

    for (be = weir_backends(); *be; be++) {
        if (only && weir_backend_find(only) != *be)
            continue;
        t->be = *be;
        if (!tap_ok(t->tap, weir_backend_load(&t->be, NULL, &t->err) == 0, &t->err, "%s is there",
                    (*be)->name))
            continue;
        tap_ok(t->tap,
               t->be->abi == WEIR_BACKEND_ABI && t->be->name && t->be->brief && t->be->open &&
                   (t->be->array || (t->be->close && t->be->xfer)) && t->be->file_size >= sizeof(struct weir_file),
               NULL, "%s fills the contract", t->be->name);
        tap_ok(t->tap, weir_backend_find(t->be->name) == *be, NULL, "%s is found by its name",
               t->be->name);
        if (!t->be->xfer) /* it keeps arrays only: testing/backend/test_arrays.c */
            continue;
        if (!(t->be->flags & WEIR_BE_OBJECTS)) /* they need a service: testing/system/test_s3.py has one */
            run_shapes(t);
        else if (t->par->rank == 0)
            printf("ok - %s # SKIP no service here\n", t->be->name);
    }
}

/* With an argument only the backend of that name. */
int main(int argc, char **argv)
{
    struct tap tap = { .failed = 0 };
    struct trial t = { .tap = &tap };
    struct weir_par par;
    char dir[2048] = "";
    void *buf = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tap.rank);
    t.log = (struct weir_log) { .fd = 2, .rank = tap.rank };
    if (tap_ok(&tap, weir_par_init(&par, MPI_COMM_WORLD, &t.err) == 0, &t.err, "the ranks meet")) {
        t.par = &par;
        t.dir = dir;
        if (tap_ok(&tap,
                   setup_dir(&par, dir, sizeof(dir)) &&
                       weir_mem_aligned(&buf, 4096, TRANSFER, &t.err) == 0,
                   &t.err, "there is a place to work in")) {
            t.buf = buf;
            run_backends(&t, argc > 1 ? argv[1] : NULL);
            tap_ok(&tap, par.rank > 0 || rmdir(dir) == 0, NULL, "nothing is left");
        }
        free(buf);
        weir_par_free(&par);
    }
    MPI_Finalize();
    return tap.failed ? 1 : 0;
}
