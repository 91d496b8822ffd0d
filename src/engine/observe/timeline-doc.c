/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-doc.c - the document beside the records of a timeline */
#include "engine/observe/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/options/option.h"
#include "base/text/json.h"
#include "base/text/wholefile.h"
#include "engine/about/configuration.h"
#include "engine/about/names.h"
#include "engine/phase.h"
#include "engine/program.h"
#include "par/hosts.h"

/* ---- tests ---- */

/* Option rows under their long names, as in the object "Parameters" of the results. */
static void add_parameter(struct weir_json *j, const struct weir_report *r, const char *name,
                          const struct weir_opt *row, const void *values)
{
    struct weir_str text = { 0 }, buffer = { 0 };
    int64_t whole;
    double real;

    if (row->type == WEIR_OPT_STR || row->type == WEIR_OPT_LIST) {
        weir_opt_show(row, values, &text);
        weir_json_str(j, name, weir_report_shown(r, name, weir_str_text(&text), &buffer));
    } else if (weir_opt_number(row, values, &whole, &real)) {
        weir_json_int(j, name, whole);
    } else {
        weir_json_real(j, name, real);
    }
    weir_str_free(&text);
    weir_str_free(&buffer);
}

static void add_parameters(struct weir_json *j, const struct weir_report *r,
                           const struct weir_opt *rows, const void *values)
{
    weir_json_open(j, "parameters", false);
    for (const struct weir_opt *row = rows; !weir_opt_is_end(row); row++) {
        const char *name = row->name ? row->name : row->key;

        if (name && row->type < WEIR_OPT_DIRECTIVES)
            add_parameter(j, r, name, row, values);
    }
    weir_json_close(j);
}

/* A member of the list of hosts. */
struct hosts {
    struct weir_json *j;
    const struct weir_report *report;
};

static void add_host(void *hosts, const struct weir_host *host)
{
    const struct hosts *h = hosts;
    struct weir_str buffer = { 0 };

    weir_json_open(h->j, NULL, false);
    weir_json_str(h->j, "name", weir_report_shown(h->report, NULL, host->name, &buffer));
    weir_json_int(h->j, "tasks", host->tasks);
    weir_json_str(h->j, "ranks", host->ranks);
    weir_json_close(h->j);
    weir_str_free(&buffer);
}

/* Return the seconds since 1970 at which the clock of the run was 0, on rank 0: to lay series
 * of other programs on it. */
static double epoch_of_zero(const struct weir_run *run)
{
    int64_t since_ns = (int64_t)weir_now_ns() - run->records.zero_ns;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + ((double)now.tv_nsec - (double)since_ns) / WEIR_NS_PER_S;
}

void weir_timeline_doc_test(struct weir_timeline_doc *d, struct weir_run *run)
{
    uint64_t error_ns = weir_clock_worst(&run->par, &run->clock);
    const struct weir_test *t = run->test;
    struct weir_json j = { .out = &d->tests, .flat = 1 };
    struct hosts hosts = { &j, &run->report };
    struct weir_str hash = { 0 };

    if (run->par.rank == 0) {
        weir_json_open(&j, NULL, false);
        weir_json_int(&j, "index", t->id);
        weir_json_int(&j, "tasks", run->par.size);
        weir_configuration_hash(run, &hash);
        weir_json_str(&j, "configuration", weir_str_text(&hash));
        weir_str_free(&hash);
        weir_json_int(&j, "clock_uncertainty", (int64_t)error_ns);
        weir_json_real(&j, "epoch", epoch_of_zero(run));
        weir_json_open(&j, "hosts", true);
    }
    if (weir_hosts(&run->par, add_host, &hosts) < 0)
        d->tests.failed = true;
    if (run->par.rank > 0)
        return;
    weir_json_close(&j);
    add_parameters(&j, &run->report, t->values->rows, t->chosen);
    weir_json_close(&j);
    weir_str_addc(&d->tests, '\0');
}

/* ---- phases ---- */

static const char *title_of(const struct weir_program *p, const char *key)
{
    for (const struct weir_operation *op = p->operations; op->key; op++)
        if (strcmp(op->key, key) == 0)
            return op->title;
    return key;
}

static void add_rate(struct weir_json *j, const struct weir_phase_rec *rec)
{
    double seconds = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    const char *unit = rec->phase->unit ? rec->phase->unit : "transfers";
    bool moves =
        rec->sum.bytes > 0 && (!rec->phase->unit || (rec->phase->flags & WEIR_PHASE_BYTES));

    weir_json_int(j, "bytes", (int64_t)rec->sum.bytes);
    weir_json_int(j, "steps", (int64_t)rec->sum.steps);
    weir_json_real(j, "rate", (double)(moves ? rec->sum.bytes : rec->sum.steps) / seconds);
    weir_json_str(j, "rate_unit", moves ? "bytes" : unit);
}

static void add_sums(struct weir_json *j, const struct weir_timeline_sums *sums)
{
    weir_json_int(j, "seen", (int64_t)sums->seen);
    weir_json_int(j, "records", (int64_t)sums->records);
    weir_json_int(j, "dropped", (int64_t)sums->dropped);
}

