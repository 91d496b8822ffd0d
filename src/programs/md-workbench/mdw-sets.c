/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-sets.c - data sets: who reads from whom, and names of directories and objects */
#include "programs/md-workbench/mdw.h"

#include <stdlib.h>
#include <string.h>

#include "base/shape/shift.h"

#define OBJECT "file-"
#define SUFFIX_MAX 64 /* for "/<rank>_<set>/file-<object>" */

static int name_init(struct mdw_name *n, const char *prefix, struct weir_err *err)
{
    size_t len = strlen(prefix);

    n->text = malloc(len + SUFFIX_MAX);
    if (!n->text)
        return weir_fail(err, WEIR_ESETUP, "memory for names of data sets");
    memcpy(n->text, prefix, len);
    n->text[len] = '/';
    n->base = len + 1;
    n->rank = -1;
    return 0;
}

int mdw_sets_shift(const struct mdw_options *o, int size, int d)
{
    return (int)((int64_t)o->offset % size * (((int64_t)d + 1) % size) % size);
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
        int64_t shift = mdw_sets_shift(o, size, d);

        s->from_rank = s->writer = weir_shift_fixed(rank, size, -shift);
        s->to_rank = s->reader = weir_shift_fixed(rank, size, shift);
    }
    if (name_init(&t->own, o->prefix, err) < 0 || name_init(&t->from, o->prefix, err) < 0)
        return -1;
    return name_init(&t->to, o->prefix, err);
}

uint64_t mdw_sets_objects(const struct mdw_test *t)
{
    uint64_t n = 0, sets = (uint64_t)t->o->sets, period = (uint64_t)t->period;

    for (uint64_t d = 0; d < period; d++) /* sets d, d + period ... have as many */
        n += (t->set[d].high - t->set[d].low) * ((sets - d + period - 1) / period);
    return n;
}

void mdw_sets_free(struct mdw_test *t)
{
    free(t->own.text);
    free(t->from.text);
    free(t->to.text);
    free(t->made);
    free(t->set);
}

/* Put the name of the directory in front of what follows it. */
static void choose_dir(struct mdw_name *n, int rank, int set)
{
    char *at = n->text + n->base;

    if (n->rank == rank && n->set == set)
        return;
    at = mdw_put_set(at, rank, set);
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
    weir_put_u64(n->text + n->dir + sizeof(OBJECT), index);
    return n->text;
}
