/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.c - a run from its command line to the status: plans, outputs, tests, summary */
#include "engine/command.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/options/option.h"
#include "base/steady.h"
#include "engine/observer.h"
#include "engine/test.h"
#include "par/agree.h"

/* The tests of a run. */
struct series {
    const struct weir_program *program;
    const struct weir_values *values;
    int sets; /* of values */
    struct weir_test *test;
    char *chosen; /* their options, opt_size bytes each */
    int n;
};

/* ---- plans ---- */

static int variants_of(const struct weir_run *run, const struct series *s, int set)
{
    const struct weir_program *p = s->program;

    return p->variants ? p->variants(s->values[set].given, &run->world) : 1;
}

/* The options of a test, for its plan. */
static void *chosen_of(const struct series *s, int test)
{
    return s->chosen + (size_t)test * s->program->opt_size;
}

static int make_tests(struct weir_run *run, struct series *s, struct weir_err *err)
{
    size_t size = s->program->opt_size;
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
                .id = (int)(t - s->test), .variant = v, .values = &s->values[i], .program = s->program
            };
            t->state = weir_arena_alloc(&run->arena, s->program->state_size, err);
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

    if (o->assume_rate > 0 && !o->dry_run)
        weir_note(&run->log, "option --assume-rate has no effect without --dry-run");
    if (run->test->program->whole && weir_steady_asked(o->until))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --until=steady: no phase of this program can end early; use "
                           "--until=PERCENT, which ends the repetitions");
    if (run->test->program->whole && o->deadline_s > 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option -D (deadline): no phase of this program can end early; use "
                           "fewer repetitions, or limit the time of the test (-T)");
    return 0;
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
        run->test->max_repetitions = run->test->done = run->test->plan.options->repetitions;
        rc = check_options(run, err);
        if (rc == 0)
            rc = weir_agree_same(
                run, s->program->plan(run, run->test->state, chosen_of(s, i), err), err);
        if (rc < 0 && s->sets > 1)
            weir_err_within(err, "test %d", i);
    }
    run->test = NULL;
    return rc;
}

/* ---- outputs ---- */

/* A script may say anywhere where the results go: the last test decides. */
static int open_outputs(struct weir_run *run, const struct series *s, struct weir_err *err)
{
    const void *opt = s->test[s->n - 1].chosen;
    const struct weir_run_options *o = opt;
    const char *format = "text", *path = "-";
    int64_t is_data;
    int rc = 0;

    if (weir_output_of(s->program)->form)
        s->program->output->form(opt, &format, &path);
    run->report.details |= o->reports || strcasecmp(format, "JSON") == 0;
    if (run->world.rank == 0)
        rc = o->reports ? weir_report_add_list(&run->report, o->reports, err)
                        : weir_report_add(&run->report, format, path, err);
    if (weir_agree(&run->world, rc, err) < 0)
        return -1;
    run->report.is_preview |= o->dry_run;
    is_data = run->report.is_data;
    weir_allmax_i64(&run->world, &is_data, 1);
    run->report.is_data = is_data;
    return 0;
}

/* Close the outputs. The documents come last and say how the run ended, which programs that read
 * them need: 'code', or what went wrong with another output when nothing else did. Returns the
 * status to end with, the same on all ranks. A no-op without outputs. Collective over
 * run->world. */
static enum weir_code close_outputs(struct weir_run *run, enum weir_code code)
{
    struct weir_err *err = weir_run_second(run);

    code = weir_observers_run_end(run, code);
    if (weir_report_end(&run->report, false, err) < 0)
        code = weir_code_worse(code, weir_run_refuse(run, err));
    while (run->report.depth > 0)
        weir_report_leave(&run->report);
    weir_report_int(&run->report, WEIR_FOR_DATA, "status", code);
    weir_report_str(&run->report, WEIR_FOR_DATA, "error", run->report.last.error.text);
    if (weir_report_end(&run->report, true, err) < 0)
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
    const struct weir_program *p = s->program;
    enum weir_code code;
    bool good;
    int done = 0;

