/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h - what every rank has, on rank 0: numbers, lines and the operations of a phase */
#ifndef WEIR_ENGINE_OBSERVE_GATHER_H
#define WEIR_ENGINE_OBSERVE_GATHER_H

#include "engine/program.h"

/* ---- numbers and lines ---- */

/* The functions of this part are collective over run->par. Those that return an int return 0, or -1
 * and err on every rank (WEIR_ESETUP). */

/* The 'mine' of 'size' bytes of every rank, in rank order in *all on rank 0, which frees it; NULL
 * on the others. */
int weir_ranks_gather(struct weir_run *run, const void *mine, size_t size, void **all,
                      struct weir_err *err);

/* Show the lines of every rank, each ended by a newline, in rank order in the results for people. */
void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine);

/* Append to the file of the ranks the lines that 'add' makes on rank 0 of the 'mine' of 'size' bytes
 * of every rank; nothing without such a file. */
int weir_ranks_rows(struct weir_run *run, const void *mine, size_t size,
                    void (*add)(const struct weir_run *run, const void *arg, const void *all,
                                struct weir_str *lines),
                    const void *arg, struct weir_err *err);

/* Put lines into a file about single ranks: in place of what is there when 'fresh', else after it.
 * Local; -1 and err also when lines have failed. */
int weir_rank_lines_put(const char *path, bool fresh, const struct weir_str *lines,
                        struct weir_err *err);

/* ---- operations of a phase ---- */

/* A time of a record on the common clock: ns after the zero of the run, which is the same for all
 * ranks and tests. Local. */
int64_t weir_records_time(const struct weir_run *run, uint64_t local_ns);

/* Hand the operations of rank 0, or of all ranks one after the other, to 'each' on rank 0, some
 * hundred at a time. origin_ns: the beginning of the phase on the clock of the rank that recorded
 * them. Constant memory. Collective over run->par when all is set. */
void weir_records_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         void (*each)(void *arg, const struct weir_record *r, size_t n,
                                      uint64_t origin_ns),
                         void *arg);

#endif
