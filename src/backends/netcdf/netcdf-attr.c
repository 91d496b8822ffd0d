/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-attr.c - the library's calls about variables, and attributes of the file and of
 * variables */
#include "backends/netcdf/netcdf-array.h"
#include "config.h"

static int inq_dimlen(int nc, int dim, uint64_t *len)
{
    size_t n = 0;
    int rc = nc_inq_dimlen(nc, dim, &n);

    *len = (uint64_t)n;
    return rc;
}

static int def_dim(int nc, const char *name, uint64_t len, int *id)
{
    return nc_def_dim(nc, name, (size_t)len, id);
}

static int inq_att(int nc, int id, const char *name, int *type, uint64_t *count)
{
    size_t n = 0;
    int rc = nc_inq_att(nc, id, name, type, &n);

    *count = (uint64_t)n;
    return rc;
}

const struct weir_nc_calls netcdf_calls = { .prefix = "nc_",
                                            .inq_varid = nc_inq_varid,
                                            .inq_varndims = nc_inq_varndims,
                                            .inq_var = nc_inq_var,
                                            .inq_dimlen = inq_dimlen,
                                            .inq_dimid = nc_inq_dimid,
                                            .def_dim = def_dim,
                                            .fastest_first = true,
                                            .inq_att = inq_att,
                                            .get_att = nc_get_att,
                                            .fail = netcdf_fail };

/* ---- attributes ---- */

int netcdf_put_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    struct netcdf_file *f = &((struct netcdf_arrays *)base)->f;
    int rc, id;

    if (weir_nc_find_object(&netcdf_calls, f->nc, object, &id, err) < 0 ||
        netcdf_file_define(f, err) < 0)
        return -1;
    rc = nc_put_att(f->nc, id, attr->name, weir_nc_type_of(attr->elem), (size_t)attr->count,
                    attr->data);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_put_att") : 0;
}

int netcdf_get_attr(struct weir_array_file *base, const char *object, const struct weir_attr *attr,
                    struct weir_err *err)
{
    return weir_nc_get_attr(&netcdf_calls, ((struct netcdf_arrays *)base)->f.nc, object, attr, err);
}