    if (!s->test[0].plan.is_run) {
        code = weir_test_foresee(run, &s->test[0], err);
        weir_run_print_notes(run);
        weir_observers_summary(run);
        return code;
    }
    weir_report_enter(&run->report, "tests", true);
    code = run_tests(run, s, &done, err);
    weir_report_leave(&run->report);
    weir_run_print_notes(run);
    if (weir_output_of(p)->summary)
        p->output->summary(run, s->test, done);
    weir_observers_summary(run);
    good = weir_code_is_whole(code);
    if (p->leave && p->leave(run, s->test[0].state, code, weir_run_second(run)) < 0 && good) {
        *err = run->second;
        code = weir_code_worse(code, weir_run_refuse(run, err));
    }
    return code;
}

static enum weir_code run_all(struct weir_run *run, struct series *s, struct weir_err *err)
{
    const struct weir_program *p = s->program;
    const struct weir_output *w = weir_output_of(p);
    enum weir_code code;

    if (w->banner)
        w->banner(run, s->test);
    weir_observers_run_open(run);
    if (p->enter && weir_agree_same(run, p->enter(run, s->test, s->n, err), err) < 0)
        code = weir_run_refuse(run, err);
    else
        code = run_entered(run, s, err);
    if (weir_unwind_all(&run->unwind, &run->world, weir_run_second(run)) < 0 && weir_code_is_whole(code)) {
        *err = run->second;
        code = weir_code_worse(code, weir_run_refuse(run, err));
    }
    if (w->finish)
        w->finish(run, s->test);
    return code;
}

static enum weir_code name_phases(const struct weir_planned *planned, const struct series *s)
{
    for (const struct weir_test *t = s->test; t < s->test + s->n; t++)
        for (const struct weir_stage *stage = t->program->stages; stage && stage->key; stage++)
            if (stage->phase && weir_stage_wanted(t, stage))
                planned->phase(planned->arg, stage->phase->key);
    return WEIR_OK;
}

static enum weir_code run_values(struct weir_run *run, const struct weir_program *p,
                                 const struct weir_values *values, int n)
{
    struct series s = { .program = p, .values = values, .sets = n };
    struct weir_err err = WEIR_ERR_INIT;
    enum weir_code code;

    run->par = run->world;
    if (p->cli && p->cli->instead && p->cli->instead(run, &values[0], &code))
        return code;
    if (plan_tests(run, &s, &err) < 0)
        return weir_run_refuse(run, &err);
    if (run->plans_only)
        return name_phases(run->plans_only, &s);
    if (open_outputs(run, &s, &err) < 0 || weir_observers_run_begin(run, s.test, s.n, &err) < 0)
        return weir_run_refuse(run, &err);
    weir_report_place(&run->report); /* the checks have said whether CSV has a column for messages */
    return run_all(run, &s, &err);
}

/* ---- a program ---- */

/* Results for programs have the messages; but errors have a place of their own there (run->report.last.error). */
static bool hand_on(void *arg, const char *kind, const char *text)
{
    struct weir_run *run = arg;

    return weir_report_message(&run->report, kind, text);
}

void weir_program_begin(struct weir_run *run, int rank)
{
    run->log.fd = STDERR_FILENO;
    run->log.rank = rank;
    run->log.observer = hand_on;
    run->log.observer_arg = run;
    run->report.arena = &run->arena;
    run->report.log = &run->log;
}

static void note_option(void *arg, const char *text)
{
    weir_note(arg, "%s", text);
}

/* True for an option of a launcher that no program of the suite could mean: -np, --np, and -n
 * where that takes no value. */
static bool is_of_launcher(const struct weir_command *c, const char *word)
{
    const struct weir_optname letter = { .letter = 'n' };
    const struct weir_opt *row = weir_opt_find(&c->opts, &letter);

    return strcmp(word, "-np") == 0 || strcmp(word, "--np") == 0 ||
           (strcmp(word, "-n") == 0 && (!row || !weir_opt_takes_value(row)));
}

