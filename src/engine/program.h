/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - the contract between the engine and a program: phases, stages, plans and tests as
 * structs, without any code of the engine.
 *
 * A program supplies rows and arithmetic (struct weir_program). Its functions are of two kinds.
 *   Local: may fail on one rank alone; the engine agrees after it.
 *   Collective: all ranks of run->par enter it together. After a local function that failed on one of
 *               them no rank does, because the engine agrees before.
 * Each field says by its type which kind it is. */
#pragma once

#include "backends/session/session.h"
#include "base/node/cache.h"
#include "base/options/help.h"
#include "base/options/option.h"
#include "base/stats.h"
#include "base/text/script.h"
#include "engine/files.h"
#include "engine/options.h"
#include "engine/run.h"

/* ---- phases ---- */

/* The six time stamps of a phase. */
enum weir_mark {
    WEIR_MARK_OPEN,   /* T0: before open */
    WEIR_MARK_OPENED, /* T1 */
    WEIR_MARK_WORK,   /* T2: before the first step */
    WEIR_MARK_WORKED, /* T3: after the last step and flush */
    WEIR_MARK_CLOSE,  /* T4: before close */
    WEIR_MARK_CLOSED, /* T5 */
    WEIR_MARKS
};

enum {
    WEIR_PHASE_STONEWALL = 1u << 0, /* honours deadline, wear-out and minimum time */
    WEIR_PHASE_BARRIERS = 1u << 1,  /* honours -g */
    WEIR_PHASE_BYTES = 1u << 2,     /* its rate is in bytes, whatever its steps are called */
    WEIR_PHASE_REPEATS = 1u << 3    /* after its last step the first one can come again */
};

/* A phase in which some ranks work, and the others take part only in what is collective. */
struct weir_turn {
    bool idle;         /* own: this rank does not work */
    const char *name;  /* name of the series of such phases; lives as long as the test */
    int done, all;     /* phases of the series: before this one, and in all */
    uint64_t begin_ns; /* begin of the series */
};

/* Limits and ranks of a phase that an observer does again, outside of its stage. */
struct weir_again {
    const struct weir_turn *turn; /* a group of ranks works without the others; NULL: all work */
    const struct weir_load *load; /* the rate of operations; NULL: as fast as they end */
    double seconds;               /* its maximum duration; 0: to its end */
};

/* Actions of all ranks together in a phase; set by the program from its options. Its steps are
 * ended and delayed by the limits (engine/steps/limits.h). */
struct weir_timing {
    uint64_t max_steps; /* of a rank, where the program has a limit of its own; 0: none */
    double deadline_s;  /* of a rank, in the same case; 0: none */
    uint64_t op_bytes;  /* of each operation of a rank, always set for them; 0: not known */
    bool barriers;      /* -g */
    /* Steps are collective: all ranks take the same number of rounds. A rank that has failed or has
     * less to do idles in a round; its own steps are only counted. */
    bool collective_steps;
    /* The ranks that take collective steps with this one, NULL: all. Groups of ranks then have
     * their own pace, and learn of each other's failures and signals as independent ranks do. */
    const struct weir_par *steps_par;
    /* With collective_steps: all ranks have the same number of steps, which agree on failures and
     * on signals themselves (weir_interrupt_poll, WEIR_EINTR), so the engine asks for no votes. */
    bool agrees;
    bool collective_open;  /* open and close are collective */
    bool collective_flush; /* flush is collective, and has something to do */
};

/* A phase is a row; the state is the program's. Functions may be NULL but for count and step. Each
 * returns 0, or -1 with err filled; a rank may fail alone, the engine makes it known to all. None
 * of them but open, opened, idle and close may call a collective, and these only where the timing
 * says so. */
