/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-attr.c - the library's calls about variables, and attributes of the file and of
 * variables */
#include "backends/ncmpi/ncmpi-array.h"
#include "config.h"

MPI_Datatype ncmpi_basic_of(enum weir_elem elem)
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

static int inq_dimlen(int nc, int dim, uint64_t *len)
{
    MPI_Offset n = 0;
    int rc = ncmpi_inq_dimlen(nc, dim, &n);

    *len = (uint64_t)n;
    return rc;
}

static int def_dim(int nc, const char *name, uint64_t len, int *id)
{
    return ncmpi_def_dim(nc, name, (MPI_Offset)len, id);
}

static int inq_att(int nc, int id, const char *name, int *type, uint64_t *count)
{
    MPI_Offset n = 0;
    int rc = ncmpi_inq_att(nc, id, name, type, &n);

    *count = (uint64_t)n;
    return rc;
}

const struct weir_nc_calls ncmpi_calls = { .prefix = "ncmpi_",
                                           .inq_varid = ncmpi_inq_varid,
                                           .inq_varndims = ncmpi_inq_varndims,
                                           .inq_var = ncmpi_inq_var,
                                           .inq_dimlen = inq_dimlen,
                                           .inq_dimid = ncmpi_inq_dimid,
                                           .def_dim = def_dim,
                                           .inq_att = inq_att,
                                           .get_att = ncmpi_get_att,
                                           .fail = ncmpi_fail };

/* ---- attributes ---- */

int ncmpi_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                   struct weir_err *err)
{
    struct ncmpi_file *f = &((struct ncmpi_arrays *)base)->f;
    nc_type type = weir_nc_type_of(attr->elem);
    int rc, id;

    if (weir_nc_find_object(&ncmpi_calls, f->nc, object, &id, err) < 0 ||
        ncmpi_file_define(f, err) < 0)
        return -1;
    rc = attr->elem == WEIR_ELEM_TEXT
             ? ncmpi_put_att_text(f->nc, id, attr->name, (MPI_Offset)attr->count, attr->data)
             : ncmpi_put_att(f->nc, id, attr->name, type, (MPI_Offset)attr->count, attr->data);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_put_att") : 0;
}

int ncmpi_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                   struct weir_err *err)
{
    return weir_nc_get_attr(&ncmpi_calls, ((struct ncmpi_arrays *)base)->f.nc, object, attr, err);
}
