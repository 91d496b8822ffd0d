/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-doc.h - the form of a timeline: its records, and the document beside them, which says
 * what their numbers mean (doc/timeline.md) */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct weir_program;
struct weir_phase_rec;
struct weir_run;

/* Used on rank 0 only. Zero: nothing is known yet. Release with weir_timeline_doc_free. */
struct weir_timeline_doc {
    struct weir_str path;
    struct weir_str command; /* a JSON list */
    /* Objects of JSON, one after the other, each ended by a NUL. */
    struct weir_str tests, phases;
    uint64_t written_ns; /* when the document was written last */
};

/* Append the name of the document beside the file 'path': .npy becomes .timeline.json
 * (FILE.json is left to the results). Local. Returns 0, or
 * -1 and err (WEIR_EUSAGE) when path does not end in .npy. */
int weir_timeline_doc_name(const char *path, struct weir_str *out, struct weir_err *err);

/* Keep the command line; with --anonymous, that it was left out. Local. */
void weir_timeline_doc_command(struct weir_timeline_doc *d, const struct weir_run *run);

/* Tell of the test that begins: its parameters, and the host of every rank. Collective over
 * run->par; d is used on rank 0 only. */
void weir_timeline_doc_test(struct weir_timeline_doc *d, struct weir_run *run);

/* Tell of phase number 'index', which has just ended, well or not. Local, rank 0. */
void weir_timeline_doc_phase(struct weir_timeline_doc *d, const struct weir_run *run,
                             const struct weir_phase_rec *rec, int index, bool failed);

/* Put the document into its place: so many records are in the file, and so many were dropped.
 * Local, rank 0. Returns 0, or -1 and err (WEIR_ESETUP); then what was there stays. */
int weir_timeline_doc_write(struct weir_timeline_doc *d, const struct weir_program *program,
                            uint64_t records, uint64_t dropped, bool complete,
                            struct weir_err *err);

void weir_timeline_doc_free(struct weir_timeline_doc *d);

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
