/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.c - all tests of a run: plans, outputs, banner, tests, summary */
#include "config.h"
#include "engine/tests.h"

#include <strings.h>

#include "engine/about/banner.h"
#include "engine/observe/interval.h"
#include "engine/observe/ranks.h"
#include "engine/place/preflight.h"
#include "engine/test.h"
#include "par/agree.h"

/* The tests of a run. */
struct series {
    const struct weir_driver *driver;
    const struct weir_values *values;
    int sets; /* of values */
    struct weir_test *test;
    char *chosen; /* their options, opt_size bytes each */
    int n;
};

/* ---- plans ---- */

static int variants_of(const struct weir_run *run, const struct series *s, int set)
{
    const struct weir_driver *d = s->driver;

    return d->variants ? d->variants(s->values[set].given, &run->world) : 1;
}

/* The options of a test, for its plan. */
static void *chosen_of(const struct series *s, int test)
{
    return s->chosen + (size_t)test * s->driver->opt_size;
}

static int make_tests(struct weir_run *run, struct series *s, struct weir_err *err)
{
    size_t size = s->driver->opt_size;
    struct weir_test *t;

    for (int i = 0; i < s->sets; i++)
        s->n += variants_of(run, s, i);
    s->test = t = weir_arena_alloc(&run->arena, sizeof(*t) * (size_t)s->n, err);
    s->chosen = t ? weir_arena_alloc(&run->arena, size * (size_t)s->n, err) : NULL;
    if (!s->chosen)
        return -1;
    for (int i = 0; i < s->sets; i++)
        for (int v = 0; v < variants_of(run, s, i); v++, t++) {
            *t = (struct weir_test) {
                .id = (int)(t - s->test), .variant = v, .values = &s->values[i], .driver = s->driver
            };
            t->state = weir_arena_alloc(&run->arena, s->driver->state_size, err);
            if (!t->state)
                return -1;
            t->chosen = memcpy(chosen_of(s, t->id), t->values->given, size);
        }
    return 0;
}

/* The options that every program has. */
static int check_options(const struct weir_run *run, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    uint64_t interval_ns;

    if (o->assume_rate > 0 && !o->dry_run)
        weir_note(&run->log, "option --assume-rate has no effect without --dry-run");
    if (run->test->driver->whole && o->deadline_s > 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option -D (deadline): a repetition is done as a whole; take fewer of "
                           "them, or limit the time of the test (-T)");
    return weir_interval_parse(o->interval, &interval_ns, err);
}

/* Check every test before the first one starts. */
static int plan_tests(struct weir_run *run, struct series *s, struct weir_err *err)
{
    int rc = weir_agree(&run->world, make_tests(run, s, err), err);

    for (int i = 0; i < s->n && rc == 0; i++) {
        run->test = &s->test[i];
        run->test->plan = (struct weir_plan) { .options = run->test->chosen,
                                               .tasks = run->world.size,
                                               .is_run = true };
        run->test->most = run->test->done = run->test->plan.options->repetitions;
        rc = check_options(run, err);
        if (rc == 0)
            rc = weir_confirm(
                run, s->driver->plan(run, run->test->state, chosen_of(s, i), err), err);
        if (rc == 0)
            rc = weir_trust_check(run->test->plan.options, err);
        if (rc == 0)
            rc = weir_guard_check(run->test, err);
        if (rc < 0 && s->sets > 1)
            weir_err_within(err, "test %d", i);
    }
    run->test = NULL;
    return rc;
}

/* ---- outputs ---- */

/* The sinks of --report=LIST, or with list NULL one of that form at that path. */
static int open_sinks(struct weir_run *run, const char *list, const char *format, const char *path,
                      struct weir_err *err)
{
    int rc = 0;

    run->details |= list || strcasecmp(format, "JSON") == 0;
    if (run->world.rank == 0)
        rc = list ? weir_report_add_list(&run->report, list, &run->arena, err)
                  : weir_report_add(&run->report, format, path, err);
    return weir_agree(&run->world, rc, err);
}

/* A script may say anywhere where the results go: the last test decides. */
static int open_outputs(struct weir_run *run, const struct series *s, int argc, char *const *argv,
                        struct weir_err *err)
{
    const void *opt = s->test[s->n - 1].chosen;
    const struct weir_run_options *o = opt;
    const char *format = "text", *path = "-";

    if (s->driver->output)
        s->driver->output(opt, &format, &path);
    if (open_sinks(run, o->reports, format, path, err) < 0)
        return -1;
    weir_report_place(&run->report);
    return weir_timeline_begin(run, o->timeline, s->driver, argc, argv, err);
}

