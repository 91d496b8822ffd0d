/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the result as one JSON document, kept in memory and written whole at the end */
#include "config.h"
#include "engine/report/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text/json.h"

#define DEPTH 16
#define PIECE ((size_t)1 << 16) /* bytes that are written at once */

/* An object, a list, or a value that is text already. A row of a table is one value: rows are most
 * of a large document. */
struct node {
    const char *key; /* NULL in a list */
    const char *text;
    bool list;
    struct node *first, *last, *next;
};

/* The chain of open objects and lists, outermost first. */
struct document {
    pthread_mutex_t lock; /* between the main thread and a rescue, which never gives it back */
    struct weir_arena arena;
    struct node *open[DEPTH];
    int depth;
    bool failed;         /* out of memory, or nested too deep */
    struct node waiting; /* lists of messages from between two tests: for the one that comes */
};

/* Kinds of messages and their lists, which every test and the run have. */
static const struct {
    const char *kind, *key;
} lists[] = { { "warning", "warnings" }, { "note", "notes" } };

#define LISTS (sizeof(lists) / sizeof(*lists))

/* ---- the tree ---- */

static void append(struct node *in, struct node *n)
{
    if (in->last)
        in->last->next = n;
    else
        in->first = n;
    in->last = n;
}

static struct node *find(const struct node *in, const char *key)
{
    struct node *n = in->first;

    while (n && (in->list || strcmp(n->key, key) != 0))
        n = n->next;
    return n;
}

/* A new member of 'in'; NULL when memory is out. */
static struct node *add_node(struct document *d, struct node *in, const char *key, bool list)
{
    struct node *n = weir_arena_alloc(&d->arena, sizeof(*n), NULL);

    if (n && !in->list && !(n->key = weir_arena_strdup(&d->arena, key ? key : "", NULL)))
        n = NULL;
    if (!n) {
        d->failed = true;
        return NULL;
    }
    n->list = list;
    append(in, n);
    return n;
}

static struct document *document_of(struct weir_sink *s)
{
    struct document *d = s->priv;

    if (d)
        return d;
    d = calloc(1, sizeof(*d));
    if (d) {
        d->open[0] = weir_arena_alloc(&d->arena, sizeof(struct node), NULL);
        if (!d->open[0]) {
            free(d);
            d = NULL;
        } else {
            pthread_mutex_init(&d->lock, NULL);
        }
    }
    if (!d)
        s->sys = ENOMEM; /* comes back from the end */
    s->priv = d;
    return d;
}

/* For one change of the tree: NULL without memory. A document that has lost a part takes no more:
 * levels that were not opened would be closed. */
static struct document *take(struct weir_sink *s)
{
    struct document *d = document_of(s);

    if (!d)
        return NULL;
    pthread_mutex_lock(&d->lock);
    if (!d->failed)
        return d;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void give_back(struct document *d)
{
    if (d)
        pthread_mutex_unlock(&d->lock);
}

/* A value that was written apart; one that has the key already is replaced. Takes the text. */
static void put(struct document *d, struct node *in, const char *key, struct weir_str *text)
{
    struct node *n = in->list ? NULL : find(in, key);

    if (!n)
        n = add_node(d, in, key, false);
    if (n)
        n->text = weir_arena_strndup(&d->arena, weir_str_text(text), text->len, NULL);
    if (!n || !n->text || text->failed)
        d->failed = true;
    weir_str_free(text);
}

/* ---- messages ---- */

static struct node *list_of(struct document *d, struct node *home, const char *key)
{
    struct node *list = find(home, key);

    return list ? list : add_node(d, home, key, true);
}

/* The test that is open, else the run. */
static struct node *home_of(struct document *d)
{
    int i = d->depth;

