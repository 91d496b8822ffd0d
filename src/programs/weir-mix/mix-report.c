/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-report.c - the groups of a mix, and how much they slow each other down */
#include "programs/weir-mix/mix-run.h"

#include <math.h>
#include <string.h>

#include "base/text/columns.h"

#define FASTER 1.1 /* times as fast as alone: reported in words */

/* ---- the plan ---- */

struct group_row {
    const char *name, *program, *start, *command;
    int64_t ranks, first;
};

static const struct weir_col group_cols[] = {
    COL_STR(struct group_row, name, "group", "Its name", .head = "Group", .width = -16, .gap = 1),
    COL_INT(struct group_row, ranks, "ranks", "That it has", .head = "Ranks", .width = 6, .gap = 1),
    COL_INT(struct group_row, first, "firstRank", "The lowest of them", .head = "First", .width = 6, .gap = 2),
    COL_STR(struct group_row, start, "start", "When it starts", .head = "Start", .width = -24, .gap = 1),
    COL_STR(struct group_row, program, "program", "That it runs"),
    COL_STR(struct group_row, command, "command", "Its command line", .head = "Command"),
    WEIR_COL_END
};

static const struct weir_table shown_groups = { .key = "groups", .cols = group_cols, .headed = true, .readers = WEIR_FOR_TEXT };
static const struct weir_table groups = { .key = "groups", .cols = group_cols, .readers = WEIR_FOR_DATA };

int mix_report_plan(struct weir_run *run, void *state, struct weir_err *err)
{
    struct weir_report *r = &run->report;
    const struct mix_test *t = state;

    weir_report_str(r, WEIR_FOR_DATA, "end", t->o->end);
    weir_report_head(r, &shown_groups);
    for (int i = 0; i < t->plan.n; i++) {
        const struct mix_group *g = &t->plan.group[i];
        struct weir_str start = { 0 };
        struct group_row row = { .name = g->name, .program = mix_program_of(g), .command = g->command,
                                 .ranks = g->ranks, .first = t->leader_of[i] };

        if (g->start == MIX_AFTER_SECONDS)
            weir_str_addf(&start, "after %.6g s", g->after_s);
        else if (g->start == MIX_AFTER_PHASE)
            weir_str_addf(&start, "after %s %s", g->after_name, g->phase);
        else
            weir_str_addf(&start, "at once");
        row.start = weir_str_text(&start);
        weir_report_row(r, &shown_groups, &row);
        if (t->o->run.anonymous) /* its words name files */
            row.command = row.program;
        weir_report_row(r, &groups, &row);
        weir_report_free(r, &start);
    }
    if (!t->o->run.dry_run)
        weir_report_line(r, "%s", "");
    return 0;
}

/* ---- while it runs ---- */

static const char *with_of(const struct mix_test *t, int with)
{
    return with == MIX_ALONE ? "alone" : with == MIX_ALL ? "all" : t->plan.group[with].name;
}

void mix_report_rates(struct weir_run *run, const struct mix_test *t, const struct mix_rate *rate, int n)
{
    struct weir_str line = { 0 };

    for (int i = 0; i < n; i++)
        if (rate[i].seconds > 0)
            weir_str_addf(&line, "%s%s %.6g %s", line.len ? ", " : "", rate[i].operation,
                          mix_rate_of(&rate[i]) / (rate[i].bytes ? WEIR_MIB : 1), rate[i].bytes ? "MiB/s" : "ops/s");
    if (line.len)
        weir_report_line(&run->report, "%3d  %s %s%s: %s", run->repetition, t->plan.group[rate->group].name,
                         rate->with == MIX_ALONE ? "" : "with ", with_of(t, rate->with), weir_str_text(&line));
    weir_report_flush(&run->report);
    weir_report_free(&run->report, &line);
}

/* ---- rates and slowdowns ---- */

/* A row of any of the three tables. */
struct row {
    const char *group, *with, *operation, *unit;
    int64_t ranks, repetitions;
    struct mix_row r;
    int64_t repetition; /* of one: then the rate is 'together' */
    double began, seconds;
};

#define S(f, k, h, ...) COL_STR(struct row, f, k, h, .csv = k, __VA_ARGS__)
#define D(f, k, h, ...) COL_REAL(struct row, f, k, h, .csv = k, .none = "-", .gap = 1, __VA_ARGS__)

