/* SPDX-License-Identifier: BSD-3-Clause */
/* netcdf-file.c - an open netCDF-4 file, whatever is in it */
#include "backends/netcdf/netcdf-file.h"
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netcdf_par.h>

#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"

#define ROOM_FILE 65536u /* bytes of metadata that a file may still need, at most */
#define ROOM_VAR 4096u   /* and for each variable, with its dimensions */

int netcdf_fail(struct weir_err *err, int rc, const char *fmt, ...)
{
    int sys = weir_mpi_is_io_errno(errno) ? errno : 0;
    va_list ap;

    va_start(ap, fmt);
    weir_fail_with(err, WEIR_EIO, rc > 0 ? rc : 0, nc_strerror(rc), fmt, ap);
    va_end(ap);
    return weir_mpi_add_reason(err, sys, 0);
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
    const struct weir_mpi_session *m = &f->st->mpi;
    int sys = errno;

    if (rc != NC_NOERR) {
        weir_refuse(err, WEIR_EIO, "%s: %s", call, nc_strerror(rc));
        weir_mpi_unlock(f->path);
        if (f->st->collective)
            weir_mpi_resync(f->handle, m->info);
        rc = weir_mpi_add_reason(err, sys, m->comm_errno);
    } else if (!wrote || f->st->collective) { /* else the libraries below have looked */
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

/* The library knows too little: why can the file not be opened, or made in its directory? 0: it
 * can. */
static int reason_of(const struct netcdf_file *f)
{
    const char *path = weir_mpi_path(f->path), *slash = strrchr(path, '/');
    struct weir_str dir = { 0 };
    int sys;

    if (f->fresh && slash)
        weir_str_add(&dir, path, (size_t)(slash - path + 1));
    else if (f->fresh)
        weir_str_add(&dir, ".", 1);
    errno = 0;
    if (f->fresh)
        access(weir_str_text(&dir), W_OK | X_OK);
    else
        access(path, f->writes ? R_OK | W_OK : R_OK);
    sys = errno;
    weir_str_free(&dir);
    return sys;
}

static int call_library(struct netcdf_file *f, unsigned flags, const char *name)
{
    int make = NC_NETCDF4 | (flags & WEIR_OPEN_EXCL ? NC_NOCLOBBER : NC_CLOBBER);
    int mode = f->writes ? NC_WRITE : NC_NOWRITE;

    if (f->serial)
        return f->fresh ? nc_create(name, make, &f->nc) : nc_open(name, mode, &f->nc);
    return f->fresh ? nc_create_par(name, make, f->st->comm, f->st->mpi.info, &f->nc)
                    : nc_open_par(name, mode, f->st->comm, f->st->mpi.info, &f->nc);
}

static int open_library(struct netcdf_file *f, unsigned flags, struct weir_err *err)
{
    static const char *const calls[2][2] = { { "nc_open_par", "nc_create_par" },
                                             { "nc_open", "nc_create" } };
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = f->serial ? weir_mpi_path(f->path)
                                 : weir_mpi_name(&f->st->mpi.drivers, f->path, text, err);
    const char *call = calls[f->serial][f->fresh];
    int rc, sys;

    if (!name)
        return -1;
    if (strstr(name, "://"))
        return weir_refuse(err, WEIR_EUSAGE, "'%s': netCDF takes it for an address", f->path);
    errno = 0;
    weir_timed_begin(f->st->s);
    rc = call_library(f, flags, name);
    weir_timed_end(f->st->s);
    sys = weir_mpi_is_io_errno(errno) ? errno : 0; /* the library has one word for all failures */
    if (rc != NC_NOERR && (errno = sys ? sys : reason_of(f)) != 0)
        return weir_fail(err, WEIR_EIO, "%s '%s'", call, f->path);
    if (rc != NC_NOERR)
        return netcdf_fail(err, rc, "%s '%s'", call, f->path);
    errno = 0;
    f->h5 = find_h5(name);
    f->sys = errno;
    return 0;
}

/* Know the files below the one that all ranks have opened. What follows is for all, or for none. */
static int find_handle(struct netcdf_file *f, struct weir_err *err)
{
    int rc = 0;

    if (f->h5 < 0 && (errno = f->sys) == ENOMEM)
        rc = weir_fail(err, WEIR_ESETUP, "look for '%s' in the HDF5 library", f->path);
    else if (f->h5 < 0)
        rc = weir_refuse(err, WEIR_EIO, "'%s' is not a netCDF-4 file", f->path);
    rc = weir_agree_open(f->st->s->par, f->st->comm, rc, err);
    if (rc < 0)
        nc_close(f->nc);
    else if (!f->serial)
        f->handle = handle_of(f->h5);
    return rc;
}

int netcdf_file_open(struct netcdf_file *f, struct netcdf_state *st, const char *path,
                     unsigned flags, uint64_t bytes, bool serial, struct weir_err *err)
{
    bool opened;
    int rc = 0;

    *f = (struct netcdf_file) {
        .st = st, .path = path, .nc = -1, .h5 = H5I_INVALID_HID, .serial = serial
    };
    f->writes = flags & WEIR_OPEN_WRITE;
    f->size = weir_mpi_size(st->comm, path);
    f->fresh = f->writes && (flags & WEIR_OPEN_CREATE) &&
               ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || f->size == 0);
    f->defining = f->fresh;
    if (f->writes && st->mpi.limited) { /* the limit of one rank stops all */
        rc = weir_mpi_check_limit("netCDF", bytes + ROOM_FILE, err);
        rc = weir_agree_open(st->s->par, st->comm, rc, err);
    }
    if (rc < 0)
        return rc;
    rc = open_library(f, flags, err);
    opened = rc == 0;
    rc = weir_agree_open(st->s->par, st->comm, rc, err);
    if (rc < 0 && opened)
        nc_abort(f->nc);
    return rc < 0 ? rc : find_handle(f, err);
}

void netcdf_file_drop(struct netcdf_file *f)
{
    if (f->writes && weir_mpi_sink(f->st->comm, f->handle) < 0)
        f->st->s->broken = true;
    else
        nc_close(f->nc);
}

int netcdf_file_define(struct netcdf_file *f, struct weir_err *err)
{
    int rc;

    if (f->defining)
        return 0;
    errno = 0;
    rc = nc_redef(f->nc);
    f->defining = rc == NC_NOERR;
    return f->defining ? 0 : netcdf_fail(err, rc, "nc_redef");
}

/* Before the library writes: has the file system room for what describes the data? A failure
 * inside its writes would crash it. One rank asks, and where there is none all do, for their words.
 * Every rank takes part; -1 when any has failed. */
static int check_room(struct netcdf_file *f, struct weir_err *err)
{
    uint64_t need = ROOM_FILE + ROOM_VAR * f->vars;
    bool first = weir_mpi_is_first(f->st->comm);

    if (!f->failed && first)
        f->failed = weir_mpi_check_room(f->path, need, err) < 0;
    if (weir_mpi_agree(f->st->comm, f->failed ? -1 : 0) == 0)
        return 0;
    if (!f->failed && !first)
        f->failed = weir_mpi_check_room(f->path, need, err) < 0;
    return -1;
}

int netcdf_file_defined(struct netcdf_file *f, struct weir_err *err)
{
    bool told = f->failed;
    int rc;

    if (!f->defining)
        return 0;
    if (check_room(f, err) < 0)
        return f->failed && !told ? -1 : 0;
    errno = 0;
    f->defining = false;
    weir_timed_begin(f->st->s);
    rc = nc_enddef(f->nc);
    weir_timed_end(f->st->s);
    if (rc != NC_NOERR && errno == EINTR) /* the sync is the last thing that it does */
        return weir_mpi_sync_file(f->path, err);
    return netcdf_judge(f, rc, true, "nc_enddef", err);
}

int netcdf_file_access(struct netcdf_file *f, int id, struct weir_err *err)
{
    int rc;

    if (f->serial)
        return 0;
    errno = 0;
    rc = nc_var_par_access(f->nc, id, f->st->collective ? NC_COLLECTIVE : NC_INDEPENDENT);
    return rc != NC_NOERR ? netcdf_fail(err, rc, "nc_var_par_access") : 0;
}

int netcdf_file_flush(struct netcdf_file *f, struct weir_err *err)
{
    bool told = f->failed;
    int rc;

    if (check_room(f, err) < 0) {
        if (told)
            return weir_refuse(err, WEIR_EIO, "flush '%s': a write has failed before", f->path);
        return f->failed ? -1 : 0; /* the rank that knows the cause tells it */
    }
    errno = 0;
    weir_timed_begin(f->st->s);
    rc = nc_sync(f->nc);
    weir_timed_end(f->st->s);
    if (rc != NC_NOERR && errno == EINTR)
        return weir_mpi_sync_file(f->path, err);
    rc = netcdf_judge(f, rc, f->writes, "nc_sync", err);
    /* without MPI-IO the library hands its bytes to the system, and no more */
    return rc == 0 && f->serial && f->writes ? weir_mpi_sync_file(f->path, err) : rc;
}

int netcdf_file_close(struct netcdf_file *f, struct weir_err *err)
{
    bool told = f->failed;
    int rc = 0, nc, sys;
    bool stuck = false; /* the library cannot close it */

    if (!f->writes && (f->handle || f->serial))
        rc = weir_mpi_check_kept(f->handle, f->path, f->size, err);
    if (f->writes && check_room(f, err) < 0) {
        stuck = weir_mpi_sink(f->st->comm, f->handle) < 0;
        rc = f->failed && !told ? -1 : 0;
        told |= !f->failed;
    }
    errno = 0;
    weir_timed_begin(f->st->s);
    nc = stuck ? NC_EHDFERR : nc_close(f->nc);
    weir_timed_end(f->st->s);
    sys = errno;
    f->st->s->broken |= nc != NC_NOERR; /* the library below would crash in its end */
    if (rc < 0 || told)
        return rc; /* reported already, or by another rank */
    if (nc != NC_NOERR)
        return netcdf_fail(err, nc, "nc_close '%s'", f->path);
    return weir_mpi_doubt_close(NULL, &f->st->mpi, sys, "nc_close", f->st->s->log, f->path, err);
}
