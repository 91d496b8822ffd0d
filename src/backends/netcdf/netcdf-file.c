/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-file.c - an open netCDF-4 file of arrays */
#include "backends/netcdf/netcdf-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netcdf_par.h>

#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"

#define FILE_SPACE 65536u /* bytes of metadata that a file may still need, at most */
#define VAR_SPACE 4096u   /* and for each variable, with its dimensions */

int netcdf_fail(struct weir_err *err, int rc, const char *fmt, ...)
{
    int sys = weir_mpi_is_io_errno(errno) ? errno : 0;
    va_list ap;

    va_start(ap, fmt);
    weir_fail_with(err, WEIR_EIO, rc > 0 ? rc : 0, nc_strerror(rc), fmt, ap);
    va_end(ap);
    return weir_mpi_add_reason(err, sys, 0);
}

static struct netcdf_state *state_of(const struct netcdf_file *f)
{
    return f->base.s->priv;
}

static struct weir_mpi_session *mpi_of(const struct netcdf_file *f)
{
    return &state_of(f)->mpi;
}

/* ---- the files below ---- */

/* The handle of MPI-IO below the open file, NULL where there is none. Collective: the library
 * makes a communicator for this. */
static MPI_File *handle_of(hid_t h5)
{
    hid_t access = h5 < 0 ? H5I_INVALID_HID : H5Fget_access_plist(h5);
    void *handle = NULL;

    if (access < 0 || H5Fget_vfd_handle(h5, access, &handle) < 0)
        handle = NULL;
    if (access >= 0)
        H5Pclose(access);
    return handle;
}

int netcdf_judge(struct netcdf_file *f, int rc, bool wrote, const char *call, struct weir_err *err)
{
    const struct weir_mpi_session *m = mpi_of(f);
    int sys = errno;

    if (rc != NC_NOERR) {
        weir_refuse(err, WEIR_EIO, "%s: %s", call, nc_strerror(rc));
        weir_mpi_unlock(f->base.path);
        if (f->base.collective)
            h5guard_resync(f->handle, m->info);
        rc = weir_mpi_add_reason(err, sys, m->comm_errno);
    } else if (!wrote || f->base.collective) { /* else the libraries below have looked */
        rc = weir_mpi_judge_hidden(m, sys, call, err);
    }
    f->failed |= rc < 0 && wrote;
    return rc;
}

static bool has_name(hid_t id, const char *name)
{
    ssize_t len = H5Fget_name(id, NULL, 0);
    char *text = len < 0 ? NULL : malloc((size_t)len + 1);
    bool same = text && H5Fget_name(id, text, (size_t)len + 1) == len && strcmp(text, name) == 0;

    free(text);
    return same;
}

/* The HDF5 file that the library has just opened: the newest of that name. */
static hid_t find_h5(const char *name)
{
    ssize_t n = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE);
    hid_t *ids = n > 0 ? calloc((size_t)n, sizeof(*ids)) : NULL;
    hid_t found = H5I_INVALID_HID;

    n = ids ? H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, (size_t)n, ids) : 0;
    for (ssize_t i = 0; i < n; i++)
        if (ids[i] > found && has_name(ids[i], name))
            found = ids[i];
    free(ids);
    return found;
}

/* ---- open and close ---- */

/* Returns why the file cannot be opened or made, 0 where it can: the library says EACCES of all
 * that it cannot make. A file that was not there is gone again. */
