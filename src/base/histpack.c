/* SPDX-License-Identifier: BSD-3-Clause */
/* histpack.c - many latency histograms in fixed memory */
#include "base/histpack.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define PER_HIST (WEIR_HIST_BINS / WEIR_HISTPACK_BINS)

_Static_assert(PER_HIST * WEIR_HISTPACK_BINS == WEIR_HIST_BINS, "a piece crosses no end");

int weir_histpack_init(struct weir_histpack *p, size_t rows, size_t bytes, struct weir_err *err)
{
    *p = (struct weir_histpack) { .rows = rows, .used = 1 };
    p->pieces = (uint32_t)(bytes / sizeof(*p->piece));
    p->row = calloc(rows, sizeof(*p->row));
    p->piece = calloc(p->pieces, sizeof(*p->piece));
    if (p->row && p->piece)
        return 0;
    weir_histpack_free(p);
    return weir_fail(err, WEIR_ESETUP, "memory for %zu histograms", rows);
}

void weir_histpack_free(struct weir_histpack *p)
{
    free(p->row);
    free(p->piece);
    *p = (struct weir_histpack) { .row = NULL };
}

void weir_histpack_clear(struct weir_histpack *p)
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

static bool is_empty(const uint64_t *count)
{
    for (int i = 0; i < WEIR_HISTPACK_BINS; i++)
        if (count[i])
            return false;
    return true;
}

bool weir_histpack_add(struct weir_histpack *p, size_t row, const struct weir_hist *h)
{
    uint32_t first = weir_hist_bin(h->min_ns) / WEIR_HISTPACK_BINS;
    uint32_t last = weir_hist_bin(h->max_ns) / WEIR_HISTPACK_BINS;
    uint32_t *link = &p->row[row].first;

    if (h->n == 0)
        return true;
    if (last - first + 1 > p->pieces - p->used + p->spares)
        return false;
    for (uint32_t at = first; at <= last; at++) {
        const uint64_t *count = h->bin + (size_t)at * WEIR_HISTPACK_BINS;

        if (is_empty(count))
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

/* Both lists are in order. */
void weir_histpack_move(struct weir_histpack *p, size_t into, size_t from)
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
