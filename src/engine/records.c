/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - the operations of a phase: all of them, or a sample */
#include "engine/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FAILED_MAX 64 /* operations that fail: mostly the first one ends a phase */
#define SIGMAS 9       /* of the number of a sample: more never come */

/* ---- sampled operations: memory ---- */

/* Return the number of operations that the sample of a phase can have, with those that failed. */
static size_t size_for(const struct weir_sampled *p, uint64_t operations)
{
    double mean = p->one_of ? (double)operations / (double)p->one_of : 0;
    double most = mean + SIGMAS * sqrt(mean) + FAILED_MAX;
    uint64_t cap = most < (double)p->limit ? (uint64_t)most : p->limit;

    return cap < operations ? (size_t)cap : (size_t)operations;
}

/* Allocate in one piece: sampled operations, 3 for each slowest one and those beside it, the heap. */
static int take(struct weir_sampled *p, size_t sampled, uint32_t slow, struct weir_err *err)
{
    size_t n = sampled + 6 * (size_t)slow;
    void *memory;

    if (n > p->taken || slow > p->slow_cap) {
        free(p->ops);
        p->ops = NULL;
        p->taken = 0;
        if (weir_mem_aligned(&memory, 64, n * sizeof(*p->ops) + slow * sizeof(*p->heap), err) < 0)
            return weir_err_within(err, "%zu operations of a timeline", n);
        p->ops = memory;
        p->taken = n;
    }
    p->slow = p->ops + sampled + 3 * (size_t)slow;
    p->heap = (struct weir_slow *)(p->ops + n);
    return 0;
}

int weir_sampled_reserve(struct weir_sampled *p, uint64_t operations, struct weir_err *err)
{
    uint32_t slow = !p->here ? 0 : p->slowest < operations ? p->slowest : (uint32_t)operations;
    size_t sampled = p->here ? size_for(p, operations) : 0;

    p->n = p->cap = p->slow_n = 0;
    p->seen = p->dropped = p->share = 0;
    p->slow_from_ns = UINT64_MAX;
    p->after = NULL;
    if (sampled > 0 && take(p, sampled, slow, err) < 0)
        return -1;
    p->cap = sampled;
    p->slow_cap = slow;
    p->share = p->here && p->one_of ? UINT64_MAX / p->one_of : 0;
    p->slow_from_ns = slow ? 0 : UINT64_MAX;
    return 0;
}

void weir_sampled_free(struct weir_sampled *p)
{
    free(p->ops);
    *p = (struct weir_sampled) { .ops = NULL };
}

/* ---- sampled operations: the slowest ---- */

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
static void keep_slow(struct weir_sampled *p, const struct weir_record *one, uint64_t ns)
{
    bool full = p->slow_n == p->slow_cap;
    struct weir_slow *in = &p->heap[full ? 0 : p->slow_n];
    struct weir_sampled_op *three;

    *in = (struct weir_slow) { ns, full ? in->place : p->slow_n };
    three = &p->slow[3 * (size_t)in->place];
    three[0] = (struct weir_sampled_op) { p->last, p->seen - 1, p->seen ? WEIR_SAMPLED_ADJACENT : 0 };
    three[1] = (struct weir_sampled_op) { *one, p->seen, WEIR_SAMPLED_SLOWEST };
    three[2].why = 0;
    p->after = &three[2];
    if (full)
        go_down(p->heap, p->slow_n);
    else
        go_up(p->heap, p->slow_n++);
    if (p->slow_n == p->slow_cap)
        p->slow_from_ns = p->heap[0].ns + 1;
}

/* An operation that may belong to the sample. */
static void keep(struct weir_sampled *p, const struct weir_record *one, bool drawn)
{
    unsigned why = (drawn ? WEIR_SAMPLED_RANDOM : 0) | (one->error && p->here ? WEIR_SAMPLED_FAILED : 0);
    uint64_t ns = one->end_ns - one->begin_ns;

    if (p->after)
        *p->after = (struct weir_sampled_op) { *one, p->seen, WEIR_SAMPLED_ADJACENT };
    p->after = NULL;
    if (why && p->n < p->cap)
        p->ops[p->n++] = (struct weir_sampled_op) { *one, p->seen, why };
    else if (why)
        p->dropped++;
    if (ns >= p->slow_from_ns)
        keep_slow(p, one, ns);
}

void weir_sampled_put(struct weir_sampled *p, const struct weir_record *one)
{
    bool drawn = p->share && weir_rng_at(p->key, p->seen) <= p->share;

    if (__builtin_expect(drawn || one->end_ns - one->begin_ns >= p->slow_from_ns || p->after || one->error, 0))
        keep(p, one, drawn);
    if (p->slow_cap)
        p->last = *one;
    p->seen++;
}

static int compare(const void *a, const void *b)
{
    const struct weir_sampled_op *x = a, *y = b;

    if (x->op.begin_ns != y->op.begin_ns)
        return x->op.begin_ns < y->op.begin_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Until this call an operation is in p once for each reason of its choice. */
void weir_sampled_finish(struct weir_sampled *p)
{
    size_t n = 0;

    p->after = NULL;
    for (size_t i = 0; i < 3 * (size_t)p->slow_n; i++)
        if (p->slow[i].why)
            p->ops[p->n++] = p->slow[i];
    p->slow_n = 0;
    if (p->n > 1)
        qsort(p->ops, p->n, sizeof(*p->ops), compare);
    for (size_t i = 0; i < p->n; i++) {
        if (n > 0 && p->ops[n - 1].number == p->ops[i].number)
            p->ops[n - 1].why |= p->ops[i].why;
        else
            p->ops[n++] = p->ops[i];
    }
    p->n = n;
}

/* ---- all operations ---- */

int weir_records_begin(struct weir_records *r, int kinds, int calls, struct weir_err *err)
{
    r->hist = calloc((size_t)(2 * kinds + calls + 3), sizeof(*r->hist));
    if (!r->hist)
        return weir_fail(err, WEIR_ESETUP, "memory for the latencies of %d operations", kinds);
    return 0;
}

int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < r->limit ? (size_t)steps : (size_t)r->limit;
    void *memory;

    r->n = r->cap = 0;
    r->dropped = 0;
    r->kept = r->wanted || r->intervals || r->sampled || r->mixed;
    if (r->sampled && weir_sampled_reserve(r->sampled, steps, err) < 0)
        return -1;
    if (!r->wanted || cap == 0)
        return 0;
    if (cap > r->taken) {
        free(r->rec);
        r->rec = NULL;
        r->taken = 0;
        if (weir_mem_aligned(&memory, 64, cap * sizeof(*r->rec), err) < 0)
            return weir_err_within(err, "records of %zu operations", cap);
        r->rec = memory;
        r->taken = cap;
    }
    r->cap = cap;
    return 0;
}

void weir_records_free(struct weir_records *r)
{
    free(r->hist);
    free(r->rec);
    *r = (struct weir_records) { .zero_ns = r->zero_ns };
}

void weir_records_put(struct weir_records *r, const struct weir_record *one)
{
    if (r->n < r->cap)
        r->rec[r->n++] = *one;
    else if (r->wanted)
        r->dropped++;
    if (r->intervals && one->error == 0)
        weir_intervals_add(r->intervals, one->op, one->begin_ns, one->end_ns, one->len, r->late_ns);
    if (r->sampled)
        weir_sampled_put(r->sampled, one);
}

void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err)
{
    weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, 0, (uint16_t)op,
                                                err->sys ? err->sys : EIO });
}