static int reason_of(const struct netcdf_file *f)
{
    const char *path = weir_mpi_path(f->base.path);
    int fd = f->defining ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1, sys = 0;

    if (fd >= 0) {
        unlink(path);
    } else if (!f->defining || errno == EEXIST) {
        fd = open(path, (f->base.writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
        /* ENOENT: another rank has just made and removed it */
        sys = fd >= 0 || (f->defining && errno == ENOENT) ? 0 : errno;
    } else {
        sys = errno;
    }
    if (fd >= 0)
        close(fd);
    return sys;
}

static int call_library(struct netcdf_file *f, unsigned flags, const char *name)
{
    int make = NC_NETCDF4 | (flags & WEIR_OPEN_EXCL ? NC_NOCLOBBER : NC_CLOBBER);
    int mode = f->base.writes ? NC_WRITE : NC_NOWRITE;

    if (!f->base.shared)
        return f->defining ? nc_create(name, make, &f->nc) : nc_open(name, mode, &f->nc);
    return f->defining ? nc_create_par(name, make, f->comm, mpi_of(f)->info, &f->nc)
                       : nc_open_par(name, mode, f->comm, mpi_of(f)->info, &f->nc);
}

static int open_library(struct netcdf_file *f, unsigned flags, struct weir_err *err)
{
    static const char *const calls[2][2] = { { "nc_open", "nc_create" },
                                             { "nc_open_par", "nc_create_par" } };
    char text[WEIR_MPI_NAME_TEXT];
    const char *path = f->base.path, *call = calls[f->base.shared][f->defining];
    const char *name = f->base.shared ? weir_mpi_name(&mpi_of(f)->drivers, path, text, err)
                                      : weir_mpi_path(path);
    int rc, sys;

    if (!name)
        return -1;
    if (strstr(name, "://"))
        return weir_refuse(err, WEIR_EUSAGE, "'%s': netCDF reads this name as a URL", path);
    errno = 0;
    weir_timed_begin(f->base.s);
    rc = call_library(f, flags, name);
    weir_timed_end(f->base.s);
    sys = weir_mpi_is_io_errno(errno) ? errno : 0; /* the library has one word for all failures */
    if (rc != NC_NOERR && (errno = sys ? sys : reason_of(f)) != 0)
        return weir_fail(err, WEIR_EIO, "%s '%s'", call, path);
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc > 0 ? NC_EHDFERR : rc, "%s '%s'", call, path);
    errno = 0;
    f->h5 = find_h5(name);
    f->sys = errno;
    return 0;
}

/* Find the files below the one that all ranks have opened, on all ranks or on none. */
static int find_handle(struct netcdf_file *f, struct weir_err *err)
{
    int rc = 0;

    if (f->h5 < 0 && (errno = f->sys) == ENOMEM)
        rc = weir_fail(err, WEIR_ESETUP, "find '%s' in the HDF5 library", f->base.path);
    else if (f->h5 < 0)
        rc = weir_refuse(err, WEIR_EIO, "'%s' is not a netCDF-4 file", f->base.path);
    rc = weir_agree_open(f->base.s->par, f->comm, rc, err);
    if (rc < 0)
        nc_close(f->nc);
    else if (f->base.shared)
        f->handle = handle_of(f->h5);
    return rc;
}

int netcdf_file_open(struct weir_array_file *base, unsigned flags, struct weir_err *err)
{
    struct netcdf_file *f = (struct netcdf_file *)base;
    const struct weir_par *par = base->s->par;
    bool opened;
    int rc = 0;

    f->comm = base->shared ? par->comm : MPI_COMM_SELF;
    f->size = weir_mpi_size(f->comm, base->path);
    f->defining = base->writes && (flags & WEIR_OPEN_CREATE) &&
                  ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || f->size == 0);
    if (base->writes && mpi_of(f)->limited) { /* the limit of one rank stops all */
        rc = weir_mpi_check_limit("netCDF", FILE_SPACE, err);
        rc = weir_agree_open(par, f->comm, rc, err);
    }
    if (rc < 0)
        return rc;
    rc = open_library(f, flags, err);
    opened = rc == 0;
    rc = weir_agree_open(par, f->comm, rc, err);
    if (rc < 0 && opened)
        nc_abort(f->nc);
    return rc < 0 ? rc : find_handle(f, err);
}

/* Before the library writes: check the free space for the metadata. A failure inside its writes
 * would crash it. One rank asks, and where there is none all do, for their words. Every rank
 * takes part; -1 when any has failed. */
