/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-ranks.c - what single ranks did: the CSV of ranks, the CSV of operations, and
 * --print-all-procs */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/op-files.h"
#include "engine/ranks.h"

/* ---- the CSV of ranks ---- */

void mdtest_rank_head(struct weir_str *out)
{
    weir_str_addf(out, "rank,items");
    for (int op = 0; op < MDTEST_OPS; op++)
        weir_str_addf(out, ",rate-%s,time-%s", mdtest_operations[op].title,
                      mdtest_operations[op].title);
    weir_str_addc(out, '\n');
}

static void add_cell(struct weir_str *line, bool known, double rate, double seconds)
{
    if (known)
        weir_str_addf(line, ",%.10e,%.10e", rate, seconds);
    else
        weir_str_addf(line, ",,");
}

/* An operation of the iteration that has just ended; those that were not run have nothing to
 * tell. */
static bool was_run(const struct mdtest_test *t, int op)
{
    return t->series[op].rate.n > 0;
}

static void add_lines(const struct weir_run *run, const void *test, const void *all,
                      struct weir_str *lines)
{
    const struct mdtest_test *t = test;
    const struct mdtest_mine *mine = all;

    weir_str_addf(lines, "all,%" PRIu64,
                  t->count[t->kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS]);
    for (int op = 0; op < MDTEST_OPS; op++) {
        const struct mdtest_series *s = &t->series[op];

        add_cell(lines, was_run(t, op), s->seconds > 0 ? s->items / s->seconds : 0, s->seconds);
    }
    weir_str_addc(lines, '\n');
    for (int rank = 0; rank < run->par.size; rank++, mine += MDTEST_OPS) {
        weir_str_addf(lines, "%d,", rank);
        for (int op = 0; op < MDTEST_TREE_CREATE; op++)
            add_cell(lines, was_run(t, op), mine[op].rate, mine[op].seconds);
        weir_str_addc(lines, '\n');
    }
}

int mdtest_ranks_iteration(struct weir_run *run, struct mdtest_test *t,
                           const struct mdtest_mine *mine, struct weir_err *err)
{
    return weir_ranks_rows(run, mine, sizeof(*mine) * MDTEST_OPS, add_lines, t, err);
}

/* ---- the CSV of operations ---- */

bool mdtest_records(const void *state, int op, uint64_t *size)
{
    const struct mdtest_test *t = state;
    const struct mdtest_options *o = t->o;
    int64_t bytes = op == MDTEST_FILE_READ ? o->read_bytes : o->write_bytes;

    *size = op == MDTEST_FILE_STAT || bytes == 0 ? 1 : (uint64_t)bytes;
    return t->kind[MDTEST_FILES] &&
           ((op == MDTEST_FILE_CREATE && o->create) || (op == MDTEST_FILE_STAT && o->stat) ||
            (op == MDTEST_FILE_READ && o->read) || (op == MDTEST_FILE_REMOVE && o->remove));
}

int mdtest_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    return weir_op_files_add(&weir_mdtest, opt, tasks, files, err);
}

/* ---- --print-all-procs ---- */

static void print_operation(struct weir_run *run, const struct mdtest_test *t, int iteration,
                            int op, bool times, double *all)
{
    const struct mdtest_mine *m = &t->mine[iteration * MDTEST_OPS + op];
    bool tree = op >= MDTEST_TREE_CREATE;
    double mine = tree ? 0 : times ? m->seconds : m->rate;
    struct weir_str line = { 0 };

    weir_gather(&run->par, &mine, sizeof(mine), all);
    weir_str_addf(&line, "Test %s", mdtest_operations[op].title);
    for (int rank = 0; all && rank < run->par.size; rank++)
        weir_str_addf(&line, "%c%e", rank ? ',' : ' ', all[rank]);
    weir_report_line(&run->report, "%s", weir_str_text(&line));
    weir_str_free(&line);
}

/* Each task keeps its own numbers; rank 0 sees those of one operation at a time. */
void mdtest_ranks_print(struct weir_run *run, const struct mdtest_test *t, bool times)
{
    double *all = run->par.rank == 0 ? malloc(sizeof(*all) * (size_t)run->par.size) : NULL;
    int first = t->kind[MDTEST_DIRS]    ? MDTEST_DIR_CREATE
                : t->kind[MDTEST_FILES] ? MDTEST_FILE_CREATE
                                        : MDTEST_TREE_CREATE;

    weir_report_line(&run->report, "\nPer process result (%s):", times ? "time" : "rate");
    for (int i = 0; i < t->o->run.repetitions; i++) {
        weir_report_line(&run->report, "iteration: %d", i);
        for (int op = first; op < MDTEST_OPS; op++)
            print_operation(run, t, i, op, times, all);
    }
    free(all);
}
