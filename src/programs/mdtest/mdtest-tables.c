/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-tables.c - the rows for programs, and the tables for people, byte for byte as parsers know
 * them */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>

#include "base/text/columns.h"
#include "par/reduce.h"

/* ---- rows for programs ---- */

/* One row for programs. */
struct summary_row {
    const char *operation;
    int64_t test, tasks, iterations, items;
    struct mdtest_series s;
    double rate_sd, ms_sd;
};

#define S struct summary_row

static const struct weir_col summary_cols[] = {
    COL_STR(S, operation, "operation", "Operation"),
    COL_INT(S, test, "TestID", "Number of the test, from 0"),
    COL_INT(S, tasks, "tasks", "Tasks"),
    COL_INT(S, iterations, "iterations", "Iterations that were measured"),
    COL_INT(S, items, "items", "Items of all tasks in the last iteration"),
    COL_REAL(S, s.rate.max, "rateMax",
             "Most items of all tasks a second, over the time of the longest task"),
    COL_REAL(S, s.rate.min, "rateMin", "Fewest"),
    COL_REAL(S, s.rate.mean, "rateMean", "Mean"),
    COL_REAL(S, rate_sd, "rateStd", "Sample standard deviation"),
    COL_REAL(S, s.ms.max, "msPerOpMax", "Time of a phase over the items of a task, ms: longest"),
    COL_REAL(S, s.ms.min, "msPerOpMin", "Shortest"),
    COL_REAL(S, s.ms.mean, "msPerOpMean", "Mean"),
    COL_REAL(S, ms_sd, "msPerOpStd", "Sample standard deviation"),
    COL_REAL(S, s.rank_rate.max, "rankRateMax", "Items a second of the fastest task"),
    COL_REAL(S, s.rank_rate.min, "rankRateMin", "Items a second of the slowest task"),
    COL_REAL(S, s.rank_rate.mean, "rankRateMean", "Mean over tasks and iterations"),
    WEIR_COL_END
};

static const struct weir_table summary_table = { .key = "summary",
                                                 .cols = summary_cols,
                                                 .readers = WEIR_FOR_DATA };

/* ---- tables ---- */

/* True when the table has a row for this operation. */
static bool has_row(const struct mdtest_test *t, enum mdtest_op op)
{
    const struct mdtest_fact *f = &mdtest_facts[op];

    return op != MDTEST_DIR_READ && mdtest_shows(t, op) && (f->is_tree || t->ledger.kind[f->of]);
}

/* A row of the tables for people: rates or times. */
struct shown_row {
    const char *margin, *operation, *colon;
    struct weir_stats all, rank; /* of all tasks, of single ones */
    double sd;
};

#define T struct shown_row
#define OPERATION(h, w)                                                                            \
    COL_STR(T, margin, NULL, NULL, .head = "", .width = 3),                                        \
        COL_STR(T, operation, NULL, NULL, .head = (h), .rule = "---------", .width = -(w),         \
                .gap = 1)
#define IN_WIDTH(w, f, h, r, at, g)                                                                \
    COL_REAL(T, f, NULL, NULL, .head = (h), .rule = (r), .head_at = (at), .width = (w), .prec = 3, \
             .gap = (g))
#define SHOWN(f, h, r, at, g) IN_WIDTH(14, f, h, r, at, g)
#define OF_RANKS(w, g)                                                                             \
    IN_WIDTH(w, rank.max, "Max", "---", 27, 1), SHOWN(rank.min, "Min", "---", 42, 1),              \
        SHOWN(rank.mean, "Mean      per Iteration:", "----", 56, g)
#define OF_ITERATIONS(first, space)                                                                \
    SHOWN(all.max, "Max", space "---", first, 1),                                                  \
        SHOWN(all.min, "Min", space "---", (first) + 15, 1),                                       \
        SHOWN(all.mean, "Mean", space "----", (first) + 29, 1),                                    \
        SHOWN(sd, "Std Dev", space "-------", (first) + 41, 0)

#define OF_33(f, h, r, at)                                                                         \
    COL_REAL(T, f, NULL, NULL, .head = (h), .rule = (r), .head_at = (at), .width = 15, .prec = 3)

static const struct weir_col plain_cols[] = { OPERATION("Operation", 22), OF_ITERATIONS(33, ""),
                                              WEIR_COL_END };

