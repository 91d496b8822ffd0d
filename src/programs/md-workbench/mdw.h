/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw.h - the metadata workbench: its options and the state of a run, shared by the files of this
 * folder only */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hist.h"
#include "base/str.h"
#include "engine/observer.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/place/items.h"
#include "engine/program.h"

/* Values of the option rows in mdw.c, which have names and meaning. */
struct mdw_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *prefix, *packet, *latency, *position_file;
    double wait;
    int64_t start;
    int offset, steps, population, sets, size, seed;
    bool adaptive, precreate, benchmark, cleanup, verify, latency_all, quiet, detailed, read_only,
        ignore_errors, each_rank;
};

/* The least of the waiting factors of -T; each of them is twice the one before. */
#define MDW_MIN_WAIT 0.0625
#define MDW_WAITS 9 /* stages of a benchmark: the factor of -t, none, and those of -T */

enum mdw_phase { MDW_PRECREATE, MDW_BENCHMARK, MDW_CLEANUP, MDW_PHASES };

/* Operations on objects, in the order in which their latencies are shown. */
enum mdw_op { MDW_READ, MDW_STAT, MDW_CREATE, MDW_DELETE, MDW_OPS };

/* The counts of a phase; the operations on objects come first, with the numbers of enum mdw_op. */
enum mdw_count { MDW_SET_CREATE = MDW_OPS, MDW_SET_DELETE, MDW_COUNTS };

extern const struct weir_operation mdw_operations[MDW_OPS + 1];

/* Room for the name of any set or object, with the name that was made last. */
struct mdw_name {
    char *text;
    size_t base, dir; /* lengths of "PREFIX/" and of the directory's name */
    int rank, set;    /* whose directory it is; rank -1: none */
};

/* Data sets of this rank, and those of others that it reads from and writes to. Sets whose numbers
 * differ by the number of tasks have all of this in common. */
struct mdw_set {
    int reader, writer; /* ranks that take objects out of our set and put new ones into it */
    int from_rank, to_rank;
    uint64_t low, high; /* objects low..high-1 are in our set, or may be */
};

/* The results of one phase: on this rank, or on all. */
struct mdw_measure {
    enum mdw_phase phase;
    int64_t iteration;
    double wait; /* waiting factor */
    uint64_t done[MDW_COUNTS], failed[MDW_COUNTS];
    uint64_t stopped; /* rounds when the stonewall ended the work early, else 0 */
    double seconds, min_s, mean_s, sd_s, span_s;
    const struct weir_hist *lat; /* of each operation on objects */
};

struct mdw_test {
    const struct mdw_options *o;
    struct weir_small_files fs;
    struct mdw_set *set; /* see mdw_set_of */
    int period;          /* of them */
    unsigned char *made; /* bits: sets made by this run */
    struct mdw_name own, from, to;
    /* positions */
    uint64_t first;     /* the lowest object */
    uint64_t pos;       /* rounds of this rank, from object 0 on */
    uint64_t low, high; /* over all ranks, when they are not at the same position */
    uint64_t reached;   /* one past the highest object that this rank may have made */
    bool lost;          /* objects may be missing or out of place: clean up by trying all names */
    bool ragged;        /* that, or tasks are at different objects */
    bool prefix_was_there;
    /* the phase in progress */
    struct mdw_measure m[1];
    double factor;
    uint64_t at_set, at_object; /* cleanup: the next one */
    unsigned char *outcome;     /* -v -v: of each operation of rank 0, bits by enum mdw_op */
    struct weir_err first_err; /* of the operations that failed in this phase */
    /* the run */
    struct weir_err why;         /* the first of all phases, on all ranks */
    uint64_t failed;         /* operations of all ranks and phases */
    uint64_t failed_before;  /* before the cleanup phase */
    uint64_t begin_ns;       /* of the run */
    bool ready, cleaning;    /* all ranks have what the phases need; the cleanup phase has begun */
    bool headed;             /* the heading of detailed rows is out */
};

