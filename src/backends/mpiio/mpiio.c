/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio.c - files through MPI-IO: explicit offsets or views, independent or collective */
#include "backends/mpiio/mpiio.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "backends/shared/mpins.h"
#include "base/text/wholefile.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"
#include "par/io/slabtype.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { DOUBTFUL = 1, FAILED }; /* what ranks may know before a sync; the highest counts */

#ifdef OPEN_MPI
#define IS_OPEN_MPI true
#else
#define IS_OPEN_MPI false
#endif

#define O struct mpiio_options
static const struct weir_opt options[] = {
    WEIR_MPI_OPTIONS(O),
    OPT_FLAG(0, "preallocate", NULL, O, preallocate,
             "Preallocation of the file when it is created"),
    OPT_FLAG(0, "useFileView", NULL, O, file_view, "File views instead of explicit offsets"),
    OPT_FLAG(0, "useStridedDatatype", NULL, O, strided,
             "Strided data type of the view, with useFileView"),
    OPT_END
};
#undef O

static const char *version(void)
{
    return "(" TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION) ")";
}

/* Transfers that are collective and in flight: Open MPI has them with OMPIO only. With ROMIO it
 * crashes. */
static int check_nonblocking(struct weir_session *s, struct weir_err *err)
{
    struct weir_mpi_session *m = s->priv;

    if (!IS_OPEN_MPI || !s->access.collective || s->depth == 1 || !weir_mpi_is_romio(&m->drivers))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "--depth=%d with -c: the ROMIO of Open MPI has no "
                                         "nonblocking collective transfers; leave one of the "
                                         "options out, or use OMPIO (--mca io ompio)", s->depth);
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct mpiio_options *o = s->opt;
    const struct weir_access *a = &s->access;

    if (o->strided && !o->file_view)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--mpiio.useStridedDatatype describes a view: it needs --mpiio.useFileView");
    if (a->random && a->collective)
        return weir_refuse(err, WEIR_EUSAGE,
                           "random offset not available with collective MPIIO; leave -z or -c out");
    if (a->random && o->file_view)
        return weir_refuse(err, WEIR_EUSAGE,
                           "random offset not available with MPIIO fileviews; leave -z or "
                           "--mpiio.useFileView out");
    return check_nonblocking(s, err);
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct mpiio_options *o = s->opt;

    return weir_mpi_session_begin(s->priv, s->par, s->log, o->mpi.hints_file, s->access.collective,
                                  err);
}

static int end(struct weir_session *s, struct weir_err *err)
{
    mpiio_queue_end(s);
    weir_mpi_session_end(s->priv);
    return 0;
}

/* Collective buffering and data sieving read what they do not overwrite, so they need a file that
 * can be read. */
static int access_mode(const struct weir_session *s, unsigned flags)
{
    const struct mpiio_options *o = s->opt;
    bool reads = (flags & WEIR_OPEN_READ) || s->access.collective || o->file_view || o->preallocate;
    int mode = MPI_MODE_RDONLY;

    if (flags & WEIR_OPEN_WRITE)
        mode = reads ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
    if ((flags & WEIR_OPEN_WRITE) && (flags & WEIR_OPEN_CREATE))
        mode |= MPI_MODE_CREATE | (flags & WEIR_OPEN_EXCL ? MPI_MODE_EXCL : 0);
    if (s->access.file_per_task)
        mode |= MPI_MODE_UNIQUE_OPEN;
    return mode;
}

int mpiio_open(struct weir_session *s, MPI_Comm comm, const char *path, int mode, MPI_File *fh,
               struct weir_err *err)
{
    struct weir_mpi_session *m = s->priv;
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&m->drivers, path, text, err);
    int rc;

    if (!name)
        return -1;
    rc = MPI_File_open(comm, name, mode, m->info, fh);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_open '%s'", path);
    MPI_File_set_errhandler(*fh, MPI_ERRORS_RETURN);
    return 0;
}

/* Size the file and set the view. Every rank makes all the collective calls, whatever its own
 * outcome. */
static int prepare(struct mpiio_file *f, unsigned flags, struct weir_err *err)
{
    const struct weir_session *s = f->base.s;
    const struct mpiio_options *o = s->opt;
    bool writes = flags & WEIR_OPEN_WRITE;
    MPI_Offset size;
    int rc = 0;
    int ok;

    f->size = UINT64_MAX;
    if (!writes && MPI_File_get_size(f->fh, &size) == MPI_SUCCESS)
        f->size = (uint64_t)size;
    if (writes && (flags & WEIR_OPEN_TRUNC) && (ok = MPI_File_set_size(f->fh, 0)) != MPI_SUCCESS)
        rc = weir_mpi_fail(err, WEIR_EIO, ok, "MPI_File_set_size '%s' to 0", f->base.path);
    if (writes && (flags & WEIR_OPEN_CREATE) && o->preallocate &&
        (ok = MPI_File_preallocate(f->fh, (MPI_Offset)f->base.extent.file_bytes)) != MPI_SUCCESS)
        rc = weir_mpi_fail(rc < 0 ? NULL : err, WEIR_EIO, ok,
                           "MPI_File_preallocate '%s' to %llu bytes", f->base.path,
                           (unsigned long long)f->base.extent.file_bytes);
    f->fresh = writes && f->collective && !o->preallocate &&
               MPI_File_get_size(f->fh, &size) == MPI_SUCCESS && size == 0;
    if (o->file_view && f->base.extent.block > 0) {
        f->viewed = true;
        if (mpiio_view_set(&f->view, f->fh, &f->base, o->strided, rc < 0 ? NULL : err) < 0)
            rc = -1;
    }
    if (rc == 0 && writes && s->access.sync_each && !s->access.collective &&
        !s->access.file_per_task)
        rc = f->sync_fd = weir_mpi_open_to_sync(f->base.path, err);
    return rc < 0 ? -1 : 0;
}

