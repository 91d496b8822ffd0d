/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - every operation of a phase: one store for all programs, kept in memory while the
 * phase runs, and written after it. In bounded memory: a random sample, and the slowest with the
 * operations before and after them */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "base/intervals.h"
#include "base/rng.h"

/* An operation without a place in a file, and a rank without an operation. */
#define WEIR_NO_OFFSET UINT64_MAX
#define WEIR_NO_TIME INT64_MIN

/* One operation: its times on the local clock in ns; its file offset, or number of the item, or
 * WEIR_NO_OFFSET; bytes moved. 'op' is its index in the operations of the program. 'error' is
 * its errno, 0 on success. */
struct weir_record {
    uint64_t begin_ns, end_ns, off, len;
    uint16_t op;
    int32_t error;
};

/* Return when it began, ns after a time of the same clock (before it: less than 0). Local. */
static inline int64_t weir_record_after(const struct weir_record *r, uint64_t origin_ns)
{
    return (int64_t)(r->begin_ns - origin_ns);
}

/* ---- sampled operations ---- */

/* Reasons why an operation is in the sample: one bit or several. */
enum {
    WEIR_SAMPLED_RANDOM = 1u << 0,   /* it was drawn */
    WEIR_SAMPLED_SLOWEST = 1u << 1,  /* it is one of the slowest of its rank in the phase */
    WEIR_SAMPLED_ADJACENT = 1u << 2, /* it ended just before or just after one of them */
    WEIR_SAMPLED_FAILED = 1u << 3    /* it failed; all that fail are there */
};

/* number: operations of the rank that ended before it in the phase. */
struct weir_sampled_op {
    struct weir_record op;
    uint64_t number;
    unsigned why; /* 0: none */
};

/* The sampled operations of this rank. Zero-initialise; release with weir_sampled_free. */
struct weir_sampled {
    /* Settings of a test, by the observers that read the sample. */
    bool here;        /* false: this rank only counts */
    uint64_t one_of;  /* the sample has one operation of this number; 0: there is none */
    uint32_t slowest; /* number of the slowest to keep */
    uint64_t limit;   /* of the sample, operations */
    uint64_t key;     /* of the draw; set before each phase */
    /* State of a phase. */
    uint64_t seen;    /* operations */
    uint64_t dropped; /* were drawn or failed, and the buffer was full */
    uint64_t share;   /* numbers up to it are drawn; 0: none */
    uint64_t slow_from_ns; /* duration from which an operation is one of the slowest until now */
    struct weir_sampled_op *after; /* where the next operation goes as a neighbour; NULL: nowhere */
    struct weir_record last; /* where some are the slowest */
    struct weir_sampled_op *ops;
    size_t n, cap; /* entries, and the capacity until the end of the phase */
    /* The slowest until now: three places each in 'slow', and a heap of their times, the shortest
     * first. */
    struct weir_sampled_op *slow;
    struct weir_slow {
        uint64_t ns;
        uint32_t place;
    } * heap;
    uint32_t slow_n, slow_cap;
    size_t taken; /* capacity, in operations */
};

/* Reserve memory for what a phase of 'operations' operations (UINT64_MAX: unknown) can have, all
 * pages touched, and forget the last phase. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_sampled_reserve(struct weir_sampled *p, uint64_t operations, struct weir_err *err);
void weir_sampled_free(struct weir_sampled *p);

/* Put the sample of a phase into p->ops, each once, in the order of their begin. Local. */
void weir_sampled_finish(struct weir_sampled *p);

/* An operation has ended. Local, a few ns. */
void weir_sampled_put(struct weir_sampled *p, const struct weir_record *one);

/* ---- all operations ---- */

/* The operations of this rank in the last phase that began. Release with weir_records_free. */
struct weir_records {
    /* Settings of a test, by the engine from the options before 'begin' of the program. A
     * program may set 'wanted' on ranks whose operations it reads itself. limit: the number of
     * records that a phase may have. */
    bool wanted;
    uint64_t limit;
    struct weir_intervals *intervals; /* where an operation is counted, too; NULL: nowhere */
    struct weir_sampled *sampled; /* and where some are kept, on all ranks or none; NULL: nowhere */
    int64_t zero_ns; /* of the times of records: rank 0's clock when the first test began */
    /* Histograms of a phase, of the times of each kind of operation, where the program adds to them
     * (transfer.h): one to spare, and memory to merge them. 'summed': on rank 0 they are those of all
     * ranks, and the ranks of the shortest and of the longest work are known. */
    struct weir_hist *hist;
    uint64_t late_ns; /* from due time to begin of the next operation that is added (ratelimit.h) */
    bool kept; /* operations have a reader, or the phase is mixed or at a rate: one test for all */
    int mixed; /* weir_phase.mixed of the phase that runs */
    bool summed;
    int64_t fastest, slowest;
    struct weir_record *rec;
    size_t n, cap;    /* records of the phase, and their maximum */
    size_t taken;     /* memory, in records */
    uint64_t dropped; /* operations above the maximum */
};

/* Allocate histograms of 'kinds' kinds of operations, and memory to merge them and those of
 * 'calls' calls, with counts. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_records_begin(struct weir_records *r, int kinds, int calls, struct weir_err *err);

/* Reserve memory for 'steps' operations, r->limit at most, and for the samples, all
 * pages touched; forget the last phase. Without r->wanted only the sample is kept. Called by
 * the engine before each phase. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err);
void weir_records_free(struct weir_records *r);

/* Record one operation. Local, a few ns. */
void weir_records_put(struct weir_records *r, const struct weir_record *one);

/* Records an operation that was good. Local, a few ns. */
static inline void weir_records_add(struct weir_records *r, int op, uint64_t begin_ns,
                                    uint64_t end_ns, uint64_t off, uint64_t len)
{
    if (__builtin_expect(r->kept, 0))
        weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, len, (uint16_t)op, 0 });
}

/* Records an operation that failed with err, and moved nothing. Local. */
void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err);
