/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - every operation of a phase: one store for all programs, kept in memory while the
 * phase runs, and written after it */
#ifndef WEIR_ENGINE_RECORDS_H
#define WEIR_ENGINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "base/intervals.h"
#include "engine/picks.h"
#include "engine/record.h"

/* The operations of this rank in the phase that runs, or that has just run. Release with
 * weir_records_free. */
struct weir_records {
    /* Settings of a test, by the engine from the options before 'begin' of the program. A
     * program may set 'wanted' on ranks whose operations it reads itself. limit: the number of
     * records that a phase may have. */
    bool wanted;
    uint64_t limit;
    struct weir_intervals *intervals; /* where an operation is counted, too; NULL: nowhere */
    struct weir_picks *picks;         /* and where some are kept, on all ranks or none; NULL: nowhere */
    int64_t zero_ns; /* of the times of records: rank 0's clock when the first test began */
    /* Histograms of a phase, of the times of each kind of operation, where the program adds to them
     * (transfer.h): one to spare, and memory to merge them. 'summed': on rank 0 they are those of all
     * ranks, and the ranks of the shortest and of the longest work are known. */
    struct weir_hist *hist;
    uint64_t late_ns; /* the next operation that is added began so much after it was due (pace.h) */
    bool kept; /* its operations have a reader, or it is mixed, or at a rate: one look for each */
    int mixed; /* weir_phase.mixed of the phase that runs */
    bool summed;
    int64_t fastest, slowest;
    struct weir_record *rec;
    size_t n, cap;    /* that are there, that there is room for */
    size_t taken;     /* memory, in records */
    uint64_t dropped; /* operations for which there was no room */
};

/* Allocate histograms of 'kinds' kinds of operations, and memory to merge them and those of
 * 'calls' calls, with counts. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_records_begin(struct weir_records *r, int kinds, int calls, struct weir_err *err);

/* Reserve memory for 'steps' operations, r->limit at most, and for the sample of r->picks, all
 * pages touched; forget the last phase. Without r->wanted only the sample is kept. Called by
 * the engine before each phase. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err);
void weir_records_free(struct weir_records *r);

/* Record one operation. Local, a few ns. */
void weir_records_put(struct weir_records *r, const struct weir_record *one);

/* One that was good. */
static inline void weir_records_add(struct weir_records *r, int op, uint64_t begin_ns,
                                    uint64_t end_ns, uint64_t off, uint64_t len)
{
    if (__builtin_expect(r->kept, 0))
        weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, len, (uint16_t)op, 0 });
}

/* One that has failed as err says, and moved nothing. */
void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err);

/* Sort the records of a phase by their begin. Local. */
void weir_records_sort(struct weir_records *r);

#endif
