/* SPDX-License-Identifier: BSD-3-Clause */
/* op-files.c - the files of operations: names, heading, and the operations of each phase; and
 * files with names of the program */
#include "config.h"
#include "engine/observe/op-files.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/options/option.h"
#include "base/text/wholefile.h"
#include "engine/observe/latency.h"
#include "par/agree.h"

/* ---- names ---- */

/* How many files a task has. */
static uint64_t files_of_task(const struct weir_driver *d, const struct weir_run_options *o)
{
    if (d->op_files == WEIR_OP_FILES_OPERATION)
        return (uint64_t)weir_operations_count(d);
    return d->op_files == WEIR_OP_FILES_REPETITION ? (uint64_t)o->repetitions : 1;
}

/* File k of a task. */
static void name_file(const struct weir_driver *d, const struct weir_run_options *o, uint64_t k,
                      int rank, struct weir_str *out)
{
    weir_str_addf(out, "%s-", o->op_csv);
    if (d->op_files == WEIR_OP_FILES_OPERATION)
        weir_str_addf(out, "%s-", d->operations[k].title);
    if (d->op_files == WEIR_OP_FILES_REPETITION)
        weir_str_addf(out, "%d-", (int)k);
    weir_str_addf(out, "%05d.csv", rank);
}

/* What the names of one test are made of. */
struct namer {
    const struct weir_driver *driver;
    const struct weir_run_options *o;
    uint64_t tasks;
};

static void name_any_file(const void *arg, uint64_t i, struct weir_str *out)
{
    const struct namer *n = arg;

    name_file(n->driver, n->o, i / n->tasks, (int)(i % n->tasks), out);
}

/* How messages call the option: the long name of the program's row, or the key that all know. */
static const char *role_of(const struct weir_driver *d, struct weir_files *files,
                           struct weir_err *err)
{
    struct weir_str text = { 0 };
    const char *role = "savePerOpDataCSV";

    for (const struct weir_opt *row = d->opts; row && !weir_opt_is_end(row); row++)
        if (row->name && row->type == WEIR_OPT_STR &&
            row->offset == offsetof(struct weir_run_options, op_csv)) {
            weir_str_addf(&text, "--%s", row->name);
            role = weir_arena_strndup(files->arena, weir_str_text(&text), text.len, err);
        }
    weir_str_free(&text);
    return role;
}

int weir_op_files_add(const struct weir_driver *d, const void *opt, int tasks,
                      struct weir_files *files, struct weir_err *err)
{
    const struct weir_run_options *o = opt;
    struct weir_file_names names = { .prefix = o->op_csv, .name = name_any_file };
    const char *role;
    struct namer *n;

    if (!o->op_csv || !*o->op_csv)
        return 0;
    names.arg = n = weir_arena_alloc(files->arena, sizeof(*n), err);
    role = n ? role_of(d, files, err) : NULL;
    if (!role)
        return -1;
    *n = (struct namer) { .driver = d, .o = o, .tasks = (uint64_t)tasks };
    names.n = n->tasks * files_of_task(d, o);
    return weir_files_add_names(files, role, &names, WEIR_FILE_ADD, err);
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
        n = files_of_task(tests[k].driver, tests[k].plan.options);
        if (takes_part(run, &tests[k]) && strcmp(tests[k].plan.options->op_csv, prefix) == 0 &&
            n > most)
            most = n;
    }
    return most;
}

/* Has operation 'op' a file, and which bytes does it give for each operation? */
static bool is_recorded(const struct weir_test *t, int op, uint64_t *size)
{
    const struct weir_driver *d = t->driver;

    *size = 0;
    return d->op_files != WEIR_OP_FILES_OPERATION || !d->records || d->records(t->state, op, size);
}

static int begin_file(const struct weir_run *run, const struct weir_test *t, uint64_t k,
                      struct weir_err *err)
{
    struct weir_str path = { 0 };
    uint64_t size;
    int rc;

    if (k < t->op_files || !is_recorded(t, (int)k, &size))
        return 0;
    name_file(t->driver, t->plan.options, k, run->world.rank, &path);
    rc = weir_records_begin_file(weir_str_text(&path), err);
    weir_str_free(&path);
    return rc;
}

