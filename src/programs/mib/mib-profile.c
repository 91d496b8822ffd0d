/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-profile.c - -p: when the calls of a phase ended, as a table of text.
 *
 * A table has a column for each task, or with -a for each node, the mean of its tasks. Row 0
 * has the times at which their steps began, row k those at which call k ended, in seconds after
 * the zero of the run. Each is "%f" and a tab; 0 where a task has fewer. */
#include "programs/mib/mib.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text/wholefile.h"
#include "engine/observe/gather.h"
#include "par/agree.h"

/* The facts of a rank that rank 0 must know. */
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

/* The mean of each node whose tasks have all come as far. The times of two neighbouring ranks are
 * 'apart' numbers from each other. */
static void put_nodes(struct table *t, int ranks, const int64_t *ns, size_t apart)
{
    for (int n = 0; n < t->nodes; n++)
        t->node[n] = (struct node) { .sum = 0 };
    for (int i = 0; i < ranks; i++, ns += apart) {
        struct node *node = &t->node[t->column[i].node];

        node->tasks++;
        node->there += *ns != WEIR_NO_TIME;
        node->sum += *ns != WEIR_NO_TIME ? (double)*ns / WEIR_NS_PER_S : 0;
    }
    for (int n = 0; n < t->nodes; n++)
        fprintf(t->out, "%f\t",
                t->node[n].there == t->node[n].tasks ? t->node[n].sum / t->node[n].tasks : 0);
}

static void put_row(struct table *t, int ranks, const int64_t *ns, size_t apart)
{
    if (t->nodes)
        put_nodes(t, ranks, ns, apart);
    for (int i = 0; !t->nodes && i < ranks; i++, ns += apart)
        fprintf(t->out, "%f\t", *ns != WEIR_NO_TIME ? (double)*ns / WEIR_NS_PER_S : 0);
    fputc('\n', t->out);
}

static FILE *open_table(const char *path, struct weir_err *err)
{
    FILE *f = weir_open_now(path, "w");

    if (!f)
        weir_fail(err, WEIR_ESETUP, "open '%s' for the table of calls", path);
    return f;
}

/* Row 0: when the tasks began. Local; rank 0. */
static int begin_table(const struct weir_run *run, const char *path, bool by_node,
                       struct table *table, struct weir_err *err)
{
    int ranks = run->par.size;
    int64_t *begin = calloc((size_t)ranks, sizeof(*begin));

    table->nodes = by_node ? run->par.nodes : 0;
    table->node = calloc((size_t)run->par.nodes, sizeof(*table->node));
    for (int i = 0; begin && table->column && i < ranks; i++)
        begin[i] = table->column[i].begin_ns;
    if (!begin || !table->column || !table->node)
        weir_fail(err, WEIR_ESETUP, "memory for the table of %d tasks", ranks);
    else if ((table->out = open_table(path, err)))
        put_row(table, ranks, begin, 1);
    free(begin);
    return table->out ? 0 : -1;
}

/* ---- the ends of calls, on their way to rank 0 ---- */

#define ROWS_MAX 4096
#define ROWS_BYTES ((size_t)4 << 20) /* on rank 0 */

/* Some rows: of this rank, and on rank 0 of all. */
struct rows {
    size_t max_rows; /* at a time */
    int64_t *mine, *all;
};

static int take_rows(const struct weir_run *run, struct rows *w, struct weir_err *err)
{
    size_t ranks = (size_t)run->par.size;

    w->max_rows = ROWS_BYTES / sizeof(*w->all) / ranks;
    w->max_rows = w->max_rows < 1 ? 1 : w->max_rows > ROWS_MAX ? ROWS_MAX : w->max_rows;
    w->mine = malloc(w->max_rows * sizeof(*w->mine));
    if (run->par.rank == 0)
        w->all = malloc(w->max_rows * ranks * sizeof(*w->all));
    if (!w->mine || (run->par.rank == 0 && !w->all))
        return weir_fail(err, WEIR_ESETUP, "memory for the operations of %d ranks", run->par.size);
    return 0;
}

/* n rows of all ranks. Collective. */
static void move_rows(struct weir_run *run, struct rows *w, uint64_t from, size_t n,
                      struct table *t)
{
    const struct weir_records *r = &run->records;

