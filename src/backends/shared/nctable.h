/* SPDX-License-Identifier: BSD-3-Clause */
/* nctable.h - variables, dimensions and attributes of netCDF-C and PnetCDF by a table of calls */
#pragma once

#include "backends/array.h"

/* First member of an open array of these backends. */
struct weir_nc_array {
    struct weir_array base;
    int id; /* of the variable */
};

/* A library: its calls, and its words for errors. Types are nc_type, which is int in both. */
struct weir_nc_library {
    struct weir_array_ops ops; /* first: 'array' of struct weir_backend points to it */
    const char *prefix;        /* of the names of calls: "nc_" */
    int (*number_of)(struct weir_array_file *); /* of an open file */
    bool (*can_define)(struct weir_array_file *); /* it is new, and in define mode */
    int (*def_var)(struct weir_array *, const int *dim); /* sets the id; returns that of the call */
    int (*put_att)(int nc, int id, const struct weir_attr *);
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

/* As make and move_attr of struct weir_array_ops, without groups; find: the id of a variable, and
 * its type and shape. Arrays of a file share dimensions by their names: those that the spec gives,
 * else "n<length>". */
int weir_nc_make(struct weir_array *a, struct weir_err *err);
int weir_nc_find(struct weir_array *a, struct weir_array_spec *have, struct weir_err *err);
int weir_nc_move_attr(struct weir_array_file *f, enum weir_dir dir, const char *object,
                      const struct weir_attr *attr, struct weir_err *err);
