/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-set.c - an open dataset, what is selected of it, and the transfer of that */
#include "backends/hdf5/hdf5-set.h"
#include "config.h"

#include <errno.h>

#include "backends/hdf5/hdf5-close.h"
#include "par/io/mpifile.h"

void hdf5_set_use(struct hdf5_set *set, hid_t id)
{
    haddr_t where = id >= 0 ? H5Dget_offset(id) : HADDR_UNDEF;

    set->id = id;
    set->where = where == HADDR_UNDEF ? 0 : where;
}

const char *hdf5_set_call(enum weir_dir dir)
{
    return dir == WEIR_DIR_WRITE ? "H5Dwrite" : "H5Dread";
}

int hdf5_set_move(const struct hdf5_container *c, const struct hdf5_set *set, enum weir_dir dir,
                  void *buf, int *sys, struct weir_err *err)
{
    const struct hdf5_state *st = c->st;
    herr_t rc;

    errno = 0;
    if (dir == WEIR_DIR_WRITE)
        rc = H5Dwrite(set->id, set->type, set->in_memory, set->in_file, st->transfer, buf);
    else
        rc = H5Dread(set->id, set->type, set->in_memory, set->in_file, st->transfer, buf);
    *sys = errno;
    if (rc >= 0)
        return 0;
    hdf5_fail(err, "%s", hdf5_set_call(dir));
    weir_mpi_unlock(c->path);
    if (st->collective)
        hdf5_resync(st, c->id);
    return weir_mpi_add_reason(err, *sys, st->mpi.comm_errno);
}

static void close_space(hid_t *id)
{
    if (*id >= 0)
        H5Sclose(*id);
    *id = H5I_INVALID_HID;
}

void hdf5_set_close_spaces(struct hdf5_set *set)
{
    close_space(&set->in_memory);
    close_space(&set->in_file);
}
