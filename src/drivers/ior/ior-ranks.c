/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-ranks.c - the files of ranks and of operations */
#include "config.h"
#include "drivers/ior/ior.h"

#include <string.h>

#include "engine/ranks.h"
#include "par/agree.h"

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The first test that uses a path empties the file, later ones append to it. */
static bool is_first_use(const struct weir_test *tests, int i)
{
    for (int k = 0; k < i; k++)
        if (is_same(tests[k].plan.options->rank_csv, tests[i].plan.options->rank_csv))
            return false;
    return true;
}

static bool has_op_files(const struct weir_run *run, const struct weir_test *t)
{
    return t->plan.options->op_csv && run->world.rank < t->plan.tasks;
}

/* Repetitions for which earlier tests have files of the same names on this rank. */
static int shared_op_files(const struct weir_run *run, const struct weir_test *tests, int i)
{
    int most = 0;

    for (int k = 0; k < i; k++)
        if (has_op_files(run, &tests[k]) && has_op_files(run, &tests[i]) &&
            is_same(tests[k].plan.options->op_csv, tests[i].plan.options->op_csv) &&
            tests[k].plan.options->repetitions > most)
            most = tests[k].plan.options->repetitions;
    return most;
}

static int begin_op_file(const struct weir_run *run, const struct ior_test *t, int repetition,
                         struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc;

    if (repetition < t->op_files)
        return 0;
    ior_name_op_file(t->o, repetition, run->world.rank, &path);
    rc = weir_records_begin_file(weir_str_text(&path), err);
    weir_str_free(&path);
    return rc;
}

int ior_ranks_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < n && rc == 0; i++) {
        struct ior_test *t = ior_test_of(&tests[i]);

        t->op_files = shared_op_files(run, tests, i);
        if (run->world.rank == 0 && t->o->run.rank_csv && is_first_use(tests, i))
            rc = weir_ranks_begin_file(t->o->run.rank_csv, err);
        if (rc == 0 && has_op_files(run, &tests[i]))
            rc = begin_op_file(run, t, 0, err);
    }
    return weir_agree(&run->world, rc, err);
}

int ior_ranks_repetition(struct weir_run *run, const struct ior_test *t, struct weir_err *err)
{
    if (!t->o->run.op_csv || run->repetition == 0)
        return 0;
    return begin_op_file(run, t, run->repetition, err);
}

static int write_operations(struct weir_run *run, const struct ior_test *t,
                            const struct weir_phase_rec *rec, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc;

    ior_name_op_file(t->o, rec->repetition, run->par.rank, &path);
    rc = weir_records_append(run, rec, t->id, weir_str_text(&path), 0, err);
    weir_str_free(&path);
    return rc;
}

int ior_ranks_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                    struct weir_err *err)
{
    int rc = t->o->run.op_csv ? write_operations(run, t, rec, err) : 0;

    if (t->o->run.op_csv && weir_agree(&run->par, rc, err) < 0)
        return -1;
    return weir_ranks_phase(run, rec, t->id, t->o->run.rank_csv, t->o->outlier_s, err);
}
