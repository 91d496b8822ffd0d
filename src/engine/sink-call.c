/* SPDX-License-Identifier: BSD-3-Clause */
/* sink-call.c - the phases handed to a function of another program */
#include "config.h"
#include "engine/sink-call.h"

#include "base/clock.h"
#include "engine/metrics.h"

/* A phase without any work has no rate. */
static double rate(int64_t amount, double ns)
{
    return ns > 0 ? (double)amount / ns * WEIR_NS_PER_S : 0;
}

static void call_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    const struct weir_sink_call *call = s->priv;
    const struct weir_metrics *d = record;

    if (t != &weir_metrics_table)
        return;
    call->each(call->arg, &(struct weir_result) {
                              .operation = d->operation,
                              .test = (int)d->test,
                              .repetition = (int)d->iter,
                              .tasks = (int)d->tasks,
                              .bytes = (uint64_t)d->bytes,
                              .operations = (uint64_t)d->steps,
                              .wrong = (uint64_t)d->wrong,
                              .seconds = d->total_ns / WEIR_NS_PER_S,
                              .work_seconds = d->work_ns / WEIR_NS_PER_S,
                              .bytes_per_s = rate(d->bytes, d->total_ns),
                              .operations_per_s = rate(d->steps, d->work_ns),
                              .interrupted = d->interrupted != 0,
                          });
}

static const struct weir_sink_ops ops = {
    .name = "call",
    .reader = WEIR_FOR_CSV_FULL, /* the table of all phases */
    .row = call_row,
};

int weir_report_add_call(struct weir_report *r, struct weir_sink_call *call, struct weir_err *err)
{
    if (r->n == WEIR_SINKS)
        return weir_refuse(err, WEIR_EUSAGE, "more than %d outputs", WEIR_SINKS);
    r->sink[r->n++] = (struct weir_sink) { .ops = &ops, .path = "a function", .priv = call };
    return 0;
}
