/* SPDX-License-Identifier: BSD-3-Clause */
/* worklog.h - the work of a rank over time, as samples of each phase */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The work of a rank in a phase until a time. */
struct weir_worklog_sample {
    int64_t at_ns;
    uint64_t bytes, operations;
};

#define WEIR_WORKLOG_SAMPLES 256 /* of a phase, at most */

struct weir_worklog_phase {
    int64_t begin_ns, gap_ns; /* gap: at least so much between two samples */
    struct weir_worklog_sample *sample;
    int n;
    size_t capacity;
};

/* Zero-initialise; release with weir_worklog_free. */
struct weir_worklog {
    struct weir_worklog_phase *phase;
    int n;
    size_t capacity;
    bool failed; /* memory ran out: something is missing */
};

/* Begin a phase; then add the totals of the rank in it, at increasing times. Local. */
void weir_worklog_begin(struct weir_worklog *s, int64_t at_ns);
void weir_worklog_add(struct weir_worklog *s, int64_t at_ns, uint64_t bytes, uint64_t operations);
void weir_worklog_free(struct weir_worklog *s);

/* Return the time of the last sample of a phase, or its begin where it has none. */
int64_t weir_worklog_end(const struct weir_worklog *s, int phase);

/* Return the work of a phase between two times, and all of it; between two samples it is even. */
struct weir_work {
    uint64_t bytes, operations, all_bytes, all_operations;
};
struct weir_work weir_worklog_work(const struct weir_worklog *s, int phase, int64_t from_ns,
                                   int64_t to_ns);

/* Return the fraction of a phase's time that is between two times: 0 to 1; 1 for a phase without
 * any length that lies between them. */
double weir_worklog_share(const struct weir_worklog *s, int phase, int64_t from_ns, int64_t to_ns);
