/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-array.c - arrays are variables of a file */
#include "backends/ncmpi/ncmpi-array.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/ncmpi/ncmpi-path.h"
#include "backends/ncmpi/ncmpi-var.h"
#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"

static struct weir_mpi_session *mpi_of(const struct ncmpi_arrays *f)
{
    return f->base.s->priv;
}

/* Judge a call that did not transfer and began with errno 0. */
static int judge(const struct ncmpi_arrays *f, int rc, const char *call, struct weir_err *err)
{
    return ncmpi_judge(mpi_of(f), f->base.path, 0, rc, call, NULL, err);
}

static int array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                       struct weir_err *err)
{
    (void)s;
    if (spec->type.elem == WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE,
                           "NCMPI cannot keep elements of a compound type: the formats of PnetCDF "
                           "have none");
    if (spec->chunk.rank > 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "NCMPI cannot store arrays in chunks: the formats of PnetCDF have none");
    return 0;
}

/* ---- the modes of a file ---- */

/* Transfers of each rank for itself from now on. */
static int go_alone(struct ncmpi_arrays *f, struct weir_err *err)
{
    if (f->base.collective || f->independent)
        return 0;
    errno = 0;
    f->independent = true; /* also when this rank fails: all must end it together */
    return judge(f, ncmpi_begin_indep_data(f->nc), "ncmpi_begin_indep_data", err);
}

static int go_together(struct ncmpi_arrays *f, struct weir_err *err)
{
    if (!f->independent)
        return 0;
    errno = 0;
    f->independent = false;
    return judge(f, ncmpi_end_indep_data(f->nc), "ncmpi_end_indep_data", err);
}

int ncmpi_redefine(struct ncmpi_arrays *f, struct weir_err *err)
{
    if (f->defining)
        return 0;
    if (go_together(f, err) < 0)
        return -1;
    errno = 0;
    if (judge(f, ncmpi_redef(f->nc), "ncmpi_redef", err) < 0)
        return -1;
    f->defining = true;
    return 0;
}

/* Where the variables begin is known now. */
static int learn_places(struct ncmpi_arrays *f, struct weir_err *err)
{
    for (struct weir_array *a = f->base.first; a; a = a->next) {
        MPI_Offset at = 0;
        int rc = a->is_open ? ncmpi_inq_varoffset(f->nc, ((struct ncmpi_array *)a)->id, &at)
                            : NC_NOERR;

        if (rc != NC_NOERR)
            return ncmpi_fail(err, rc, "place of '%s'", a->name);
        a->at = (uint64_t)at;
        a->is_selected = false; /* it may have moved */
    }
    return 0;
}

static int array_commit(struct weir_array_file *base, struct weir_err *err)
{
    struct ncmpi_arrays *f = (struct ncmpi_arrays *)base;
    int rc = 0;

    if (f->defining) {
        errno = 0;
        weir_timed_begin(base->s);
        rc = ncmpi_enddef(f->nc);
        weir_timed_end(base->s);
        rc = judge(f, rc, "ncmpi_enddef", err);
        f->defining = false;
        f->failed |= rc < 0;
    }
    if (weir_mpi_agree(base->s->par->comm, rc) <
        0) /* rank 0 writes the header and may fail alone */
        return rc;
    return learn_places(f, err) < 0 ? -1 : go_alone(f, err);
}

/* ---- files ---- */

static int open_library(struct ncmpi_arrays *f, unsigned flags, bool is_new, struct weir_err *err)
{
    char text[WEIR_MPI_NAME_TEXT];
    const struct weir_session *s = f->base.s;
    const char *name = ncmpi_name(mpi_of(f), f->base.path, text, err);
    int mode = NC_64BIT_DATA | (flags & WEIR_OPEN_EXCL ? NC_NOCLOBBER : NC_CLOBBER);
    int rc;

    if (!name)
        return -1;
    errno = 0;
    f->defining = is_new;
    weir_timed_begin(f->base.s);
    rc = is_new ? ncmpi_create(s->par->comm, name, mode, mpi_of(f)->info, &f->nc)
                : ncmpi_open(s->par->comm, name, f->base.writes ? NC_WRITE : NC_NOWRITE,
                             mpi_of(f)->info, &f->nc);
    weir_timed_end(f->base.s);
    if (rc == NC_NOERR)
        return 0;
    return ncmpi_judge(mpi_of(f), f->base.path, 0, rc, is_new ? "ncmpi_create" : "ncmpi_open", NULL,
                       err);
}

/* Free what is ours and close the file, which all ranks do together. */
static int release_file(struct ncmpi_arrays *f)
{
    int first = f->independent ? ncmpi_end_indep_data(f->nc) : NC_NOERR, rc;

    weir_timed_begin(f->base.s);
    rc = ncmpi_close(f->nc);
    weir_timed_end(f->base.s);
    f->independent = false;
    return first != NC_NOERR ? first : rc;
}

static void close_descriptor(struct ncmpi_arrays *f)
{
    if (f->sync_fd >= 0)
        close(f->sync_fd);
    f->sync_fd = -1;
}

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    struct ncmpi_arrays *f = (struct ncmpi_arrays *)base;
    const struct weir_par *par = base->s->par;
    uint64_t size = weir_mpi_size(par->comm, base->path);
    bool is_new = base->writes && (flags & WEIR_OPEN_CREATE) &&
                  ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || size == 0);
    int rc;

    f->sync_fd = -1;
    f->size = base->writes ? UINT64_MAX : size;
    if (weir_agree_call(par, open_library(f, flags, is_new, err), err) < 0)
        return -1;
    rc = f->defining ? 0 : go_alone(f, err);
    if (rc == 0 && base->writes) {
        f->sync_fd = open(weir_mpi_path(base->path), O_WRONLY | O_CLOEXEC);
        if (f->sync_fd < 0)
            rc = weir_fail(err, WEIR_EIO, "open '%s' for fsync", base->path);
    }
    rc = weir_agree_call(par, rc, err);
    if (rc < 0) {
        release_file(f);
        close_descriptor(f);
    }
    return rc;
}

