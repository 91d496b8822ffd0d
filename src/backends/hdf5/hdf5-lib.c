/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-lib.c - errors from the library's error stack, and the property lists of a session */
#include "backends/hdf5/hdf5-file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "par/agree.h"
#include "par/io/mpifile.h"

#define REASON_TEXT 512

/* Called for the innermost entry first, and that one knows the cause. */
static herr_t keep_first(unsigned n, const H5E_error2_t *entry, void *reason)
{
    if (n == 0 && entry->desc)
        snprintf(reason, REASON_TEXT, "%s", entry->desc); /* may be cut */
    return 0;
}

int hdf5_fail(struct weir_err *err, const char *fmt, ...)
{
    char reason[REASON_TEXT] = "the library gives no reason";
    int sys = weir_mpi_is_io_errno(errno) ? errno : 0;
    va_list ap;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, reason);
    va_start(ap, fmt);
    weir_fail_with(err, WEIR_EIO, 0, reason, fmt, ap);
    va_end(ap);
    return weir_mpi_add_reason(err, sys, 0);
}

struct search {
    hid_t minor;
    bool found;
};

static herr_t look_at(unsigned n, const H5E_error2_t *entry, void *arg)
{
    struct search *s = arg;

    s->found |= entry->min_num == s->minor;
    return 0;
}

bool hdf5_failed_with(hid_t minor)
{
    struct search s = { .minor = minor };

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_at, &s);
    return s.found;
}

/* Files are divided into subfiles. Without them in the library the test was refused. */
static herr_t set_subfiling(hid_t access, MPI_Comm comm, MPI_Info info)
{
#ifdef H5_HAVE_SUBFILING_VFD
    return H5Pset_mpi_params(access, comm, info) < 0 ? -1 : H5Pset_fapl_subfiling(access, NULL);
#else
    return -1;
#endif
}

/* Implements remove of struct weir_mpi_session: the library knows where the subfiles are. */
static int remove_subfiles(struct weir_mpi_session *m, const char *path, struct weir_err *err)
{
    int rc = -1;
#ifdef H5_HAVE_SUBFILING_VFD
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (set_subfiling(access, MPI_COMM_SELF, m->info) >= 0)
        rc = H5Fdelete(weir_mpi_path(path), access);
    if (rc < 0)
        hdf5_fail(err, "H5Fdelete '%s'", path);
    H5Pclose(access);
#endif
    return rc;
}

/* Collective: the library makes a communicator of its own. */
static int set_access(struct hdf5_state *st, const struct hdf5_options *o)
{
    hsize_t align = (hsize_t)o->alignment;

    if ((o->subfiling ? set_subfiling(st->access, st->comm, st->mpi.info)
                      : H5Pset_fapl_mpio(st->access, st->comm, st->mpi.info)) < 0 ||
        H5Pset_alignment(st->access, align, align) < 0)
        return -1;
    if (o->page_buffer > 0 &&
        (hdf5_state_go_serial(st, NULL) < 0 ||
         H5Pset_page_buffer_size(st->access, (size_t)o->page_buffer, 0, 0) < 0))
        return -1;
    if (st->collective_meta && H5Pset_all_coll_metadata_ops(st->access, true) < 0)
        return -1;
    /* Filters write metadata in collective transfers; without this, HDF5 1.10 can hang there. */
    return st->collective_meta || st->filter ? H5Pset_coll_metadata_write(st->access, true) : 0;
}

/* The library copies a list of ours for each dataset, which takes longer than the rest of making
 * one: where nothing is asked for its own list is used. */
static int make_create(struct hdf5_state *st, const struct hdf5_options *o)
{
    hsize_t chunk = (hsize_t)o->chunk;

    st->create = H5P_DEFAULT;
    if (o->chunk == 0 && !o->no_fill && !o->filter)
        return 0;
    st->create = H5Pcreate(H5P_DATASET_CREATE);
    if (st->create < 0 || (o->chunk > 0 && H5Pset_chunk(st->create, 1, &chunk) < 0))
        return -1;
    st->fill = o->chunk > 0 && !o->no_fill && !o->filter; /* a filter gets chunks with their data */
    return H5Pset_fill_time(st->create, H5D_FILL_TIME_NEVER); /* of chunks: see hdf5_fill */
}