int weir_op_files_begin(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    for (int i = 0; i < n; i++) {
        struct weir_test *t = &tests[i];
        bool each = t->driver->op_files == WEIR_OP_FILES_OPERATION;
        uint64_t all = each ? (uint64_t)weir_operations_count(t->driver) : 1;

        if (!takes_part(run, t))
            continue;
        t->op_files = made_before(run, tests, i);
        for (uint64_t k = 0; k < all; k++)
            if (begin_file(run, t, k, err) < 0)
                return -1;
    }
    return 0;
}

int weir_op_files_repetition(struct weir_run *run, struct weir_err *err)
{
    const struct weir_test *t = run->test;

    if (t->driver->op_files != WEIR_OP_FILES_REPETITION || !t->plan.options->op_csv ||
        run->repetition == 0)
        return 0;
    return begin_file(run, t, (uint64_t)run->repetition, err);
}

/* ---- phases ---- */

int weir_op_files_phase(struct weir_run *run, const struct weir_phase_rec *rec,
                        struct weir_err *err)
{
    const struct weir_test *t = run->test;
    const bool each = t->driver->op_files == WEIR_OP_FILES_OPERATION;
    struct weir_str path = { 0 };
    uint64_t size;
    int rc;

    if (!t->plan.options->op_csv || !is_recorded(t, run->stage->index, &size))
        return 0;
    name_file(t->driver, t->plan.options, (uint64_t)(each ? run->stage->index : rec->repetition),
              run->par.rank, &path);
    rc = weir_records_append(run, rec, t->id, weir_str_text(&path), size, err);
    weir_str_free(&path);
    return weir_agree(&run->par, rc, err);
}

/* ---- the operations of a phase in files of the program ---- */

#define GATHERED_MOST 16 /* operations of such a program */

/* A file for each operation that has one, on rank 0. */
struct gathered {
    FILE *out[GATHERED_MOST];
    struct weir_str path[GATHERED_MOST];
    int ops;
};

static int open_gathered(struct gathered *g,
                         bool (*name)(const void *arg, int op, struct weir_str *path),
                         const void *arg, struct weir_err *err)
{
    for (int op = 0; op < g->ops; op++) {
        const char *path;

        if (!name(arg, op, &g->path[op]))
            continue;
        path = weir_str_text(&g->path[op]);
        if (!(g->out[op] = weir_open_now(path, "w")))
            return weir_fail(err, WEIR_ESETUP, "create file of operations '%s'", path);
        fputs("time,runtime\n", g->out[op]);
    }
    return 0;
}

/* Sort the records into the files of their operations. */
static void write_gathered(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns)
{
    const struct gathered *g = arg;

    for (size_t i = 0; i < n; i++)
        if (r[i].op < g->ops && g->out[r[i].op])
            fprintf(g->out[r[i].op], "%.7f,%.4e\n",
                    (double)weir_record_after(&r[i], origin_ns) / WEIR_NS_PER_S,
                    (double)(r[i].end_ns - r[i].begin_ns) / WEIR_NS_PER_S);
}

static int close_gathered(struct gathered *g, int rc, struct weir_err *err)
{
    for (int op = 0; op < g->ops; op++) {
        bool bad = g->out[op] && ferror(g->out[op]);

        if (g->out[op] && (fclose(g->out[op]) != 0 || bad) && rc == 0)
            rc = weir_fail(err, WEIR_ESETUP, "write file of operations '%s'",
                           weir_str_text(&g->path[op]));
        weir_str_free(&g->path[op]);
    }
    return rc;
}

int weir_op_files_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         bool (*name)(const void *arg, int op, struct weir_str *path),
                         const void *arg, struct weir_err *err)
{
    struct gathered g = { .ops = weir_operations_count(run->driver) };
    int rc = 0;

    if (g.ops > GATHERED_MOST)
        return weir_refuse(err, WEIR_EBUG, "files for more than %d operations", GATHERED_MOST);
    if (run->par.rank == 0)
        rc = open_gathered(&g, name, arg, err);
    weir_records_gather(run, rec, all, write_gathered, &g);
    return weir_agree(&run->par, close_gathered(&g, rc, err), err);
}