struct weir_flow; /* transfer.h */
struct weir_phase {
    const char *key;
    const char *unit; /* what steps are called, in the plural; NULL: "transfers" */
    unsigned flags;
    /* Before the clock starts. */
    int (*prepare)(struct weir_run *, void *state, struct weir_err *);
    /* Return the steps of one pass of this rank; 0 is fine. Asked after prepare. */
    uint64_t (*count)(struct weir_run *, void *state);
    /* Return the operations that this rank has done in its steps so far; NULL: one in each.
     * Local, asked after steps, outside their time. */
    uint64_t (*done)(struct weir_run *, const void *state, uint64_t steps);
    /* Return the operations of one pass of this rank that are recorded (engine/records.h);
     * NULL: as many as steps. Asked after prepare. */
    uint64_t (*operations)(struct weir_run *, void *state);
    /* For a phase that both writes and reads: the index of its operation of writing; the others
     * follow it, in the order of enum weir_dir. Each then has counts (weir_phase_rec.by_dir) and
     * times (run->records.hist) of its own. 0: a phase does one of them, and the index is io->dir. */
    int mixed;
    /* Timed: T0..T1. */
    int (*open)(struct weir_run *, void *state, struct weir_err *);
    /* Between T1 and T2, outside open and transfer time: look at what was opened. */
    void (*opened)(struct weir_run *, void *state);
    /* Timed: step i of this rank. *clock_ns is the time now and must be the time at its end on
     * return. Allocates nothing, logs nothing, formats nothing (but to fill err). */
    int (*step)(struct weir_run *, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *);
    /* With timing.collective_steps: take part in a round of the others without moving anything, in
     * place of step. 'round' counts the rounds of all ranks from 0; err is NULL when this rank has
     * failed before, else it has less to do than others. *clock_ns as in step. */
    int (*idle)(struct weir_run *, void *state, uint64_t round, uint64_t *clock_ns,
                struct weir_err *);
    /* The transfers that steps only begin. Timed with the steps the engine waits for them, also before a
     * stonewall, and counts what has ended while the next step is not yet due. Not called after a failure. */
    struct weir_flow (*flow)(void *state);
    /* The next step is not yet due: make what it needs before, so that it begins on time. *clock_ns
     * as in step. */
    void (*ready)(struct weir_run *, void *state, uint64_t *clock_ns);
    /* Some 20 times a second between two steps, outside of both: this rank's steps so far, and
     * seconds since the first one began. For a program with a progress bar of its own. */
    void (*poll)(struct weir_run *, void *state, uint64_t steps, double seconds);
    /* Timed with the steps: fsync and the like. Not called after a failure. */
    int (*flush)(struct weir_run *, void *state, struct weir_err *);
    /* Timed: T4..T5. Called on every rank whose open succeeded. Where open is collective and
     * failed on another rank, it must not wait for that rank (backend.h: a file that is lost). */
    int (*close)(struct weir_run *, void *state, struct weir_err *);
};

/* The bounds of the steps of a phase, for observers: set by the limits, the same on all ranks. */
struct weir_bounds {
    double max_s, min_s; /* no step begins after; passes follow until; 0: no such time */
    bool observed;          /* an observer may end it before (--until=steady) */
    bool wears_out;         /* after max_s all ranks go on to the count of the fastest */
};

/* The rate of all tasks in a phase at a rate: operations or bytes a second, asked for and
 * reached. 'late_share' is the fraction of operations that were late, 'late_ns' the largest
 * delay. All but 'reached' are NaN where the maximum was measured. */
struct weir_rate_reached {
    double asked, reached, late_share, late_ns;
    bool bytes;
};

/* Bytes of all page caches that were looked up; NaN: not known. */
struct weir_cached {
    double looked, resident, dirty;
};

/* The work that was done when the deadline came: steps, done and bytes. */
struct weir_stonewall {
    bool known; /* wear-out was asked for: the rest is measured */
    struct weir_phase_numbers min, max, sum;
    uint64_t steps; /* own */
    uint64_t time_ns; /* rank 0's time in the loop when it stopped */
};

/* The results of a phase; the same on all ranks but for the fields marked "own". Times in ns. */
struct weir_stage;
struct weir_phase_rec {
    const struct weir_phase *phase;
    const struct weir_stage *stage; /* the stage of the phase; NULL: an extra phase */
    const struct weir_timing *timing;
    const struct weir_again *again; /* the phase is a repetition by an observer; NULL: it is not */
    struct weir_bounds bounds;
    const int64_t *maxima; /* of an observer, while it is called after the phase (observer.h) */
    const uint64_t *sums;
    int repetition;
    int64_t first[WEIR_MARKS],
        last[WEIR_MARKS];      /* earliest and latest over the ranks, on rank 0's clock */
    uint64_t clock_error_ns;   /* how wrong times of different ranks may be to each other */
    uint64_t mark[WEIR_MARKS]; /* own, local clock */
    uint64_t steps;            /* own */
    struct weir_phase_numbers min, max, sum; /* own until they are merged */
    uint64_t wrong_found; /* those that the program finds after the phase, of all ranks */
    const struct weir_cached *cached; /* rank 0; NULL: not looked for */
    const struct weir_steady_verdict *steady; /* by --until=steady, the same on all ranks; NULL: not asked for */
    const struct weir_rate_reached *rate; /* rank 0; NULL: at no rate */
    struct weir_stonewall stonewall;
    bool interrupted; /* a signal ended it early; the values here are nevertheless measured */
    bool failed;      /* the values here have no meaning but the times */
};