static const struct weir_col cols[] = {
    S(group, "group", "The group that was measured", .head = "Group", .width = -16, .gap = 1),
    S(with, "with", "What ran at the same time: all other groups, or one", .head = "With", .width = -16, .gap = 1),
    S(operation, "operation", "Of the group", .head = "Operation", .width = -21, .gap = 1),
    COL_INT(struct row, ranks, "ranks", "Of the group", .csv = "ranks"),
    COL_INT(struct row, repetitions, "repetitions", "In which it was done while all ran", .csv = "repetitions", .head = "Reps", .width = 4, .gap = 1),
    D(r.alone.median, "alone", "Rate alone, median of the repetitions", .head = "Alone",
      .width = 11, .digits = 6),
    D(r.together.median, "together", "Rate while all groups ran, median", .head = "Together",
      .width = 11, .digits = 6),
    S(unit, "unit", "Of the rates: bytes/s or ops/s", .head = "Unit", .width = -7, .gap = 1),
    D(r.slowdown.median, "slowdown", "Rate alone over rate together, median of the quotients of each repetition", .head = "Slowdown", .width = 8, .digits = 4),
    D(r.slowdown.low, "slowdownLow", "Nonparametric 95 % interval of that median: from here", .head = "95 % from", .width = 9, .digits = 4),
    D(r.slowdown.high, "slowdownHigh", "to here; null for fewer than 6 repetitions", .head = "to", .width = 8, .digits = 4),
    D(r.p99_alone.median, "p99Alone", "99th percentile of the time of an operation alone, seconds, median", .head = "p99 alone", .width = 10, .digits = 4),
    D(r.p99_together.median, "p99Together", "The same together; null where less than 0.9 of each phase was shared", .head = "together", .width = 10, .digits = 4),
    D(r.p99_slowdown.median, "p99Slowdown", "p99 together over p99 alone, median of the quotients", .head = "slower", .width = 8, .digits = 4),
    D(r.p99_slowdown.low, "p99SlowdownLow", "Its 95 % interval: from here"),
    D(r.p99_slowdown.high, "p99SlowdownHigh", "to here"),
    COL_REAL(struct row, r.shared, "shared", "Share of its time together in which all groups ran: the rate together is of that time",
             .csv = "shared", .none = "-", .head = "Shared", .width = 6, .prec = 2),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "operations", .cols = cols, .readers = WEIR_FOR_DATA | WEIR_FOR_CSV_FULL };

static struct row row_of(const struct mix_test *t, int group, int with, const char *operation, bool bytes)
{
    return (struct row) { .group = t->plan.group[group].name,
                          .with = with_of(t, with),
                          .operation = operation,
                          .unit = bytes ? "bytes/s" : "ops/s",
                          .ranks = t->plan.group[group].ranks };
}

/* 1.2345: 1.2 */
static double two_digits(double v)
{
    double unit = v > 0 ? pow(10, floor(log10(v)) - 1) : 1;

    return round(v / unit) * unit;
}

static void show_row(struct weir_run *run, struct row row)
{
    struct weir_str line = { 0 };

    if (row.unit[0] == 'b') {
        row.unit = "MiB/s";
        row.r.alone.median /= WEIR_MIB;
        row.r.together.median /= WEIR_MIB;
    }
    if (mix_center_is_rough(&row.r.slowdown)) {
        row.r.slowdown.median = two_digits(row.r.slowdown.median);
        row.r.p99_slowdown.median = two_digits(row.r.p99_slowdown.median);
    }
    weir_col_text(&line, cols, &row);
    weir_report_line(&run->report, "%s", weir_str_text(&line));
    weir_report_free(&run->report, &line);
}

static bool is_first(const struct mix_rates *all, int i)
{
    for (int k = 0; k < i; k++)
        if (all->rate[k].group == all->rate[i].group && all->rate[k].with == all->rate[i].with &&
            strcmp(all->rate[k].operation, all->rate[i].operation) == 0)
            return false;
    return true;
}

/* Each operation of each group, in the order of the groups; those with all others first. */
static void report_rows(struct weir_run *run, const struct mix_test *t, bool pairs, int repetitions)
{
    for (int g = 0; g < t->plan.n; g++)
        for (int i = 0; i < t->rates.n; i++) {
            const struct mix_rate *r = &t->rates.rate[i];
            struct mix_row all;
            struct row row;

            if (r->group != g || r->with == MIX_ALONE || (r->with != MIX_ALL) != pairs || !is_first(&t->rates, i))
                continue;
            all = mix_rates_row(&t->rates, g, r->with, r->operation, repetitions);
            row = row_of(t, g, r->with, r->operation, all.bytes);
            row.repetitions = all.together.n;
            row.r = all;
            weir_report_row(&run->report, &table, &row);
            show_row(run, row);
        }
}

/* ---- the slowdown of whole groups ---- */

static const struct weir_col cell_cols[] = {
    COL_STR(struct row, group, "group", "The group that is slowed down"),
    COL_STR(struct row, with, "with", "By all other groups, or by this one"),
    COL_REAL(struct row, r.slowdown.median, "slowdown", "The time of its work while all ran over the time that the same work takes alone; median"),
    COL_REAL(struct row, r.slowdown.low, "low", "95 % interval of that median: from here"),
    COL_REAL(struct row, r.slowdown.high, "high", "to here; null for fewer than 6 repetitions"),
    WEIR_COL_END
};

static const struct weir_table cells = { .key = "slowdowns", .cols = cell_cols, .readers = WEIR_FOR_DATA };

/* Return the width of the column of a group, or of MIX_ALL. */
static int width_of(const struct mix_test *t, int with)
{
    int len = with == MIX_ALL ? 8 : (int)strlen(t->plan.group[with].name);

    return len > 8 ? len : 8;
}

