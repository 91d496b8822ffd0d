/* SPDX-License-Identifier: BSD-3-Clause */
/* op-files.c - the files of operations: names, heading, and the operations of each phase */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/options/option.h"
#include "base/text/wholefile.h"
#include "engine/observe/all.h"
#include "par/agree.h"

/* ---- names ---- */

/* Return the number of files of a task. */
static uint64_t files_of_task(const struct weir_program *p, const struct weir_run_options *o)
{
    enum weir_op_files kind = weir_output_of(p)->op_files;

    if (kind == WEIR_OP_FILES_OPERATION)
        return (uint64_t)weir_operations_count(p);
    return kind == WEIR_OP_FILES_REPETITION ? (uint64_t)o->repetitions : 1;
}

/* File k of a task. */
static void name_file(const struct weir_program *p, const struct weir_run_options *o, uint64_t k,
                      int rank, struct weir_str *out)
{
    enum weir_op_files kind = weir_output_of(p)->op_files;

    weir_str_addf(out, "%s-", o->op_csv);
    if (kind == WEIR_OP_FILES_OPERATION)
        weir_str_addf(out, "%s-", p->operations[k].title);
    if (kind == WEIR_OP_FILES_REPETITION)
        weir_str_addf(out, "%d-", (int)k);
    weir_str_addf(out, "%05d.csv", rank);
}

/* The parts of the names of one test. */
struct namer {
    const struct weir_program *program;
    const struct weir_run_options *o;
    uint64_t tasks;
};

static void name_any_file(const void *arg, uint64_t i, struct weir_str *out)
{
    const struct namer *n = arg;

    name_file(n->program, n->o, i / n->tasks, (int)(i % n->tasks), out);
}

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    struct weir_file_names names = { .prefix = o->op_csv, .name = name_any_file };
    const struct weir_opt *row = files->rows;
    const char *role;
    struct namer *n;

    if (!o->op_csv || !*o->op_csv)
        return 0;
    while (row->type != WEIR_OPT_STR || row->offset != offsetof(struct weir_run_options, op_csv))
        row++;
    names.arg = n = weir_arena_alloc(files->arena, sizeof(*n), err);
    role = n ? weir_files_role(files, "", row, err) : NULL;
    if (!role)
        return -1;
    *n = (struct namer) {
        .program = files->program, .o = o, .tasks = (uint64_t)files->tasks
    };
    names.n = n->tasks * files_of_task(files->program, o);
    return weir_files_add_names(files, role, &names, WEIR_FILE_ADD, err);
}

/* ---- one file ---- */

static void print_record(const struct weir_run *run, FILE *f, const struct weir_record *r,
                         const struct weir_phase_rec *rec, uint64_t size)
{
    int64_t after_ns = weir_record_after(r, rec->mark[WEIR_MARK_WORK]);
    uint64_t ns = r->end_ns - r->begin_ns;
    uint64_t bytes = size ? size : r->len;
    double seconds = (double)(ns ? ns : 1) / WEIR_NS_PER_S;

    fprintf(f, "%.8e,%.8e,%e,%s,%d,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 "\n",
            (double)after_ns / WEIR_NS_PER_S, seconds, (double)bytes / seconds,
            run->test->program->operations[r->op].key, run->test->id, rec->repetition,
            run->par.rank, r->off, bytes, after_ns, ns);
}

/* Begin file k of a task with its heading, or with 'rec' append the operations of that phase. */
static int write_csv(const struct weir_run *run, const struct weir_test *t, uint64_t k, int rank,
                     const struct weir_phase_rec *rec, uint64_t size, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;
    FILE *f;

    name_file(t->program, t->plan.options, k, rank, &path);
    f = weir_open_now(weir_str_text(&path), rec ? "a" : "w");
    if (f && !rec)
        fputs("time,runtime,tp,access,test,iter,rank,offset,bytes,begin_ns,ns\n", f);
    for (size_t i = 0; f && rec && i < run->records.n; i++)
        print_record(run, f, &run->records.rec[i], rec, size);
    if (!f)
        rc = weir_fail(err, WEIR_ESETUP, "open '%s' for the times of operations",
                       weir_str_text(&path));
    else if (!weir_close_written(f))
        rc = weir_fail(err, WEIR_ESETUP, "write the times of operations to '%s'",
                       weir_str_text(&path));
    weir_str_free(&path);
    return rc;
}

