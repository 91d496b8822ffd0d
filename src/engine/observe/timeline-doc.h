/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-doc.h - the document beside the records of a timeline, which says what their numbers mean
 * (doc/timeline.md) */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/observe/timeline-records.h"

struct weir_phase_rec;
struct weir_run;
struct weir_timeline_choice;

/* Used on rank 0 only. Zero: nothing is known yet. */
struct weir_timeline_doc {
    const char *path;
    const struct weir_timeline_choice *choice;
    /* Objects of JSON, one after the other, each ended by a NUL; to be freed. */
    struct weir_str tests, phases;
    uint64_t written_ns; /* when the document was written last */
};

/* The name of the document beside the file 'path': .npy becomes .timeline.json (FILE.json is left
 * to the results). Local. Owned by the arena; NULL and err (WEIR_EUSAGE) when path does not end in
 * .npy. */
const char *weir_timeline_doc_name(const char *path, struct weir_arena *arena, struct weir_err *err);

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

#endif
