/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - every operation of a phase */
#include "config.h"
#include "engine/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/driver.h"
#include "par/reduce.h"

#define CHUNK 4096 /* records on their way from another rank to rank 0 */

int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < WEIR_RECORDS_MOST ? (size_t)steps : WEIR_RECORDS_MOST;
    void *room;

    r->n = 0;
    r->dropped = 0;
    if (cap <= r->cap && r->rec)
        return 0;
    weir_records_free(r);
    if (cap == 0)
        return 0;
    if (weir_mem_aligned(&room, 64, cap * sizeof(*r->rec), err) < 0)
        return -1;
    r->rec = room;
    r->cap = cap;
    return 0;
}

void weir_records_free(struct weir_records *r)
{
    free(r->rec);
    memset(r, 0, sizeof(*r));
}

/* ---- files ---- */

int weir_rank_lines_put(const char *path, bool fresh, const struct weir_str *lines,
                        struct weir_err *err)
{
    FILE *f = fopen(path, fresh ? "w" : "a");
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
    FILE *f = fopen(path, "w");

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
                         const struct weir_phase_rec *rec, int test)
{
    uint64_t ns = r->end_ns - r->begin_ns, origin_ns = rec->mark[WEIR_MARK_WORK];
    double seconds = (double)(ns ? ns : 1) / WEIR_NS_PER_S;

    fprintf(f, "%.8e,%.8e,%e,%s,%d,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            ((double)r->begin_ns - (double)origin_ns) / WEIR_NS_PER_S, seconds,
            (double)r->len / seconds, key_of(run, r), test, rec->repetition, run->par.rank, r->off,
            r->len, r->begin_ns - origin_ns, ns);
}

static int append(const struct weir_run *run, const struct weir_phase_rec *rec, int test,
                  const char *path, struct weir_err *err)
{
    FILE *f = fopen(path, "a");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the operations", path);
    for (size_t i = 0; i < run->records.n; i++)
        print_record(run, f, &run->records.rec[i], rec, test);
    return close_file(f, path, err);
}

int weir_records_append(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                        const char *path, struct weir_err *err)
{
    uint64_t all[2] = { run->records.n, run->records.dropped };
    int rc = append(run, rec, test, path, err);

    weir_allsum_u64(&run->par, all, 2);
    if (rc < 0 || all[1] == 0)
        return rc;
    return weir_warn(&run->log, err,
                     "savePerOpDataCSV has no room for all operations of the %s phase: %" PRIu64
                     " are in the files, %" PRIu64 " are not",
                     rec->phase->key, all[0], all[1]);
}

/* ---- from all ranks ---- */

/* The records of another rank reach rank 0, chunk by chunk. */
static void
fetch(struct weir_run *run, int from, uint64_t origin_ns,
      void (*each)(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns), void *arg)
{
    struct weir_record piece[CHUNK];
    uint64_t head[2] = { run->records.n, origin_ns };

    weir_fetch_bytes(&run->par, head, sizeof(head), from);
    for (uint64_t at = 0; at < head[0]; at += CHUNK) {
        size_t n = head[0] - at < CHUNK ? (size_t)(head[0] - at) : CHUNK;

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