/* The columns of 3.3: a colon after the name, and times of whole phases in seconds. */
static const struct weir_col old_cols[] = { COL_STR(T, margin, NULL, NULL, .head = "", .width = 3),
                                            COL_STR(T, operation, NULL, NULL, .head = "Operation",
                                                    .rule = "---------", .width = -26),
                                            COL_STR(T, colon, NULL, NULL, .head = ""),
                                            OF_33(all.max, "Max", "---", 34),
                                            OF_33(all.min, "Min", "---", 49),
                                            OF_33(all.mean, "Mean", "----", 63),
                                            OF_33(sd, "Std Dev", "-------", 75),
                                            WEIR_COL_END };

/* With --showRankStatistics the operations on trees are shifted against the others. Those that
 * options add have longer names, whose numbers stand below the others. */
static const struct weir_col ranked_cols[] = { OPERATION("Operation     per Rank:", 18),
                                               OF_RANKS(14, 9), OF_ITERATIONS(81, " "),
                                               WEIR_COL_END };
static const struct weir_col ranked_tree_cols[] = { OPERATION("", 22), OF_RANKS(14, 5),
                                                    OF_ITERATIONS(0, ""), WEIR_COL_END };
static const struct weir_col ranked_more_cols[] = { OPERATION("", 21), OF_RANKS(11, 9),
                                                    OF_ITERATIONS(0, ""), WEIR_COL_END };

/* One for rates, one for times: each has its heading. */
static const struct weir_table plain[] = {
    { .key = "rates", .cols = plain_cols, .headed = true, .readers = WEIR_FOR_TEXT_4 },
    { .key = "times", .cols = plain_cols, .headed = true, .readers = WEIR_FOR_TEXT_4 },
};
static const struct weir_table old[] = {
    { .key = "rates", .cols = old_cols, .headed = true, .readers = WEIR_FOR_TEXT_33 },
    { .key = "times", .cols = old_cols, .headed = true, .readers = WEIR_FOR_TEXT_33 },
};
static const struct weir_table ranked[] = {
    { .key = "rates", .cols = ranked_cols, .headed = true, .readers = WEIR_FOR_TEXT },
    { .key = "times", .cols = ranked_cols, .headed = true, .readers = WEIR_FOR_TEXT },
};
static const struct weir_table ranked_tree = { .key = "trees",
                                               .cols = ranked_tree_cols,
                                               .readers = WEIR_FOR_TEXT };
static const struct weir_table ranked_more = { .key = "more",
                                               .cols = ranked_more_cols,
                                               .readers = WEIR_FOR_TEXT };

static void print_row(struct weir_run *run, const struct weir_table *table, const char *operation,
                      const struct weir_stats *all, const struct weir_stats *rank)
{
    const struct shown_row row = {
        .margin = "",
        .operation = operation,
        .colon = ":",
        .all = *all,
        .rank = *rank,
        .sd = weir_stats_sd(all, MDTEST_DEVIATION),
    };

    weir_report_row(&run->report, table, &row);
}

static void print_rows(struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op,
                       bool times)
{
    const struct mdtest_series *s = &t->results.series[op];
    const struct weir_stats *rank = times ? &s->rank_ms : &s->rank_rate;
    const char *title = mdtest_operations[op].title;
    const struct weir_table *table = !t->o->rank_stats          ? &plain[times]
                                     : mdtest_facts[op].is_tree ? &ranked_tree
                                     : mdtest_facts[op].call    ? &ranked_more
                                                                : &ranked[times];

    print_row(run, table, title, times ? &s->ms : &s->rate, rank);
    if (!t->o->rank_stats && op != MDTEST_DIR_RENAME) /* which 3.3 does not have */
        print_row(run, &old[times], title, times ? &s->time : &s->rate, rank);
}

static void print_cells(void *report, const char *bytes, size_t len)
{
    weir_report_piece(report, "%.*s", (int)len, bytes);
}

