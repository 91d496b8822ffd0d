/* SPDX-License-Identifier: BSD-3-Clause */
/* array-cases.h - the arrays that test_arrays.c makes: shapes, values, and where they are in memory */
#pragma once

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "backends/array.h"

#define PARTS 3u /* elements of a record of memory of which one is used */
#define CASES (sizeof(cases) / sizeof(cases[0]))

struct record {
    int32_t id;
    double value;
    int64_t tag;
    float small;
};

static const struct weir_member members[] = {
    { "id", WEIR_ELEM_INT32, offsetof(struct record, id) },
    { "value", WEIR_ELEM_FLOAT64, offsetof(struct record, value) },
    { "tag", WEIR_ELEM_INT64, offsetof(struct record, tag) },
    { "small", WEIR_ELEM_FLOAT32, offsetof(struct record, small) },
};

struct array_case {
    const char *name;
    enum weir_elem elem;
    struct weir_shape shape, chunk;
    bool grouped;
};

static const struct array_case cases[] = {
    { .name = "line", .elem = WEIR_ELEM_INT64, .shape = { 1, { 37 } } },
    { .name = "plane", .elem = WEIR_ELEM_FLOAT64, .shape = { 2, { 13, 7 } } },
    { .name = "cube", .elem = WEIR_ELEM_INT32, .shape = { 3, { 5, 6, 7 } } },
    { .name = "hyper", .elem = WEIR_ELEM_FLOAT32, .shape = { 4, { 3, 4, 5, 6 } } },
    { .name = "bytes", .elem = WEIR_ELEM_BYTE, .shape = { 2, { 9, 11 } } },
    { .name = "deep",
      .elem = WEIR_ELEM_FLOAT64,
      .shape = { 12, { 2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 2 } } },
    { .name = "records", .elem = WEIR_ELEM_COMPOUND, .shape = { 2, { 6, 5 } } },
    { .name = "chunked line",
      .elem = WEIR_ELEM_FLOAT64,
      .shape = { 1, { 41 } },
      .chunk = { 1, { 8 } } },
    { .name = "chunked plane",
      .elem = WEIR_ELEM_INT32,
      .shape = { 2, { 13, 7 } },
      .chunk = { 2, { 4, 3 } } },
    { .name = "chunked hyper",
      .elem = WEIR_ELEM_INT64,
      .shape = { 4, { 3, 4, 5, 6 } },
      .chunk = { 4, { 1, 4, 5, 6 } } },
    { .name = "group/plane", .elem = WEIR_ELEM_FLOAT64, .shape = { 2, { 8, 9 } }, .grouped = true },
};

/* Where elements are in memory. */
enum layout { IN_ONE_PIECE, STRIDED, MEMBER, LAYOUTS };

static const char *const layout_names[] = { "in one piece", "strided", "a member of records" };

static struct weir_array_spec spec_of(const struct array_case *c)
{
    struct weir_array_spec spec = { .type = { .elem = c->elem },
                                    .shape = c->shape,
                                    .chunk = c->chunk };

    if (c->elem == WEIR_ELEM_COMPOUND) {
        spec.type.size = sizeof(struct record);
        spec.type.members = members;
        spec.type.count = (int)(sizeof(members) / sizeof(members[0]));
    }
    return spec;
}

static int64_t value_at(size_t k, uint64_t i)
{
    int64_t v = (int64_t)(i * 7919 + k * 31);

    return cases[k].elem == WEIR_ELEM_BYTE ? v % 127 : v;
}

static void store(enum weir_elem elem, unsigned char *at, int64_t v)
{
    struct record r;

    memset(&r, 0, sizeof(r));
    r = (struct record) { .id = (int32_t)v, .value = (double)v, .tag = v, .small = (float)v };
    switch (elem) {
    case WEIR_ELEM_BYTE:
        *at = (unsigned char)v;
        break;
    case WEIR_ELEM_INT32:
        memcpy(at, &r.id, sizeof(r.id));
        break;
    case WEIR_ELEM_INT64:
        memcpy(at, &r.tag, sizeof(r.tag));
        break;
    case WEIR_ELEM_FLOAT32:
        memcpy(at, &r.small, sizeof(r.small));
        break;
    case WEIR_ELEM_FLOAT64:
        memcpy(at, &r.value, sizeof(r.value));
        break;
    default: /* a record, member by member: what its gaps hold is nobody's business */
        memcpy(at + offsetof(struct record, id), &r.id, sizeof(r.id));
        memcpy(at + offsetof(struct record, value), &r.value, sizeof(r.value));
        memcpy(at + offsetof(struct record, tag), &r.tag, sizeof(r.tag));
        memcpy(at + offsetof(struct record, small), &r.small, sizeof(r.small));
        break;
    }
}

/* Memory for the elements of a slab, as the layout says. *mem is made for STRIDED and MEMBER. Every byte
 * is 0x5a. The caller frees it. */
static unsigned char *make_memory(const struct weir_slab *slab, enum layout layout, uint64_t elem,
                                  struct weir_memory *mem, uint64_t *bytes)
{
    unsigned char *buf;
    uint64_t n = 1;

    mem->shape.rank = slab->rank;
    for (int d = 0; d < slab->rank; d++) {
        mem->shape.len[d] = slab->count[d] * slab->block[d] + (layout == STRIDED ? 2 : 0);
        n *= slab->count[d];
    }
    weir_slab_all(&mem->slab, &mem->shape);
    for (int d = 0; d < slab->rank && layout == STRIDED; d++) {
        mem->slab.start[d] = 1;
        mem->slab.count[d] = slab->count[d] * slab->block[d];
    }
    if (layout == MEMBER) { /* of each record number 1 of its elements */
        int d = mem->slab.rank++;

        mem->shape.len[mem->shape.rank++] = PARTS;
        mem->slab.start[d] = mem->slab.count[d] = mem->slab.stride[d] = mem->slab.block[d] = 1;
    }
    if (weir_shape_bytes(&mem->shape, elem, bytes, NULL) < 0 || n == 0)
        *bytes = 0;
    buf = malloc(*bytes + elem);
    if (!buf)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(buf, 0x5a, *bytes);
    return buf;
}

/* Put the values of array k into memory. */
static void fill(size_t k, const struct weir_slab *slab, const struct weir_memory *mem,
                 uint64_t elem, unsigned char *buf)
{
    struct weir_runs a, b;
    struct weir_pieces p;
    uint64_t at, from, n;

    weir_runs_begin(&a, slab, &cases[k].shape);
    weir_runs_begin(&b, &mem->slab, &mem->shape);
    weir_pieces_begin(&p, &a, &b);
    while (weir_pieces_next(&p, &at, &from, &n))
        for (uint64_t i = 0; i < n; i++)
            store(cases[k].elem, buf + (from + i) * elem, value_at(k, at + i));
}

/* The members of records only. */
static void blank_gaps(enum weir_elem elem, unsigned char *buf, uint64_t bytes)
{
    for (uint64_t i = 0; elem == WEIR_ELEM_COMPOUND && i + sizeof(struct record) <= bytes;
         i += sizeof(struct record)) {
        memset(buf + i + sizeof(int32_t), 0, offsetof(struct record, value) - sizeof(int32_t));
        memset(buf + i + offsetof(struct record, small) + sizeof(float), 0,
               sizeof(struct record) - offsetof(struct record, small) - sizeof(float));
    }
}
