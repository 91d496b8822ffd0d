/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.h - bandwidth and operations of a phase in intervals of time, summed over the ranks:
 * --interval */
#ifndef WEIR_ENGINE_OBSERVE_INTERVAL_H
#define WEIR_ENGINE_OBSERVE_INTERVAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct weir_phase_rec;
struct weir_run;

/* The width that --interval asks for, in ns; 0 for NULL and "0": none. Local. Returns 0, or -1 and
 * err (WEIR_EUSAGE) that says what would be right. */
int weir_interval_parse(const char *text, uint64_t *ns, struct weir_err *err);

/* Take memory for a test that asks for intervals. Local. Returns 0, or -1 and err. */
int weir_interval_take(struct weir_run *run, const char *text, struct weir_err *err);

/* Around a phase: all ranks begin to count at one time, on rank 0's clock; then the sum over the
 * ranks is reported. Nothing where nobody asks. Collective over run->par. */
void weir_interval_begin(struct weir_run *run);
void weir_interval_end(struct weir_run *run, const struct weir_phase_rec *rec);

/* The intervals of all phases of a test as a table of text, after its results. Local. */
void weir_interval_show(struct weir_run *run);

#endif
