/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep-report.c - the results of --sweep: rows for programs, a table for people, and the names of the
 * slow ones */
#include "engine/observe/sweep.h"

#include <math.h>

#include "base/str.h"
#include "base/text/columns.h"

#define SHOWN 32 /* units in the text; of more only those that were slow in a round */
#define NOTES 8

/* A unit, and an operation of it. */
struct row {
    const char *operation, *host, *outcome, *unit;
    int64_t number, rank, tasks, round, together;
    double rate, joint, median, z;
};

#define S(f, k, h, ...) COL_STR(struct row, f, k, h, __VA_ARGS__)
#define I(f, k, h, ...) COL_INT(struct row, f, k, h, __VA_ARGS__)
#define D(f, k, h, ...) COL_REAL(struct row, f, k, h, .none = "-", .gap = 1, __VA_ARGS__)

static const struct weir_col unit_cols[] = {
    S(operation, "operation", "The kind of phase", .head = "Sweep", .width = -21, .gap = 1),
    I(number, "number", "Of the node, the pair or the rank, in the order of the lowest ranks",
      .head = "Number", .width = 7, .gap = 1),
    I(rank, "rank", "Its lowest rank", .head = "Rank", .width = 7, .gap = 1),
    I(tasks, "tasks", "Ranks that it has", .head = "Tasks", .width = 5, .gap = 1),
    D(joint, "joint", "Its rate in the phase of all ranks", .head = "Joint", .width = 11, .digits = 5),
    D(rate, "rate", "Its rate while only its group works", .head = "Alone", .width = 11, .digits = 5),
    D(median, "median", "Of the rates that it is compared with", .head = "Median", .width = 11, .digits = 5),
    S(unit, "unit", "Of the rates: bytes/s or ops/s", .head = "Unit", .width = -7, .gap = 1),
    D(z, "z", "Robust score of the rate: distance of its logarithm to the median in units of 1.4826 MAD, or of 0.03 where that is more",
      .head = "Score", .width = 7, .prec = 1),
    I(round, "round", "In which it was measured last, from 0"),
    I(together, "together", "Nodes, pairs or ranks that worked at that time, at most", .head = "AtOnce",
      .width = 6, .gap = 1),
    S(outcome, "outcome", "slow; slow in a group, where it was not measured alone; cleared, where it was slow before; fine; not judged",
      .head = "Outcome", .width = -15, .gap = 1),
    S(host, "host", "Of its lowest rank", .head = "Host"),
    WEIR_COL_END
};

static const struct weir_table unit_table = { .key = "measured",
                                              .cols = unit_cols,
                                              .readers = WEIR_FOR_DATA,
                                              .in_line = -1 };

static const struct weir_table shown_table = {
    .key = "shown", .cols = unit_cols, .headed = true, .readers = WEIR_FOR_TEXT
};

struct round_row {
    int64_t round, turns, together, suspects;
};

static const struct weir_col round_cols[] = {
    COL_INT(struct round_row, round, "round", "From 0"),
    COL_INT(struct round_row, turns, "turns", "Groups that worked alone, one after the other"),
    COL_INT(struct round_row, together, "together", "Nodes, pairs or ranks in a group at most"),
    COL_INT(struct round_row, suspects, "suspects", "That are slow after it"),
    WEIR_COL_END
};

static const struct weir_table round_table = { .key = "rounds",
                                               .cols = round_cols,
                                               .readers = WEIR_FOR_DATA };

static const struct weir_sweep_result *result_of(const struct weir_sweep_table *t, int u, int k)
{
    return &t->field.of[u * t->field.ops + k];
}

static const char *outcome_of(const struct weir_sweep_result *r)
{
    if (isnan(r->score.z))
        return "not judged";
    if (r->suspect)
        return r->together > 1 ? "slow in a group" : "slow";
    return r->cleared ? "cleared" : "fine";
}

static struct row make_row(const struct weir_sweep_table *t, int u, int k)
{
    const struct weir_sweep_unit *unit = &t->unit[u];
    const struct weir_sweep_result *r = result_of(t, u, k);

    return (struct row) { .operation = t->op[k]->key,
                          .host = unit->host,
                          .outcome = outcome_of(r),
                          .unit = weir_sweep_moves_bytes(t->op[k]) ? "bytes/s" : "ops/s",
                          .number = u,
                          .rank = unit->rank,
                          .tasks = unit->tasks,
                          .round = r->round,
                          .together = r->together,
                          .rate = r->score.rate,
                          .joint = t->joint[u * t->field.ops + k],
                          .median = r->score.median,
                          .z = r->score.z };
}

