/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - tell every sink */
#include "config.h"
#include "engine/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/size.h"
#include "base/str.h"
#include "base/text/quote.h"

static const struct {
    const char *word;
    const struct weir_sink_ops *ops;
} formats[] = {
    { "default", &weir_sink_text }, { "text", &weir_sink_text }, { "text-3.3", &weir_sink_text_33 },
    { "3.3", &weir_sink_text_33 },  { "CSV", &weir_sink_csv },   { "JSON", &weir_sink_json },
};

/* Said before there were sinks. */
struct weir_message {
    const char *kind, *text;
    struct weir_message *before;
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

static const struct weir_sink_ops *find_format(const char *word, struct weir_err *err)
{
    static const char *const words[] = { "text", "text-3.3", "JSON", "CSV", NULL };
    struct weir_str near = { 0 };

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (strcasecmp(word, formats[i].word) == 0)
            return formats[i].ops == &weir_sink_text ? text_of_environment(err) : formats[i].ops;
    weir_near_ask(word, words, &near);
    weir_refuse(err, WEIR_EUSAGE,
                "form '%s' of results is not known; choose text, text-3.3, JSON or CSV%s", word,
                weir_str_text(&near));
    weir_str_free(&near);
    return NULL;
}

/* Open the file of a sink, or check that it can be opened at the end. */
static int open_file(struct weir_sink *s, struct weir_err *err)
{
    if (s->ops->document && weir_wholefile_prepare(&s->whole, s->path, err) < 0)
        return -1;
    if (s->whole.place)
        unlink(s->whole.place); /* results of an earlier run must not be mistaken for those of this
                                 * one */
    else if (!(s->out = fopen(s->path, "w")))
        return weir_fail(err, WEIR_ESETUP, "open result file '%s'", s->path);
    return 0;
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
    r->n++;
    return 0;
}

int weir_report_add(struct weir_report *r, const char *format, const char *path,
                    struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_format(format, err);

    return ops ? add_sink(r, ops, path, err) : -1;
}

int weir_report_add_stream(struct weir_report *r, FILE *stream, struct weir_err *err)
{
    const struct weir_sink_ops *ops = find_format("text", err);
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
    ops = strcasecmp(word, "csv") == 0 ? &weir_sink_csv_full : find_format(word, err);
    return ops ? add_sink(r, ops, colon + 1, err) : weir_err_within(err, "option --report");
}

int weir_report_add_list(struct weir_report *r, const char *list, struct weir_arena *arena,
                         struct weir_err *err)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        char *word = weir_arena_strndup(arena, list, len, err);

        if (!word || add_named(r, word, err) < 0)
            return -1;
        list += len;
        list += *list == ',';
    }
    return 0;
}

const char *weir_report_shown(const struct weir_report *r, const char *key, const char *value,
                              struct weir_str *room)
{
    return r->hide && value && *value ? r->hide(r->names, key, value, room) : value;
}

static void emit_message(const struct weir_report *r, struct weir_sink *s, const char *kind,
                         const char *text)
{
    struct weir_str room = { 0 };

    s->ops->message(s, kind, weir_report_shown(r, NULL, text, &room));
    weir_str_free(&room);
}

/* The oldest one first. */
static void emit_early(const struct weir_report *r, struct weir_sink *s,
                       const struct weir_message *m)
{
    if (!m || !s->ops->message)
        return;
    emit_early(r, s, m->before);
    emit_message(r, s, m->kind, m->text);
}

/* The first thing that is told: no sink comes any more. */
static void begin(struct weir_report *r)
{
    if (r->begun)
        return;
    r->begun = true;
    for (int i = 0; i < r->n; i++)
        emit_early(r, &r->sink[i], r->early);
}

/* Does this sink take part in what is told now? */
static bool listens(const struct weir_report *r, const struct weir_sink *s)
{
    return !s->ended && (!r->muted || !(s->ops->reader & WEIR_FOR_TEXT));
}

void weir_report_mute(struct weir_report *r, bool muted)
{
    r->muted = muted;
}

static struct weir_message *keep_message(struct weir_report *r, const char *kind, const char *text)
{
    struct weir_message *m = weir_arena_alloc(r->arena, sizeof(*m), NULL);

    if (!m)
        goto lost;
    *m = (struct weir_message) { .kind = weir_arena_strdup(r->arena, kind, NULL),
                                 .text = weir_arena_strdup(r->arena, text, NULL),
                                 .before = r->early };
    if (m->kind && m->text)
        return m;
lost: /* documents lack it */
    r->lost = true;
    return NULL;
}

/* Does a result on standard output have the messages? The CSV of old readers has no column for them. */
static bool keeps_messages(const struct weir_report *r)
{
    for (int i = 0; i < r->n && !r->failed; i++)
        if (r->sink[i].standard && !r->sink[i].ended && r->sink[i].ops->message &&
            (r->sink[i].ops->document || r->verdict.name))
            return true;
    return false;
}

