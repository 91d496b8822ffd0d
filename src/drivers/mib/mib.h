/* SPDX-License-Identifier: BSD-3-Clause */
/* mib.h - mib: every task writes a file of its own in calls of one size until a number of calls or a
 * time is reached, and then reads the file that a task half the job away has written */
#ifndef WEIR_DRIVERS_MIB_MIB_H
#define WEIR_DRIVERS_MIB_MIB_H

#include "engine/driver.h"

struct mib_options {
    struct weir_run_options run; /* first: the engine reads it; deadline_s is the time limit */
    const char *api, *log_dir, *test_dir;
    const char *profiles;     /* NULL: none; "": in log_dir; else a prefix */
    const char *random_reads; /* NULL: not random; "": anywhere; else the granularity */
    int64_t call_size;        /* bytes */
    int call_limit;
    bool averages, environment, force, intermediate, headers, no_mpi, fresh, progress, remove,
        read_only, write_only, signon, verify;
};

/* The file system of the test directory. */
struct mib_file_system {
    const char *name; /* as statfs(2) calls it; NULL: it is not in our table */
    unsigned long type;
};

/* What ended a phase, by number of tasks. */
struct mib_ends {
    uint64_t calls, time, file; /* call limit, time limit, end of the file that is read */
};

/* State of a test. Arrays of two are for WEIR_DIR_WRITE and WEIR_DIR_READ. */
struct mib_test {
    const struct mib_options *o;
    const struct weir_backend *be;
    struct mib_file_system fs;
    struct weir_access access;
    struct weir_extent extent;
    struct weir_session session;
    uint64_t granularity; /* bytes; 0: reads are not random */
    int task, source;     /* number of this task, and of that whose file it reads: ranks, but
                           * for runs without MPI */
    bool made;            /* files are ours to remove */
    bool untold;          /* something was measured that no line of results tells */
    bool wrong;           /* data read back were not what was written */
    double rate[2];       /* MiB/s; 0: the phase did not run */
    /* of this rank */
    struct weir_str own, peer; /* paths */
    struct weir_file *file;
    void *buf;
    uint64_t planned;             /* calls of the phase that runs */
    uint64_t read_bytes;          /* in the file that is read */
    uint64_t short_calls;         /* that moved less than a whole call */
    uint64_t wrong_at;            /* file offset of the first wrong byte */
    uint64_t unlink_ns, fsync_ns; /* of the phase that runs */
    int stars;                    /* of the progress bar, so far */
};

extern const struct weir_driver weir_mib;
extern const struct weir_opt *const mib_option_rows;
extern const struct weir_stage mib_stages[];

/* Append "mib-VERSION-MACHINE". Local. */
void mib_version(struct weir_str *out);

/* mib-guard.c: may we write there, and is there room? */

/* Look at the file system of the test directory, and refuse it where mib has no business (on
 * 'nodes' nodes) unless it was forced. Local. -1 and err (WEIR_EUSAGE). */
int mib_guard(struct mib_test *t, int nodes, struct weir_err *err);

/* Warn where the longest run that the limits allow does not fit; refuse where not even one call of
 * each task does. Collective over run->par. */
int mib_space_check(struct weir_run *run, struct mib_test *t, struct weir_err *err);

/* mib-data.c: words of 64 bits, the task in the high 20, a counter in the low 44 */

/* The bytes of task's file from offset on. Local. */
void mib_data_fill(int task, uint64_t offset, void *buf, size_t len);

/* How many of the first bytes are right: len when all are. Local. */
size_t mib_data_right(int task, uint64_t offset, const void *buf, size_t len);

/* Where call i of a task reads: a multiple of the granularity from which a call of call_size fits
 * into the file. repetition and task choose the sequence. file_bytes >= call_size. Local. */
uint64_t mib_random_offset(uint64_t granularity, uint64_t file_bytes, uint64_t call_size, int task,
                           int repetition, uint64_t i);

/* The task whose file this one reads. Local. */
int mib_peer(int task, int tasks);

/* mib-report.c: what is shown */

void mib_report_begin(struct weir_run *run, struct mib_test *t, int argc, char *const *argv);
int mib_report_test(struct weir_run *run, void *state, struct weir_err *err);
void mib_report_end(struct weir_run *run, const struct weir_test *tests);
/* The line of results. */
void mib_report_result(struct weir_run *run, struct mib_test *t);
/* Heading, stars so far and end of the progress bar of a phase. */
void mib_progress_begin(struct weir_run *run, struct mib_test *t);
void mib_progress(struct weir_run *run, void *state, uint64_t calls, double seconds);
/* A phase that has run. Collective over run->par. */
int mib_report_phase(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec,
                     struct weir_err *err);

/* mib-profile.c: tables of the times at which calls returned */

/* Where the table of a phase is written; "" without one. Appends to out. */
void mib_profile_path(const struct mib_options *o, enum weir_dir dir, struct weir_str *out);

/* Make the files before any test, so that a wrong name is known early. Local. */
int mib_profile_begin(const struct mib_options *o, struct weir_err *err);

/* Write the table of the phase that has just run;. Collective over run->par. */
int mib_profile_write(struct weir_run *run, const struct mib_test *t,
                      const struct weir_phase_rec *rec, struct weir_err *err);

#endif
