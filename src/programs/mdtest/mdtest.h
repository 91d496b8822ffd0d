/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.h - the metadata benchmark: its options, the state of one test with a struct for each
 * concern, and the functions that the files of this folder share. No other folder includes it */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/session/session.h"
#include "base/hist.h"
#include "base/rng.h"
#include "base/stats.h"
#include "engine/files.h"
#include "engine/observe/latency.h"
#include "engine/observer.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/place/items.h"
#include "engine/program.h"
#include "engine/run.h"
#include "engine/transfer.h"
#include "programs/mdtest/mdtest-tree.h"

/* Values of the option rows in mdtest-options.c, which have names and meaning. */
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
    bool list, move, link, symlink, xattrs, chmod; /* xattrs: with xattr */
    int64_t xattr;
};

struct mdtest_ledger {
    bool kind[MDTEST_KINDS];        /* which are tested */
    uint64_t planned;               /* items of a task, of each kind */
    uint64_t count[MDTEST_KINDS]; /* items of a task that are there now, as far as this run knows */
    uint64_t started[MDTEST_KINDS]; /* items that this rank may have made, for the clean-up */
    uint64_t trees_started;
};

struct mdtest_places {
    char **base; /* where to work: one of these for each task */
    int n;
    bool made; /* this rank made the one with its number */
    struct weir_session outer; /* of these directories, for all tests */
    bool all_ours;             /* no test-dir was there before */
    bool made_tests;           /* in this iteration */
};

/* The base directory in which the tree of a task is. */
static inline const char *mdtest_base_of(const struct mdtest_places *p, int whose)
{
    return p->base[p->n > 1 && whose >= 0 ? whose % p->n : 0];
}

/* The operations, in the order of tables and files: key, title, name of the call, operation, option,
 * shift. Then a usual one has its actions, one that only options ask for its call of the backend.
 * doc/result.schema.awk reads the first three. */
#define MDTEST_USUAL(ROW)                                                                          \
    ROW("directory create", "Directory creation", "mkdir", DIR_CREATE, create, 0, .makes = true)   \
    ROW("directory stat", "Directory stat", "stat", DIR_STAT, stat, 1, .visits = true)             \
    ROW("directory read", "Directory read", NULL, DIR_READ, read, 2, .call = 0)                    \
    ROW("directory rename", "Directory rename", "rename", DIR_RENAME, rename, 1, .call = 0)        \
    ROW("directory remove", "Directory removal", "rmdir", DIR_REMOVE, remove, 3, .removes = true)  \
    ROW("file create", "File creation", "create", FILE_CREATE, create, 0, .makes = true)           \
    ROW("file stat", "File stat", "stat", FILE_STAT, stat, 1, .visits = true)                      \
    ROW("file read", "File read", "read", FILE_READ, read, 2, .visits = true)                      \
    ROW("file remove", "File removal", "remove", FILE_REMOVE, remove, 3, .removes = true)          \
    ROW("tree create", "Tree creation", "mkdir", TREE_CREATE, create, 0, .is_tree = true)          \
    ROW("tree remove", "Tree removal", "rmdir", TREE_REMOVE, remove, 0, .is_tree = true)

#define MDTEST_MORE_DIRS(ROW)                                                                      \
    ROW("directory readdir", "Directory readdir", "readdir", DIR_READDIR, list, 1, DIR)            \
    ROW("directory readdirplus", "Directory readdirplus", "readdir", DIR_PLUS, list, 2, DIRPLUS)   \
    ROW("directory move", "Directory move", "rename", DIR_MOVE, move, 1, RENAME)                   \
    ROW("directory symlink", "Directory symlink", "symlink", DIR_SYMLINK, symlink, 1, SYMLINK)     \
    ROW("directory readlink", "Directory readlink", "readlink", DIR_TEXT, symlink, 2, READLINK)    \
    ROW("directory unsymlink", "Directory unsymlink", "unlink", DIR_UNLINK, symlink, 3, UNLINK)    \
    ROW("directory setxattr", "Directory setxattr", "setxattr", DIR_SET, xattrs, 1, SETXATTR)      \
    ROW("directory getxattr", "Directory getxattr", "getxattr", DIR_GET, xattrs, 2, GETXATTR)      \
    ROW("directory listxattr", "Directory listxattr", "listxattr", DIR_ALL, xattrs, 3, LISTXATTR)  \
    ROW("directory chmod", "Directory chmod", "chmod", DIR_CHMOD, chmod, 2, CHMOD)

