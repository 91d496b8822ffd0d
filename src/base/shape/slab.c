/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.c - parts of n-dimensional arrays: bounds, sizes, and the runs of elements that lie
 * together */
#include "base/shape/slab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void weir_slab_box(struct weir_slab *out, int rank, const uint64_t *start, const uint64_t *count)
{
    out->rank = rank;
    for (int d = 0; d < rank && d < WEIR_SLAB_RANK; d++) {
        out->start[d] = start ? start[d] : 0;
        out->count[d] = count[d];
        out->stride[d] = out->block[d] = 1;
    }
}

void weir_slab_all(struct weir_slab *out, const struct weir_shape *shape)
{
    weir_slab_box(out, shape->rank, NULL, shape->len);
}

void weir_slab_none(struct weir_slab *out, int rank)
{
    static const uint64_t zeros[WEIR_SLAB_RANK];

    weir_slab_box(out, rank, NULL, zeros);
}

bool weir_slab_same(const struct weir_slab *a, const struct weir_slab *b)
{
    size_t len = (size_t)a->rank * sizeof(a->start[0]);

    return a->rank == b->rank && memcmp(a->start, b->start, len) == 0 &&
           memcmp(a->count, b->count, len) == 0 && memcmp(a->stride, b->stride, len) == 0 &&
           memcmp(a->block, b->block, len) == 0;
}

static int check_rank(int rank, struct weir_err *err)
{
    if (rank < 1 || rank > WEIR_SLAB_RANK)
        return weir_refuse(err, WEIR_EUSAGE, "%d dimensions: there may be 1 to %d", rank,
                           WEIR_RANK_MAX);
    return 0;
}

int weir_shape_bytes(const struct weir_shape *shape, uint64_t elem, uint64_t *bytes,
                     struct weir_err *err)
{
    uint64_t most = INT64_MAX;
    bool is_empty = false;

    if (check_rank(shape->rank, err) < 0)
        return -1;
    *bytes = elem;
    for (int d = 0; d < shape->rank; d++) {
        is_empty |= shape->len[d] == 0;
        if (shape->len[d] > 0 && *bytes > most / shape->len[d])
            return weir_refuse(
                err, WEIR_EUSAGE,
                "the array has more than 2^63 - 1 bytes (dimension %d of %d, %" PRIu64 " elements)",
                d + 1, shape->rank, shape->len[d]);
        if (shape->len[d] > 0)
            *bytes *= shape->len[d];
    }
    if (is_empty)
        *bytes = 0;
    return 0;
}

/* One dimension of a slab that is not empty. Nothing here may overflow. */
static int check_dim(const struct weir_slab *s, uint64_t len, int d, struct weir_err *err)
{
    uint64_t count = s->count[d], stride = s->stride[d], block = s->block[d];

    if (block == 0 || (count > 1 && stride < block))
        return weir_refuse(err, WEIR_EUSAGE,
                           "dimension %d: blocks of %" PRIu64 " elements with a stride of %" PRIu64
                           " (the stride must be at least the block, the block at least 1)",
                           d + 1, block, stride);
    if (s->start[d] > len || block > len - s->start[d] ||
        (count > 1 && (len - s->start[d] - block) / stride < count - 1))
        return weir_refuse(err, WEIR_EUSAGE,
                           "out of bounds in dimension %d: start %" PRIu64 ", count %" PRIu64
                           ", stride %" PRIu64 ", block %" PRIu64 ", but there are only %" PRIu64
                           " elements",
                           d + 1, s->start[d], count, stride, block, len);
    return 0;
}

int weir_slab_check(const struct weir_slab *s, const struct weir_shape *shape, uint64_t *elements,
                    struct weir_err *err)
{
    bool is_empty = false;

    *elements = 0;
    if (check_rank(s->rank, err) < 0)
        return -1;
    if (s->rank != shape->rank)
        return weir_refuse(err, WEIR_EUSAGE, "a slab of %d dimensions in an array of %d", s->rank,
                           shape->rank);
    for (int d = 0; d < s->rank; d++)
        is_empty |= s->count[d] == 0;
    if (is_empty)
        return 0;
    *elements = 1;
    for (int d = 0; d < s->rank; d++) {
        if (check_dim(s, shape->len[d], d, err) < 0)
            return -1;
        *elements *= s->count[d] * s->block[d];
    }
    return 0;
}

