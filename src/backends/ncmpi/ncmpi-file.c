/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-file.c - an open file of PnetCDF, whatever is in it */
#include "backends/ncmpi/ncmpi-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text/wholefile.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

#define MAGIC "CDF\5"
#define HEAD_BYTES 12 /* format and number of records */

static const struct {
    int code, sys;
} codes[] = {
    { NC_EACCESS, EACCES }, { NC_EBAD_FILE, EINVAL }, { NC_EEXIST, EEXIST },    { NC_EFILE, EIO },
    { NC_ENOENT, ENOENT },  { NC_ENOMEM, ENOMEM },    { NC_ENO_SPACE, ENOSPC }, { NC_EPERM, EPERM },
    { NC_EQUOTA, EDQUOT },  { NC_EREAD, EIO },        { NC_EWRITE, EIO },       { NC_NOERR, 0 }
};

static struct weir_mpi_session *mpi_of(const struct ncmpi_file *f)
{
    return f->s->priv;
}

/* ---- what the library says, and what it does not ---- */

int ncmpi_fail(struct weir_err *err, int rc, const char *fmt, ...)
{
    va_list ap;
    int i = 0;

    while (codes[i].code != NC_NOERR && codes[i].code != rc)
        i++;
    va_start(ap, fmt);
    weir_fail_with(err, WEIR_EIO, codes[i].sys, ncmpi_strerror(rc), fmt, ap);
    va_end(ap);
    return -1;
}

/* The header begins with the format and the number of records, 8 bytes with the highest first. */
static bool has_header(const char *path, uint64_t least)
{
    unsigned char head[HEAD_BYTES] = { 0 };
    int fd = open(weir_mpi_path(path), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
    uint64_t records = 0;

    if (fd >= 0)
        close(fd);
    for (size_t i = sizeof(MAGIC) - 1; i < sizeof(head); i++)
        records = records << 8 | head[i];
    return n == (ssize_t)sizeof(head) && memcmp(head, MAGIC, sizeof(MAGIC) - 1) == 0 &&
           records >= least;
}

int ncmpi_judge(struct ncmpi_file *f, int rc, const char *call, struct weir_err *err)
{
    int sys = errno;

    if (rc != NC_NOERR) {
        ncmpi_fail(err, rc, "%s '%s'", call, f->path);
        return weir_mpi_add_reason(err, weir_mpi_hidden_errno(mpi_of(f), sys), 0);
    }
    if (weir_mpi_hidden_errno(mpi_of(f), sys) == 0)
        return 0;
    if (!has_header(f->path, (uint64_t)f->records)) {
        weir_mpi_refuse_hidden(err, sys, call, "the header is not in the file");
        return weir_err_within(err, "'%s'", f->path);
    }
    weir_mpi_doubt_found(&f->doubt, sys, call);
    return 0;
}

/* Check that all bytes are in the file. The library ignores how many bytes MPI-IO has written.
 * A full disk then shows in the size of the file, or not at all when only blocks before its end
 * are missing. So a file system without free space for a piece counts as a failure. When a file
 * that is read has become shorter, the library returns whatever is in its memory. */
static int check_end(struct ncmpi_file *f, uint64_t piece, struct weir_err *err)
{
    MPI_Comm comm = f->s->par->comm;
    const char *path = f->path;
    uint64_t all[] = { f->end, (uint64_t)f->doubt.sys }; /* an errno of any rank explains it */
    uint64_t last, size;

    weir_mpi_max(comm, all, 2); /* when this returns all have written */
    last = f->end = all[0];
    size = weir_mpi_size(comm, path);
    if (size >= last && (!f->writes || last == 0 || weir_mpi_space(path) >= piece))
        return 0;
    if (!f->writes)
        return weir_refuse(err, WEIR_EIO, WEIR_MPI_TRUNCATED, path, (unsigned long long)size,
                           (unsigned long long)last);
    if (size >= last)
        return weir_refuse(err, WEIR_EIO,
                           "the file system of '%s' is full: PnetCDF does not report whether all "
                           "data were written",
                           path);
    return weir_refuse(err, WEIR_EIO, WEIR_MPI_SHORT, path, (unsigned long long)size,
                       (unsigned long long)last,
                       all[1] || weir_mpi_space(path) < piece
                           ? strerror(all[1] ? (int)all[1] : ENOSPC)
                           : "is the file system full, or a quota reached?");
}

/* ---- open and close ---- */

/* Return the name of a file for the library, as weir_mpi_name does. PnetCDF drops everything
 * before the first ':', and empties or makes the file of the rest. That must be the file that
 * MPI-IO opens, or else the result is NULL and err (WEIR_EUSAGE). */
static const char *name_of(const struct ncmpi_file *f, char text[WEIR_MPI_NAME_TEXT],
                           struct weir_err *err)
{
    const char *name = weir_mpi_name(&mpi_of(f)->drivers, f->path, text, err);
    const char *colon = name ? strchr(name, ':') : NULL;

    if (!colon || strcmp(colon + 1, weir_mpi_path(f->path)) == 0)
        return name;
    weir_refuse(err, WEIR_EUSAGE, "'%s': PnetCDF reads the text before ':' as a driver and would "
                                  "use '%s'; choose a name without ':'", f->path, colon + 1);
    return NULL;
}

static int open_library(struct ncmpi_file *f, unsigned flags, struct weir_err *err)
{
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = name_of(f, text, err);
    int mode = NC_64BIT_DATA | (flags & WEIR_OPEN_EXCL ? NC_NOCLOBBER : NC_CLOBBER);
    MPI_Comm comm = f->s->par->comm;
    MPI_Info info = mpi_of(f)->info;
    int rc;

    if (!name)
        return -1;
    errno = 0;
    weir_timed_begin(f->s);
    rc = f->fresh ? ncmpi_create(comm, name, mode, info, &f->nc)
                  : ncmpi_open(comm, name, f->writes ? NC_WRITE : NC_NOWRITE, info, &f->nc);
    weir_timed_end(f->s);
    return rc == NC_NOERR ? 0 : ncmpi_judge(f, rc, f->fresh ? "ncmpi_create" : "ncmpi_open", err);
}

int ncmpi_file_open(struct ncmpi_file *f, struct weir_session *s, const char *path, unsigned flags,
                    struct weir_err *err)
{
    *f = (struct ncmpi_file) { .s = s, .path = path, .sync_fd = -1 };
    f->collective = s->access.collective;
    f->writes = flags & WEIR_OPEN_WRITE;
    f->size = weir_mpi_size(s->par->comm, path);
    f->fresh = f->writes && (flags & WEIR_OPEN_CREATE) &&
               ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || f->size == 0);
    f->defining = f->fresh;
    if (f->writes)
        f->size = UINT64_MAX;
    return weir_agree_call(s->par, open_library(f, flags, err), err);
}

