/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-cells.c - data of n-dimensional arrays that tell where they belong */
#include "config.h"
#include "programs/h5exerciser/h5ex-cells.h"

#include <inttypes.h>
#include <string.h>

#define MARK 0xff          /* bytes of what was not read; as a double: not a number */
#define FRACTIONS 1024     /* repetitions that can be told apart */
#define EXACT (1ull << 42) /* cells in an array for which a double has the fraction, too */
#define STEP 8             /* cells that are compared at once */

/* What is added to the number of each cell. */
static double offset_of(const struct weir_cells *c, int repetition)
{
    uint64_t cells = 0;

    if (weir_shape_bytes(&c->array, 1, &cells, NULL) < 0 || cells > EXACT)
        return 1;
    return 1 + (double)(repetition % FRACTIONS) / FRACTIONS;
}

/* The slab and its memory side by side. */
static void begin(const struct weir_cells *c, struct weir_pieces *p)
{
    struct weir_runs array, memory;

    weir_runs_begin(&array, &c->slab, &c->array);
    weir_runs_begin(&memory, &c->in_memory, &c->memory);
    weir_pieces_begin(p, &array, &memory);
}

static uint64_t cells_of(const struct weir_shape *s)
{
    uint64_t n = 1;

    for (int d = 0; d < s->rank; d++)
        n *= s->len[d];
    return n;
}

bool weir_cells_apart(const struct weir_cells *c)
{
    const struct weir_slab *m = &c->in_memory;
    uint64_t cells = 1;

    for (int d = 0; d < m->rank; d++)
        cells *= m->count[d] * m->block[d];
    return cells != cells_of(&c->memory);
}

void weir_cells_fill(const struct weir_cells *c, int repetition)
{
    double add = offset_of(c, repetition);
    struct weir_pieces p;
    uint64_t at, to, n;

    if (weir_cells_apart(c))
        memset(c->buf, 0, cells_of(&c->memory) * c->size);
    begin(c, &p);
    while (weir_pieces_next(&p, &at, &to, &n)) {
        double *v = (double *)c->buf + to;
        char *cell = (char *)c->buf + to * c->size;

        for (uint64_t i = 0; !c->make && i < n; i++)
            v[i] = (double)(at + i) + add;
        for (uint64_t i = 0; c->make && i < n; i++)
            c->make(cell + i * c->size, at + i, (double)(at + i) + add, repetition);
    }
}

void weir_cells_spoil(const struct weir_cells *c)
{
    memset(c->buf, MARK, cells_of(&c->memory) * c->size);
}

static void note(struct weir_cells_wrong *w, uint64_t at, double want, double got)
{
    if (w->n++ == 0)
        *w = (struct weir_cells_wrong) { .n = 1, .at = at, .want = want, .got = got };
}

/* The first double of n that is not right; n: none. */
static uint64_t first_wrong(const double *v, uint64_t at, uint64_t n, double add)
{
    double value = (double)at + add;
    uint64_t i = 0;

    for (; n - i >= STEP; i += STEP, value += STEP) {
        int bad = 0;

        for (int k = 0; k < STEP; k++)
            bad |= v[i + (uint64_t)k] != value + k;
        if (bad)
            break;
    }
    while (i < n && v[i] == (double)(at + i) + add)
        i++;
    return i;
}

static void check_piece(const struct weir_cells *c, const char *cell, uint64_t at, uint64_t n,
                        double add, int repetition, struct weir_cells_wrong *w)
{
    double want, got;
    const double *v = (const double *)cell;
    uint64_t i;

    for (i = 0; c->differs && i < n; i++)
        if (c->differs(cell + i * c->size, at + i, (double)(at + i) + add, repetition, &want, &got))
            note(w, at + i, want, got);
    for (i = 0; !c->differs && (i += first_wrong(v + i, at + i, n - i, add)) < n; i++)
        note(w, at + i, (double)(at + i) + add, v[i]);
}

/* Bytes from cell 'from' to cell 'to' of memory were left alone. */
static void check_gap(const struct weir_cells *c, uint64_t from, uint64_t to,
                      struct weir_cells_wrong *w)
{
    const unsigned char *bytes = c->buf;

    for (uint64_t i = from * c->size; i < to * c->size; i++)
        if (bytes[i] != MARK)
            note(w, UINT64_MAX, MARK, bytes[i]);
}

void weir_cells_check(const struct weir_cells *c, int repetition, struct weir_cells_wrong *wrong)
{
    double add = offset_of(c, repetition);
    uint64_t at, from, n, end = 0;
    struct weir_pieces p;

    begin(c, &p);
    while (weir_pieces_next(&p, &at, &from, &n)) {
        check_gap(c, end, from, wrong);
        check_piece(c, (const char *)c->buf + from * c->size, at, n, add, repetition, wrong);
        end = from + n;
    }
    check_gap(c, end, cells_of(&c->memory), wrong);
}

void weir_cells_describe(const struct weir_cells_wrong *w, const struct weir_shape *array,
                         struct weir_str *out)
{
    uint64_t at[WEIR_SLAB_RANK], left = w->at;

    for (int k = array->rank - 1; k >= 0; left /= array->len[k--])
        at[k] = left % array->len[k];
    for (int k = 0; k < array->rank && w->at != UINT64_MAX; k++)
        weir_str_addf(out, "%s%" PRIu64, k ? "," : "element ", at[k]);
    if (w->at == UINT64_MAX)
        weir_str_addf(out, "a byte of memory that belongs to no element");
    weir_str_addf(out, ": expected %.17g, found %.17g", w->want, w->got);
}
