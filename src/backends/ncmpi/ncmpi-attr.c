/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-attr.c - types of netCDF, and attributes of the file and of variables */
#include "config.h"
#include "backends/ncmpi/ncmpi-array.h"

#include <errno.h>
#include <string.h>

#include "backends/ncmpi/ncmpi-var.h"
#include "par/mpisession.h"

struct type_row {
    enum weir_elem elem;
    nc_type type;
};

static const struct type_row types[] = {
    { WEIR_ELEM_BYTE, NC_BYTE },      { WEIR_ELEM_INT32, NC_INT },
    { WEIR_ELEM_INT64, NC_INT64 },    { WEIR_ELEM_FLOAT32, NC_FLOAT },
    { WEIR_ELEM_FLOAT64, NC_DOUBLE }, { WEIR_ELEM_TEXT, NC_CHAR },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static MPI_Datatype basic_of(enum weir_elem elem)
{
    switch (elem) {
    case WEIR_ELEM_BYTE:
        return MPI_SIGNED_CHAR;
    case WEIR_ELEM_INT32:
        return MPI_INT;
    case WEIR_ELEM_INT64:
        return MPI_LONG_LONG;
    case WEIR_ELEM_FLOAT32:
        return MPI_FLOAT;
    case WEIR_ELEM_FLOAT64:
        return MPI_DOUBLE;
    default:
        return MPI_CHAR;
    }
}

nc_type ncmpi_type_of(enum weir_elem elem, MPI_Datatype *basic)
{
    *basic = basic_of(elem);
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].elem == elem)
            return types[i].type;
    return NC_NAT;
}

enum weir_elem ncmpi_elem_of(nc_type type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].elem;
    return WEIR_ELEMS;
}

/* ---- attributes ---- */

static int find_object(const struct ncmpi_arrays *f, const char *object, int *id,
                       struct weir_err *err)
{
    int rc = NC_NOERR;

    *id = NC_GLOBAL;
    if (strcmp(object, "/") != 0)
        rc = ncmpi_inq_varid(f->nc, object, id);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_inq_varid") : 0;
}

int ncmpi_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                   struct weir_err *err)
{
    struct ncmpi_arrays *f = (struct ncmpi_arrays *)base;
    MPI_Datatype basic;
    nc_type type = ncmpi_type_of(attr->elem, &basic);
    int rc, id;

    if (find_object(f, object, &id, err) < 0 || ncmpi_redefine(f, err) < 0)
        return -1;
    rc = attr->elem == WEIR_ELEM_TEXT
             ? ncmpi_put_att_text(f->nc, id, attr->name, (MPI_Offset)attr->count, attr->data)
             : ncmpi_put_att(f->nc, id, attr->name, type, (MPI_Offset)attr->count, attr->data);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_put_att") : 0;
}

int ncmpi_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                   struct weir_err *err)
{
    const struct ncmpi_arrays *f = (const struct ncmpi_arrays *)base;
    MPI_Offset count = 0;
    nc_type type = NC_NAT;
    int rc, id;

    if (find_object(f, object, &id, err) < 0)
        return -1;
    rc = ncmpi_inq_att(f->nc, id, attr->name, &type, &count);
    if (rc != NC_NOERR)
        return ncmpi_fail(err, rc, "ncmpi_inq_att");
    if (ncmpi_elem_of(type) != attr->elem || (uint64_t)count != attr->count)
        return weir_refuse(err, WEIR_EIO, "it is not %llu elements of type %s",
                           (unsigned long long)attr->count, weir_elem_name(attr->elem));
    rc = count > 0 ? ncmpi_get_att(f->nc, id, attr->name, attr->data) : NC_NOERR;
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_get_att") : 0;
}
