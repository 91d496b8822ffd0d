/* SPDX-License-Identifier: BSD-3-Clause */
/* observer.h - observers are rows: the core calls the hooks of all rows at the moments of a run, a
 * test and a phase, and names none of them.
 *
 * A row has what one feature needs; observe/all.c lists them. The order of the list is that of
 * every hook; run_end, test_free and release go in the reverse. Any function may be NULL.
 *   LOCAL      touches no other rank, and may fail on one alone; the core agrees after it.
 *   TOGETHER   all ranks of run->par enter it, and the result is the same on all.
 * Functions that return an int return 0, or -1 and err. */
#pragma once

#include <sys/types.h>

#include "engine/program.h"

/* The work of all ranks in a phase until now, as far as this rank has received it. */
struct weir_ranks_progress {
    uint64_t steps, bytes, target; /* target: steps to do */
    int done, tasks;               /* tasks that have no more to do, and all */
    uint64_t at_ns; /* when this rank received the numbers: a task that is stopped sends none */
};

struct weir_observer {
    const char *name;
    size_t state_size;  /* bytes, zeroed, as long as the run: 'state' below */
    int maxima, sums;   /* numbers of this row in the maximum and in the sum of a phase */
    size_t text;        /* where its state has a struct weir_str with tables for people, which stand where test_end
                         * comes and are freed before test_free; 0: nowhere */
    int texts;          /* of several after each other their number; 0: one */

    /* LOCAL, the same on all: true when it takes part in a test. NULL: yes. Otherwise no
     * function below from test_begin on is called in that test. */
    bool (*wanted)(const struct weir_test *t);
    size_t option; /* offset of a text in struct weir_run_options: it takes part only where that is given; 0: none */

    /* ---- the run ---- */

    /* LOCAL: append what --help=what has, for a topic below its options. */
    void (*help)(const char *what, struct weir_str *out);

    /* LOCAL, the same on all, before any test begins: check its options, add its files. */
    int (*check)(const struct weir_run_options *o, struct weir_files *files, struct weir_err *err);
    /* TOGETHER over run->world: the options of all n tests are right; nothing was reported yet. */
    void (*run_read)(struct weir_run *run, void *state, const struct weir_values *values, int n);
    /* TOGETHER over run->world: tests are planned, the report is open. To open own outputs. */
    int (*run_begin)(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err);
    /* TOGETHER over run->world: all outputs are there, and nothing but the tests can fail. */
    void (*run_open)(struct weir_run *run, void *state);
    /* LOCAL: the program's summary of all tests was reported. */
    void (*summary)(struct weir_run *run, void *state);
    /* TOGETHER over run->world, also after a failure: the report is about to close. Returns 'code',
     * or its own; that of rank 0 counts. */
    enum weir_code (*run_end)(struct weir_run *run, void *state, enum weir_code code);
    /* LOCAL: gives back what the state holds, however the run ended. */
    void (*release)(struct weir_run *run, void *state);

    /* ---- a test ---- */

    /* LOCAL: takes memory (run->test->arena is freed with the test), starts threads, asks for
     * operations (run->records). No session is open. */
    int (*test_begin)(struct weir_run *run, void *state, struct weir_err *err);
    /* TOGETHER: sessions and the common clock are there; the report has nothing of the test. */
    int (*test_start)(struct weir_run *run, void *state, struct weir_err *err);
    /* TOGETHER: the object of the test in the report was opened. */
    void (*test_open)(struct weir_run *run, void *state);
    /* LOCAL: called before each repetition. */
    int (*repetition)(struct weir_run *run, void *state, struct weir_err *err);
    /* TOGETHER, in the first repetition, at WEIR_STAGE_EXTRA of the program: may run phases. */
    int (*extra)(struct weir_run *run, void *state, struct weir_err *err);
    /* TOGETHER, after each repetition: true when no further one is needed. One yes ends them. */
    bool (*is_enough)(struct weir_run *run, void *state);
    /* TOGETHER, also after a failure of a stage: the object of the test is still open. */
    void (*test_end)(struct weir_run *run, void *state);
    /* TOGETHER, wherever test_begin was called, also where it failed: gives back what it took. All
     * sessions have ended. */
    void (*test_free)(struct weir_run *run, void *state);

    /* LOCAL: this rank waits for a command of the user; child as in kill(2). A second call with
     * line NULL and child 0 says that the command has ended. */
    void (*command)(struct weir_run *run, void *state, const char *line, pid_t child);

    /* ---- a phase; rec->stage is NULL in an extra phase of the stage that runs ---- */

