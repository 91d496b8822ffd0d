/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio-array.c - arrays in a file of MPI-IO, one after the other: a view of the slab, then one
 * call */
#include "backends/mpiio/mpiio.h"

#include <errno.h>

#include "par/io/mpifile.h"
#include "par/io/mpisession.h"
#include "par/io/slabtype.h"

/* Views are set by all ranks that have opened a file together. So a file whose transfers are
 * independent is opened by each rank for itself. */
struct mpiio_arrays {
    struct weir_array_file base;
    MPI_File fh;
    MPI_Comm comm;             /* that opened fh */
    MPI_Comm all;              /* that share the file */
    struct weir_array *viewed; /* whose selection the view shows, where transfers are independent */
    uint64_t end;              /* one past the last byte that this rank wrote or read */
    uint64_t size;             /* of a file that is only read; UINT64_MAX otherwise */
    bool failed; /* a write has failed here */
};

struct mpiio_array {
    struct weir_array base;
    MPI_Datatype in_file, in_memory; /* MPI_DATATYPE_NULL: nothing is selected, or not made yet */
    bool has_types;
    MPI_Offset at;  /* the first byte of the slab in the file */
    uint64_t first; /* and in memory */
    uint64_t end;   /* one past its last byte in the file */
};

/* ---- open and close ---- */

static int open_handle(struct mpiio_arrays *f, unsigned flags, struct weir_err *err)
{
    int mode = flags & WEIR_OPEN_WRITE ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    int rc;

    if ((flags & WEIR_OPEN_WRITE) && (flags & WEIR_OPEN_CREATE))
        mode |= MPI_MODE_CREATE | (flags & WEIR_OPEN_EXCL ? MPI_MODE_EXCL : 0);
    if (!f->base.shared)
        mode |= MPI_MODE_UNIQUE_OPEN;
    weir_timed_begin(f->base.s);
    rc = mpiio_open(f->base.s, f->comm, f->base.path, mode, &f->fh, err);
    weir_timed_end(f->base.s);
    return rc;
}

/* If several ranks open the handle together, all have it or none. */
static int open_and_empty(struct mpiio_arrays *f, unsigned flags, struct weir_err *err)
{
    const struct weir_par *par = f->base.s->par;
    int ok, rc = weir_agree_open(par, f->comm, open_handle(f, flags, err), err);

    if (rc < 0 || !(flags & WEIR_OPEN_WRITE) || !(flags & WEIR_OPEN_TRUNC))
        return rc;
    weir_timed_begin(f->base.s);
    ok = MPI_File_set_size(f->fh, 0);
    weir_timed_end(f->base.s);
    if (ok != MPI_SUCCESS)
        rc = weir_mpi_fail(err, WEIR_EIO, ok, "MPI_File_set_size '%s' to 0", f->base.path);
    rc = weir_agree_open(par, f->comm, rc, err);
    if (rc < 0)
        MPI_File_close(&f->fh);
    return rc;
}

static int array_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    struct mpiio_arrays *f = (struct mpiio_arrays *)base;
    const unsigned makes = WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC | WEIR_OPEN_EXCL;
    const struct weir_par *par = base->s->par;
    bool in_turn = base->shared && !base->collective;
    MPI_Offset size = 0;
    int rc = 0;

    f->all = base->shared ? par->comm : MPI_COMM_SELF;
    f->comm = base->collective ? par->comm : MPI_COMM_SELF;
    f->size = UINT64_MAX;
    if (!in_turn || par->rank == 0)
        rc = open_and_empty(f, flags, err);
    if (in_turn && weir_agree_call(par, rc, err) < 0)
        return -1;
    if (in_turn && par->rank > 0)
        rc = open_and_empty(f, flags & ~makes, err);
    if (in_turn && weir_agree_call(par, rc, err) < 0) {
        if (rc == 0)
            MPI_File_close(&f->fh);
        return -1;
    }
    if (rc == 0 && !base->writes && MPI_File_get_size(f->fh, &size) == MPI_SUCCESS)
        f->size = (uint64_t)size;
    return rc;
}

/* Extend the file to the end of its last array, which may be unwritten. */
static int reach_end(struct mpiio_arrays *f, struct weir_err *err)
{
    const struct weir_par *par = f->base.s->par;
    int64_t shorter = 0;
    MPI_Offset size = 0;
    int rc = MPI_SUCCESS;

    if (!f->base.shared || par->rank == 0)
        shorter =
            MPI_File_get_size(f->fh, &size) == MPI_SUCCESS && (uint64_t)size < f->base.next_at;
    if (f->base.shared)
        weir_bcast(par, &shorter, sizeof(shorter), 0);
    if (shorter && (f->base.collective || !f->base.shared || par->rank == 0))
        rc = MPI_File_set_size(f->fh, (MPI_Offset)f->base.next_at);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_set_size '%s' to %llu", f->base.path,
                             (unsigned long long)f->base.next_at);
    return 0;
}