/* Return the number of places with wrong data, of all ranks, by now. Local. */
static inline uint64_t weir_phase_wrong(const struct weir_phase_rec *rec)
{
    return rec->sum.wrong + rec->wrong_found;
}

/* ---- stages ---- */

struct weir_stage;
typedef int weir_stage_fn(struct weir_run *run, void *state, const struct weir_stage *stage,
                          struct weir_err *err);

/* When a stage runs; 0: in each repetition. */
enum {
    WEIR_STAGE_FIRST = 1u << 0,   /* once, before the repetitions */
    WEIR_STAGE_LAST = 1u << 1,    /* once, after the repetitions when all of them were good */
    WEIR_STAGE_DELAY = 1u << 2,   /* the delay between phases comes before it */
    WEIR_STAGE_WRITES = 1u << 3,  /* the phase writes data and does little else */
    WEIR_STAGE_READS = 1u << 4,   /* the same, reads; with both it does the one and the other */
    WEIR_STAGE_UNTIMED = 1u << 5, /* its time is no result */
    WEIR_STAGE_TOGETHER = 1u << 6, /* steps, open and close are collective */
    WEIR_STAGE_MAKES = 1u << 7,   /* the phase makes items: the write phase of metadata */
    WEIR_STAGE_CHECKS = 1u << 9,  /* the phase reads what was written to check it, and is UNTIMED */
    WEIR_STAGE_EXTRA = 1u << 8,   /* no phase: the place where observers have phases of their own */
    WEIR_STAGE_FULL_SPEED = 1u << 10 /* whatever the rate of the others */
};

/* A stage that a subset of the ranks repeats afterwards, as often as observers want (--sweep). */
struct weir_subset {
    /* True when it can be done with these options, now. Local, the same on all ranks. */
    bool (*can)(const void *state, const struct weir_stage *stage);
    bool complete; /* it ends with its last step: no time limits it */
    weir_stage_fn *before; /* collective, in the place of that of the stage */
    /* Collective, as that of the stage. */
    int (*after)(struct weir_run *run, void *state, const struct weir_stage *stage,
                 struct weir_phase_rec *rec, struct weir_err *err);
};

/* A part of a repetition: a phase and what belongs to it. Functions may be NULL. */
struct weir_stage {
    const char *key; /* in messages: "write" */
    unsigned flags;
    int index;                                                         /* the program's */
    const struct weir_phase *phase;                                    /* NULL: only 'before' */
    bool (*wanted)(const void *state, const struct weir_stage *stage); /* NULL: always */
    /* Set what ranks do collectively. Local, the same on all ranks. */
    void (*timing)(const void *state, const struct weir_stage *stage, struct weir_timing *timing);
    /* Collective: before the phase. */
    weir_stage_fn *before;
    /* Collective: after a phase that did not fail; with the record of the phase. NULL: a line with
     * the rate, and what --report, rank and operation files ask for. */
    int (*after)(struct weir_run *run, void *state, const struct weir_stage *stage,
                 struct weir_phase_rec *rec, struct weir_err *err);
    const struct weir_subset *subset; /* NULL: it is done by all ranks only */
    /* The stage was skipped, because the time of the test was over. Local. */
    void (*skipped)(struct weir_run *run, void *state, const struct weir_stage *stage);
};

#define WEIR_TEST_SESSIONS 4

/* A session that the engine starts before 'start' and ends with the test. */
struct weir_use {
    struct weir_session *session;
    const struct weir_backend *be;
    struct weir_backend_opt opt;
    const struct weir_access *access;
};

/* The plan of a test, which follows from its options alone. Filled by the program's
 * 'plan', the same on all ranks. */
