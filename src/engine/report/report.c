/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - tell every sink */
#include "engine/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

#define EACH(s, r) for (struct weir_sink *s = (r)->sink; s < (r)->sink + (r)->n; s++)

const char *weir_report_shown(const struct weir_report *r, const char *key, const char *value,
                              struct weir_str *buffer)
{
    return r->hide && value && *value ? r->hide(r->names, key, value, buffer) : value;
}

/* A rescue must not meet a document in the middle of a change. Writing text may block, and needs no lock. */
static void lock(struct weir_sink *s)
{
    if (s->ops->document)
        pthread_mutex_lock(&s->lock);
}

static void unlock(struct weir_sink *s)
{
    if (s->ops->document)
        pthread_mutex_unlock(&s->lock);
}

static void emit_message(const struct weir_report *r, struct weir_sink *s, const char *kind,
                         const char *text)
{
    struct weir_str buffer = { 0 };

    lock(s);
    s->ops->message(s, kind, weir_report_shown(r, NULL, text, &buffer));
    unlock(s);
    weir_str_free(&buffer);
}

/* Begin at the first report: no sink can be added any more. */
static void begin(struct weir_report *r)
{
    if (r->begun)
        return;
    r->begun = true;
    EACH(s, r)
        for (const char *kind, *text = NULL;
             s->ops->message && (kind = weir_str_next(&r->early, text));) {
            text = weir_str_next(&r->early, kind);
            emit_message(r, s, kind, text);
        }
}

/* True when this sink takes part in the current report. */
static bool listens(const struct weir_report *r, const struct weir_sink *s)
{
    return !s->ended && (!r->muted || !(s->ops->reader & WEIR_FOR_TEXT));
}

/* Files that get each row when it is reported. */
static void flush_rows(struct weir_report *r)
{
    EACH(s, r)
        if (s->out && !s->ended && fflush(s->out) != 0 && s->sys == 0)
            s->sys = errno; /* comes back from the end */
}

/* True when a result on standard output has the messages. The CSV of old readers has no column for them. */
static bool keeps_messages(struct weir_report *r)
{
    bool kept = false;

    EACH(s, r)
        kept |= s->standard && !s->ended && s->ops->message && (s->ops->document || r->verdict.name);
    return kept && !r->failed;
}

void weir_report_place(struct weir_report *r)
{
    const struct weir_log plain = { .fd = r->log->fd };
    const bool shows = !r->placed && !keeps_messages(r);

    for (const char *kind, *text = NULL; shows && (kind = weir_str_next(&r->early, text));) {
        text = weir_str_next(&r->early, kind);
        if (strcmp(kind, "note") == 0)
            weir_note(&plain, "%s", text);
        else
            weir_warn(&plain, NULL, "%s", text);
    }
    r->placed = true;
}

/* An error comes on standard error. */
static void fail(struct weir_report *r)
{
    r->failed = true;
    weir_report_place(r);
    EACH(s, r)
        if (s->ops->fail && !s->ended)
            s->ops->fail(s);
    weir_report_flush(r);
}

static bool take_early(struct weir_report *r, const char *kind, const char *text)
{
    if (!r->arena)
        return false;
    weir_str_addf(&r->early, "%s%c%s%c", kind, 0, text, 0);
    r->lost |= r->early.failed; /* documents lack it */
    return !r->early.failed && (!r->placed || keeps_messages(r));
}

bool weir_report_message(struct weir_report *r, const char *kind, const char *text)
{
    bool is_error = strcmp(kind, "error") == 0;

    if (is_error)
        fail(r);
    else if (!r->begun)
        return take_early(r, kind, text);
    EACH(s, r)
        if (s->ops->message && !s->ended && !is_error)
            emit_message(r, s, kind, text);
    return keeps_messages(r);
}

void weir_report_enter(struct weir_report *r, const char *key, bool list)
{
    begin(r);
    r->depth++;
    EACH(s, r) {
        lock(s);
        s->headed = NULL;
        if (s->ops->enter)
            s->ops->enter(s, key, list);
        unlock(s);
    }
}

void weir_report_leave(struct weir_report *r)
{
    r->depth--;
    EACH(s, r) {
        lock(s);
        s->headed = NULL;
        if (s->ops->leave)
            s->ops->leave(s);
        unlock(s);
    }
}

/* Documents are for others, text is for the user. */
static bool hides_names(const struct weir_report *r, const struct weir_sink *s)
{
    return r->hide && !(s->ops->reader & WEIR_FOR_TEXT);
}

