/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the result as one JSON document, which is in a file from the beginning and grows; or as one line
 * that is added to a file at the end */
#include "config.h"
#include "engine/report/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/addline.h"
#include "base/text/jsonfile.h"

#define DEPTH 16

struct document {
    pthread_mutex_t lock; /* between the main thread and a rescue, which never gives it back */
    struct weir_jsonfile file;
    struct weir_jsonpart *open[DEPTH]; /* the chain of open objects and lists, outermost first */
    int depth;
    bool line;                 /* tables that grow with ranks or time have only some rows, */
    int64_t left_out[DEPTH];   /* so many fewer in each open object */
    struct weir_str waiting; /* messages from between two tests, for the one that comes: kind, NUL, text, NUL */
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
    if (weir_jsonfile_open(&d->file, s->whole.place, err) < 0) {
        free(d);
        return -1;
    }
    pthread_mutex_init(&d->lock, NULL);
    d->open[0] = d->file.root;
    d->line = s->ops->adds;
    s->priv = d;
    return 0;
}

/* For one change: NULL where there is no document any more. One that has lost a part takes no more:
 * levels that were not opened would be closed. */
static struct document *take(struct weir_sink *s)
{
    struct document *d = s->priv;

    pthread_mutex_lock(&d->lock);
    if (!d->file.failed)
        return d;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void give_back(struct document *d)
{
    if (d)
        pthread_mutex_unlock(&d->lock);
}

/* ---- messages ---- */

/* The test that is open, else the run. */
static struct weir_jsonpart *home_of(struct document *d)
{
    int i = d->depth;

    while (i > 0 && !d->open[i - 1]->list)
        i--;
    return d->open[i];
}

static void add_text(struct document *d, struct weir_jsonpart *list, const char *words)
{
    struct weir_str text = { 0 };
    struct weir_json j = weir_jsonfile_member(list, &text);

    weir_json_str(&j, NULL, words);
    weir_jsonfile_put(&d->file, list, &text);
}

static void wait_for_test(struct document *d, const char *kind, const char *text)
{
    weir_str_add(&d->waiting, kind, strlen(kind) + 1);
    weir_str_add(&d->waiting, text, strlen(text) + 1);
    d->file.failed |= d->waiting.failed;
}

static void add_message(struct weir_sink *s, const char *kind, const char *text)
{
    struct document *d = take(s);

    if (d && d->open[d->depth]->list) {
        wait_for_test(d, kind, text);
    } else if (d) {
        for (size_t i = 0; i < LISTS; i++) {
            struct weir_jsonpart *list =
                strcmp(kind, lists[i].kind) == 0 ? weir_jsonfile_list(&d->file, home_of(d), lists[i].key) : NULL;

            if (list)
                add_text(d, list, text);
        }
    }
    give_back(d);
}

/* Programs find both lists, empty or not; what waited for a test comes in here. */
static void complete_messages(struct document *d, struct weir_jsonpart *home)
{
    const struct weir_str *w = &d->waiting;

    for (size_t i = 0; i < LISTS; i++) {
        struct weir_jsonpart *list = weir_jsonfile_list(&d->file, home, lists[i].key);

        for (size_t at = 0; list && at < w->len;) {
            const char *kind = w->text + at, *text = kind + strlen(kind) + 1;

            if (strcmp(kind, lists[i].kind) == 0)
                add_text(d, list, text);
            at = (size_t)(text - w->text) + strlen(text) + 1;
        }
    }
    weir_str_clear(&d->waiting);
}

/* ---- what is reported ---- */

static void open_node(struct document *d, const char *key, bool list)
{
    struct weir_jsonpart *in = d->open[d->depth], *n;

    n = d->depth + 1 < DEPTH ? weir_jsonfile_enter(&d->file, in, key, list) : NULL;
    if (!n) {
        d->file.failed = true;
        return;
    }
    d->open[++d->depth] = n;
    if (in->list && !list)
        complete_messages(d, n);
}

static void enter(struct weir_sink *s, const char *key, bool list)
{
    struct document *d = take(s);

    if (d)
        open_node(d, key, list);
    give_back(d);
}

static void put_fact(struct document *d, const struct weir_fact *f)
{
    struct weir_jsonpart *in = d->open[d->depth];
    struct weir_str text = { 0 };
    struct weir_json j = weir_jsonfile_member(in, &text);

    if (!weir_jsonfile_is_new(&d->file, in, f->key))
        return;
    if (f->type == WEIR_FACT_STR)
        weir_json_str(&j, f->key, f->str);
    else if (f->type == WEIR_FACT_INT)
        weir_json_int(&j, f->key, f->num);
    else
        weir_json_real(&j, f->key, f->real);
    weir_jsonfile_put(&d->file, in, &text);
}

/* How many rows the tables of an object lack that ends. */
static void tell_left_out(struct document *d)
{
    struct weir_fact f = { .key = "rowsLeftOut", .type = WEIR_FACT_INT, .num = d->left_out[d->depth] };

    if (f.num > 0)
        put_fact(d, &f);
    d->left_out[d->depth] = 0;
}

static void leave(struct weir_sink *s)
{
    struct document *d = take(s);

    if (d && d->depth > 0) {
        tell_left_out(d);
        weir_jsonfile_leave(&d->file, d->open[d->depth--]);
    }
    give_back(d);
}

static void add_fact(struct weir_sink *s, const struct weir_fact *f)
{
    struct document *d = f->readers & s->ops->reader ? take(s) : NULL;

    if (d)
        put_fact(d, f);
    give_back(d);
}

static void add_table(struct weir_sink *s, const struct weir_table *t)
{
    struct document *d = take(s);

    if (d)
        weir_jsonfile_list(&d->file, d->open[d->depth], t->key);
    give_back(d);
}

static void add_cell(struct weir_json *j, const struct weir_col *c, const void *record)
{
    const char *field = (const char *)record + c->offset;
    double unit = c->unit != 0 ? c->unit : 1;

    if (c->optional && weir_col_is_missing(c, record))
        return;
    switch (c->type) {
    case WEIR_COL_STR:
        weir_json_str(j, c->key, *(const char *const *)field);
        break;
    case WEIR_COL_INT:
        weir_json_int(j, c->key, *(const int64_t *)field);
        break;
    default:
        weir_json_real(j, c->key, *(const double *)field / unit);
    }
}

static void put_row(struct document *d, const struct weir_table *t, const void *record)
{
    struct weir_jsonpart *list = weir_jsonfile_list(&d->file, d->open[d->depth], t->key);
    struct weir_str text = { 0 };
    struct weir_json j;
    const struct weir_col *c;

    if (!list)
        return;
    if (d->line && t->in_line != 0 && (int64_t)list->members >= t->in_line) {
        d->left_out[d->depth]++;
        return;
    }
    j = weir_jsonfile_member(list, &text);
    weir_json_open(&j, NULL, false);
    for (c = t->cols; c->key || c->csv || c->head; c++)
        if (c->key)
            add_cell(&j, c, record);
    weir_json_close(&j);
    weir_jsonfile_put(&d->file, list, &text);
}

static void add_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct document *d = take(s);

