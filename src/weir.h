/* SPDX-License-Identifier: BSD-3-Clause */
/* weir.h - run the benchmarks of the suite from another program, and get what they measure.
 *
 * The whole interface of libweir (pkg-config weir). doc/guide/library.md has an example in C and one
 * in Python.
 *
 * A job is a benchmark with options on the ranks of a communicator. It can run any number of times.
 * The options may change from run to run. For example:
 *
 *     struct weir_job *job = weir_job_new("ior", NULL);
 *     weir_job_set(job, "blockSize", "16m");
 *     weir_job_set(job, "testFile", "/scratch/file");
 *     if (weir_job_run(job) != 0)
 *         fprintf(stderr, "%s\n", weir_job_error(job));
 *     for (int i = 0; i < weir_job_results(job); i++)
 *         use(weir_job_result(job, i));
 *     weir_job_free(job);
 *
 * The library never ends the process, with two exceptions: a broken MPI library, and a call that
 * exceeds --io-timeout, end all ranks with MPI_Abort. It prints nothing unless it is asked to. MPI must
 * be initialised (MPI_THREAD_SINGLE is enough) and stays so. Signals are the caller's: if SIGINT and
 * SIGTERM are blocked in all threads, a pending one ends a run in order (status 6). Options and results
 * have the numbers and dates of the C locale, in any locale of the caller. Functions that the library
 * calls run in the locale of the caller. While the backend MMAP is in use, SIGBUS has a handler of its
 * own; the previous one is restored.
 *
 * One run at a time in a process: a second one, in another thread or from a function that is called
 * during the first, is refused with status 1.
 *
 * Stability: the functions below keep their meaning within one number of the library (libweir.so.N);
 * their symbols are versioned. Structs grow at the end only. The first member of those that the library
 * hands out is the size that it knows; a caller never makes them. In struct weir_outcome, which the
 * caller makes, it is the caller's size. */
#ifndef WEIR_H
#define WEIR_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- versions and names ---- */

/* The version of the library: "0.1.0". Local. */
const char *weir_version(void);

/* The name of the i-th benchmark, from 0 ("ior", "mdtest", "md-workbench", "mib", ...), or NULL
 * after the last. Local. */
const char *weir_benchmark_name(int i);

/* ---- results ---- */

#define WEIR_NAME_TEXT 64
#define WEIR_REMARK_TEXT 256

/* Times of single calls over all ranks, seconds. All 0 where there was none (n is 0). Percentiles
 * are upper edges of bins, at most 3.2 % above the value. */
struct weir_calls {
    uint64_t n;
    double mean, p50, p90, p99, p999, max; /* max: the longest single one */
};

/* One phase that was measured. Times are seconds on the clock of rank 0. */
struct weir_result {
    uint64_t size;                  /* of this struct, in the library */
    char operation[WEIR_NAME_TEXT]; /* "write", "file create", ... */
    int test, repetition;           /* from 0 */
    int tasks;                      /* that took part */
    int interrupted;                /* 1: a signal ended the phase early */
    uint64_t bytes;                 /* moved by all tasks */
    uint64_t operations;            /* transfers, or files and directories worked on, of all
                                     * tasks */
    uint64_t operations_min, operations_max; /* of the slowest and of the fastest task */
    uint64_t wrong;                          /* operations whose data were not right */
    double seconds;                          /* first open begun to last close done */
    double work_seconds;     /* first operation begun to last one done */
    double bytes_per_s;      /* over seconds */
    double operations_per_s; /* over work_seconds */

    /* Work until a deadline or a steady state stopped the tasks (stonewalling); 0 where
     * stonewalled is 0. With wear-out, all tasks then did as many operations as the fastest;
     * the numbers above include that. */
    int stonewalled;
    int reserved;
    double stonewall_seconds;
    uint64_t stonewall_bytes, stonewall_operations; /* of all tasks */
    uint64_t stonewall_operations_min, stonewall_operations_max;

    struct weir_calls operation_time; /* a transfer, or all of what is done to a file or
                                       * directory */
    struct weir_calls open_time, transfer_time, sync_time, close_time;

    double fastest_seconds, slowest_seconds; /* of a task: its first operation begun to its last one
                                              * done */
};

/* A reason to doubt a number: a rule of doc/guide/trust.md that a test has broken. */
struct weir_remark {
    uint64_t size;     /* of this struct, in the library */
    char rule[8];      /* "H01" */
    char severity[16]; /* "NOTE", "SUSPECT", "INVALID" */
    int test;          /* from 0 */
    int reserved;
    double value, limit; /* what was measured and where a finding begins, in the unit; NaN: not
                          * known */
    char unit[32];
    char text[WEIR_REMARK_TEXT];   /* what was measured, in words */
    char remedy[WEIR_REMARK_TEXT]; /* what to do about it */
};