/* Before a file that was written is closed: check that all is there on all ranks. */
static int finish_writes(struct mpiio_arrays *f, struct weir_err *err)
{
    int rc = weir_mpi_check_end(f->all, f->fh, f->base.path, &f->end, f->failed ? NULL : err);

    if (weir_mpi_agree(f->all, f->failed ? -1 : rc) < 0)
        return f->failed ? 0 : rc; /* who failed has said so */
    return reach_end(f, err);
}

static int array_close(struct weir_array_file *base, struct weir_err *err)
{
    struct mpiio_arrays *f = (struct mpiio_arrays *)base;
    int rc = 0;
    int ok, sys;

    rc = base->writes ? finish_writes(f, err) : weir_mpi_check_kept(&f->fh, base->path, f->end, err);
    errno = 0;
    weir_timed_begin(base->s);
    ok = MPI_File_close(&f->fh);
    weir_timed_end(base->s);
    sys = errno;
    if (rc < 0)
        return rc;
    if (ok != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, ok, "MPI_File_close '%s'", base->path);
    return weir_mpi_doubt_close(NULL, mpiio_mpi(base->s), sys, "MPI_File_close", base->s->log,
                                base->path, err);
}

/* Collective where the handle is. */
static int array_sync(struct weir_array_file *base, struct weir_err *err)
{
    struct mpiio_arrays *f = (struct mpiio_arrays *)base;
    int rc = weir_mpi_check_end(f->all, f->fh, base->path, &f->end, f->failed ? NULL : err);

    if (f->failed)
        rc = weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", base->path);
    if (weir_mpi_agree(f->all, rc) < 0)
        return rc; /* MPI_File_sync could fail on one rank and leave the others waiting */
    weir_timed_begin(base->s);
    rc = weir_mpi_sync(f->fh, base->path, mpiio_mpi(f->base.s)->comm_errno, err);
    weir_timed_end(base->s);
    return rc;
}

/* ---- arrays ---- */

static int array_find(struct weir_array *a, struct weir_array_spec *have, struct weir_err *err)
{
    const struct mpiio_arrays *f = (const struct mpiio_arrays *)a->file;
    MPI_Offset size = 0;
    int rc = MPI_File_get_size(f->fh, &size);

    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_get_size");
    return weir_plain_array_find(a, (uint64_t)size, err);
}

static void free_types(struct mpiio_array *a)
{
    if (a->has_types && a->in_file != MPI_DATATYPE_NULL)
        MPI_Type_free(&a->in_file);
    if (a->has_types && a->in_memory != MPI_DATATYPE_NULL)
        MPI_Type_free(&a->in_memory);
    a->has_types = false;
}

static int array_release(struct weir_array *base, struct weir_err *err)
{
    struct mpiio_arrays *f = (struct mpiio_arrays *)base->file;

    if (f->viewed == base)
        f->viewed = NULL;
    free_types((struct mpiio_array *)base);
    return 0;
}

static int array_select(struct weir_array *base, struct weir_err *err)
{
    struct mpiio_array *a = (struct mpiio_array *)base;
    struct mpiio_arrays *f = (struct mpiio_arrays *)base->file;
    struct weir_runs in_file, in_memory;

    free_types(a);
    if (f->viewed == base)
        f->viewed = NULL;
    weir_runs_begin(&in_file, &base->slab, &base->spec.shape);
    weir_runs_begin(&in_memory, &base->mem.slab, &base->mem.shape);
    a->at = (MPI_Offset)(base->at + in_file.first * base->elem);
    a->first = in_memory.first * base->elem;
    a->end = base->at + weir_slab_end(&base->slab, &base->spec.shape) * base->elem;
    a->in_file = a->in_memory = MPI_DATATYPE_NULL;
    a->has_types = true;
    if (weir_mpi_slab_type(&in_file, base->elem, MPI_BYTE, &a->in_file, err) < 0)
        return -1;
    return weir_mpi_slab_type(&in_memory, base->elem, MPI_BYTE, &a->in_memory, err);
}

/* ---- transfers ---- */

/* Set the view of the coming transfer. With collective transfers all ranks set theirs each
 * time, since none knows whether another one needs it. */
