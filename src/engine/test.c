/* SPDX-License-Identifier: BSD-3-Clause */
/* test.c - the life of one test */
#include "engine/test.h"

#include <inttypes.h>
#include <string.h>

#include "backends/registry.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/size.h"
#include "engine/gpu.h"
#include "engine/observer.h"
#include "engine/phase.h"
#include "par/agree.h"

/* ---- what is taken, and how it is given back ---- */

static int end_session(void *what, struct weir_err *err)
{
    return weir_session_end(what, err);
}

/* Memory of the program: also what a 'begin' that failed has taken. */
static int end_state(void *what, struct weir_err *err)
{
    struct weir_test *t = what;

    t->program->end(t->state);
    return 0;
}

static int end_records(void *what, struct weir_err *err)
{
    weir_records_free(what);
    return 0;
}

static int end_observers(void *what, struct weir_err *err)
{
    weir_observers_test_free(what);
    return 0;
}

static uint64_t hash_chosen(const struct weir_test *t)
{
    return weir_hash(WEIR_HASH_BEGIN, t->chosen, t->program->opt_size);
}

/* At the end of a test its options are those of its plan. */
static int check_chosen(void *what, struct weir_err *err)
{
    const struct weir_test *t = what;

    if (hash_chosen(t) == t->chosen_hash)
        return 0;
    return weir_refuse(err, WEIR_EBUG, "the options of test %d changed after its plan", t->id);
}

static int begin_state(struct weir_run *run, void *state, struct weir_err *err)
{
    struct weir_test *t = run->test;

    t->chosen_hash = hash_chosen(t);
    run->records.limit = (uint64_t)t->plan.options->timeline_limit;
    if (weir_unwind_push(&t->unwind, check_chosen, t, false, err) < 0 ||
        weir_unwind_push(&t->unwind, end_records, &run->records, false, err) < 0 ||
        weir_records_begin(&run->records, weir_operations_count(t->program), WEIR_ALL_HISTS, err) < 0 ||
        weir_observers_test_begin(run, err) < 0 ||
        (t->program->end && weir_unwind_push(&t->unwind, end_state, t, false, err) < 0))
        return -1;
    return t->program->begin ? t->program->begin(run, state, err) : 0;
}

/* For the report; NULL: no test runs. */
static void note_backend(struct weir_test *t, const struct weir_backend *be,
                         struct weir_backend_opt opt)
{
    for (int i = 0; t && i < t->n_used; i++)
        if (t->used[i].be == be)
            return;
    if (t && t->n_used < WEIR_TEST_SESSIONS)
        t->used[t->n_used++] = (struct weir_backend_in_use) { be, opt };
}

/* A sync belongs to the write before it. */
static void note_syncs(const struct weir_run *run, const struct weir_session *s)
{
    if (s->access.sync_each && s->access.queued && s->depth > 1 &&
        (s->access.depth > 1 || !s->be->depth_option))
        weir_note(&run->log,
                  "with a sync after each write, one write of a task is in flight at a time; a depth of "
                  "%d holds for reads only",
                  s->depth);
}

static bool has_signal(void *interrupt)
{
    return weir_interrupt_poll(interrupt);
}

/* Refuse a name that belongs to another backend: this one would look for a directory of that name, or make it. */
static int check_name(const struct weir_test *t, const struct weir_session *s, struct weir_err *err)
{
    const struct weir_backend *be = s->be, *own = t && t->plan.path ? weir_backend_of_name(t->plan.path) : NULL;

    if (!own || strcmp(own->name, be->name) == 0 || (be->flags & WEIR_BE_NO_DATA))
        return t && t->plan.path && be->check_name ? be->check_name(s, t->plan.path, err) : 0;
    return weir_refuse(err, WEIR_EUSAGE, "'%s' is a name for the backend %s, not for %s; use that "
                                         "backend", t->plan.path, own->name, be->name);
}

/* Prepared by each rank alone, then agreed; only then begun, which may be collective. */
static int start_session(struct weir_run *run, struct weir_unwind *u, struct weir_session *s,
                         const struct weir_backend *be, struct weir_backend_opt opt,
                         const struct weir_access *access, const struct weir_par *par,
                         struct weir_err *err)
{
    int rc = par ? weir_session_prepare(s, be, opt, access, par, &run->log, err) : 0;

