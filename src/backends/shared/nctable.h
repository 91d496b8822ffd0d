/* SPDX-License-Identifier: BSD-3-Clause */
/* nctable.h - what netCDF-C and PnetCDF have in common: types, dimensions, attributes, through a
 * table of their calls */
#ifndef WEIR_BACKENDS_SHARED_NCTABLE_H
#define WEIR_BACKENDS_SHARED_NCTABLE_H

#include "backends/array.h"

/* The calls of a library, and its words for errors. Types are nc_type, which is int in both. */
struct weir_nc_calls {
    const char *prefix; /* of their names: "nc_" */
    int (*inq_varid)(int nc, const char *name, int *id);
    int (*inq_varndims)(int nc, int id, int *rank);
    int (*inq_var)(int nc, int id, char *name, int *type, int *rank, int *dims, int *attrs);
    int (*inq_dimlen)(int nc, int dim, uint64_t *len);
    int (*inq_dimid)(int nc, const char *name, int *id);
    int (*def_dim)(int nc, const char *name, uint64_t len, int *id);
    bool fastest_first; /* in which order dimensions are made */
    int (*inq_att)(int nc, int id, const char *name, int *type, uint64_t *count);
    int (*get_att)(int nc, int id, const char *name, void *data);
    int (*fail)(struct weir_err *err, int rc, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
};

/* The number of a type in these libraries, 0 (NC_NAT): there is none. Local. */
int weir_nc_type_of(enum weir_elem elem);

/* The number of the variable of this array, with its type and shape, as find of struct
 * weir_array_ops. Local. */
int weir_nc_find_var(const struct weir_nc_calls *c, int nc, const struct weir_array *a, int *id,
                     struct weir_array_spec *have, struct weir_err *err);

/* The dimensions of a new array, which arrays of a file share by their names: those that spec
 * gives, else "n<length>". Local. Returns 0, or -1 and err. */
int weir_nc_make_dims(const struct weir_nc_calls *c, int nc, const struct weir_array_spec *spec,
                      int dim[WEIR_RANK_MAX], struct weir_err *err);

/* The number of a variable, or that of the file itself for "/". Local. */
int weir_nc_find_object(const struct weir_nc_calls *c, int nc, const char *object, int *id,
                        struct weir_err *err);

/* As get_attr of struct weir_array_ops. Local. */
int weir_nc_get_attr(const struct weir_nc_calls *c, int nc, const char *object,
                     const struct weir_attr *attr, struct weir_err *err);

#endif
