/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-container.c - an open HDF5 file, whatever is in it */
#include "config.h"
#include "backends/hdf5/hdf5-container.h"

#include <errno.h>
#include <sys/stat.h>

#include "backends/hdf5/hdf5-close.h"
#include "backends/hdf5/hdf5-descriptor.h"
#include "par/mpidoubt.h"
#include "par/mpifile.h"
#include "par/mpihints.h"

/* Is there something in the file? The lowest rank looks for all. */
static bool has_content(const struct hdf5_container *c)
{
    struct stat sb;
    int rank = 0;
    int yes = 0;

    MPI_Comm_rank(c->st->comm, &rank);
    if (rank == 0)
        yes = stat(weir_mpi_path(c->path), &sb) == 0 && sb.st_size > 0;
    MPI_Bcast(&yes, 1, MPI_INT, 0, c->st->comm);
    return yes;
}

static int open_id(struct hdf5_container *c, unsigned flags, bool is_new, struct weir_err *err)
{
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&c->st->mpi.drivers, c->path, text, err);
    const char *call = is_new ? "H5Fcreate" : "H5Fopen";

    if (!name)
        return -1;
    errno = 0;
    if (is_new)
        c->id = H5Fcreate(name, flags & WEIR_OPEN_EXCL ? H5F_ACC_EXCL : H5F_ACC_TRUNC, H5P_DEFAULT,
                          c->st->access);
    else
        c->id = H5Fopen(name, c->writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, c->st->access);
    return c->id < 0 ? hdf5_fail(err, "%s '%s'", call, c->path) : 0;
}

int hdf5_container_open(struct hdf5_container *c, struct hdf5_state *st, const char *path,
                        unsigned flags, const struct weir_extent *extent, struct weir_err *err)
{
    bool is_new;
    int rc;

    *c = (struct hdf5_container) { .st = st, .path = path, .id = H5I_INVALID_HID };
    c->writes = flags & WEIR_OPEN_WRITE;
    rc = c->writes ? hdf5_check_limit(extent, err) : 0;
    c->lost = weir_mpi_agree(st->comm, rc) < 0; /* the limit of one rank stops all */
    if (c->lost)
        return rc;
    is_new = c->writes && (flags & WEIR_OPEN_CREATE) &&
             ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || !has_content(c));
    c->fresh = is_new;
    c->piece = extent->transfer;
    rc = open_id(c, flags, is_new, err);
    c->lost = weir_mpi_agree(st->comm, rc) < 0;
    if (!c->lost && !c->writes)
        c->size = hdf5_size(st, c->id);
    return rc;
}

void hdf5_container_drop(struct hdf5_container *c)
{
    if (c->writes)
        hdf5_abandon(c->st, c->id);
    H5Fclose(c->id);
    c->lost = true;
}

int hdf5_container_fail(struct hdf5_container *c, struct weir_err *err, const char *call)
{
    c->failed |= c->writes && weir_mpi_is_io_errno(errno);
    return hdf5_fail(err, "%s", call);
}

/* Before the last writes of the library: has no rank failed? A failure inside them would crash the
 * library. 'last': all data are written. Every rank takes part, also one that has failed. -1 when
 * any has; err is filled where the reason is new. */
static int check_writes(struct hdf5_container *c, bool last, struct weir_err *err)
{
    struct weir_err *told = c->failed ? NULL : err;
    int rc = 0;

    if (c->st->collective)
        rc = hdf5_check_end(c->st, c->id, c->path, &c->end, told);
    if (last && c->st->collective &&
        weir_mpi_doubt_conclude(&c->doubt, c->path, c->fresh, c->piece, c->end, told) < 0)
        rc = weir_err_within(told, "'%s'", c->path); /* knows more than the size does */
    if (rc == 0 && !c->failed)
        rc = hdf5_check_room(c->path, c->datasets, err);
    c->failed |= rc < 0;
    return weir_mpi_agree(c->st->comm, c->failed ? -1 : 0);
}

int hdf5_container_flush(struct hdf5_container *c, struct weir_err *err)
{
    bool told = c->failed;
    int sys;

    if (c->lost)
        return weir_refuse(err, WEIR_EIO, "another rank could not open '%s'", c->path);
    if (c->writes && check_writes(c, false, err) < 0) {
        if (!c->failed)
            return 0; /* the rank that knows the cause tells it */
        return told ? weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", c->path)
                    : -1;
    }
    if (c->st->collective && weir_mpi_agree(c->st->comm, c->doubt.open ? -1 : 0) < 0)
        /* the library's own sync could fail on one rank */
        return weir_mpi_sync_again(c->path, err);
    errno = 0;
    if (H5Fflush(c->id, H5F_SCOPE_GLOBAL) >= 0)
        return 0;
    sys = errno;
    if (sys == EINTR && !hdf5_failed_with(H5E_WRITEERROR)) /* the last thing it does */
        return weir_mpi_sync_again(c->path, err);
    c->failed = true;
    hdf5_fail(err, "H5Fflush '%s'", c->path);
    return weir_mpi_add_reason(err, sys, c->st->mpi.comm_errno);
}

int hdf5_container_close(struct hdf5_container *c, struct weir_err *err)
{
    bool told = c->failed;
    int rc = 0;
    int ok, sys;

    if (c->lost)
        return 0;
    if (!c->writes)
        rc = hdf5_check_kept(c->st, c->id, c->path, c->size, err);
    if (c->writes && check_writes(c, true, err) < 0) {
        hdf5_abandon(c->st, c->id);
        rc = c->failed && !told ? -1 : 0;
    }
    errno = 0;
    ok = H5Fclose(c->id);
    sys = errno;
    c->broken = ok < 0;
    if (rc < 0 || told)
        return rc; /* told already */
    if (ok < 0)
        return hdf5_fail(err, "H5Fclose '%s'", c->path);
    if (weir_mpi_judge_close(&c->st->mpi, sys, "H5Fclose", err) < 0)
        return weir_err_within(err, "'%s'", c->path);
    return 0;
}

MPI_Info hdf5_container_hints(const struct hdf5_container *c)
{
    return c->lost ? MPI_INFO_NULL : hdf5_hints(c->st, c->id);
}

void hdf5_container_describe(const struct hdf5_container *c, const struct weir_session *s,
                             struct weir_str *out)
{
    const struct hdf5_options *o = s->opt;
    MPI_Info used;

    if (!o->show_hints || c->lost)
        return;
    used = hdf5_container_hints(c);
    weir_mpihints_show(c->st->mpi.info, &used, out);
}
