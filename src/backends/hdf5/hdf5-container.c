/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-container.c - an open HDF5 file, whatever is in it */
#include "backends/hdf5/hdf5-file.h"

#include <errno.h>

#include "backends/shared/mpishow.h"
#include "par/io/mpifile.h"

#define FILE_SPACE 65536u  /* bytes of metadata that a file may still need, at most */
#define DATASET_SPACE 512u /* and for each dataset */

/* ---- the MPI file that the library uses for an open file ---- */

/* NULL where there is none below the file. */
static MPI_File *handle_of(const struct hdf5_container *c)
{
    bool by_mpi = !c->st->serial && !c->st->mpi.remove; /* not in subfiles */
    void *handle = NULL;

    return by_mpi && H5Fget_vfd_handle(c->id, c->st->access, &handle) >= 0 ? handle : NULL;
}

MPI_Info hdf5_container_hints(const struct hdf5_container *c)
{
    return weir_mpi_info_of(handle_of(c));
}

/* 0 where the library does not report it. */
static uint64_t size_of(const struct hdf5_container *c)
{
    MPI_File *handle = handle_of(c);
    MPI_Offset size = 0;
    hsize_t bytes = 0;

    if (c->st->serial)
        return H5Fget_filesize(c->id, &bytes) < 0 ? 0 : bytes;
    return handle && MPI_File_get_size(*handle, &size) == MPI_SUCCESS ? (uint64_t)size : 0;
}

/* Redirect what the library still has to write to the file into memory that is then freed, so that
 * H5Fclose succeeds on a file system that accepts no more data. H5Fclose that fails leaves a file
 * that the library closes again in MPI_Finalize, and that ends in a crash or, when the ranks fail
 * differently, in a hang. The file itself is not a valid HDF5 file afterwards. Collective over
 * st->comm. */
static void abandon(const struct hdf5_container *c)
{
    weir_mpi_sink(c->st->comm, handle_of(c));
}

/* ---- calls that are collective inside of the library ---- */

void hdf5_container_guard(struct hdf5_container *c)
{
    const struct hdf5_state *st = c->st;

    h5guard_begin(st->guard, c->path, c->writes ? handle_of(c) : NULL, st->mpi.info, st->comm);
}

int hdf5_container_unguard(struct hdf5_container *c, const char *call, struct weir_err *err)
{
    int rc = h5guard_end(c->st->guard, false, call, err);

    c->failed |= rc < 0;
    return rc;
}

/* ---- space for the file ---- */

static uint64_t metadata_of(uint64_t datasets)
{
    return FILE_SPACE + DATASET_SPACE * datasets;
}

/* ---- open and close ---- */

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
    c->id = is_new ? H5Fcreate(name, how, c->st->make, c->st->access)
                   : H5Fopen(name, how, c->st->access);
    weir_timed_end(c->st->s);
    return c->id < 0 ? hdf5_fail(err, "%s '%s'", call, c->path) : 0;
}

int hdf5_container_open(struct hdf5_container *c, struct hdf5_state *st, const char *path,
                        unsigned flags, const struct weir_extent *extent, struct weir_err *err)
{
    uint64_t need = extent->file_bytes + metadata_of(extent->segments);
    bool is_new;
    int rc = 0;

    *c = (struct hdf5_container) { .st = st, .path = path, .id = H5I_INVALID_HID };
    c->writes = flags & WEIR_OPEN_WRITE;
    /* Beyond the limit on file sizes (RLIMIT_FSIZE) 'abandon' could not make its file in memory,
     * either. The limit of one rank stops all. */
    if (c->writes && st->mpi.limited)
        rc = weir_agree_open(st->s->par, st->comm, weir_mpi_check_limit("HDF5", need, err), err);
    if (rc < 0)
        return rc;
    is_new = c->writes && (flags & WEIR_OPEN_CREATE) &&
             ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || weir_mpi_size(st->comm, path) == 0);
    c->fresh = is_new;
    c->piece = extent->transfer;
    rc = weir_agree_open(st->s->par, st->comm, open_id(c, flags, is_new, err), err);
    if (rc == 0 && !c->writes)
        c->size = size_of(c);
    return rc;
}

/* Close the file. Collective. Returns the result of H5Fclose and leaves its errno. *lost is -1 with
 * err where a write inside of it has failed on this rank, else 0. */
static herr_t close_id(struct hdf5_container *c, int *lost, struct weir_err *err)
{
    herr_t ok;
    int sys;

    hdf5_container_guard(c);
    errno = 0;
    weir_timed_begin(c->st->s);
    ok = H5Fclose(c->id);
    weir_timed_end(c->st->s);
    sys = errno;
    *lost = h5guard_end(c->st->guard, true, "H5Fclose", err);
    errno = sys;
    return ok;
}

void hdf5_container_drop(struct hdf5_container *c)
{
    uint64_t torn[] = { c->torn, !c->torn };
    int lost;

    weir_mpi_max(c->st->comm, torn, 2);
    if (c->writes)
        abandon(c);
    if (torn[0] && torn[1])
        c->st->s->broken = true;
    else
        c->st->s->broken |= close_id(c, &lost, NULL) < 0;
}

int hdf5_container_fail(struct hdf5_container *c, struct weir_err *err, const char *call)
{
    c->failed |= c->writes && weir_mpi_is_io_errno(errno);
    c->torn = true;
    return hdf5_fail(err, "%s", call);
}

