/* SPDX-License-Identifier: BSD-3-Clause */
/* mpifile.c - what the backends whose files go through MPI-IO share */
#include "par/io/mpifile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text/wholefile.h"

/* ---- names ---- */

/* The drivers of ROMIO. */
static const char *const prefixes[] = { "daos:", "gpfs:",   "lustre:", "nfs:", "panfs:", "pvfs2:",
                                        "pvfs:", "testfs:", "ufs:",    "xfs:", NULL };

const char *weir_mpi_path(const char *path)
{
    for (const char *const *p = prefixes; *p; p++) {
        size_t len = strlen(*p);

        if (strncasecmp(path, *p, len) == 0 && path[len] != '\0')
            return path + len;
    }
    return path;
}

/* ROMIO opens the file that follows a driver; for OMPIO the driver is a part of the name, and
 * there is no such file. */
static bool reads_drivers(void)
{
    int fd = memfd_create("weir-name", MFD_CLOEXEC);
    char name[64];
    MPI_File file;
    bool yes = false;

    if (fd < 0)
        return false;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (snprintf(name, sizeof(name), "ufs:/proc/self/fd/%d", fd) < (int)sizeof(name))
        yes = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS;
    if (yes)
        MPI_File_close(&file);
    close(fd);
    return yes;
}

bool weir_mpi_is_romio(enum weir_mpi_drivers *drivers)
{
    if (*drivers == WEIR_DRIVERS_UNKNOWN)
        *drivers = reads_drivers() ? WEIR_DRIVERS_READ : WEIR_DRIVERS_NOT_READ;
    return *drivers == WEIR_DRIVERS_READ;
}

static const char *join(const char *before, const char *path, char text[WEIR_MPI_NAME_TEXT],
                        struct weir_err *err)
{
    if (snprintf(text, WEIR_MPI_NAME_TEXT, "%s%s", before, path) < WEIR_MPI_NAME_TEXT)
        return text;
    weir_refuse(err, WEIR_EUSAGE, "the name '%.64s...' is longer than %d bytes", path, PATH_MAX);
    return NULL;
}

/* Open MPI 4.1 crashes in MPI_File_open where a name needs the working directory and that has no
 * name: it was removed, or is too deep. */
static bool needs_lost_directory(const char *system)
{
    char text[PATH_MAX];

    return system[0] != '\0' && system[0] != '/' && !getcwd(text, sizeof(text));
}

const char *weir_mpi_name(enum weir_mpi_drivers *drivers, const char *path,
                          char text[WEIR_MPI_NAME_TEXT], struct weir_err *err)
{
    const char *system = weir_mpi_path(path);

    if (strchr(path, ':') && weir_mpi_is_romio(drivers))
        return system != path ? path : join("ufs:", path, text, err);
    if (needs_lost_directory(system))
        return join("/proc/self/cwd/", system, text, err);
    /* Open MPI 4.1 cannot open a name of one letter, and libraries look for the directory before
     * the last '/'. */
    if (system[0] != '\0' && !strchr(system, '/'))
        return join("./", system, text, err);
    return system;
}

/* ---- errors ---- */

struct class_errno {
    int mpi_class, sys;
};

static const struct class_errno classes[] = { { MPI_ERR_ACCESS, EACCES },
                                              { MPI_ERR_BAD_FILE, EINVAL },
                                              { MPI_ERR_FILE_EXISTS, EEXIST },
                                              { MPI_ERR_FILE_IN_USE, EBUSY },
                                              { MPI_ERR_IO, EIO },
                                              { MPI_ERR_NO_MEM, ENOMEM },
                                              { MPI_ERR_NO_SPACE, ENOSPC },
                                              { MPI_ERR_NO_SUCH_FILE, ENOENT },
                                              { MPI_ERR_QUOTA, EDQUOT },
                                              { MPI_ERR_READ_ONLY, EROFS },
                                              { MPI_SUCCESS, 0 } };

static int sys_of(int mpi_rc)
{
    int mpi_class = MPI_ERR_OTHER;

    MPI_Error_class(mpi_rc, &mpi_class);
    for (const struct class_errno *c = classes; c->mpi_class != MPI_SUCCESS; c++)
        if (c->mpi_class == mpi_class)
            return c->sys;
    return 0;
}

