/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - errors that all ranks know, the watch that stops the others early, and votes on going
 * on */
#include "par/agree.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define SPIN_NS 1000000u /* a wait this long is spent testing; after it we sleep between tests */
#define NAP_LEAST_NS 50000u
#define NAP_MOST_NS 200000u
#define ABORT_S 3
#define VOTE_NS 500000u /* of work between two votes, about: also rounds that become slow end
                         * soon */
#define VOTE_MAX 1024u /* of rounds that do nothing: the cost of a vote is no part of theirs */

/* Add how many others failed, too, even when the text is so long that its end must go. */
static void count_others(struct weir_err *err, uint64_t others)
{
    char words[64];
    size_t at = strlen(err->text);
    int len = snprintf(words, sizeof(words), " (and %llu more rank%s failed)",
                       (unsigned long long)others, others == 1 ? "" : "s");

    if (len < 0 || (size_t)len >= sizeof(words))
        return;
    if (at + (size_t)len >= sizeof(err->text))
        at = sizeof(err->text) - (size_t)len - 1;
    memcpy(err->text + at, words, (size_t)len + 1);
}

/* The claim of this rank to give the error; the highest wins. An error wins over a signal, and
 * among equals the lowest rank wins. 0: no error. */
static int64_t claim_of(const struct weir_par *par, int rc, const struct weir_err *err)
{
    int64_t claim = par->size - par->rank;

    if (rc >= 0)
        return 0;
    return err && err->code == WEIR_EINTR ? claim : claim + par->size;
}

int weir_agree(const struct weir_par *par, int rc, struct weir_err *err)
{
    struct weir_err unseen;
    int64_t own = claim_of(par, rc, err), highest = own;
    uint64_t failed;
    int root;

    weir_allmax_i64(par, &highest, 1);
    if (highest == 0)
        return 0;

    root = par->size - 1 - (int)((highest - 1) % par->size);
    failed = own > 0 && (own > par->size) == (highest > par->size);
    if (!err) { /* the others still want the text */
        unseen = (struct weir_err)WEIR_ERR_INIT;
        err = &unseen;
    }
    if (par->rank == root) {
        if (err->code == WEIR_OK)
            weir_refuse(err, WEIR_EBUG, "a function failed, but reported no reason");
        if (!err->agreed) /* else an agreement within the step has reported it */
            weir_err_within(err, "rank %d on %s", par->named, par->host);
    }
    weir_allsum_u64(par, &failed, 1);
    weir_bcast(par, err, sizeof(*err), root);
    if (failed > 1 && !err->agreed)
        count_others(err, failed - 1);
    err->agreed = true;
    return -1;
}

/* The others are in a call that they will not leave. */
static void give_up(const struct weir_par *par, struct weir_err *err)
{
    const struct weir_log log = { .fd = STDERR_FILENO, .rank = 0 };

    weir_err_within(err, "rank %d on %s", par->named, par->host);
    weir_report_error(&log, err);
    weir_note(&log, "other ranks have not returned from the same call for %d seconds: the library "
                    "waits there for this rank, so the job is aborted", WEIR_AGREE_CALL_S);
    signal(SIGALRM, SIG_DFL); /* MPI_Abort may hang, too */
    alarm(ABORT_S);
    weir_mpi_abort(err->code);
}

/* Wait for the others: without a limit, or on a rank that has failed for WEIR_AGREE_CALL_S
 * seconds. */
static void wait_for_others(const struct weir_par *par, MPI_Request request, bool failed,
                            struct weir_err *err)
{
    uint64_t limit_ns = (uint64_t)WEIR_AGREE_CALL_S * WEIR_NS_PER_S, begin_ns = 0;
    struct weir_err unseen = WEIR_ERR_INIT;
    int done = 0;

