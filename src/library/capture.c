/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.c - results of a run for the program that called it: phases, findings, messages */
#include "library/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/check/findings.h"
#include "engine/observe/latency.h"

/* A phase without any work has no rate. */
static double rate(int64_t amount, double ns)
{
    return ns > 0 ? (double)amount / ns * WEIR_NS_PER_S : 0;
}

static struct weir_calls calls_of(const struct weir_latency *l)
{
    struct weir_calls none = { .n = 0 };

    if (l->n == 0)
        return none;
    return (struct weir_calls) { .n = (uint64_t)l->n,
                                 .mean = l->mean / WEIR_NS_PER_S,
                                 .p50 = l->p50 / WEIR_NS_PER_S,
                                 .p90 = l->p90 / WEIR_NS_PER_S,
                                 .p99 = l->p99 / WEIR_NS_PER_S,
                                 .p999 = l->p999 / WEIR_NS_PER_S,
                                 .max = l->max / WEIR_NS_PER_S };
}

static void set_stonewall(const struct weir_metrics *d, struct weir_result *r)
{
    const struct weir_stonewall *w = &d->rec.stonewall;

    r->stonewalled = w->known || d->rec.sum.ended[WEIR_END_TIME] > 0 || d->rec.sum.ended[WEIR_END_STEADY] > 0;
    if (w->known) {
        r->stonewall_seconds = (double)w->time_ns / WEIR_NS_PER_S;
        r->stonewall_bytes = w->sum.bytes;
        r->stonewall_operations = w->sum.done;
        r->stonewall_operations_min = w->min.done;
        r->stonewall_operations_max = w->max.done;
    } else if (r->stonewalled) { /* no rank went on after it */
        r->stonewall_seconds = r->work_seconds;
        r->stonewall_bytes = r->bytes;
        r->stonewall_operations = r->operations;
        r->stonewall_operations_min = r->operations_min;
        r->stonewall_operations_max = r->operations_max;
    }
}

static void result_of(const struct weir_metrics *d, struct weir_result *r)
{
    *r = (struct weir_result) {
        .size = sizeof(*r),
        .test = (int)d->test,
        .repetition = (int)d->iter,
        .tasks = (int)d->tasks,
        .interrupted = d->interrupted != 0,
        .bytes = d->rec.sum.bytes,
        .operations = d->rec.sum.done,
        .operations_min = d->rec.min.done,
        .operations_max = d->rec.max.done,
        .wrong = (uint64_t)d->wrong,
        .seconds = d->total_ns / WEIR_NS_PER_S,
        .work_seconds = d->work_ns / WEIR_NS_PER_S,
        .bytes_per_s = rate(d->rec.sum.bytes, d->total_ns),
        .operations_per_s = rate(d->rec.sum.done, d->work_ns),
        .operation_time = calls_of(d->whole.n > 0 ? &d->whole : &d->op[WEIR_OP_XFER]),
        .open_time = calls_of(&d->op[WEIR_OP_OPEN]),
        .transfer_time = calls_of(&d->op[WEIR_OP_XFER]),
        .sync_time = calls_of(&d->op[WEIR_OP_SYNC]),
        .close_time = calls_of(&d->op[WEIR_OP_CLOSE]),
        .fastest_seconds = d->fastest_ns / WEIR_NS_PER_S,
        .slowest_seconds = d->slowest_ns / WEIR_NS_PER_S,
    };
    snprintf(r->operation, sizeof(r->operation), "%s", d->operation);
    set_stonewall(d, r);
}

/* One more element at the end of a list; NULL and c->failed when there is no memory. */
static void *grow(struct weir_capture *c, void **list, int n, size_t size)
{
    void *more = realloc(*list, (size_t)(n + 1) * size);

    if (!more) {
        c->failed = true;
        return NULL;
    }
    *list = more;
    return (char *)more + (size_t)n * size;
}

static void take_phase(struct weir_capture *c, const struct weir_metrics *d)
{
    struct weir_result r, *kept;
    locale_t own;

    result_of(d, &r);
    if (c->each) {
        own = uselocale(c->locale);
        c->each(c->arg, &r);
        uselocale(own);
    }
    if (c->keep && (kept = grow(c, (void **)&c->result, c->results, sizeof(r)))) {
        *kept = r;
        c->results++;
    }
}

static void take_finding(struct weir_capture *c, const struct weir_finding_row *row)
{
    struct weir_remark *kept;

    if (c->worst < WEIR_SOUND)
        c->worst = WEIR_SOUND;
    if (!c->keep || strcmp(row->outcome, "found") != 0 ||
        !(kept = grow(c, (void **)&c->remark, c->remarks, sizeof(*kept))))
        return;
    *kept = (struct weir_remark) {
        .size = sizeof(*kept), .test = row->test, .value = row->value, .limit = row->limit
    };
    snprintf(kept->rule, sizeof(kept->rule), "%s", row->id);
    snprintf(kept->severity, sizeof(kept->severity), "%s", row->severity);
    snprintf(kept->unit, sizeof(kept->unit), "%s", row->unit ? row->unit : "");
    snprintf(kept->text, sizeof(kept->text), "%s", row->text);
    snprintf(kept->remedy, sizeof(kept->remedy), "%s", row->remedy);
    for (int s = WEIR_SUSPECT; s <= WEIR_INVALID; s++)
        if (strcmp(row->severity, weir_severity_name((enum weir_severity)s)) == 0 && s > c->worst)
            c->worst = s;
    c->remarks++;
}

static void take_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    if (strcmp(t->key, WEIR_METRICS_KEY) == 0)
        take_phase(s->priv, record);
    else if (t == &weir_findings_table)
        take_finding(s->priv, record);
}

static void take_message(struct weir_sink *s, const char *kind, const char *text)
{
    const struct weir_capture *c = s->priv;

    locale_t own;

    if (!c->message)
        return;
    own = uselocale(c->locale);
    c->message(c->arg, kind, text);
    uselocale(own);
}

static const struct weir_sink_ops ops = {
    .reader = WEIR_FOR_DATA,
    .row = take_row,
    .message = take_message,
};

int weir_capture_add(struct weir_report *r, struct weir_capture *c, struct weir_err *err)
{
    if (r->n == WEIR_SINKS)
        return weir_refuse(err, WEIR_EUSAGE, "more than %d outputs", WEIR_SINKS);
    r->sink[r->n++] = (struct weir_sink) { .ops = &ops, .path = "a function", .priv = c };
    return 0;
}

void weir_capture_clear(struct weir_capture *c)
{
    free(c->result);
    free(c->remark);
    c->result = NULL;
    c->remark = NULL;
    c->results = c->remarks = 0;
    c->worst = -1;
    c->failed = false;
}