static void emit_fact(struct weir_report *r, const struct weir_fact *f)
{
    struct weir_fact hidden = *f;
    struct weir_str buffer = { 0 };

    begin(r);
    if (f->type == WEIR_FACT_STR)
        hidden.str = weir_report_shown(r, f->key, f->str, &buffer);
    EACH(s, r) {
        lock(s);
        if (s->ops->fact && (f->readers & s->ops->reader) && listens(r, s))
            s->ops->fact(s, hides_names(r, s) ? &hidden : f);
        unlock(s);
    }
    weir_str_free(&buffer);
}

void weir_report_size(struct weir_report *r, const char *key, const char *label, int64_t bytes)
{
    char text[WEIR_SIZE_TEXT];

    weir_report_int(r, WEIR_FOR_DATA, key, bytes);
    weir_report_str(r, WEIR_FOR_TEXT, label, weir_size_show(bytes, text));
}

void weir_report_str(struct weir_report *r, unsigned readers, const char *key, const char *value)
{
    emit_fact(r, &(struct weir_fact) { key, readers, WEIR_FACT_STR, .str = value });
}

void weir_report_int(struct weir_report *r, unsigned readers, const char *key, int64_t value)
{
    emit_fact(r, &(struct weir_fact) { key, readers, WEIR_FACT_INT, .num = value });
}

void weir_report_real(struct weir_report *r, unsigned readers, const char *key, double value)
{
    emit_fact(r, &(struct weir_fact) { key, readers, WEIR_FACT_REAL, .real = value });
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
    EACH(s, r) {
        lock(s);
        if (s->ops->head && (t->readers & s->ops->reader) && listens(r, s))
            s->ops->head(s, t);
        unlock(s);
    }
}

/* A row without names; without memory there is none. A sink may read all of the record, also what
 * no column shows. */
static void emit_hidden(struct weir_report *r, struct weir_sink *s, const struct weir_table *t,
                        const void *record)
{
    struct weir_arena kept = { 0 };
    struct weir_str buffer = { 0 };
    char *copy = weir_arena_alloc(&kept, t->cols->record, NULL);

    if (copy)
        memcpy(copy, record, t->cols->record);
    for (const struct weir_col *c = t->cols; copy && !weir_col_is_end(c); c++) {
        const char **text = (const char **)(void *)(copy + c->offset), *shown;

        if (c->type != WEIR_COL_STR || !*text)
            continue;
        shown = weir_report_shown(r, NULL, *text, &buffer);
        if (shown != *text && !(*text = weir_arena_strdup(&kept, shown, NULL)))
            copy = NULL;
    }
    if (copy)
        s->ops->row(s, t, copy);
    else
        s->sys = ENOMEM; /* comes back from the end */
    weir_str_free(&buffer);
    weir_arena_free(&kept);
}

void weir_report_verdict(struct weir_report *r, const char *name, const char *findings)
{
    struct weir_verdict *v = &r->verdict;

    v->name = name;
    v->findings = v->buffer;
    r->lost |= snprintf(v->buffer, sizeof(v->buffer), "%s", findings) >= (int)sizeof(v->buffer);
}

void weir_report_row(struct weir_report *r, const struct weir_table *t, const void *record)
{
    begin(r);
    EACH(s, r) {
        if (!s->ops->row || !(t->readers & s->ops->reader) || !listens(r, s))
            continue;
        lock(s);
        if (hides_names(r, s))
            emit_hidden(r, s, t, record);
        else
            s->ops->row(s, t, record);
        unlock(s);
    }
    flush_rows(r);
}

static void emit_text(struct weir_report *r, unsigned readers, const char *end, const char *fmt,
                      va_list ap)
{
    struct weir_str text = { 0 };

    begin(r);
    if (r->n == 0)
        return;
    weir_str_vaddf(&text, fmt, ap);
    weir_str_addf(&text, "%s", end);
    EACH(s, r)
        if ((readers & s->ops->reader & WEIR_FOR_TEXT) && listens(r, s))
            fputs(weir_str_text(&text), s->out);
    weir_report_free(r, &text);
}

void weir_report_line_for(struct weir_report *r, unsigned readers, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    emit_text(r, readers, "\n", fmt, ap);
    va_end(ap);
}

void weir_report_piece(struct weir_report *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    emit_text(r, WEIR_FOR_TEXT, "", fmt, ap);
    va_end(ap);
    flush_rows(r);
}

void weir_report_free(struct weir_report *r, struct weir_str *text)
{
    r->lost |= text->failed;
    weir_str_free(text);
}

void weir_report_flush(struct weir_report *r)
{
    flush_rows(r);
    EACH(s, r) {
        lock(s);
        if (s->ops->flush && !s->ended)
            s->ops->flush(s);
        unlock(s);
    }
}