#define MDTEST_MORE_FILES(ROW)                                                                     \
    ROW("file readdir", "File readdir", "readdir", FILE_READDIR, list, 1, DIR)                     \
    ROW("file readdirplus", "File readdirplus", "readdir", FILE_PLUS, list, 2, DIRPLUS)            \
    ROW("file move", "File move", "rename", FILE_MOVE, move, 1, RENAME)                            \
    ROW("file link", "File link", "link", FILE_LINK, link, 1, LINK)                                \
    ROW("file unlink", "File unlink", "unlink", FILE_UNLINK, link, 2, UNLINK)                      \
    ROW("file symlink", "File symlink", "symlink", FILE_SYMLINK, symlink, 1, SYMLINK)              \
    ROW("file readlink", "File readlink", "readlink", FILE_TEXT, symlink, 2, READLINK)             \
    ROW("file unsymlink", "File unsymlink", "unlink", FILE_UNSYMLINK, symlink, 3, UNLINK)          \
    ROW("file setxattr", "File setxattr", "setxattr", FILE_SET, xattrs, 1, SETXATTR)               \
    ROW("file getxattr", "File getxattr", "getxattr", FILE_GET, xattrs, 2, GETXATTR)               \
    ROW("file listxattr", "File listxattr", "listxattr", FILE_ALL, xattrs, 3, LISTXATTR)           \
    ROW("file chmod", "File chmod", "chmod", FILE_CHMOD, chmod, 2, CHMOD)

enum mdtest_op {
#define MDTEST_OP(key, title, call, op, ...) MDTEST_##op,
    MDTEST_USUAL(MDTEST_OP) MDTEST_MORE_DIRS(MDTEST_OP) MDTEST_MORE_FILES(MDTEST_OP) MDTEST_OPS
};

extern const struct weir_operation mdtest_operations[MDTEST_OPS + 1];

/* Facts about an operation: items or trees, how far the tasks have shifted, what it does to
 * names, and the option that asks for it. */
struct mdtest_fact {
    enum mdtest_kind of;
    int shifts;
    size_t flag;                 /* of that option in struct mdtest_options */
    bool makes, removes, visits; /* items */
    bool is_tree;
    enum weir_name_op call; /* 0 unless only an option asks for it */
};
extern const struct mdtest_fact mdtest_facts[MDTEST_OPS];

struct mdtest_pass {
    enum mdtest_op op;
    enum mdtest_kind of;
    int owner;       /* whose items */
    bool own;        /* the second pass of -c over files: each task opens and writes its own */
    bool again;      /* that pass follows */
    bool makes;      /* items; the second pass finds them made */
    bool subset;     /* in a turn of --sweep */
    bool alone;      /* only rank 0 works: -c for items that it makes or removes, or that exist once */
    uint64_t things; /* in one step: rank 0 may take it for every task */
    bool made_order; /* visit in the order of creation, not of the numbers */
    bool shuffled;
    struct weir_perm perm;
    /* Steps low..high-1 are consecutive items of one directory, from item. */
    uint64_t loop, low, high, item;
    bool fine, parts;   /* times of single operations are wanted, and of their parts */
    unsigned skip, ops; /* clock: operations to go without looking, and in the present batch */
    uint64_t worked_ns; /* when this rank had done its own work */
};

#define MDTEST_DEVIATION WEIR_DEVIATION_SAMPLE

/* One task's part of one phase, up to the end of its own work. */
struct mdtest_mine {
    double rate, seconds;
};

/* The results of the iterations of one operation. */
struct mdtest_series {
    struct weir_stats rate;      /* operations a second, all tasks */
    struct weir_stats ms;        /* an operation for the task that does it, ms */
    struct weir_stats time;      /* the phase, seconds */
    struct weir_stats rank_rate; /* of single tasks: extremes, and the mean of means */
    struct weir_stats rank_ms;
    double items, seconds; /* of the last iteration */
};

/* The names of the calls of an operation. */
extern const struct weir_call_names mdtest_calls[MDTEST_OPS];

