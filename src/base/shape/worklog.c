/* SPDX-License-Identifier: BSD-3-Clause */
/* worklog.c - what a rank had done at which time of which phase */
#include "base/shape/worklog.h"

#include <stdlib.h>

#include "base/mem.h"

#define GAP_NS 20000000 /* between two samples, until there are too many */

void weir_worklog_begin(struct weir_worklog *s, int64_t at_ns)
{
    if (s->failed || !weir_mem_reserve(&s->phase, (size_t)s->n, &s->capacity, sizeof(*s->phase))) {
        s->failed = true;
        return;
    }
    s->phase[s->n++] = (struct weir_worklog_phase) { .begin_ns = at_ns, .gap_ns = GAP_NS };
}

void weir_worklog_add(struct weir_worklog *s, int64_t at_ns, uint64_t bytes, uint64_t operations)
{
    struct weir_worklog_phase *p = s->n > 0 ? &s->phase[s->n - 1] : NULL;
    int64_t before;

    if (!p || s->failed)
        return;
    before = p->n > 1 ? p->sample[p->n - 2].at_ns : p->begin_ns;
    if (p->n > 0 && p->sample[p->n - 1].at_ns - before < p->gap_ns) {
        p->n--; /* a newer one takes its place */
    } else if (p->n == WEIR_WORKLOG_SAMPLES) {
        p->n /= 2; /* every second one stays, and from now on as many come in twice the time */
        for (int i = 0; i < p->n; i++)
            p->sample[i] = p->sample[2 * i + 1];
        p->gap_ns *= 2;
    }
    if (!weir_mem_reserve(&p->sample, (size_t)p->n, &p->capacity, sizeof(*p->sample))) {
        s->failed = true;
        return;
    }
    p->sample[p->n++] = (struct weir_worklog_sample) { at_ns, bytes, operations };
}

void weir_worklog_free(struct weir_worklog *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->phase[i].sample);
    free(s->phase);
    *s = (struct weir_worklog) { .n = 0 };
}

int64_t weir_worklog_end(const struct weir_worklog *s, int phase)
{
    const struct weir_worklog_phase *p = &s->phase[phase];

    return p->n > 0 ? p->sample[p->n - 1].at_ns : p->begin_ns;
}

static uint64_t part(uint64_t from, uint64_t to, double share)
{
    return from + (uint64_t)((double)(to - from) * share);
}

/* Interpolate a sample at a time. */
static struct weir_worklog_sample sample_at(const struct weir_worklog_phase *p, int64_t at_ns)
{
    struct weir_worklog_sample before = { .at_ns = p->begin_ns };

    for (int i = 0; i < p->n; before = p->sample[i++]) {
        const struct weir_worklog_sample *next = &p->sample[i];
        double share;

        if (next->at_ns <= at_ns)
            continue;
        if (at_ns <= before.at_ns)
            return before;
        share = (double)(at_ns - before.at_ns) / (double)(next->at_ns - before.at_ns);
        return (struct weir_worklog_sample) { at_ns, part(before.bytes, next->bytes, share),
                                     part(before.operations, next->operations, share) };
    }
    return before;
}

struct weir_work weir_worklog_work(const struct weir_worklog *s, int phase, int64_t from_ns,
                                   int64_t to_ns)
{
    const struct weir_worklog_phase *p = &s->phase[phase];
    struct weir_worklog_sample from = sample_at(p, from_ns);
    struct weir_worklog_sample to = sample_at(p, to_ns > from_ns ? to_ns : from_ns);
    struct weir_worklog_sample all = sample_at(p, INT64_MAX);

    return (struct weir_work) { to.bytes - from.bytes, to.operations - from.operations, all.bytes,
                               all.operations };
}

double weir_worklog_share(const struct weir_worklog *s, int phase, int64_t from_ns, int64_t to_ns)
{
    int64_t begin = s->phase[phase].begin_ns, end = weir_worklog_end(s, phase);
    int64_t from = begin > from_ns ? begin : from_ns, to = end < to_ns ? end : to_ns;

    if (end <= begin)
        return from_ns <= begin && begin <= to_ns;
    return to > from ? (double)(to - from) / (double)(end - begin) : 0;
}
