/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h - every operation of every rank in one file, --timeline (doc/timeline.md)
 *
 * The file grows after each phase: each rank writes its records at its own place, then rank 0
 * writes the header with the new number. So what is there can be read at any time, also after a
 * failure. What goes wrong with it ends the timeline, not the run. */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/files.h"
#include "engine/observe/timeline-doc.h"
#include "par/io/mpioutput.h"

struct weir_driver;
struct weir_phase_rec;
struct weir_run;

/* Zero: none. All numbers are the same on all ranks of the test that runs. */
struct weir_timeline {
    const char *path; /* NULL: none was asked for */
    bool failed;      /* nothing is written any more; why was said */
    uint64_t records; /* in the file */
    uint64_t dropped; /* that are not */
    int phases;
    unsigned char *piece; /* records on their way to the file; NULL between tests */
    struct weir_mpi_output file;
    struct weir_timeline_doc doc; /* rank 0 */
};

/* Add both files of --timeline=PATH (NULL: none). Local. Returns 0, or -1 and err: PATH does not
 * end in .npy (WEIR_EUSAGE), or memory is out. */
int weir_timeline_files(const char *path, struct weir_files *files, struct weir_err *err);

/* Make both files, in place of what is there. Nothing without a path. Collective over run->world.
 * Returns 0, or -1 and the same err (WEIR_EUSAGE, WEIR_ESETUP) on all ranks. */
int weir_timeline_begin(struct weir_run *run, const char *path, const struct weir_driver *driver,
                        int argc, char *const *argv, struct weir_err *err);

/* A test begins and ends. Collective over run->par. Nothing fails: what does, was said. */
void weir_timeline_enter(struct weir_run *run);
void weir_timeline_leave(struct weir_run *run);

/* Write the records of a phase that has run, well or not; they are in the order of their begin
 * afterwards. Collective over run->par. */
void weir_timeline_phase(struct weir_run *run, const struct weir_phase_rec *rec, bool failed);

/* The run is over and has ended with 'code'. Local, used on rank 0. Returns the code, or
 * WEIR_ESETUP where only the timeline has failed. */
enum weir_code weir_timeline_end(struct weir_run *run, enum weir_code code);

#endif
