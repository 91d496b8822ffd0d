/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-series.c - what a rank had done at which time of which phase */
#include "config.h"
#include "programs/weir-mix/mix.h"

#include <stdlib.h>
#include <string.h>

#define GAP_NS 20000000 /* between two samples, until there are too many */

void mix_series_begin(struct mix_series *s, int64_t at_ns)
{
    if (s->failed || !weir_mem_room(&s->phase, (size_t)s->n, &s->room, sizeof(*s->phase))) {
        s->failed = true;
        return;
    }
    s->phase[s->n++] = (struct mix_phase) { .begin_ns = at_ns, .gap_ns = GAP_NS };
}

/* Every second one, and from now on as many in twice the time. */
static void thin_out(struct mix_phase *p)
{
    int n = 0;

    for (int i = 1; i < p->n; i += 2)
        p->sample[n++] = p->sample[i];
    p->n = n;
    p->gap_ns *= 2;
}

void mix_series_add(struct mix_series *s, int64_t at_ns, uint64_t bytes, uint64_t operations)
{
    struct mix_phase *p = s->n > 0 ? &s->phase[s->n - 1] : NULL;
    int64_t before;

    if (!p || s->failed)
        return;
    before = p->n > 1 ? p->sample[p->n - 2].at_ns : p->begin_ns;
    if (p->n > 0 && p->sample[p->n - 1].at_ns - before < p->gap_ns) {
        p->n--; /* a newer one takes its place */
    } else if (p->n == MIX_SAMPLES) {
        thin_out(p);
    }
    if (!weir_mem_room(&p->sample, (size_t)p->n, &p->room, sizeof(*p->sample))) {
        s->failed = true;
        return;
    }
    p->sample[p->n++] = (struct mix_sample) { at_ns, bytes, operations };
}

void mix_series_free(struct mix_series *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->phase[i].sample);
    free(s->phase);
    *s = (struct mix_series) { .n = 0 };
}

int64_t mix_series_end(const struct mix_series *s, int phase)
{
    const struct mix_phase *p = &s->phase[phase];

    return p->n > 0 ? p->sample[p->n - 1].at_ns : p->begin_ns;
}

static uint64_t part(uint64_t from, uint64_t to, double share)
{
    return from + (uint64_t)((double)(to - from) * share);
}

/* As of a time. */
static struct mix_sample sample_at(const struct mix_phase *p, int64_t at_ns)
{
    struct mix_sample before = { .at_ns = p->begin_ns };

    for (int i = 0; i < p->n; before = p->sample[i++]) {
        const struct mix_sample *next = &p->sample[i];
        double share;

        if (next->at_ns <= at_ns)
            continue;
        if (at_ns <= before.at_ns)
            return before;
        share = (double)(at_ns - before.at_ns) / (double)(next->at_ns - before.at_ns);
        return (struct mix_sample) { at_ns, part(before.bytes, next->bytes, share),
                                     part(before.operations, next->operations, share) };
    }
    return before;
}

struct mix_work mix_series_work(const struct mix_series *s, int phase, int64_t from_ns, int64_t to_ns)
{
    const struct mix_phase *p = &s->phase[phase];
    struct mix_sample from = sample_at(p, from_ns), to = sample_at(p, to_ns > from_ns ? to_ns : from_ns);
    struct mix_sample all = sample_at(p, INT64_MAX);

    return (struct mix_work) { to.bytes - from.bytes, to.operations - from.operations, all.bytes,
                               all.operations };
}

double mix_series_share(const struct mix_series *s, int phase, int64_t from_ns, int64_t to_ns)
{
    int64_t begin = s->phase[phase].begin_ns, end = mix_series_end(s, phase);
    int64_t from = begin > from_ns ? begin : from_ns, to = end < to_ns ? end : to_ns;

    if (end <= begin)
        return from_ns <= begin && begin <= to_ns;
    return to > from ? (double)(to - from) / (double)(end - begin) : 0;
}