/* Results of all iterations. */
struct mdtest_results {
    struct mdtest_series series[MDTEST_OPS];
    struct mdtest_mine *mine;  /* [iteration * MDTEST_OPS + op]; --print-all-procs keeps all
                                * iterations */
    size_t capacity;              /* iterations that fit into 'mine' */
    int iterations;            /* that were begun */
    struct weir_hist *sum;     /* [op * WEIR_CALLS + call], rank 0, with --latency */
    double wall_items, wall_s; /* files of all tasks when the stonewall came, 0: it did not */
};

/* The most that one iteration has at one time, over all tasks. */
struct mdtest_need {
    uint64_t dirs, items;
};

/* One number of tasks in progress. */
struct mdtest_test {
    const struct mdtest_options *o;
    int tasks;
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
    char *value; /* of an extended attribute, and after it what a call has read */
    bool moved;  /* the item names.path is at target.path */
    struct weir_err damage; /* the first wrong data that this rank saw in a phase */
    struct mdtest_results results;
    bool ready; /* all ranks have what the phases need */
};

#define MDTEST_XATTR_MAX 65536 /* bytes of a value, and of all names, in Linux */

extern const struct weir_program weir_mdtest;
extern const struct weir_opt mdtest_opts[];

/* mdtest-plan.c: as plan of struct weir_program. */
int mdtest_plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err);
/* Tree and shift for one number of tasks. Local. -1 and err (WEIR_EUSAGE). */
int mdtest_plan_tree(struct mdtest_test *t, const struct weir_run *run, struct weir_err *err);

/* mdtest-phases.c: rows of the phases by operation; NULL for "Directory read", which has nothing
 * to do. */
extern const struct weir_phase mdtest_phases[MDTEST_OPS];
/* The second pass of -c over files. Actions of the user for the whole creation are done before
 * the first pass and after the second. */
extern const struct weir_phase mdtest_write_phase;

/* mdtest-more.c: the step of the operations that options add, as in struct weir_phase. */
int mdtest_step_more(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err);

/* mdtest-pass.c: for all phases, as in struct weir_phase. */
int mdtest_prepare(struct weir_run *run, void *state, struct weir_err *err);
int mdtest_finish(struct weir_run *run, void *state, struct weir_err *err);

/* mdtest-pass.c: the name of the nth item that a task creates. */
const char *mdtest_name_created(struct mdtest_test *t, const struct weir_run *run,
                                struct mdtest_names *n, enum mdtest_kind kind, int owner,
                                uint64_t nth);

/* mdtest-pass.c: the files of the read phase that begins, a weir_small_file_fn. */
bool mdtest_name_read(struct weir_run *run, void *state, uint64_t n, struct weir_small_file *file);

/* True when the operation is part of the test. */
static inline bool mdtest_wants(const struct mdtest_test *t, int op)
{
    const struct mdtest_fact *f = &mdtest_facts[op];

    return (f->is_tree || t->ledger.kind[f->of]) && *((const bool *)t->o + f->flag);
}

/* True when results have a place for it: always, but for operations that options add. */
static inline bool mdtest_shows(const struct mdtest_test *t, int op)
{
    return !mdtest_facts[op].call || mdtest_wants(t, op);
}

static inline bool mdtest_asks_more(const struct mdtest_options *o)
{
    return o->list || o->move || o->link || o->symlink || o->xattrs || o->chmod;
}

/* The items that a rank visits in the phase in progress, or the directories that it lists. */
static inline uint64_t mdtest_visits(const struct mdtest_test *t)
{
    enum weir_name_op call = mdtest_facts[t->pass.op].call;

    return call >= WEIR_NAME_DIR ? t->tree.dirs * t->tree.loops : t->ledger.count[t->pass.of];
}

/* The task whose tree holds the items of a task. */
static inline int mdtest_tree_of(const struct mdtest_test *t, const struct weir_run *run, int owner)
{
    return t->o->unique ? (owner + t->shift) % run->par.size : MDTEST_SHARED_TREE;
}

/* mdtest-pass.c: find the directory of a step, and how many steps before and after it stay there. */
void mdtest_locate_step(struct mdtest_test *t, uint64_t step);

