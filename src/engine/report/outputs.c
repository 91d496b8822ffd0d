/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c - the outputs of a report, opened and ended */
#include "config.h"
#include "engine/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text/addline.h"
#include "base/text/quote.h"

/* As the one form of results that old options name, and in a list of --report. */
static const struct {
    const char *word;
    const struct weir_sink_ops *alone, *listed;
} formats[] = {
    { "default", &weir_sink_text, &weir_sink_text },
    { "text", &weir_sink_text, &weir_sink_text },
    { "text-3.3", &weir_sink_text_33, &weir_sink_text_33 },
    { "3.3", &weir_sink_text_33, &weir_sink_text_33 },
    { "CSV", &weir_sink_csv, &weir_sink_csv_full },
    { "JSON", &weir_sink_json, &weir_sink_json },
    { "JSONL", &weir_sink_jsonl, &weir_sink_jsonl },
    { "OpenMetrics", &weir_sink_openmetrics, &weir_sink_openmetrics },
    { "csv-intervals", &weir_sink_csv_intervals, &weir_sink_csv_intervals },
    { "csv-load", &weir_sink_csv_load, &weir_sink_csv_load },
};

/* The form of text that the environment asks for: programs that start weir write its command line,
 * and their users cannot. */
static const struct weir_sink_ops *text_of_environment(struct weir_err *err)
{
    const char *form = getenv("WEIR_TEXT");

    if (!form || *form == '\0' || strcmp(form, "4") == 0)
        return &weir_sink_text;
    if (strcmp(form, "3.3") == 0)
        return &weir_sink_text_33;
    weir_refuse(err, WEIR_EUSAGE,
                "environment variable WEIR_TEXT is '%s'; the forms of the text are 3.3 and 4",
                form);
    return NULL;
}

static const struct weir_sink_ops *find_format(const char *word, bool listed, struct weir_err *err)
{
    static const char *const words[] = { "text", "text-3.3", "JSON", "CSV", "csv-intervals", "csv-load", "JSONL", "OpenMetrics", NULL };
    const struct weir_sink_ops *ops = NULL;
    struct weir_str near = { 0 };

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && !ops; i++)
        if (strcasecmp(word, formats[i].word) == 0)
            ops = listed ? formats[i].listed : formats[i].alone;
    if (ops)
        return ops == &weir_sink_text ? text_of_environment(err) : ops;
    weir_near_ask(word, words, &near);
    weir_refuse(err, WEIR_EUSAGE,
                "form '%s' of results is not known; choose text, text-3.3, JSON, JSONL, CSV, csv-intervals, csv-load or OpenMetrics%s",
                word, weir_str_text(&near));
    weir_str_free(&near);
    return NULL;
}

/* Open the file of a sink, or check that it can be opened at the end. */
static int open_file(struct weir_sink *s, struct weir_err *err)
{
    if (s->ops->adds)
        return weir_addline_check(s->path, err);
    if (s->ops->document && weir_wholefile_prepare(&s->whole, s->path, err) < 0)
        return -1;
    if (s->whole.place && !s->ops->keeps)
        unlink(s->whole.place); /* results of an earlier run must not be mistaken for those of this
                                 * one */
    else if (!s->whole.place && !(s->out = fopen(s->path, "w")))
        return weir_fail(err, WEIR_ESETUP, "open result file '%s'", s->path);
    return 0;
}

/* Begin what is not just lines of a file; without it, the place is as before. */
static int begin_sink(struct weir_sink *s, struct weir_err *err)
{
    if (!s->ops->begin || s->ops->begin(s, err) == 0)
        return 0;
    weir_wholefile_close(&s->whole, false, NULL);
    if (s->out && !s->borrowed)
        fclose(s->out);
    return -1;
}

static struct weir_sink *new_sink(struct weir_report *r, const struct weir_sink_ops *ops,
                                  const char *path, struct weir_err *err)
{
    struct weir_sink *s = r->n < WEIR_SINKS ? &r->sink[r->n] : NULL;

    if (s)
        *s = (struct weir_sink) { .ops = ops, .path = path, .verdict = &r->verdict };
    else
        weir_refuse(err, WEIR_EUSAGE, "more than %d outputs", WEIR_SINKS);
    return s;
}

/* It stays open. An error that it had before is none of this run. */
static void borrow(struct weir_sink *s, FILE *out)
{
    clearerr(out);
    s->out = out;
    s->borrowed = true;
}

static int add_sink(struct weir_report *r, const struct weir_sink_ops *ops, const char *path,
                    struct weir_err *err)
{
    struct weir_sink *s = new_sink(r, ops, path, err);

    if (!s)
        return -1;
    s->standard = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    if (strcmp(path, "-") == 0) {
        s->path = "standard output";
        borrow(s, stdout);
    } else if (open_file(s, err) < 0) {
        return -1;
    }
    if (begin_sink(s, err) < 0)
        return -1;
    r->is_data |= s->standard && !(ops->reader & WEIR_FOR_TEXT);
    r->has_csv |= (ops->reader & (WEIR_FOR_CSV | WEIR_FOR_CSV_FULL)) != 0;
    r->n++;
    return 0;
}