static void print_operation(struct weir_run *run, const struct mdtest_test *t, int iteration,
                            int op, bool times)
{
    const struct mdtest_results *r = &t->results;
    bool known = !mdtest_facts[op].is_tree && (size_t)iteration < r->capacity; /* or no memory */
    const struct mdtest_mine *m = known ? &r->mine[iteration * MDTEST_OPS + op] : NULL;
    struct weir_str cell = { 0 };

    if (run->par.rank == 0)
        weir_str_addf(&cell, "Test %s", mdtest_operations[op].title);
    weir_str_addf(&cell, "%c%e", run->par.rank ? ',' : ' ', !m ? 0 : times ? m->seconds : m->rate);
    run->report.lost |= weir_pieces(&run->par, &cell, print_cells, &run->report) < 0;
    weir_report_line(&run->report, "%s", "");
    weir_str_free(&cell);
}

/* Each task keeps its own numbers, of the iterations that were begun; rank 0 sees those of one
 * operation at a time. */
static void print_ranks(struct weir_run *run, const struct mdtest_test *t, bool times)
{
    int first = t->ledger.kind[MDTEST_DIRS]    ? MDTEST_DIR_CREATE
                : t->ledger.kind[MDTEST_FILES] ? MDTEST_FILE_CREATE
                                               : MDTEST_TREE_CREATE;

    weir_report_line(&run->report, "\nPer process result (%s):", times ? "time" : "rate");
    for (int i = 0; i < t->results.iterations; i++) {
        weir_report_line(&run->report, "iteration: %d", i);
        for (int op = first; op < MDTEST_OPS; op++)
            if (mdtest_shows(t, op))
                print_operation(run, t, i, op, times);
    }
}

static void print_table(struct weir_run *run, const struct mdtest_test *t, bool times)
{
    const struct weir_table *table = t->o->rank_stats ? &ranked[times] : &plain[times];
    struct weir_report *r = &run->report;

    if (t->o->all_procs)
        print_ranks(run, t, times);
    weir_report_line_for(r, t->o->rank_stats ? WEIR_FOR_TEXT : WEIR_FOR_TEXT_4,
                         "\nSUMMARY %s: (of %d iterations)",
                         times ? "time (in ms/op)" : "rate (in ops/sec)", run->test->done);
    weir_report_head(r, table);
    if (!t->o->rank_stats) {
        weir_report_line_for(r, WEIR_FOR_TEXT_33, "\nSUMMARY %s: (of %d iterations)",
                             times ? "time" : "rate", run->test->done);
        weir_report_head(r, &old[times]);
    }
    for (int op = 0; op < MDTEST_OPS; op++)
        if (has_row(t, (enum mdtest_op)op))
            print_rows(run, t, (enum mdtest_op)op, times);
}

static void report_summary_row(struct weir_run *run, const struct weir_test *test,
                               enum mdtest_op op)
{
    const struct mdtest_test *t = test->state;
    const struct mdtest_series *s = &t->results.series[op];
    const struct summary_row row = {
        .operation = mdtest_operations[op].title,
        .test = test->id,
        .tasks = t->tasks,
        .iterations = (int64_t)s->rate.n,
        .items = (int64_t)s->items,
        .s = *s,
        .rate_sd = weir_stats_sd(&s->rate, MDTEST_DEVIATION),
        .ms_sd = weir_stats_sd(&s->ms, MDTEST_DEVIATION),
    };

    if (s->rate.n > 0)
        weir_report_row(&run->report, &summary_table, &row);
}

void mdtest_summary_rows(struct weir_run *run, const struct weir_test *tests, int n)
{
    weir_report_head(&run->report, &summary_table);
    for (int i = 0; i < n; i++)
        for (int op = 0; op < MDTEST_OPS; op++)
            report_summary_row(run, &tests[i], (enum mdtest_op)op);
}

int mdtest_summary(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    const struct mdtest_options *o = t->o;

    weir_run_print_notes(run);
    if (o->rates_and_times || !o->times)
        print_table(run, t, false);
    if (o->rates_and_times || o->times)
        print_table(run, t, true);
    if (t->results.sum)
        weir_latency_table(run, mdtest_calls, t->results.sum);
    weir_report_int(&run->report, WEIR_FOR_DATA, "verificationErrors", (int64_t)run->test->wrong);
    if (run->test->wrong > 0)
        weir_report_line(&run->report,
                         "\nERROR: verifying the data on read (%" PRIu64
                         " errors)! Take the performance values with care!\n",
                         run->test->wrong);
    return 0;
}
