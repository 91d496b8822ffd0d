/* SPDX-License-Identifier: BSD-3-Clause */
/* array.c - what arrays are made of: types, shapes and chunks that make sense, places in a plain
 * file */
#include "backends/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct elem_row {
    const char *name;
    uint64_t size;
};

static const struct elem_row elems[WEIR_ELEMS] = {
    [WEIR_ELEM_BYTE] = { "byte", 1 },         [WEIR_ELEM_INT32] = { "int32", 4 },
    [WEIR_ELEM_INT64] = { "int64", 8 },       [WEIR_ELEM_FLOAT32] = { "float32", 4 },
    [WEIR_ELEM_FLOAT64] = { "float64", 8 },   [WEIR_ELEM_COMPOUND] = { "compound", 0 },
};

static bool is_elem(enum weir_elem elem)
{
    return (unsigned)elem < WEIR_ELEMS;
}

const char *weir_elem_name(enum weir_elem elem)
{
    return is_elem(elem) ? elems[elem].name : "unknown";
}

uint64_t weir_type_bytes(const struct weir_type *type)
{
    if (type->elem == WEIR_ELEM_COMPOUND)
        return type->size;
    return is_elem(type->elem) ? elems[type->elem].size : 0;
}

/* ---- soundness ---- */

static bool overlap(const struct weir_member *a, const struct weir_member *b)
{
    return a->at < b->at + elems[b->elem].size && b->at < a->at + elems[a->elem].size;
}

static int check_member(const struct weir_type *t, int i, struct weir_err *err)
{
    const struct weir_member *m = &t->members[i];

    if (!m->name || !*m->name || !is_elem(m->elem) || m->elem >= WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE, "member %d of the compound type %s", i + 1,
                           m->name && *m->name ? "is not of a simple type" : "has no name");
    if (m->at > t->size || elems[m->elem].size > t->size - m->at)
        return weir_refuse(err, WEIR_EUSAGE, "member '%s' does not fit into a record of %zu bytes",
                           m->name, t->size);
    for (int k = 0; k < i; k++)
        if (strcmp(t->members[k].name, m->name) == 0 || overlap(&t->members[k], m))
            return weir_refuse(err, WEIR_EUSAGE,
                               "members '%s' and '%s' have the same name or overlap",
                               t->members[k].name, m->name);
    return 0;
}

static int check_type(const struct weir_type *t, struct weir_err *err)
{
    if (!is_elem(t->elem))
        return weir_refuse(err, WEIR_EUSAGE, "an array cannot have elements of type %s",
                           weir_elem_name(t->elem));
    if (t->elem != WEIR_ELEM_COMPOUND && t->size != 0 && t->size != elems[t->elem].size)
        return weir_refuse(err, WEIR_EUSAGE, "an element of type %s has %" PRIu64 " bytes, not %zu",
                           weir_elem_name(t->elem), elems[t->elem].size, t->size);
    if (t->elem != WEIR_ELEM_COMPOUND)
        return 0;
    if (t->size == 0 || t->count < 1 || !t->members)
        return weir_refuse(err, WEIR_EUSAGE, "a compound type needs a size and members");
    for (int i = 0; i < t->count; i++)
        if (check_member(t, i, err) < 0)
            return -1;
    return 0;
}

static int check_chunk(const struct weir_array_spec *spec, struct weir_err *err)
{
    const struct weir_shape *chunk = &spec->chunk;

    if (chunk->rank == 0)
        return 0;
    if (chunk->rank != spec->shape.rank)
        return weir_refuse(err, WEIR_EUSAGE, "chunks of %d dimensions in an array of %d",
                           chunk->rank, spec->shape.rank);
    for (int d = 0; d < chunk->rank; d++)
        if (chunk->len[d] < 1 || chunk->len[d] > spec->shape.len[d])
            return weir_refuse(err, WEIR_EUSAGE,
                               "dimension %d: chunks of %" PRIu64
                               " elements (there may be 1 to %" PRIu64 ")",
                               d + 1, chunk->len[d], spec->shape.len[d]);
    return 0;
}

int weir_array_spec_check(const struct weir_array_spec *spec, struct weir_err *err)
{
    const struct weir_shape *shape = &spec->shape;
    uint64_t bytes;

    if (shape->rank < 1 || shape->rank > WEIR_RANK_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "an array of %d dimensions: there may be 1 to %d",
                           shape->rank, WEIR_RANK_MAX);
    if (check_type(&spec->type, err) < 0)
        return -1;
    for (int d = 0; d < shape->rank; d++)
        if (shape->len[d] == 0)
            return weir_refuse(err, WEIR_EUSAGE, "dimension %d of the array has no element", d + 1);
    if (weir_shape_bytes(shape, weir_type_bytes(&spec->type), &bytes, err) < 0)
        return -1;
    return check_chunk(spec, err);
}