/* The oldest one first. */
static void write_early(const struct weir_log *log, const struct weir_message *m)
{
    if (!m)
        return;
    write_early(log, m->before);
    if (strcmp(m->kind, "note") == 0)
        weir_note(log, "%s", m->text);
    else
        weir_warn(log, NULL, "%s", m->text);
}

void weir_report_place(struct weir_report *r)
{
    const struct weir_log plain = { .fd = r->log->fd };

    if (!r->placed && !keeps_messages(r))
        write_early(&plain, r->early);
    r->placed = true;
}

/* An error comes on standard error. */
static void fail(struct weir_report *r)
{
    r->failed = true;
    weir_report_place(r);
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->fail && !r->sink[i].ended)
            r->sink[i].ops->fail(&r->sink[i]);
    weir_report_flush(r);
}

static bool take_early(struct weir_report *r, const char *kind, const char *text)
{
    struct weir_message *m = r->arena ? keep_message(r, kind, text) : NULL;

    if (!m)
        return false;
    r->early = m;
    return !r->placed || keeps_messages(r);
}

bool weir_report_message(struct weir_report *r, const char *kind, const char *text)
{
    bool is_error = strcmp(kind, "error") == 0;

    if (is_error)
        fail(r);
    else if (!r->begun)
        return take_early(r, kind, text);
    for (int i = 0; i < r->n && !is_error; i++)
        if (r->sink[i].ops->message && !r->sink[i].ended)
            emit_message(r, &r->sink[i], kind, text);
    return keeps_messages(r);
}

void weir_report_enter(struct weir_report *r, const char *key, bool list)
{
    begin(r);
    r->depth++;
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->enter)
            r->sink[i].ops->enter(&r->sink[i], key, list);
}

void weir_report_leave(struct weir_report *r)
{
    r->depth--;
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->leave)
            r->sink[i].ops->leave(&r->sink[i]);
}

void weir_report_leave_all(struct weir_report *r)
{
    while (r->depth > 0)
        weir_report_leave(r);
}

/* Documents are for others, text is for the user. */
static bool hides_names(const struct weir_report *r, const struct weir_sink *s)
{
    return r->hide && !(s->ops->reader & WEIR_FOR_TEXT);
}

static void emit_fact(struct weir_report *r, const struct weir_fact *f)
{
    struct weir_fact hidden = *f;
    struct weir_str room = { 0 };

    begin(r);
    if (f->type == WEIR_FACT_STR)
        hidden.str = weir_report_shown(r, f->key, f->str, &room);
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->fact && listens(r, &r->sink[i]))
            r->sink[i].ops->fact(&r->sink[i], hides_names(r, &r->sink[i]) ? &hidden : f);
    weir_str_free(&room);
}

void weir_report_size(struct weir_report *r, const char *key, const char *label, int64_t bytes)
{
    char text[WEIR_SIZE_TEXT];

    weir_report_int(r, WEIR_FOR_DATA, key, bytes);
    weir_report_str(r, WEIR_FOR_TEXT, label, weir_size_show(bytes, text));
}

void weir_report_str(struct weir_report *r, unsigned readers, const char *key, const char *value)
{
    struct weir_fact f = { .key = key, .readers = readers, .type = WEIR_FACT_STR, .str = value };

    emit_fact(r, &f);
}

void weir_report_int(struct weir_report *r, unsigned readers, const char *key, int64_t value)
{
    struct weir_fact f = { .key = key, .readers = readers, .type = WEIR_FACT_INT, .num = value };

    emit_fact(r, &f);
}

void weir_report_real(struct weir_report *r, unsigned readers, const char *key, double value)
{
    struct weir_fact f = { .key = key, .readers = readers, .type = WEIR_FACT_REAL, .real = value };

    emit_fact(r, &f);
}

void weir_report_number(struct weir_report *r, unsigned readers, const char *key, double value)
{
    if (fabs(value) < 1e15 && value == floor(value))
        weir_report_int(r, readers, key, (int64_t)value);
    else
        weir_report_real(r, readers, key, value);
}

void weir_report_head(struct weir_report *r, const struct weir_table *t)
{
    begin(r);
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->head && (t->readers & r->sink[i].ops->reader) &&
            listens(r, &r->sink[i]))
            r->sink[i].ops->head(&r->sink[i], t);
}

static size_t count_texts(const struct weir_col *c)
{
    size_t texts = 0;

    for (; c->key || c->csv || c->head; c++)
        texts += c->type == WEIR_COL_STR;
    return texts;
}

/* A row without names; without memory there is none. A sink may read all of the record, also what
 * no column shows. */
