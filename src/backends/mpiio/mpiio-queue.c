/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-queue.c - transfers of MPI-IO in flight: nonblocking calls, independent or collective */
#include "backends/mpiio/mpiio.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"

#define LOOKS 32 /* of the first calls: had they ended when they returned? */
#define LOST_S 3 /* nothing has ended for so long: is the oldest one lost? */

#ifdef OPEN_MPI
#define OWN_COLLECTIVES true /* OMPIO makes an independent transfer of each task of a nonblocking collective one */
#else
#define OWN_COLLECTIVES false
#endif

static const char *const calls[2][2] = {
    [WEIR_DIR_WRITE] = { "MPI_File_iwrite_at", "MPI_File_iwrite_at_all" },
    [WEIR_DIR_READ] = { "MPI_File_iread_at", "MPI_File_iread_at_all" },
};

static struct mpiio_queue *queue_of(const struct weir_session *s)
{
    return &((struct mpiio_session *)s->priv)->queue;
}

int mpiio_queue_begin(struct weir_session *s, int depth, struct weir_err *err)
{
    struct mpiio_queue *q = queue_of(s);

    q->patience_s = LOST_S;
    q->request = calloc((size_t)depth, sizeof(*q->request));
    return q->request ? 0 : weir_fail(err, WEIR_ESETUP, "memory for %d transfers in flight", depth);
}

void mpiio_queue_end(struct weir_session *s)
{
    struct mpiio_queue *q = queue_of(s);

    if (q->seen > 0 && q->at_once == q->seen)
        weir_note(s->log,
                  "--depth=%d: this MPI library moves the data of a nonblocking call before the call "
                  "returns, so one transfer was in flight at a time",
                  s->depth);
    free(q->request);
    *q = (struct mpiio_queue) { 0 };
}

/* ---- completion ---- */

/* Open MPI 4.1 crashes in MPI_Test and its relatives where a transfer of OMPIO has failed, so its status
 * is read without them. MPICH makes progress in MPI_Test only. */
static int test(MPI_Request *mpi, int *flag, MPI_Status *status)
{
#ifdef OPEN_MPI
    int rc = MPI_Request_get_status(*mpi, flag, status);

    if (*flag)
        MPI_Request_free(mpi);
    return rc;
#else
    return MPI_Test(mpi, flag, status);
#endif
}

/* Return the outcome of a transfer. A short independent one goes on. OMPIO shows a failure as 0
 * bytes moved. */
static ssize_t judge(const struct mpiio_request *g, int rc, MPI_Status *status, int sys)
{
    struct mpiio_file *f = (struct mpiio_file *)g->r->file;
    const struct weir_io *io = &g->r->io;
    MPI_Count moved = 0;

    if (rc != MPI_SUCCESS || status->MPI_ERROR != MPI_SUCCESS || g->refused)
        return -1;
    if (g->want == 0)
        return 0;
    if (MPI_Get_elements_x(status, MPI_BYTE, &moved) != MPI_SUCCESS || moved <= 0 ||
        (size_t)moved > g->want || (f->collective && (size_t)moved < io->len))
        return -1;
    return mpiio_account(f, io, (size_t)moved, sys, calls[io->dir][f->collective], NULL) < 0
               ? -1
               : (ssize_t)moved;
}

static void give_up(struct weir_request *r)
{
    struct mpiio_file *f = (struct mpiio_file *)r->file;

    r->n = -1;
    r->sys = EIO;
    if (f->collective && r->io.dir == WEIR_DIR_WRITE)
        f->end = UINT64_MAX; /* what the others wrote is no longer judged */
}

static bool has_ended(struct mpiio_request *g)
{
    MPI_Status status = { .MPI_ERROR = MPI_SUCCESS };
    int flag = 0, rc;

    if (g->mpi == MPI_REQUEST_NULL)
        return true;
    errno = 0;
    rc = test(&g->mpi, &flag, &status);
    if (rc == MPI_SUCCESS && !flag)
        return false;
    g->mpi = MPI_REQUEST_NULL;
    g->r->n = judge(g, rc, &status, errno);
    if (g->r->n < 0)
        give_up(g->r);
    return true;
}

/* Each look at one that has not ended costs time: with enough of them the first ends the search. */
static int take_ended(struct mpiio_queue *q, int least, int most, struct weir_request **done)
{
    int n = 0, kept = 0;
    bool enough = false;

    for (int i = 0; i < q->n; i++) {
        struct mpiio_request *g = &q->request[i];

        if (n < most && !enough && has_ended(g)) {
            done[n++] = g->r;
            continue;
        }
        enough = n >= least;
        q->request[kept++] = *g;
    }
    q->n = kept;
    return n;
}

/* The oldest transfer has been done a second time in the time of the phase: on storage that is slow, less and less often. */
static void be_patient(struct mpiio_queue *q, const struct weir_file *f)
{
    weir_note(f->s->log, "'%s': no transfer in flight completed for %d s, so a blocking call "
                         "repeated the oldest one; the results include its time; the next "
                         "repeat is after %d s", f->path, q->patience_s, 2 * q->patience_s);
    q->patience_s *= 2;
}