    if (rc == 0 && par)
        rc = check_name(run->test, s, err);
    if (rc == 0 && par && run->test)
        rc = weir_gpu_check_session(run->test->plan.options, s, err);
    note_backend(run->test, be, opt);
    if (opt.refused && par)
        weir_note(&run->log, "%s is not available to a task (%s), so all tasks use %s, as "
                             "--%sfallback says",
                  opt.refused->name, strerror(opt.refused_sys), be->name, opt.refused->prefix);
    s->access.only_new = run->test && weir_existing(run->test->plan.options) == WEIR_EXISTING_FAIL;
    rc = weir_agree(&run->par, rc, err);
    if (rc == 0 && run->call)
        s->call = run->call;
    s->gpu = run->gpu;
    s->ends = has_signal;
    s->ends_arg = &run->interrupt;
    if (rc == 0)
        rc = weir_agree(&run->par, par ? weir_session_start(s, err) : 0, err);
    if (rc < 0) {
        weir_session_end(s, NULL);
        return -1;
    }
    if (par)
        note_syncs(run, s);
    return weir_unwind_push(u, end_session, s, true, err);
}

int weir_run_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                     struct weir_backend_opt opt, const struct weir_access *access,
                     struct weir_err *err)
{
    return start_session(run, &run->unwind, s, be, opt, access, &run->par, err);
}

int weir_test_session(struct weir_run *run, struct weir_session *s, const struct weir_backend *be,
                      struct weir_backend_opt opt, const struct weir_access *access,
                      const struct weir_par *par, struct weir_err *err)
{
    struct weir_test *t = run->test;

    if (t->sessions == WEIR_TEST_SESSIONS)
        return weir_refuse(err, WEIR_EBUG, "a test has more than %d sessions", WEIR_TEST_SESSIONS);
    if (start_session(run, &t->unwind, s, be, opt, access, par, err) < 0)
        return -1;
    t->session[t->sessions++] = s;
    return 0;
}

int weir_plan_use(struct weir_run *run, struct weir_session *s, const char *api,
                  struct weir_access *access, struct weir_err *err)
{
    struct weir_plan *plan = &run->test->plan;
    struct weir_use *use = &plan->use[plan->uses];

    if (plan->uses == WEIR_TEST_SESSIONS)
        return weir_refuse(err, WEIR_EBUG, "a test has more than %d sessions", WEIR_TEST_SESSIONS);
    access->tasks = run->world.size;
    access->nodes = run->world.nodes;
    use->session = s;
    use->access = access;
    plan->uses++;
    return weir_values_backend(run->test->values, api, &run->world, &use->be, &use->opt, err);
}

static int start_uses(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_plan *plan = &run->test->plan;

    for (int i = 0; i < plan->uses; i++)
        if (weir_test_session(run, plan->use[i].session, plan->use[i].be, plan->use[i].opt,
                              plan->use[i].access, &run->par, err) < 0)
            return -1;
    return 0;
}

static int end_leaders(void *what, struct weir_err *err)
{
    weir_leaders_free(what);
    return 0;
}

int weir_test_leaders(struct weir_run *run, struct weir_leaders *g, int color, struct weir_err *err)
{
    if (weir_unwind_push(&run->test->unwind, end_leaders, g, true, err) < 0)
        return -1;
    return weir_leaders_split(&run->par, color, g, err);
}

/* ---- a test ---- */

static int begin_test(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    t->begin_ns = weir_now_ns();
    if (weir_unwind_push(&t->unwind, end_observers, run, true, err) < 0 ||
        weir_local(run, begin_state, t->state, err) < 0 ||
        weir_collective(run, start_uses, t->state, err) < 0 ||
        weir_collective(run, t->program->start, t->state, err) < 0)
        return -1;
    weir_clock_estimate(&run->par, &run->clock);
    if (run->records.zero_ns == 0) /* of the first test; rank 0 is in all tests */
        run->records.zero_ns = run->clock.root_ns;
    weir_bcast(&run->par, &run->records.zero_ns, sizeof(run->records.zero_ns), 0);
    return weir_observers_test_start(run, err);
}

/* Said before the clean-up, which can take a while. */
static int clean_up(struct weir_run *run, struct weir_test *t, const struct weir_err *err)
{
    weir_run_refuse(run, err);
    if (t->program->files && t->program->files->clean)
        t->program->files->clean(run, t->state);
    return -1;
}

