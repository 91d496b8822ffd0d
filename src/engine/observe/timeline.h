/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h - the files of --timeline (doc/timeline.md): which operations they keep, the records, and the
 * document that says what their numbers mean */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct weir_mpi_output;
struct weir_par;
struct weir_phase_rec;
struct weir_run;

/* ---- timeline-choice.c: the words after the name of the file ---- */

/* Zero: all operations of all ranks. The texts belong to the arena of weir_timeline_read. */
struct weir_timeline_choice {
    const char *path;   /* the file, without the words */
    int64_t sample;     /* one operation of this number, drawn at random; 0: no sample */
    int64_t seed;       /* of the draw */
    const char *ranks;  /* 0-63,128, 0-4095:64 (each 64th), or "leaders": the first rank of
                         * each node; NULL: all */
    int64_t slowest;    /* number of each rank in each phase, with their neighbours; 0: none */
};

/* Reads FILE.npy[,sample=1/N][,seed=N][,ranks=LIST][,slowest=K]. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int weir_timeline_choice_read(const char *value, struct weir_arena *arena,
                              struct weir_timeline_choice *out, struct weir_err *err);

/* True when a rank records only some operations. Their records say why each is there. */
static inline bool weir_timeline_samples(const struct weir_timeline_choice *c)
{
    return c->sample || c->slowest;
}

/* True when this rank records operations. Local. */
bool weir_timeline_has_rank(const struct weir_timeline_choice *c, const struct weir_par *par);

/* Check that all ranks that it names exist among 'tasks' tasks. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int weir_timeline_check_ranks(const struct weir_timeline_choice *c, int tasks, struct weir_err *err);

/* ---- timeline-records.c: the records, one array in the format 1.0 of NumPy's .npy files ----
 *
 * numpy.load(FILE, mmap_mode="r") reads it: It has one dimension, and its elements have the
 * fields below, little-endian and without padding. */

#define WEIR_NPY_HEADER 512 /* bytes before the first record, whatever their number */
#define WEIR_NPY_RECORD 48  /* bytes of a record ... */
#define WEIR_NPY_SAMPLED 64 /* ... and of one that is sampled */

/* One operation. Times in ns; offset -1: none; error: its errno, 0 for none. phase and
 * operation are numbers of the document beside the file. A sampled operation also has its
 * number among those of its rank in the phase, and the reason (WEIR_SAMPLED_...). */
struct weir_npy_record {
    int64_t begin, end, offset, bytes;
    uint32_t rank, repetition;
    uint16_t phase, operation;
    int32_t error;
    uint64_t number, chosen;
};

/* Write the header of a .npy file of n records of 'size' bytes. Local. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n, size_t size);

/* Write a record as it is in the file, WEIR_NPY_RECORD or WEIR_NPY_SAMPLED bytes. Local. */
void weir_npy_record(unsigned char *out, const struct weir_npy_record *r, size_t size);

/* ---- the records of a phase ---- */

/* Operations of all ranks: those that were seen; of these, those that are in the file; and those that
 * belong there and did not fit. */
struct weir_timeline_sums {
    uint64_t seen, records, dropped;
};

/* Put the operations of this rank that are records of the phase into the order of their begin, and sum
 * those of all ranks. Collective over run->par. */
struct weir_timeline_sums weir_timeline_finish(struct weir_run *run);

#define WEIR_TIMELINE_PIECE ((size_t)6144) /* records that are written at a time */

/* Write the records of phase number 'phase' after the 'before' records of earlier phases, in the order
 * of the ranks. piece: a buffer of that many records of this size. Collective over run->par; no rank
 * waits for another to write. Returns 0, or -1 and err (WEIR_ESETUP), not the same on all ranks. */
int weir_timeline_write(struct weir_run *run, struct weir_mpi_output *file,
                        const struct weir_phase_rec *rec, int phase, uint64_t before,
                        unsigned char *piece, size_t size, struct weir_err *err);

/* ---- timeline-doc.c: the document beside the records ---- */

/* Used on rank 0 only. Zero: nothing is known yet. */
struct weir_timeline_doc {
    const char *path;
    const struct weir_timeline_choice *choice;
    /* Objects of JSON, one after the other, each ended by a NUL; to be freed. */
    struct weir_str tests, phases;
    uint64_t written_ns; /* when the document was written last */
};

/* Add the test that begins: its parameters, and the hosts with their ranks. Collective over run->par; d
 * is used on rank 0 only. */
void weir_timeline_doc_test(struct weir_timeline_doc *d, struct weir_run *run);

/* Add phase number 'index', which has just ended, well or not. Local, rank 0. */
void weir_timeline_doc_phase(struct weir_timeline_doc *d, const struct weir_run *run,
                             const struct weir_phase_rec *rec, int index,
                             const struct weir_timeline_sums *sums);

/* Put the document into its place, with the sums of all phases. Local, rank 0. Returns 0, or -1 and err
 * (WEIR_ESETUP); then what was there stays. */
int weir_timeline_doc_write(struct weir_timeline_doc *d, const struct weir_run *run,
                            const struct weir_timeline_sums *sums, bool complete,
                            struct weir_err *err);
