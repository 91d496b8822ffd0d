/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.h - the functions that the files of the metadata benchmark share; nobody else includes it */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_H

#include "programs/mdtest/mdtest-state.h"

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

/* mdtest-places.c: base and test directories. Collective over run->par. */
int mdtest_make_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_remove_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err);

/* How many test directories of an iteration this task makes and removes, and the name of one of
 * them (valid until the next name is made). Local. */
uint64_t mdtest_my_tests(const struct weir_run *run, const struct mdtest_test *t);
const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop);

/* mdtest-measure.c: numbers of a phase. Collective over run->par. */
int mdtest_measure(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec,
                   double extra_s, struct mdtest_measure *m, struct weir_err *err);
void mdtest_latency(struct weir_run *run, struct mdtest_test *t, const struct weir_phase_rec *rec);
/* Make room for the numbers of the iteration that begins. Local. -1 and err (WEIR_ESETUP). */
int mdtest_take_iteration(const struct weir_run *run, struct mdtest_test *t, struct weir_err *err);
/* Those of this rank in this iteration: MDTEST_OPS of them. */
struct mdtest_mine *mdtest_mine_of(const struct weir_run *run, const struct mdtest_test *t);

/* mdtest-measure.c: what single ranks did: functions of struct weir_driver; a row for each rank
 * after an iteration (a stage), and the numbers of all iterations for people, both collective over
 * run->par. */
bool mdtest_records(const void *state, int op, uint64_t *size);
void mdtest_rank_head(struct weir_str *out);
weir_stage_fn mdtest_ranks_iteration;
void mdtest_ranks_print(struct weir_run *run, const struct mdtest_test *t, bool times);

#endif