/* The name of a step's item; its number is left in *item. */
static inline const char *mdtest_name_step(struct weir_run *run, struct mdtest_test *t, int owner,
                                           uint64_t step, uint64_t *item)
{
    int whose;

    if (step < t->pass.low || step >= t->pass.high)
        mdtest_locate_step(t, step);
    *item = t->pass.item + (step - t->pass.low);
    whose = mdtest_tree_of(t, run, owner);
    return mdtest_name_item(&t->names, mdtest_base_of(&t->places, whose), run->repetition,
                            t->pass.loop, whose, weir_dirtree_dir_of(&t->tree, t->pass.item),
                            t->pass.of, owner, *item);
}

/* mdtest-pass.c: one directory of one tree, and with -c -u that of every task's. Its name stands in
 * t->names.path. */
typedef int mdtest_branch_act(struct weir_run *, void *arg, uint64_t dir, uint64_t *clock_ns,
                              struct weir_err *);
int mdtest_each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     mdtest_branch_act *act, void *arg, uint64_t *clock_ns, struct weir_err *err);

/* The call of an operation begins, for --io-timeout. */
static inline void mdtest_enter(struct mdtest_test *t, const char *path)
{
    weir_session_enter(&t->fs.session, mdtest_calls[t->pass.op].whole, path);
}

/* mdtest-pass.c: finish an operation: count and time it, and return rc, that of its calls. To read
 * the clock can take a fifth of the time of a stat, so without need it is not read for each. */
int mdtest_finish_op(struct weir_run *run, struct mdtest_test *t, int rc, uint64_t item,
                     uint64_t bytes, uint64_t begin, uint64_t *clock_ns,
                     const struct weir_err *err);

/* Rows of weir_mdtest: mdtest-places.c, mdtest-clean.c, mdtest-report.c, mdtest-run.c. */
extern const struct weir_cli mdtest_cli;
extern const struct weir_test_files mdtest_files_made;
extern const struct weir_output mdtest_output;
extern const struct weir_stage mdtest_stages[];

/* mdtest-tables.c: rows and tables of what was measured. Rank 0; no-ops elsewhere, but for summary
 * (collective over run->par). */
int mdtest_summary(struct weir_run *run, void *state, struct weir_err *err);
/* The rows of all tests, for programs. */
void mdtest_summary_rows(struct weir_run *run, const struct weir_test *tests, int n);

/* mdtest-report.c: lines "V-<level>: Rank   0 Line ..." of -v. Rank 0 only. */
#define mdtest_log(run, level, ...) mdtest_trace((run), (level), __LINE__, __VA_ARGS__)
void mdtest_trace(struct weir_run *run, int level, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* mdtest-walk.c: lines about the names that a phase visited. */
void mdtest_trace_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                        uint64_t steps);
void mdtest_trace_result(struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op);
/* Stages, around those of the items and around those of a kind, and the phase that does nothing. */
weir_stage_fn mdtest_trace_items, mdtest_trace_items_end, mdtest_trace_kind, mdtest_trace_kind_end,
    mdtest_trace_dir_read;

/* mdtest-report.c: a row for each rank after an iteration, in the file of the ranks. A stage. */
weir_stage_fn mdtest_ranks_iteration;

/* mdtest-places.c: the base directories are made before the first test and removed after the last.
 * Collective over run->world and run->par. -1 and err. */
int mdtest_enter_run(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
int mdtest_leave_run(struct weir_run *run, void *state, enum weir_code code, struct weir_err *err);
/* The test directories of an iteration. Collective over run->par. */
int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);

/* Return the number of those that this task makes and removes, and the name of each. Local. */
static inline uint64_t mdtest_my_tests(const struct weir_run *run, const struct mdtest_test *t)
{
    return run->par.rank < t->places.n ? t->tree.loops : 0;
}

static inline const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t,
                                         uint64_t loop)
{
    return mdtest_name_test(&t->names, t->places.base[run->par.rank], run->repetition, loop);
}

/* Results of this rank in this iteration: MDTEST_OPS of them. */
static inline struct mdtest_mine *mdtest_mine_of(const struct weir_run *run,
                                                 const struct mdtest_test *t)
{
    return t->results.mine + (t->o->all_procs ? run->repetition * MDTEST_OPS : 0);
}