struct weir_plan {
    const struct weir_run_options *options;
    int tasks;        /* ranks that take part, the lowest ones; at most those that there are */
    int nodes, node0_tasks; /* numNodes and numTasksOnNode0 of the user; 0: as found */
    const char *path; /* where the test works; may be NULL */
    char between[2];  /* "@": path is several places, joined by it */
    bool writes, shared;    /* it makes files there; tasks share them */
    uint64_t bytes, inodes; /* the largest need of the test, all tasks together; 0: not known */
    uint64_t over_bytes; /* existing files are overwritten up to this length and keep the rest;
                          * 0: they lose all of their contents */
    bool is_run;      /* false: the plans are all that was asked for, of all tests */
    struct weir_use use[WEIR_TEST_SESSIONS];
    int uses;
};

/* A backend of the sessions of a test, also on ranks that take no part in them. */
struct weir_backend_in_use {
    const struct weir_backend *be;
    struct weir_backend_opt opt;
};

/* Facts about the place where a test works, found before it begins. */
struct weir_found {
    int apart;           /* 1: nodes do not see the same files; -1: not known */
    double full;         /* share of the file system that is used, of a dry run: would be; NaN: not known */
    double full_inodes;
    double need_of_free; /* the share of the free bytes or inodes that the test needs */
    const char *excess; /* a text about what does not fit; NULL: all fits, or it is not known */
    /* The file system of the test, on rank 0; NULL: not known. */
    const char *mount, *file_system, *mount_options;
};

/* One test of a run. */
struct weir_test {
    int id;                           /* from 0 */
    int variant;                      /* of the tests that one set of options makes, from 0 */
    int max_repetitions, done; /* done: repetitions so far, fewer in the end with --until */
    const struct weir_values *values; /* of its options, as they were given */
    const void *chosen;               /* a copy of those of the program, as its plan has left them */
    uint64_t chosen_hash;             /* when the test began: they stay as they are */
    const struct weir_program *program;
    void *state; /* the program's, state_size zeroed bytes; lives as long as the run */
    struct weir_plan plan;
    /* while it runs */
    struct weir_unwind unwind;
    struct weir_session *session[WEIR_TEST_SESSIONS];
    int sessions;
    struct weir_backend_in_use used[WEIR_TEST_SESSIONS]; /* each backend once */
    int n_used;
    uint64_t begin_ns;
    struct weir_arena arena; /* of observers: lives from test_begin until after test_free */
    void *limits; /* the states of those of its phases (engine/steps/limits.c) */
    uint64_t op_files; /* of the files of operations, those that an earlier test has begun */
    const char *invalid_by;     /* the rules by which it is INVALID, with --strict; else NULL */
    struct weir_found found;
    struct weir_missing missing; /* of the run and of this test */
    uint64_t wrong; /* of all phases and ranks until now; the status is then WEIR_EDATA */
    const char *rates;          /* for people, a table below its findings; NULL: none */
    bool evicted;               /* --drop-cache has worked before the last phase that reads */
    bool failed;                /* for conclude: an error or a signal ended it */
};

/* ---- programs ---- */
/* The values of all options of one test. They are a copy of the program's option struct, which
 * begins with struct weir_run_options, and those of every backend, which tests share as long as
 * they are the same. Owned by the run's arena. */
struct weir_values {
    const void *given;
    const struct weir_opt *rows; /* of these: the program's with those of all programs */
    const void **backend_opt; /* in the order of weir_backends() */
};

/* A kind of operation that a program measures; records and histograms have its index. */
struct weir_operation {
    const char *key;   /* in files of operations: "write" */
    const char *title; /* in tables: "File creation" */
    const char *unit;  /* what one of them does: "transfers", "items" */
    bool moves_bytes;
};

/* The part of the names of files of operations (savePerOpDataCSV) before the number of the task. */
enum weir_op_files {
    WEIR_OP_FILES_TASK,       /* PREFIX- */
    WEIR_OP_FILES_REPETITION, /* PREFIX-<repetition>- */
    WEIR_OP_FILES_OPERATION /* PREFIX-<title of the operation>-: a file for each operation, which is
                               * the index of the stage that does it */
};