    while (i > 0 && !d->open[i - 1]->list)
        i--;
    return d->open[i];
}

static void note(struct document *d, const char *kind, const char *text)
{
    struct node *home, *list;

    home = d->open[d->depth]->list ? &d->waiting : home_of(d);
    for (size_t i = 0; i < LISTS; i++) {
        struct weir_str value = { 0 };
        struct weir_json j = { .out = &value };

        if (strcmp(kind, lists[i].kind) != 0 || !(list = list_of(d, home, lists[i].key)))
            continue;
        weir_json_str(&j, NULL, text);
        put(d, list, NULL, &value);
    }
}

static void add_message(struct weir_sink *s, const char *kind, const char *text)
{
    struct document *d = take(s);

    if (d)
        note(d, kind, text);
    give_back(d);
}

/* Programs find both lists, empty or not; what waited for a test comes in here. */
static void complete_messages(struct document *d, struct node *home)
{
    for (size_t i = 0; i < LISTS; i++) {
        struct node *more = find(&d->waiting, lists[i].key);
        struct node *list = list_of(d, home, lists[i].key);

        if (!more || !list || !more->first)
            continue;
        append(list, more->first);
        list->last = more->last;
    }
    d->waiting = (struct node) { .key = NULL };
}

/* ---- what is told ---- */

static void open_node(struct document *d, const char *key, bool list)
{
    struct node *in = d->open[d->depth], *n;

    n = d->depth + 1 < DEPTH ? add_node(d, in, key, list) : NULL;
    if (!n) {
        d->failed = true;
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

static void leave(struct weir_sink *s)
{
    struct document *d = take(s);

    if (d && d->depth > 0)
        d->depth--;
    give_back(d);
}

static void put_fact(struct document *d, const struct weir_fact *f)
{
    struct weir_str value = { 0 };
    struct weir_json j = { .out = &value };

    if (f->type == WEIR_FACT_STR)
        weir_json_str(&j, NULL, f->str);
    else if (f->type == WEIR_FACT_INT)
        weir_json_int(&j, NULL, f->num);
    else
        weir_json_real(&j, NULL, f->real);
    put(d, d->open[d->depth], f->key, &value);
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
        list_of(d, d->open[d->depth], t->key);
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
    struct node *list = list_of(d, d->open[d->depth], t->key);
    struct weir_str text = { 0 };
    struct weir_json j = { .out = &text };
    const struct weir_col *c;

    if (!list)
        return;
    j.base = d->depth + 2; /* the open object, and the list in it */
    weir_json_open(&j, NULL, false);
    for (c = t->cols; c->key || c->csv || c->head; c++)
        if (c->key)
            add_cell(&j, c, record);
    weir_json_close(&j);
    put(d, list, NULL, &text);
}

static void add_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct document *d = take(s);

    if (d)
        put_row(d, t, record);
    give_back(d);
}

/* ---- the end ---- */

static void write_piece(struct weir_sink *s, struct weir_str *text, size_t least)
{
    if (text->len < least || !s->out)
        return;
    if (fwrite(weir_str_text(text), 1, text->len, s->out) != text->len && s->sys == 0)
        s->sys = errno;
    weir_str_clear(text);
}

/* A node and what is in it; not deeper than DEPTH. */
static void write_node(struct weir_sink *s, struct weir_json *j, const struct node *n)
{
    if (n->text) {
        weir_json_text(j, n->key, n->text);
        write_piece(s, j->out, PIECE);
        return;
    }
    weir_json_open(j, n->key, n->list);
    for (const struct node *in = n->first; in; in = in->next)
        write_node(s, j, in);
    weir_json_close(j);
}

static int write_all(struct weir_sink *s, struct document *d, struct weir_err *err)
{
    struct weir_str text = { 0 };
    struct weir_json j = { .out = &text };
    int rc = 0;

    complete_messages(d, d->open[0]);
    if (s->out && !d->failed) {
        write_node(s, &j, d->open[0]);
        weir_str_addc(&text, '\n');
        write_piece(s, &text, 0);
    }
    if (d->failed || text.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the JSON document of %s", s->path);
    weir_str_free(&text);
    return rc;
}

static int end_document(struct weir_sink *s, struct weir_err *err)
{
    struct document *d = s->priv;
    int rc;

    if (!d)
        return 0; /* the run failed before anything was reported */
    rc = write_all(s, d, err);
    pthread_mutex_destroy(&d->lock);
    weir_arena_free(&d->arena);
    free(d);
    s->priv = NULL;
    return rc;
}

#define PATIENCE_NS WEIR_NS_PER_S
#define WAIT_NS 10000000u

/* The main thread stands still, nearly always somewhere else. What it tells from now on waits. */
static bool rescue(struct weir_sink *s, const struct weir_fact *facts, int n)
{
    struct document *d = s->priv;
    uint64_t waited = 0;

    if (!d)
        return false;
    for (; pthread_mutex_trylock(&d->lock) != 0; waited += WAIT_NS) {
        if (waited >= PATIENCE_NS)
            return false;
        weir_sleep_ns(WAIT_NS);
    }
    d->depth = 0;
    for (int i = 0; i < n; i++)
        put_fact(d, &facts[i]);
    return write_all(s, d, NULL) == 0 && s->sys == 0;
}

const struct weir_sink_ops weir_sink_json = {
    .name = "JSON",
    .reader = WEIR_FOR_DATA,
    .document = true,
    .enter = enter,
    .leave = leave,
    .fact = add_fact,
    .head = add_table,
    .row = add_row,
    .message = add_message,
    .end = end_document,
    .rescue = rescue,
};
