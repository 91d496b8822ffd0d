/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-ranks.c - what single ranks did: the CSV of ranks, the CSV of operations, and
 * --print-all-procs */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "par/agree.h"

/* ---- the CSV of ranks ---- */

static int begin_rank_file(const char *path, struct weir_err *err)
{
    struct weir_str head = { 0 };
    int rc;

    weir_str_addf(&head, "rank,items");
    for (int op = 0; op < MDTEST_OPS; op++)
        weir_str_addf(&head, ",rate-%s,time-%s", mdtest_operations[op].title,
                      mdtest_operations[op].title);
    weir_str_addc(&head, '\n');
    rc = weir_rank_lines_put(path, true, &head, err);
    weir_str_free(&head);
    return rc;
}

static void name_op_file(const struct mdtest_options *o, enum mdtest_op op, int rank,
                         struct weir_str *out)
{
    weir_str_clear(out);
    weir_str_addf(out, "%s-%s-%05d.csv", o->run.op_csv, mdtest_operations[op].title, rank);
}

static void name_any_op_file(const void *opt, uint64_t i, struct weir_str *out)
{
    name_op_file(opt, (enum mdtest_op)(i % MDTEST_OPS), (int)(i / MDTEST_OPS), out);
}

int mdtest_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct mdtest_options *o = opt;
    const struct weir_file_names names = { .prefix = o->run.op_csv,
                                           .n = (uint64_t)tasks * MDTEST_OPS,
                                           .name = name_any_op_file,
                                           .arg = o };

    if (!o->run.op_csv || !*o->run.op_csv)
        return 0;
    return weir_files_add_names(files, "--savePerOpDataCSV", &names, WEIR_FILE_WRITE, err);
}

static bool has_operations(const struct mdtest_test *t, enum mdtest_op op)
{
    const struct mdtest_options *o = t->o;

    return t->kind[MDTEST_FILES] &&
           ((op == MDTEST_FILE_CREATE && o->create) || (op == MDTEST_FILE_STAT && o->stat) ||
            (op == MDTEST_FILE_READ && o->read) || (op == MDTEST_FILE_REMOVE && o->remove));
}

int mdtest_ranks_begin(struct weir_run *run, const struct mdtest_test *t, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    if (run->world.rank == 0 && t->o->run.rank_csv)
        rc = begin_rank_file(t->o->run.rank_csv, err);
    for (int op = 0; op < MDTEST_OPS && rc == 0 && t->o->run.op_csv; op++) {
        if (!has_operations(t, (enum mdtest_op)op))
            continue;
        name_op_file(t->o, (enum mdtest_op)op, run->world.rank, &path);
        rc = weir_records_begin_file(weir_str_text(&path), err);
    }
    weir_str_free(&path);
    return weir_agree(&run->world, rc, err);
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

static void add_lines(const struct weir_run *run, const struct mdtest_test *t,
                      const struct mdtest_mine *all, struct weir_str *lines)
{
    uint64_t items = t->count[t->kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS];

    weir_str_addf(lines, "all,%" PRIu64, items);
    for (int op = 0; op < MDTEST_OPS; op++) {
        const struct mdtest_series *s = &t->series[op];

        add_cell(lines, was_run(t, op), s->seconds > 0 ? s->items / s->seconds : 0, s->seconds);
    }
    weir_str_addc(lines, '\n');
    for (int rank = 0; rank < run->par.size; rank++) {
        weir_str_addf(lines, "%d,", rank);
        for (int op = 0; op < MDTEST_TREE_CREATE; op++)
            add_cell(lines, was_run(t, op), all[rank * MDTEST_OPS + op].rate,
                     all[rank * MDTEST_OPS + op].seconds);
        weir_str_addc(lines, '\n');
    }
}

int mdtest_ranks_iteration(struct weir_run *run, struct mdtest_test *t,
                           const struct mdtest_mine *mine, struct weir_err *err)
{
    size_t each = sizeof(*mine) * MDTEST_OPS;
    struct weir_str lines = { 0 };
    struct mdtest_mine *all = NULL;
    int rc = 0;

    if (!t->o->run.rank_csv)
        return 0;
    if (run->par.rank == 0 && !(all = malloc(each * (size_t)run->par.size)))
        rc = weir_fail(err, WEIR_ESETUP, "hold the times of %d ranks", run->par.size);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_gather(&run->par, mine, each, all);
    if (all) {
        add_lines(run, t, all, &lines);
        rc = weir_rank_lines_put(t->o->run.rank_csv, false, &lines, err);
    }
    weir_str_free(&lines);
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- the CSV of operations ---- */

/* Bytes of an operation on files, 1 where there are none. */
static uint64_t size_of_op(const struct mdtest_test *t)
{
    uint64_t n =
        t->op == MDTEST_FILE_READ ? (uint64_t)t->o->read_bytes : (uint64_t)t->o->write_bytes;

    return t->op == MDTEST_FILE_STAT || n == 0 ? 1 : n;
}

int mdtest_ranks_operations(struct weir_run *run, struct mdtest_test *t,
                            const struct weir_phase_rec *rec, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc;

    if (!t->o->run.op_csv || !has_operations(t, t->op))
        return 0;
    name_op_file(t->o, t->op, run->par.rank, &path);
    rc = weir_records_append(run, rec, t->id, weir_str_text(&path), size_of_op(t), err);
    weir_str_free(&path);
    return weir_agree(&run->par, rc, err);
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
