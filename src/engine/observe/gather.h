/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h - what every rank has, on rank 0: lines and the operations of a phase */
#pragma once

#include "engine/program.h"

/* ---- lines ---- */

/* The lines of every rank, each ended by a newline, come in rank order, and never all of them are in memory
 * (weir_pieces). Collective over run->par. */

/* Show the lines of all ranks ('mine' of each) in the results for people. */
void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine);

/* Append the rows of all ranks to the file of --rank-csv; nothing without such a file. Returns 0,
 * or -1 and err on every rank (WEIR_ESETUP). */
int weir_ranks_rows(struct weir_run *run, const struct weir_str *mine, struct weir_err *err);

/* ---- operations of a phase ---- */

/* A time of a record on the common clock: ns after the zero of the run, which is the same for all
 * ranks and tests. Local. */
int64_t weir_records_time(const struct weir_run *run, uint64_t local_ns);

typedef void weir_records_fn(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns);

/* Pass the operations of rank 0, or of all ranks one after the other, to 'each' on rank 0, some
 * hundred at a time. Then origin_ns is the beginning of the phase on the clock of the rank that
 * recorded them. Constant memory. Collective over run->par when all is set. */
void weir_records_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         weir_records_fn *each, void *arg);