static int check_space(struct netcdf_file *f, struct weir_err *err)
{
    uint64_t need = FILE_SPACE + VAR_SPACE * (uint64_t)f->base.made;
    bool first = weir_mpi_is_first(f->comm);

    if (!f->failed && first)
        f->failed = weir_mpi_check_space(f->base.path, need, err) < 0;
    if (weir_mpi_agree(f->comm, f->failed ? -1 : 0) == 0)
        return 0;
    if (!f->failed && !first)
        f->failed = weir_mpi_check_space(f->base.path, need, err) < 0;
    return -1;
}

/* A call that writes what the library has kept, and then syncs the file. */
static int write_kept(struct netcdf_file *f, int (*flush)(int nc), const char *call,
                      struct weir_err *err)
{
    int rc, sys;

    h5guard_begin(state_of(f)->guard, f->base.path, f->base.writes ? f->handle : NULL,
                  mpi_of(f)->info, f->comm);
    errno = 0;
    weir_timed_begin(f->base.s);
    rc = flush(f->nc);
    weir_timed_end(f->base.s);
    sys = errno;
    if (h5guard_end(state_of(f)->guard, false, call, err) < 0) {
        f->failed = true;
        return -1;
    }
    if (rc != NC_NOERR && sys == EINTR)
        return weir_mpi_sync_file(f->base.path, err);
    errno = sys;
    return netcdf_judge(f, rc, f->base.writes, call, err);
}

int netcdf_file_defined(struct netcdf_file *f, struct weir_err *err)
{
    bool reported = f->failed;

    if (!f->defining)
        return 0;
    if (check_space(f, err) < 0)
        return f->failed && !reported ? -1 : 0;
    f->defining = false;
    return write_kept(f, nc_enddef, "nc_enddef", err);
}

int netcdf_file_access(struct netcdf_file *f, int id, struct weir_err *err)
{
    int rc;

    if (!f->base.shared)
        return 0;
    errno = 0;
    rc = nc_var_par_access(f->nc, id, f->base.collective ? NC_COLLECTIVE : NC_INDEPENDENT);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_var_par_access") : 0;
}

int netcdf_file_sync(struct weir_array_file *base, struct weir_err *err)
{
    struct netcdf_file *f = (struct netcdf_file *)base;
    bool reported = f->failed;
    int rc;

    if (check_space(f, err) < 0) {
        if (reported)
            return weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", base->path);
        return f->failed ? -1 : 0; /* the rank that knows the cause reports it */
    }
    rc = write_kept(f, nc_sync, "nc_sync", err);
    /* without MPI-IO the library hands its bytes to the system, and no more */
    return rc == 0 && !base->shared && base->writes ? weir_mpi_sync_file(base->path, err) : rc;
}

int netcdf_file_close(struct weir_array_file *base, struct weir_err *err)
{
    struct netcdf_file *f = (struct netcdf_file *)base;
    bool reported = f->failed;
    int rc = 0, nc, sys, lost;
    bool stuck = false; /* the library cannot close it */

    if (!base->writes && (f->handle || !base->shared))
        rc = weir_mpi_check_kept(f->handle, base->path, f->size, err);
    if (base->writes && check_space(f, err) < 0) {
        stuck = weir_mpi_sink(f->comm, f->handle) < 0;
        rc = f->failed && !reported ? -1 : 0;
        reported |= !f->failed;
    }
    h5guard_begin(state_of(f)->guard, base->path, base->writes ? f->handle : NULL, mpi_of(f)->info,
                  f->comm);
    errno = 0;
    weir_timed_begin(base->s);
    nc = stuck ? NC_EHDFERR : nc_close(f->nc);
    weir_timed_end(base->s);
    sys = errno;
    lost = h5guard_end(state_of(f)->guard, !stuck, "nc_close", rc < 0 || reported ? NULL : err);
    base->s->broken |= nc != NC_NOERR; /* the library below would crash in its end */
    if (rc < 0 || reported)
        return rc; /* reported already, or by another rank */
    if (lost < 0)
        return -1;
    if (nc != NC_NOERR)
        return netcdf_fail(err, nc, "nc_close '%s'", base->path);
    return weir_mpi_doubt_close(NULL, mpi_of(f), sys, "nc_close", base->s->log, base->path, err);
}
