/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-records.h - the file of a timeline: its form, and what the ranks write into it after a
 * phase (doc/timeline.md) */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_RECORDS_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct weir_mpi_output;
struct weir_phase_rec;
struct weir_run;

/* ---- the records: one array in the format 1.0 of NumPy's .npy files ----
 *
 * numpy.load(FILE, mmap_mode="r") reads it: an array of one dimension whose elements have the
 * fields below, little-endian and without padding. */

#define WEIR_NPY_HEADER 512 /* bytes before the first record, whatever their number */
#define WEIR_NPY_RECORD 48  /* bytes of a record ... */
#define WEIR_NPY_PICKED 64  /* ... and of one that was picked */

/* One operation. Times in ns; offset -1: none; error: its errno, 0 for none. phase and operation
 * are numbers of the document beside the file. Of one that was picked also its number among those of its
 * rank in the phase, and why it is there (WEIR_PICK_...). */
struct weir_npy_record {
    int64_t begin, end, offset, bytes;
    uint32_t rank, repetition;
    uint16_t phase, operation;
    int32_t error;
    uint64_t number, chosen;
};

/* The header of a file of n records of this size. Local. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n, size_t size);

/* A record as it is in the file, WEIR_NPY_RECORD or WEIR_NPY_PICKED bytes. Local. */
void weir_npy_record(unsigned char *out, const struct weir_npy_record *r, size_t size);

/* Make a file without records, of which each will have this size. Local. Returns 0, or -1 and err
 * (WEIR_ESETUP). */
int weir_timeline_make(const char *path, size_t size, struct weir_err *err);

/* ---- the records of a phase ---- */

/* Operations of all ranks: those that were seen; of these, those that are in the file; and those that
 * belong there and had no room. */
struct weir_timeline_sums {
    uint64_t seen, records, dropped;
};

/* Put the operations of this rank that are records of the phase into the order of their begin, and sum
 * those of all ranks. Collective over run->par. */
struct weir_timeline_sums weir_timeline_finish(struct weir_run *run);

#define WEIR_TIMELINE_PIECE ((size_t)6144) /* records that are written at a time */

/* Write those of phase number 'phase' after the 'before' records of earlier phases, in the order of the
 * ranks; piece: room for so many records of this size. Collective over run->par, and no rank waits for
 * another to write. Returns 0, or -1 and err (WEIR_ESETUP), not the same on all ranks. */
int weir_timeline_write(struct weir_run *run, struct weir_mpi_output *file,
                        const struct weir_phase_rec *rec, int phase, uint64_t before,
                        unsigned char *piece, size_t size, struct weir_err *err);

#endif
