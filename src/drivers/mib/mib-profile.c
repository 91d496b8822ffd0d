/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-profile.c - tables of the times at which calls returned: a row for each call, a column for each
 * task or node */
#include "config.h"
#include "drivers/mib/mib.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/ranks.h"
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

void mib_profile_path(const struct mib_options *o, enum weir_dir dir, struct weir_str *out)
{
    const char *phase = dir == WEIR_DIR_WRITE ? "write" : "read";

    if (o->profiles && *o->profiles)
        weir_str_addf(out, "%s.%s", o->profiles, phase);
    else if (o->profiles)
        weir_str_addf(out, "%s/%s.profile", o->log_dir, phase);
}

static FILE *make(const struct mib_options *o, enum weir_dir dir, struct weir_err *err)
{
    struct weir_str path = { 0 };
    FILE *f;

    mib_profile_path(o, dir, &path);
    f = fopen(weir_str_text(&path), "w");
    if (!f)
        weir_fail(err, WEIR_ESETUP, "open '%s' for the profile", weir_str_text(&path));
    weir_str_free(&path);
    return f;
}

int mib_profile_begin(const struct mib_options *o, struct weir_err *err)
{
    const bool skip[] = { o->read_only && !o->write_only, o->write_only && !o->read_only };

    for (int dir = WEIR_DIR_WRITE; o->profiles && dir <= WEIR_DIR_READ; dir++) {
        FILE *f = skip[dir] ? NULL : make(o, (enum weir_dir)dir, err);

        if (f)
            fclose(f);
        else if (!skip[dir])
            return -1;
    }
    return 0;
}

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
static int begin_table(struct weir_run *run, const struct mib_test *t, struct table *table,
                       struct weir_err *err)
{
    struct weir_records_row row = { .ranks = run->par.size };
    int64_t *begin = calloc((size_t)row.ranks, sizeof(*begin));

    table->nodes = t->o->averages && run->par.size > run->par.nodes ? run->par.nodes : 0;
    table->node = calloc((size_t)run->par.nodes, sizeof(*table->node));
    row.end_ns = begin;
    for (int i = 0; begin && i < row.ranks; i++)
        begin[i] = table->column[i].begin_ns;
    if (!begin || !table->node)
        weir_fail(err, WEIR_ESETUP, "hold the profile of %d tasks", row.ranks);
    else if ((table->out = make(t->o, (enum weir_dir)run->stage->index, err)))
        put_row(table, &row);
    free(begin);
    return table->out ? 0 : -1;
}

static int end_table(struct table *t, struct weir_err *err)
{
    bool bad = t->out && ferror(t->out) != 0;

    free(t->node);
    if ((t->out && fclose(t->out) != 0) || bad)
        return weir_fail(err, WEIR_ESETUP, "write the profile");
    return 0;
}

int mib_profile_write(struct weir_run *run, const struct mib_test *t,
                      const struct weir_phase_rec *rec, struct weir_err *err)
{
    const struct column mine = { weir_records_time(run, rec->mark[WEIR_MARK_WORK]), run->par.node };
    struct table table = { .out = NULL };
    void *all = NULL;
    int rc;

    if (weir_ranks_gather(run, &mine, sizeof(mine), &all, err) < 0)
        return -1;
    table.column = all;
    rc = weir_agree(&run->par, all ? begin_table(run, t, &table, err) : 0, err);
    if (rc == 0)
        rc = weir_records_rows(run, put_row, &table, err);
    if (end_table(&table, rc < 0 ? NULL : err) < 0)
        rc = -1;
    free(all);
    return weir_agree(&run->par, rc, err);
}
