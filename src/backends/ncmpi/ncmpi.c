/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi.c - NCMPI: netCDF files in the CDF-5 format through PnetCDF, independent or collective */
#include "backends/ncmpi/ncmpi-var.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "backends/ncmpi/ncmpi-array.h"
#include "backends/ncmpi/ncmpi-descriptor.h"
#include "backends/ncmpi/ncmpi-path.h"
#include "backends/shared/mpins.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

struct ncmpi_file {
    struct weir_file base;
    int nc;
    int sync_fd; /* for fsync: ncmpi_sync waits for the other ranks, also when theirs fail. -1:
                  * none */
    bool writes;
    bool independent; /* between ncmpi_begin_indep_data and its end */
    bool failed;      /* a write has failed here */
    bool fresh;       /* it is new */
    uint64_t size;    /* of a file that is read */
    uint64_t end;     /* one past the last byte of the file that this rank wrote or read */
    struct ncmpi_var var;
};

static const char *version(void)
{
    return ncmpi_inq_libvers();
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    (void)extent;
    if (s->access.file_per_task)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "file-per-proc not available in current NCMPI; use one file for all tasks");
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct ncmpi_options *o = s->opt;

    if (o->preallocate || o->file_view || o->strided)
        weir_note(s->log, "--ncmpi.preallocate, --ncmpi.useFileView and --ncmpi.useStridedDatatype "
                          "have no effect: "
                          "PnetCDF decides that itself");
    return weir_mpi_session_begin(s->priv, s->par, s->log, o->mpi.hints_file, true, err);
}

static int end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    weir_mpi_session_end(s->priv);
    return 0;
}

/* ---- open and close ---- */

static int open_container(struct ncmpi_file *f, unsigned flags, bool is_new, struct weir_err *err)
{
    const struct weir_session *s = f->base.s;
    struct weir_mpi_session *m = s->priv;
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = ncmpi_name(m, f->base.path, text, err);
    int mode = NC_64BIT_DATA | (flags & WEIR_OPEN_EXCL ? NC_NOCLOBBER : NC_CLOBBER);
    int rc;

    if (!name)
        return -1;
    errno = 0;
    if (is_new) {
        rc = ncmpi_create(s->par->comm, name, mode, m->info, &f->nc);
        return rc != NC_NOERR ? ncmpi_judge(m, f->base.path, 0, rc, "ncmpi_create", NULL, err) : 0;
    }
    rc = ncmpi_open(s->par->comm, name, f->writes ? NC_WRITE : NC_NOWRITE, m->info, &f->nc);
    return rc != NC_NOERR ? ncmpi_judge(m, f->base.path, 0, rc, "ncmpi_open", NULL, err) : 0;
}

/* Transfers of each rank for itself from now on. */
static int go_alone(struct ncmpi_file *f, struct weir_err *err)
{
    int rc;

    errno = 0;
    rc = ncmpi_begin_indep_data(f->nc);
    f->independent = true; /* also when this rank has failed: all must end it together */
    return ncmpi_var_judge(&f->var, rc, "ncmpi_begin_indep_data", err);
}

/* The variable, its records, and the mode of transfers. Rank 0 writes the header and the number of
 * records and may fail alone: no rank enters the next collective call before all know. */
static int prepare(struct ncmpi_file *f, bool is_new, struct weir_err *err)
{
    const struct weir_session *s = f->base.s;
    int rc;

    rc = is_new ? ncmpi_var_define(&f->var, err) : ncmpi_var_find(&f->var, err);
    if (weir_mpi_agree(s->par->comm, rc) < 0)
        return rc;
    rc = f->writes ? ncmpi_var_extend(&f->var, err) : 0;
    if (weir_mpi_agree(s->par->comm, rc) < 0)
        return rc;
    if (!s->access.collective && go_alone(f, err) < 0)
        return -1;
    if (f->writes) {
        f->sync_fd = open(weir_mpi_path(f->base.path), O_WRONLY | O_CLOEXEC);
        if (f->sync_fd < 0)
            return weir_fail(err, WEIR_EIO, "open '%s' for fsync", f->base.path);
    }
    return 0;
}

static struct ncmpi_var describe_var(const struct ncmpi_file *f)
{
    const struct weir_session *s = f->base.s;
    const struct weir_mpi_session *m = s->priv;
    const struct weir_extent *x = &f->base.extent;

    return (struct ncmpi_var) { .nc = f->nc,
                                .path = f->base.path,
                                .collective = s->access.collective,
                                .mpi = m,
                                .block = x->block,
                                .transfer = x->transfer,
                                .segment = x->block * (uint64_t)s->access.tasks,
                                .want = x->segments * (uint64_t)s->access.tasks };
}

