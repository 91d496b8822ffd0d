/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.c - bytes, operations and their times of a phase in intervals of time */
#include "base/intervals.h"

#include <stdlib.h>
#include <string.h>

/* ---- many histograms ---- */

#define PER_HIST (WEIR_HIST_BINS / WEIR_HISTPACK_BINS)

_Static_assert(PER_HIST * WEIR_HISTPACK_BINS == WEIR_HIST_BINS, "a piece crosses no end");

static void free_pack(struct weir_histpack *p)
{
    free(p->row);
    free(p->piece);
    *p = (struct weir_histpack) { .row = NULL };
}

/* 'rows' empty histograms, and 'bytes' bytes for their times, at least those of the bins of one.
 * Memory that no histogram has used is not touched. */
static int init_pack(struct weir_histpack *p, size_t rows, size_t bytes, struct weir_err *err)
{
    *p = (struct weir_histpack) { .rows = rows, .used = 1 };
    p->pieces = (uint32_t)(bytes / sizeof(*p->piece));
    p->row = calloc(rows, sizeof(*p->row));
    p->piece = calloc(p->pieces, sizeof(*p->piece));
    if (p->row && p->piece)
        return 0;
    free_pack(p);
    return weir_fail(err, WEIR_ESETUP, "memory for %zu histograms", rows);
}

static void clear_pack(struct weir_histpack *p)
{
    memset(p->row, 0, p->rows * sizeof(*p->row));
    p->used = 1;
    p->spare = p->spares = 0;
}

/* An empty piece, in front of 'next'. There is one. */
static uint32_t take_piece(struct weir_histpack *p, uint32_t at, uint32_t next)
{
    uint32_t i = p->spares > 0 ? p->spare : p->used;

    if (p->spares > 0) {
        p->spare = p->piece[i].next;
        p->spares--;
    } else {
        p->used++;
    }
    p->piece[i] = (struct weir_histpack_piece) { .next = next, .at = at };
    return i;
}

static void add_counts(uint64_t *into, const uint64_t *from)
{
    for (int i = 0; i < WEIR_HISTPACK_BINS; i++)
        into[i] += from[i];
}

/* False: the buffer is full, and nothing was added. */
static bool add_to_pack(struct weir_histpack *p, size_t row, const struct weir_hist *h)
{
    static const uint64_t none[WEIR_HISTPACK_BINS];
    uint32_t first = weir_hist_bin(h->min_ns) / WEIR_HISTPACK_BINS;
    uint32_t last = weir_hist_bin(h->max_ns) / WEIR_HISTPACK_BINS;
    uint32_t *link = &p->row[row].first;

    if (h->n == 0)
        return true;
    if (last - first + 1 > p->pieces - p->used + p->spares)
        return false;
    for (uint32_t at = first; at <= last; at++) {
        const uint64_t *count = h->bin + (size_t)at * WEIR_HISTPACK_BINS;

        if (memcmp(count, none, sizeof(none)) == 0)
            continue;
        while (*link && p->piece[*link].at < at)
            link = &p->piece[*link].next;
        if (!*link || p->piece[*link].at > at)
            *link = take_piece(p, at, *link);
        add_counts(p->piece[*link].count, count);
    }
    if (h->max_ns > p->row[row].max_ns)
        p->row[row].max_ns = h->max_ns;
    return true;
}

/* 'into' becomes the sum of both, and 'from' empty. Both lists are in order. */
static void move_in_pack(struct weir_histpack *p, size_t into, size_t from)
{
    uint32_t *link = &p->row[into].first, i = p->row[from].first, next;

    for (; i; i = next) {
        next = p->piece[i].next;
        while (*link && p->piece[*link].at < p->piece[i].at)
            link = &p->piece[*link].next;
        if (*link && p->piece[*link].at == p->piece[i].at) {
            add_counts(p->piece[*link].count, p->piece[i].count);
            p->piece[i].next = p->spare;
            p->spare = i;
            p->spares++;
        } else {
            p->piece[i].next = *link;
            *link = i;
        }
    }
    if (p->row[from].max_ns > p->row[into].max_ns)
        p->row[into].max_ns = p->row[from].max_ns;
    p->row[from] = (struct weir_histpack_row) { 0 };
}

void weir_histpack_get(const struct weir_histpack *p, size_t row, struct weir_hist *out)
{
    for (uint32_t i = p->row[row].first; i; i = p->piece[i].next) {
        const struct weir_histpack_piece *piece = &p->piece[i];

        add_counts(out->bin + (size_t)piece->at * WEIR_HISTPACK_BINS, piece->count);
        for (int k = 0; k < WEIR_HISTPACK_BINS; k++)
            out->n += piece->count[k];
    }
    if (p->row[row].max_ns > out->max_ns)
        out->max_ns = p->row[row].max_ns;
}

bool weir_histpack_range(const struct weir_histpack *p, size_t row, size_t n, unsigned *first,
                         unsigned *last)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (size_t r = row; r < row + n; r++) {
        for (uint32_t i = p->row[r].first; i; i = p->piece[i].next) {
            least = p->piece[i].at < least ? p->piece[i].at : least;
            most = p->piece[i].at > most ? p->piece[i].at : most;
        }
    }
    *first = least * WEIR_HISTPACK_BINS;
    *last = (most + 1) * WEIR_HISTPACK_BINS - 1;
    return least <= most;
}

/* ---- intervals ---- */

int weir_intervals_init(struct weir_intervals *s, uint64_t width_ns, int kinds,
                        struct weir_err *err)
{
    size_t rows = weir_intervals_row(kinds, 0);

