/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - errors of a run, functions that all ranks agree on, and what is given back at the end */
#include "engine/run.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/launcher.h"
#include "par/agree.h"

/* ---- errors ---- */

/* For the document and the exit status. The worst error is the last line of the run. */
static void keep_error(struct weir_last *last, const struct weir_err *err, bool is_printed)
{
    bool is_worst = last->error.code != weir_code_worse(last->error.code, err->code);

    if (is_worst)
        last->error = *err;
    last->is_printed = is_worst && is_printed;
}

/* True when the worst error is to be repeated. */
static bool has_error(const struct weir_last *last)
{
    return last->error.code != WEIR_OK && !last->is_printed;
}

/* Not messages of the run: programs have the findings. */
static void print_notes(struct weir_run *run)
{
    struct weir_log log = run->log;
    char *next = run->report.last.notes.text, *line;

    log.observer = NULL;
    while (next && (line = strsep(&next, "\n")) && next)
        weir_note(&log, "%s", line);
    weir_str_free(&run->report.last.notes);
}

static void print_last(struct weir_run *run)
{
    struct weir_last *last = &run->report.last;
    struct weir_log log = run->log;
    struct weir_err err = WEIR_ERR_INIT;

    print_notes(run);
    log.observer = NULL;
    for (const char *text = NULL; (text = weir_str_next(&last->errors, text));) {
        if (strcmp(text, last->error.text) == 0) /* it comes last */
            continue;
        weir_refuse(&err, WEIR_EDATA, "%s", text);
        weir_report_error(&log, &err);
    }
    weir_str_free(&last->errors);
}

void weir_run_print_notes(struct weir_run *run)
{
    const struct weir_last *last = &run->report.last;

    if (last->notes.len == 0)
        return;
    weir_report_flush(&run->report);
    if (last->is_merged)
        weir_launch_pass(STDOUT_FILENO);
    print_notes(run);
    if (last->is_merged)
        weir_launch_pass(STDERR_FILENO);
}

enum weir_code weir_run_refuse(struct weir_run *run, const struct weir_err *err)
{
    if (run->log.rank == 0) {
        keep_error(&run->report.last, err, true);
        weir_report_flush(&run->report);
        print_last(run); /* of tests before */
        weir_report_error(&run->log, err);
    }
    return err->code;
}

enum weir_code weir_run_refuse_last(struct weir_run *run, const struct weir_err *err)
{
    struct weir_last *last = &run->report.last;

    if (run->log.rank == 0) {
        keep_error(last, err, false);
        weir_str_addf(&last->errors, "%s%c", err->text, 0);
    }
    run->report.lost |= last->errors.failed;
    return err->code;
}

void weir_run_last_lines(struct weir_run *run, uint64_t pause_ns)
{
    struct weir_last *last = &run->report.last;

    if (pause_ns > 0 && (last->notes.len + last->errors.len > 0 || has_error(last)))
        weir_sleep_ns(pause_ns);
    print_last(run);
    if (has_error(last))
        weir_report_error(&run->log, &last->error);
    last->is_printed = true;
}

/* ---- the two kinds of functions ---- */

int weir_local(struct weir_run *run, weir_local_fn *fn, void *state, struct weir_err *err)
{
    return weir_agree(&run->par, fn ? fn(run, state, err) : 0, err);
}

int weir_agree_same(struct weir_run *run, int rc, struct weir_err *err)
{
    int64_t seen[2] = { rc < 0, rc >= 0 };

    weir_allmax_i64(&run->par, seen, 2);
    if (seen[0] && seen[1])
        return weir_agree(&run->par, rc, err);
    return rc;
}

int weir_collective(struct weir_run *run, weir_collective_fn *fn, void *state,
                    struct weir_err *err)
{
    return fn ? weir_agree_same(run, fn(run, state, err), err) : 0;
}

void weir_clean(struct weir_run *run, weir_local_fn *fn, void *state)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (weir_local(run, fn, state, &why) < 0)
        weir_note(&run->log, "the clean-up was not complete: %s", why.text);
}

/* ---- what was taken ---- */

int weir_unwind_push(struct weir_unwind *u, weir_release_fn *release, void *what, bool together,
                     struct weir_err *err)
{
    if (u->n == WEIR_UNWIND_MAX) {
        release(what, NULL);
        return weir_refuse(err, WEIR_EBUG, "a test allocates more than %d resources",
                                           WEIR_UNWIND_MAX);
    }
    u->item[u->n].release = release;
    u->item[u->n].what = what;
    u->item[u->n++].together = together;
    return 0;
}

int weir_unwind_all(struct weir_unwind *u, const struct weir_par *par, struct weir_err *err)
{
    struct weir_err late = WEIR_ERR_INIT, own = WEIR_ERR_INIT;
    int failed = 0, own_failed = 0;

    while (u->n > 0) {
        bool together = u->item[--u->n].together;
        struct weir_err why = WEIR_ERR_INIT;
        int one = u->item[u->n].release(u->item[u->n].what, &why);

        if (together && weir_agree(par, one, &why) < 0 && failed == 0) {
            late = why;
            failed = -1;
        } else if (!together && one < 0 && own_failed == 0) {
            own = why;
            own_failed = -1;
        }
    }
    if (weir_agree(par, own_failed, &own) < 0 && failed == 0) {
        late = own;
        failed = -1;
    }
    if (failed < 0)
        *err = late;
    return failed;
}
