/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - every operation of a phase: one store for all programs, kept in memory while the
 * phase runs, and written after it */
#ifndef WEIR_ENGINE_RECORDS_H
#define WEIR_ENGINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/intervals.h"
#include "base/str.h"

struct weir_run;
struct weir_phase_rec;

/* An operation without a place in a file, and a rank without an operation. */
#define WEIR_NO_OFFSET UINT64_MAX
#define WEIR_NO_TIME INT64_MIN

/* One operation. Times on the local clock, ns; file offset, or number of the item, or
 * WEIR_NO_OFFSET; bytes that were moved. op: its index in the operations of the program. error: its
 * errno, 0 when it was good. */
struct weir_record {
    uint64_t begin_ns, end_ns, off, len;
    uint16_t op;
    int32_t error;
};

/* When it began, ns after a time of the same clock; before it, less than 0. Local. */
static inline int64_t weir_record_after(const struct weir_record *r, uint64_t origin_ns)
{
    return (int64_t)(r->begin_ns - origin_ns);
}

/* The operations of this rank in the phase that runs, or that has just run. Release with
 * weir_records_free. */
struct weir_records {
    /* Of a test: set by the engine from the options before 'begin' of the program, which may set
     * 'wanted' on ranks whose operations it reads itself. The number of records that a phase may
     * have. */
    bool wanted;
    uint64_t limit;
    struct weir_intervals intervals; /* of the test, when they are asked for */
    /* Of a phase. */
    struct weir_record *rec;
    size_t n, cap;    /* that are there, that there is room for */
    size_t taken;     /* memory, in records */
    uint64_t dropped; /* operations for which there was no room */
};

/* Make room for 'steps' operations, r->limit at most, all pages touched; forget what was there.
 * Where r->wanted is false nothing is kept. Called by the engine before each phase. Local. Returns
 * 0, or -1 and err (WEIR_ESETUP). */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err);
void weir_records_free(struct weir_records *r);

/* Record one operation. Local, a few ns. */
static inline void weir_records_put(struct weir_records *r, const struct weir_record *one)
{
    if (__builtin_expect(!r->wanted && !r->intervals.bytes, 1))
        return;
    if (r->n < r->cap)
        r->rec[r->n++] = *one;
    else if (r->wanted)
        r->dropped++;
    if (r->intervals.bytes && one->error == 0)
        weir_intervals_add(&r->intervals, one->begin_ns, one->end_ns, one->len, 1);
}

/* So many operations that were good, one after the other, of which nobody asked for single ones
 * (r->wanted). Local, a few ns. */
static inline void weir_records_add_batch(struct weir_records *r, uint64_t begin_ns,
                                          uint64_t end_ns, uint64_t bytes, uint64_t ops)
{
    if (r->intervals.bytes && ops > 0)
        weir_intervals_add(&r->intervals, begin_ns, end_ns, bytes, ops);
}

/* One that was good. */
static inline void weir_records_add(struct weir_records *r, int op, uint64_t begin_ns,
                                    uint64_t end_ns, uint64_t off, uint64_t len)
{
    weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, len, (uint16_t)op, 0 });
}

/* One that has failed as err says, and moved nothing. */
void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err);

/* Make the file of this rank's operations, with nothing but the heading: time, runtime and tp as
 * IOR has them (seconds, seconds, bytes/s), then access, test, iter, rank, offset, bytes, begin_ns
 * and ns. Local. -1 and err (WEIR_ESETUP). */
int weir_records_begin_file(const char *path, struct weir_err *err);

/* Append the operations of the phase that has just run (run->records) to the file of this rank;
 * the column access has the key of each operation. size: what to say in the columns bytes and tp,
 * 0: the bytes that were moved. Local. -1 and err (WEIR_ESETUP). */
int weir_records_append(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                        const char *path, uint64_t size, struct weir_err *err);

/* Warn when the phase that has just run had more operations than there was room for. Local, the
 * same on all ranks. -1 and err when warnings are errors. */
int weir_records_check(const struct weir_run *run, const struct weir_phase_rec *rec,
                       struct weir_err *err);

/* ---- for programs that make something of the operations of a phase that has run ---- */

/* A time of a record on the common clock: ns after the zero of the run, which is the same for all
 * ranks and tests. Local. */
int64_t weir_records_time(const struct weir_run *run, uint64_t local_ns);

/* Operation number k of every rank: 'ranks' times at which they began and ended, as
 * weir_records_time has them, in the order of the ranks; WEIR_NO_TIME where a rank has fewer
 * records. */
struct weir_records_row {
    uint64_t k;
    int ranks;
    const int64_t *begin_ns, *end_ns;
};

/* Hand the operations of all ranks to 'each' on rank 0, row by row: k from 0 to the last one of the
 * rank with the most. Rank 0 needs memory for some MiB, or 48 bytes a rank where that is more.
 * Collective over run->par when all ranks have run->records.wanted. Returns 0, or -1 and err
 * (WEIR_ESETUP) on all ranks. */
int weir_records_rows(struct weir_run *run,
                      void (*each)(void *arg, const struct weir_records_row *row), void *arg,
                      struct weir_err *err);

/* Hand the operations of rank 0, or of all ranks one after the other, to 'each' on rank 0, some
 * hundred at a time. origin_ns: the beginning of the phase on the clock of the rank that recorded
 * them. Constant memory. Collective over run->par when all is set. */
void weir_records_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         void (*each)(void *arg, const struct weir_record *r, size_t n,
                                      uint64_t origin_ns),
                         void *arg);

/* Put lines into a file about single ranks: in place of what is there when 'fresh', else after it.
 * Local. -1 and err, also when lines have failed. */
int weir_rank_lines_put(const char *path, bool fresh, const struct weir_str *lines,
                        struct weir_err *err);

#endif