static int fail_lists(struct weir_err *err)
{
    hdf5_fail(err, "HDF5 property lists");
    if (err)
        err->code = WEIR_ESETUP;
    return -1;
}

/* The part that each rank does for itself. */
static int make_lists(struct hdf5_state *st, const struct hdf5_options *o, struct weir_err *err)
{
    st->guard = calloc(1, sizeof(*st->guard));
    if (!st->guard)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the HDF5 library");
    errno = 0;
    st->access = H5Pcreate(H5P_FILE_ACCESS);
    st->make = H5Pcreate(H5P_FILE_CREATE);
    st->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (st->access < 0 || st->make < 0 || st->transfer < 0 || make_create(st, o) < 0 ||
        H5Pset_dxpl_mpio(st->transfer,
                         st->collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) < 0 ||
        (o->page_buffer > 0 && /* it is for files of pages */
         H5Pset_file_space_strategy(st->make, H5F_FSPACE_STRATEGY_PAGE, false, 1) < 0))
        return fail_lists(err);
    return o->filter ? hdf5_filters_set(st->create, o->filter, err) : 0;
}

/* Start the library. Before 1.12 it takes no connector, and does not say so. */
static int start(const struct weir_session *s, struct weir_err *err)
{
    const char *name = H5_VERSION_GE(1, 12, 0) ? NULL : getenv("HDF5_VOL_CONNECTOR");

    if (H5open() < 0)
        return weir_refuse(err, WEIR_ESETUP, "the HDF5 library cannot be started");
    return name ? weir_warn(s->log, err,
                            "HDF5_VOL_CONNECTOR=%s has no effect: this HDF5 (%s) is older than 1.12",
                            name, HDF5_VERSION)
                : 0;
}

int hdf5_state_begin(struct weir_session *s, struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;
    struct hdf5_state *st = s->priv;
    bool alone = s->access.file_per_task || s->par->size == 1;
    int rc;

    st->s = s;
    st->access = st->make = st->create = st->transfer = H5I_INVALID_HID;
    st->comm = s->access.file_per_task ? MPI_COMM_SELF : s->par->comm;
    if (weir_agree(s->par, start(s, err), err) < 0)
        return -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (weir_mpi_session_begin(&st->mpi, s->par, s->log, o->mpi.hints_file, true, err) < 0)
        return -1;
    st->filter = o->filter;
    st->mpi.remove = o->subfiling ? remove_subfiles : NULL;
    st->collective = s->access.collective || (o->filter && alone); /* older libraries ask for it */
    st->collective_meta = o->collective_metadata || s->access.collective_metadata;
    if (o->subfiling || o->filter)
        s->flags |= WEIR_BE_OTHER_SIZE;
    rc = make_lists(st, o, err);
    if (weir_agree(s->par, rc, err) < 0)
        return -1;
    errno = 0;
    return set_access(st, o) < 0 ? fail_lists(err) : 0;
}

int hdf5_state_go_serial(struct hdf5_state *st, struct weir_err *err)
{
    errno = 0;
    st->serial = true;
    st->collective = false;
    if (H5Pset_fapl_sec2(st->access) < 0 ||
        H5Pset_dxpl_mpio(st->transfer, H5FD_MPIO_INDEPENDENT) < 0)
        return hdf5_fail(err, "HDF5 property lists");
    return 0;
}

static void close_list(hid_t *id)
{
    if (*id >= 0 && *id != H5P_DEFAULT)
        H5Pclose(*id);
    *id = H5I_INVALID_HID;
}

void hdf5_state_end(struct hdf5_state *st)
{
    close_list(&st->transfer);
    close_list(&st->create);
    close_list(&st->make);
    close_list(&st->access);
    if (!st->s->broken)
        free(st->guard);
    weir_mpi_session_end(&st->mpi);
}