/* ---- jobs: options by name ---- */

/* Where weir_job_new has returned NULL, the functions take that for a job: weir_job_set, unset and run
 * return 1, weir_job_error says why, there are no results, and the others do nothing. */
struct weir_job;

/* A job of the benchmark with this name on the ranks of *comm (NULL: MPI_COMM_WORLD), which must
 * live as long as the job. Local; all ranks of comm make one. Returns NULL when there is no such
 * benchmark or no memory. Free it with weir_job_free. */
struct weir_job *weir_job_new(const char *benchmark, const MPI_Comm *comm);

/* Set an option by its name: a key of scripts and -O ("blockSize"), a long name ("deadline"), a
 * backend's option ("posix.odirect") or a letter ("b"). Its value is as on a command line
 * ("16m"), NULL for a flag; "0" clears a flag. A second value for the same option, by any of
 * its names, replaces the first. The last setting wins, also when one is -O or an old spelling.
 * Local; all ranks set the same. Returns 0, or 1 with the option as it was (weir_job_error says
 * why: no such option, a value out of range, an option like help that runs nothing). */
int weir_job_set(struct weir_job *job, const char *option, const char *value);

/* Set an option, by any of its names, back to its default or its value in weir_job_words. Local.
 * Returns 0, or 1 when weir_job_set has not set it, NULL included. */
int weir_job_unset(struct weir_job *job, const char *option);

/* Set all options at once, from the arguments of a command line; argv[0] is ignored. Earlier
 * settings are dropped; weir_job_set adds to the arguments and overrides them. Local; all ranks
 * give the same. Returns 0, or 1 (weir_job_error says why) with the options as they were.
 * Arguments that run nothing (--help) or are NULL are refused. */
int weir_job_words(struct weir_job *job, int argc, char *const *argv);

/* Choose where the text of a run (the standard output of the program) goes on rank 0, in addition
 * to the outputs of the option "report". A stream (NULL: none) gets its error indicator cleared, is
 * flushed and stays open. A function (NULL: none) gets the text in pieces, and must not call MPI or
 * this library. Other ranks may give the same or NULL. Local. */
void weir_job_stream(struct weir_job *job, FILE *stream);
void weir_job_text(struct weir_job *job, void (*text)(void *arg, const char *bytes, size_t len),
                   void *arg);

/* Set a function that is called on every rank of the test before each phase, outside the
 * measured time, with the name of the phase. It may call MPI collectives over communicators of
 * its own, but not this library. weir_job_check calls it for each phase that the options ask
 * for. NULL: no function. Local; all ranks do the same. */
void weir_job_before(struct weir_job *job, void (*before)(void *arg, const char *phase), void *arg);

/* Set functions that are called on rank 0: with each result as soon as its phase is over, and with
 * each warning and note. NULL: none. The functions must not call MPI or this library. Local. */
void weir_job_watch(struct weir_job *job, void (*each)(void *arg, const struct weir_result *result),
                    void (*message)(void *arg, const char *kind, const char *text), void *arg);

/* The progress of this rank. */
struct weir_progress {
    uint64_t size;    /* of this struct, in the library */
    const char *phase; /* that runs; NULL: none, and the numbers are 0 */
    uint64_t bytes, operations; /* of this rank in this phase, as of its last operation */
};

/* Set a function that decides whether the job is to end. It is called on every rank of the test,
 * some 20 times a second during a phase (also while the rank waits for others), and sometimes
 * between phases. A value that is not 0 on any rank ends the job as a signal does (status 6). A
 * phase that was cut short has a result with 'interrupted'. With such a function the library does
 * not look for signals. The time that it takes is charged to no operation; it may be called up to
 * 2000 times a second where operations are collective. It may call functions of MPI that do not
 * block, but not this library. NULL: no function. Local; all ranks do the same. */
void weir_job_until(struct weir_job *job, int (*stop)(void *arg, const struct weir_progress *now),
                    void *arg);

/* Run the job: all phases that its options ask for. Files that an earlier run kept (keepFile
 * and the like) stay for the next, as between two command lines. Nothing is printed unless the
 * option "report" has an output. Results of an earlier run are dropped, unless the run is
 * refused because another one is active. Collective over the communicator, which is duplicated
 * for the time of the run. Returns the exit status of the program, the same on all ranks. 0:
 * success, 1: usage, 2: set-up, 3: I/O, 4: wrong data, 5: invalid by the option "strict", 6:
 * interrupted, 70: an internal error. */
int weir_job_run(struct weir_job *job);