static void emit_hidden(struct weir_report *r, struct weir_sink *s, const struct weir_table *t,
                        const void *record)
{
    struct weir_str *room = calloc(count_texts(t->cols) + 1, sizeof(*room));
    char *copy = malloc(t->cols->record);
    size_t n = 0;

    if (!room || !copy) {
        s->sys = ENOMEM; /* comes back from the end */
        goto free_both;
    }
    memcpy(copy, record, t->cols->record);
    for (const struct weir_col *c = t->cols; c->key || c->csv || c->head; c++)
        if (c->type == WEIR_COL_STR) {
            const char **text = (const char **)(void *)(copy + c->offset);

            *text = weir_report_shown(r, NULL, *text, &room[n++]);
        }
    s->ops->row(s, t, copy);
    while (n > 0)
        weir_str_free(&room[--n]);
free_both:
    free(room);
    free(copy);
}

void weir_report_verdict(struct weir_report *r, const char *name, const char *findings)
{
    struct weir_verdict *v = &r->verdict;

    v->name = name;
    v->findings = v->room;
    r->lost |= snprintf(v->room, sizeof(v->room), "%s", findings) >= (int)sizeof(v->room);
}

bool weir_report_has_csv(const struct weir_report *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->reader & (WEIR_FOR_CSV | WEIR_FOR_CSV_FULL))
            return true;
    return false;
}

bool weir_report_is_for_programs(const struct weir_report *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].standard && !(r->sink[i].ops->reader & WEIR_FOR_TEXT))
            return true;
    return false;
}

void weir_report_row(struct weir_report *r, const struct weir_table *t, const void *record)
{
    begin(r);
    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];

        if (!s->ops->row || !(t->readers & s->ops->reader) || !listens(r, s))
            continue;
        if (hides_names(r, s))
            emit_hidden(r, s, t, record);
        else
            s->ops->row(s, t, record);
    }
    weir_report_flush(r);
}

static void emit_line(struct weir_report *r, unsigned readers, const char *fmt, va_list ap)
{
    struct weir_str text = { 0 };

    begin(r);
    if (r->n == 0)
        return;
    weir_str_vaddf(&text, fmt, ap);
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->line && (readers & r->sink[i].ops->reader) && listens(r, &r->sink[i]))
            r->sink[i].ops->line(&r->sink[i], weir_str_text(&text));
    weir_report_free(r, &text);
}

void weir_report_line(struct weir_report *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    emit_line(r, WEIR_FOR_TEXT, fmt, ap);
    va_end(ap);
}

void weir_report_line_for(struct weir_report *r, unsigned readers, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    emit_line(r, readers, fmt, ap);
    va_end(ap);
}

void weir_report_piece(struct weir_report *r, const char *fmt, ...)
{
    struct weir_str text = { 0 };
    va_list ap;

    begin(r);
    va_start(ap, fmt);
    weir_str_vaddf(&text, fmt, ap);
    va_end(ap);
    for (int i = 0; i < r->n; i++)
        if (r->sink[i].ops->piece && listens(r, &r->sink[i]))
            r->sink[i].ops->piece(&r->sink[i], weir_str_text(&text));
    weir_report_free(r, &text);
    weir_report_flush(r);
}

void weir_report_free(struct weir_report *r, struct weir_str *text)
{
    r->lost |= text->failed;
    weir_str_free(text);
}

void weir_report_flush(struct weir_report *r)
{
    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];

        if (s->out && !s->ended && fflush(s->out) != 0 && s->sys == 0)
            s->sys = errno; /* comes back from the end */
    }
}

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

static int end_sink(struct weir_sink *s, struct weir_err *err)
{
    int rc;

    s->ended = true;
    if (s->whole.place)
        return end_document(s, err);
    rc = s->ops->end ? s->ops->end(s, err) : 0;
    return close_file(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

static int end_sinks(struct weir_report *r, bool documents, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];

        if (s->ended || (s->ops->document && !documents))
            continue;
        if (r->lost && s->sys == 0)
            s->sys = ENOMEM;
        if (end_sink(s, rc < 0 ? NULL : err) < 0)
            rc = -1; /* the first error wins */
    }
    return rc;
}

int weir_report_end_rows(struct weir_report *r, struct weir_err *err)
{
    return end_sinks(r, false, err);
}

int weir_report_end(struct weir_report *r, struct weir_err *err)
{
    int rc = end_sinks(r, true, err);

    r->n = 0;
    return rc;
}

void weir_report_rescue(struct weir_report *r, int64_t status, const char *error)
{
    for (int i = 0; i < r->n; i++) {
        struct weir_sink *s = &r->sink[i];
        struct weir_str room = { 0 };
        struct weir_fact facts[] = {
            { .key = "status", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_INT, .num = status },
            { .key = "unfinished", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_INT, .num = 1 },
            { .key = "error", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_STR, .str = error }
        };
        bool done;

        if (!s->ops->rescue || s->ended || !s->whole.place)
            continue;
        if (hides_names(r, s))
            facts[2].str = weir_report_shown(r, "error", error, &room);
        done = weir_wholefile_open(&s->whole, NULL) == 0;
        s->out = s->whole.out;
        done = done && s->ops->rescue(s, facts, 3);
        weir_wholefile_close(&s->whole, done, NULL);
        weir_str_free(&room);
    }
}