static void report_status(struct weir_run *run, enum weir_code code)
{
    weir_report_leave_all(&run->report);
    weir_report_int(&run->report, WEIR_FOR_DATA, "status", code);
    weir_report_str(&run->report, WEIR_FOR_DATA, "error", run->error.text);
}

enum weir_code weir_outputs_close(struct weir_run *run, enum weir_code code)
{
    struct weir_err *err = weir_run_second(run);

    code = weir_timeline_end(run, code);
    if (weir_report_end_rows(&run->report, err) < 0)
        code = weir_code_worse(code, weir_run_refuse(run, err));
    report_status(run, code);
    if (weir_report_end(&run->report, err) < 0)
        code = weir_code_worse(code, weir_run_refuse(run, err));
    weir_bcast(&run->world, &code, sizeof(code), 0); /* it has the outputs */
    return code;
}

/* ---- tests ---- */

/* *done: how many were begun. err: of the one that ended the run. */
static enum weir_code run_tests(struct weir_run *run, struct series *s, int *done,
                                struct weir_err *err)
{
    enum weir_code code = WEIR_OK;
    bool failed = false;

    while (*done < s->n && !failed)
        code = weir_code_worse(code, weir_test_run(run, &s->test[(*done)++], &failed, err));
    return code;
}

/* Between enter and leave. */
static enum weir_code run_entered(struct weir_run *run, struct series *s, struct weir_err *err)
{
    const struct weir_driver *d = s->driver;
    enum weir_code code;
    bool good;
    int done = 0;

    if (!s->test[0].plan.is_run) {
        code = weir_test_foresee(run, &s->test[0], err);
        weir_trust_tables(run);
        return code;
    }
    weir_report_enter(&run->report, "tests", true);
    code = run_tests(run, s, &done, err);
    weir_report_leave(&run->report);
    if (d->summary)
        d->summary(run, s->test, done);
    weir_trust_tables(run);
    good = weir_code_is_whole(code);
    if (d->leave && d->leave(run, s->test[0].state, code, weir_run_second(run)) < 0 && good) {
        *err = run->second;
        code = weir_code_worse(code, weir_run_refuse(run, err));
    }
    return code;
}

static void show_banner(struct weir_run *run, struct series *s, int argc, char *const *argv)
{
    if (s->driver->banner) {
        s->driver->banner(run, s->test, s->n, argc, argv);
        return;
    }
    weir_banner_data(run, s->driver, argc, argv);
    weir_banner_time(run, WEIR_FOR_DATA, "Began");
}

static enum weir_code run_all(struct weir_run *run, struct series *s, int argc, char *const *argv,
                              struct weir_err *err)
{
    const struct weir_driver *d = s->driver;
    enum weir_code code;

    show_banner(run, s, argc, argv);
    if (d->enter && weir_confirm(run, d->enter(run, s->test, s->n, err), err) < 0)
        code = weir_run_refuse(run, err);
    else
        code = run_entered(run, s, err);
    if (weir_unwind_all(&run->unwind, &run->world, 0, weir_run_second(run)) < 0 && weir_code_is_whole(code)) {
        *err = run->second;
        code = weir_code_worse(code, weir_run_refuse(run, err));
    }
    if (d->finish)
        d->finish(run, s->test);
    if (!d->banner)
        weir_banner_time(run, WEIR_FOR_DATA, "Finished");
    return code;
}

enum weir_code weir_tests_run(struct weir_run *run, const struct weir_driver *d,
                              const struct weir_values *values, int n, int argc, char *const *argv)
{
    struct series s = { .driver = d, .values = values, .sets = n };
    struct weir_err err = WEIR_ERR_INIT;
    enum weir_code code;

    run->par = run->world;
    run->driver = d;
    if (d->line && d->line->instead && d->line->instead(run, values[0].given, &code))
        return code;
    if (weir_trust_environment(run, &err) < 0 || plan_tests(run, &s, &err) < 0)
        return weir_run_refuse(run, &err);
    weir_trust_machine(run, s.test, s.n);
    if (open_outputs(run, &s, argc, argv, &err) < 0 ||
        weir_ranks_begin(run, s.test, s.n, &err) < 0)
        return weir_run_refuse(run, &err);
    weir_board_begin(&run->board, &run->world, sizeof(struct weir_stall_slot));
    return run_all(run, &s, argc, argv, &err);
}
