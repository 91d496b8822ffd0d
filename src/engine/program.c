/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - the life of a run, from the words of a command line to the exit status */
#include "config.h"
#include "engine/program.h"

#include <string.h>
#include <unistd.h>

#include "base/options/option.h"
#include "engine/about/banner.h"
#include "engine/observe/until.h"
#include "engine/tests.h"
#include "par/agree.h"

/* Results for programs have the messages; but errors have a place of their own there (run->error). */
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

/* Is the word an option of a launcher that no program of the suite could mean: -np, --np, and -n
 * where that takes no value? */
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
                               c->argv[i], weir_quote_str(number, shown), shown, c->driver->name);
    }
    return 0;
}

int weir_program_options(struct weir_run *run, struct weir_command *c, const struct weir_driver *d,
                         int argc, char *const *argv, struct weir_err *err)
{
    if (weir_command_init(c, d, &run->arena, err) < 0)
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

static int check_repetitions(struct weir_command *c, struct weir_err *err)
{
    for (int i = 0; i < c->n; i++)
        if (weir_until_check(c->tests[i].given, err) < 0)
            return c->n > 1 ? weir_err_within(err, "test %d", i) : -1;
    return 0;
}

/* From files of options and scripts to the tests. Each step may fail on one rank alone, for want of
 * memory; the next one is collective. */
static int read_tests(struct weir_run *run, struct weir_command *c, struct weir_err *err)
{
    const struct weir_par *par = &run->world;

    if (weir_agree_check(par, weir_command_settings(c, par, &run->log, err), err) < 0 ||
        weir_agree_check(par, weir_command_tests(c, par, err), err) < 0 ||
        weir_agree_check(par, check_repetitions(c, err), err) < 0)
        return -1;
    return weir_command_check_files(c, par, err);
}

enum weir_code weir_program_run(struct weir_run *run, struct weir_command *c, MPI_Comm comm,
                                int argc, char *const *argv, struct weir_err *err)
{
    enum weir_code code;

    if (comm == MPI_COMM_NULL)
        weir_par_alone(&run->world);
    else if (weir_par_init(&run->world, comm, err) < 0)
        return weir_run_refuse(run, err);
    run->log.rank = run->world.rank;
    if (read_tests(run, c, err) < 0)
        return weir_run_refuse(run, err);
    weir_anonymous_begin(run, c);
    weir_command_note_unused(c, &run->log);
    code = weir_tests_run(run, c->driver, c->tests, c->n, argc, argv);
    if (!run->report.begun) { /* it failed before anything was reported: name at least the
                               * program */
        weir_banner_program(run, c->driver);
        weir_banner_command(run, WEIR_FOR_DATA, argc, argv);
    }
    code = weir_outputs_close(run, code);
    weir_interrupt_release(&run->interrupt); /* held since the first phase */
    *err = run->error;
    return code;
}

void weir_program_end(struct weir_run *run)
{
    weir_watchdog_end(&run->watchdog);   /* nothing is left but after an early error */
    weir_board_end(&run->board);
    weir_report_place(&run->report);
    weir_report_end(&run->report, NULL); /* the same, or what was there from the start */
    weir_anonymous_end(&run->anonymous);
    weir_str_free(&run->made);
    weir_par_free(&run->world);
    weir_arena_free(&run->arena);
}
