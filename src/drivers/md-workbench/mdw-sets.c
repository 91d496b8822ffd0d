/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-sets.c - data sets: who reads from whom, and the names of directories and objects */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT "file-"
#define ROOM 64 /* for "/<rank>_<set>/file-<object>" */

static int around(int64_t rank, int size)
{
    int64_t r = rank % size;

    return (int)(r < 0 ? r + size : r);
}

static int name_init(struct mdw_name *n, const char *prefix, int rank, int set,
                     struct weir_err *err)
{
    size_t cap = strlen(prefix) + ROOM;
    int len;

    n->text = malloc(cap);
    if (!n->text)
        return weir_fail(err, WEIR_ESETUP, "memory for names of data sets");
    len = snprintf(n->text, cap, "%s/%d_%d", prefix, rank, set);
    if (len < 0 || (size_t)len >= cap)
        return weir_refuse(err, WEIR_EBUG, "name of data set %d", set);
    n->dir = (size_t)len;
    memcpy(n->text + n->dir, "/" OBJECT, sizeof(OBJECT) + 1);
    return 0;
}

int mdw_sets_init(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    int rank = run->par.rank, size = run->par.size;

    t->set = calloc((size_t)o->sets, sizeof(*t->set));
    if (!t->set)
        return weir_fail(err, WEIR_ESETUP, "memory for %d data sets", o->sets);
    for (int d = 0; d < o->sets; d++) {
        struct mdw_set *s = &t->set[d];
        int64_t shift = (int64_t)o->offset % size * (((int64_t)d + 1) % size);

        s->from_rank = s->writer = around(rank - shift, size);
        s->to_rank = s->reader = around(rank + shift, size);
        if (name_init(&s->own, o->prefix, rank, d, err) < 0 ||
            name_init(&s->from, o->prefix, s->from_rank, d, err) < 0 ||
            name_init(&s->to, o->prefix, s->to_rank, d, err) < 0)
            return -1;
    }
    return 0;
}

void mdw_sets_free(struct mdw_test *t)
{
    for (int d = 0; t->set && d < t->o->sets; d++) {
        free(t->set[d].own.text);
        free(t->set[d].from.text);
        free(t->set[d].to.text);
    }
    free(t->set);
}

const char *mdw_name_dir(struct mdw_name *n)
{
    n->text[n->dir] = '\0';
    return n->text;
}

const char *mdw_name_object(struct mdw_name *n, uint64_t index)
{
    char digits[24];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    n->text[n->dir] = '/';
    memcpy(n->text + n->dir + sizeof(OBJECT), digits + at, sizeof(digits) - at);
    return n->text;
}
