/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - a benchmark with options by name, run any number of times */
#include "weir.h"

#include <stdlib.h>
#include <string.h>

#include "base/options/option.h"
#include "base/thread.h"
#include "engine/check/findings.h"
#include "engine/command.h"
#include "library/library.h"

/* An option that was set. */
struct word {
    int row;    /* its number, for all names of the option */
    char *text; /* as a word of a command line */
};

struct weir_job {
    const struct weir_program *program;
    MPI_Comm comm;
    struct word *word;
    int n;
    char **argv; /* memory for all words, twice: a run needs no memory of its own */
    struct weir_hooks hooks;
    struct weir_capture capture;
    FILE *stream;
    void (*text)(void *arg, const char *bytes, size_t len);
    void *text_arg;
    struct weir_outcome outcome;
};

/* Before the caller's words, which override them: nothing is printed. */
static const char *const quiet[] = { "--report=text:/dev/null", "--progress=never" };

/* The error of a job that weir_job_new could not make. */
static const char no_job[] = "there is no benchmark of this name (weir_benchmark_name lists them), "
                             "or no memory for a job";

#define QUIET ((int)(sizeof(quiet) / sizeof(*quiet)))

/* Room for n words: all of a run, and those that it shows. */
static int reserve_words(struct weir_job *job, int n)
{
    char **argv = realloc(job->argv, (size_t)(1 + QUIET + n + 1 + 1 + n + 1) * sizeof(*argv));

    if (!argv)
        return -1;
    job->argv = argv;
    return 0;
}

struct weir_job *weir_job_new(const char *benchmark, const MPI_Comm *comm)
{
    const struct weir_program *program = weir_benchmark_find(benchmark);
    struct weir_job *job = program ? calloc(1, sizeof(*job)) : NULL;

    if (!job)
        return NULL;
    if (reserve_words(job, 0) < 0) {
        free(job);
        return NULL;
    }
    job->program = program;
    job->comm = comm ? *comm : MPI_COMM_WORLD;
    job->capture.keep = true;
    job->capture.worst = -1;
    return job;
}

/* ---- options ---- */

static int refuse(struct weir_job *job, const char *text)
{
    snprintf(job->outcome.error, sizeof(job->outcome.error), "%s", text);
    return job->outcome.status = WEIR_EUSAGE;
}

/* "-b=4k", "--blockSize=4k", "--keepFile". The caller frees it. */
static char *word_of(const char *option, const char *value)
{
    struct weir_str s = { 0 };

    weir_str_addf(&s, "%s%s", strlen(option) == 1 ? "-" : "--", option);
    if (value)
        weir_str_addf(&s, "=%s", value);
    if (!s.failed)
        return s.text;
    weir_str_free(&s);
    return NULL;
}