int ncmpi_file_drop(struct ncmpi_file *f)
{
    int first = f->independent ? ncmpi_end_indep_data(f->nc) : NC_NOERR, rc;

    f->independent = false;
    weir_timed_begin(f->s);
    rc = ncmpi_close(f->nc);
    weir_timed_end(f->s);
    if (f->sync_fd >= 0)
        close(f->sync_fd); /* what fails here is in errno */
    f->sync_fd = -1;
    return first != NC_NOERR ? first : rc;
}

int ncmpi_file_close(struct ncmpi_file *f, uint64_t piece, struct weir_err *err)
{
    struct weir_err *first_err = f->failed ? NULL : err; /* one error is enough */
    int rc = check_end(f, piece, first_err), nc, sys;

    if (f->writes &&
        weir_mpi_doubt_conclude(&f->doubt, f->path, f->fresh, piece, f->end, first_err) < 0)
        rc = weir_err_within(first_err, "'%s'", f->path); /* knows more than the size does */
    errno = 0;
    nc = ncmpi_file_drop(f);
    sys = errno;
    if (rc < 0 || f->failed)
        return f->failed ? 0 : -1;
    if (nc != NC_NOERR) {
        ncmpi_fail(err, nc, "ncmpi_close '%s'", f->path);
        return weir_mpi_add_reason(err, sys, mpi_of(f)->comm_errno);
    }
    return weir_mpi_doubt_close(&f->doubt, mpi_of(f), sys, "ncmpi_close", f->s->log, f->path, err);
}

/* ---- the modes of a file ---- */

int ncmpi_file_transfers(struct ncmpi_file *f, struct weir_err *err)
{
    if (f->collective || f->independent)
        return 0;
    errno = 0;
    f->independent = true; /* also when this rank fails: all must end it together */
    return ncmpi_judge(f, ncmpi_begin_indep_data(f->nc), "ncmpi_begin_indep_data", err);
}

int ncmpi_file_defined(struct ncmpi_file *f, struct weir_err *err)
{
    int rc;

    if (!f->defining)
        return 0;
    errno = 0;
    weir_timed_begin(f->s);
    rc = ncmpi_enddef(f->nc);
    weir_timed_end(f->s);
    f->defining = false;
    rc = ncmpi_judge(f, rc, "ncmpi_enddef", err);
    f->failed |= rc < 0;
    return rc;
}

int ncmpi_file_ready(struct ncmpi_file *f, struct weir_err *err)
{
    if (!f->defining && ncmpi_file_transfers(f, err) < 0)
        return -1;
    if (!f->writes)
        return 0;
    f->sync_fd = weir_mpi_open_to_sync(f->path, err);
    return f->sync_fd < 0 ? -1 : 0;
}

/* The library keeps no data back, so what it handed to the system is all there is to flush. */
int ncmpi_file_sync(struct ncmpi_file *f, struct weir_err *err)
{
    return f->sync_fd < 0 ? 0 : weir_fsync(f->sync_fd, f->path, err);
}

MPI_Info ncmpi_file_hints(const struct ncmpi_file *f)
{
    MPI_Info used = MPI_INFO_NULL;

    return ncmpi_inq_file_info(f->nc, &used) == NC_NOERR ? used : MPI_INFO_NULL;
}