/* The command line of a program, and the files that it reads options from. Members may be NULL. */
struct weir_cli {
    /* The options of all programs are those that its table names, and none of backends. */
    bool minimal;
    const char *usage; /* the first line of --help; NULL: there is none */
    /* Appends the text of --version; NULL: name and version. Local. */
    void (*version)(struct weir_str *out);
    /* True when the test runs in this process alone, without MPI_Init. NULL: no. Local. */
    bool (*without_mpi)(const void *opt);
    /* The script file named on the command line (ior -f), or NULL; and how it is read (script.h), which
     * a program with scripts always has. */
    const char *(*script)(const void *opt);
    int (*read_script)(const char *text, size_t len, const char *name,
                       const struct weir_script_sink *sink, struct weir_err *err);
    /* The script of one test that programs (not jobs of the library) read where none is named: this file, when
     * it is in the working directory. The command line overrides it. NULL: there is no such name. */
    const char *script_here;
    /* The backend of a test where the option of all programs does not name it. Local. */
    const char *(*api)(const void *opt);
    /* A file of lines "key = value" that the command line overrides, and that need not be there:
     * its path, or false. Keys are names of options; those that match a pattern (fnmatch) in
     * settings_skip (ends with NULL) are none, and allowed. Local, the same on all ranks;
     * settings_file NULL: there is no such file. */
    bool (*settings_file)(const void *opt, struct weir_str *path);
    const char *const *settings_skip;
    /* Do what was asked for instead of tests; true, with the outcome in *code. Collective. */
    bool (*instead)(struct weir_run *run, const struct weir_values *values, enum weir_code *code);
};

/* The files that the tests of a program make. Functions may be NULL. */
struct weir_test_files {
    /* Add the files of a test that its option rows do not name, nor the engine (files of
     * operations), with 'tasks' tasks at most. Local. Returns 0, or -1 and err when memory is out. */
    int (*add)(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);
    /* target: append the path of the i-th file that this rank will make, from 0, to *path;
     * false: there is none. After start. NULL: 'range' (struct weir_test_checks) names one file, or
     * else it is the plan's path on rank 0. 'existing': what --existing can ask for
     * (WEIR_EXISTING_...); 0: nothing, and no file is looked at. Local. */
    bool (*target)(struct weir_run *run, const void *state, int i, struct weir_str *path);
    unsigned existing;
    /* The files that this rank made in a repetition are removed after it unless 'keeps' says otherwise
     * (the same on all ranks). Then 'removed' reports that; without it the time of the first removal is
     * reported, for data readers. */
    bool (*keeps)(const void *state);
    weir_local_fn *remove;
    void (*removed)(struct weir_run *run, void *state, double seconds);
    /* After a failure: remove what is left. Collective; never fails, reports what stays. */
    void (*clean)(struct weir_run *run, void *state);
};

/* The facts that the checks must know of a test (engine/check/inputs.h). */
struct weir_inputs;
struct weir_test_checks {
    /* Declares what its options say about the reliability of its results; after start. Collective; rank 0 alone keeps it. */
    void (*inputs)(struct weir_run *run, void *state, struct weir_inputs *inputs);
    /* Which bytes of which ordinary file this rank reads or writes in a stage, after its 'before'
     * (NULL: which file it will make; after start); false: not known, or none. For
     * weir_pagecache_sample. Local. */
    bool (*range)(struct weir_run *run, void *state, const struct weir_stage *stage,
                  struct weir_str *path, struct weir_cache_range *range);
};

/* The output that a program shows of its own, and its form. Functions may be NULL. */
struct weir_output {
    enum weir_deviation deviation; /* of all standard deviations in its documents */
    enum weir_op_files op_files;
    /* With a file for each operation: true when this test writes that of 'op'. *size: the bytes
     * of each operation; 0, the value before, means those that were moved. NULL: all files.
     * Local, the same on all ranks. */
    bool (*records)(const void *state, int op, uint64_t *size);
    /* The heading of the file of the ranks, where the program writes it with rows of its own
     * (weir_ranks_rows); NULL: the engine's rows, one for each rank and phase. */
    void (*rank_head)(const void *state, struct weir_str *out);
    /* Form and path of the results without --report; NULL: text on standard output. Local. */
    void (*form)(const void *opt, const char **format, const char **path);
    /* The banner before the results; without it program, command line, machine and time, and the
     * time at the end, for data readers. Collective. */
    void (*banner)(struct weir_run *run, struct weir_test *tests);
    /* The description of the test, in the object of the test that was entered; without it where it
     * was measured and the parameters, for data readers. */
    weir_collective_fn *report;
    /* The summary of the first n tests. Rank 0 shows it, others do nothing. */
    void (*summary)(struct weir_run *run, const struct weir_test *tests, int n);
    /* The last lines; may be NULL. Collective. */
    void (*finish)(struct weir_run *run, const struct weir_test *tests);
};

/* The parts of a program. Functions may be NULL unless the comment says "always". Those of a
 * test are called in the order in which they stand here. */
