/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-state.h - the options of the metadata benchmark and the state of one test: a struct for each concern */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_STATE_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/session/session.h"
#include "base/hist.h"
#include "base/rng.h"
#include "base/stats.h"
#include "engine/driver.h"
#include "engine/files.h"
#include "engine/observe/latency.h"
#include "engine/observe/metrics.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/place/items.h"
#include "engine/run.h"
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

struct mdtest_ledger {
    bool kind[MDTEST_KINDS];        /* which are tested */
    uint64_t planned[MDTEST_KINDS]; /* items of a task */
    uint64_t count[MDTEST_KINDS]; /* items of a task that are there now, as far as this run knows */
    uint64_t started[MDTEST_KINDS]; /* items that this rank may have made, for the clean-up */
    uint64_t trees_started;
    uint64_t stale; /* directories of the tree that were there before */
};

struct mdtest_places {
    char **base; /* where to work: one of these for each task */
    bool *made;  /* this rank made base[i] */
    int n;
    struct weir_session outer; /* of these directories, for all tests */
    bool all_ours;             /* no test-dir was there before */
    bool made_tests;           /* in this iteration */
};

/* The base directory in which the tree of a task is. */
static inline const char *mdtest_base_of(const struct mdtest_places *p, int whose)
{
    return p->base[p->n > 1 && whose >= 0 ? whose % p->n : 0];
}

/* What is measured, in the order of tables and files. */
enum mdtest_op {
    MDTEST_DIR_CREATE,
    MDTEST_DIR_STAT,
    MDTEST_DIR_READ,
    MDTEST_DIR_RENAME,
    MDTEST_DIR_REMOVE,
    MDTEST_FILE_CREATE,
    MDTEST_FILE_STAT,
    MDTEST_FILE_READ,
    MDTEST_FILE_REMOVE,
    MDTEST_TREE_CREATE,
    MDTEST_TREE_REMOVE,
    MDTEST_OPS
};

extern const struct weir_operation mdtest_operations[MDTEST_OPS + 1];

/* What an operation is about: items or trees, how far the tasks have shifted, what it does to
 * names, and the option that asks for it. */
struct mdtest_fact {
    enum mdtest_kind of;
    int shifts;
    size_t flag;                 /* of that option in struct mdtest_options */
    bool makes, removes, visits; /* items */
    bool is_tree;
};
extern const struct mdtest_fact mdtest_facts[MDTEST_OPS];

struct mdtest_pass {
    const struct weir_phase *phase;
    enum mdtest_op op;
    enum mdtest_kind of;
    int owner;       /* whose items */
    bool made_order; /* visit in the order of creation, not of the numbers */
    bool shuffled;
    struct weir_perm perm;
    /* Steps low..high-1 are consecutive items of one directory, from item. */
    uint64_t loop, low, high, item;
    bool fine;          /* times of single operations are wanted */
    unsigned skip, ops; /* clock: operations to go without looking, and in the present batch */
    uint64_t batch_ns, batch_bytes; /* when it began, and what it has moved */
    uint64_t worked_ns; /* when this rank had done its own work */
};

#define MDTEST_DEVIATION WEIR_DEVIATION_SAMPLE

/* One task's part of one phase, up to the end of its own work. */
struct mdtest_mine {
    double rate, seconds;
};

/* What the iterations of one operation measured. */
struct mdtest_series {
    struct weir_stats rate;      /* operations a second, all tasks */
    struct weir_stats ms;        /* an operation for the task that does it, ms */
    struct weir_stats time;      /* the phase, seconds */
    struct weir_stats rank_rate; /* of single tasks: extremes, and the mean of means */
    struct weir_stats rank_ms;
    double items, seconds; /* of the last iteration */
};

/* What a phase measured, on all ranks. */
struct mdtest_measure {
    enum mdtest_op op;
    uint64_t items;
    double seconds, rate, ms;
    struct weir_stats rank_rate, rank_ms; /* of the ranks that had something to do; on rank 0 */
};

/* What the calls of an operation are called. */
extern const struct weir_call_names mdtest_calls[MDTEST_OPS];

/* Of all iterations. */
struct mdtest_results {
    struct mdtest_series series[MDTEST_OPS];
    struct mdtest_mine *mine;  /* [iteration * MDTEST_OPS + op]; --print-all-procs keeps all
                                * iterations */
    size_t rooms;              /* iterations that 'mine' has room for */
    int iterations;            /* that were begun */
    struct weir_hist *sum;     /* [op * WEIR_CALLS + call], rank 0, with --latency */
    double wall_items, wall_s; /* files of all tasks when the stonewall came, 0: it did not */
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

#endif