/* MPICH never completes a transfer whose asynchronous I/O has failed, and OMPIO no read that meets the end of a file
 * that was cut. So a blocking call of this task moves the oldest one again. When that call does not move all of it, the
 * oldest one and all others are lost: the outcome of each is that of such a call. */
static void find_lost(struct mpiio_queue *q)
{
    for (int i = 0; i < q->n; i++) {
        struct mpiio_request *g = &q->request[i];
        struct mpiio_file *f = (struct mpiio_file *)g->r->file;
        ssize_t n;

        if (f->collective && !OWN_COLLECTIVES)
            return;
        n = g->want > 0 ? mpiio_move(f, &g->r->io, false, NULL) : 0;
        if (n >= (ssize_t)g->want && !q->lost) {
            be_patient(q, g->r->file);
            return;
        }
        q->lost = true;
        g->mpi = MPI_REQUEST_NULL;
        g->r->n = n;
        if (n < 0 || f->collective)
            give_up(g->r);
    }
}

int mpiio_queue_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                         struct weir_err *err)
{
    struct mpiio_queue *q = queue_of(f->s);
    uint64_t begin_ns = 0, now_ns;
    int n = take_ended(q, least, most, done), got;

    while (n < least) {
        got = take_ended(q, least - n, most - n, done + n);
        n += got;
        if (n >= least)
            break;
        sched_yield(); /* the threads of the library may need this processor */
        now_ns = weir_now_ns();
        if (got > 0 || begin_ns == 0)
            begin_ns = now_ns;
        if (now_ns - begin_ns > (uint64_t)q->patience_s * WEIR_NS_PER_S || q->lost) {
            find_lost(q);
            begin_ns = 0;
        }
    }
    return n;
}

/* ---- submission ---- */

static int call_mpi(struct mpiio_file *f, const struct weir_io *io, const struct mpiio_call *c,
                    MPI_Request *mpi)
{
    void *buf = io->buf;

    if (io->dir == WEIR_DIR_WRITE)
        return f->collective ? MPI_File_iwrite_at_all(f->fh, c->at, buf, c->count, c->type, mpi)
                             : MPI_File_iwrite_at(f->fh, c->at, buf, c->count, c->type, mpi);
    return f->collective ? MPI_File_iread_at_all(f->fh, c->at, buf, c->count, c->type, mpi)
                         : MPI_File_iread_at(f->fh, c->at, buf, c->count, c->type, mpi);
}

static int start(struct mpiio_file *f, const struct weir_io *io, struct mpiio_request *g,
                 struct weir_err *err)
{
    struct mpiio_call c;

    if (mpiio_call_of(f, io, &c, err) < 0)
        return -1;
    g->want = c.want;
    if (f->collective && io->dir == WEIR_DIR_READ)
        weir_mpi_mark(io->buf, c.want);
    if (call_mpi(f, io, &c, &g->mpi) == MPI_SUCCESS)
        return 0;
    weir_mpi_unlock(f->base.path);
    g->mpi = MPI_REQUEST_NULL;
    give_up(g->r);
    return 0;
}

/* A read that would meet the end of the file is cut there; a collective one is made with nothing. */
int mpiio_queue_submit(struct weir_request *r, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)r->file;
    struct mpiio_queue *q = queue_of(f->base.s);
    struct mpiio_request *g = &q->request[q->n];
    struct weir_io io = r->io;
    bool at_once;
    ssize_t n = 0;

    *g = (struct mpiio_request) { .mpi = MPI_REQUEST_NULL, .r = r };
    r->n = 0;
    if (mpiio_meets_end(f, &io, &n, NULL)) {
        g->refused = n < 0;
        io.len = n > 0 ? (size_t)n : 0;
    }
    if ((io.len > 0 || f->collective) && start(f, &io, g, err) < 0)
        return -1;
    q->n++;
    if (q->at_once < q->seen || q->seen == LOOKS || g->mpi == MPI_REQUEST_NULL || g->want == 0)
        return q->at_once == LOOKS;
    q->seen++;
    at_once = has_ended(g) && r->n >= 0;
    q->at_once += at_once;
    return at_once;
}

/* The library does not say why: the same transfer in a blocking call of this task does. */
int mpiio_queue_reason(const struct weir_request *r, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)r->file;
    const char *call = calls[r->io.dir][f->collective];
    ssize_t n = 0;

    if (!err || (mpiio_meets_end(f, &r->io, &n, err) && n < 0))
        return -1;
    n = mpiio_move(f, &r->io, false, err);
    if (n < 0)
        return weir_err_within(err, "%s", call);
    if (r->io.dir == WEIR_DIR_READ && n < (ssize_t)r->io.len)
        return weir_refuse(err, WEIR_EIO, "end of file");
    return weir_refuse(err, WEIR_EIO, "%s moved no data and reports no error; a blocking call "
                                      "moves the data", call);
}