    for (size_t i = 0; i < n; i++)
        w->mine[i] = from + i < r->n ? weir_records_time(run, r->rec[from + i].end_ns)
                                     : WEIR_NO_TIME;
    weir_gather(&run->par, w->mine, n * sizeof(*w->mine), w->all);
    for (size_t i = 0; run->par.rank == 0 && i < n; i++)
        put_row(t, run->par.size, w->all + i, n);
}

/* Put a row for each call of the task with the most calls. Collective. */
static int put_rows(struct weir_run *run, struct table *t, struct weir_err *err)
{
    int64_t most = (int64_t)run->records.n;
    struct rows w = { 0 };
    int rc = weir_agree(&run->par, take_rows(run, &w, err), err);

    weir_allmax_i64(&run->par, &most, 1);
    for (uint64_t from = 0; rc == 0 && from < (uint64_t)most; from += w.max_rows) {
        uint64_t left = (uint64_t)most - from;

        move_rows(run, &w, from, left < w.max_rows ? (size_t)left : w.max_rows, t);
    }
    free(w.mine);
    free(w.all);
    return rc;
}

/* ---- a table ---- */

static int end_table(struct table *t, const char *path, struct weir_err *err)
{
    free(t->node);
    if (!weir_close_written(t->out))
        return weir_fail(err, WEIR_ESETUP, "write the table of calls to '%s'", path);
    return 0;
}

static int write_table(struct weir_run *run, const struct weir_phase_rec *rec, const char *path,
                       bool averages, struct weir_err *err)
{
    const struct column mine = { weir_records_time(run, rec->mark[WEIR_MARK_WORK]), run->par.node };
    bool by_node = averages && run->par.size > run->par.nodes;
    struct table table = { .out = NULL };
    bool is_root = run->par.rank == 0;
    void *all;
    int rc;

    table.column = all = weir_gather_new(&run->par, &mine, sizeof(mine));
    rc = weir_agree(&run->par, is_root ? begin_table(run, path, by_node, &table, err) : 0, err);
    if (rc == 0)
        rc = put_rows(run, &table, err);
    if (end_table(&table, path, rc < 0 ? NULL : err) < 0)
        rc = -1;
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- where they are ---- */

/* False: there is none. */
static bool name_profile(const struct mib_options *o, const char *phase, struct weir_str *path)
{
    weir_str_clear(path);
    if (o->profiles && *o->profiles)
        weir_str_addf(path, "%s.%s", o->profiles, phase);
    else if (o->profiles)
        weir_str_addf(path, "%s/%s.profile", o->log_dir, phase);
    return o->profiles != NULL;
}

static int add_file(struct weir_files *files, const char *operation, const struct weir_str *path,
                    struct weir_err *err)
{
    const char *words =
        weir_arena_textf(files->arena, err, "the table of calls (%s)", operation);
    const char *kept = weir_arena_strdup(files->arena, weir_str_text(path), err);

    return words && kept ? weir_files_add(files, words, kept, WEIR_FILE_WRITE, err) : -1;
}

int mib_profile_files(const struct mib_options *o, struct weir_files *files, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    for (const struct weir_stage *s = mib_stages; s->key && rc == 0; s++)
        if (name_profile(o, s->key, &path))
            rc = add_file(files, s->key, &path, err);
    weir_str_free(&path);
    return rc;
}

int mib_profile_begin(const struct mib_test *t, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    for (const struct weir_stage *s = mib_stages; s->key && rc == 0; s++) {
        FILE *f;

        if (!s->wanted(t, s) || !name_profile(t->o, s->key, &path))
            continue;
        f = open_table(weir_str_text(&path), err);
        if (f)
            fclose(f);
        rc = f ? 0 : -1;
    }
    weir_str_free(&path);
    return rc;
}

int mib_profile_phase(struct weir_run *run, const struct mib_test *t,
                      const struct weir_phase_rec *rec, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    if (name_profile(t->o, run->stage->key, &path))
        rc = write_table(run, rec, weir_str_text(&path), t->o->averages, err);
    weir_str_free(&path);
    return rc;
}
