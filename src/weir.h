/* SPDX-License-Identifier: BSD-3-Clause */
/* weir.h - run a benchmark of the suite from a program of your own, and see what it measures
 *
 * The whole interface. Link with the archives of a build tree (weir_link in Makefile.am); it is
 * not installed. testing/backend/test_api.c is an example. */
#ifndef WEIR_H
#define WEIR_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The benchmarks. Only those that you name are linked. */
struct weir_driver;
extern const struct weir_driver weir_ior, weir_mdtest, weir_mdw;

/* One phase that was measured. Times are seconds on the clock of rank 0. */
struct weir_result {
    const char *operation;   /* "write", "file create", ...; valid during the call */
    int test, repetition;    /* from 0 */
    int tasks;               /* that took part */
    uint64_t bytes;          /* moved by all of them */
    uint64_t operations;     /* transfers, or files and directories worked on, of all of them */
    uint64_t wrong;          /* of these, with data that were not right */
    double seconds;          /* from the first open begun to the last close done */
    double work_seconds;     /* from the first operation begun to the last one done */
    double bytes_per_s;      /* over 'seconds' */
    double operations_per_s; /* over 'work_seconds' */
    bool interrupted;        /* a signal ended the phase early */
};

#define WEIR_OUTCOME_TEXT 8192

/* How it ended, the same on all ranks. */
struct weir_outcome {
    int status; /* what the program's exit status would be: 0 all was well, 1 usage, 2 set-up, 3
                   I/O, 4 wrong data, 6 interrupted, 70 internal error */
    char error[WEIR_OUTCOME_TEXT]; /* the first error; "" when there was none */
};

/* Run a benchmark on the ranks of 'comm' with the words of a command line (argv[0] is the name of a
 * program; all ranks give the same). 'each' is called on rank 0 of comm for every phase when it is
 * over, in the order of the phases; it may be NULL, but then on all ranks. It must not call MPI.
 * What the program would print and write, this does too: give --report=text:/dev/null to keep
 * standard output free. Messages go to standard error.
 *
 * Collective over comm, which is duplicated. MPI must be initialised (MPI_THREAD_SINGLE is enough)
 * and is left so; it can be called any number of times. Signals are the caller's: if SIGINT and
 * SIGTERM are blocked in all threads, a pending one ends the run in order (status 6). A broken MPI
 * library, and a call that exceeds --io-timeout, end the process with MPI_Abort; nothing else does.
 * Returns out->status. */
int weir_measure(const struct weir_driver *benchmark, int argc, char *const *argv, MPI_Comm comm,
                 void (*each)(void *arg, const struct weir_result *result), void *arg,
                 struct weir_outcome *out);

#ifdef __cplusplus
}
#endif

#endif