/* The type of a transfer that is too long for an int. */
static int make_whole(struct mpiio_file *f, struct weir_err *err)
{
    const struct weir_runs whole = { .run = f->base.extent.transfer };

    return whole.run > INT_MAX ? weir_mpi_slab_type(&whole, 1, MPI_BYTE, &f->whole, err) : 0;
}

/* Free what is ours and close the file, which all ranks do together. */
static int release(struct mpiio_file *f)
{
    int rc = MPI_File_close(&f->fh);

    if (f->whole != MPI_DATATYPE_NULL)
        MPI_Type_free(&f->whole);
    if (f->sync_fd >= 0)
        close(f->sync_fd);
    f->sync_fd = -1;
    return rc;
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)file;
    int rc;

    f->comm = s->access.file_per_task ? MPI_COMM_SELF : s->par->comm;
    f->collective = s->access.collective;
    f->whole = MPI_DATATYPE_NULL;
    f->sync_fd = -1;
    rc = mpiio_open(s, f->comm, path, access_mode(s, flags), &f->fh, err);
    if (weir_agree_open(s->par, f->comm, rc, err) < 0)
        return -1;
    rc = prepare(f, flags, err);
    if (rc == 0)
        rc = make_whole(f, err);
    rc = weir_agree_open(s->par, f->comm, rc, err);
    if (rc < 0)
        release(f);
    return rc;
}

/* Before a file is closed, check that the bytes are there which collective calls reported as
 * moved. Collective where transfers are. */
static int check_bytes(struct mpiio_file *f, struct weir_err *err)
{
    bool writes = f->size == UINT64_MAX;
    int rc = 0;

    if (!writes)
        return f->collective || f->viewed || f->base.s->depth > 1
                   ? weir_mpi_check_kept(&f->fh, f->base.path, f->end, err)
                   : 0;
    if (!f->collective)
        return 0;
    rc = weir_mpi_check_end(f->comm, f->fh, f->base.path, &f->end, err);
    if (weir_mpi_doubt_conclude(&f->doubt, f->base.path, f->fresh, f->base.extent.transfer, f->end,
                                err) < 0)
        rc = weir_err_within(err, "'%s'", f->base.path); /* knows more than the size does */
    return rc;
}

static int close_file(struct weir_file *file, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)file;
    const char *path = f->base.path;
    int checked, rc, sys;

    checked = check_bytes(f, err);
    errno = 0;
    rc = release(f);
    sys = errno;
    if (checked < 0)
        return -1;
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_close '%s'", path);
    return weir_mpi_doubt_close(&f->doubt, mpiio_mpi(file->s), sys, "MPI_File_close", file->s->log,
                                path, err);
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)file;
    ssize_t moved;

    moved = mpiio_move(f, io, f->collective, err);
    if (moved < 0 && f->collective && io->dir == WEIR_DIR_WRITE)
        f->end = UINT64_MAX; /* what the others wrote is no longer judged */
    return moved;
}

static int sync_file(struct weir_file *file, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)file;
    uint64_t state;
    int rc = 0;

    if (f->sync_fd >= 0)
        return weir_fsync(f->sync_fd, f->base.path, err);
    if (f->collective)
        rc = weir_mpi_check_end(f->comm, f->fh, f->base.path, &f->end, err);
    state = rc < 0 ? FAILED : f->collective && f->doubt.open ? DOUBTFUL : 0;
    if (f->collective)
        weir_mpi_max(f->comm, &state, 1);
    if (state == FAILED)
        return rc;
    if (state == DOUBTFUL) /* MPI_File_sync could fail on one rank and leave the others waiting */
        return weir_mpi_sync_file(f->base.path, err);
    return weir_mpi_sync(f->fh, f->base.path, mpiio_mpi(f->base.s)->comm_errno, err);
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_show_hints(file->s, weir_mpi_info_of(&((struct mpiio_file *)file)->fh), out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_list_hints(weir_mpi_info_of(&((struct mpiio_file *)file)->fh), out);
}

/* OMPIO has no collective transfers in flight: each task moves its own. */
static void find_applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    if (f)
        weir_mpi_judge_hints(s, weir_mpi_info_of(&((struct mpiio_file *)f)->fh), out);
    if (f && IS_OPEN_MPI && s->access.collective && s->depth > 1)
        out->independent = 1;
}

const struct weir_backend weir_backend_mpiio = {
    .abi = WEIR_BACKEND_ABI,
    .name = "MPIIO",
    .brief = "MPI-IO: explicit offsets or file views, independent or collective",
    .prefix = "mpiio.",
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER |
             WEIR_BE_TAKES_POINTERS,
    .opts = options,
    .opt_size = sizeof(struct mpiio_options),
    .priv_size = sizeof(struct mpiio_session),
    .file_size = sizeof(struct mpiio_file),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .queue = mpiio_queue_begin,
    .submit = mpiio_queue_submit,
    .complete = mpiio_queue_complete,
    .reason = mpiio_queue_reason,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &mpiio_array_ops,
    .describe = describe,
    .hints = list_hints,
    .applied = find_applied,
};
