/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-doc.h - the form of a timeline: its records, and the document beside them, which says
 * what their numbers mean (doc/timeline.md) */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct weir_phase_rec;
struct weir_run;

/* Used on rank 0 only. Zero: nothing is known yet. */
struct weir_timeline_doc {
    const char *path;
    /* Objects of JSON, one after the other, each ended by a NUL; to be freed. */
    struct weir_str tests, phases;
    uint64_t written_ns; /* when the document was written last */
};

/* The name of the document beside the file 'path': .npy becomes .timeline.json (FILE.json is left
 * to the results). Local. Owned by the arena; NULL and err (WEIR_EUSAGE) when path does not end in
 * .npy. */
const char *weir_timeline_doc_name(const char *path, struct weir_arena *arena, struct weir_err *err);

/* Add the test that begins: its parameters, and the host of every rank. Collective over run->par; d
 * is used on rank 0 only. */
void weir_timeline_doc_test(struct weir_timeline_doc *d, struct weir_run *run);

/* Add phase number 'index', which has just ended, well or not. Local, rank 0. */
void weir_timeline_doc_phase(struct weir_timeline_doc *d, const struct weir_run *run,
                             const struct weir_phase_rec *rec, int index);

/* Put the document into its place: so many records are in the file, and so many were dropped.
 * Local, rank 0. Returns 0, or -1 and err (WEIR_ESETUP); then what was there stays. */
int weir_timeline_doc_write(struct weir_timeline_doc *d, const struct weir_run *run,
                            uint64_t records, uint64_t dropped, bool complete,
                            struct weir_err *err);

/* ---- the records: one array in the format 1.0 of NumPy's .npy files ----
 *
 * numpy.load(FILE, mmap_mode="r") reads it: an array of one dimension whose elements have the
 * fields below, little-endian and without padding. */

#define WEIR_NPY_HEADER 512 /* bytes before the first record, whatever their number */
#define WEIR_NPY_RECORD 48  /* bytes of a record */

/* One operation. Times in ns; offset -1: none; error: its errno, 0 for none. phase and operation
 * are numbers of the document beside the file. */
struct weir_npy_record {
    int64_t begin, end, offset, bytes;
    uint32_t rank, repetition;
    uint16_t phase, operation;
    int32_t error;
};

/* The header of a file of n records. Local. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n);

/* A record as it is in the file. Local. */
void weir_npy_record(unsigned char out[WEIR_NPY_RECORD], const struct weir_npy_record *r);

#endif
