/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-sets.c - data sets: who reads from whom, and the names of directories and objects */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT "file-"
#define ROOM 64 /* for "/<rank>_<set>/file-<object>" */

static int around(int64_t rank, int size)
{
    int64_t r = rank % size;

    return (int)(r < 0 ? r + size : r);
}

static int name_init(struct mdw_name *n, const char *prefix, struct weir_err *err)
{
    size_t len = strlen(prefix);

    n->text = malloc(len + ROOM);
    if (!n->text)
        return weir_fail(err, WEIR_ESETUP, "memory for names of data sets");
    memcpy(n->text, prefix, len);
    n->text[len] = '/';
    n->base = len + 1;
    n->rank = -1;
    return 0;
}

int mdw_sets_init(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    int rank = run->par.rank, size = run->par.size;

    t->period = o->sets < size ? o->sets : size;
    t->set = calloc((size_t)t->period, sizeof(*t->set));
    t->made = calloc((size_t)o->sets / 8 + 1, 1);
    if (!t->set || !t->made)
        return weir_fail(err, WEIR_ESETUP, "memory for %d data sets (-D)", o->sets);
    for (int d = 0; d < t->period; d++) {
        struct mdw_set *s = &t->set[d];
        int64_t shift = (int64_t)o->offset % size * (((int64_t)d + 1) % size);

        s->from_rank = s->writer = around(rank - shift, size);
        s->to_rank = s->reader = around(rank + shift, size);
    }
    if (name_init(&t->own, o->prefix, err) < 0 || name_init(&t->from, o->prefix, err) < 0)
        return -1;
    return name_init(&t->to, o->prefix, err);
}

void mdw_sets_free(struct mdw_test *t)
{
    free(t->own.text);
    free(t->from.text);
    free(t->to.text);
    free(t->made);
    free(t->set);
}

static char *put_number(char *to, uint64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    memcpy(to, digits + at, sizeof(digits) - at);
    return to + sizeof(digits) - at;
}

/* Put the name of the directory in front of what follows it. */
static void choose_dir(struct mdw_name *n, int rank, int set)
{
    char *at = n->text + n->base;

    if (n->rank == rank && n->set == set)
        return;
    at = put_number(at, (uint64_t)rank);
    *at++ = '_';
    at = put_number(at, (uint64_t)set);
    memcpy(at, "/" OBJECT, sizeof(OBJECT));
    n->dir = (size_t)(at - n->text);
    n->rank = rank;
    n->set = set;
}

const char *mdw_name_dir(struct mdw_name *n, int rank, int set)
{
    choose_dir(n, rank, set);
    n->text[n->dir] = '\0';
    return n->text;
}

const char *mdw_name_object(struct mdw_name *n, int rank, int set, uint64_t index)
{
    choose_dir(n, rank, set);
    n->text[n->dir] = '/';
    *put_number(n->text + n->dir + sizeof(OBJECT), index) = '\0';
    return n->text;
}
