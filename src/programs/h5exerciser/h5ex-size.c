/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-size.c - sizes of the sweep, and the two datasets of each with what they hold (section 3 and
 * 4 of the program's own documentation), without I/O */
#include "programs/h5exerciser/h5ex.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define BYTES_MAX sizeof(struct h5ex_record) /* of an element */

/* ---- sizes ---- */

static void grid_make(struct h5ex_grid *g, int dims, const uint64_t *ranks, int tasks)
{
    *g = (struct h5ex_grid) { .dims = dims, .tasks = tasks, .asked = 1 };
    for (int d = 0; d < dims; d++)
        if (__builtin_mul_overflow(g->asked, ranks[d], &g->asked))
            g->asked = UINT64_MAX / 2; /* no number of tasks, whatever it is multiplied with */
    for (int d = 0; d < dims; d++)
        g->ranks[d] = g->asked == (uint64_t)tasks ? ranks[d] : d == 0 ? (uint64_t)tasks : 1;
}

static void make_blocks(struct h5ex_part *p, int d, uint64_t block, uint64_t stride)
{
    p->odd[d] = block > 0 && p->len[d] % block != 0;
    if (block == 0 || p->odd[d])
        block = stride = p->len[d];
    p->block[d] = block;
    p->stride[d] = stride < block ? block : stride;
    p->count[d] = block ? p->len[d] / block : 0;
}

/* Block 0, or one that does not divide the length: all in one block. A stride below the block: no
 * gaps. block and stride NULL: all in one block. Returns 0, or -1 and err (WEIR_EUSAGE). */
static int part_make(struct h5ex_part *p, int dims, const uint64_t *len, const uint64_t *block,
                     const uint64_t *stride, struct weir_err *err)
{
    uint64_t whole;

    *p = (struct h5ex_part) { .dims = dims, .elements = 1 };
    for (int d = 0; d < dims; d++) {
        p->len[d] = len[d];
        make_blocks(p, d, block ? block[d] : 0, stride ? stride[d] : 0);
        if (__builtin_mul_overflow(p->elements, len[d], &p->elements) ||
            __builtin_mul_overflow(p->stride[d], p->count[d], &whole))
            return weir_refuse(err, WEIR_EUSAGE,
                               "dimension %d: the part of one task has more than 2^64 elements",
                               d + 1);
    }
    return 0;
}

/* The array of all tasks, with its gaps. Returns 0, or -1 and err (WEIR_EUSAGE): it would have more
 * than INT64_MAX bytes, with 'elem' bytes of an element. */
static int grid_shape(const struct h5ex_grid *g, const struct h5ex_part *p, uint64_t elem,
                      struct weir_shape *shape, struct weir_err *err)
{
    uint64_t bytes;

    shape->rank = g->dims;
    for (int d = 0; d < g->dims; d++)
        if (__builtin_mul_overflow(p->stride[d] * p->count[d], g->ranks[d], &shape->len[d]))
            return weir_refuse(err, WEIR_EUSAGE,
                               "dimension %d: the array has more than 2^64 elements", d + 1);
    return weir_shape_bytes(shape, elem, &bytes, err);
}

/* The slab of the task at this position; after the last task comes the first again. */
static void grid_slab(const struct h5ex_grid *g, const struct h5ex_part *p, uint64_t position,
                      struct weir_slab *out)
{
    uint64_t left = position % (uint64_t)g->tasks;

    out->rank = g->dims;
    for (int d = g->dims - 1; d >= 0; left /= g->ranks[d--]) {
        out->block[d] = p->block[d];
        out->stride[d] = p->stride[d];
        out->count[d] = p->count[d];
        out->start[d] = p->stride[d] * p->count[d] * (left % g->ranks[d]);
    }
}

static int spread(const struct weir_optlist *list, const char *name, int dims, uint64_t *out,
                  struct weir_err *err)
{
    return weir_optlist_spread(list, name, dims, "--numdims", out, err);
}

int h5ex_grid_make(const struct h5ex_options *o, int tasks, struct h5ex_grid *g,
                   struct weir_err *err)
{
    uint64_t ranks[WEIR_RANK_MAX];

    if (o->dims == 0)
        return weir_refuse(err, WEIR_EUSAGE, "option --numdims is missing: from 1 to %d dimensions",
                           WEIR_RANK_MAX);
    if (o->minels.n == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --minels is missing: the elements of a task in each dimension, "
                           "one number or %d",
                           o->dims);
    if (spread(&o->dimranks, "dimranks", o->dims, ranks, err) < 0)
        return -1;
    grid_make(g, o->dims, ranks, tasks);
    return 0;
}

/* The extents of this size: those of the first, multiplied as often as sizes came before. */
static int make_extents(const struct h5ex_options *o, int index, uint64_t *len,
                        struct weir_err *err)
{
    uint64_t factor[WEIR_RANK_MAX];

    if (spread(&o->minels, "minels", o->dims, len, err) < 0 ||
        spread(&o->bufmult, "bufmult", o->dims, factor, err) < 0)
        return -1;
    for (int d = 0; d < o->dims; d++)
        for (int i = 0; i < index && factor[d] > 1; i++)
            if (__builtin_mul_overflow(len[d], factor[d], &len[d]))
                return weir_refuse(
                    err, WEIR_EUSAGE,
                    "--minels times --bufmult is more than 2^64 elements in dimension %d", d + 1);
    return 0;
}

/* Blocks of the buffer, which has one dimension; without any each element is one. */
static int make_memory(const struct h5ex_options *o, struct h5ex_size *s, struct weir_err *err)
{
    uint64_t block = (uint64_t)o->mem_block, stride = (uint64_t)o->mem_stride;
    struct h5ex_part *m = &s->memory;

    s->mem_odd = block > 0 && s->file.elements % block != 0;
    if (block == 0 || s->mem_odd)
        block = stride = 1;
    if (part_make(m, 1, &s->file.elements, &block, &stride, NULL) < 0 ||
        m->stride[0] * m->count[0] > INT64_MAX / BYTES_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "the buffer of a rank is too large for this machine");
    s->buffer = m->stride[0] * m->count[0];
    return 0;
}

static int make_size(const struct h5ex_options *o, const struct h5ex_grid *g, int index,
                     struct h5ex_size *s, struct weir_err *err)
{
    uint64_t len[WEIR_RANK_MAX], block[WEIR_RANK_MAX], stride[WEIR_RANK_MAX];

    if (make_extents(o, index, len, err) < 0 ||
        spread(&o->fileblocks, "fileblocks", o->dims, block, err) < 0 ||
        spread(&o->filestrides, "filestrides", o->dims, stride, err) < 0 ||
        part_make(&s->file, o->dims, len, block, stride, err) < 0 ||
        part_make(&s->packed, o->dims, len, NULL, NULL, err) < 0 ||
        make_memory(o, s, err) < 0 ||
        grid_shape(g, &s->file, BYTES_MAX, &s->shape[H5EX_DOUBLES], err) < 0)
        return -1;
    return grid_shape(g, &s->packed, BYTES_MAX, &s->shape[H5EX_RECORDS], err);
}

int h5ex_size_make(const struct h5ex_options *o, const struct h5ex_grid *g, int index,
                   struct h5ex_size *s, struct weir_err *err)
{
    if (make_size(o, g, index, s, err) == 0)
        return 0;
    return index > 0 ? weir_err_within(err, "size %d of --nsizes", index + 1) : -1;
}

/* ---- the compound type ---- */

#define R struct h5ex_record
static const struct weir_member members[] = {
    { "total blocks", WEIR_ELEM_INT32, offsetof(R, blocks) },
    { "time", WEIR_ELEM_FLOAT64, offsetof(R, time) },
    { "timestep", WEIR_ELEM_FLOAT64, offsetof(R, timestep) },
    { "number of steps", WEIR_ELEM_INT32, offsetof(R, steps) },
    { "nxb", WEIR_ELEM_INT32, offsetof(R, nxb) },
    { "nyb", WEIR_ELEM_INT32, offsetof(R, nyb) },
    { "nzb", WEIR_ELEM_INT32, offsetof(R, nzb) },
};

static const struct weir_type types[H5EX_SETS] = {
    [H5EX_DOUBLES] = { .elem = WEIR_ELEM_FLOAT64 },
    [H5EX_RECORDS] = { .elem = WEIR_ELEM_COMPOUND,
                       .size = sizeof(R),
                       .members = members,
                       .count = sizeof(members) / sizeof(*members) },
};

static void make_record(void *element, uint64_t at, double value, int repetition)
{
    int32_t number = (int32_t)(at & INT32_MAX);

    *(R *)element = (R) { .blocks = number,
                       .steps = repetition,
                       .nxb = number ^ 1,
                       .nyb = number ^ 2,
                       .nzb = number ^ 4,
                       .time = value,
                       .timestep = -value };
}

static bool record_differs(const void *element, uint64_t at, double value, int repetition,
                           double *want, double *got)
{
    const R *have = element;
    R due;

    make_record(&due, at, value, repetition);
    const double pairs[][2] = { { due.blocks, have->blocks },    { due.steps, have->steps },
                                { due.nxb, have->nxb },          { due.nyb, have->nyb },
                                { due.nzb, have->nzb },          { due.time, have->time },
                                { due.timestep, have->timestep } };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (pairs[i][0] != pairs[i][1]) {
            *want = pairs[i][0];
            *got = pairs[i][1];
            return true;
        }
    return false;
}

void h5ex_set_make(const struct h5ex_options *o, const struct h5ex_grid *g,
                   const struct h5ex_size *s, enum h5ex_which which, int rank, struct h5ex_set *d)
{
    bool packed = which == H5EX_RECORDS;
    const struct h5ex_part *part = packed ? &s->packed : &s->file;
    uint64_t shift = (uint64_t)o->shift, first = (uint64_t)rank + (packed ? 0 : shift);
    struct h5ex_elements *c = &d->put;

    *d = (struct h5ex_set) { .which = which };
    d->spec.type = types[which];
    d->spec.shape = c->array = s->shape[which];
    d->spec.chunk.rank = o->chunked ? g->dims : 0;
    for (int k = 0; k < d->spec.chunk.rank; k++)
        d->spec.chunk.len[k] = part->block[k];
    c->size = weir_type_bytes(&d->spec.type);
    c->make = packed ? make_record : NULL;
    c->differs = packed ? record_differs : NULL;
    c->memory = (struct weir_shape) { .rank = 1, .len = { packed ? part->elements : s->buffer } };
    weir_slab_all(&c->in_memory, &c->memory);
    if (!packed && s->buffer > part->elements)
        grid_slab(&(struct h5ex_grid) { .dims = 1, .tasks = 1, .ranks = { 1 } }, &s->memory, 0,
                       &c->in_memory);
    d->get = *c;
    d->gaps = (struct weir_memory) { c->memory, c->in_memory };
    d->memory = h5ex_has_gaps(c) ? &d->gaps : NULL;
    grid_slab(g, part, first, &d->put.slab);
    grid_slab(g, part, first + shift, &d->get.slab);
}

/* ---- data that tell where they belong ---- */

#define MARK 0xff          /* bytes of what was not read; as a double: not a number */
#define FRACTIONS 1024     /* repetitions that can be told apart */
#define EXACT (1ull << 42) /* elements in an array for which a double has the fraction, too */
#define STEP 8             /* elements that are compared at once */

/* The number that is added to that of each element. */
static double offset_of(const struct h5ex_elements *c, int repetition)
{
    uint64_t elements = 0;

    if (weir_shape_bytes(&c->array, 1, &elements, NULL) < 0 || elements > EXACT)
        return 1;
    return 1 + (double)(repetition % FRACTIONS) / FRACTIONS;
}

/* The slab and its memory side by side. */
static void begin(const struct h5ex_elements *c, struct weir_pieces *p)
{
    struct weir_runs array, memory;

    weir_runs_begin(&array, &c->slab, &c->array);
    weir_runs_begin(&memory, &c->in_memory, &c->memory);
    weir_pieces_begin(p, &array, &memory);
}

static uint64_t length_of(const struct weir_shape *s)
{
    uint64_t n = 1;

    for (int d = 0; d < s->rank; d++)
        n *= s->len[d];
    return n;
}

bool h5ex_has_gaps(const struct h5ex_elements *c)
{
    const struct weir_slab *m = &c->in_memory;
    uint64_t elements = 1;

    for (int d = 0; d < m->rank; d++)
        elements *= m->count[d] * m->block[d];
    return elements != length_of(&c->memory);
}

void h5ex_fill(const struct h5ex_elements *c, int repetition)
{
    double add = offset_of(c, repetition);
    struct weir_pieces p;
    uint64_t at, to, n;

    if (h5ex_has_gaps(c))
        memset(c->buf, 0, length_of(&c->memory) * c->size);
    begin(c, &p);
    while (weir_pieces_next(&p, &at, &to, &n)) {
        double *v = (double *)c->buf + to;
        char *element = (char *)c->buf + to * c->size;

        for (uint64_t i = 0; !c->make && i < n; i++)
            v[i] = (double)(at + i) + add;
        for (uint64_t i = 0; c->make && i < n; i++)
            c->make(element + i * c->size, at + i, (double)(at + i) + add, repetition);
    }
}

void h5ex_invalidate(const struct h5ex_elements *c)
{
    memset(c->buf, MARK, length_of(&c->memory) * c->size);
}

static void note(struct h5ex_wrong *w, uint64_t at, double want, double got)
{
    if (w->n++ == 0)
        *w = (struct h5ex_wrong) { .n = 1, .at = at, .want = want, .got = got };
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

static void check_piece(const struct h5ex_elements *c, const char *element, uint64_t at, uint64_t n,
                        double add, int repetition, struct h5ex_wrong *w)
{
    double want, got;
    const double *v = (const double *)element;

    for (uint64_t i = 0; c->differs && i < n; i++)
        if (c->differs(element + i * c->size, at + i, (double)(at + i) + add, repetition, &want,
                       &got))
            note(w, at + i, want, got);
    for (uint64_t i = 0; !c->differs && (i += first_wrong(v + i, at + i, n - i, add)) < n; i++)
        note(w, at + i, (double)(at + i) + add, v[i]);
}

/* Bytes from element 'from' to element 'to' of memory were left alone. */
static void check_gap(const struct h5ex_elements *c, uint64_t from, uint64_t to,
                      struct h5ex_wrong *w)
{
    const unsigned char *bytes = c->buf;

    for (uint64_t i = from * c->size; i < to * c->size; i++)
        if (bytes[i] != MARK)
            note(w, UINT64_MAX, MARK, bytes[i]);
}

void h5ex_check(const struct h5ex_elements *c, int repetition, struct h5ex_wrong *wrong)
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
    check_gap(c, end, length_of(&c->memory), wrong);
}

void h5ex_describe_wrong(const struct h5ex_wrong *w, const struct weir_shape *array,
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
