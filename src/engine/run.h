/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the context of a run: everything that would otherwise be global */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/interrupt.h"
#include "engine/records.h"
#include "engine/report/report.h"
#include "par/clock.h"
#include "par/comm.h"

/* The work of one of the operations of a mixed phase. */
struct weir_dir_work {
    uint64_t ops, bytes;
};

/* The reason why the steps of a rank ended. */
enum weir_end {
    WEIR_END_WORK,  /* there was no more to do */
    WEIR_END_COUNT, /* the maximum number of steps was done */
    WEIR_END_TIME,  /* the deadline had passed */
    WEIR_END_STEADY, /* an observer's condition is met (--until=steady) */
    WEIR_ENDS,
    WEIR_END_NONE = WEIR_ENDS, /* they go on */
    WEIR_END_STOP              /* a rank has failed, or a signal came: the phase has no result */
};

/* Numbers of a rank in a phase; or the minimum, the maximum, or the sum of each over all ranks.
 * Steps of the program add to those marked "step"; the phase engine clears all, and merges them as
 * an array. Times in ns. */
struct weir_phase_numbers {
    uint64_t steps;
    uint64_t done;    /* operations in these steps, as of the last look for signals or the end */
    uint64_t bytes;   /* step: moved */
    uint64_t wrong;   /* step: transfers whose data were not right */
    struct weir_dir_work by_dir[5]; /* step: of a mixed phase, by enum weir_dir (phase.c: all) */
    uint64_t end;     /* step: one past the highest byte written in its file. It has no sum */
    uint64_t fill_ns, verify_ns; /* step: spent making and checking data */
    uint64_t own_ns;  /* in open, work and close together */
    uint64_t work_ns; /* T3 - T2 */
    uint64_t rate;    /* bytes a second in own_ns; INT64_MAX: none moved bytes. It has no sum */
    uint64_t ended[WEIR_ENDS]; /* 1: this was the end; no meaning when interrupted */
    uint64_t records, dropped; /* operations in the records; operations that did not fit */
};
#define WEIR_PHASE_NUMBERS (sizeof(struct weir_phase_numbers) / sizeof(uint64_t))

/* The rows that watch the run, each with its state (engine/observer.h). */
#define WEIR_OBSERVERS_MAX 20
struct weir_observer;
struct weir_observed_row {
    const struct weir_observer *row;
    void *state;
    bool on; /* it takes part in the test that runs */
};
struct weir_observed {
    struct weir_observed_row of[WEIR_OBSERVERS_MAX];
    int n;
};

/* ---- what was taken, and is given back in the reverse order, however a test ends ---- */

#define WEIR_UNWIND_MAX 32

/* Give one thing back. Returns 0, or -1 and err. */
typedef int weir_release_fn(void *what, struct weir_err *err);

/* The stack of what was taken and not yet given back. Zero: nothing. */
struct weir_unwind {
    struct {
        weir_release_fn *release;
        void *what;
        bool together;
    } item[WEIR_UNWIND_MAX];
    int n;
};

/* Note that 'what' was taken; 'release' gives it back. 'what' must live until then. 'together': the
 * release is collective; then all ranks push it, after the agreement that all of them have it.
 * Local. Returns 0; -1 and err (WEIR_EBUG) when the stack is full: then 'what' was released at once. */
int weir_unwind_push(struct weir_unwind *u, weir_release_fn *release, void *what, bool together,
                     struct weir_err *err);

/* Give everything back, the last thing first. Collective over par->comm: the outcome of each
 * collective release is agreed, so the returned value, 0 or -1 with the first error, is the same on
 * all ranks. */
int weir_unwind_all(struct weir_unwind *u, const struct weir_par *par, struct weir_err *err);

/* ---- the run ---- */

struct weir_underlying;
struct weir_call;
struct weir_gpu;
struct weir_ratelimit;
struct weir_program;
struct weir_stage;
struct weir_test;

/* Gets the names of the phases that planned tests would have, in order. */
struct weir_planned {
    void (*phase)(void *arg, const char *key);
    void *arg;
};

struct weir_run {
    struct weir_par world; /* all ranks that were started */
    int launched;          /* the rank that the launcher gave this process, also without MPI; else
                            * 0 */
    struct weir_par par;   /* the ranks of the current test */
    struct weir_log log;
    struct weir_report report;
    struct weir_interrupt interrupt;
    struct weir_clock clock;       /* of the current test */
    struct weir_call *call;  /* where sessions of the test note the call that they are in; NULL: nowhere */
    struct weir_phase_numbers counters; /* of this rank in the current phase */
    struct weir_records records; /* operations of the current phase, when they are asked for */
    struct weir_gpu *gpu; /* of the transfer buffers of the current test; NULL: memory of the host */
    struct weir_ratelimit *ratelimit; /* of the current phase (ratelimit.h); NULL: at full speed */
    const struct weir_program *program; /* the program */
    struct weir_underlying *underlying; /* the last test's files (place/pagecache.c); NULL: not known */
    const struct weir_planned *plans_only; /* tests are planned, but not run; NULL: they are run */
    bool broken; /* a library of a backend cannot be ended: the job ends without MPI_Finalize */
    struct weir_observed observed;
    struct weir_arena arena;     /* lives as long as the run */
    struct weir_err second; /* see weir_run_second */
    int repetition;
    struct weir_test *test;         /* the one that is planned or runs, NULL between tests */
    const struct weir_stage *stage; /* the one that runs, NULL between stages */
    struct weir_unwind unwind;      /* what the whole run has taken */
};

/* Prints an error, once for all ranks; rank 0 keeps the worst in report.last. Local. Returns
 * the code of err. */
enum weir_code weir_run_refuse(struct weir_run *run, const struct weir_err *err);
/* As weir_run_refuse, for a verdict on a test that has ended: printed after all text. */
enum weir_code weir_run_refuse_last(struct weir_run *run, const struct weir_err *err);
/* Prints the notes in report.last between the text that was reported before and the text that comes,
 * also where a launcher writes both streams into one file. Rank 0, nothing elsewhere. */
void weir_run_print_notes(struct weir_run *run);
/* Print the lines in report.last, then its error unless that was printed last: the last line of
 * a run that failed is the error of its exit status. Where there are any, it waits for pause_ns
 * before. Needs no MPI, and comes after weir_program_end. Rank 0, nothing elsewhere. */
void weir_run_last_lines(struct weir_run *run, uint64_t pause_ns);

/* Return space for an error that may come after another one, empty; until the next call. It is
 * in the run, for errors are large, and a user may have limited the stack. Local. */
static inline struct weir_err *weir_run_second(struct weir_run *run)
{
    run->second.code = WEIR_OK;
    return &run->second;
}

/* Functions of a program: 0, or -1 and err. */
typedef int weir_local_fn(struct weir_run *run, void *state, struct weir_err *err);
typedef int weir_collective_fn(struct weir_run *run, void *state, struct weir_err *err);

/* Call fn, and agree on the outcome over run->par: on every rank 0, or -1 with the message of the
 * lowest failing rank. A collective function returns the same on all ranks; where one does not, the
 * others learn of it here. Collective over run->par. */
int weir_local(struct weir_run *run, weir_local_fn *fn, void *state, struct weir_err *err);
int weir_collective(struct weir_run *run, weir_collective_fn *fn, void *state,
                    struct weir_err *err);
/* As weir_collective, for a result that a collective function has returned. */
int weir_agree_same(struct weir_run *run, int rc, struct weir_err *err);

/* For 'clean': fn removes what is left; a note says what stays. Collective over run->par. */
void weir_clean(struct weir_run *run, weir_local_fn *fn, void *state);