/* One past the last byte of the arrays. */
static uint64_t end_of_arrays(const struct ncmpi_arrays *f)
{
    uint64_t end = 0, bytes = 0;

    for (const struct weir_array *a = f->base.first; a; a = a->next)
        if (a->at > 0 && weir_shape_bytes(&a->spec.shape, a->elem, &bytes, NULL) == 0 &&
            a->at + bytes > end)
            end = a->at + bytes;
    return end;
}

/* A file ends where its last array does, also when nobody wrote there: readers want it so. */
static int reach_end(const struct ncmpi_arrays *f, uint64_t end, struct weir_err *err)
{
    struct stat st;

    if (f->sync_fd < 0 || f->base.s->par->rank > 0)
        return 0;
    if (fstat(f->sync_fd, &st) < 0 ||
        ((uint64_t)st.st_size < end && ftruncate(f->sync_fd, (off_t)end) < 0))
        return weir_fail(err, WEIR_EIO, "make '%s' %llu bytes long", f->base.path,
                         (unsigned long long)end);
    return 0;
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    struct ncmpi_arrays *f = (struct ncmpi_arrays *)base;
    bool told = f->failed;
    int rc, nc, sys;

    rc = ncmpi_check_end(base->s->par, base->path, &f->end, base->writes, told ? NULL : err);
    errno = 0;
    nc = release_file(f);
    sys = errno;
    if (told)
        rc = 0;
    if (nc != NC_NOERR)
        rc = judge(f, nc, "ncmpi_close", rc < 0 ? NULL : err);
    else if (rc == 0 && !told && weir_mpi_judge_close(mpi_of(f), sys, "ncmpi_close", err) < 0)
        rc = weir_err_within(err, "'%s'", base->path);
    if (weir_mpi_agree(base->s->par->comm, rc < 0 || told ? -1 : 0) == 0)
        rc = reach_end(f, end_of_arrays(f), err);
    close_descriptor(f);
    return rc;
}

/* The library keeps no data back, so what it handed to the system is all there is to flush. */
static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    const struct ncmpi_arrays *f = (const struct ncmpi_arrays *)base;

    return f->sync_fd < 0 ? 0 : weir_mpi_fsync(f->sync_fd, base->path, err);
}

/* ---- arrays ---- */

static int array_make(struct weir_array *base, struct weir_err *err)
{
    struct ncmpi_array *a = (struct ncmpi_array *)base;
    struct ncmpi_arrays *f = (struct ncmpi_arrays *)base->file;
    const struct weir_array_spec *spec = &base->spec;
    nc_type type = weir_nc_type_of(spec->type.elem);
    int dim[WEIR_RANK_MAX], rc;

    a->basic = ncmpi_basic_of(spec->type.elem);
    if (ncmpi_redefine(f, err) < 0 ||
        weir_nc_make_dims(&ncmpi_calls, f->nc, spec, dim, err) < 0)
        return -1;
    weir_timed_begin(base->file->s);
    rc = ncmpi_def_var(f->nc, base->name, type, spec->shape.rank, dim, &a->id);
    weir_timed_end(base->file->s);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_def_var") : 0;
}

static int array_find(struct weir_array *base, struct weir_array_spec *have, struct weir_err *err)
{
    struct ncmpi_array *a = (struct ncmpi_array *)base;
    const struct ncmpi_arrays *f = (const struct ncmpi_arrays *)base->file;
    MPI_Offset at = 0;
    int rc;

    weir_timed_begin(base->file->s);
    rc = ncmpi_inq_varid(f->nc, base->name, &a->id);
    weir_timed_end(base->file->s);
    if (rc != NC_NOERR)
        return ncmpi_fail(err, rc, "ncmpi_inq_varid");
    if (weir_nc_read_spec(&ncmpi_calls, f->nc, a->id, have, err) < 0)
        return -1;
    a->basic = ncmpi_basic_of(have->type.elem);
    rc = ncmpi_inq_varoffset(f->nc, a->id, &at);
    base->at = (uint64_t)at;
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "ncmpi_inq_varoffset") : 0;
}

static int array_release(struct weir_array *base, struct weir_err *err)
{
    (void)err;
    ncmpi_slab_free((struct ncmpi_array *)base);
    return 0;
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    const struct ncmpi_arrays *f = (const struct ncmpi_arrays *)base;

    weir_mpi_show_hints(base->s, ncmpi_hints(f->nc), out);
}

const struct weir_array_ops ncmpi_array_ops = {
    .file_size = sizeof(struct ncmpi_arrays),
    .array_size = sizeof(struct ncmpi_array),
    .check = array_check,
    .open = array_open,
    .close = array_close,
    .make = array_make,
    .find = array_find,
    .release = array_release,
    .commit = array_commit,
    .select = ncmpi_slab_select,
    .move = ncmpi_slab_move,
    .sync = array_sync,
    .describe = array_describe,
    .put_attr = ncmpi_put_attr,
    .get_attr = ncmpi_get_attr,
};
