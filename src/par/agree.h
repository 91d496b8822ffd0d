/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.h - errors that all ranks learn of: agreement at the end of a step, the watch that
 * stops other ranks early, and votes between rounds */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* Agree on the outcome of a step that a rank may have failed alone (rc < 0, err filled). Returns 0
 * on every rank when all were fine; else -1 on every rank with the text of the lowest failing
 * rank, prefixed "rank R on HOST: ", and the number of other failing ranks appended, in err. Ranks
 * that a signal has interrupted (WEIR_EINTR) count only where no other rank has failed. An
 * error that was agreed on within the step stays as it is. Collective over par->comm: one
 * reduction, more only after a failure. */
int weir_agree(const struct weir_par *par, int rc, struct weir_err *err);

/* As weir_agree, after a collective call into a library that can leave the other ranks waiting
 * inside for one that has failed. A rank that has failed waits for the others WEIR_AGREE_CALL_S
 * seconds; then it prints its error and ends the job, because no other rank can. Collective over
 * par->comm. */
#define WEIR_AGREE_CALL_S 20
int weir_agree_call(const struct weir_par *par, int rc, struct weir_err *err);

/* As weir_agree_call, for opening a file over comm, which is par->comm or MPI_COMM_SELF; with
 * the latter the result is rc. */
int weir_agree_open(const struct weir_par *par, MPI_Comm comm, int rc, struct weir_err *err);

/* A barrier after such a call, with the same limit for a rank that has failed in it (rc < 0, err
 * filled). The others do not learn of it. Collective over par->comm. */
void weir_barrier_call(const struct weir_par *par, int rc, struct weir_err *err);

/* As weir_agree, for the check of what every rank was given: where all ranks refuse, the text of
 * each stays as it is, without a rank in front. Collective over par->comm. */
int weir_agree_check(const struct weir_par *par, int rc, struct weir_err *err);

/* Send all ranks the outcome of a step that only rank 0 does: its rc, and its err if rc is
 * negative. Collective over par->comm. Returns rank 0's rc on every rank. */
int weir_agree_root(const struct weir_par *par, int rc, struct weir_err *err);

/* Set each of n numbers to its maximum over the ranks of comm, with one reduction (none when
 * comm is a single rank). Where MPI fails, the job ends. Collective over comm. */
void weir_mpi_max(MPI_Comm comm, uint64_t *v, int n);

/* Return 0 on all ranks where rc is not negative on any rank of comm, else -1 on all.
 * Collective over comm; the job ends where MPI fails. */
int weir_mpi_agree(MPI_Comm comm, int rc);

/* A rolling agreement while ranks work at their own pace. Each rank ticks now and then; ranks that
 * have finished wait in weir_watch_end. One MPI_Iallreduce at a time is in flight on watch_comm. */
#define WEIR_WATCH_NUMBERS 3
struct weir_watch {
    const struct weir_par *par;
    MPI_Request request;
    /* The numbers of the agreement on its way. */
    int64_t mine[2 + WEIR_WATCH_NUMBERS], all[2 + WEIR_WATCH_NUMBERS];
    /* Numbers that travel with it: set own 'sent' before a call; 'received' are their sums over the
     * ranks, as far as they are known, and 'working' counts the ranks that have more to do. */
    int64_t sent[WEIR_WATCH_NUMBERS], received[WEIR_WATCH_NUMBERS];
    int working;
    uint64_t received_ns; /* when these were received, or the watch began; local clock */
    bool pending, stop, over;
    bool late; /* a reason came up while waiting; counts when all have received it */
    /* Set by the user after begin, or NULL: true when this rank, while it waits, has to stop. */
    bool (*asks)(void *arg);
    void *arg;
};

/* Start watching. Local; nothing is communicated until the first tick. */
void weir_watch_begin(struct weir_watch *w, const struct weir_par *par);

/* Make progress, and tell others that we must stop when 'stop' is set (failed or interrupted).
 * Returns true when some rank has asked to stop. Local, non-blocking; call it some 20 times a
 * second, not for every transfer. */
bool weir_watch_tick(struct weir_watch *w, bool stop);

/* End the work of this rank: take part until every rank has ended. Returns true when some rank
 * asked to stop. Collective over watch_comm; sleeps briefly between tests so that waiting ranks
 * leave the processor to working ones once it takes longer than a millisecond. Between these
 * w->asks is asked, for a signal may come while we wait: a reason that comes in the last moment
 * is ignored on all ranks, this one included. */
bool weir_watch_end(struct weir_watch *w, bool stop);

/* Ranks that work in rounds vote now and then whether to go on. All ranks take the same
 * number of rounds between two votes, so they leave the work after the same round. That number
 * follows from the time that rounds take: a vote after about half a millisecond of work. */
struct weir_rounds {
    const struct weir_par *par;
    uint32_t period;   /* rounds between two votes, the same on all ranks */
    uint32_t left;     /* rounds until the next vote, the same on all ranks */
    uint64_t spent_ns; /* time of this rank in the rounds since the last vote */
};

/* Begin with a vote after the first round. Local; par must live as long. */
void weir_rounds_begin(struct weir_rounds *r, const struct weir_par *par);

/* Count a round that took this rank 'ns'. True: all ranks vote now. Local. */
static inline bool weir_rounds_count(struct weir_rounds *r, uint64_t ns)
{
    r->spent_ns += ns;
    return --r->left == 0;
}

/* Vote: 0 is a vote to go on. Returns the highest vote of all ranks, and chooses the round of the
 * next vote. Collective over par->comm, blocks. */
int weir_rounds_vote(struct weir_rounds *r, int wanted);

/* Return the number of rounds until the next vote, after 'last' rounds that took spent_ns on
 * the slowest rank: at most twice as many, and one where rounds are slow. Pure. */
uint32_t weir_rounds_period(uint32_t last, uint64_t spent_ns);