/* ---- heading ---- */

static bool takes_part(const struct weir_run *run, const struct weir_test *t)
{
    return t->plan.options->op_csv && run->world.rank < t->plan.tasks;
}

/* The files that earlier tests have made under the same names on this rank: the first ones. */
static uint64_t made_before(const struct weir_run *run, const struct weir_test *tests, int i)
{
    const char *prefix = tests[i].plan.options->op_csv;
    uint64_t most = 0, n;

    for (int k = 0; k < i; k++) {
        n = files_of_task(tests[k].program, tests[k].plan.options);
        if (takes_part(run, &tests[k]) && strcmp(tests[k].plan.options->op_csv, prefix) == 0 &&
            n > most)
            most = n;
    }
    return most;
}

/* True when operation 'op' has a file; *size: the bytes that it gives for each operation. */
static bool is_recorded(const struct weir_test *t, int op, uint64_t *size)
{
    const struct weir_output *w = weir_output_of(t->program);

    *size = 0;
    return w->op_files != WEIR_OP_FILES_OPERATION || !w->records || w->records(t->state, op, size);
}

static int begin_file(const struct weir_run *run, const struct weir_test *t, uint64_t k,
                      struct weir_err *err)
{
    uint64_t size;

    if (k < t->op_files || !is_recorded(t, (int)k, &size))
        return 0;
    return write_csv(run, t, k, run->world.rank, NULL, 0, err);
}

/* The files of this rank, with nothing but their heading: those that must be found writable before
 * all tests. A file that an earlier test of the run makes is left as it is. */
static int begin_files(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    for (int i = 0; i < n; i++) {
        struct weir_test *t = &tests[i];
        bool each = weir_output_of(t->program)->op_files == WEIR_OP_FILES_OPERATION;
        uint64_t all = each ? (uint64_t)weir_operations_count(t->program) : 1;

        if (!takes_part(run, t))
            continue;
        t->op_files = made_before(run, tests, i);
        for (uint64_t k = 0; k < all; k++)
            if (begin_file(run, t, k, err) < 0)
                return -1;
    }
    return 0;
}

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    return weir_agree(&run->world, begin_files(run, tests, n, err), err);
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    run->records.wanted = true;
    return 0;
}

static int repetition(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_test *t = run->test;

    if (weir_output_of(t->program)->op_files != WEIR_OP_FILES_REPETITION || run->repetition == 0)
        return 0;
    return begin_file(run, t, (uint64_t)run->repetition, err);
}

/* ---- phases ---- */

/* Appends the operations of the phase of a stage. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    const struct weir_test *t = run->test;
    const bool each = weir_output_of(t->program)->op_files == WEIR_OP_FILES_OPERATION;
    uint64_t size;
    int rc;

    if (rec->failed || !rec->stage || (rec->stage->flags & WEIR_STAGE_UNTIMED) ||
        !is_recorded(t, rec->stage->index, &size))
        return 0;
    rc = write_csv(run, t, (uint64_t)(each ? rec->stage->index : rec->repetition), run->par.rank,
                   rec, size, err);
    return weir_agree(&run->par, rc, err);
}

const struct weir_observer weir_op_files = {
    .name = "op-files",
    .option = offsetof(struct weir_run_options, op_csv),
    .check = check,
    .run_begin = run_begin,
    .test_begin = test_begin,
    .repetition = repetition,
    .after = after,
};
