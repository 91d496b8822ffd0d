/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - every operation of a phase */
#include "config.h"
#include "engine/records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/wholefile.h"
#include "engine/driver.h"
#include "par/agree.h"
#include "par/reduce.h"

#define CHUNK 4096 /* rows on their way from another rank to rank 0 */
#define PIECE 256  /* records on their way, on the stack */

/* The phase forgets what was there; memory is kept for the next one. */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < r->limit ? (size_t)steps : (size_t)r->limit;
    void *room;

    r->n = r->cap = 0;
    r->dropped = 0;
    if (!r->wanted || cap == 0)
        return 0;
    if (cap > r->taken) {
        free(r->rec);
        r->rec = NULL;
        r->taken = 0;
        if (weir_mem_aligned(&room, 64, cap * sizeof(*r->rec), err) < 0)
            return weir_err_within(err, "records of %zu operations", cap);
        r->rec = room;
        r->taken = cap;
    }
    r->cap = cap;
    return 0;
}

void weir_records_free(struct weir_records *r)
{
    free(r->rec);
    weir_intervals_free(&r->intervals);
    memset(r, 0, sizeof(*r));
}

void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err)
{
    weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, 0, (uint16_t)op,
                                                err->sys ? err->sys : EIO });
}

/* ---- files ---- */

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

/* The end of a file that was opened: did everything reach it? */
static int close_file(FILE *f, const char *path, struct weir_err *err)
{
    bool bad = ferror(f) != 0;

    if (fclose(f) != 0 || bad)
        return weir_fail(err, WEIR_ESETUP, "write the operations to '%s'", path);
    return 0;
}

int weir_records_begin_file(const char *path, struct weir_err *err)
{
    FILE *f = weir_open_now(path, "w");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the operations", path);
    fputs("time,runtime,tp,access,test,iter,rank,offset,bytes,begin_ns,ns\n", f);
    return close_file(f, path, err);
}

static const char *key_of(const struct weir_run *run, const struct weir_record *r)
{
    return run->test->driver->operations[r->op].key;
}

static void print_record(const struct weir_run *run, FILE *f, const struct weir_record *r,
                         const struct weir_phase_rec *rec, int test, uint64_t size)
{
    int64_t after_ns = weir_record_after(r, rec->mark[WEIR_MARK_WORK]);
    uint64_t ns = r->end_ns - r->begin_ns;
    uint64_t bytes = size ? size : r->len;
    double seconds = (double)(ns ? ns : 1) / WEIR_NS_PER_S;

    fprintf(f, "%.8e,%.8e,%e,%s,%d,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 "\n",
            (double)after_ns / WEIR_NS_PER_S, seconds,
            (double)bytes / seconds, key_of(run, r), test, rec->repetition, run->par.rank, r->off,
            bytes, after_ns, ns);
}

int weir_records_append(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                        const char *path, uint64_t size, struct weir_err *err)
{
    FILE *f = weir_open_now(path, "a");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the operations", path);
    for (size_t i = 0; i < run->records.n; i++)
        print_record(run, f, &run->records.rec[i], rec, test, size);
    return close_file(f, path, err);
}

int weir_records_check(const struct weir_run *run, const struct weir_phase_rec *rec,
                       struct weir_err *err)
{
    if (rec->dropped_sum == 0)
        return 0;
    return weir_warn(&run->log, err,
                     "there is no room for all operations of the %s phase: %" PRIu64
                     " are recorded, %" PRIu64 " are not; --timeline-limit gives each task more",
                     rec->phase->key, rec->records_sum, rec->dropped_sum);
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
    return weir_clock_common(&run->clock, local_ns) - run->zero_ns;
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