uint64_t weir_slab_end(const struct weir_slab *s, const struct weir_shape *shape)
{
    uint64_t end = 1, pitch = 1;

    for (int d = s->rank - 1; d >= 0; d--) {
        if (s->count[d] == 0)
            return 0;
        end += (s->start[d] + (s->count[d] - 1) * s->stride[d] + s->block[d] - 1) * pitch;
        pitch *= shape->len[d];
    }
    return end;
}

/* ---- words ---- */

static int add_numbers(char *text, int len, int at, const char *title, const uint64_t *v, int n)
{
    for (int d = 0; d < n && at < len; d++) {
        int more = snprintf(text + at, (size_t)(len - at), "%s%" PRIu64, d ? "," : title, v[d]);

        if (more < 0)
            break;
        at += more;
    }
    return at;
}

const char *weir_slab_text(const struct weir_slab *s, char *text, int len)
{
    bool is_box = true;
    int at;

    for (int d = 0; d < s->rank; d++)
        is_box &= s->block[d] == 1 && (s->stride[d] == 1 || s->count[d] <= 1);
    text[0] = '\0';
    at = add_numbers(text, len, 0, "start ", s->start, s->rank);
    at = add_numbers(text, len, at, " count ", s->count, s->rank);
    if (!is_box) {
        at = add_numbers(text, len, at, " stride ", s->stride, s->rank);
        add_numbers(text, len, at, " block ", s->block, s->rank);
    }
    return text;
}

/* ---- runs ---- */

/* Put a loop around what there is: it only makes the run longer, or the loop before it, where no
 * gap is between its steps. */
static void wrap_loop(struct weir_runs *r, uint64_t n, uint64_t pitch)
{
    int last = r->loops - 1;

    if (n == 1)
        return;
    if (last < 0 && pitch == r->run) {
        r->run *= n;
    } else if (last >= 0 && pitch == r->n[last] * r->pitch[last]) {
        r->n[last] *= n;
    } else {
        r->n[r->loops] = n;
        r->pitch[r->loops] = pitch;
        r->at[r->loops] = 0;
        r->loops++;
    }
}

void weir_runs_begin(struct weir_runs *r, const struct weir_slab *s, const struct weir_shape *shape)
{
    uint64_t pitch = 1;

    r->loops = 0;
    r->run = 1;
    r->first = 0;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (s->count[d] == 0) {
            r->loops = 0;
            r->run = r->first = 0;
            break;
        }
        wrap_loop(r, s->block[d], pitch);
        wrap_loop(r, s->count[d], s->stride[d] * pitch);
        r->first += s->start[d] * pitch;
        pitch *= shape->len[d];
    }
    r->next = r->first;
    r->over = r->run == 0;
}

bool weir_runs_next(struct weir_runs *r, uint64_t *at)
{
    int i;

    *at = r->next;
    if (r->over)
        return false;
    for (i = 0; i < r->loops; i++) {
        r->next += r->pitch[i];
        if (++r->at[i] < r->n[i])
            return true;
        r->next -= r->n[i] * r->pitch[i];
        r->at[i] = 0;
    }
    r->over = true;
    return true;
}

void weir_pieces_begin(struct weir_pieces *p, const struct weir_runs *a, const struct weir_runs *b)
{
    p->a = *a;
    p->b = *b;
    p->left_a = p->left_b = 0;
}

bool weir_pieces_next(struct weir_pieces *p, uint64_t *at_a, uint64_t *at_b, uint64_t *n)
{
    if (p->left_a == 0) {
        if (!weir_runs_next(&p->a, &p->at_a))
            return false;
        p->left_a = p->a.run;
    }
    if (p->left_b == 0) {
        if (!weir_runs_next(&p->b, &p->at_b))
            return false;
        p->left_b = p->b.run;
    }
    *n = p->left_a < p->left_b ? p->left_a : p->left_b;
    *at_a = p->at_a;
    *at_b = p->at_b;
    p->at_a += *n;
    p->at_b += *n;
    p->left_a -= *n;
    p->left_b -= *n;
    return true;
}