static void add_cell(struct weir_run *run, const struct mix_test *t, int g, int with, int repetitions, struct weir_str *line)
{
    const struct mix_center c = mix_rates_group(&t->rates, g, with, repetitions);
    struct row row = row_of(t, g, with, NULL, false);

    row.r.slowdown = c;
    weir_report_row(&run->report, &cells, &row);
    if (isnan(c.median))
        weir_str_addf(line, " %*s", width_of(t, with), "-");
    else if (mix_center_is_rough(&c))
        weir_str_addf(line, " %*.4g", width_of(t, with), two_digits(c.median));
    else
        weir_str_addf(line, " %*.3f", width_of(t, with), c.median);
}

/* A row for each group that is slowed down, a column for each one that ran with it. */
static void report_matrix(struct weir_run *run, const struct mix_test *t, int repetitions)
{
    struct weir_str line = { 0 };

    weir_str_addf(&line, "%-16s %*s", "Slowdown of", width_of(t, MIX_ALL), "with all");
    for (int b = 0; t->o->pairs && b < t->plan.n; b++)
        weir_str_addf(&line, " %*s", width_of(t, b), t->plan.group[b].name);
    weir_report_line(&run->report, "\n%s", weir_str_text(&line));
    for (int a = 0; a < t->plan.n; a++) {
        weir_str_clear(&line);
        weir_str_addf(&line, "%-16s", t->plan.group[a].name);
        add_cell(run, t, a, MIX_ALL, repetitions, &line);
        for (int b = 0; t->o->pairs && b < t->plan.n; b++)
            if (b == a)
                weir_str_addf(&line, " %*s", width_of(t, b), "-");
            else
                add_cell(run, t, a, b, repetitions, &line);
        weir_report_line(&run->report, "%s", weir_str_text(&line));
    }
    weir_report_free(&run->report, &line);
    for (int g = 0; g < t->plan.n; g++) { /* a slowdown below 1 in words */
        double times = 1 / mix_rates_group(&t->rates, g, MIX_ALL, repetitions).median;

        if (times >= FASTER)
            weir_report_line(&run->report, "'%s' was %.4g times as fast with all others as alone",
                             t->plan.group[g].name, two_digits(times));
    }
}

/* ---- each repetition ---- */

static const struct weir_col single_cols[] = {
    COL_STR(struct row, group, "group", "The group that was measured"),
    COL_STR(struct row, with, "with", "alone, all, or the one other group that ran"),
    COL_STR(struct row, operation, "operation", "Of the group"),
    COL_INT(struct row, repetition, "repetition", "From 0"),
    COL_REAL(struct row, r.together.median, "rate", "While all ran"),
    COL_STR(struct row, unit, "unit", "Of the rate: bytes/s or ops/s"),
    COL_REAL(struct row, began, "began", "Begin of its first phase, seconds after the common start"),
    COL_REAL(struct row, seconds, "seconds", "Of its time, while all ran"),
    COL_REAL(struct row, r.p99_together.median, "p99", "99th percentile of the time of an operation, seconds; null where less than 0.9 of each phase was shared"),
    COL_REAL(struct row, r.shared, "shared", "Share of its time in which all groups ran"),
    WEIR_COL_END
};

static const struct weir_table singles = { .key = "measured", .cols = single_cols, .readers = WEIR_FOR_DATA };

static void report_singles(struct weir_run *run, const struct mix_test *t)
{
    for (int i = 0; i < t->rates.n; i++) {
        const struct mix_rate *r = &t->rates.rate[i];
        struct row row = row_of(t, r->group, r->with, r->operation, r->bytes);

        row.repetition = r->repetition;
        row.r.together.median = mix_rate_of(r);
        row.r.p99_together.median = r->p99;
        row.began = r->began_s;
        row.seconds = r->seconds;
        row.r.shared = r->whole_seconds > 0 ? r->seconds / r->whole_seconds : NAN;
        weir_report_row(&run->report, &singles, &row);
    }
}

void mix_report_all(struct weir_run *run, const struct mix_test *t, int repetitions)
{
    struct weir_report *r = &run->report;
    struct weir_str head = { 0 };

    report_singles(run, t);
    weir_report_real(r, WEIR_FOR_DATA, "startSkew", t->skew_s);
    weir_report_real(r, WEIR_FOR_DATA, "sharedTime", t->common_s);
    if (run->par.rank != 0 || repetitions == 0 || t->rates.n == 0)
        return;
    weir_col_heading(&head, cols);
    weir_report_line(r, "\n%s", weir_str_text(&head));
    weir_report_free(r, &head);
    report_rows(run, t, false, repetitions);
    report_rows(run, t, true, repetitions);
    if (t->o->alone)
        report_matrix(run, t, repetitions);
    if (!isnan(t->skew_s))
        weir_report_line(r, "\nGroups that start at once began within %.3g s of each other", t->skew_s);
    if (t->common_s == 0)
        weir_warn(&run->log, NULL, "in one repetition the groups never all ran at once, so "
                                   "slowdowns are unreliable; use longer groups, or --end=repeat");
    else if (!isnan(t->common_s))
        weir_report_line(r, "All groups ran at the same time for %.6g s%s", t->common_s,
                         run->test->max_repetitions > 1 ? " in each repetition at least" : "");
}
