/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-numbers.c - what the counts and times of a phase amount to */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <math.h>

#include "base/clock.h"

#define MIB 1048576.0

const char *const mdw_phase_names[MDW_PHASES] = {
    [MDW_PRECREATE] = "precreate",
    [MDW_BENCHMARK] = "benchmark",
    [MDW_CLEANUP] = "cleanup",
};

const struct weir_operation mdw_operations[MDW_OPS + 1] = {
    [MDW_READ] = { "read", "Read", "objects", true },
    [MDW_STAT] = { "stat", "Stat", "objects", false },
    [MDW_CREATE] = { "create", "Create", "objects", true },
    [MDW_DELETE] = { "delete", "Delete", "objects", false },
};

uint64_t mdw_errors(const struct mdw_measure *m)
{
    uint64_t n = 0;

    for (int c = 0; c < MDW_COUNTS; c++)
        n += m->failed[c];
    return n;
}

double mdw_longest_s(const struct mdw_measure *m)
{
    uint64_t ns = 0;

    for (int op = 0; op < MDW_OPS; op++)
        ns = m->lat[op].max_ns > ns ? m->lat[op].max_ns : ns;
    return (double)ns / WEIR_NS_PER_S;
}

double mdw_throughput(const struct mdw_test *t, const struct mdw_measure *m)
{
    return (double)(m->done[MDW_CREATE] + m->done[MDW_READ]) * t->o->size / m->seconds / MIB;
}

double mdw_iops(const struct mdw_test *t, const struct mdw_measure *m)
{
    switch (m->phase) {
    case MDW_PRECREATE:
        return (double)(m->done[MDW_SET_CREATE] + m->done[MDW_CREATE]) / m->seconds;
    case MDW_CLEANUP:
        return (double)(m->done[MDW_SET_DELETE] + m->done[MDW_DELETE]) / m->seconds;
    default:
        return (t->o->read_only ? 2.0 : 4.0) * (double)m->done[MDW_READ] / m->seconds;
    }
}

uint64_t mdw_objects(const struct mdw_measure *m)
{
    static const enum mdw_op of[MDW_PHASES] = { MDW_CREATE, MDW_READ, MDW_DELETE };

    return m->done[of[m->phase]];
}

void mdw_quartiles(double out[MDW_QUARTILES], const struct weir_hist *h)
{
    static const double share[MDW_QUARTILES - 2] = { 0.25, 0.5, 0.75, 0.9, 0.99 };

    out[0] = h->n ? (double)h->min_ns / WEIR_NS_PER_S : NAN;
    for (int i = 0; i < MDW_QUARTILES - 2; i++)
        out[i + 1] = h->n ? (double)weir_hist_quantile(h, share[i]) / WEIR_NS_PER_S : NAN;
    out[MDW_QUARTILES - 1] = h->n ? (double)h->max_ns / WEIR_NS_PER_S : NAN;
}
