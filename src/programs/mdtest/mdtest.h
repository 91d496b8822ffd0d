/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.h - the metadata benchmark: its options and the state of one test, shared by the files of
 * this folder only */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/driver.h"
#include "engine/observe/metrics.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/place/items.h"
#include "programs/mdtest/mdtest-ledger.h"
#include "programs/mdtest/mdtest-pass.h"
#include "programs/mdtest/mdtest-places.h"
#include "programs/mdtest/mdtest-results.h"
#include "programs/mdtest/mdtest-tree.h"

/* Values of the option rows in mdtest.c, which have names and meaning. */
struct mdtest_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *dirs, *status_file, *packet, *before, *after, *cleanup;
    int64_t items, per_dir, read_bytes, write_bytes;
    int branch, depth, first, last, step, seed, shift, random_seed, no_barriers;
    bool collective, create, stat, read, remove, rename, only_dirs, only_files, mknod, leaf_only,
        rates_and_times, times, all_procs;
    bool random, shared, time_dirs, unique, verify_read, verify_write, sync_file, sync_phase,
        rank_stats;
    bool latency, reset_layout;
};

/* What one iteration has at its fullest, over all tasks. */
struct mdtest_need {
    uint64_t dirs, items;
};

/* One number of tasks in progress. */
struct mdtest_test {
    const struct mdtest_options *o;
    int id, tasks;
    const struct weir_plan *plan;
    struct mdtest_need need;
    struct mdtest_places places;
    struct weir_dirtree tree;
    struct mdtest_names names, target; /* target: of a rename */
    int shift;                         /* of one phase, in tasks */
    bool all_phases;                   /* because none was asked for */
    struct weir_small_files fs;
    size_t out_len, in_len; /* written to and read from a file */
    struct mdtest_ledger ledger;
    struct mdtest_pass pass;
    struct weir_err damage; /* the first wrong data that this rank saw in a phase */
    struct mdtest_results results;
    bool ready; /* all ranks have what the phases need */
};

extern const struct weir_driver weir_mdtest;

/* mdtest-check.c: the options, before anything is done; fills what follows from them. Collective
 * over run->world. -1 and err (WEIR_EUSAGE) on every rank. */
int mdtest_check(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *own,
                 struct weir_err *err);
/* Tree and shift for one number of tasks. Local. -1 and err (WEIR_EUSAGE). */
int mdtest_plan(struct mdtest_test *t, const struct weir_run *run, struct weir_err *err);

/* mdtest-phases.c: of the phase in progress. Does it make items; does rank 0 work alone, as with
 * -c on what is made and removed, and on what is there only once; and how many things is one step
 * of it, where rank 0 takes it for every task? Local. */
bool mdtest_makes_items(const struct mdtest_test *t);
bool mdtest_works_alone(const struct mdtest_test *t);
/* Are files created in two passes, with mdtest_write_phase as the second? What the user wants done
 * once for the creation is done before the first and after the second. Local. */
bool mdtest_writes_apart(const struct mdtest_test *t);
uint64_t mdtest_things_of_step(const struct weir_run *run, const struct mdtest_test *t);

/* mdtest-phases.c: rows of the phases by operation; NULL for "Directory read", which has nothing
 * to do. */
extern const struct weir_phase mdtest_phases[MDTEST_OPS];
/* The second pass of -c over files: each task opens and writes its own. */
extern const struct weir_phase mdtest_write_phase;
/* mdtest-items.c: the name of the nth item that a task creates. */
const char *mdtest_name_created(struct mdtest_test *t, const struct weir_run *run,
                                struct mdtest_names *n, enum mdtest_kind kind, int owner,
                                uint64_t nth);

/* mdtest-items.c: the files of the read phase that begins, a weir_small_file_fn. */
bool mdtest_name_read(struct weir_run *run, void *state, uint64_t n, struct weir_small_file *file);

/* Whose tree holds the items of a task. */
static inline int mdtest_tree_of(const struct mdtest_test *t, const struct weir_run *run, int owner)
{
    return t->o->unique ? (owner + t->shift) % run->par.size : MDTEST_NOBODY;
}

/* mdtest-run.c: functions of struct weir_driver for one number of tasks. */
int mdtest_begin(struct weir_run *run, void *state, struct weir_err *err);
int mdtest_start(struct weir_run *run, void *state, struct weir_err *err);
void mdtest_end(void *state);
extern const struct weir_stage mdtest_stages[];
int mdtest_iteration(struct weir_run *run, void *state, struct weir_err *err);

/* mdtest-clean.c: after a failure or a signal, remove what this run made. Collective over
 * run->par. Never fails; says what is left. */
void mdtest_clean(struct weir_run *run, void *state);

/* mdtest-clean.c: --cleanup DIR. Rank 0 works. Collective over run->world. */
int mdtest_remove_leftovers(struct weir_run *run, const char *dir, struct weir_err *err);

/* What earlier runs left where this one works: weir_tidy_existing. Collective over run->world. */
int mdtest_look_at_leftovers(struct weir_run *run, const struct mdtest_test *t,
                             struct weir_err *err);

/* mdtest-report.c: what is shown. Rank 0 only; no-ops elsewhere, but for begin and places
 * (collective over run->world) and test (over run->par). places: -1 and err on every rank. */
void mdtest_report_begin(struct weir_run *run, struct weir_test *tests, int n, int argc,
                         char *const *argv);
int mdtest_report_places(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_report_test(struct weir_run *run, void *state, struct weir_err *err);
void mdtest_report_finish(struct weir_run *run, const struct weir_test *tests);
void mdtest_report_measure(struct weir_run *run, struct mdtest_test *t,
                           const struct mdtest_measure *m);
int mdtest_summary(struct weir_run *run, void *state, struct weir_err *err);
/* The rows of all tests, for programs. */
void mdtest_summary_rows(struct weir_run *run, const struct weir_test *tests, int n);

/* mdtest-trace.c: lines "V-<level>: Rank   0 Line ..." of -v. Rank 0 only. */
#define mdtest_log(run, level, ...) mdtest_trace((run), (level), __LINE__, __VA_ARGS__)
void mdtest_trace(struct weir_run *run, int level, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void mdtest_trace_options(struct weir_run *run, const struct mdtest_test *t);
/* mdtest-walk.c: what a phase visited. */
void mdtest_trace_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                        uint64_t steps);
void mdtest_trace_result(struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op);
void mdtest_trace_removed(struct weir_run *run, struct mdtest_test *t);
/* Stages, around those of the items and around those of a kind, and the phase that does nothing. */
weir_stage_fn mdtest_trace_items, mdtest_trace_items_end, mdtest_trace_kind, mdtest_trace_kind_end,
    mdtest_trace_dir_read;

#endif
