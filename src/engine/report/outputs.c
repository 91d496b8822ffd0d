/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c - the outputs of a report, opened and ended */
#include "engine/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/quote.h"

struct form {
    const char *word;
    const struct weir_sink_ops *ops;
};

#define ROW(word, sink) { (word), &(sink) },
#define WORD(word, sink) word,

static const struct form forms[] = { WEIR_REPORT_FORMS(ROW, ROW) { NULL, NULL } };
static const char *const words[] = { WEIR_REPORT_FORMS(WORD, WORD) NULL };

/* The words for them in options of older releases. */
static const struct form old_forms[] = { { "default", &weir_sink_text },
                                         { "3.3", &weir_sink_text_33 },
                                         { "CSV", &weir_sink_csv },
                                         { NULL, NULL } };

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
                "environment variable WEIR_TEXT is '%s'; it must be 3.3 or 4",
                form);
    return NULL;
}

static const struct weir_sink_ops *find_in(const struct form *f, const char *word)
{
    while (f->word && strcasecmp(word, f->word) != 0)
        f++;
    return f->ops;
}

static const struct weir_sink_ops *find_form(const char *word, bool listed, struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_in(listed ? forms : old_forms, word);

    if (!ops)
        ops = find_in(listed ? old_forms : forms, word);
    if (ops)
        return ops == &weir_sink_text ? text_of_environment(err) : ops;
    weir_refuse(err, WEIR_EUSAGE, "form '%s' of results is not known; choose one of %s", word,
                WEIR_FORM_NAMES);
    weir_near_ask(err, word, strlen(word), words);
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

static struct weir_sink *new_sink(struct weir_report *r, const struct weir_sink_ops *ops,
                                  const char *path, struct weir_err *err)
{
    struct weir_sink *s = r->n < WEIR_SINKS ? &r->sink[r->n] : NULL;

    if (s)
        *s = (struct weir_sink) { .ops = ops, .path = path, .verdict = &r->verdict,
                                  .lock = PTHREAD_MUTEX_INITIALIZER };
    else
        weir_refuse(err, WEIR_EUSAGE, "more than %d outputs", WEIR_SINKS);
    return s;
}

/* Use a stream of the caller, which stays open. An error that it had before is none of this run. */
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
    if (s->ops->begin && s->ops->begin(s, err) < 0) { /* the place is as before */
        weir_wholefile_close(&s->whole, false, NULL);
        if (s->out && !s->borrowed)
            fclose(s->out);
        return -1;
    }
    r->is_data |= s->standard && !(ops->reader & WEIR_FOR_TEXT);
    r->has_csv |= (ops->reader & (WEIR_FOR_CSV | WEIR_FOR_CSV_FULL)) != 0;
    r->n++;
    return 0;
}

int weir_report_add(struct weir_report *r, const char *format, const char *path,
                    struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_form(format, false, err);

    return ops ? add_sink(r, ops, path, err) : -1;
}

int weir_report_add_stream(struct weir_report *r, FILE *stream, struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_form("text", false, err);
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
    ops = find_form(word, true, err);
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

/* True when all that was written has reached the file. */
static int close_file(struct weir_sink *s, bool is_preview, struct weir_err *err)
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
    if (!bad || (is_preview && errno == EPIPE))
        return 0;
    return weir_fail(err, WEIR_ESETUP, "write results to %s", s->path);
}

/* Write a document that is renamed to its place. One that failed is not there, and one that was
 * never begun does not exist, either. */
static int put_document(struct weir_sink *s, const struct weir_fact *facts, int n,
                        struct weir_err *err)
{
    int rc = weir_wholefile_open(&s->whole, err);

    if (rc == 0)
        s->ops->end(s, facts, n, s->whole.out);
    if (rc == 0 && s->sys != 0) {
        errno = s->sys;
        rc = weir_fail(err, WEIR_ESETUP, "write results to %s", s->path);
    }
    if (weir_wholefile_close(&s->whole, rc == 0 && ftello(s->whole.out) > 0,
                             rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

/* Add a document that is one line to its file, or to standard output. */
static int add_line(struct weir_sink *s, const struct weir_fact *facts, int n, struct weir_err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int rc = 0;

    if (out)
        s->ops->end(s, facts, n, out);
    if ((!out || fclose(out) != 0) && s->sys == 0)
        s->sys = ENOMEM;
    errno = s->sys;
    if (s->sys != 0)
        rc = weir_fail(err, WEIR_ESETUP, "format the JSON line for %s", s->path);
    else if (len > 0)
        rc = s->out ? (fprintf(s->out, "%s\n", text), 0) : weir_addline(s->path, text, err);
    free(text);
    return rc;
}

static int end_sink(struct weir_sink *s, bool is_preview, struct weir_err *err)
{
    const char *left = s->ops->incomplete ? s->ops->incomplete(s) : NULL;
    int rc = 0;

    s->ended = true;
    if (s->whole.place)
        rc = put_document(s, NULL, 0, err);
    else if (s->ops->adds)
        rc = add_line(s, NULL, 0, err);
    else if (s->ops->end)
        s->ops->end(s, NULL, 0, s->out);
    if (close_file(s, is_preview, rc < 0 ? NULL : err) < 0)
        rc = -1;
    if (rc < 0 && left)
        weir_err_within(err, "the results until then are in '%s'", left);
    if (s->ops->release)
        s->ops->release(s, rc == 0);
    return rc;
}

int weir_report_end(struct weir_report *r, bool documents, struct weir_err *err)
{
    int rc = 0;

    if (!documents)
        weir_report_flush(r); /* this much stays of a document that cannot be written */
    for (struct weir_sink *s = r->sink; s < r->sink + r->n; s++) {
        if (s->ended || (s->ops->document && !documents))
            continue;
        if (r->lost && s->sys == 0)
            s->sys = ENOMEM;
        if (end_sink(s, r->is_preview, rc < 0 ? NULL : err) < 0)
            rc = -1; /* the first error wins */
    }
    if (documents)
        r->n = 0;
    return rc;
}

#define PATIENCE_NS WEIR_NS_PER_S
#define WAIT_NS 10000000u

/* Stop reports of the main thread, which hangs, nearly always in other code. Later reports wait. */
static bool stop_changes(struct weir_sink *s)
{
    for (uint64_t waited = 0; pthread_mutex_trylock(&s->lock) != 0; waited += WAIT_NS) {
        if (waited >= PATIENCE_NS)
            return false;
        weir_sleep_ns(WAIT_NS);
    }
    return true;
}

/* Write a document to its place. */
static void rescue(struct weir_sink *s, const struct weir_fact *facts, int n)
{
    const char *left;

    if (!stop_changes(s))
        return;
    left = s->ops->incomplete ? s->ops->incomplete(s) : NULL;
    if (s->ops->adds)
        add_line(s, facts, n, NULL);
    else if (put_document(s, facts, n, NULL) == 0 && left)
        unlink(left);
}

void weir_report_rescue(struct weir_report *r, int64_t status, const char *error)
{
    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];
        struct weir_str buffer = { 0 };
        struct weir_fact facts[] = { { "status", WEIR_FOR_DATA, WEIR_FACT_INT, .num = status },
                                     { "error", WEIR_FOR_DATA, WEIR_FACT_STR, .str = error } };

        if (s->ended || !(s->whole.place || s->ops->adds))
            continue;
        facts[1].str = weir_report_shown(r, "error", error, &buffer);
        rescue(s, facts, 2);
        weir_str_free(&buffer);
    }
}