    *s = (struct weir_intervals) { .kinds = kinds, .asked_ns = width_ns, .width_ns = width_ns };
    s->bytes = calloc(2 * rows, sizeof(*s->bytes));
    s->live = calloc((size_t)kinds + 1, sizeof(*s->live));
    s->spanned = calloc(WEIR_INTERVALS, sizeof(*s->spanned));
    if (!s->bytes || !s->live || !s->spanned) {
        weir_intervals_free(s);
        return weir_fail(err, WEIR_ESETUP, "memory for intervals");
    }
    s->ops = s->bytes + rows;
    if (init_pack(&s->times, rows, WEIR_INTERVALS_TIMES, err) == 0)
        return 0;
    weir_intervals_free(s);
    return -1;
}

void weir_intervals_free(struct weir_intervals *s)
{
    free(s->bytes);
    free(s->live);
    free(s->spanned);
    free_pack(&s->times);
    *s = (struct weir_intervals) { .bytes = NULL };
}

void weir_intervals_begin(struct weir_intervals *s, uint64_t origin_ns)
{
    memset(s->bytes, 0, 2 * weir_intervals_row(s->kinds, 0) * sizeof(*s->bytes));
    memset(s->live, 0, ((size_t)s->kinds + 1) * sizeof(*s->live));
    memset(s->spanned, 0, WEIR_INTERVALS * sizeof(*s->spanned));
    clear_pack(&s->times);
    s->origin_ns = origin_ns;
    s->from_ns = UINT64_MAX; /* there is no present bin */
    s->to_ns = 0;
    s->width_ns = s->asked_ns;
    s->bin = s->used = 0;
}

static void choose_bin(struct weir_intervals *s, unsigned bin)
{
    s->bin = bin;
    s->from_ns = s->origin_ns + bin * s->width_ns;
    s->to_ns = s->from_ns + s->width_ns;
}

/* Two bins become one. */
static void fold(struct weir_intervals *s)
{
    for (int k = 0; k < s->kinds; k++) {
        for (unsigned i = 0; i < s->used; i++) {
            size_t into = weir_intervals_row(k, i / 2), from = weir_intervals_row(k, i);

            if (into == from)
                continue;
            s->bytes[into] += s->bytes[from];
            s->ops[into] += s->ops[from];
            s->bytes[from] = s->ops[from] = 0;
            move_in_pack(&s->times, into, from);
        }
    }
    for (unsigned i = 0; i < WEIR_INTERVALS; i++)
        s->spanned[i] = 2 * i < s->used && s->spanned[2 * i] && s->spanned[2 * i + 1];
    s->width_ns *= 2;
    s->used = (s->used + 1) / 2;
    choose_bin(s, s->bin / 2);
}

void weir_intervals_flush(struct weir_intervals *s)
{
    for (int k = 0; k < s->kinds; k++) {
        struct weir_hist *live = &s->live[k];

        if (live->n == 0)
            continue;
        while (!add_to_pack(&s->times, weir_intervals_row(k, s->bin), live))
            fold(s);
        s->ops[weir_intervals_row(k, s->bin)] += live->n;
        weir_hist_merge(&s->live[s->kinds], live);
        weir_hist_clear(live);
    }
}

void weir_intervals_widen(struct weir_intervals *s, uint64_t width_ns)
{
    weir_intervals_flush(s);
    while (s->width_ns < width_ns)
        fold(s);
}

void weir_intervals_until_now(const struct weir_intervals *s, struct weir_hist *out)
{
    *out = s->live[s->kinds];
    for (int k = 0; k < s->kinds; k++)
        weir_hist_merge(out, &s->live[k]);
}

bool weir_intervals_stalled(const struct weir_intervals *s, unsigned bin)
{
    for (int k = 0; k < s->kinds; k++)
        if (s->ops[weir_intervals_row(k, bin)] > 0)
            return false;
    return s->spanned[bin] != 0;
}

/* The bin with the moment just before this time. */
static uint64_t bin_before(const struct weir_intervals *s, uint64_t ns)
{
    return ns > s->origin_ns ? (ns - s->origin_ns - 1) / s->width_ns : 0;
}

/* Distributes 'all' of begin to end over the bins up to 'last' by time. */
static void distribute(const struct weir_intervals *s, uint64_t *bins, uint64_t all, uint64_t begin,
                       uint64_t end, uint64_t last)
{
    uint64_t done = 0;

    for (uint64_t i = (begin - s->origin_ns) / s->width_ns; i < last; i++) {
        double passed = (double)(s->origin_ns + (i + 1) * s->width_ns - begin);
        double part = (double)all * (passed / (double)(end - begin));
        uint64_t now = part < (double)all ? (uint64_t)part : all;

        bins[i] += now > done ? now - done : 0;
        done = now > done ? now : done;
    }
    bins[last] += all - done;
}

void weir_intervals_spread(struct weir_intervals *s, int kind, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t bytes)
{
    uint64_t begin = begin_ns > s->origin_ns ? begin_ns : s->origin_ns;
    uint64_t end = end_ns > begin ? end_ns : begin, last, whole;

    while (bin_before(s, end) >= WEIR_INTERVALS)
        fold(s);
    if (bin_before(s, end) != s->bin)
        weir_intervals_flush(s);
    last = bin_before(s, end);
    choose_bin(s, (unsigned)last);
    s->used = s->bin + 1 > s->used ? s->bin + 1 : s->used;
    distribute(s, s->bytes + weir_intervals_row(kind, 0), bytes, begin, end, last);
    whole = (begin - s->origin_ns + s->width_ns - 1) / s->width_ns;
    if (whole < last)
        memset(s->spanned + whole, 1, last - whole);
}
