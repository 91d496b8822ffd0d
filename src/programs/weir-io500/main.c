/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - weir-io500: a rehearsal of IO500 */
#include "programs/weir-io500/io500-run.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "par/agree.h"
#include "par/textfile.h"

#define O struct io500_options

const char *const io500_modes[] = { "standard", "extended", NULL };

static const struct weir_opt options[] = {
    OPT_STR('f', "config", NULL, O, config, NULL, "FILE",
            "Configuration file of IO500 (also without -f)",
            .flags = WEIR_OPT_READS | WEIR_OPT_WORD, OPT_FIRST(FILES)),
    OPT_STR(0, "mode", NULL, O, mode, "standard", "MODE",
            "Phases: those of a list, or all", .choices = io500_modes,
            OPT_FIRST(ORDER)),
    OPT_RUN(dry_run, 'n', "dry-run", NULL,
            .help = "Check of configuration and command lines of phases, without running them"),
    OPT_FLAG(0, "forecast", NULL, O, forecast,
             "Forecast from some seconds of each phase: durations, too short phases",
             OPT_FIRST(TIME)),
    OPT_REAL(0, "forecast-time", NULL, O, forecast_s, "10", "SECONDS",
             "Time of each phase of a forecast, seconds", .min = 0, .max = 3600, OPT_FIRST(TIME)),
    OPT_FLAG(0, "resume", NULL, O, resume,
             "Continuation of a rehearsal; phases that ended are not repeated",
             OPT_FIRST(ORDER)),
    OPT_FLAG(0, "cleanup", NULL, O, cleanup, "Removal of files that a rehearsal left",
             OPT_FIRST(FILES)),
    OPT_STR(0, "timestamp", NULL, O, timestamp, NULL, "NAME",
            "Name of the directories (default: the time)",
            OPT_IN(FILES)),
    OPT_FLAG(0, "list", NULL, O, list,
             "Keys of a configuration with their defaults", OPT_FIRST(FILES)),
    OPT_RUN(reports, 0, "report", NULL,
            .help = "Results: text:-, json:FILE; result.json is always in the result directory"),
    OPT_RUN(anonymous, 0, "anonymous", NULL),
    OPT_RUN(verbose, 'v', "verbose", NULL),
    OPT_RUN(warnings_are_errors, 0, "warning-as-errors", NULL),
    OPT_END
};

#undef O

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "config.ini", "a rehearsal, with the phases of the list" },
    { WEIR_TOPIC_NONE, "config.ini --forecast", "what a whole run would be, in some minutes" },
    { WEIR_TOPIC_NONE, "config.ini --dry-run", "the command lines of all phases" },
    { WEIR_TOPIC_NONE, "config.ini --resume", "go on after the end of a job" },
    { WEIR_TOPIC_NONE, "config.ini --cleanup", "remove what a rehearsal has left" },
    { WEIR_TOPIC_ORDER, "config.ini --mode=extended", "all phases" },
    { WEIR_TOPIC_FILES, "--list", "all keys of a configuration" },
    { WEIR_TOPIC_FILES, "config.ini --timestamp=first", "directories with a name of your own" },
    { WEIR_TOPIC_TIME, "config.ini --forecast --forecast-time=30", "more exactly" },
    { WEIR_TOPIC_OUTPUT, "config.ini --report=text:-,json:r.json", "results for programs, in a place of your own, too" },
    { .args = NULL }
};

static const struct weir_operation operations[] = { { .key = NULL } };

/* ---- the plan ---- */

static int read_config(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    struct weir_shared_text text = { .what = "configuration", .path = t->o->config, .must_be = true };
    struct weir_str notes = { 0 };
    int rc = weir_shared_text_read(&run->world, &text, err);

    t->text = text.text;
    if (rc == 0)
        rc = weir_agree_check(&run->world,
                              io500_config_read(text.text, text.len, t->o->config, &run->arena,
                                                &t->config, &notes, err),
                              err);
    for (const char *at = weir_str_text(&notes), *end; rc == 0 && (end = strchr(at, '\n'));
         at = end + 1)
        weir_note(&run->log, "%.*s", (int)(end - at), at);
    weir_str_free(&notes);
    return rc;
}

