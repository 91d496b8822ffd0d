/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-close.c - continue with a file, and close it, after some bytes could not be written */
#include "backends/hdf5/hdf5-close.h"
#include "config.h"

#include <errno.h>
#include <string.h>

#include "backends/shared/mpishow.h"
#include "par/io/mpifile.h"

#define ROOM_FILE 65536u  /* bytes of metadata that a file may still need, at most */
#define ROOM_DATASET 512u /* and for each dataset */

/* NULL where there is none below the file. */
static MPI_File *handle_of(const struct hdf5_state *st, hid_t file)
{
    void *handle = NULL;

    return st->serial || H5Fget_vfd_handle(file, st->access, &handle) < 0 ? NULL : handle;
}

void hdf5_resync(const struct hdf5_state *st, hid_t file)
{
    weir_mpi_resync(handle_of(st, file), st->mpi.info);
}

int hdf5_check_size(const struct hdf5_state *st, hid_t file, const char *path, uint64_t end,
                    struct weir_err *err)
{
    MPI_File *handle = handle_of(st, file);

    return handle ? weir_mpi_check_size(*handle, path, end, err) : 0;
}

MPI_Info hdf5_hints(const struct hdf5_state *st, hid_t file)
{
    return weir_mpi_info_of(handle_of(st, file));
}

uint64_t hdf5_size(const struct hdf5_state *st, hid_t file)
{
    MPI_File *handle = handle_of(st, file);
    MPI_Offset size = 0;
    hsize_t bytes = 0;

    if (st->serial)
        return H5Fget_filesize(file, &bytes) < 0 ? 0 : bytes;
    return handle && MPI_File_get_size(*handle, &size) == MPI_SUCCESS ? (uint64_t)size : 0;
}

int hdf5_check_kept(const struct hdf5_state *st, hid_t file, const char *path, uint64_t size,
                    struct weir_err *err)
{
    MPI_File *handle = handle_of(st, file);

    return handle || st->serial ? weir_mpi_check_kept(handle, path, size, err) : 0;
}

static uint64_t metadata_of(uint64_t datasets)
{
    return ROOM_FILE + ROOM_DATASET * datasets;
}

int hdf5_check_limit(const struct weir_extent *x, struct weir_err *err)
{
    return weir_mpi_check_limit("HDF5", x->file_bytes + metadata_of(x->segments), err);
}

int hdf5_check_room(const char *path, uint64_t datasets, struct weir_err *err)
{
    uint64_t need = metadata_of(datasets);
    uint64_t room = weir_mpi_room(path);

    if (room >= need)
        return 0;
    return weir_refuse(
        err, WEIR_EIO,
        "the file system of '%s' is full: %llu bytes are left, the metadata may need %llu", path,
        (unsigned long long)room, (unsigned long long)need);
}

void hdf5_explain(const char *path, uint64_t need, struct weir_err *err)
{
    uint64_t room = weir_mpi_room(path);

    if (err && err->sys == 0 && room < need)
        weir_refuse(err, err->code, "%s: %s: %llu bytes are free", err->text, strerror(ENOSPC),
                    (unsigned long long)room);
}

/* H5Fclose that fails leaves a file that the library closes again in MPI_Finalize, and that ends
 * in a crash or, when the ranks fail differently, in a hang. The driver of the library gives
 * access to its MPI_File: replace it by another one. */
void hdf5_abandon(const struct hdf5_state *st, hid_t file)
{
    weir_mpi_sink(st->comm, handle_of(st, file));
}
