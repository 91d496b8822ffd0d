/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - one operation: when, where, how much, and how it ended */
#ifndef WEIR_ENGINE_RECORD_H
#define WEIR_ENGINE_RECORD_H

#include <stdint.h>

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

#endif