struct weir_program {
    const char *name;            /* of the program */
    const char *brief;           /* one sentence for --help and the man page */
    const struct weir_example
        *examples;               /* for --help, before those of all programs; may be NULL */
    int example_tasks;           /* of their command lines; 0: 4 */
    const struct weir_opt *opts; /* its own rows (engine/options.h); ends with OPT_END */
    size_t opt_size, state_size; /* of the option struct, and of the state of one test */
    const struct weir_operation *operations; /* always; ends with a row without key */
    bool whole; /* a repetition is of use as a whole only: the engine refuses a deadline */
    /* Parts that some programs have; NULL: none. */
    const struct weir_cli *cli;
    const struct weir_test_files *files;
    const struct weir_output *output;
    const struct weir_test_checks *checks; /* without it the tests are not judged */

    /* ---- the run: all ranks, run->par is run->world ---- */

    /* Return the number of tests of one set of options; NULL: one. Local, the same on all ranks. */
    int (*variants)(const void *opt, const struct weir_par *world);
    /* Required. Check the options of run->test, choose its backend and fill its plan and state;
     * nothing is done yet. chosen: run->test->chosen, where only this function puts what
     * follows from the options. Collective, the same on all ranks. */
    int (*plan)(struct weir_run *run, void *state, void *chosen, struct weir_err *err);
    /* Prepare the parts that all tests share, and warn of what is unusual about them together.
     * Before the first test, and after the last (not when enter failed), with the state of the
     * first. code is the outcome of the tests. Collective. */
    int (*enter)(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
    int (*leave)(struct weir_run *run, void *state, enum weir_code code, struct weir_err *err);

    /* ---- a test: the ranks of run->par ---- */

    weir_local_fn *begin;      /* memory and names of a rank */
    void (*end)(void *state);  /* gives them back, also after a begin that failed. Local */
    weir_collective_fn *start;   /* sessions, and what the ranks must know of each other */
    weir_local_fn *repetition; /* what changes with it: signature, seed */
    const struct weir_stage *stages; /* ends with a row without key */
    weir_collective_fn *conclude; /* rows of all repetitions, also after a failure */
};

/* True when the option of the program or of all programs was given, be it its default. Local. */
static inline bool weir_values_typed(const struct weir_values *v, const char *name)
{
    return weir_opt_is_typed(&((const struct weir_run_options *)v->given)->typed, v->rows, name);
}

/* Return the number of operations of a program. Local. */
static inline int weir_operations_count(const struct weir_program *p)
{
    int n = 0;

    while (p->operations[n].key)
        n++;
    return n;
}

/* True when a stage of the program has this flag. Local. */
static inline bool weir_program_has(const struct weir_program *p, unsigned flag)
{
    const struct weir_stage *s = p->stages;

    while (s && s->key && !(s->flags & flag))
        s++;
    return s && s->key;
}

/* The texts of a program, without members where it has none. Local. */
static inline const struct weir_output *weir_output_of(const struct weir_program *p)
{
    static const struct weir_output none;

    return p->output ? p->output : &none;
}

/* The backend that the user named ('name', in upper or lower case; NULL: the default), ready to
 * work, and in *opt its options and its base's in this test. Where the system of any rank refuses it,
 * the one that its option "fallback" names, with opt->refused. Collective over par->comm. Returns 0,
 * or -1 and the same err on all ranks: there is no such backend (WEIR_EUSAGE), or it cannot be
 * loaded (WEIR_ESETUP). */
int weir_values_backend(const struct weir_values *v, const char *name, const struct weir_par *par,
                        const struct weir_backend **be, struct weir_backend_opt *opt,
                        struct weir_err *err);

/* Refuse a name that is no backend of this build: err (WEIR_EUSAGE) has the names of those that are, or
 * what to use for a backend of another benchmark. Local. Returns -1. */
int weir_backend_refuse(const char *name, struct weir_err *err);

/* Declare, in a source of src/programs, a program of this name, made of this struct. bootstrap
 * reads the line and makes the program (src/programs/main.c). */
#define WEIR_PROGRAM(name, program) _Static_assert(sizeof(program) > 0 && sizeof(name) > 1, name)

/* main() of every program: --help, --version and --dump-options without MPI; MPI, options, script,
 * run, report, MPI_Finalize. Returns the exit status. */
int weir_main(const struct weir_program *p, int argc, char **argv);
