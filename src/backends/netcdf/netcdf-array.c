/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-array.c - arrays are variables of a file; a slab is moved in one call or in several */
#include "backends/netcdf/netcdf-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/shared/mpishow.h"

#define CHUNK_BYTES_MAX 4294967295u /* of HDF5 */

/* A slab whose blocks have gaps takes several calls of the library, which knows only start, count
 * and stride: one for each block of the dimensions with gaps. */
struct netcdf_array {
    struct weir_nc_array nc;
    uint64_t calls;                                      /* for what is selected */
    size_t start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK]; /* of the first call */
    ptrdiff_t stride[WEIR_SLAB_RANK];
    unsigned char *packed; /* the elements in one piece, where the buffer is not */
    unsigned char *call;   /* those of one call, where there are several */
};

static struct netcdf_file *file_of(struct weir_array_file *base)
{
    return (struct netcdf_file *)base;
}

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    uint64_t bytes;

    if (spec->type.elem == WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE, "NETCDF cannot store elements of a compound type");
    if (spec->chunk.rank > 0 &&
        (weir_shape_bytes(&spec->chunk, weir_type_bytes(&spec->type), &bytes, err) < 0 ||
         bytes > CHUNK_BYTES_MAX))
        return weir_refuse(err, WEIR_EUSAGE, "netCDF-4 allows chunks of at most %u bytes",
                           CHUNK_BYTES_MAX);
    return 0;
}

/* ---- the library's calls about variables ---- */

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

static int number_of(struct weir_array_file *base)
{
    return file_of(base)->nc;
}

static int put_att(int nc, int id, const struct weir_attr *attr)
{
    return nc_put_att(nc, id, attr->name, weir_nc_type_of(attr->elem), (size_t)attr->count,
                      attr->data);
}

/* ---- arrays ---- */

/* The library knows how a new variable is accessed only when it is in the file. */
static int array_commit(struct weir_array_file *base, struct weir_err *err)
{
    struct netcdf_file *f = file_of(base);
    int rc = netcdf_file_defined(f, err);

    if (weir_mpi_agree(f->comm, rc < 0 || f->failed ? -1 : 0) < 0)
        return rc;
    for (const struct weir_array *a = base->first; a && rc == 0; a = a->next)
        if (a->is_open)
            rc = netcdf_file_access(f, ((const struct weir_nc_array *)a)->id, err);
    return rc;
}

static int def_var(struct weir_array *base, const int *dim)
{
    const struct weir_array_spec *spec = &base->spec;
    struct weir_nc_array *a = (struct weir_nc_array *)base;
    struct netcdf_file *f = file_of(base->file);
    size_t chunk[WEIR_SLAB_RANK];
    int rc = nc_def_var(f->nc, base->name, weir_nc_type_of(spec->type.elem), spec->shape.rank, dim,
                        &a->id);

    for (int d = 0; d < spec->chunk.rank; d++)
        chunk[d] = (size_t)spec->chunk.len[d];
    if (rc == NC_NOERR && spec->chunk.rank > 0)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CHUNKED, chunk);
    else if (rc == NC_NOERR)
        rc = nc_def_var_chunking(f->nc, a->id, NC_CONTIGUOUS, NULL);
    if (rc == NC_NOERR)
        rc = nc_def_var_fill(f->nc, a->id, NC_NOFILL, NULL);
    f->vars++;
    return rc;
}

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    if (weir_nc_find(base, have, err) < 0)
        return -1;
    return netcdf_file_access(file_of(base->file), ((struct weir_nc_array *)base)->id, err);
}

/* Release the selection, also before a new one. */
static int array_release(struct weir_array *base, struct weir_err *err)
{
    struct netcdf_array *a = (struct netcdf_array *)base;

    free(a->packed);
    free(a->call);
    a->packed = a->call = NULL;
    a->calls = 0;
    return 0;
}

/* ---- selection: slabs as the library wants them ---- */

/* In this dimension the slab is start, count and stride for the library, too. */
static bool is_simple(const struct weir_slab *s, int d)
{
    return s->count[d] <= 1 || s->block[d] == 1 || s->stride[d] == s->block[d];
}

static void select_dimension(struct netcdf_array *a, const struct weir_slab *s, int d)
{
    bool single = is_simple(s, d) && s->count[d] > 1 && s->block[d] == 1;
    bool dense = is_simple(s, d) && !single;

    a->start[d] = (size_t)s->start[d];
    a->stride[d] = single ? (ptrdiff_t)s->stride[d] : 1;
    a->count[d] = (size_t)(single ? s->count[d] : dense ? s->count[d] * s->block[d] : s->block[d]);
    if (!single && !dense)
        a->calls *= s->count[d];
}

static int take_memory(unsigned char **out, uint64_t bytes, struct weir_err *err)
{
    *out = malloc(bytes > 0 ? bytes : 1);
    return *out ? 0
                : weir_fail(err, WEIR_ESETUP, "memory for %llu bytes of a slab",
                            (unsigned long long)bytes);
}

static int array_select(struct weir_array *base, struct weir_err *err)
{
    struct netcdf_array *a = (struct netcdf_array *)base;
    uint64_t each = base->elem;

    array_release(base, NULL);
    memset(a->start, 0, sizeof(a->start));
    memset(a->count, 0, sizeof(a->count));
    for (int d = 0; d < base->slab.rank; d++)
        a->stride[d] = 1;
    if (base->elements == 0)
        return 0;
    a->calls = 1;
    for (int d = 0; d < base->slab.rank; d++) {
        select_dimension(a, &base->slab, d);
        each *= a->count[d];
    }
    if (!base->mem_whole && take_memory(&a->packed, base->elements * base->elem, err) < 0)
        return -1;
    return a->calls > 1 ? take_memory(&a->call, each, err) : 0;
}

