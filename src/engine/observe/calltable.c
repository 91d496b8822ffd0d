/* SPDX-License-Identifier: BSD-3-Clause */
/* calltable.c - when the operations of a phase ended, as a table of text
 *
 * A table has a column for each rank, or with plan.calls_by_node for each node, the mean of its
 * ranks. Row 0 is when their steps began, row k when operation k ended, in seconds after the zero
 * of the run, "%f" and a tab each; 0 where a rank has fewer. The program says where those of its
 * operations are (call_table in struct weir_driver); for others nothing is done here. */
#include "config.h"
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text/wholefile.h"
#include "engine/observe/all.h"
#include "engine/observe/gather.h"
#include "par/agree.h"

/* What rank 0 must know of a rank. */
struct column {
    int64_t begin_ns; /* of its first call */
    int node;
};

struct table {
    FILE *out;
    const struct column *column; /* of each rank */
    int nodes;                   /* 0: a column for each task */
    struct node {
        double sum;       /* of a row */
        int tasks, there; /* all, and those that have come as far as the row */
    } * node;
};

static void put_seconds(struct table *t, double seconds)
{
    fprintf(t->out, "%f\t", seconds);
}

/* The mean of each node whose tasks have all come as far. */
static void put_nodes(struct table *t, int ranks, const int64_t *ns)
{
    for (int n = 0; n < t->nodes; n++)
        t->node[n] = (struct node) { .sum = 0 };
    for (int i = 0; i < ranks; i++) {
        struct node *node = &t->node[t->column[i].node];

        node->tasks++;
        node->there += ns[i] != WEIR_NO_TIME;
        node->sum += ns[i] != WEIR_NO_TIME ? (double)ns[i] / WEIR_NS_PER_S : 0;
    }
    for (int n = 0; n < t->nodes; n++)
        put_seconds(t,
                    t->node[n].there == t->node[n].tasks ? t->node[n].sum / t->node[n].tasks : 0);
}

static void put_row(void *arg, const struct weir_records_row *row)
{
    struct table *t = arg;

    if (t->nodes)
        put_nodes(t, row->ranks, row->end_ns);
    for (int i = 0; !t->nodes && i < row->ranks; i++)
        put_seconds(t, row->end_ns[i] != WEIR_NO_TIME ? (double)row->end_ns[i] / WEIR_NS_PER_S : 0);
    fputc('\n', t->out);
}

/* Row 0: when the tasks began. Local; rank 0. */
static int begin_table(const struct weir_run *run, const char *path, bool by_node,
                       struct table *table, struct weir_err *err)
{
    struct weir_records_row row = { .ranks = run->par.size };
    int64_t *begin = calloc((size_t)row.ranks, sizeof(*begin));

    table->nodes = by_node ? run->par.nodes : 0;
    table->node = calloc((size_t)run->par.nodes, sizeof(*table->node));
    row.end_ns = begin;
    for (int i = 0; begin && i < row.ranks; i++)
        begin[i] = table->column[i].begin_ns;
    if (!begin || !table->node)
        weir_fail(err, WEIR_ESETUP, "memory for the table of %d tasks", row.ranks);
    else if (!(table->out = weir_open_now(path, "w")))
        weir_fail(err, WEIR_ESETUP, "open '%s' for the table of calls", path);
    else
        put_row(table, &row);
    free(begin);
    return table->out ? 0 : -1;
}

static int end_table(struct table *t, const char *path, struct weir_err *err)
{
    bool bad = t->out && ferror(t->out) != 0;

    free(t->node);
    if ((t->out && fclose(t->out) != 0) || bad)
        return weir_fail(err, WEIR_ESETUP, "write the table of calls to '%s'", path);
    return 0;
}

static int write_table(struct weir_run *run, const struct weir_phase_rec *rec, const char *path,
                       struct weir_err *err)
{
    const struct column mine = { weir_records_time(run, rec->mark[WEIR_MARK_WORK]), run->par.node };
    bool by_node = run->test->plan.calls_by_node && run->par.size > run->par.nodes;
    struct table table = { .out = NULL };
    void *all = NULL;
    int rc;

    if (weir_ranks_gather(run, &mine, sizeof(mine), &all, err) < 0)
        return -1;
    table.column = all;
    rc = weir_agree(&run->par, all ? begin_table(run, path, by_node, &table, err) : 0, err);
    if (rc == 0)
        rc = weir_records_rows(run, put_row, &table, err);
    if (end_table(&table, path, rc < 0 ? NULL : err) < 0)
        rc = -1;
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- where they are ---- */

static bool find_path(const struct weir_driver *d, const void *opt, int op, struct weir_str *path)
{
    weir_str_clear(path);
    if (d->call_table)
        d->call_table(opt, op, path);
    return path->len > 0;
}

static bool wanted(const struct weir_test *t)
{
    struct weir_str path = { 0 };
    bool any = false;

    for (int op = 0; t->driver->operations[op].key && !any; op++)
        any = find_path(t->driver, t->chosen, op, &path);
    weir_str_free(&path);
    return any;
}

static int add_file(struct weir_files *files, const char *operation, const struct weir_str *path,
                    struct weir_err *err)
{
    struct weir_str role = { 0 };
    const char *kept, *words;

    weir_str_addf(&role, "the table of calls (%s)", operation);
    words = weir_arena_strdup(files->arena, weir_str_text(&role), err);
    kept = weir_arena_strdup(files->arena, weir_str_text(path), err);
    weir_str_free(&role);
    return words && kept ? weir_files_add(files, words, kept, WEIR_FILE_WRITE, err) : -1;
}

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    const struct weir_driver *d = files->driver;
    struct weir_str path = { 0 };
    int rc = 0;

    for (int op = 0; d->operations[op].key && rc == 0; op++)
        if (find_path(d, o, op, &path))
            rc = add_file(files, d->operations[op].key, &path, err);
    weir_str_free(&path);
    return rc;
}

static int make_file(const char *path, struct weir_err *err)
{
    FILE *f = weir_open_now(path, "w");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the table of calls", path);
    fclose(f);
    return 0;
}

/* The files of all phases that the tests have, so that one that cannot be written is found before
 * the first test. Rank 0. */
static int make_files(const struct weir_test *tests, int n, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    for (int i = 0; i < n; i++)
        for (const struct weir_stage *s = tests[i].driver->stages; s && s->key && rc == 0; s++)
            if (s->phase && (!s->wanted || s->wanted(tests[i].state, s)) &&
                find_path(tests[i].driver, tests[i].chosen, s->index, &path))
                rc = make_file(weir_str_text(&path), err);
    weir_str_free(&path);
    return rc;
}

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    (void)state;
    return weir_agree(&run->world, run->world.rank == 0 ? make_files(tests, n, err) : 0, err);
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    const struct weir_test *t = run->test;
    struct weir_str path = { 0 };
    int rc = 0;

    (void)state;
    if (rec->failed || !rec->stage || (rec->stage->flags & WEIR_STAGE_UNTIMED))
        return 0;
    if (find_path(t->driver, t->chosen, rec->stage->index, &path))
        rc = write_table(run, rec, weir_str_text(&path), err);
    weir_str_free(&path);
    return rc;
}

const struct weir_observer weir_calltable = {
    .name = "calltable",
    .operations = true,
    .wanted = wanted,
    .check = check,
    .run_begin = run_begin,
    .after = after,
};