static int check_options(const struct io500_options *o, struct weir_err *err)
{
    const struct weir_conflict rules[] = {
        { !o->config, "a configuration is missing: weir-io500 config.ini (weir-io500 --list shows what can stand in it)" },
        { o->resume && o->cleanup, "options --resume and --cleanup: the one goes on with the files that the other removes" },
        { o->forecast && (o->resume || o->cleanup), "option --forecast makes and removes files of its own: leave --resume and --cleanup out" },
        { o->forecast_s < 0.1, "option --forecast-time: at least 0.1 s" },
        { o->timestamp && (!*o->timestamp || strchr(o->timestamp, '/')), "option --timestamp: a name without '/'" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_run_options *options_of_run = &((struct io500_options *)chosen)->run;
    struct io500 *t = state;

    t->o = chosen;
    t->lock = -1;
    if (check_options(t->o, err) < 0 || read_config(run, t, err) < 0 ||
        io500_places_find(run, t, err) < 0)
        return -1;
    /* a list has ',' between outputs, and so has -O between what it names */
    if (strpbrk(t->place.data, "@,\n'") || strpbrk(t->place.results, "@,\n'"))
        return weir_refuse(err, WEIR_EUSAGE, "'%s', '%s': names of directories cannot have ',', "
                                             "'@' or \"'\"", t->place.data, t->place.results);
    t->extended = strcasecmp(t->o->mode, "extended") == 0;
    t->place.stonewall_s = t->o->forecast ? t->o->forecast_s : (double)io500_number(&t->config, "debug", "stonewall-time");
    t->place.free = run->report.is_preview = t->o->forecast;
    t->began = (int64_t)(weir_clock_day_ns(&run->world) / WEIR_NS_PER_S);
    t->place.seed = t->began % 1000000000; /* files of other rehearsals have other marks */
    if ((t->o->resume || t->o->cleanup) && io500_state_read(run, t, t->o->cleanup, err) < 0)
        return -1;
    if (!t->o->cleanup && io500_job_check(run, t, err) < 0)
        return -1;
    if (t->o->run.dry_run)
        return 0;
    if (io500_places_results(run, t, err) < 0)
        return -1;
    if (t->o->cleanup)
        return 0;
    options_of_run->reports =
        weir_arena_textf(&run->arena, err, "%s,json:%s/result.json",
                    t->o->run.reports ? t->o->run.reports : "text:-", t->place.results);
    return weir_agree(&run->world, options_of_run->reports ? 0 : -1, err);
}

/* ---- a test ---- */

static void end(void *state)
{
    struct io500 *t = state;

    if (t->lock >= 0)
        close(t->lock);
    weir_str_free(&t->summary);
    weir_worklog_free(&t->work);
    weir_set_free(&t->noted);
    free(t->reason);
    free(t->text);
}

static int run_phases(struct weir_run *run, void *state, const struct weir_stage *stage,
                      struct weir_err *err)
{
    struct io500 *t = state, old = { .o = t->o, .place = t->place, .lock = t->lock };

    if (t->o->cleanup)
        return 0;
    if (t->left &&
        (io500_state_read(run, &old, true, err) < 0 || io500_clean_all(run, &old, err) < 0))
        return -1;
    weir_interrupt_hold(&run->interrupt); /* a signal from now on ends the phase that runs, in order */
    if (io500_places_data(run, t, err) < 0)
        return -1;
    t->begun = true;
    if (weir_agree(&run->par, io500_report_files(run, t, err), err) < 0)
        return -1;
    if (t->o->forecast)
        return io500_foresee(run, t, err);
    return io500_judge_begin(run, t, err) < 0 ? -1 : io500_run_all(run, t, err);
}

/* After all phases that are wanted, as --resume has nothing more to do. */
static int clean(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    return io500_clean_all(run, state, err);
}

static bool wants_work(const void *state, const struct weir_stage *stage)
{
    return !((const struct io500 *)state)->o->run.dry_run;
}

static const struct weir_stage stages[] = {
    { .key = "phases", .wanted = wants_work, .before = run_phases },
    { .key = "cleanup", .wanted = wants_work, .before = clean },
    { .key = NULL }
};

static int report(struct weir_run *run, void *state, struct weir_err *err)
{
    struct io500 *t = state;

    if (t->o->cleanup)
        return 0;
    io500_report_begin(run, t);
    return t->o->run.dry_run ? io500_report_plan(run, t, err) : 0;
}

/* The last lines are in the files, too. A run that was refused before its first phase has none. */
static int conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct io500 *t = state;
    int rc = 0;

    if (!t->begun)
        return 0;
    if (run->test->failed)
        weir_note(&run->log, "the files of this %s stay in '%s': %s", t->o->forecast ? "forecast" : "rehearsal", t->place.data,
                  t->o->forecast ? "the next --forecast removes them" : "--resume goes on after the last phase that ended, --cleanup removes them");
    io500_report_end(run, t);
    rc = io500_report_files(run, t, err);
    return weir_agree(&run->par, rc, err);
}

static const struct weir_output output = { .report = report };

static bool is_list(const void *opt)
{
    return ((const struct io500_options *)opt)->list;
}

static bool show_list(struct weir_run *run, const struct weir_values *values, enum weir_code *code)
{
    struct weir_str text = { 0 };

    if (!is_list(values->given))
        return false;
    io500_config_show(NULL, &text);
    *code = run->world.rank > 0 || weir_str_print(&text, stdout) ? WEIR_OK : WEIR_ESETUP;
    weir_str_free(&text);
    return true;
}

static const struct weir_cli cli = { .minimal = true, .usage = "weir-io500 [OPTION...] CONFIG", .without_mpi = is_list, .instead = show_list };

static const struct weir_program weir_io500 = {
    .name = "weir-io500",
    .brief = "rehearse IO500 with its phases and score, and forecast what a run would be",
    .examples = examples,
    .opts = options,
    .opt_size = sizeof(struct io500_options),
    .state_size = sizeof(struct io500),
    .operations = operations,
    .cli = &cli,
    .output = &output,
    .plan = plan,
    .end = end,
    .stages = stages,
    .conclude = conclude,
};

int main(int argc, char **argv)
{
    return weir_main(&weir_io500, argc, argv);
}
