/* SPDX-License-Identifier: BSD-3-Clause */
/* nctable.c - what netCDF-C and PnetCDF have in common */
#include "backends/shared/nctable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GLOBAL (-1) /* NC_GLOBAL */
#define NAME_TEXT 24 /* "n" and 64 bits */

/* The formats number their types. */
static const int types[WEIR_ELEMS] = {
    [WEIR_ELEM_BYTE] = 1,    [WEIR_ELEM_INT32] = 4,   [WEIR_ELEM_INT64] = 10,
    [WEIR_ELEM_FLOAT32] = 5, [WEIR_ELEM_FLOAT64] = 6,
};

int weir_nc_type_of(enum weir_elem elem)
{
    return types[elem];
}

static const struct weir_nc_library *library_of(const struct weir_array_file *f)
{
    return (const struct weir_nc_library *)f->s->be->array;
}

/* The type with a number, WEIR_ELEMS: one that weir does not use. */
static enum weir_elem elem_of(int type)
{
    for (enum weir_elem e = 0; e < WEIR_ELEMS; e++)
        if (types[e] == type && type != 0)
            return e;
    return WEIR_ELEMS;
}

/* Type and shape of variable 'id'. */
static int read_spec(const struct weir_nc_library *c, int nc, int id, struct weir_array_spec *have,
                     struct weir_err *err)
{
    int dim[WEIR_RANK_MAX], rank = 0, type = 0, rc;

    errno = 0;
    rc = c->inq_varndims(nc, id, &rank);
    if (rc == 0 && (rank < 1 || rank > WEIR_RANK_MAX))
        return weir_refuse(err, WEIR_EIO, "it has %d dimensions: there may be 1 to %d", rank,
                           WEIR_RANK_MAX);
    if (rc == 0)
        rc = c->inq_var(nc, id, NULL, &type, NULL, dim, NULL);
    for (int d = 0; d < rank && rc == 0; d++)
        rc = c->inq_dimlen(nc, dim[d], &have->shape.len[d]);
    if (rc != 0)
        return c->fail(err, rc, "type and shape");
    have->shape.rank = rank;
    have->type = (struct weir_type) { .elem = elem_of(type) };
    if (have->type.elem >= WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EIO, "its type is not supported");
    return 0;
}

int weir_nc_find(struct weir_array *a, struct weir_array_spec *have, struct weir_err *err)
{
    const struct weir_nc_library *c = library_of(a->file);
    int nc = c->number_of(a->file), *id = &((struct weir_nc_array *)a)->id, rc;

    errno = 0;
    weir_timed_begin(a->file->s);
    rc = c->inq_varid(nc, a->name, id);
    weir_timed_end(a->file->s);
    return rc != 0 ? c->fail(err, rc, "%sinq_varid", c->prefix) : read_spec(c, nc, *id, have, err);
}

/* Define mode is not entered again: programs make all of a file before they write its data. */
static int check_define(const struct weir_nc_library *c, struct weir_array_file *f,
                        struct weir_err *err)
{
    return c->can_define(f) ? 0
                            : weir_refuse(err, WEIR_EUSAGE,
                                          "the file has its variables and attributes already");
}

static int make_dim(const struct weir_nc_library *c, int nc, const char *name, uint64_t len,
                    int *id, struct weir_err *err)
{
    uint64_t have = len;
    int rc = c->inq_dimid(nc, name, id) != 0 ? c->def_dim(nc, name, len, id)
                                             : c->inq_dimlen(nc, *id, &have);

    if (rc != 0)
        return c->fail(err, rc, "dimension '%s'", name);
    if (have == len)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "the file has a dimension '%s' of %" PRIu64 " elements, but this test needs "
                       "%" PRIu64, name, have, len);
}

static int make_dims(const struct weir_nc_library *c, int nc, const struct weir_array_spec *spec,
                     int dim[WEIR_RANK_MAX], struct weir_err *err)
{
    int rank = spec->shape.rank;
    char text[NAME_TEXT];

    errno = 0;
    for (int i = 0; i < rank; i++) {
        int d = c->fastest_first ? rank - 1 - i : i; /* as Fortran has it */
        const char *name = spec->dims ? spec->dims[d] : text;

        snprintf(text, sizeof(text), "n%" PRIu64, spec->shape.len[d]); /* fits */
        if (make_dim(c, nc, name, spec->shape.len[d], &dim[d], err) < 0)
            return -1;
    }
    return 0;
}

int weir_nc_make(struct weir_array *a, struct weir_err *err)
{
    const struct weir_nc_library *c = library_of(a->file);
    int dim[WEIR_RANK_MAX], rc;

    if (check_define(c, a->file, err) < 0 ||
        make_dims(c, c->number_of(a->file), &a->spec, dim, err) < 0)
        return -1;
    weir_timed_begin(a->file->s);
    rc = c->def_var(a, dim);
    weir_timed_end(a->file->s);
    return rc != 0 ? c->fail(err, rc, "%sdef_var", c->prefix) : 0;
}

static int get_attr(const struct weir_nc_library *c, int nc, const struct weir_attr *attr,
                    struct weir_err *err)
{
    uint64_t count = 0;
    int type = 0, rc = c->inq_att(nc, GLOBAL, attr->name, &type, &count);

    if (rc != 0)
        return c->fail(err, rc, "%sinq_att", c->prefix);
    if (elem_of(type) != attr->elem || count != attr->count)
        return weir_refuse(err, WEIR_EIO, "it does not have %llu elements of type %s",
                           (unsigned long long)attr->count, weir_elem_name(attr->elem));
    rc = c->get_att(nc, GLOBAL, attr->name, attr->data);
    return rc != 0 ? c->fail(err, rc, "%sget_att", c->prefix) : 0;
}

int weir_nc_move_attr(struct weir_array_file *f, enum weir_dir dir, const char *object,
                      const struct weir_attr *attr, struct weir_err *err)
{
    const struct weir_nc_library *c = library_of(f);
    int rc, nc = c->number_of(f);

    errno = 0;
    if (dir == WEIR_DIR_READ)
        return get_attr(c, nc, attr, err);
    if (check_define(c, f, err) < 0)
        return -1;
    rc = c->put_att(nc, GLOBAL, attr);
    return rc != 0 ? c->fail(err, rc, "%sput_att", c->prefix) : 0;
}
