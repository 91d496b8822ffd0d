/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.h - the bandwidth benchmark: its options and the state of one test, shared by the files of
 * this folder only */
#ifndef WEIR_PROGRAMS_IOR_IOR_H
#define WEIR_PROGRAMS_IOR_IOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/driver.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "programs/ior/ior-data.h"
#include "programs/ior/ior-file.h"
#include "programs/ior/ior-pass.h"
#include "programs/ior/ior-results.h"

/* Values of the option rows in ior.c, which have names and meaning. */
struct ior_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *script, *packet, *test_file, *distribution, *read_back;
    const char *summary_file, *summary_format, *status_file, *debug, *platform, *memory_per_node;
    int64_t block, transfer, segments, memory_per_task, prefill, signature;
    int nodes, node0_tasks, ref_num, tasks, node_offset, seed;
    int random_seed, random_offset, reorder_random;
    bool collective, reorder_constant, sync_end, use_existing, file_per_task, keep, keep_with_error,
        multi_file;
    bool read, check_read, unique_dir, write, check_write, single_try, sync_each, dual_mount,
        summary_always;
};

/* One test in progress. */
struct ior_test {
    const struct ior_options *o;
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    int id;
    struct weir_access access;
    struct weir_extent extent; /* of this rank's own file */
    struct weir_session session;
    struct weir_queue queue; /* of the session */
    struct weir_layout layout;
    struct ior_data data;
    struct ior_memory memory;
    struct ior_pass pass;
    struct ior_prefill *prefill; /* while it runs */
    struct ior_use use;
    struct ior_damages damage;
    struct ior_results results;
    int *node_of;     /* with --read-back=elsewhere: of each task, else NULL */
    uint32_t begun_s; /* when the test began, time of day of rank 0 */
};

extern const struct weir_driver weir_ior;

/* ior-check.c: the options of one test, before anything is done; own is t->o, filled up where
 * options follow from others. Collective over run->world. -1 and
 * err (WEIR_EUSAGE) on every rank. */
int ior_check(struct ior_test *t, const struct weir_run *run, struct ior_options *own,
              struct weir_err *err);

/* ior-check.c: has a test a read phase? */
bool ior_wants_read(const struct ior_options *o);

/* ior-layout.c: the name of the file of a task in a repetition; the directory of -u
 * alone. mount is the number of the mount of -y, or -1. Replaces *out. */
int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err);
int ior_unique_dir(const struct ior_options *o, int mount, int task, struct weir_str *out,
                   struct weir_err *err);
/* ior-layout.c: the files that a test reads and writes (engine/driver.h). */
int ior_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);
/* ior-owner.c: how many tasks -C goes on, for the read phase or the check of what was written.
 * Never 0 where there is another task. */
int ior_shift(const struct ior_options *o, const struct weir_par *par, bool check_write);
/* Whose data this rank takes in a read or check phase. */
int ior_owner(const struct ior_test *t, const struct weir_par *par, bool check_write,
              int repetition, struct weir_err *err);
/* Does a task read what another one wrote? */
bool ior_reads_of_others(const struct ior_options *o);
/* Was --read-back=elsewhere asked for, and is anything read? Then find_elsewhere learns where all
 * tasks are. Collective over run->par. -1 and err (WEIR_EUSAGE: it cannot be, and why). */
bool ior_reads_elsewhere(const struct ior_options *o);
int ior_find_elsewhere(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* The nodes that numNodes and numTasksOnNode0 speak of instead of those that were found. Nothing on
 * a rank that takes no part (comm is MPI_COMM_NULL). Local. */
void ior_override_nodes(const void *state, struct weir_par *par);

/* ior-check.c: with -Z, is there a task that is far enough away? Local, the same on all ranks. -1
 * and err (WEIR_EUSAGE). */
int ior_check_owner(const struct ior_test *t, const struct weir_par *par, struct weir_err *err);

/* ior-report.c: what is shown. Rank 0 only; no-ops elsewhere. */
void ior_report_begin(struct weir_run *run, struct weir_test *tests, int n, int argc,
                      char *const *argv);
int ior_report_test(struct weir_run *run, struct ior_test *t, struct weir_err *err);
void ior_report_facts(struct weir_run *run, struct ior_test *t);

/* Ask the backend about the open file, on rank 0 in the first repetition: what ior_report_facts and
 * ior_report_hints tell. Local. */
void ior_gather_facts(struct weir_run *run, struct ior_test *t);

/* The object "hintsInEffect" of a test, for data readers, where the backend has hints. */
void ior_report_hints(struct weir_run *run, struct ior_test *t);
void ior_report_finish(struct weir_run *run, const struct weir_test *tests);

/* ior-report.c: what -v -v -v adds. Nothing below that level. */
void ior_trace_begin(struct weir_run *run);                            /* rank 0 */
void ior_trace_memory(struct weir_run *run, const struct ior_test *t); /* rank 0 */
void ior_trace_commence(struct weir_run *run, enum weir_dir dir);      /* rank 0 */
/* Collective over run->par. owner: whose file this rank is about to use, -1: none. */
void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner);
void ior_trace_phase(struct weir_run *run, const struct ior_test *t,
                     const struct weir_phase_rec *rec);

/* ior-params.c: the values of all options, under the names that old readers know and under the
 * option names. */
void ior_report_parameters(struct weir_run *run, const struct ior_test *t);

/* ior-facts.c: as in struct weir_driver. */
bool ior_range(struct weir_run *run, void *state, const struct weir_stage *stage,
               struct weir_str *path, struct weir_cache_range *range);

/* ior-facts.c: in a dry run, tell bytes, files, memory and free space; t->use.path is known. Rank 0,
 * nothing elsewhere. */
void ior_report_need(struct weir_run *run, const struct ior_test *t);

/* ior-facts.c: what the options say about the reliability of the results. Collective over
 * run->par. */
void ior_facts(struct weir_run *run, void *state, struct weir_facts *f);

/* ior-test.c: the functions of struct weir_driver for one test. */
extern const struct weir_stage ior_stages[];
int ior_begin(struct weir_run *run, void *state, struct weir_err *err);
int ior_start(struct weir_run *run, void *state, struct weir_err *err);
int ior_report(struct weir_run *run, void *state, struct weir_err *err);
int ior_repetition(struct weir_run *run, void *state, struct weir_err *err);
bool ior_keeps(const void *state);
void ior_removed(struct weir_run *run, void *state, double seconds);
int ior_conclude(struct weir_run *run, void *state, struct weir_err *err);

#endif