    if (d)
        put_row(d, t, record);
    give_back(d);
}

static void flush(struct weir_sink *s)
{
    struct document *d = take(s);

    if (d)
        weir_growing_flush(&d->file.file);
    give_back(d);
}

/* ---- the end ---- */

static void write_all(struct weir_sink *s, struct document *d, bool marked, FILE *out)
{
    int sys;

    complete_messages(d, d->open[0]);
    sys = weir_jsonfile_write(&d->file, marked, out);
    if (s->sys == 0)
        s->sys = sys;
}

static int end_document(struct weir_sink *s, struct weir_err *err)
{
    struct document *d = s->priv;

    (void)err;
    if (weir_jsonfile_begun(&d->file)) /* else the run failed before anything was reported */
        write_all(s, d, false, s->out);
    return 0;
}

/* The document in one line: a line begins nowhere inside a text. */
static void flatten(char *text)
{
    char *to = text;

    for (char *from = text; *from;) {
        bool ends = *from == '\n', goes_on = ends && to > text && to[-1] == ',';

        from += ends ? strspn(from, "\n ") : 0;
        if (goes_on)
            *to++ = ' ';
        else if (!ends)
            *to++ = *from++;
    }
    *to = '\0';
}

/* Add the line to its file, or to standard output. */
static int add_line(struct weir_sink *s, bool marked, struct weir_err *err)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    int rc = -1;

    if (out)
        write_all(s, s->priv, marked, out);
    if ((!out || fclose(out) != 0) && s->sys == 0)
        s->sys = ENOMEM;
    errno = s->sys;
    if (s->sys != 0) {
        weir_fail(err, WEIR_ESETUP, "the line for %s", s->path);
    } else {
        flatten(text);
        rc = s->out ? (fprintf(s->out, "%s\n", text), 0) : weir_addline(s->path, text, err);
    }
    free(text);
    return rc;
}

static int end_line(struct weir_sink *s, struct weir_err *err)
{
    struct document *d = s->priv;

    return weir_jsonfile_begun(&d->file) ? add_line(s, false, err) : 0;
}

static void release(struct weir_sink *s, bool whole)
{
    struct document *d = s->priv;

    while (d->depth > 0)
        weir_jsonfile_leave(&d->file, d->open[d->depth--]);
    weir_jsonfile_close(&d->file, !whole);
    pthread_mutex_destroy(&d->lock);
    weir_str_free(&d->waiting);
    free(d);
    s->priv = NULL;
}

static const char *incomplete(const struct weir_sink *s)
{
    const struct document *d = s->priv;

    return weir_jsonfile_begun(&d->file) ? d->file.file.name : NULL;
}

#define PATIENCE_NS WEIR_NS_PER_S
#define WAIT_NS 10000000u

/* The main thread stands still, nearly always somewhere else. What it reports from now on waits. */
static bool rescue(struct weir_sink *s, const struct weir_fact *facts, int n)
{
    struct document *d = s->priv;
    uint64_t waited = 0;

    for (; pthread_mutex_trylock(&d->lock) != 0; waited += WAIT_NS) {
        if (waited >= PATIENCE_NS)
            return false;
        weir_sleep_ns(WAIT_NS);
    }
    if (!weir_jsonfile_begun(&d->file))
        return false;
    d->depth = 0;
    for (int i = 0; i < n; i++)
        put_fact(d, &facts[i]);
    if (d->line)
        return add_line(s, true, NULL) == 0;
    write_all(s, d, true, s->out);
    return s->sys == 0;
}

#define JSON(n)                                                                                    \
    .name = (n), .reader = WEIR_FOR_DATA, .document = true, .begin = begin_document,               \
    .enter = enter, .leave = leave, .fact = add_fact, .head = add_table, .row = add_row,           \
    .message = add_message, .flush = flush, .rescue = rescue, .release = release

const struct weir_sink_ops weir_sink_json = { JSON("JSON"), .end = end_document, .incomplete = incomplete };
const struct weir_sink_ops weir_sink_jsonl = { JSON("a line of JSON"), .end = end_line, .adds = true };

#undef JSON
