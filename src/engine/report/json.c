/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the result as one JSON document, which is written at the end; or as one line that is
 * added to a file */
#include "engine/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/jsonlog.h"

struct document {
    struct weir_jsonlog log;
    uint64_t kept;            /* bytes of its file that stay when the document cannot be written */
    int64_t left_out[WEIR_JSONLOG_DEPTH]; /* in a line: rows of tables that are left out in each open object */
    struct weir_str waiting; /* messages for what opens or closes next: kind, NUL, text, NUL */
};

/* Kinds of messages and their lists, which every test and the run have. */
static const struct {
    const char *kind, *key;
} lists[] = { { "warning", "warnings" }, { "note", "notes" } };

#define LISTS (sizeof(lists) / sizeof(*lists))

static int begin_document(struct weir_sink *s, struct weir_err *err)
{
    struct document *d = calloc(1, sizeof(*d));

    if (!d)
        return weir_fail(err, WEIR_ESETUP, "memory for the document of %s", s->path);
    if (weir_jsonlog_open(&d->log, s->whole.place, err) < 0) {
        free(d);
        return -1;
    }
    s->priv = d;
    return 0;
}

/* ---- messages ---- */

/* Messages belong to a test, which is an object of a list, or to the run. */
static bool is_home(const struct weir_jsonlog *log)
{
    return log->depth == 0 || (!log->level[log->depth].list && log->level[log->depth - 1].list);
}

static void put_message(struct document *d, const char *kind, const char *text)
{
    for (size_t i = 0; i < LISTS; i++) {
        struct weir_json j;

        if (strcmp(kind, lists[i].kind) != 0)
            continue;
        j = weir_jsonlog_row(&d->log, lists[i].key);
        weir_json_str(&j, NULL, text);
        weir_jsonlog_end(&d->log);
    }
}

static void put_waiting(struct document *d)
{
    const struct weir_str *w = &d->waiting;
    const char *kind = w->failed ? NULL : weir_str_next(w, NULL), *text;

    for (; kind; kind = weir_str_next(w, text)) {
        text = weir_str_next(w, kind);
        put_message(d, kind, text);
    }
    weir_str_clear(&d->waiting);
}

static void add_message(struct weir_sink *s, const char *kind, const char *text)
{
    struct document *d = s->priv;

    if (is_home(&d->log)) {
        put_message(d, kind, text);
        return;
    }
    weir_str_add(&d->waiting, kind, strlen(kind) + 1);
    weir_str_add(&d->waiting, text, strlen(text) + 1);
    d->log.failed |= d->waiting.failed;
}

/* Programs find both lists, empty or not. */
static void complete_messages(struct document *d)
{
    for (size_t i = 0; i < LISTS; i++)
        weir_jsonlog_list(&d->log, lists[i].key);
    put_waiting(d);
}

/* ---- what is reported ---- */

static void enter(struct weir_sink *s, const char *key, bool list)
{
    struct document *d = s->priv;

    weir_jsonlog_enter(&d->log, key, list);
    if (!list && is_home(&d->log))
        complete_messages(d);
}

static void put_fact(struct weir_sink *s, const struct weir_fact *f)
{
    struct document *d = s->priv;
    struct weir_json j;

    if (!weir_jsonlog_member(&d->log, f->key, &j))
        return;
    if (f->type == WEIR_FACT_STR)
        weir_json_str(&j, NULL, f->str);
    else if (f->type == WEIR_FACT_INT)
        weir_json_int(&j, NULL, f->num);
    else
        weir_json_real(&j, NULL, f->real);
    weir_jsonlog_end(&d->log);
}

static void leave(struct weir_sink *s)
{
    struct document *d = s->priv;
    bool list = d->log.level[d->log.depth].list;
    int64_t *rows = &d->left_out[d->log.depth]; /* of the tables of the object that ends */
    struct weir_fact f = { .key = "rowsLeftOut", .type = WEIR_FACT_INT, .num = *rows };

    if (f.num > 0)
        put_fact(s, &f);
    *rows = 0;
    weir_jsonlog_leave(&d->log);
    if (!list && is_home(&d->log))
        put_waiting(d);
}

static void add_table(struct weir_sink *s, const struct weir_table *t)
{
    struct document *d = s->priv;

    weir_jsonlog_list(&d->log, t->key);
}

static void add_cell(struct weir_json *j, const struct weir_col *c, const void *record)
{
    if (c->optional && weir_col_is_missing(c, record))
        return;
    switch (c->type) {
    case WEIR_COL_STR:
        weir_json_str(j, c->key, weir_col_string(c, record));
        break;
    case WEIR_COL_INT:
        weir_json_int(j, c->key, *(const int64_t *)((const char *)record + c->offset));
        break;
    default:
        weir_json_real(j, c->key, weir_col_number(c, record));
    }
}

static void add_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct document *d = s->priv;
    uint64_t rows = weir_jsonlog_list(&d->log, t->key);
    struct weir_json j;

    if (s->ops->adds && t->in_line != 0 && (int64_t)rows >= t->in_line) {
        d->left_out[d->log.depth]++;
        return;
    }
    j = weir_jsonlog_row(&d->log, t->key);
    weir_json_open(&j, NULL, false);
    for (const struct weir_col *c = t->cols; !weir_col_is_end(c); c++)
        if (c->key)
            add_cell(&j, c, record);
    weir_json_close(&j);
    weir_jsonlog_end(&d->log);
}

static void flush(struct weir_sink *s)
{
    struct document *d = s->priv;

    weir_spool_flush(&d->log.file);
    d->kept = d->log.file.size;
}

/* ---- the end ---- */

static void end(struct weir_sink *s, const struct weir_fact *facts, int n, FILE *out)
{
    struct document *d = s->priv;
    int sys;

    if (!weir_jsonlog_begun(&d->log)) /* the run failed before anything was reported */
        return;
    while (n > 0 && d->log.depth > 0)
        weir_jsonlog_leave(&d->log);
    for (int i = 0; i < n; i++)
        put_fact(s, &facts[i]);
    complete_messages(d);
    sys = weir_jsonlog_write(&d->log, n > 0, s->ops->adds, out);
    if (s->sys == 0)
        s->sys = sys;
}

/* A document that was not written leaves what was reported until the run ended, but not how: it did
 * not end so. */
static void release(struct weir_sink *s, bool whole)
{
    struct document *d = s->priv;

    if (!whole)
        weir_spool_cut(&d->log.file, d->kept);
    weir_jsonlog_close(&d->log, !whole);
    weir_str_free(&d->waiting);
    free(d);
    s->priv = NULL;
}

static const char *incomplete(const struct weir_sink *s)
{
    const struct document *d = s->priv;

    return weir_jsonlog_begun(&d->log) ? d->log.file.name : NULL;
}

#define JSON                                                                                       \
    .reader = WEIR_FOR_DATA, .document = true, .begin = begin_document, .enter = enter,            \
    .leave = leave, .fact = put_fact, .head = add_table, .row = add_row, .message = add_message,   \
    .flush = flush, .end = end, .release = release

const struct weir_sink_ops weir_sink_json = { JSON, .incomplete = incomplete };
const struct weir_sink_ops weir_sink_jsonl = { JSON, .adds = true };
