/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.c - bytes and operations of a phase in intervals of time */
#include "base/intervals.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>

int weir_intervals_init(struct weir_intervals *s, uint64_t width_ns, struct weir_err *err)
{
    *s = (struct weir_intervals) { .asked_ns = width_ns, .width_ns = width_ns };
    s->bytes = calloc(2 * (size_t)WEIR_INTERVALS, sizeof(*s->bytes));
    if (!s->bytes)
        return weir_fail(err, WEIR_ESETUP, "memory for intervals");
    s->ops = s->bytes + WEIR_INTERVALS;
    return 0;
}

void weir_intervals_free(struct weir_intervals *s)
{
    free(s->bytes);
    *s = (struct weir_intervals) { .bytes = NULL };
}

void weir_intervals_begin(struct weir_intervals *s, uint64_t origin_ns)
{
    memset(s->bytes, 0, 2 * (size_t)WEIR_INTERVALS * sizeof(*s->bytes));
    s->origin_ns = s->from_ns = s->to_ns = origin_ns;
    s->width_ns = s->asked_ns;
    s->bin = s->used = 0;
}

/* Two bins become one. */
static void fold(struct weir_intervals *s)
{
    for (unsigned i = 0; i < WEIR_INTERVALS / 2; i++) {
        s->bytes[i] = s->bytes[2 * i] + s->bytes[2 * i + 1];
        s->ops[i] = s->ops[2 * i] + s->ops[2 * i + 1];
    }
    memset(s->bytes + WEIR_INTERVALS / 2, 0, WEIR_INTERVALS / 2 * sizeof(*s->bytes));
    memset(s->ops + WEIR_INTERVALS / 2, 0, WEIR_INTERVALS / 2 * sizeof(*s->ops));
    s->width_ns *= 2;
    s->used = (s->used + 1) / 2;
}

void weir_intervals_widen(struct weir_intervals *s, uint64_t width_ns)
{
    while (s->width_ns < width_ns)
        fold(s);
}

/* The bin with the moment just before this time. */
static uint64_t bin_before(const struct weir_intervals *s, uint64_t ns)
{
    return ns > s->origin_ns ? (ns - s->origin_ns - 1) / s->width_ns : 0;
}

/* Distributes 'all' of begin to end over the bins up to 'last' by time. One operation goes into the
 * last bin. */
static void distribute(const struct weir_intervals *s, uint64_t *bins, uint64_t all, uint64_t begin,
                       uint64_t end, uint64_t last)
{
    uint64_t done = 0;

    for (uint64_t i = (begin - s->origin_ns) / s->width_ns; i < last; i++) {
        double passed = (double)(s->origin_ns + (i + 1) * s->width_ns - begin);
        double part = (double)all * (passed / (double)(end - begin));
        uint64_t now = part < (double)all ? (uint64_t)part : all;

        bins[i] += now > done ? now - done : 0;
        done = now > done ? now : done;
    }
    bins[last] += all - done;
}

void weir_intervals_spread(struct weir_intervals *s, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t bytes, uint64_t ops)
{
    uint64_t begin = begin_ns > s->origin_ns ? begin_ns : s->origin_ns;
    uint64_t end = end_ns > begin ? end_ns : begin, last;

    while ((last = bin_before(s, end)) >= WEIR_INTERVALS)
        fold(s);
    distribute(s, s->bytes, bytes, begin, end, last);
    distribute(s, s->ops, ops, begin, end, last);
    s->bin = (unsigned)last;
    s->used = s->bin + 1 > s->used ? s->bin + 1 : s->used;
    s->from_ns = s->origin_ns + last * s->width_ns;
    s->to_ns = s->from_ns + s->width_ns;
}