/* "ior -np 4": the number of tasks is the launcher's. */
static int refuse_launcher_words(const struct weir_command *c, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    for (int i = 1; i + 1 < c->argc; i++) {
        const char *number = c->argv[i + 1];

        if (is_of_launcher(c, c->argv[i]) && *number && strspn(number, "0123456789") == strlen(number))
            return weir_refuse(err, WEIR_EUSAGE,
                               "'%s %s' is an option of the launcher: start it with mpirun -np %s "
                               "%s ...",
                               c->argv[i], weir_quote_str(number, shown), shown, c->program->name);
    }
    return 0;
}

int weir_program_options(struct weir_run *run, struct weir_command *c, const struct weir_program *p,
                         int argc, char *const *argv, struct weir_err *err)
{
    if (weir_observers_begin(run, err) < 0 || weir_command_init(c, p, &run->arena, err) < 0)
        return -1;
    c->opts.note = note_option;
    c->opts.note_arg = &run->log;
    c->argc = argc;
    c->argv = argv;
    if (refuse_launcher_words(c, err) < 0)
        return -1;
    if (weir_opts_argv(&c->opts, argc, argv, err) < 0)
        return weir_command_blame_backend(c, argc, argv, err);
    weir_run_options_log(c->opts.set[0].values, &run->log);
    return 0;
}

/* Refuse tests whose options observers find wrong, and tests in which two files would be one
 * (engine/files.h). Rank 0 looks at the file system for all. Collective over par->comm. */
static int check_files(struct weir_command *c, const struct weir_par *par, struct weir_err *err)
{
    struct weir_files files = { .arena = c->arena, .tasks = par->size };

    if (weir_agree_check(par, weir_command_add_files(c, &files, err), err) < 0)
        return -1;
    return weir_agree(par, par->rank == 0 ? weir_files_check(&files, err) : 0, err);
}

/* From files of options and scripts to the tests. Each step may fail on one rank alone, for want of
 * memory; the next one is collective. */
static int read_tests(struct weir_run *run, struct weir_command *c, struct weir_err *err)
{
    const struct weir_par *par = &run->world;

    if (weir_agree_check(par, weir_command_settings(c, par, &run->log, err), err) < 0 ||
        weir_agree_check(par, weir_command_tests(c, par, err), err) < 0)
        return -1;
    return check_files(c, par, err);
}

enum weir_code weir_program_run(struct weir_run *run, struct weir_command *c, MPI_Comm comm,
                                int argc, char *const *argv, struct weir_err *err)
{
    enum weir_code code;

    if (comm == MPI_COMM_NULL)
        weir_par_single(&run->world);
    else if (weir_par_init(&run->world, comm, err) < 0)
        return weir_run_refuse(run, err);
    run->log.rank = run->world.rank;
    run->program = c->program;
    run->report.line = (struct weir_command_line) { argc, argv };
    if (read_tests(run, c, err) < 0)
        return weir_run_refuse(run, err);
    weir_observers_run_read(run, c->tests, c->n);
    weir_command_note_unused(c, &run->log);
    code = run_values(run, c->program, c->tests, c->n);
    code = close_outputs(run, code);
    if (code == WEIR_OK) /* held since the first phase; a signal to all ranks may reach some late */
        weir_interrupt_release(&run->interrupt);
    *err = run->report.last.error;
    return code;
}

void weir_program_end(struct weir_run *run)
{
    weir_report_place(&run->report);
    weir_report_end(&run->report, true, NULL); /* the same, or what was there from the start */
    weir_str_free(&run->report.early);
    weir_observers_release(run);
    weir_par_free(&run->world);
    weir_arena_free(&run->arena);
    run->underlying = NULL; /* it was in the arena */
}
