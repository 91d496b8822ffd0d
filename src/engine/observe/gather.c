/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - what every rank has, on rank 0: numbers, lines and the operations of a phase */
#include "config.h"
#include "engine/observe/gather.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/wholefile.h"
#include "par/agree.h"
#include "par/reduce.h"

#define CHUNK 4096 /* rows on their way from another rank to rank 0 */
#define PIECE 256  /* records on their way, on the stack */

/* ---- numbers and lines ---- */

int weir_rank_lines_put(const char *path, bool fresh, const struct weir_str *lines,
                        struct weir_err *err)
{
    FILE *f = weir_open_now(path, fresh ? "w" : "a");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the ranks", path);
    bad = fputs(weir_str_text(lines), f) == EOF;
    if (fclose(f) != 0 || bad || lines->failed)
        return weir_fail(err, WEIR_ESETUP, "write the ranks to '%s'", path);
    return 0;
}

int weir_ranks_gather(struct weir_run *run, const void *mine, size_t size, void **all,
                      struct weir_err *err)
{
    int rc = 0;

    *all = NULL;
    if (run->par.rank == 0 && !(*all = malloc(size * (size_t)run->par.size)))
        rc = weir_fail(err, WEIR_ESETUP, "memory for the times of %d ranks", run->par.size);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_gather(&run->par, mine, size, *all);
    return 0;
}

int weir_ranks_stats(struct weir_run *run, double mine, struct weir_stats *out,
                     struct weir_err *err)
{
    void *all;

    *out = (struct weir_stats) { 0 };
    if (weir_ranks_gather(run, &mine, sizeof(mine), &all, err) < 0)
        return -1;
    for (const double *v = all; all && v < (double *)all + run->par.size; v++)
        if (!isnan(*v))
            weir_stats_add(out, *v);
    free(all);
    return 0;
}

void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine)
{
    uint64_t total = mine->len;
    char *all = NULL;
    int64_t got[2]; /* room for the lines; lines are missing */
    int n;

    weir_allsum_u64(&run->par, &total, 1);
    if (run->par.rank == 0 && total < INT_MAX)
        all = malloc(total + 1);
    got[0] = all ? (int64_t)total : 0; /* nobody reads 2 GiB of them */
    got[1] = mine->failed || (run->par.rank == 0 && total < INT_MAX && !all);
    weir_allmax_i64(&run->par, got, 2);
    run->report.lost |= got[1] != 0;
    n = weir_collect(&run->par, weir_str_text(mine), (int)mine->len, 1, (int)got[0], all);
    if (n > 0) {
        all[n - 1] = '\0'; /* in place of the last newline */
        weir_report_line(&run->report, "%s", all);
    }
    free(all);
}

int weir_ranks_rows(struct weir_run *run, const void *mine, size_t size,
                    void (*add)(const struct weir_run *run, const void *arg, const void *all,
                                struct weir_str *lines),
                    const void *arg, struct weir_err *err)
{
    const char *path = run->test->plan.options->rank_csv;
    struct weir_str lines = { 0 };
    void *all;
    int rc = 0;

    if (!path)
        return 0;
    if (weir_ranks_gather(run, mine, size, &all, err) < 0)
        return -1;
    if (all) {
        add(run, arg, all, &lines);
        rc = weir_rank_lines_put(path, false, &lines, err);
    }
    weir_str_free(&lines);
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- from all ranks ---- */

/* The records of another rank reach rank 0, chunk by chunk. */
static void
fetch(struct weir_run *run, int from, uint64_t origin_ns,
      void (*each)(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns), void *arg)
{
    struct weir_record piece[PIECE];
    uint64_t head[2] = { run->records.n, origin_ns };

    weir_fetch_bytes(&run->par, head, sizeof(head), from);
    for (uint64_t at = 0; at < head[0]; at += PIECE) {
        size_t n = head[0] - at < PIECE ? (size_t)(head[0] - at) : PIECE;

        if (run->par.rank == from)
            memcpy(piece, run->records.rec + at, n * sizeof(*piece));
        weir_fetch_bytes(&run->par, piece, n * sizeof(*piece), from);
        if (run->par.rank == 0)
            each(arg, piece, n, head[1]);
    }
}

void weir_records_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         void (*each)(void *arg, const struct weir_record *r, size_t n,
                                      uint64_t origin_ns),
                         void *arg)
{
    uint64_t origin_ns = rec->mark[WEIR_MARK_WORK];

    if (run->par.rank == 0)
        each(arg, run->records.rec, run->records.n, origin_ns);
    for (int k = 1; all && k < run->par.size; k++)
        if (run->par.rank == 0 || run->par.rank == k)
            fetch(run, k, origin_ns, each, arg);
}