/* Free what is ours and close the file, which all ranks do together. */
static int release(struct ncmpi_file *f)
{
    int first = NC_NOERR;
    int rc;

    if (f->independent)
        first = ncmpi_end_indep_data(f->nc);
    f->independent = false;
    rc = ncmpi_close(f->nc);
    if (f->sync_fd >= 0)
        close(f->sync_fd); /* what fails here is in errno */
    f->sync_fd = -1;
    return first != NC_NOERR ? first : rc;
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_file *f = (struct ncmpi_file *)file;
    bool is_new;
    int rc;

    if (file->extent.transfer == 0) /* on all ranks */
        return weir_refuse(err, WEIR_EUSAGE, "NCMPI needs to know the geometry of '%s'", path);
    f->base.s = s;
    f->base.path = path;
    f->writes = flags & WEIR_OPEN_WRITE;
    f->sync_fd = -1;
    f->size = weir_mpi_size(s->par->comm, path);
    is_new = f->writes && (flags & WEIR_OPEN_CREATE) &&
             ((flags & (WEIR_OPEN_EXCL | WEIR_OPEN_TRUNC)) || f->size == 0);
    f->fresh = is_new;
    if (weir_agree_call(s->par, open_container(f, flags, is_new, err), err) < 0)
        return -1;
    f->var = describe_var(f);
    rc = weir_agree_call(s->par, prepare(f, is_new, err), err);
    if (rc < 0)
        release(f);
    return rc;
}

static int check_end(struct ncmpi_file *f, struct weir_err *err)
{
    uint64_t room = f->writes ? f->var.transfer : 0;

    return ncmpi_check_end(f->base.s->par, f->base.path, &f->end, room, err);
}

static int close_file(struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_file *f = (struct ncmpi_file *)file;
    struct weir_mpi_session *m = file->s->priv;
    struct weir_err *told = f->failed ? NULL : err; /* one error is enough */
    int rc, nc, sys;

    rc = check_end(f, told);
    if (f->writes && weir_mpi_doubt_conclude(&f->var.doubt, file->path, f->fresh, f->var.transfer,
                                             f->end, told) < 0)
        rc = weir_err_within(told, "'%s'", file->path); /* knows more than the size does */
    errno = 0;
    nc = release(f);
    sys = errno;
    if (rc < 0 || f->failed)
        return f->failed ? 0 : -1;
    if (nc != NC_NOERR) {
        ncmpi_fail(err, nc, "ncmpi_close '%s'", file->path);
        return weir_mpi_add_reason(err, sys, m->comm_errno);
    }
    if (weir_mpi_judge_close(m, sys, "ncmpi_close", err) < 0)
        return weir_err_within(err, "'%s'", file->path);
    return weir_mpi_doubt_warn(&f->var.doubt, m, file->s->log, file->path, err);
}

/* ---- transfers ---- */

/* Is all that is to be read in the file? The library would return whatever is in its memory. */
static bool is_there(const struct ncmpi_file *f, const struct weir_io *io)
{
    uint64_t end = io->off + io->len;

    return end <= (uint64_t)f->var.records * f->var.block &&
           ncmpi_var_place(&f->var, end) <= f->size;
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct ncmpi_file *f = (struct ncmpi_file *)file;
    bool at_end;
    uint64_t end;

    if (io->len > 0 && io->off % f->var.transfer + io->len > f->var.transfer)
        return weir_refuse(err, WEIR_EBUG, "not within a transfer of the variable");
    at_end = io->len > 0 && io->dir == WEIR_DIR_READ && !f->writes && !is_there(f, io);
    if (ncmpi_var_move(&f->var, io, io->len == 0 || at_end, err) < 0) {
        /* a call that is repeated has not failed yet; a collective one is not repeated */
        f->failed |= io->dir == WEIR_DIR_WRITE &&
                     (f->var.collective || !err || (err->sys != EINTR && err->sys != EAGAIN));
        return -1;
    }
    if (at_end)
        return 0;
    end = ncmpi_var_place(&f->var, io->off + io->len);
    if (io->len > 0 && end > f->end)
        f->end = end;
    return (ssize_t)io->len;
}

/* The library keeps no data back, so what it handed to the system is all there is to flush. */
static int sync_file(struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_file *f = (struct ncmpi_file *)file;

    return weir_mpi_fsync(f->sync_fd, f->base.path, err);
}

MPI_Info ncmpi_hints(int nc)
{
    MPI_Info used = MPI_INFO_NULL;

    return ncmpi_inq_file_info(nc, &used) == NC_NOERR ? used : MPI_INFO_NULL;
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_show_hints(file->s, ncmpi_hints(((const struct ncmpi_file *)file)->nc), out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_list_hints(ncmpi_hints(((const struct ncmpi_file *)file)->nc), out);
}

static void find_fate(struct weir_session *s, struct weir_file *f, struct weir_fate *out)
{
    if (f)
        weir_mpi_judge_hints(s, ncmpi_hints(((const struct ncmpi_file *)f)->nc), out);
}

const struct weir_backend weir_plugin = {
    NCMPI_DESCRIPTOR,
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER |
             WEIR_BE_NO_RANDOM | WEIR_BE_CONTAINER | WEIR_BE_SHARED_ONLY,
    .priv_size = sizeof(struct weir_mpi_session),
    .file_size = sizeof(struct ncmpi_file),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &ncmpi_array_ops,
    .describe = describe,
    .hints = list_hints,
    .fate = find_fate,
};
