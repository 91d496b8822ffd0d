/* SPDX-License-Identifier: BSD-3-Clause */
/* test.h - the life of a test, once for every program: ranks, plan, sessions, clock, watchdog,
 * repetitions, stages, agreement, interruption, removal, and everything given back at the end */
#pragma once

#include "engine/program.h"
#include "par/group.h"

/* For 'plan': find the backend that the user named (NULL: the default), and note that the test uses
 * it in session s with all ranks, which are put into access. Both s and access must live as long as
 * the test. Collective over run->world. Returns 0, or -1 and the same err on all ranks. */
int weir_plan_use(struct weir_run *run, struct weir_session *s, const char *api,
                  struct weir_access *access, struct weir_err *err);

/* Start a session of the test that is running, or of the whole run, and push its end on the stack
 * of that. The ranks are par, of a test maybe some; NULL on those that take no part (s is zero
 * there). Calls are noted for --io-timeout. opt must live as long. Collective over run->par.
 * Returns 0, or -1 and the same err on all ranks; then nothing is left of it. */
int weir_test_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                      struct weir_backend_opt opt, const struct weir_access *access,
                      const struct weir_par *par, struct weir_err *err);
int weir_run_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                     struct weir_backend_opt opt, const struct weir_access *access,
                     struct weir_err *err);

/* Make groups of the ranks with the same color (0 or more), given back at the end of the test;
 * *g is zero before. Collective over run->par. Returns 0, or -1 and err on all ranks. */
int weir_test_leaders(struct weir_run *run, struct weir_leaders *g, int color,
                      struct weir_err *err);

/* Judge a test that was only planned: check the free space. Collective over run->world. Returns the
 * exit status, the same on all ranks. Errors are printed. */
enum weir_code weir_test_foresee(struct weir_run *run, struct weir_test *t, struct weir_err *err);

/* Run one test whose plan is made. Collective over run->world; ranks that take no part wait for
 * the outcome. Returns the exit status, the same on all ranks. Errors are printed. *failed: no
 * further test can follow (wrong data alone are no reason); err is then set on the ranks that
 * took part. */
enum weir_code weir_test_run(struct weir_run *run, struct weir_test *t, bool *failed,
                             struct weir_err *err);

/* stages.c: run the first stages, the repetitions of the others, and the last ones, as the rows of
 * the program say. Files of a repetition are removed after it, also after a failure. Collective
 * over run->par. Returns 0, or -1 and err on every rank; errors of a rank are printed. */
int weir_stages_run(struct weir_run *run, struct weir_test *t, struct weir_err *err);
/* True when the stage is a part of the test. Local, the same on all ranks. */
bool weir_stage_wanted(const struct weir_test *t, const struct weir_stage *s);
/* The timing of the phase of a stage. Local, the same on all ranks. */
struct weir_timing weir_stage_timing(const struct weir_test *t, const struct weir_stage *s);
/* Put the stages of this test whose phases can be done once more into out, of 'most' entries. Local, the same on all
 * ranks. Returns how many. */
int weir_stages_subset(const struct weir_test *t, const struct weir_stage **out, int most);
/* Run the phase of a stage of weir_stages_subset once more, outside of it, as 'again' says, for any
 * time if it is 'whole'. Collective over run->par. Returns 0, or -1 and err on every rank. */
int weir_stages_again(struct weir_run *run, const struct weir_stage *s,
                      const struct weir_again *again, struct weir_phase_rec *rec,
                      struct weir_err *err);
/* True when the time of the test (-T) is over, the same on all ranks. Collective over run->par. */
bool weir_stages_time_is_up(struct weir_run *run);
