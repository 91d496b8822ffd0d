/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.h - errors that all ranks know: agreement at the end of a step, and the watch that stops
 * the others early */
#ifndef WEIR_PAR_AGREE_H
#define WEIR_PAR_AGREE_H

#include <stdbool.h>

#include "par/comm.h"

/* Agree on the outcome of a step that a rank may have failed alone (rc < 0, err filled). Returns 0
 * on every rank when all were fine; else -1 on every rank with the text of the lowest failing
 * rank, prefixed "rank R on HOST: ", and the number of other failing ranks appended, in err. An error
 * that was agreed on within the step stays as it is.
 * Collective over par->comm: one reduction, more only after a failure. */
int weir_agree(const struct weir_par *par, int rc, struct weir_err *err);

/* As weir_agree, after a collective call into a library that can leave the other ranks waiting inside for
 * one that has failed. A rank that has failed waits for the others WEIR_AGREE_CALL_S seconds; then it
 * says its error and ends the job, for nobody else can. Collective over par->comm. */
#define WEIR_AGREE_CALL_S 20
int weir_agree_call(const struct weir_par *par, int rc, struct weir_err *err);

/* As weir_agree, for the check of what every rank was given: where all ranks refuse, the text of
 * each stays as it is, without a rank in front. Collective over par->comm. */
int weir_agree_check(const struct weir_par *par, int rc, struct weir_err *err);

/* A rolling agreement while ranks work at their own pace. Each rank ticks now and then; ranks that
 * have finished wait in weir_watch_end. One MPI_Iallreduce at a time is in flight on watch_comm. */
#define WEIR_WATCH_NEWS 3
struct weir_watch {
    const struct weir_par *par;
    MPI_Request request;
    int64_t mine[2 + WEIR_WATCH_NEWS], all[2 + WEIR_WATCH_NEWS]; /* of the agreement on its way */
    /* Numbers that travel with it: set own 'news' before a call; 'heard' are their sums over the ranks,
     * as far as they were told, and 'working' counts the ranks that have more to do. */
    int64_t news[WEIR_WATCH_NEWS], heard[WEIR_WATCH_NEWS];
    int working;
    bool pending, stop, over;
    bool late; /* a reason came up while waiting; counts when all have heard of it */
    /* Set by the user after begin, or NULL: has this rank a reason to stop, while it waits? */
    bool (*asks)(void *arg);
    void *arg;
};

/* Start watching. Local; nothing is communicated until the first tick. */
void weir_watch_begin(struct weir_watch *w, const struct weir_par *par);

/* Progress, and tell others that we must stop when 'stop' is set (failed or interrupted). Returns
 * true when some rank has asked to stop. Local, non-blocking; call it some 20 times a second, not
 * for every transfer. */
bool weir_watch_tick(struct weir_watch *w, bool stop);

/* We have no more work: take part until every rank has ended. Returns true when some rank asked to
 * stop. Collective over watch_comm; sleeps briefly between tests so that waiting ranks leave the
 * processor to working ones once it takes longer than a millisecond. Between these w->asks is
 * asked, for a signal may come while we wait: what it says in the last moment is not heard by
 * anybody, not even here. */
bool weir_watch_end(struct weir_watch *w, bool stop);

#endif
