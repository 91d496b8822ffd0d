/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - the benchmarks by name, and a run of one inside another program */
#pragma once

#include "engine/program.h"
#include "library/capture.h"

extern const struct weir_program *const weir_benchmarks[]; /* ends with NULL */

/* A program that runs this one is informed of what happens (src/weir.h). */
struct weir_hooks {
    /* Before each phase, outside its time; may call collectives. On every rank of the test.
     * NULL: no function. */
    void (*before)(void *arg, const char *phase);
    void *arg;
    /* Called some 20 times a second on every rank of the test: true ends the run. NULL: none. */
    int (*stop)(void *arg, const struct weir_progress *now);
    void *stop_arg;
};

/* The request of a caller for a run. */
struct weir_inside {
    const struct weir_program *program;
    MPI_Comm comm;
    int argc;
    char *const *argv;
    int shown_argc; /* the command line that the results tell */
    char *const *shown;
    bool plans_only;                /* no test begins */
    bool quiet;                     /* no messages on standard error */
    FILE *stream;                   /* for text, on rank 0; NULL: none */
    void (*text)(void *arg, const char *bytes, size_t len); /* the same */
    void *text_arg;
    const struct weir_hooks *hooks; /* NULL: none */
    struct weir_capture *capture;   /* NULL, on all ranks: not read */
};

/* Run it. Collective over comm. Afterwards the captured results are the same on all ranks that
 * keep them. Returns out->status. */
int weir_inside_run(const struct weir_inside *in, struct weir_outcome *out);

/* weir_jobs_clash of n requests; those without a program have no files. err: the words. Local. */
int weir_inside_clash(const struct weir_inside *in, const int *tasks, int n, const char *const *own,
                      int *other, struct weir_err *err);

/* Check that MPI can be called. NULL, or why not. Local. */
const char *weir_inside_no_mpi(void);

/* The benchmark with this name, NULL: there is none. Local. */
const struct weir_program *weir_benchmark_find(const char *name);