/* ---- row by row ---- */

int64_t weir_records_time(const struct weir_run *run, uint64_t local_ns)
{
    return weir_clock_common(&run->clock, local_ns) - run->records.zero_ns;
}

#define ROWS_BYTES ((size_t)4 << 20) /* on rank 0, of the rows that are on their way */

/* Begin and end of an operation, as they travel. */
struct span {
    int64_t begin_ns, end_ns;
};

/* Some rows on their way: of this rank, on rank 0 of all, and there one row as it is shown. */
struct rows {
    size_t most; /* rows at a time */
    struct span *mine, *all;
    int64_t *shown;
};

static int take_rows(const struct weir_run *run, struct rows *w, struct weir_err *err)
{
    size_t ranks = (size_t)run->par.size;

    w->most = ROWS_BYTES / sizeof(*w->all) / ranks;
    w->most = w->most < 1 ? 1 : w->most > CHUNK ? CHUNK : w->most;
    w->mine = malloc(w->most * sizeof(*w->mine));
    if (run->par.rank == 0) {
        w->all = malloc(w->most * ranks * sizeof(*w->all));
        w->shown = malloc(2 * ranks * sizeof(*w->shown));
    }
    if (!w->mine || (run->par.rank == 0 && (!w->all || !w->shown)))
        return weir_fail(err, WEIR_ESETUP, "memory for the operations of %d ranks", run->par.size);
    return 0;
}

static void free_rows(struct rows *w)
{
    free(w->mine);
    free(w->all);
    free(w->shown);
}

static void fill_rows(const struct weir_run *run, struct rows *w, uint64_t from, size_t n)
{
    const struct weir_records *r = &run->records;

    for (size_t i = 0; i < n; i++) {
        bool has = from + i < r->n;

        w->mine[i] = (struct span) { WEIR_NO_TIME, WEIR_NO_TIME };
        if (has)
            w->mine[i] = (struct span) { weir_records_time(run, r->rec[from + i].begin_ns),
                                         weir_records_time(run, r->rec[from + i].end_ns) };
    }
}

/* Rank 0: the rows that have come, n of each rank. */
static void show_rows(const struct weir_run *run, struct rows *w, uint64_t from, size_t n,
                      void (*each)(void *arg, const struct weir_records_row *row), void *arg)
{
    size_t ranks = (size_t)run->par.size;
    struct weir_records_row row = { .ranks = run->par.size,
                                    .begin_ns = w->shown,
                                    .end_ns = w->shown + ranks };

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ranks; k++) {
            w->shown[k] = w->all[k * n + i].begin_ns;
            w->shown[ranks + k] = w->all[k * n + i].end_ns;
        }
        row.k = from + i;
        each(arg, &row);
    }
}

int weir_records_rows(struct weir_run *run,
                      void (*each)(void *arg, const struct weir_records_row *row), void *arg,
                      struct weir_err *err)
{
    int64_t most = (int64_t)run->records.n;
    struct rows w = { 0 };
    int rc = weir_agree(&run->par, take_rows(run, &w, err), err);

    weir_allmax_i64(&run->par, &most, 1);
    for (uint64_t from = 0; rc == 0 && from < (uint64_t)most; from += w.most) {
        size_t n = (uint64_t)most - from < w.most ? (size_t)((uint64_t)most - from) : w.most;

        fill_rows(run, &w, from, n);
        weir_gather(&run->par, w.mine, n * sizeof(*w.mine), w.all);
        if (run->par.rank == 0)
            show_rows(run, &w, from, n, each, arg);
    }
    free_rows(&w);
    return rc;
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
    struct gathered g = { .ops = weir_operations_count(run->program) };
    int rc = 0;

    if (g.ops > GATHERED_MOST)
        return weir_refuse(err, WEIR_EBUG, "files for more than %d operations", GATHERED_MOST);
    if (run->par.rank == 0)
        rc = open_gathered(&g, name, arg, err);
    weir_records_gather(run, rec, all, write_gathered, &g);
    return weir_agree(&run->par, close_gathered(&g, rc, err), err);
}
