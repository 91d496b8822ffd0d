/* SPDX-License-Identifier: BSD-3-Clause */
/* mib.h - mib: every task writes a file of its own in calls of one size until a number of calls
 * or a time is reached. Then it reads the file of another task: its number is larger by half
 * the number of tasks, modulo that number */
#pragma once

#include "backends/session/queue.h"
#include "base/data/pattern.h"
#include "engine/program.h"

enum weir_fs_kind {
    WEIR_FS_PARALLEL, /* made for many tasks that write; also those that are not in the table */
    WEIR_FS_LOCAL,    /* of one node: tasks on another one do not see its files */
    WEIR_FS_OTHER     /* a file server (NFS and the like), memory, or not for data */
};

struct weir_fs_type {
    unsigned long number; /* f_type of statfs(2) */
    const char *name;     /* as statfs(2) has it; NULL: not in the table */
    enum weir_fs_kind kind;
};

/* mib.c: the kind of a number. Local. */
struct weir_fs_type weir_fs_type_of(unsigned long number);

struct mib_options {
    struct weir_run_options run; /* first: the engine reads it; deadline_s is the time limit */
    const char *log_dir, *test_dir, *packet;
    const char *profiles;     /* NULL: none; "": in log_dir; else a prefix */
    int64_t granularity;      /* of random reads, bytes; 0: reads are not random */
    int64_t call_size;        /* bytes */
    int call_limit;
    bool averages, environment, force, intermediate, headers, no_mpi, fresh, progress, remove,
        read_only, write_only, signon, verify;
};

/* Length of the bar when the steps or the time of a phase are used up; 0: no such limit. The end
 * of the phase is not part of it: at most width - 2 stars are shown. */
struct weir_bar {
    int width;
    uint64_t steps;
    double seconds;
    int shown; /* stars, so far */
};

/* State of a test. Arrays of two are for WEIR_DIR_WRITE and WEIR_DIR_READ. */
struct mib_test {
    const struct mib_options *o;
    const struct weir_opt *rows; /* of *o */
    struct weir_fs_type fs; /* of the test directory */
    struct weir_access access;
    struct weir_extent extent;
    struct weir_session session;
    struct weir_queue queue; /* of the session */
    struct weir_gpu *gpu;    /* which the buffers are of; NULL: of the host */
    struct weir_pattern data; /* of --dataPacketType; zeros: words, see mib_data_fill */
    bool varies;              /* each call has its own data */
    int task, source;     /* number of this task, and of that whose file it reads: ranks, but
                           * for runs without MPI */
    bool anywhere;        /* -t was not given */
    bool made;            /* this run made files and removes them */
    bool unreported;      /* something was measured that is in no line of results */
    double rate[2];       /* MiB/s; 0: the phase did not run */
    /* of this rank */
    struct weir_str own, peer; /* paths */
    struct weir_file *file;
    void *buf;
    uint64_t planned;             /* calls of the phase that runs */
    uint64_t read_bytes;          /* in the file that is read */
    uint64_t places, key;         /* random reads: multiples of the granularity, and the sequence */
    uint64_t short_calls;         /* that moved less than a whole call */
    uint64_t wrong_at;            /* file offset of the first wrong byte */
    uint64_t unlink_ns;           /* of the phase that runs */
    struct weir_bar bar;
};

extern const struct weir_program weir_mib;
extern const struct weir_stage mib_stages[];

/* mib-report.c: what is shown */

extern const struct weir_cli mib_cli;

/* Report the lines above the results. */
void mib_report_begin(struct weir_run *run, const struct mib_test *t);
/* Report the line of results. */
void mib_report_result(struct weir_run *run, struct mib_test *t);
/* Report a phase that has run. Collective over run->par. */
void mib_report_phase(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec);

/* mib-phases.c: return the number of stars after 'steps' steps and 'seconds' seconds, by the
 * limit that is nearer; those of the last step before the end where there were more. Local. */
int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds);

/* mib-phases.c: fill in any bytes of the owner's file: blocks with the ratio of p, or words. A word
 * is the owner plus 1 in the high 20 bits, and the number of the word in the file in the low 44.
 * The check (mib_data_right) returns the number of first bytes that are right: len when all are.
 * Local. */
void mib_data_fill(const struct weir_pattern *p, int owner, uint64_t offset, void *buf, size_t len);
size_t mib_data_right(const struct weir_pattern *p, int owner, uint64_t offset, const void *buf,
                      size_t len);

/* mib-profile.c: the files of -p. */

/* Add the profiles to the files of a test. Local. Returns 0, or -1 and err when memory is out. */
int mib_profile_files(const struct mib_options *o, struct weir_files *files, struct weir_err *err);
/* Create the profiles of all phases, so that one that cannot be written is found before the test.
 * Local; rank 0. Returns 0, or -1 and err (WEIR_ESETUP). */
int mib_profile_begin(const struct mib_test *t, struct weir_err *err);
/* Write the profile of the phase that has run. Collective over run->par. Returns 0, or -1 and err
 * on all ranks (WEIR_ESETUP). */
int mib_profile_phase(struct weir_run *run, const struct mib_test *t,
                      const struct weir_phase_rec *rec, struct weir_err *err);