/* ---- for people ---- */

static void show_row(struct weir_run *run, struct row row)
{
    if (row.unit[0] == 'b') {
        row.unit = "MiB/s";
        row.joint /= WEIR_MIB;
        row.rate /= WEIR_MIB;
        row.median /= WEIR_MIB;
    }
    weir_report_row(&run->report, &shown_table, &row);
}

static void show_table(struct weir_run *run, const struct weir_sweep_table *t)
{
    int left = 0;

    weir_report_piece(&run->report, "\n");
    weir_report_head(&run->report, &shown_table);
    for (int k = 0; k < t->field.ops; k++)
        for (int u = 0; u < t->field.units; u++) {
            const struct weir_sweep_result *r = result_of(t, u, k);

            if (t->field.units <= SHOWN || r->suspect || r->cleared)
                show_row(run, make_row(t, u, k));
            else
                left++;
        }
    if (left > 0)
        weir_report_line(&run->report, "(%d more rows of %s that were never slow)", left, t->by);
}

/* ---- names ---- */

static void note_slow(struct weir_run *run, const struct weir_sweep_table *t, int u)
{
    const char *word = t->by[0] == 'n' ? "node" : t->by[0] == 'p' ? "pair of nodes" : "rank";
    struct weir_str words = { 0 };
    const char *separator = "";

    for (int k = 0; k < t->field.ops; k++) {
        const struct weir_sweep_result *r = result_of(t, u, k);
        bool bytes = weir_sweep_moves_bytes(t->op[k]);

        if (!r->suspect)
            continue;
        weir_str_addf(&words, "%s%s %.4g %s where the median is %.4g%s", separator, t->op[k]->key,
                      r->score.rate / (bytes ? WEIR_MIB : 1), bytes ? "MiB/s" : "ops/s",
                      r->score.median / (bytes ? WEIR_MIB : 1),
                      r->together > 1 ? " (in a group)" : "");
        separator = "; ";
    }
    weir_note(&run->log, "--sweep: %s %d (host %s) is slow: %s", word, u, t->unit[u].host,
              weir_str_text(&words));
    weir_report_free(&run->report, &words);
}

/* Returns how many are slow. */
static int name_them(struct weir_run *run, const struct weir_sweep_table *t)
{
    int slow = 0, judged = 0;

    for (int u = 0; u < t->field.units; u++) {
        bool is_judged = false, is_slow = false;

        for (int k = 0; k < t->field.ops; k++) {
            is_judged |= !isnan(result_of(t, u, k)->score.z);
            is_slow |= result_of(t, u, k)->suspect;
        }
        judged += is_judged;
        if (is_slow && ++slow <= NOTES)
            note_slow(run, t, u);
    }
    if (slow > NOTES)
        weir_note(&run->log, "--sweep: %d more %s are slow", slow - NOTES, t->by);
    if (judged < t->field.units)
        weir_note(&run->log, "--sweep: %d of %d %s are not judged: a comparison needs at least %d "
                             "with the same number of ranks, and each must have work",
                             t->field.units - judged, t->field.units, t->by, WEIR_SWEEP_MIN);
    return slow;
}

void weir_sweep_report(struct weir_run *run, const struct weir_sweep_table *t)
{
    struct weir_report *r = &run->report;
    int slow = name_them(run, t);

    show_table(run, t);
    weir_report_line(r, "Slow: %d of %d %s", slow, t->field.units, t->by);
    weir_report_enter(r, "sweep", false);
    weir_report_str(r, WEIR_FOR_DATA, "by", t->by);
    weir_report_int(r, WEIR_FOR_DATA, "number", t->field.units);
    weir_report_int(r, WEIR_FOR_DATA, "slow", slow);
    weir_report_real(r, WEIR_FOR_DATA, "turnTime", t->turn_s);
    weir_report_real(r, WEIR_FOR_DATA, "time", t->seconds);
    for (int i = 0; i < t->rounds; i++) {
        struct round_row row = { i, t->round[i].turns, t->round[i].together, t->round[i].suspects };

        weir_report_row(r, &round_table, &row);
    }
    for (int k = 0; k < t->field.ops; k++)
        for (int u = 0; u < t->field.units; u++) {
            struct row row = make_row(t, u, k);

            weir_report_row(r, &unit_table, &row);
        }
    weir_report_leave(r);
}