/* Checks the data that collective writes have left in the file, after all ranks have written. */
static int check_data(struct hdf5_container *c, bool last, struct weir_err *err)
{
    MPI_File *handle = handle_of(c);
    int rc = handle ? weir_mpi_check_size(*handle, c->path, c->end, err) : 0;

    if (last && weir_mpi_doubt_conclude(&c->doubt, c->path, c->fresh, c->piece, c->end, err) < 0)
        rc = weir_err_within(err, "'%s'", c->path); /* knows more than the size does */
    return rc;
}

/* Before the last writes of the library, check that no rank has failed: a failure inside them
 * would crash the library. 'last': all data are written. Every rank takes part, also one that
 * has failed. Returns -1 when any has; err is filled where the reason is new. Sets *doubtful
 * where collective writes of a rank have not been checked. */
static int check_writes(struct hdf5_container *c, bool last, bool *doubtful, struct weir_err *err)
{
    struct weir_err *first_err = c->failed ? NULL : err, full = WEIR_ERR_INIT;
    uint64_t need = metadata_of(c->datasets);
    bool first = weir_mpi_is_first(c->st->comm);
    int space = c->failed || !first ? 0 : weir_mpi_check_space(c->path, need, &full), rc = 0;
    uint64_t all[] = { c->end, c->failed || space < 0, c->doubt.open > 0, c->torn, !c->torn, space < 0 };

    weir_mpi_max(c->st->comm, all, sizeof(all) / sizeof(*all));
    if (all[5] && !c->failed && !first) /* one rank asks; each has its own words */
        space = weir_mpi_check_space(c->path, need, &full);
    c->broken |= all[3] && all[4];
    c->st->s->broken |= c->broken;
    *doubtful = all[2];
    c->end = all[0];
    if (c->st->collective && (c->end > 0 || *doubtful))
        rc = check_data(c, last, first_err);
    if (rc == 0 && space < 0 && first_err)
        *first_err = full;
    c->failed |= rc < 0 || space < 0;
    if (c->st->collective && (all[0] > 0 || *doubtful))
        return weir_mpi_agree(c->st->comm, c->failed ? -1 : 0);
    return all[1] ? -1 : 0;
}

int hdf5_container_flush(struct hdf5_container *c, struct weir_err *err)
{
    bool reported = c->failed, doubtful = false;
    int ok, sys;

    if (c->writes && check_writes(c, false, &doubtful, err) < 0) {
        if (!c->failed)
            return 0; /* the rank that knows the cause reports it */
        return reported
                   ? weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", c->path)
                   : -1;
    }
    if (c->broken) /* the rank where something is missing has reported it */
        return 0;
    if (c->st->collective && doubtful) /* the library's own sync could fail on one rank */
        return weir_mpi_sync_file(c->path, err);
    c->end = 0; /* it is in the file */
    hdf5_container_guard(c);
    errno = 0;
    weir_timed_begin(c->st->s);
    ok = H5Fflush(c->id, H5F_SCOPE_LOCAL);
    weir_timed_end(c->st->s);
    sys = errno;
    if (hdf5_container_unguard(c, "H5Fflush", err) < 0)
        return -1;
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
    bool reported = c->failed, doubtful;
    int rc = 0, lost;
    int ok, sys;

    /* HDF5 returns zeros for bytes that the file no longer has. */
    if (!c->writes && (handle_of(c) || c->st->serial))
        rc = weir_mpi_check_kept(handle_of(c), c->path, c->size, err);
    if (c->writes && check_writes(c, true, &doubtful, err) < 0) {
        abandon(c);
        rc = c->failed && !reported ? -1 : 0;
    }
    if (c->broken) /* the library would wait in it for what some ranks do not have */
        return rc;
    ok = close_id(c, &lost, rc < 0 || reported ? NULL : err);
    sys = errno;
    c->st->s->broken |= ok < 0;
    if (rc < 0 || reported)
        return rc; /* reported already */
    if (lost < 0)
        return -1;
    if (ok < 0)
        return hdf5_fail(err, "H5Fclose '%s'", c->path);
    return weir_mpi_doubt_close(&c->doubt, &c->st->mpi, sys, "H5Fclose", c->st->s->log, c->path, err);
}

void hdf5_container_describe(const struct hdf5_container *c, struct weir_str *out)
{
    if (!c->st->serial)
        weir_mpi_show_hints(c->st->s, hdf5_container_hints(c), out);
}

/* ---- datasets ---- */

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

int hdf5_set_move(struct hdf5_container *c, const struct hdf5_set *set, enum weir_dir dir,
                  void *buf, int *sys, struct weir_err *err)
{
    const struct hdf5_state *st = c->st;
    bool guarded = dir == WEIR_DIR_WRITE && st->filter && st->collective;
    herr_t rc;

    if (guarded) /* the ranks exchange sizes of chunks after their writes */
        hdf5_container_guard(c);
    errno = 0;
    if (dir == WEIR_DIR_WRITE)
        rc = H5Dwrite(set->id, set->type, set->in_memory, set->in_file, st->transfer, buf);
    else
        rc = H5Dread(set->id, set->type, set->in_memory, set->in_file, st->transfer, buf);
    *sys = errno;
    if (guarded && hdf5_container_unguard(c, hdf5_set_call(dir), err) < 0)
        return -1;
    if (rc >= 0)
        return 0;
    hdf5_fail(err, "%s", hdf5_set_call(dir));
    weir_mpi_unlock(c->path);
    if (st->collective)
        h5guard_resync(handle_of(c), st->mpi.info);
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