/* ---- memory ---- */

void *weir_piece(size_t len, size_t least, const char *name, char **copy, struct weir_err *err)
{
    size_t head = len > least ? len : least;
    size_t name_len = strlen(name) + 1;
    char *piece = calloc(1, head + name_len);

    if (!piece) {
        weir_fail(err, WEIR_ESETUP, "memory to open '%s'", name);
        return NULL;
    }
    *copy = memcpy(piece + head, name, name_len);
    return piece;
}

void weir_array_file_free(struct weir_array_file *f)
{
    while (f && f->first) {
        struct weir_array *a = f->first;

        f->first = a->next;
        free(a);
    }
    free(f);
}

/* ---- the same? ---- */

static void add_spec(struct weir_str *out, const struct weir_array_spec *spec)
{
    weir_str_addf(out, "%s", weir_elem_name(spec->type.elem));
    for (int d = 0; d < spec->shape.rank; d++)
        weir_str_addf(out, "%s%" PRIu64, d ? "," : " ", spec->shape.len[d]);
}

int weir_array_spec_match(const struct weir_array_spec *have, const struct weir_array_spec *want,
                          struct weir_err *err)
{
    bool same = have->shape.rank == want->shape.rank && have->type.elem == want->type.elem &&
                weir_type_bytes(&have->type) == weir_type_bytes(&want->type);
    struct weir_str words = { 0 };

    for (int d = 0; same && d < want->shape.rank; d++)
        same = have->shape.len[d] == want->shape.len[d];
    if (same)
        return 0;
    weir_str_addf(&words, "it is ");
    add_spec(&words, have);
    weir_str_addf(&words, ", but this test needs ");
    add_spec(&words, want);
    weir_refuse(err, WEIR_EIO, "%s", weir_str_words(&words));
    weir_str_free(&words);
    return -1;
}

/* ---- plain files ---- */

/* The array of the same name that the file had before, or NULL. */
static const struct weir_array *earlier(const struct weir_array *a)
{
    const struct weir_array *other = a->file->first;

    while (other && (other == a || strcmp(other->name, a->name) != 0))
        other = other->next;
    return other;
}

static int place_next(struct weir_array *a, uint64_t bytes, struct weir_err *err)
{
    struct weir_array_file *f = a->file;
    uint64_t most = INT64_MAX;

    if (f->next_at <= most - WEIR_ARRAY_ALIGN)
        a->at = (f->next_at + WEIR_ARRAY_ALIGN - 1) / WEIR_ARRAY_ALIGN * WEIR_ARRAY_ALIGN;
    if (f->next_at > most - WEIR_ARRAY_ALIGN || bytes > most - a->at)
        return weir_refuse(err, WEIR_EUSAGE, "the file would be longer than 2^63 - 1 bytes");
    f->next_at = a->at + bytes;
    return 0;
}

static int place(struct weir_array *a, bool makes, struct weir_err *err)
{
    const struct weir_array *before = earlier(a);
    uint64_t bytes;

    if (makes && before)
        return weir_refuse(err, WEIR_EUSAGE, "the file has an array of this name already");
    if (before) {
        a->at = before->at;
        return weir_array_spec_match(&before->spec, &a->spec, err);
    }
    if (!makes && a->file->made > 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "files of %s do not store the offsets of arrays: open existing arrays "
                           "in their order, before new ones are created",
                           a->file->s->be->name);
    return weir_shape_bytes(&a->spec.shape, a->elem, &bytes, err) < 0 ? -1
                                                                      : place_next(a, bytes, err);
}

int weir_plain_array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                           struct weir_err *err)
{
    if (spec->chunk.rank > 0)
        return weir_refuse(err, WEIR_EUSAGE, "%s cannot store arrays in chunks", s->be->name);
    return 0;
}

int weir_plain_array_make(struct weir_array *a, struct weir_err *err)
{
    return place(a, true, err);
}

int weir_plain_array_find(struct weir_array *a, uint64_t size, struct weir_err *err)
{
    uint64_t bytes = 0;

    if (place(a, false, err) < 0 || weir_shape_bytes(&a->spec.shape, a->elem, &bytes, err) < 0)
        return -1;
    if (size < a->at + bytes)
        return weir_refuse(err, WEIR_EIO,
                           "the file has %" PRIu64 " bytes, the array would end at %" PRIu64, size,
                           a->at + bytes);
    return 0;
}