int weir_mpi_fail(struct weir_err *err, enum weir_code code, int mpi_rc, const char *fmt, ...)
{
    char reason[MPI_MAX_ERROR_STRING + 1];
    int len = 0;
    va_list ap;

    if (MPI_Error_string(mpi_rc, reason, &len) != MPI_SUCCESS)
        len = 0;
    while (len > 0 && (reason[len - 1] == '\n' || reason[len - 1] == ' '))
        len--;
    reason[len] = '\0';
    va_start(ap, fmt);
    weir_fail_with(err, code, sys_of(mpi_rc), reason, fmt, ap);
    va_end(ap);
    return -1;
}

/* The errno that a storage call can give and a good call of a library does not leave. So not
 * EAGAIN, which progress of messages leaves, nor ENOENT, EEXIST, EINVAL, ENOTTY and ENOSYS, which
 * looking for things does, nor EBADF: ROMIO reads a hints file that it could not open. */
static const int io_errnos[] = { EIO,      ENOSPC,    EDQUOT,    EROFS,     EFBIG,  ESTALE, EINTR,
                                 ENXIO,    ENODEV,    EREMOTEIO, EPERM,     EACCES, ENOLCK, ENOMEM,
                                 ENOTCONN, ESHUTDOWN, ETIMEDOUT, ECANCELED, 0 };

bool weir_mpi_is_io_errno(int sys)
{
    const int *t = io_errnos;

    while (*t != 0 && *t != sys)
        t++;
    return *t != 0;
}

int weir_mpi_add_reason(struct weir_err *err, int sys, int comm_errno)
{
    if (!err || sys == 0 || sys == comm_errno)
        return -1;
    if (!strstr(err->text, strerror(sys)))
        weir_refuse(err, err->code, "%s: %s", err->text, strerror(sys));
    err->sys = sys;
    return -1;
}

/* ---- the file itself ---- */

int weir_mpi_open_to_sync(const char *path, struct weir_err *err)
{
    int fd = open(weir_mpi_path(path), O_WRONLY | O_CLOEXEC);

    return fd < 0 ? weir_fail(err, WEIR_EIO, "open '%s' for fsync", path) : fd;
}

int weir_mpi_sync_file(const char *path, struct weir_err *err)
{
    int fd = weir_mpi_open_to_sync(path, err);
    int rc;

    if (fd < 0)
        return -1;
    rc = weir_fsync(fd, path, err);
    close(fd);
    return rc;
}

int weir_mpi_sync(MPI_File file, const char *path, int comm_errno, struct weir_err *err)
{
    int rc, sys;

    errno = 0;
    rc = MPI_File_sync(file);
    sys = errno;
    if (rc == MPI_SUCCESS)
        return 0;
    if (sys == EINTR)
        return weir_mpi_sync_file(path, err);
    weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_sync '%s'", path);
    return weir_mpi_add_reason(err, sys, comm_errno);
}

