/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h - transfers: moved, counted and recorded, one at a time or several in flight */
#pragma once

#include "backends/session/queue.h"
#include "backends/session/session.h"
#include "base/clock.h"
#include "engine/ratelimit.h"
#include "engine/run.h"

/* Adds the time since *clock_ns, which is no part of an operation, to *sum_ns. *clock_ns is then
 * the time now. Local. */
static inline void weir_clock_apart(uint64_t *sum_ns, uint64_t *clock_ns)
{
    uint64_t now_ns = weir_now_ns();

    *sum_ns += now_ns - *clock_ns;
    *clock_ns = now_ns;
}

/* The index of a transfer in the operations of the program: io->dir, or in a mixed phase that of its own
 * (weir_phase.mixed). Local, 1 ns. */
static inline int weir_transfer_op(const struct weir_run *run, const struct weir_io *io)
{
    return run->records.mixed + (int)io->dir;
}

/* Record a transfer, and count it in a mixed phase and at a rate. Local. */
void weir_transfer_keep(struct weir_run *run, const struct weir_io *io, uint64_t begin_ns,
                        uint64_t end_ns);

/* Counts a finished transfer: its bytes, the highest end of a write, and the operation. Local, some ns. */
static inline void weir_transfer_count(struct weir_run *run, const struct weir_io *io,
                                       uint64_t begin_ns, uint64_t end_ns)
{
    if (__builtin_expect(run->records.kept, 0))
        weir_transfer_keep(run, io, begin_ns, end_ns);
    run->counters.bytes += io->len;
    if (io->dir == WEIR_DIR_WRITE && io->off + io->len > run->counters.end)
        run->counters.end = io->off + io->len;
}

/* Moves a transfer now. *clock_ns: its beginning, and then its end. Returns 0, or -1 and err. Always
 * inlined, for the reason in weir_session_xfer. */
static inline __attribute__((always_inline)) int
weir_transfer(struct weir_run *run, struct weir_file *f, const struct weir_io *io,
              uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t begin_ns = *clock_ns;

    if (__builtin_expect(weir_session_xfer(f, io, clock_ns, err) < 0, 0)) {
        weir_records_add_failed(&run->records, weir_transfer_op(run, io), begin_ns, *clock_ns,
                                io->off, err);
        return -1;
    }
    weir_transfer_count(run, io, begin_ns, *clock_ns);
    return 0;
}

/* Transfers of one file with several in flight. Where queue->depth is 0 they are done one after
 * the other, with weir_transfer. 'ended' is called when the data of a transfer are there (NULL:
 * no call), outside of all transfers that begin after it. */
struct weir_flow {
    struct weir_queue *queue;
    struct weir_file *file;
    void (*ended)(struct weir_run *run, void *state, const struct weir_io *io, uint64_t *clock_ns);
    void *state; /* for ended */
};

/* Returns a request for the next transfer of the file; the caller sets its io. If all requests are in
 * flight it waits for one, and counts what has ended. Local. NULL and err: a transfer has failed. */
struct weir_request *weir_flow_next(struct weir_run *run, const struct weir_flow *w, uint64_t *clock_ns,
                                    struct weir_err *err);
/* Submits a request. Local. 0, or -1 and err. */
int weir_flow_submit(struct weir_run *run, const struct weir_flow *w, struct weir_request *r,
                     uint64_t *clock_ns, struct weir_err *err);
/* Takes part in a round of collective transfers without data, at the offset of io. Local. 0, or -1
 * and err: an earlier transfer has failed. */
int weir_flow_idle(struct weir_run *run, const struct weir_flow *w, const struct weir_io *io,
                   uint64_t *clock_ns, struct weir_err *err);
/* Waits for 'least' transfers, and counts what has ended. Local. Returns the number in flight, or -1
 * and err. */
int weir_flow_reap(struct weir_run *run, const struct weir_flow *w, int least, uint64_t *clock_ns,
                   struct weir_err *err);
/* Waits for all transfers in flight, and counts them. Local. 0, or -1 and err. */
int weir_flow_drain(struct weir_run *run, const struct weir_flow *w, uint64_t *clock_ns, struct weir_err *err);

/* An operation of the phase that runs is over: its time goes into run->records.hist, and the operation
 * into the records. Local, some ns. */
static inline void weir_operation_add(struct weir_run *run, int op, uint64_t begin_ns,
                                      uint64_t end_ns, uint64_t off, uint64_t len)
{
    weir_hist_add(&run->records.hist[op], end_ns - begin_ns);
    run->records.late_ns = weir_ratelimit_ended(run->ratelimit, op, begin_ns, end_ns, len);
    weir_records_add(&run->records, op, begin_ns, end_ns, off, len);
}

/* As weir_operation_add, for an operation that failed with err. */
static inline void weir_operation_add_failed(struct weir_run *run, int op, uint64_t begin_ns,
                                             uint64_t end_ns, uint64_t off,
                                             const struct weir_err *err)
{
    weir_hist_add(&run->records.hist[op], end_ns - begin_ns);
    weir_records_add_failed(&run->records, op, begin_ns, end_ns, off, err);
    weir_ratelimit_ended(run->ratelimit, op, begin_ns, end_ns, 0);
}