/* ---- copies ---- */

/* Between the elements of a slab in memory and a row of them in one piece. */
static void copy_slab(const struct weir_slab *s, const struct weir_shape *shape, uint64_t elem,
                      unsigned char *memory, unsigned char *row, bool to_row)
{
    struct weir_runs r;
    uint64_t at, n;

    weir_runs_begin(&r, s, shape);
    n = r.run * elem;
    for (; weir_runs_next(&r, &at); row += n) {
        if (to_row)
            memcpy(row, memory + at * elem, n);
        else
            memcpy(memory + at * elem, row, n);
    }
}

/* The elements that call i moves: where in the array, and which of the selected elements. */
static void find_call(const struct netcdf_array *a, uint64_t i, size_t *start,
                      struct weir_slab *part, struct weir_shape *all)
{
    const struct weir_slab *s = &a->nc.base.slab;
    uint64_t from[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK];

    all->rank = s->rank;
    for (int d = s->rank - 1; d >= 0; d--) {
        uint64_t k = 0;

        if (!is_simple(s, d)) {
            k = i % s->count[d];
            i /= s->count[d];
        }
        start[d] = a->start[d] + (size_t)(k * s->stride[d]);
        from[d] = k * s->block[d];
        count[d] = a->count[d];
        all->len[d] = s->count[d] * s->block[d];
    }
    weir_slab_box(part, s->rank, from, count);
}

/* ---- transfers ---- */

static int call_library(struct netcdf_array *a, enum weir_dir dir, const size_t *start,
                        const size_t *count, void *buf, struct weir_err *err)
{
    struct netcdf_file *f = file_of(a->nc.base.file);
    bool writes = dir == WEIR_DIR_WRITE, strided = false;
    int rc;

    for (int d = 0; d < a->nc.base.slab.rank; d++)
        strided |= a->stride[d] != 1;
    errno = 0;
    if (strided)
        rc = writes ? nc_put_vars(f->nc, a->nc.id, start, count, a->stride, buf)
                    : nc_get_vars(f->nc, a->nc.id, start, count, a->stride, buf);
    else
        rc = writes ? nc_put_vara(f->nc, a->nc.id, start, count, buf)
                    : nc_get_vara(f->nc, a->nc.id, start, count, buf);
    return netcdf_judge(f, rc, writes, writes ? "nc_put_vara" : "nc_get_vara", err);
}

static int move_part(struct netcdf_array *a, enum weir_dir dir, uint64_t i, unsigned char *buf,
                     struct weir_err *err)
{
    size_t start[WEIR_SLAB_RANK];
    struct weir_slab part;
    struct weir_shape all;
    int rc;

    if (a->calls == 1)
        return call_library(a, dir, a->start, a->count, buf, err);
    find_call(a, i, start, &part, &all);
    if (dir == WEIR_DIR_WRITE)
        copy_slab(&part, &all, a->nc.base.elem, buf, a->call, true);
    rc = call_library(a, dir, start, a->count, a->call, err);
    if (dir == WEIR_DIR_READ)
        copy_slab(&part, &all, a->nc.base.elem, buf, a->call, false);
    return rc;
}

static int array_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    static const size_t nothing[WEIR_SLAB_RANK];
    struct netcdf_array *a = (struct netcdf_array *)base;
    const struct weir_memory *m = &base->mem;
    unsigned char *row = a->packed ? a->packed : buf;
    bool writes = dir == WEIR_DIR_WRITE;
    uint64_t rounds = a->calls; /* that all ranks make together */
    int rc = 0;

    if (base->file->collective)
        weir_mpi_max(file_of(base->file)->comm, &rounds, 1);
    weir_timed_begin(base->file->s);
    if (a->packed && writes)
        copy_slab(&m->slab, &m->shape, base->elem, buf, row, true);
    for (uint64_t i = 0; i < rounds || i == 0; i++) {
        struct weir_err *first_err = rc < 0 ? NULL : err;
        bool mine = i < a->calls;
        int one = mine ? move_part(a, dir, i, row, first_err)
                       : call_library(a, dir, nothing, nothing, row, first_err);

        rc = one < 0 ? -1 : rc;
    }
    if (a->packed && !writes && rc == 0)
        copy_slab(&m->slab, &m->shape, base->elem, buf, row, false);
    weir_timed_end(base->file->s);
    return rc;
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    if (base->shared)
        weir_mpi_show_hints(base->s, weir_mpi_info_of(file_of(base)->handle), out);
}

const struct weir_nc_library netcdf_arrays = {
    .ops = {
        .file_size = sizeof(struct netcdf_file),
        .array_size = sizeof(struct netcdf_array),
        .check = array_check,
        .open = netcdf_file_open,
        .close = netcdf_file_close,
        .make = weir_nc_make,
        .find = array_find,
        .release = array_release,
        .commit = array_commit,
        .select = array_select,
        .move = array_move,
        .sync = netcdf_file_sync,
        .describe = array_describe,
        .move_attr = weir_nc_move_attr,
    },
    .prefix = "nc_",
    .number_of = number_of,
    .define = netcdf_file_define,
    .def_var = def_var,
    .put_att = put_att,
    .inq_varid = nc_inq_varid,
    .inq_varndims = nc_inq_varndims,
    .inq_var = nc_inq_var,
    .inq_dimlen = inq_dimlen,
    .inq_dimid = nc_inq_dimid,
    .def_dim = def_dim,
    .fastest_first = true,
    .inq_att = inq_att,
    .get_att = nc_get_att,
    .fail = netcdf_fail,
};