/* Check that weir_job_run would begin. Checks the options together, as it does before the first test: nothing is run or made, and
 * files that it needs are not looked for. Results of an earlier run are gone. Collective over the communicator. Returns 0, or the
 * status that weir_job_run would return (weir_job_error says why), the same on all ranks. */
int weir_job_check(struct weir_job *job);

/* The first error of the last call, "" when there was none. Valid until the next call. Local. */
const char *weir_job_error(const struct weir_job *job);

/* The results of the last run, the same on all ranks, in the order of the phases: how many, and one
 * (NULL: there is none with this number). Valid until the next run. Local. */
int weir_job_results(const struct weir_job *job);
const struct weir_result *weir_job_result(const struct weir_job *job, int i);

/* The findings about these results, and the verdict about the worst test: "SOUND", "SUSPECT",
 * "INVALID"; "" when no test was judged. Local. */
int weir_job_remarks(const struct weir_job *job);
const struct weir_remark *weir_job_remark(const struct weir_job *job, int i);
const char *weir_job_verdict(const struct weir_job *job);

/* Give back everything. NULL is fine. Local. */
void weir_job_free(struct weir_job *job);

/* Check whether two of n jobs would use the same file or directory, if they ran at once, job[i] on tasks[i] ranks. This
 * includes files that are named by a rule, reports, those of a script, and those of the caller, own[0], ..., NULL (own
 * NULL: none). Local; looks at the file system and reads scripts. Returns -1: no. Otherwise the number of the later of the
 * two jobs, whose weir_job_error is the path, and *other: the number of the other one, -1: the caller. Where both are the
 * same, weir_job_error says what is wrong with that job; where job, tasks or other is NULL, it is the last one. */
int weir_jobs_clash(struct weir_job *const *job, const int *tasks, int n, const char *const *own, int *other);

/* ---- one call for a command line ---- */

#define WEIR_OUTCOME_TEXT 8192

/* The outcome, the same on all ranks. Set size to sizeof(struct weir_outcome) before the call. */
struct weir_outcome {
    uint64_t size;                 /* of this struct, in the caller: no more is written */
    int status;                    /* as weir_job_run */
    char error[WEIR_OUTCOME_TEXT]; /* the first error; "" when there was none */
};

/* Run a benchmark on the ranks of *comm (NULL: MPI_COMM_WORLD) with the arguments of a command
 * line, the same on all ranks (argv[0] is ignored). 'each' is called on rank 0 for every phase
 * when it is over; it may be NULL, but then on all ranks. It must not call MPI. Prints and
 * writes what the program would; --report=text:/dev/null keeps standard output free. Messages
 * go to standard error. Collective. Returns the status (1: no such benchmark, no argv[0], an
 * argument or 'out' that is NULL, MPI_COMM_NULL). */
int weir_measure(const char *benchmark, int argc, char *const *argv, const MPI_Comm *comm,
                 void (*each)(void *arg, const struct weir_result *result), void *arg,
                 struct weir_outcome *out);

/* ---- files and directories, through a backend ---- */

/* For suites that make and remove directories where the files of a backend are. All functions are local: each
 * process acts for itself. Those that return int return 0, or the errno of what failed (ENOTSUP: the backend cannot;
 * EINVAL: weir_storage_open has failed, or the path or the place for a status is NULL; EIO: the library of the
 * backend has told no errno), and weir_storage_error has the words. */
struct weir_storage;

/* A backend ("POSIX", "MPIIO", ...; NULL: POSIX) with n words of options ("--posix.odirect"),
 * which live as long. Returns NULL without memory, or when an element of 'words' (or, with n >
 * 0, 'words') is NULL. Otherwise close it with weir_storage_close, also when it could not be
 * opened: weir_storage_error is not "" then. */
struct weir_storage *weir_storage_open(const char *api, int n, char *const *words);
const char *weir_storage_error(const struct weir_storage *storage);
int weir_storage_close(struct weir_storage *storage); /* NULL is fine */

int weir_storage_create(struct weir_storage *storage, const char *path); /* EEXIST: it is there */
int weir_storage_remove(struct weir_storage *storage, const char *path); /* a regular file */
int weir_storage_mkdir(struct weir_storage *storage, const char *path, unsigned mode);
int weir_storage_rmdir(struct weir_storage *storage, const char *path);
int weir_storage_stat(struct weir_storage *storage, const char *path, uint64_t *bytes); /* NULL: not wanted */
/* All that the system says of a file or directory; of a backend that keeps none (DUMMY), zeros and the size. */
int weir_storage_status(struct weir_storage *storage, const char *path, struct stat *status);
int weir_storage_access(struct weir_storage *storage, const char *path); /* 0: it is there */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
