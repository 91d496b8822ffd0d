/* SPDX-License-Identifier: BSD-3-Clause */
/* picks.c - sampled operations of a phase */
#include "config.h"
#include "engine/picks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define FAILED_ROOM 64 /* operations that fail: mostly the first one ends a phase */
#define SIGMAS 9       /* of the number of a sample: more never come */

/* ---- memory ---- */

/* Return the number of operations that the sample of a phase can have, with those that failed. */
static size_t room_for(const struct weir_picks *p, uint64_t operations)
{
    double mean = p->one_of ? (double)operations / (double)p->one_of : 0;
    double most = mean + SIGMAS * sqrt(mean) + FAILED_ROOM;
    uint64_t cap = most < (double)p->limit ? (uint64_t)most : p->limit;

    return cap < operations ? (size_t)cap : (size_t)operations;
}

/* Allocate in one piece: sampled operations, 3 for each slowest one and those beside it, the heap. */
static int take(struct weir_picks *p, size_t picks, uint32_t slow, struct weir_err *err)
{
    size_t n = picks + 6 * (size_t)slow;
    void *room;

    if (n > p->taken || slow > p->slow_cap) {
        free(p->pick);
        p->pick = NULL;
        p->taken = 0;
        if (weir_mem_aligned(&room, 64, n * sizeof(*p->pick) + slow * sizeof(*p->heap), err) < 0)
            return weir_err_within(err, "%zu operations of a timeline", n);
        p->pick = room;
        p->taken = n;
    }
    p->slow = p->pick + picks + 3 * (size_t)slow;
    p->heap = (struct weir_slow *)(p->pick + n);
    return 0;
}

int weir_picks_reserve(struct weir_picks *p, uint64_t operations, struct weir_err *err)
{
    uint32_t slow = !p->here ? 0 : p->slowest < operations ? p->slowest : (uint32_t)operations;
    size_t picks = p->here ? room_for(p, operations) : 0;

    p->n = p->cap = p->slow_n = 0;
    p->seen = p->dropped = p->share = 0;
    p->least = UINT64_MAX;
    p->after = NULL;
    if (picks > 0 && take(p, picks, slow, err) < 0)
        return -1;
    p->cap = picks;
    p->slow_cap = slow;
    p->share = p->here && p->one_of ? UINT64_MAX / p->one_of : 0;
    p->least = slow ? 0 : UINT64_MAX;
    return 0;
}

void weir_picks_free(struct weir_picks *p)
{
    free(p->pick);
    *p = (struct weir_picks) { .pick = NULL };
}

/* ---- the slowest ---- */

static void exchange(struct weir_slow *a, struct weir_slow *b)
{
    struct weir_slow kept = *a;

    *a = *b;
    *b = kept;
}

static void go_up(struct weir_slow *heap, uint32_t i)
{
    for (; i > 0 && heap[i].ns < heap[(i - 1) / 2].ns; i = (i - 1) / 2)
        exchange(&heap[i], &heap[(i - 1) / 2]);
}

static void go_down(struct weir_slow *heap, uint32_t n)
{
    for (uint32_t i = 0, least; (least = 2 * i + 1) < n; i = least) {
        least += least + 1 < n && heap[least + 1].ns < heap[least].ns;
        if (heap[i].ns <= heap[least].ns)
            return;
        exchange(&heap[i], &heap[least]);
    }
}

/* In the place of the fastest of the slowest, where there is no other. */
static void keep_slow(struct weir_picks *p, const struct weir_record *one, uint64_t ns)
{
    bool full = p->slow_n == p->slow_cap;
    struct weir_slow *in = &p->heap[full ? 0 : p->slow_n];
    struct weir_pick *three;

    *in = (struct weir_slow) { ns, full ? in->place : p->slow_n };
    three = &p->slow[3 * (size_t)in->place];
    three[0] = (struct weir_pick) { p->last, p->seen - 1, p->seen ? WEIR_PICK_BESIDE : 0 };
    three[1] = (struct weir_pick) { *one, p->seen, WEIR_PICK_SLOWEST };
    three[2].why = 0;
    p->after = &three[2];
    if (full)
        go_down(p->heap, p->slow_n);
    else
        go_up(p->heap, p->slow_n++);
    if (p->slow_n == p->slow_cap)
        p->least = p->heap[0].ns + 1;
}

void weir_picks_keep(struct weir_picks *p, const struct weir_record *one, bool drawn)
{
    unsigned why = (drawn ? WEIR_PICK_SAMPLE : 0) | (one->error && p->here ? WEIR_PICK_FAILED : 0);
    uint64_t ns = one->end_ns - one->begin_ns;

    if (p->after)
        *p->after = (struct weir_pick) { *one, p->seen, WEIR_PICK_BESIDE };
    p->after = NULL;
    if (why && p->n < p->cap)
        p->pick[p->n++] = (struct weir_pick) { *one, p->seen, why };
    else if (why)
        p->dropped++;
    if (ns >= p->least)
        keep_slow(p, one, ns);
}

/* ---- the end ---- */

static int compare(const void *a, const void *b)
{
    const struct weir_pick *x = a, *y = b;

    if (x->op.begin_ns != y->op.begin_ns)
        return x->op.begin_ns < y->op.begin_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* One that is there for several reasons is there several times until now. */
void weir_picks_finish(struct weir_picks *p)
{
    size_t n = 0;

    p->after = NULL;
    for (size_t i = 0; i < 3 * (size_t)p->slow_n; i++)
        if (p->slow[i].why)
            p->pick[p->n++] = p->slow[i];
    p->slow_n = 0;
    if (p->n > 1)
        qsort(p->pick, p->n, sizeof(*p->pick), compare);
    for (size_t i = 0; i < p->n; i++) {
        if (n > 0 && p->pick[n - 1].number == p->pick[i].number)
            p->pick[n - 1].why |= p->pick[i].why;
        else
            p->pick[n++] = p->pick[i];
    }
    p->n = n;
}
