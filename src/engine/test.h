/* SPDX-License-Identifier: BSD-3-Clause */
/* test.h - the life of a test, once for every program: ranks, plan, sessions, clock, watchdog,
 * repetitions, stages, agreement, interruption, removal, and everything given back at the end
 *
 * A program supplies rows and arithmetic (struct weir_driver in driver.h). Its functions are of two
 * kinds, and there is no third:
 *   local        may fail on one rank alone; the engine agrees after it
 *   collective   all ranks of run->par enter it together, also those on which an earlier local
 *                function would have failed, because that was agreed before
 * Each field below and in struct weir_driver says by its type which kind it is. */
#ifndef WEIR_ENGINE_TEST_H
#define WEIR_ENGINE_TEST_H

#include "backends/session/session.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/unwind.h"
#include "par/group.h"

/* 0, or -1 and err. */
typedef int weir_local_fn(struct weir_run *run, void *state, struct weir_err *err);
typedef int weir_together_fn(struct weir_run *run, void *state, struct weir_err *err);

/* Call one, and agree on the outcome over run->par: on every rank 0, or -1 with the words of the
 * lowest failing rank. A collective function returns the same on all ranks; where one did not
 * keep to that, the others learn of it here. Collective over run->par. */
int weir_local(struct weir_run *run, weir_local_fn *fn, void *state, struct weir_err *err);
int weir_together(struct weir_run *run, weir_together_fn *fn, void *state, struct weir_err *err);
/* The same for what a collective function has returned. */
int weir_confirm(struct weir_run *run, int rc, struct weir_err *err);

struct weir_stage;
typedef int weir_stage_fn(struct weir_run *run, void *state, const struct weir_stage *stage,
                          struct weir_err *err);

/* When a stage has its turn; 0: in each repetition. */
enum {
    WEIR_STAGE_FIRST = 1u << 0,   /* once, before the repetitions */
    WEIR_STAGE_LAST = 1u << 1,    /* once, after the repetitions when all of them were good */
    WEIR_STAGE_WRITES = 1u << 3,  /* the phase writes data and does little else */
    WEIR_STAGE_READS = 1u << 4,   /* the same, reads */
    WEIR_STAGE_UNTIMED = 1u << 5, /* its time is no result */
    WEIR_STAGE_TOGETHER = 1u << 6, /* ranks go in lock step, and open and close together */
    WEIR_STAGE_MAKES = 1u << 7,   /* the phase makes items: the write phase of metadata */
    WEIR_STAGE_DELAY = 1u << 2    /* the delay between phases comes before it */
};

