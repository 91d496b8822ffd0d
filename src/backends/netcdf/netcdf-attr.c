/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-attr.c - types of netCDF, and attributes of the file and of variables */
#include "config.h"
#include "backends/netcdf/netcdf-array.h"

#include <errno.h>
#include <string.h>

#include "par/mpifile.h"

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

nc_type netcdf_type_of(enum weir_elem elem)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].elem == elem)
            return types[i].type;
    return NC_NAT;
}

enum weir_elem netcdf_elem_of(nc_type type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].elem;
    return WEIR_ELEMS;
}

/* ---- attributes ---- */

static int find_object(const struct netcdf_file *f, const char *object, int *id,
                       struct weir_err *err)
{
    int rc = NC_NOERR;

    errno = 0;
    *id = NC_GLOBAL;
    if (strcmp(object, "/") != 0)
        rc = nc_inq_varid(f->nc, object, id);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_inq_varid") : 0;
}

int netcdf_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    struct netcdf_file *f = &((struct netcdf_arrays *)base)->f;
    int rc, id;

    if (find_object(f, object, &id, err) < 0 || netcdf_file_define(f, err) < 0)
        return -1;
    rc = nc_put_att(f->nc, id, attr->name, netcdf_type_of(attr->elem), (size_t)attr->count,
                    attr->data);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_put_att") : 0;
}

int netcdf_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    const struct netcdf_file *f = &((struct netcdf_arrays *)base)->f;
    size_t count = 0;
    nc_type type = NC_NAT;
    int rc, id;

    if (find_object(f, object, &id, err) < 0)
        return -1;
    rc = nc_inq_att(f->nc, id, attr->name, &type, &count);
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc, "nc_inq_att");
    if (netcdf_elem_of(type) != attr->elem || (uint64_t)count != attr->count)
        return weir_refuse(err, WEIR_EIO, "it is not %llu elements of type %s",
                           (unsigned long long)attr->count, weir_elem_name(attr->elem));
    rc = count > 0 ? nc_get_att(f->nc, id, attr->name, attr->data) : NC_NOERR;
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_get_att") : 0;
}
