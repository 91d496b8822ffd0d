/* SPDX-License-Identifier: BSD-3-Clause */
/* sink-json.c - the result as one JSON document, built in memory and written whole */
#include "config.h"
#ifdef HAVE_JANSSON /* the whole file: a build without jansson has no JSON sink */
#include "engine/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 16

/* The chain of open objects and lists, outermost first. Each is borrowed from its parent but for
 * the first. */
struct document {
    json_t *open[DEPTH];
    int depth;
    bool failed;     /* out of memory, or nested too deep */
    json_t *waiting; /* lists of messages from between two tests: for the one that comes */
};

/* Kinds of messages and their lists, which every test and the run have. */
static const struct {
    const char *kind, *key;
} lists[] = { { "warning", "warnings" }, { "note", "notes" } };

#define LISTS (sizeof(lists) / sizeof(*lists))

static struct document *document_of(struct weir_sink *s)
{
    struct document *d = s->priv;

    if (d)
        return d;
    d = calloc(1, sizeof(*d));
    if (d) {
        d->open[0] = json_object();
        d->waiting = json_object();
        d->failed = !d->open[0] || !d->waiting;
    } else {
        s->sys = ENOMEM; /* comes back from the end */
    }
    s->priv = d;
    return d;
}

/* Text that is not UTF-8 (a path can be anything) is kept readable: every odd byte becomes
 * U+FFFD. */
static json_t *text_value(const char *text)
{
    json_t *v = json_string(text);
    struct weir_str fixed = { 0 };

    if (v || !text)
        return v ? v : json_null();
    for (; *text; text++)
        if ((unsigned char)*text < 0x80)
            weir_str_addc(&fixed, *text);
        else
            weir_str_add(&fixed, "\xef\xbf\xbd", 3);
    v = json_string(weir_str_text(&fixed));
    weir_str_free(&fixed);
    return v;
}

static json_t *real_value(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void put(struct document *d, const char *key, json_t *v)
{
    json_t *in = d->open[d->depth];
    int rc = json_is_array(in) ? json_array_append_new(in, v)
                               : json_object_set_new(in, key ? key : "", v);

    if (rc < 0)
        d->failed = true;
}

/* ---- messages ---- */

static json_t *messages_of(struct document *d, json_t *home, const char *key)
{
    json_t *list = json_object_get(home, key);

    if (list)
        return list;
    if (json_object_set_new(home, key, json_array()) < 0)
        d->failed = true;
    return json_object_get(home, key);
}

/* The test that is open, else the run. */
static json_t *home_of(struct document *d)
{
    int i = d->depth;

    while (i > 0 && !json_is_array(d->open[i - 1]))
        i--;
    return d->open[i];
}

static void add_message(struct weir_sink *s, const char *kind, const char *text)
{
    struct document *d = document_of(s);
    json_t *home;

    if (!d)
        return;
    home = json_is_array(d->open[d->depth]) ? d->waiting : home_of(d);
    for (size_t i = 0; i < LISTS; i++)
        if (strcmp(kind, lists[i].kind) == 0 &&
            json_array_append_new(messages_of(d, home, lists[i].key), text_value(text)) < 0)
            d->failed = true;
}

/* Programs find both lists, empty or not; what waited for a test comes in here. */
static void complete_messages(struct document *d, json_t *home)
{
    for (size_t i = 0; i < LISTS; i++) {
        json_t *more = json_object_get(d->waiting, lists[i].key);
        json_t *list = messages_of(d, home, lists[i].key);

        if (more && json_array_extend(list, more) < 0)
            d->failed = true;
    }
    json_object_clear(d->waiting);
}

/* ---- the tree ---- */

static void enter(struct weir_sink *s, const char *key, bool list)
{
    struct document *d = document_of(s);
    bool in_list;
    json_t *v;

    if (!d || d->depth + 1 >= DEPTH)
        return;
    in_list = json_is_array(d->open[d->depth]);
    v = list ? json_array() : json_object();
    put(d, key, v);
    d->open[++d->depth] = v;
    if (in_list && !list)
        complete_messages(d, v);
}

static void leave(struct weir_sink *s)
{
    struct document *d = document_of(s);

    if (d && d->depth > 0)
        d->depth--;
}

static void add_fact(struct weir_sink *s, const struct weir_fact *f)
{
    struct document *d = document_of(s);

    if (!d || !(f->readers & s->ops->reader))
        return;
    if (f->type == WEIR_FACT_STR)
        put(d, f->key, text_value(f->str));
    else if (f->type == WEIR_FACT_INT)
        put(d, f->key, json_integer(f->num));
    else
        put(d, f->key, real_value(f->real));
}

static json_t *cell_value(const struct weir_col *c, const void *record)
{
    const char *field = (const char *)record + c->offset;
    double unit = c->unit != 0 ? c->unit : 1;

    switch (c->type) {
    case WEIR_COL_STR:
        return text_value(*(const char *const *)field);
    case WEIR_COL_INT:
        return json_integer(*(const int64_t *)field);
    default:
        return real_value(*(const double *)field / unit);
    }
}

/* The list of a table's rows in the open object; made when it is not there. */
static json_t *list_of(struct document *d, const struct weir_table *t)
{
    json_t *list = json_object_get(d->open[d->depth], t->key);

    if (!list) {
        list = json_array();
        put(d, t->key, list);
    }
    return list;
}

static void add_table(struct weir_sink *s, const struct weir_table *t)
{
    struct document *d = document_of(s);

    if (d)
        list_of(d, t);
}

static void add_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct document *d = document_of(s);
    const struct weir_col *c;
    json_t *row, *list;

    if (!d)
        return;
    list = list_of(d, t);
    row = json_object();
    for (c = t->cols; c->key || c->csv || c->head; c++)
        if (c->key && json_object_set_new(row, c->key, cell_value(c, record)) < 0)
            d->failed = true;
    if (json_array_append_new(list, row) < 0)
        d->failed = true;
}

static int write_document(struct weir_sink *s, struct weir_err *err)
{
    struct document *d = s->priv;
    int rc = 0;

    if (!d)
        return 0; /* the run failed before there was anything to tell */
    complete_messages(d, d->open[0]);
    if (d->failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the JSON document of %s", s->path);
    else if (json_dumpf(d->open[0], s->out, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) < 0 ||
             fputc('\n', s->out) == EOF)
        rc = weir_fail(err, WEIR_ESETUP, "write results to %s", s->path);
    json_decref(d->open[0]);
    json_decref(d->waiting);
    free(d);
    s->priv = NULL;
    return rc;
}

const struct weir_sink_ops weir_sink_json = {
    .name = "JSON",
    .reader = WEIR_FOR_DATA,
    .enter = enter,
    .leave = leave,
    .fact = add_fact,
    .head = add_table,
    .row = add_row,
    .message = add_message,
    .end = write_document,
};
#endif