/* A part of a repetition: a phase and what belongs to it. Functions may be NULL. */
struct weir_stage {
    const char *key; /* in messages: "write" */
    unsigned flags;
    int index;                                                         /* the program's */
    const struct weir_phase *phase;                                    /* NULL: only 'before' */
    bool (*wanted)(const void *state, const struct weir_stage *stage); /* NULL: always */
    /* Change what the options say about time and lock step. Local, the same on all ranks. */
    void (*timing)(const void *state, const struct weir_stage *stage, struct weir_timing *timing);
    /* Collective: before the phase. */
    weir_stage_fn *before;
    /* Collective: after a phase that did not fail; with the record of the phase. NULL: a line with
     * the rate, and what --report, rank and operation files ask for. */
    int (*after)(struct weir_run *run, void *state, const struct weir_stage *stage,
                 struct weir_phase_rec *rec, struct weir_err *err);
    /* The time of the test was up before it. Local. */
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

/* What follows from the options of a test before anything is done. Filled by the program's
 * 'plan', the same on all ranks. */
struct weir_plan {
    const struct weir_run_options *options;
    int tasks;        /* ranks that take part, the lowest ones; at most those that there are */
    const char *path; /* where the test works; several places joined by '@'; may be NULL */
    bool writes, shared;    /* it makes files there; tasks share them */
    uint64_t bytes, inodes; /* that the test has at its fullest, over all tasks; 0: not known */
    uint64_t over_bytes; /* where files that are there are written over, and the rest of them stays:
                          * bytes of each at most; 0: all of their contents is lost */
    bool calls_by_node;     /* tables of calls have a column for each node, not for each task */
    bool is_run;      /* false: the plans are all that was asked for, of all tests */
    struct weir_use use[WEIR_TEST_SESSIONS];
    int uses;
};

/* A backend of the sessions of a test, also on ranks that take no part in them. */
struct weir_backend_in_use {
    const struct weir_backend *be;
    struct weir_backend_opt opt;
};

/* One test of a run. */
struct weir_test {
    int id;                           /* from 0 */
    int variant;                      /* of the tests that one set of options makes, from 0 */
    int most;                         /* repetitions; --until may end them earlier */
    const struct weir_values *values; /* of its options */
    const struct weir_driver *driver;
    void *state; /* the program's, state_size zeroed bytes; lives as long as the run */
    struct weir_plan plan;
    /* while it runs */
    struct weir_unwind unwind;
    struct weir_session *session[WEIR_TEST_SESSIONS];
    int sessions;
    struct weir_backend_in_use used[WEIR_TEST_SESSIONS]; /* each backend once */
    int n_used;
    uint64_t begin_ns;
    uint64_t op_files; /* of the files of operations, those that an earlier test has begun */
    enum weir_severity verdict; /* what its numbers are worth; see weir_trust_end */
    uint64_t wrong; /* of all phases and ranks until now; the status is then WEIR_EDATA */
    bool failed;                /* for conclude: an error or a signal ended it */
};

/* For 'plan': find the backend that the user named (NULL: the default) and note that the test uses
 * it in session s with all ranks, which are put into access. s and access must live as long as the
 * test. Collective over run->world. Returns 0, or -1 and the same err on all ranks. */
int weir_plan_use(struct weir_run *run, struct weir_session *s, const char *api,
                  struct weir_access *access, struct weir_err *err);

/* Start a session of the test that is running, or of the whole run, and give it back at the end of
 * that; calls are noted for --io-timeout. opt must live as long. Collective over
 * run->par. Returns 0, or -1 and the same err on all ranks; then nothing is left of it. */
int weir_test_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                      struct weir_backend_opt opt, const struct weir_access *access,
                      struct weir_err *err);
/* A session of some of the ranks: par has them, and is NULL on those that take no part (s is zero
 * there). Otherwise the same. */
int weir_test_session_of(struct weir_run *run, struct weir_session *s,
                         const struct weir_backend *be, struct weir_backend_opt opt,
                         const struct weir_access *access, const struct weir_par *par,
                         struct weir_err *err);
int weir_run_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                     struct weir_backend_opt opt, const struct weir_access *access,
                     struct weir_err *err);

/* Groups of the ranks with the same color (0 or more), given back at the end of the test; *h is
 * zero before. Collective over run->par. Returns 0, or -1 and err on all ranks. */
int weir_test_heads(struct weir_run *run, struct weir_heads *h, int color, struct weir_err *err);

/* For 'clean': a local function that removes what is left; where it fails, a note says what stays.
 * Collective over run->par. */
void weir_clean(struct weir_run *run, weir_local_fn *fn, void *state);

/* Judge a test of which the plan is all that was asked for: is there room? Collective over run->world.
 * Returns the exit status, the same on all ranks. What went wrong was said. */
enum weir_code weir_test_foresee(struct weir_run *run, struct weir_test *t, struct weir_err *err);

/* Run one test whose plan is made. Collective over run->world; ranks that take no part wait for
 * the outcome. Returns the exit status, the same on all ranks. What went wrong was said. *failed:
 * no further test can follow (wrong data alone are no reason); err then has the words on the ranks
 * that took part. */
enum weir_code weir_test_run(struct weir_run *run, struct weir_test *t, bool *failed,
                             struct weir_err *err);

/* All tests of a run: plans, outputs, banner, tests, summary. Collective over run->world. Returns
 * the exit status, the same on all ranks; what went wrong was said. */
enum weir_code weir_tests_run(struct weir_run *run, const struct weir_driver *d,
                              const struct weir_values *values, int n, int argc, char *const *argv);

#endif
