/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-container.c - an open HDF5 file, whatever is in it */
#include "backends/hdf5/hdf5-container.h"
#include "config.h"

#include <errno.h>

#include "backends/array.h"
#include "backends/hdf5/hdf5-close.h"
#include "backends/hdf5/hdf5-descriptor.h"
#include "backends/shared/mpishow.h"
#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"

static int open_id(struct hdf5_container *c, unsigned flags, bool is_new, struct weir_err *err)
{
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = c->st->serial ? weir_mpi_path(c->path)
                                     : weir_mpi_name(&c->st->mpi.drivers, c->path, text, err);
    const char *call = is_new ? "H5Fcreate" : "H5Fopen";
    unsigned how;

    if (!name)
        return -1;
    how = is_new ? (flags & WEIR_OPEN_EXCL ? H5F_ACC_EXCL : H5F_ACC_TRUNC)
                 : (c->writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    errno = 0;
    weir_timed_begin(c->st->s);
    c->id = is_new ? H5Fcreate(name, how, H5P_DEFAULT, c->st->access)
                   : H5Fopen(name, how, c->st->access);
    weir_timed_end(c->st->s);
    return c->id < 0 ? hdf5_fail(err, "%s '%s'", call, c->path) : 0;
}

int hdf5_container_open(struct hdf5_container *c, struct hdf5_state *st, const char *path,
                        unsigned flags, const struct weir_extent *extent, struct weir_err *err)
{
    bool is_new;
    int rc = 0;

    *c = (struct hdf5_container) { .st = st, .path = path, .id = H5I_INVALID_HID };
    c->writes = flags & WEIR_OPEN_WRITE;
    if (c->writes && st->mpi.limited) /* the limit of one rank stops all */
        rc = weir_agree_open(st->s->par, st->comm, hdf5_check_limit(extent, err), err);
    if (rc < 0)
        return rc;
    is_new = c->writes && (flags & WEIR_OPEN_CREATE) &&
             ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || weir_mpi_size(st->comm, path) == 0);
    c->fresh = is_new;
    c->piece = extent->transfer;
    rc = weir_agree_open(st->s->par, st->comm, open_id(c, flags, is_new, err), err);
    if (rc == 0 && !c->writes)
        c->size = hdf5_size(st, c->id);
    return rc;
}

void hdf5_container_drop(struct hdf5_container *c)
{
    uint64_t torn[] = { c->torn, !c->torn };

    weir_mpi_max(c->st->comm, torn, 2);
    if (c->writes)
        hdf5_abandon(c->st, c->id);
    if (torn[0] && torn[1])
        c->st->s->broken = true;
    else
        H5Fclose(c->id);
}

int hdf5_container_fail(struct hdf5_container *c, struct weir_err *err, const char *call)
{
    c->failed |= c->writes && weir_mpi_is_io_errno(errno);
    c->torn = true;
    return hdf5_fail(err, "%s", call);
}

/* Checks the data that collective writes have left in the file, after all ranks have written. */
static int check_data(struct hdf5_container *c, bool last, struct weir_err *told)
{
    int rc = hdf5_check_size(c->st, c->id, c->path, c->end, told);

    if (last && weir_mpi_doubt_conclude(&c->doubt, c->path, c->fresh, c->piece, c->end, told) < 0)
        rc = weir_err_within(told, "'%s'", c->path); /* knows more than the size does */
    return rc;
}

/* Before the last writes of the library: has no rank failed? A failure inside them would crash the
 * library. 'last': all data are written. Every rank takes part, also one that has failed. -1 when
 * any has; err is filled where the reason is new. *doubtful: collective writes of a rank have not
 * been looked at. */
static int check_writes(struct hdf5_container *c, bool last, bool *doubtful, struct weir_err *err)
{
    struct weir_err *told = c->failed ? NULL : err, full = WEIR_ERR_INIT;
    int room = c->failed ? 0 : hdf5_check_room(c->path, c->datasets, &full), rc = 0;
    uint64_t all[] = { c->end, c->failed || room < 0, c->doubt.open > 0, c->torn, !c->torn };

    weir_mpi_max(c->st->comm, all, sizeof(all) / sizeof(*all));
    c->broken |= all[3] && all[4];
    *doubtful = all[2];
    c->end = all[0];
    if (c->st->collective && (c->end > 0 || *doubtful))
        rc = check_data(c, last, told);
    if (rc == 0 && room < 0 && told)
        *told = full;
    c->failed |= rc < 0 || room < 0;
    if (c->st->collective && (all[0] > 0 || *doubtful))
        return weir_mpi_agree(c->st->comm, c->failed ? -1 : 0);
    return all[1] ? -1 : 0;
}

int hdf5_container_flush(struct hdf5_container *c, struct weir_err *err)
{
    bool told = c->failed, doubtful = false;
    int ok, sys;

    if (c->writes && check_writes(c, false, &doubtful, err) < 0) {
        if (!c->failed)
            return 0; /* the rank that knows the cause tells it */
        return told ? weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", c->path)
                    : -1;
    }
    if (c->broken) /* the rank that lacks something has told it */
        return 0;
    if (c->st->collective && doubtful) /* the library's own sync could fail on one rank */
        return weir_mpi_sync_file(c->path, err);
    c->end = 0; /* it is in the file */
    errno = 0;
    weir_timed_begin(c->st->s);
    ok = H5Fflush(c->id, H5F_SCOPE_LOCAL);
    weir_timed_end(c->st->s);
    sys = errno;
    if (ok >= 0) /* without MPI-IO that syncs nothing */
        return c->st->serial && c->writes ? weir_mpi_sync_file(c->path, err) : 0;
    if (sys == EINTR && !hdf5_failed_with(H5E_WRITEERROR)) /* the last thing it does */
        return weir_mpi_sync_file(c->path, err);
    c->failed = true;
    hdf5_fail(err, "H5Fflush '%s'", c->path);
    return weir_mpi_add_reason(err, sys, c->st->mpi.comm_errno);
}

int hdf5_container_close(struct hdf5_container *c, struct weir_err *err)
{
    bool told = c->failed, doubtful;
    int rc = 0;
    int ok, sys;

    if (!c->writes)
        rc = hdf5_check_kept(c->st, c->id, c->path, c->size, err);
    if (c->writes && check_writes(c, true, &doubtful, err) < 0) {
        hdf5_abandon(c->st, c->id);
        rc = c->failed && !told ? -1 : 0;
    }
    if (c->broken) /* the library would wait in it for what some ranks do not have */
        return rc;
    errno = 0;
    weir_timed_begin(c->st->s);
    ok = H5Fclose(c->id);
    weir_timed_end(c->st->s);
    sys = errno;
    c->broken = ok < 0;
    if (rc < 0 || told)
        return rc; /* told already */
    if (ok < 0)
        return hdf5_fail(err, "H5Fclose '%s'", c->path);
    if (weir_mpi_judge_close(&c->st->mpi, sys, "H5Fclose", err) < 0)
        return weir_err_within(err, "'%s'", c->path);
    return weir_mpi_doubt_warn(&c->doubt, &c->st->mpi, c->st->s->log, c->path, err);
}

void hdf5_container_describe(const struct hdf5_container *c, struct weir_str *out)
{
    if (!c->st->serial)
        weir_mpi_show_hints(c->st->s, hdf5_hints(c->st, c->id), out);
}
