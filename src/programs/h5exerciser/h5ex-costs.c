/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-costs.c - what each operation of a repetition costs, where it is done once by all tasks
 * together */
#include "config.h"
#include "programs/h5exerciser/h5ex-costs.h"

#include <math.h>

#include "base/clock.h"
#include "engine/driver.h"
#include "engine/report/report.h"
#include "par/agree.h"

#define MIB 1048576.0
#define AT_ONCE 64

/* One operation: in a repetition, or over all of them. */
struct row {
    const char *name, *side, *column;
    int64_t repetition;
    double rate, v[WEIR_FIVES]; /* bytes/s; ns, of one repetition the first */
};

#define WORD(f, k, h) COL_STR(struct row, f, k, h)
#define SECONDS(f, k, h) COL_REAL(struct row, v[f], k, h, .unit = WEIR_NS_PER_S)
#define NAMES                                                                                      \
    WORD(name, "operation", "Operation"),                                                          \
        WORD(side, "side", "In which half of a repetition: write or read"),                        \
        WORD(column, "column", "Key in the summary that shares its time, or none")

static const struct weir_col over_all_cols[] = {
    NAMES,
    SECONDS(WEIR_FIVE_MIN, "min", "Shortest time of the slowest task, seconds"),
    SECONDS(WEIR_FIVE_MED, "median", "Median, seconds"),
    SECONDS(WEIR_FIVE_MAX, "max", "Longest, seconds"),
    SECONDS(WEIR_FIVE_AVG, "mean", "Mean, seconds"),
    SECONDS(WEIR_FIVE_STD, "sd", "Standard deviation of the population, seconds"),
    WEIR_COL_END
};

static const struct weir_col result_cols[] = {
    NAMES, COL_INT(struct row, repetition, "iter", "Repetition, from 0"),
    SECONDS(0, "seconds", "Time of the slowest task, seconds"),
    COL_REAL(struct row, rate, "MiBps", "Bytes of all tasks / that time, MiB/s", .unit = MIB),
    WEIR_COL_END
};

static const struct weir_table over_all_table = { .key = "operations",
                                                  .cols = over_all_cols,
                                                  .readers = WEIR_FOR_DATA };
static const struct weir_table result_table = { .key = "Results",
                                                .cols = result_cols,
                                                .readers = WEIR_FOR_DATA };

void weir_costs_slowest(struct weir_run *run, const uint64_t *ns, int n, double *slowest)
{
    int64_t most[AT_ONCE];

    for (int from = 0; from < n; from += AT_ONCE) {
        int now = n - from < AT_ONCE ? n - from : AT_ONCE;

        for (int i = 0; i < now; i++)
            most[i] = (int64_t)ns[from + i];
        weir_allmax_i64(&run->par, most, now);
        for (int i = 0; i < now; i++)
            slowest[from + i] = (double)most[i];
    }
}

static struct row name_row(const struct weir_run *run, const struct weir_cost *cost, int op)
{
    return (struct row) { .name = run->test->driver->operations[op].key,
                          .side = cost[op].side,
                          .column = cost[op].column ? cost[op].column : "none" };
}

void weir_costs_report(struct weir_run *run, const struct weir_cost *cost, const double *slowest)
{
    const struct weir_driver *d = run->test->driver;

    for (int op = 0; d->operations[op].key; op++) {
        struct row row = name_row(run, cost, op);

        row.repetition = run->repetition;
        row.v[0] = slowest[op];
        row.rate =
            d->operations[op].moves_bytes ? cost[op].bytes * WEIR_NS_PER_S / slowest[op] : NAN;
        if (cost[op].has)
            weir_report_row(&run->report, &result_table, &row);
    }
}

void weir_costs_conclude(struct weir_run *run, const struct weir_cost *cost,
                         const struct weir_series *series)
{
    for (int op = 0; run->test->driver->operations[op].key; op++) {
        struct row row = name_row(run, cost, op);

        weir_series_five(series, (size_t)op, row.v);
        if (cost[op].has)
            weir_report_row(&run->report, &over_all_table, &row);
    }
}