/* Check that the benchmark accepts the arguments. */
static int try_words(struct weir_job *job, int argc, char *const *argv)
{
    struct weir_run run = { .repetition = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_command command;
    int rc;

    weir_program_begin(&run, 1); /* not the rank that speaks */
    rc = weir_program_options(&run, &command, job->program, argc, argv, &err);
    if (rc == 0 && (command.common.help || command.common.version || command.common.dump))
        rc = weir_refuse(&err, WEIR_EUSAGE,
                         "%s requests help, the version or the options, which run no benchmark",
                         argc == 2 ? argv[1] : "an argument");
    weir_program_end(&run);
    return rc < 0 ? refuse(job, err.text) : 0;
}

/* The number of the row that a name without dashes means; -1: there is none. */
static int row_of(const struct weir_job *job, const char *option)
{
    struct weir_optname name = { .text = option, .len = strlen(option) };
    struct weir_run run = { .repetition = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_optrow at = { 0 };
    struct weir_command command;
    int row = -1;

    name.letter = name.len == 1 ? *option : '\0';
    weir_program_begin(&run, 1);
    if (weir_command_init(&command, job->program, &run.arena, &err) == 0)
        for (int i = 0; row < 0 && weir_opts_next(&command.opts, &at); i++)
            row = weir_opt_matches(&at, &name) ? i : -1;
    weir_program_end(&run);
    return row;
}

/* Drop an option from those that were set. Returns false when it was not set. */
static bool drop(struct weir_job *job, int row)
{
    for (int i = 0; i < job->n; i++) {
        struct word *old = &job->word[i];

        if (old->row != row)
            continue;
        free(old->text);
        memmove(old, old + 1, sizeof(*old) * (size_t)(--job->n - i));
        return true;
    }
    return false;
}

/* As the last word: it overrides what others have set, too. */
static int keep(struct weir_job *job, const char *option, char *text)
{
    int row = row_of(job, option);
    struct word *more;

    if (row < 0 || reserve_words(job, job->n + 1) < 0)
        return -1;
    more = realloc(job->word, (size_t)(job->n + 1) * sizeof(*more));
    if (!more)
        return -1;
    job->word = more;
    drop(job, row);
    job->word[job->n++] = (struct word) { .row = row, .text = text };
    return 0;
}

/* With the C locale. */
static int set_option(struct weir_job *job, const char *option, const char *value)
{
    char name[] = "weir", *text;

    job->outcome = (struct weir_outcome) { .status = WEIR_OK };
    if (option)
        option += strspn(option, "-");
    if (!option || !*option || strpbrk(option, "= \t\r\n"))
        return refuse(job, "an option has a name, without '=' and blanks");
    text = word_of(option, value);
    if (!text)
        return refuse(job, "no memory for an option");
    if (try_words(job, 2, (char *[]) { name, text, NULL }) == 0 && keep(job, option, text) == 0)
        return 0;
    if (!job->outcome.error[0])
        refuse(job, "no memory for an option");
    free(text);
    return job->outcome.status;
}

int weir_job_set(struct weir_job *job, const char *option, const char *value)
{
    locale_t caller = weir_locale_plain();
    int status = job ? set_option(job, option, value) : WEIR_EUSAGE;

    uselocale(caller);
    return status;
}

int weir_job_unset(struct weir_job *job, const char *option)
{
    locale_t caller = weir_locale_plain();
    int row;

    row = job && option ? row_of(job, option + strspn(option, "-")) : -1;
    uselocale(caller);
    if (!job)
        return WEIR_EUSAGE;
    job->outcome = (struct weir_outcome) { .status = WEIR_OK };
    return row >= 0 && drop(job, row) ? 0 : refuse(job, "this option was not set by weir_job_set");
}

static void free_words(struct word *word, int n)
{
    for (int i = 0; i < n; i++)
        free(word[i].text);
    free(word);
}

/* Copies of them instead of all that was set; without memory nothing changes. */
static int replace_words(struct weir_job *job, int n, char *const *words)
{
    struct word *word = calloc((size_t)n + 1, sizeof(*word));
    bool whole = word && reserve_words(job, n > job->n ? n : job->n) == 0;

    for (int i = 0; whole && i < n; i++)
        whole = (word[i].text = strdup(words[i])) != NULL;
    if (!whole) {
        free_words(word, word ? n : 0);
        return -1;
    }
    free_words(job->word, job->n);
    job->word = word;
    job->n = n;
    return 0;
}

int weir_job_words(struct weir_job *job, int argc, char *const *argv)
{
    if (!job)
        return WEIR_EUSAGE;
    job->outcome = (struct weir_outcome) { .status = WEIR_OK };
    if (argc < 1 || !argv)
        return refuse(job, "argv[0] is missing: it is the name of a program");
    for (int i = 0; i < argc; i++)
        if (!argv[i])
            return refuse(job, "an argument of the command line is NULL");
    if (try_words(job, argc, argv) < 0 || job->outcome.status != WEIR_OK)
        return job->outcome.status;
    return replace_words(job, argc - 1, argv + 1) < 0 ? refuse(job, "no memory for arguments") : 0;
}

/* ---- callbacks of the caller ---- */

void weir_job_stream(struct weir_job *job, FILE *stream)
{
    if (job)
        job->stream = stream;
}

void weir_job_text(struct weir_job *job, void (*text)(void *arg, const char *bytes, size_t len),
                   void *arg)
{
    if (!job)
        return;
    job->text = text;
    job->text_arg = arg;
}

void weir_job_before(struct weir_job *job, void (*before)(void *arg, const char *phase), void *arg)
{
    if (!job)
        return;
    job->hooks.before = before;
    job->hooks.arg = arg;
}

void weir_job_until(struct weir_job *job, int (*stop)(void *arg, const struct weir_progress *now),
                    void *arg)
{
    if (!job)
        return;
    job->hooks.stop = stop;
    job->hooks.stop_arg = arg;
}

void weir_job_watch(struct weir_job *job, void (*each)(void *arg, const struct weir_result *result),
                    void (*message)(void *arg, const char *kind, const char *text), void *arg)
{
    if (!job)
        return;
    job->capture.each = each;
    job->capture.message = message;
    job->capture.arg = arg;
}

/* ---- runs ---- */

static void place_words(struct weir_job *job, struct weir_inside *in)
{
    char **all = job->argv, **shown = all + 1 + QUIET + job->n + 1;

    all[0] = shown[0] = (char *)(uintptr_t)job->program->name;
    memcpy(all + 1, quiet, sizeof(quiet));
    for (int i = 0; i < job->n; i++)
        all[1 + QUIET + i] = shown[1 + i] = job->word[i].text;
    in->argv = all;
    in->argc = 1 + QUIET + job->n;
    in->shown = shown;
    in->shown_argc = 1 + job->n;
    all[in->argc] = shown[in->shown_argc] = NULL;
}

static int run_job(struct weir_job *job, bool plans_only)
{
    struct weir_inside in = { .quiet = true, .plans_only = plans_only };

    if (!job)
        return WEIR_EUSAGE;
    in.program = job->program;
    in.comm = job->comm;
    place_words(job, &in);
    in.hooks = &job->hooks;
    in.stream = job->stream;
    in.text = job->text;
    in.text_arg = job->text_arg;
    in.capture = &job->capture;
    return weir_inside_run(&in, &job->outcome);
}

int weir_job_run(struct weir_job *job)
{
    return run_job(job, false);
}

int weir_job_check(struct weir_job *job)
{
    return run_job(job, true);
}

const char *weir_job_error(const struct weir_job *job)
{
    return job ? job->outcome.error : no_job;
}

int weir_jobs_clash(struct weir_job *const *job, const int *tasks, int n, const char *const *own,
                    int *other)
{
    struct weir_inside *in = calloc((size_t)n + 1, sizeof(*in));
    struct weir_err err = WEIR_ERR_INIT;
    locale_t caller = weir_locale_plain();
    int found = n - 1;

    if (other)
        *other = found;
    for (int i = 0; in && job && i < n; i++)
        if (job[i]) {
            in[i].program = job[i]->program;
            place_words(job[i], &in[i]);
        }
    if (in && job && tasks && other)
        found = weir_inside_clash(in, tasks, n, own, other, &err);
    else
        weir_refuse(&err, WEIR_ESETUP, in ? "a pointer is NULL" : "no memory");
    if (found >= 0 && found < n && job && job[found])
        refuse(job[found], err.text);
    free(in);
    uselocale(caller);
    return found;
}

/* ---- results ---- */

int weir_job_results(const struct weir_job *job)
{
    return job ? job->capture.results : 0;
}

const struct weir_result *weir_job_result(const struct weir_job *job, int i)
{
    return i >= 0 && i < weir_job_results(job) ? &job->capture.result[i] : NULL;
}

int weir_job_remarks(const struct weir_job *job)
{
    return job ? job->capture.remarks : 0;
}

const struct weir_remark *weir_job_remark(const struct weir_job *job, int i)
{
    return i >= 0 && i < weir_job_remarks(job) ? &job->capture.remark[i] : NULL;
}

const char *weir_job_verdict(const struct weir_job *job)
{
    if (!job || job->capture.worst < 0)
        return "";
    return weir_verdict_name((enum weir_severity)job->capture.worst);
}

void weir_job_free(struct weir_job *job)
{
    if (!job)
        return;
    weir_capture_clear(&job->capture);
    free_words(job->word, job->n);
    free(job->argv);
    free(job);
}
