/* SPDX-License-Identifier: BSD-3-Clause */
/* oplog.h - every operation of a phase, kept in memory while it runs and written afterwards */
#ifndef WEIR_ENGINE_OPLOG_H
#define WEIR_ENGINE_OPLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WEIR_OPLOG_MOST (4u << 20) /* records of a rank and phase: 128 MiB */
#define WEIR_OPLOG_SOME (1u << 20) /* where nobody knows how many there will be: 32 MiB */

/* One operation: local clock, ns; file offset and length in bytes. */
struct weir_oprec {
    uint64_t begin_ns, end_ns, off, len;
};

/* Zero: nothing is recorded. Release with weir_oplog_free. */
struct weir_oplog {
    struct weir_oprec *rec;
    size_t n, cap;
    uint64_t dropped; /* operations for which there was no room */
};

/* Make room for 'steps' operations, WEIR_OPLOG_MOST at most, all pages touched; forget what was
 * there. Local. */
int weir_oplog_reserve(struct weir_oplog *log, uint64_t steps, struct weir_err *err);
void weir_oplog_free(struct weir_oplog *log);

/* Record one operation. Local, a few ns. */
static inline void weir_oplog_add(struct weir_oplog *log, uint64_t begin_ns, uint64_t end_ns,
                                  uint64_t off, uint64_t len)
{
    if (log->n < log->cap)
        log->rec[log->n++] = (struct weir_oprec) { begin_ns, end_ns, off, len };
    else if (log->rec)
        log->dropped++;
}

/* What stands in front of every record of a phase. */
struct weir_oplog_where {
    const char *access;
    int test, repetition, rank;
    uint64_t origin_ns; /* time 0 of the phase: the first record's column "time" counts from here */
};

/* Write the records as CSV, after the heading when 'fresh' (the file is then emptied), else behind
 * what is there. Columns: time, runtime and tp as IOR has them (seconds, seconds, bytes/s), then
 * access, test, iter, rank, offset, bytes, begin_ns and ns. Local. -1 and err (WEIR_ESETUP). */
int weir_oplog_write(const struct weir_oplog *log, const char *path, bool fresh,
                     const struct weir_oplog_where *where, struct weir_err *err);

#endif