extern const struct weir_program weir_mdw;

/* mdw-sets.c: ranks from a task to the one that reads what it writes into its set d. Local. */
int mdw_sets_shift(const struct mdw_options *o, int size, int d);

/* mdw-sets.c: names of sets and objects. Local. Memory grows with the tasks, and by one bit for
 * each set. */
int mdw_sets_init(struct mdw_test *t, const struct weir_run *run, struct weir_err *err);
void mdw_sets_free(struct mdw_test *t);
/* The part of set d that it shares with other sets. */
static inline struct mdw_set *mdw_set_of(const struct mdw_test *t, uint64_t d)
{
    return &t->set[d % (uint64_t)t->period];
}
/* Objects that may be in all sets of this rank. */
uint64_t mdw_sets_objects(const struct mdw_test *t);
/* Put the name of a rank's set at 'at', which takes 22 bytes; returns its end. */
static inline char *mdw_put_set(char *at, int rank, int set)
{
    at = weir_put_u64(at, (uint64_t)rank);
    *at++ = '_';
    return weir_put_u64(at, (uint64_t)set);
}

/* The directory of a rank's set, and an object in it. Each returns n->text. */
const char *mdw_name_dir(struct mdw_name *n, int rank, int set);
const char *mdw_name_object(struct mdw_name *n, int rank, int set, uint64_t index);

/* mdw-phases.c: the phases; the objects that rank 0 will read, a weir_small_file_fn; with -v -v each
 * operation of rank 0. */
extern const struct weir_phase mdw_phases[MDW_PHASES];
bool mdw_name_read(struct weir_run *run, void *state, uint64_t n, struct weir_small_file *file);
void mdw_trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec);

/* mdw.c: operations of a phase (struct weir_phase). Local. */
uint64_t mdw_count_operations(struct weir_run *run, void *state);

/* mdw.c: put the operations of the phase that has just run, of rank 0 or with --latency-all of all
 * ranks, into the files of -L: lines "time,runtime" in seconds. Collective over run->par. Returns 0,
 * or -1 and err (WEIR_ESETUP) on every rank. */
int mdw_write_operations(struct weir_run *run, const struct mdw_test *t,
                         const struct weir_phase_rec *rec, struct weir_err *err);

/* mdw-run.c: functions of struct weir_program for the test. */
extern const struct weir_stage mdw_stages[];
/* The waiting factor of the benchmark with this index of its stage, -1 to MDW_WAITS - 2. Local. */
double mdw_factor(const struct mdw_options *o, int index);
int mdw_begin(struct weir_run *run, void *state, struct weir_err *err);
void mdw_end(void *state);
int mdw_start(struct weir_run *run, void *state, struct weir_err *err);
void mdw_clean_up(struct weir_run *run, void *state);
int mdw_conclude(struct weir_run *run, void *state, struct weir_err *err);

/* mdw-run.c: the numbers of a run-info file: position; first object and end of those that may be
 * there, -1 where the file does not say. Local. -1 and err. */
int mdw_position_load(const char *path, int64_t v[3], struct weir_err *err);

/* mdw-report.c: of a phase. Local. Quartiles: least, 25 %, 50 %, 75 %, 90 %, 99 %, most, in
 * seconds; NaN where nothing was measured. */
#define MDW_QUARTILES 7
uint64_t mdw_errors(const struct mdw_measure *m);
uint64_t mdw_objects(const struct mdw_measure *m);
double mdw_throughput(const struct mdw_test *t, const struct mdw_measure *m); /* MiB/s */
double mdw_iops(const struct mdw_test *t, const struct mdw_measure *m);
void mdw_quartiles(double out[MDW_QUARTILES], const struct weir_hist *h);

/* mdw-report.c: sum up a phase and show it. Collective over run->par. */
extern const struct weir_output mdw_output;
int mdw_measure(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec,
                struct weir_err *err);
