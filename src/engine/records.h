/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - every operation of a phase: one store for all programs, kept in memory while the
 * phase runs, and written after it */
#ifndef WEIR_ENGINE_RECORDS_H
#define WEIR_ENGINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct weir_run;
struct weir_phase_rec;

#define WEIR_RECORDS_MOST (4u << 20) /* of a rank and phase: 160 MiB */
#define WEIR_RECORDS_SOME (1u << 20) /* where nobody knows how many there will be: 40 MiB */

/* One operation. Times on the local clock, ns; file offset, or number of the item; length in
 * bytes. op: its index in the operations of the program. */
struct weir_record {
    uint64_t begin_ns, end_ns, off, len;
    uint16_t op, flags;
};

/* Zero: nothing is recorded. Release with weir_records_free. */
struct weir_records {
    struct weir_record *rec;
    size_t n, cap;
    uint64_t dropped; /* operations for which there was no room */
};

/* Make room for 'steps' operations, WEIR_RECORDS_MOST at most, all pages touched; forget what was
 * there. Local. */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err);
void weir_records_free(struct weir_records *r);

/* Record one operation. Local, a few ns. */
static inline void weir_records_add(struct weir_records *r, int op, uint64_t begin_ns,
                                    uint64_t end_ns, uint64_t off, uint64_t len)
{
    if (r->n < r->cap)
        r->rec[r->n++] = (struct weir_record) { begin_ns, end_ns, off, len, (uint16_t)op, 0 };
    else if (r->rec)
        r->dropped++;
}

/* Make the file of this rank's operations, with nothing but the heading: time, runtime and tp as
 * IOR has them (seconds, seconds, bytes/s), then access, test, iter, rank, offset, bytes, begin_ns
 * and ns. Local. -1 and err (WEIR_ESETUP). */
int weir_records_begin_file(const char *path, struct weir_err *err);

/* Append the operations of the phase that has just run (run->records) to the file of this rank; the
 * column access has the key of each operation. Warns when there were more than are kept. Collective
 * over run->par. -1 and err (WEIR_ESETUP; not the same on all ranks). */
int weir_records_append(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                        const char *path, struct weir_err *err);

/* Hand the operations of rank 0, or of all ranks one after the other, to 'each' on rank 0, some
 * thousand at a time. origin_ns: the beginning of the phase on the clock of the rank that recorded
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