/* Run the test on the ranks that take part. Errors are printed here. */
static int live(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    const struct weir_program *p = t->program;
    int rc = begin_test(run, t, err);

    if (rc < 0)
        return clean_up(run, t, err);
    weir_report_enter(&run->report, NULL, false);
    if (t->plan.inodes > 0) {
        weir_report_int(&run->report, WEIR_FOR_DATA, "plannedBytes", weir_signed(t->plan.bytes));
        weir_report_int(&run->report, WEIR_FOR_DATA, "plannedInodes", weir_signed(t->plan.inodes));
    }
    weir_observers_test_open(run);
    rc = weir_collective(run, weir_output_of(p)->report, t->state, err);
    if (rc == 0)
        rc = weir_stages_run(run, t, err);
    if (rc < 0)
        clean_up(run, t, err);
    t->failed = rc < 0;
    weir_phase_renew_clock(run); /* offsets before and after */
    weir_observers_test_end(run);
    if (!weir_output_of(p)->summary) /* else before that of all tests */
        weir_run_print_notes(run);
    if (weir_collective(run, p->conclude, t->state, weir_run_second(run)) < 0 && rc == 0) {
        *err = run->second;
        rc = -1;
        weir_run_refuse(run, err);
    }
    weir_report_leave(&run->report);
    weir_report_flush(&run->report);
    return rc;
}

static int take_ranks(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    run->par = run->world;
    if (t->plan.tasks < run->world.size &&
        weir_par_subset(&run->world, t->plan.tasks, &run->par, err) < 0)
        return -1;
    if (run->par.comm == MPI_COMM_NULL)
        weir_interrupt_hold(&run->interrupt); /* waits for those that run the test */
    else
        weir_par_renumber(&run->par, t->plan.nodes, t->plan.node0_tasks);
    return 0;
}

/* From the first thing that is taken to the last that is given back. */
static int live_and_unwind(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    int rc = live(run, t, err);

    for (int i = 0; i < t->sessions; i++)
        run->broken |= t->session[i]->broken;
    if (weir_unwind_all(&t->unwind, &run->par, weir_run_second(run)) == 0 || rc < 0)
        return rc;
    *err = run->second;
    weir_run_refuse(run, err);
    return -1;
}

/* The status of a test that ended with 'code'. Wrong data were reported where they were found, by
 * some programs as an error. */
static enum weir_code judge(struct weir_run *run, const struct weir_test *t, enum weir_code code)
{
    struct weir_err *err = weir_run_second(run);

    if (t->wrong > 0) {
        weir_refuse(err, WEIR_EDATA, "test %d: wrong data in %" PRIu64 " place%s", t->id, t->wrong,
                    t->wrong == 1 ? "" : "s");
        code = weir_code_worse(code, WEIR_EDATA);
        if (run->report.last.error.code != WEIR_EDATA)
            weir_run_refuse_last(run, err);
    }
    if (t->invalid_by && weir_code_is_whole(code)) {
        weir_refuse(err, WEIR_EINVALID, "test %d is INVALID by the %s rules (--strict)", t->id,
                    t->invalid_by);
        code = weir_code_worse(code, weir_run_refuse_last(run, err));
    }
    return code;
}

enum weir_code weir_test_foresee(struct weir_run *run, struct weir_test *t, struct weir_err *err)
{
    enum weir_code code = WEIR_OK;
    const struct weir_backend *be;
    struct weir_backend_opt opt;
    int rc = weir_values_backend(t->values, t->plan.options->api, &run->world, &be, &opt, err);

    run->test = t;
    if (rc == 0) {
        note_backend(t, be, opt);
        weir_observers_choose(run);
        rc = weir_observers_test_start(run, err);
    }
    if (rc < 0)
        code = weir_run_refuse(run, err);
    else
        weir_observers_test_end(run);
    weir_observers_test_free(run);
    code = judge(run, t, code);
    run->test = NULL;
    return code;
}

enum weir_code weir_test_run(struct weir_run *run, struct weir_test *t, bool *failed,
                             struct weir_err *err)
{
    int64_t end[2] = { WEIR_OK, false };

    *failed = t->failed = true;
    run->test = t;
    weir_observers_choose(run);
    weir_run_options_log(t->plan.options, &run->log);
    if (take_ranks(run, t, err) < 0)
        return weir_run_refuse(run, err);
    run->report.muted = t->plan.options->verbose < 0;
    if (run->par.comm != MPI_COMM_NULL) {
        end[1] = live_and_unwind(run, t, err) < 0;
        end[0] = judge(run, t, end[1] ? err->code : WEIR_OK);
    }
    run->report.muted = false;
    if (t->plan.tasks < run->world.size) {
        weir_par_free(&run->par);
        weir_allmax_i64(&run->world, end, 2);
    }
    run->par = run->world;
    run->test = NULL;
    *failed = end[1] != 0;
    return (enum weir_code)end[0];
}