static int set_view(struct mpiio_arrays *f, struct mpiio_array *a, bool is_empty,
                    struct weir_err *err)
{
    MPI_Datatype type = is_empty ? MPI_BYTE : a->in_file;
    int rc;

    if (!f->base.collective && f->viewed == &a->base)
        return 0;
    f->viewed = NULL;
    rc = MPI_File_set_view(f->fh, is_empty ? 0 : a->at, MPI_BYTE, type, "native",
                           mpiio_mpi(f->base.s)->info);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_set_view");
    f->viewed = &a->base;
    return 0;
}

/* A return code alone cannot be trusted (a full disk can look like success): judge the bytes in the
 * status, with the errno that the call left. */
static int judge(struct mpiio_arrays *f, enum weir_dir dir, uint64_t want, MPI_Status *status,
                 int sys, struct weir_err *err)
{
    const char *call = mpiio_calls[dir][f->base.collective];
    MPI_Count moved = 0;

    if (MPI_Get_elements_x(status, MPI_BYTE, &moved) == MPI_SUCCESS && (uint64_t)moved == want)
        return 0;
    if (sys == 0 || sys == mpiio_mpi(f->base.s)->comm_errno)
        return weir_refuse(err, WEIR_EIO, "%s moved %lld of %llu bytes and reports no error%s",
                           call, (long long)moved, (unsigned long long)want,
                           dir == WEIR_DIR_WRITE ? " (is the file system full?)"
                                                 : " (end of file?)");
    errno = sys;
    return weir_fail(err, WEIR_EIO, "%s moved %lld of %llu bytes", call, (long long)moved,
                     (unsigned long long)want);
}

static int transfer(struct mpiio_arrays *f, struct mpiio_array *a, enum weir_dir dir, char *buf,
                    bool is_empty, struct weir_err *err)
{
    const char *call = mpiio_calls[dir][f->base.collective];
    int viewed = set_view(f, a, is_empty, err);
    bool skips = is_empty || viewed < 0;
    const struct mpiio_call c = { .type = skips ? MPI_BYTE : a->in_memory, .count = !skips };
    MPI_Status status;
    int rc, sys;

    if (viewed < 0 && !f->base.collective)
        return -1;
    errno = 0;
    rc = mpiio_call(f->fh, dir, skips ? buf : buf + a->first, &c, f->base.collective, &status);
    sys = errno;
    if (viewed < 0)
        return -1;
    if (rc != MPI_SUCCESS) {
        weir_mpi_fail(err, WEIR_EIO, rc, "%s", call);
        weir_mpi_unlock(f->base.path);
        return weir_mpi_add_reason(err, sys, mpiio_mpi(f->base.s)->comm_errno);
    }
    if (f->base.collective && weir_mpi_judge_hidden(mpiio_mpi(f->base.s), sys, call, err) < 0)
        return -1;
    return skips ? 0 : judge(f, dir, a->base.elements * a->base.elem, &status, sys, err);
}

/* A library may call a read complete that met the end of the file: its size decides. */
static int array_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err)
{
    struct mpiio_array *a = (struct mpiio_array *)base;
    struct mpiio_arrays *f = (struct mpiio_arrays *)base->file;
    bool is_empty = base->elements == 0;
    bool is_over = dir == WEIR_DIR_READ && !is_empty && a->end > f->size;
    int rc = 0;

    if (!is_over || base->file->collective)
        rc = transfer(f, a, dir, buf, is_empty || is_over, err);
    if (rc == 0 && is_over)
        rc = weir_refuse(err, WEIR_EIO, "end of file: it has %llu bytes",
                         (unsigned long long)f->size);
    if (rc == 0 && a->end > f->end && !is_empty)
        f->end = a->end;
    f->failed |= rc < 0 && dir == WEIR_DIR_WRITE;
    return rc;
}

static void array_describe(struct weir_array_file *base, struct weir_str *out)
{
    const struct mpiio_arrays *f = (const struct mpiio_arrays *)base;

    weir_mpi_show_hints(base->s, weir_mpi_info_of(&f->fh), out);
}

const struct weir_array_ops mpiio_array_ops = {
    .file_size = sizeof(struct mpiio_arrays),
    .array_size = sizeof(struct mpiio_array),
    .check = weir_plain_array_check,
    .open = array_open,
    .close = array_close,
    .make = weir_plain_array_make,
    .find = array_find,
    .release = array_release,
    .select = array_select,
    .move = array_move,
    .sync = array_sync,
    .describe = array_describe,
};