/* Closing any descriptor of a file does that. */
void weir_mpi_unlock(const char *path)
{
    int fd = open(weir_mpi_path(path), O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
}

uint64_t weir_mpi_space(const char *path)
{
    struct statvfs v;

    if (statvfs(weir_mpi_path(path), &v) < 0 || v.f_blocks == 0)
        return UINT64_MAX;
    return (uint64_t)v.f_bfree * v.f_frsize;
}

int weir_mpi_check_space(const char *path, uint64_t need, struct weir_err *err)
{
    uint64_t space = weir_mpi_space(path);

    if (space >= need)
        return 0;
    return weir_refuse(err, WEIR_EIO, "the file system of '%s' is full: %llu bytes are free, but "
                                      "the metadata can need %llu", path, (unsigned long long)space,
                                      (unsigned long long)need);
}

int weir_mpi_check_size(MPI_File file, const char *path, uint64_t end, struct weir_err *err)
{
    MPI_Offset size = 0;

    if (end == UINT64_MAX || MPI_File_get_size(file, &size) != MPI_SUCCESS || (uint64_t)size >= end)
        return 0;
    return weir_refuse(err, WEIR_EIO, WEIR_MPI_SHORT, path, (unsigned long long)size,
                       (unsigned long long)end,
                       weir_mpi_space(path) == 0 ? strerror(ENOSPC) : "is the file system full?");
}

int weir_mpi_check_end(MPI_Comm comm, MPI_File file, const char *path, uint64_t *end,
                       struct weir_err *err)
{
    weir_mpi_max(comm, end, 1); /* when this returns all have written */
    return weir_mpi_check_size(file, path, *end, err);
}

bool weir_mpi_is_first(MPI_Comm comm)
{
    int rank = 0;

    MPI_Comm_rank(comm, &rank);
    return rank == 0;
}

uint64_t weir_mpi_size(MPI_Comm comm, const char *path)
{
    uint64_t size = 0;
    struct stat sb;

    if (weir_mpi_is_first(comm) && stat(weir_mpi_path(path), &sb) == 0)
        size = (uint64_t)sb.st_size;
    weir_mpi_must(NULL, MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
    return size;
}

/* UINT64_MAX where that is not known. */
static uint64_t size_of(const MPI_File *file, const char *path)
{
    MPI_Offset size = 0;
    struct stat sb;

    if (!file)
        return stat(weir_mpi_path(path), &sb) == 0 ? (uint64_t)sb.st_size : UINT64_MAX;
    return MPI_File_get_size(*file, &size) == MPI_SUCCESS ? (uint64_t)size : UINT64_MAX;
}

int weir_mpi_check_kept(const MPI_File *file, const char *path, uint64_t need, struct weir_err *err)
{
    uint64_t size = size_of(file, path);

    if (size >= need)
        return 0;
    return weir_refuse(err, WEIR_EIO, WEIR_MPI_TRUNCATED, path, (unsigned long long)size,
                       (unsigned long long)need);
}

/* True when the view of a transfer is still set. That of a dataset does not begin at byte 0, and
 * that of metadata has a type of its own. */
static bool has_view(MPI_File handle)
{
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Datatype types[2] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL };
    MPI_Offset at = 0;
    bool plain = true;

    if (MPI_File_get_view(handle, &at, &types[0], &types[1], representation) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < 2; i++) {
        int n, combiner = MPI_COMBINER_NAMED;

        MPI_Type_get_envelope(types[i], &n, &n, &n, &combiner);
        if (combiner != MPI_COMBINER_NAMED) {
            MPI_Type_free(&types[i]);
            plain = false;
        }
    }
    return at != 0 || !plain;
}

/* A collective transfer of HDF5 sets a view of the file, moves the data, and sets the view back,
 * which is collective. A rank whose data could not be moved skips the last, so its view tells
 * whether the others wait there. (Where MPI-IO reports a full disk as success, as OMPIO does, it
 * never comes to that.) */
void weir_mpi_resync(MPI_File *handle, MPI_Info info)
{
    if (handle && has_view(*handle))
        MPI_File_set_view(*handle, 0, MPI_BYTE, MPI_BYTE, "native", info);
}

int weir_mpi_check_limit(const char *format, uint64_t need, struct weir_err *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= need)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "files can have at most %llu bytes (ulimit -f), but the %s file of this "
                       "test needs %llu",
                       (unsigned long long)limit.rlim_cur, format, (unsigned long long)need);
}

/* A file in memory. Returns whether it is open, and whether it can be synced. */
static bool open_sink(MPI_File *sink, bool *synced)
{
    char path[64];
    int fd = memfd_create("weir-sink", MFD_CLOEXEC);
    bool ok = fd >= 0 && snprintf(path, sizeof(path), "/proc/self/fd/%d", fd) < (int)sizeof(path) &&
              MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, sink) == MPI_SUCCESS;

    *synced = !ok || MPI_File_sync(*sink) == MPI_SUCCESS;
    if (fd >= 0)
        close(fd);
    return ok;
}

int weir_mpi_sink(MPI_Comm comm, MPI_File *handle)
{
    MPI_File sink = MPI_FILE_NULL;
    bool synced, ok = open_sink(&sink, &synced);

    if (weir_mpi_agree(comm, ok && handle ? 0 : -1) == 0) {
        MPI_File_close(handle);
        *handle = sink;
    } else if (ok) {
        MPI_File_close(&sink);
    }
    return weir_mpi_agree(comm, synced ? 0 : -1);
}

bool weir_mpi_can_sync(void)
{
    MPI_File sink = MPI_FILE_NULL;
    bool synced;

    if (open_sink(&sink, &synced))
        MPI_File_close(&sink);
    return synced;
}