int weir_report_add(struct weir_report *r, const char *format, const char *path,
                    struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_format(format, false, err);

    return ops ? add_sink(r, ops, path, err) : -1;
}

int weir_report_add_stream(struct weir_report *r, FILE *stream, struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_format("text", false, err);
    struct weir_sink *s = ops ? new_sink(r, ops, "a stream of the caller", err) : NULL;

    if (!s)
        return -1;
    borrow(s, stream);
    r->n++;
    return 0;
}

/* One "FORMAT:PATH" of --report. */
static int add_named(struct weir_report *r, char *word, struct weir_err *err)
{
    char *colon = strchr(word, ':');
    const struct weir_sink_ops *ops;

    if (!colon || colon[1] == '\0')
        return weir_refuse(
            err, WEIR_EUSAGE,
            "option --report: '%s' is not FORMAT:PATH, like json:result.json or text:-", word);
    *colon = '\0';
    ops = find_format(word, true, err);
    return ops ? add_sink(r, ops, colon + 1, err) : weir_err_within(err, "option --report");
}

int weir_report_add_list(struct weir_report *r, const char *list, struct weir_err *err)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        char *word = weir_arena_strndup(r->arena, list, len, err);

        if (!word || add_named(r, word, err) < 0)
            return -1;
        list += len;
        list += *list == ',';
    }
    return 0;
}

/* ---- the end ---- */

/* Has all that was written reached the file? */
static int close_file(struct weir_sink *s, struct weir_err *err)
{
    bool bad = s->sys != 0;

    if (!s->out)
        return 0;
    errno = 0;
    if (fflush(s->out) != 0 || ferror(s->out))
        bad = true;
    if (!s->borrowed && fclose(s->out) != 0)
        bad = true;
    if (s->sys != 0)
        errno = s->sys;
    if (errno == 0) /* a stream keeps that there was an error, not which */
        errno = EIO;
    return bad ? weir_fail(err, WEIR_ESETUP, "write results to %s", s->path) : 0;
}

/* A document that is renamed to its place. One that failed is not there, and one that was never
 * begun does not exist, either. */
static int end_document(struct weir_sink *s, struct weir_err *err)
{
    int rc = weir_wholefile_open(&s->whole, err);

    s->out = s->whole.out;
    if (s->ops->end(s, rc < 0 ? NULL : err) < 0)
        rc = -1;
    if (rc == 0 && s->sys != 0) {
        errno = s->sys;
        rc = weir_fail(err, WEIR_ESETUP, "write results to %s", s->path);
    }
    if (weir_wholefile_close(&s->whole, rc == 0 && ftello(s->out) > 0, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

static int end_plain(struct weir_sink *s, struct weir_err *err)
{
    int rc = s->ops->end ? s->ops->end(s, err) : 0;

    return close_file(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

static int end_sink(struct weir_sink *s, struct weir_err *err)
{
    const char *left = s->ops->incomplete ? s->ops->incomplete(s) : NULL;
    int rc;

    s->ended = true;
    rc = s->whole.place ? end_document(s, err) : end_plain(s, err);
    if (rc < 0 && left)
        weir_err_within(err, "what was reported until then is in '%s'", left);
    if (s->ops->release)
        s->ops->release(s, rc == 0);
    return rc;
}

int weir_report_end(struct weir_report *r, bool documents, struct weir_err *err)
{
    int rc = 0;

    for (struct weir_sink *s = r->sink; s < r->sink + r->n; s++) {
        if (s->ended || (s->ops->document && !documents))
            continue;
        if (r->lost && s->sys == 0)
            s->sys = ENOMEM;
        if (end_sink(s, rc < 0 ? NULL : err) < 0)
            rc = -1; /* the first error wins */
    }
    if (documents)
        r->n = 0;
    return rc;
}

/* Of a document, in its place. */
static void rescue(struct weir_sink *s, const struct weir_fact *facts, int n)
{
    bool done;

    if (s->ops->adds) {
        s->ops->rescue(s, facts, n);
        return;
    }
    done = weir_wholefile_open(&s->whole, NULL) == 0;
    s->out = s->whole.out;
    done = done && s->ops->rescue(s, facts, n);
    if (weir_wholefile_close(&s->whole, done, NULL) == 0 && done && s->ops->incomplete)
        unlink(s->ops->incomplete(s));
}

void weir_report_rescue(struct weir_report *r, int64_t status, const char *error)
{
    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];
        struct weir_str room = { 0 };
        struct weir_fact facts[] = {
            { .key = "status", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_INT, .num = status },
            { .key = "error", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_STR, .str = error }
        };

        if (!s->ops->rescue || s->ended || !(s->whole.place || s->ops->adds))
            continue;
        facts[1].str = weir_report_shown(r, "error", error, &room);
        rescue(s, facts, 2);
        weir_str_free(&room);
    }
}