void weir_timeline_doc_phase(struct weir_timeline_doc *d, const struct weir_run *run,
                             const struct weir_phase_rec *rec, int index,
                             const struct weir_timeline_sums *sums)
{
    const struct weir_stage *s = run->stage;
    const char *key = s->phase == rec->phase ? s->key : rec->phase->key;
    struct weir_json j = { .out = &d->phases, .flat = 1 };

    weir_json_open(&j, NULL, false);
    weir_json_int(&j, "index", index);
    weir_json_int(&j, "test", run->test->id);
    if (!(s->flags & (WEIR_STAGE_FIRST | WEIR_STAGE_LAST)))
        weir_json_int(&j, "repetition", rec->repetition);
    weir_json_str(&j, "key", key);
    weir_json_str(&j, "title", title_of(run->test->program, key));
    weir_json_int(&j, "begin", rec->first[WEIR_MARK_OPEN] - run->records.zero_ns);
    weir_json_int(&j, "end", rec->last[WEIR_MARK_CLOSED] - run->records.zero_ns);
    weir_json_int(&j, "work_begin", rec->first[WEIR_MARK_WORK] - run->records.zero_ns);
    weir_json_int(&j, "work_end", rec->last[WEIR_MARK_WORKED] - run->records.zero_ns);
    weir_json_int(&j, "clock_uncertainty", (int64_t)rec->clock_error_ns);
    add_rate(&j, rec);
    add_sums(&j, sums);
    weir_json_text(&j, "interrupted", rec->interrupted ? "true" : "false");
    weir_json_text(&j, "failed", rec->failed ? "true" : "false");
    weir_json_close(&j);
    weir_str_addc(&d->phases, '\0');
}

/* ---- the whole ---- */

/* Add the command line, on one line; with --anonymous, that it was left out. */
static void add_command(struct weir_json *j, const struct weir_run *run)
{
    int flat = j->flat;

    weir_json_open(j, "command", true);
    j->flat = j->depth;
    for (int i = 0; i < run->report.line.argc && !run->report.hide; i++)
        weir_json_str(j, NULL, run->report.line.argv[i]);
    if (run->report.hide)
        weir_json_str(j, NULL, WEIR_NAME_LEFT_OUT);
    weir_json_close(j);
    j->flat = flat;
}

static void add_operations(struct weir_json *j, const struct weir_program *program)
{
    weir_json_open(j, "operations", true);
    for (const struct weir_operation *op = program->operations; op->key; op++) {
        weir_json_open(j, NULL, false);
        weir_json_int(j, "index", op - program->operations);
        weir_json_str(j, "key", op->key);
        weir_json_str(j, "title", op->title);
        weir_json_str(j, "unit", op->unit);
        weir_json_text(j, "moves_bytes", op->moves_bytes ? "true" : "false");
        weir_json_close(j);
    }
    weir_json_close(j);
}

/* Append what there is of the document to its file: it is not in memory as a whole. */
static void spill(struct weir_str *text, FILE *out)
{
    fwrite(weir_str_text(text), 1, text->len, out); /* an error comes back when the file is closed */
    weir_str_clear(text);
}

static void add_texts(struct weir_json *j, const char *key, const struct weir_str *texts, FILE *out)
{
    weir_json_open(j, key, true);
    for (size_t at = 0; at < texts->len; at += strlen(texts->text + at) + 1) {
        weir_json_text(j, NULL, texts->text + at);
        spill(j->out, out);
    }
    weir_json_close(j);
}

/* Which operations are there, when these are not all. */
static void add_choice(struct weir_json *j, const struct weir_timeline_choice *c)
{
    if (!weir_timeline_samples(c) && !c->ranks)
        return;
    weir_json_open(j, "chosen", false);
    if (c->sample) {
        weir_json_int(j, "sample", c->sample);
        weir_json_int(j, "seed", c->seed);
    }
    if (c->ranks)
        weir_json_str(j, "ranks", c->ranks);
    if (c->slowest)
        weir_json_int(j, "slowest", c->slowest);
    weir_json_close(j);
}

static void make_document(const struct weir_timeline_doc *d, const struct weir_run *run,
                          const struct weir_timeline_sums *sums, bool complete,
                          struct weir_str *text, FILE *out)
{
    struct weir_json j = { .out = text, .flat = 3 };

    weir_json_open(&j, NULL, false);
    weir_json_str(&j, "schema", "weir-timeline-2");
    weir_json_str(&j, "program", run->program->name);
    weir_json_str(&j, "version", PACKAGE_VERSION);
    add_command(&j, run);
    add_texts(&j, "tests", &d->tests, out);
    add_texts(&j, "phases", &d->phases, out);
    add_operations(&j, run->program);
    add_choice(&j, d->choice);
    add_sums(&j, sums);
    weir_json_text(&j, "complete", complete ? "true" : "false");
    weir_json_close(&j);
    weir_str_addc(text, '\n');
    spill(text, out);
}

int weir_timeline_doc_write(struct weir_timeline_doc *d, const struct weir_run *run,
                            const struct weir_timeline_sums *sums, bool complete,
                            struct weir_err *err)
{
    struct weir_wholefile w = { .place = NULL };
    struct weir_str text = { 0 };
    int rc;

    d->written_ns = weir_now_ns();
    rc = weir_wholefile_prepare(&w, d->path, err);
    if (rc == 0 && !w.place)
        rc = weir_refuse(err, WEIR_ESETUP, "'%s' must be a regular file", d->path);
    if (rc == 0)
        rc = weir_wholefile_open(&w, err);
    if (rc == 0)
        make_document(d, run, sums, complete, &text, w.out);
    if (text.failed || d->tests.failed || d->phases.failed)
        rc = weir_refuse(rc < 0 ? NULL : err, WEIR_ESETUP, "no memory for '%s'", d->path);
    if (weir_wholefile_close(&w, rc == 0, rc < 0 ? NULL : err) < 0)
        rc = -1;
    weir_str_free(&text);
    return rc;
}