    while (failed && !done) {
        weir_mpi_must(par, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done)
            return;
        if (begin_ns == 0)
            begin_ns = weir_now_ns();
        if (weir_now_ns() - begin_ns > limit_ns)
            give_up(par, err && err->code != WEIR_OK ? err : &unseen);
        weir_sleep_ns(NAP_LEAST_NS);
    }
    weir_mpi_must(par, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

int weir_agree_call(const struct weir_par *par, int rc, struct weir_err *err)
{
    int failed = rc < 0, any = 0;
    MPI_Request request;

    weir_mpi_must(par, MPI_Iallreduce(&failed, &any, 1, MPI_INT, MPI_MAX, par->comm, &request),
                  "MPI_Iallreduce");
    wait_for_others(par, request, failed, err);
    return any ? weir_agree(par, rc, err) : 0;
}

int weir_agree_open(const struct weir_par *par, MPI_Comm comm, int rc, struct weir_err *err)
{
    return comm == par->comm ? weir_agree_call(par, rc, err) : rc;
}

void weir_barrier_call(const struct weir_par *par, int rc, struct weir_err *err)
{
    MPI_Request request;

    if (par->size == 1)
        return;
    weir_mpi_must(par, MPI_Ibarrier(par->comm, &request), "MPI_Ibarrier");
    wait_for_others(par, request, rc < 0, err);
}

int weir_agree_check(const struct weir_par *par, int rc, struct weir_err *err)
{
    uint64_t failed = rc < 0;

    weir_allsum_u64(par, &failed, 1);
    if (failed == (uint64_t)par->size)
        return -1;
    return failed == 0 ? 0 : weir_agree(par, rc, err);
}

int weir_agree_root(const struct weir_par *par, int rc, struct weir_err *err)
{
    weir_bcast(par, &rc, sizeof(rc), 0);
    if (rc < 0)
        weir_bcast(par, err, sizeof(*err), 0);
    return rc;
}

void weir_mpi_max(MPI_Comm comm, uint64_t *v, int n)
{
    int size = 1;

    MPI_Comm_size(comm, &size);
    if (size > 1)
        weir_mpi_must(NULL, MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_MAX, comm),
                      "MPI_Allreduce");
}

int weir_mpi_agree(MPI_Comm comm, int rc)
{
    uint64_t failed = rc < 0;

    weir_mpi_max(comm, &failed, 1);
    return failed ? -1 : 0;
}

void weir_watch_begin(struct weir_watch *w, const struct weir_par *par)
{
    *w = (struct weir_watch) { .par = par, .request = MPI_REQUEST_NULL, .working = par->size };
    w->received_ns = weir_now_ns();
}

/* Post our share of the coming epoch unless it is pending, and see whether that epoch is
 * complete. Every rank takes part in every epoch, so all see the same sequence of results. The
 * first epoch in which no rank works is the last for all. */
static void advance(struct weir_watch *w, bool working)
{
    const int numbers = 2 + WEIR_WATCH_NUMBERS; /* [0] stop asked for, [1] still working */
    int complete = 0;

    if (!w->pending) {
        w->mine[0] = w->stop || w->late;
        w->mine[1] = working;
        memcpy(w->mine + 2, w->sent, sizeof(w->sent));
        weir_mpi_must(w->par, MPI_Iallreduce(w->mine, w->all, numbers, MPI_INT64_T, MPI_SUM,
                                     w->par->watch_comm, &w->request),
                      "MPI_Iallreduce");
        w->pending = true;
    }
    weir_mpi_must(w->par, MPI_Test(&w->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (!complete)
        return;
    w->pending = false;
    w->stop = w->stop || w->all[0];
    w->working = (int)w->all[1];
    w->over = w->working == 0;
    memcpy(w->received, w->all + 2, sizeof(w->received));
    w->received_ns = weir_now_ns();
}

bool weir_watch_tick(struct weir_watch *w, bool stop)
{
    w->stop = w->stop || stop;
    if (w->par->size > 1 && !w->over)
        advance(w, true);
    return w->stop;
}

bool weir_watch_end(struct weir_watch *w, bool stop)
{
    uint64_t start_ns = 0, nap_ns = NAP_LEAST_NS;

    w->stop = w->stop || stop;
    if (w->par->size == 1)
        w->over = true;
    while (!w->over) {
        advance(w, false);
        if (w->over)
            break;
        if (start_ns == 0)
            start_ns = weir_now_ns();
        if (weir_now_ns() - start_ns < SPIN_NS) {
            sched_yield();
        } else {
            w->late = w->late || (w->asks && w->asks(w->arg));
            weir_sleep_ns(nap_ns);
            nap_ns = nap_ns * 2 < NAP_MOST_NS ? nap_ns * 2 : NAP_MOST_NS;
        }
    }
    return w->stop;
}

/* ---- rounds ---- */

void weir_rounds_begin(struct weir_rounds *r, const struct weir_par *par)
{
    *r = (struct weir_rounds) { .par = par, .period = 1, .left = 1 };
}

uint32_t weir_rounds_period(uint32_t last, uint64_t spent_ns)
{
    uint64_t fit = spent_ns > 0 ? (uint64_t)VOTE_NS * last / spent_ns : VOTE_MAX;
    uint64_t most = last < VOTE_MAX / 2 ? 2 * last : VOTE_MAX;

    if (fit > most)
        fit = most;
    return fit > 0 ? (uint32_t)fit : 1;
}

int weir_rounds_vote(struct weir_rounds *r, int wanted)
{
    int64_t v[2] = { wanted, (int64_t)r->spent_ns };

    if (r->par->size > 1)
        weir_allmax_i64(r->par, v, 2);
    r->period = r->left = weir_rounds_period(r->period, (uint64_t)v[1]);
    r->spent_ns = 0;
    return (int)v[0];
}
