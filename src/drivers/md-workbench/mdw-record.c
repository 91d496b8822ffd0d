/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-record.c - a phase as a record for programs */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <stddef.h>

struct record {
    const char *phase;
    int64_t iteration, objects, sets, errors, stopped;
    double wait, seconds, min_s, iops, rate, tp, op_max;
    double quantile[MDW_OPS][MDW_QUARTILES];
};

#define INT(k, f, h) COL_INT(struct record, f, k, h)
#define REAL(k, f, h) COL_REAL(struct record, f, k, h)
#define QUARTILES(name, op)                                                                        \
    REAL(name "Min", quantile[op][0], "Shortest " name ", seconds"),                               \
        REAL(name "Q1", quantile[op][1],                                                           \
             "A quarter of all " name " operations took less, seconds"),                           \
        REAL(name "Median", quantile[op][2],                                                       \
             "Half of all " name " operations took less, seconds"),                                \
        REAL(name "Q3", quantile[op][3],                                                           \
             "Three quarters of all " name " operations took less, seconds"),                      \
        REAL(name "P90", quantile[op][4], "90 % of all " name " operations took less, seconds"),   \
        REAL(name "P99", quantile[op][5], "99 % of all " name " operations took less, seconds"),   \
        REAL(name "Max", quantile[op][6], "Longest " name ", seconds")

static const struct weir_col cols[] = {
    COL_STR(struct record, phase, "phase", "Phase"),
    INT("iteration", iteration, "Iteration, from 0"),
    REAL("waitingFactor", wait, "Waiting time over the time of each operation"),
    REAL("seconds", seconds, "Time of the slowest task, seconds"),
    REAL("fastestSeconds", min_s, "Time of the fastest task, seconds"),
    INT("objects", objects, "Objects made, read or removed by all tasks"),
    INT("sets", sets, "Data sets made or removed by all tasks"),
    INT("errors", errors, "Operations that failed"),
    INT("stonewallIter", stopped,
        "Rounds of a task when the stonewall ended the work early, else 0"),
    REAL("iops", iops, "Operations a second"),
    REAL("objectRate", rate, "Objects a second"),
    REAL("throughputMiB", tp, "MiB a second written and read"),
    REAL("opMax", op_max, "Longest operation, seconds"),
    QUARTILES("read", MDW_READ),
    QUARTILES("stat", MDW_STAT),
    QUARTILES("create", MDW_CREATE),
    QUARTILES("delete", MDW_DELETE),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "Results", .cols = cols, .readers = WEIR_FOR_DATA };

void mdw_record(struct weir_run *run, const struct mdw_test *t, const struct mdw_measure *m)
{
    struct record r = {
        .phase = mdw_phase_names[m->phase],
        .iteration = m->iteration,
        .wait = m->wait,
        .seconds = m->seconds,
        .min_s = m->min_s,
        .objects = (int64_t)mdw_objects(m),
        .sets = (int64_t)(m->done[MDW_SET_CREATE] + m->done[MDW_SET_DELETE]),
        .errors = (int64_t)mdw_errors(m),
        .stopped = (int64_t)m->stopped,
        .iops = mdw_iops(t, m),
        .rate = (double)mdw_objects(m) / m->seconds,
        .tp = mdw_throughput(t, m),
        .op_max = mdw_longest_s(m),
    };

    for (int op = 0; op < MDW_OPS; op++)
        mdw_quartiles(r.quantile[op], &m->lat[op]);
    weir_report_row(&run->report, &table, &r);
}
