/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c - the transfers of a phase with several in flight */
#include "engine/transfer.h"

void weir_transfer_keep(struct weir_run *run, const struct weir_io *io, uint64_t begin_ns,
                        uint64_t end_ns)
{
    int op = weir_transfer_op(run, io);

    if (run->records.mixed) {
        weir_hist_add(&run->records.hist[op], end_ns - begin_ns);
        run->counters.by_dir[io->dir].ops++;
        run->counters.by_dir[io->dir].bytes += io->len;
    }
    run->records.late_ns = weir_ratelimit_ended(run->ratelimit, op, begin_ns, end_ns, io->len);
    weir_records_add(&run->records, op, begin_ns, end_ns, io->off, io->len);
}

static int count_failed(struct weir_run *run, const struct weir_request *r)
{
    const struct weir_err why = { .sys = r->sys };

    weir_records_add_failed(&run->records, weir_transfer_op(run, &r->io), r->begin_ns, r->end_ns,
                            r->io.off, &why);
    return -1;
}

/* Take back transfers that are done, at least 'least'. */
static int take_back(struct weir_run *run, const struct weir_flow *w, int least, uint64_t *clock_ns,
                     struct weir_err *err)
{
    int n = weir_queue_complete(w->queue, w->file, least, clock_ns, err);
    int rc = n < 0 ? -1 : 0;

    for (int i = 0; i < n; i++) {
        const struct weir_request *r = w->queue->done[i];

        if (r->n < 0) {
            rc = count_failed(run, r);
            continue;
        }
        if (!weir_io_acts(&r->io)) /* this task only took part */
            continue;
        if (run->ratelimit)
            run->ratelimit->flown_ns = r->due_ns;
        weir_transfer_count(run, &r->io, r->begin_ns, r->end_ns);
        if (w->ended)
            w->ended(run, w->state, &r->io, clock_ns);
    }
    return rc;
}

struct weir_request *weir_flow_next(struct weir_run *run, const struct weir_flow *w, uint64_t *clock_ns,
                                    struct weir_err *err)
{
    struct weir_request *r = weir_queue_take(w->queue);

    if (!r && take_back(run, w, 1, clock_ns, err) < 0)
        return NULL;
    if (!r)
        r = weir_queue_take(w->queue);
    r->file = w->file;
    return r;
}

int weir_flow_submit(struct weir_run *run, const struct weir_flow *w, struct weir_request *r,
                     uint64_t *clock_ns, struct weir_err *err)
{
    if (run->ratelimit)
        r->due_ns = weir_ratelimit_take(run->ratelimit, r->io.len);
    if (weir_queue_submit(w->queue, r, clock_ns, err) == 0)
        return 0;
    if (weir_io_acts(&r->io)) /* else this task only takes part */
        weir_records_add_failed(&run->records, weir_transfer_op(run, &r->io), r->begin_ns,
                                *clock_ns, r->io.off, err);
    return -1;
}

int weir_flow_idle(struct weir_run *run, const struct weir_flow *w, const struct weir_io *io,
                   uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_request *r = weir_flow_next(run, w, clock_ns, err);
    int rc = r ? 0 : -1;

    if (!r) /* others have failed, and this rank must take part all the same */
        r = weir_flow_next(run, w, clock_ns, NULL);
    if (!r)
        return -1;
    r->io = *io;
    r->io.len = 0;
    return weir_flow_submit(run, w, r, clock_ns, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

int weir_flow_reap(struct weir_run *run, const struct weir_flow *w, int least, uint64_t *clock_ns,
                   struct weir_err *err)
{
    if (weir_queue_in_flight(w->queue) > 0 && take_back(run, w, least, clock_ns, err) < 0)
        return -1;
    return weir_queue_in_flight(w->queue);
}

int weir_flow_drain(struct weir_run *run, const struct weir_flow *w, uint64_t *clock_ns, struct weir_err *err)
{
    while (weir_queue_in_flight(w->queue) > 0)
        if (take_back(run, w, 1, clock_ns, err) < 0)
            return -1;
    return 0;
}
