/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-lib.c - errors from the library's error stack, and the property lists of a session */
#include "backends/hdf5/hdf5-file.h"
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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

/* Collective: the library makes a communicator of its own. */
static int set_access(struct hdf5_state *st, const struct hdf5_options *o, bool collective_meta)
{
    hsize_t align = (hsize_t)o->alignment;

    if (H5Pset_fapl_mpio(st->access, st->comm, st->mpi.info) < 0 ||
        H5Pset_alignment(st->access, align, align) < 0)
        return -1;
    if (collective_meta && (H5Pset_all_coll_metadata_ops(st->access, true) < 0 ||
                            H5Pset_coll_metadata_write(st->access, true) < 0))
        return -1;
    return 0;
}

/* The library copies a list of ours for each dataset, which takes longer than the rest of making
 * one: where nothing is asked for its own list is used. */
static int make_create(struct hdf5_state *st, const struct hdf5_options *o)
{
    hsize_t chunk = (hsize_t)o->chunk;

    st->create = H5P_DEFAULT;
    if (o->chunk == 0 && !o->no_fill)
        return 0;
    st->create = H5Pcreate(H5P_DATASET_CREATE);
    if (st->create < 0 || (o->chunk > 0 && H5Pset_chunk(st->create, 1, &chunk) < 0))
        return -1;
    st->fill = o->chunk > 0 && !o->no_fill;
    return H5Pset_fill_time(st->create, H5D_FILL_TIME_NEVER); /* of chunks: see hdf5_fill */
}

static int make_transfer(struct hdf5_state *st, bool collective)
{
    st->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (st->transfer < 0)
        return -1;
    return H5Pset_dxpl_mpio(st->transfer,
                            collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
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
    errno = 0;
    st->access = H5Pcreate(H5P_FILE_ACCESS);
    if (st->access < 0 || make_create(st, o) < 0 || make_transfer(st, st->collective) < 0)
        return fail_lists(err);
    return 0;
}

int hdf5_state_begin(struct weir_session *s, struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;
    struct hdf5_state *st = s->priv;
    int rc = 0;

    st->s = s;
    st->access = st->create = st->transfer = H5I_INVALID_HID;
    st->comm = s->access.file_per_task ? MPI_COMM_SELF : s->par->comm;
    if (H5open() < 0)
        rc = weir_refuse(err, WEIR_ESETUP, "the HDF5 library cannot be started");
    if (weir_agree(s->par, rc, err) < 0)
        return -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (weir_mpi_session_begin(&st->mpi, s->par, s->log, o->mpi.hints_file, true, err) < 0)
        return -1;
    st->collective = s->access.collective;
    rc = make_lists(st, o, err);
    if (weir_agree(s->par, rc, err) < 0)
        return -1;
    errno = 0;
    return set_access(st, o, o->collective_metadata || s->access.collective_metadata) < 0
               ? fail_lists(err)
               : 0;
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
    close_list(&st->access);
    weir_mpi_session_end(&st->mpi);
}