    /* TOGETHER, outside of the time of the phase. */
    int (*before)(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err);
    /* TOGETHER: the last thing before the clock of the phase. */
    void (*start)(struct weir_run *run, void *state, const struct weir_phase_rec *rec);
    /* LOCAL, between two steps, every 50 ms, and while this rank waits for others. Allocates
     * nothing where it has nothing to show. True: the phase is to end as by a deadline; all ranks
     * say that then, each when it knows. */
    bool (*tick)(struct weir_run *run, void *state, const struct weir_ranks_progress *progress,
                 uint64_t now_ns);
    /* LOCAL, after the phase, not after a failure: the numbers of this rank for the maximum of all
     * ranks, zeroed; rec has the times of this rank. */
    void (*max)(struct weir_run *run, void *state, const struct weir_phase_rec *rec, int64_t *max);
    /* As max, for the sum of all ranks; rec has the times of all ranks. */
    void (*add)(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum);
    /* TOGETHER. rec->maxima and rec->sums are the numbers of this row, of all ranks. With
     * rec->failed it only ends what start began. All are called; the first error wins. */
    int (*after)(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err);
    /* LOCAL, on rank 0 in the first repetition: ior has opened the file of a phase, outside of the
     * time of its transfers. */
    void (*opened)(struct weir_run *run, void *state, struct weir_session *s, struct weir_file *f);
    /* TOGETHER. Called at the place in the output of a program for all details of a phase. The
     * session has the calls; one that is zero has none. s and rec NULL: the place of the first
     * phase, when none was measured. */
    void (*measured)(struct weir_run *run, void *state, struct weir_session *s,
                     const struct weir_phase_rec *rec);
};

/* observe/all.c: in this order; ends with NULL. */
extern const struct weir_observer *const weir_observers[];

/* The most numbers of all rows together. */
#define WEIR_MAXIMA_MAX 16
#define WEIR_SUMS_MAX 240

/* Hand in a row that is not in the list, with a state of its own; before weir_observers_begin. Local. */
void weir_observers_hand_in(struct weir_run *run, const struct weir_observer *row, void *state);
/* Make the states of all rows. Local. Returns 0, or -1 and err. */
int weir_observers_begin(struct weir_run *run, struct weir_err *err);
void weir_observers_release(struct weir_run *run);

/* Choose the rows that take part in run->test. Requests for operations are cleared. Local. */
void weir_observers_choose(struct weir_run *run);

/* One loop for each hook: see above. Those that return an int return the same on all ranks, but for
 * the local ones. */
void weir_observers_help(const char *what, struct weir_str *out);
int weir_observers_check(const struct weir_run_options *o, struct weir_files *files,
                         struct weir_err *err);
void weir_observers_run_read(struct weir_run *run, const struct weir_values *values, int n);
int weir_observers_run_begin(struct weir_run *run, struct weir_test *tests, int n,
                             struct weir_err *err);
void weir_observers_run_open(struct weir_run *run);
void weir_observers_summary(struct weir_run *run);
enum weir_code weir_observers_run_end(struct weir_run *run, enum weir_code code);
int weir_observers_test_begin(struct weir_run *run, struct weir_err *err);
int weir_observers_test_start(struct weir_run *run, struct weir_err *err);
void weir_observers_test_open(struct weir_run *run);
int weir_observers_repetition(struct weir_run *run, struct weir_err *err);
int weir_observers_extra(struct weir_run *run, struct weir_err *err);
bool weir_observers_enough(struct weir_run *run);
void weir_observers_command(struct weir_run *run, const char *line, pid_t child);
void weir_observers_test_end(struct weir_run *run);
void weir_observers_test_free(struct weir_run *run);
int weir_observers_before(struct weir_run *run, struct weir_phase_rec *rec, struct weir_err *err);
void weir_observers_start(struct weir_run *run, const struct weir_phase_rec *rec);
bool weir_observers_tick(struct weir_run *run, const struct weir_ranks_progress *progress,
                         uint64_t now_ns);
/* Fill in the numbers of all rows. max: capacity for WEIR_MAXIMA_MAX and WEIR_SUMS_MAX
 * numbers; returns how many of them are in use. */
int weir_observers_max(struct weir_run *run, const struct weir_phase_rec *rec, int64_t *max);
int weir_observers_add(struct weir_run *run, const struct weir_phase_rec *rec, uint64_t *sum);
int weir_observers_after(struct weir_run *run, struct weir_phase_rec *rec, struct weir_err *err);
void weir_observers_opened(struct weir_run *run, struct weir_session *s, struct weir_file *f);
void weir_observers_measured(struct weir_run *run, struct weir_session *s,
                             const struct weir_phase_rec *rec);
