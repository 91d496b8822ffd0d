/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiio.c - files through MPI-IO: explicit offsets or views, independent or collective */
#include "backends/mpiio/mpiio.h"
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "backends/shared/mpins.h"
#include "par/io/mpidoubt.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"
#include "par/io/slabtype.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { DOUBTFUL = 1, FAILED }; /* what ranks may know before a sync; the highest counts */

#define PIECE_MAX ((size_t)1 << 30) /* of a call whose length fits no count and no type */

struct mpiio_file {
    struct weir_file base;
    MPI_File fh;
    MPI_Comm comm;
    MPI_Datatype whole; /* one transfer, when it is too long for an int */
    int sync_fd;        /* -Y without -c: MPI_File_sync would wait for the other ranks. -1: none */
    bool collective;
    bool viewed;
    uint64_t end;  /* one past the last byte that this rank wrote or read; UINT64_MAX: has failed */
    uint64_t size; /* of a file that is only read; UINT64_MAX otherwise */
    bool fresh;    /* it was empty when it was opened */
    struct mpiio_view view;
    struct weir_mpi_doubt doubt;
};

#define O struct mpiio_options
static const struct weir_opt options[] = {
    WEIR_MPI_OPTIONS(O),
    OPT_FLAG(0, "preallocate", NULL, O, preallocate,
             "Preallocate the space of the file when creating it"),
    OPT_FLAG(0, "useFileView", NULL, O, file_view, "Use file views instead of explicit offsets"),
    OPT_FLAG(0, "useStridedDatatype", NULL, O, strided,
             "Use a strided data type for the view, with useFileView"),
    OPT_END
};
#undef O

static const char *const calls[2][2] = {
    [WEIR_DIR_WRITE] = { "MPI_File_write_at", "MPI_File_write_at_all" },
    [WEIR_DIR_READ] = { "MPI_File_read_at", "MPI_File_read_at_all" },
};

static struct weir_mpi_session *mpi_of(const struct mpiio_file *f)
{
    return f->base.s->priv;
}

static const char *version(void)
{
    return "(" TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION) ")";
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct mpiio_options *o = s->opt;
    const struct weir_access *a = &s->access;

    (void)extent;
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
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct mpiio_options *o = s->opt;

    return weir_mpi_session_begin(s->priv, s->par, s->log, o->mpi.hints_file, s->access.collective,
                                  err);
}

static int end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
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

static int open_handle(struct mpiio_file *f, unsigned flags, struct weir_err *err)
{
    struct weir_session *s = f->base.s;
    struct weir_mpi_session *m = s->priv;
    char text[WEIR_MPI_NAME_TEXT];
    const char *name = weir_mpi_name(&m->drivers, f->base.path, text, err);
    int rc;

    if (!name)
        return -1;
    rc = MPI_File_open(f->comm, name, access_mode(s, flags), m->info, &f->fh);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_open '%s'", f->base.path);
    MPI_File_set_errhandler(f->fh, MPI_ERRORS_RETURN);
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

    f->base.s = s;
    f->base.path = path;
    f->comm = s->access.file_per_task ? MPI_COMM_SELF : s->par->comm;
    f->collective = s->access.collective;
    f->whole = MPI_DATATYPE_NULL;
    f->sync_fd = -1;
    if (weir_agree_open(s->par, f->comm, open_handle(f, flags, err), err) < 0)
        return -1;
    rc = prepare(f, flags, err);
    if (rc == 0)
        rc = make_whole(f, err);
    rc = weir_agree_open(s->par, f->comm, rc, err);
    if (rc < 0)
        release(f);
    return rc;
}

/* The bytes of a file that is about to be closed: are those there that collective calls said they
 * moved? Collective where transfers are. */
static int check_bytes(struct mpiio_file *f, struct weir_err *err)
{
    bool writes = f->size == UINT64_MAX;
    int rc = 0;

    if (!writes)
        return f->collective || f->viewed ? weir_mpi_check_kept(&f->fh, f->base.path, f->end, err)
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
    int told, rc, sys;

    told = check_bytes(f, err);
    errno = 0;
    rc = release(f);
    sys = errno;
    if (told < 0)
        return -1;
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_EIO, rc, "MPI_File_close '%s'", path);
    return weir_mpi_doubt_close(&f->doubt, mpi_of(f), sys, "MPI_File_close", file->s->log, path, err);
}

static int call_mpi(struct mpiio_file *f, const struct weir_io *io, MPI_Offset at, int count,
                    MPI_Datatype type, MPI_Status *status)
{
    if (io->dir == WEIR_DIR_WRITE)
        return f->collective ? MPI_File_write_at_all(f->fh, at, io->buf, count, type, status)
                             : MPI_File_write_at(f->fh, at, io->buf, count, type, status);
    return f->collective ? MPI_File_read_at_all(f->fh, at, io->buf, count, type, status)
                         : MPI_File_read_at(f->fh, at, io->buf, count, type, status);
}

/* A return code alone cannot be trusted (a full disk can look like success): judge the bytes in
 * the status, with the errno that the call left. */
static ssize_t judge(struct mpiio_file *f, const struct weir_io *io, size_t want,
                     MPI_Status *status, int sys, struct weir_err *err)
{
    const char *call = calls[io->dir][f->collective];
    MPI_Count moved = 0;
    MPI_Offset size = 0;

    if (MPI_Get_elements_x(status, MPI_BYTE, &moved) != MPI_SUCCESS || moved < 0 ||
        (size_t)moved > want)
        return weir_refuse(err, WEIR_EIO, "%s does not say how many of %zu bytes it moved", call,
                           want);
    if ((size_t)moved == want)
        return (ssize_t)moved;
    if (moved == 0 && io->dir == WEIR_DIR_READ &&
        (MPI_File_get_size(f->fh, &size) != MPI_SUCCESS || (uint64_t)size <= io->off))
        return 0; /* the end of the file */
    if (moved > 0 && !f->collective)
        return (ssize_t)moved;
    if (sys == 0 || sys == mpi_of(f)->comm_errno)
        return weir_refuse(err, WEIR_EIO, "%s moved %lld of %zu bytes and gives no reason%s", call,
                           (long long)moved, want,
                           io->dir == WEIR_DIR_WRITE ? " (is the file system full?)" : "");
    errno = sys;
    return weir_fail(err, WEIR_EIO, "%s moved %lld of %zu bytes", call, (long long)moved, want);
}

/* A collective call that reports success and leaves an errno. Aggregators move the data of others:
 * a read is looked at here, what was written when all have written. */
static int doubt(struct mpiio_file *f, const struct weir_io *io, size_t len, int sys,
                 struct weir_err *err)
{
    const char *call = calls[io->dir][true];
    uint64_t segment = weir_segment_bytes(&f->base.s->access, &f->base.extent);

    if (io->dir == WEIR_DIR_READ)
        return weir_mpi_doubt_look(&f->doubt, f->base.path, sys, call, io->buf, len, io->off, err);
    if (segment == 0 || len == 0)
        weir_mpi_doubt_keep(&f->doubt, sys, call, 0, INT64_MAX);
    else
        weir_mpi_doubt_keep(&f->doubt, sys, call, io->off - io->off % segment,
                            io->off - io->off % segment + segment);
    return 0;
}

/* A library may call a read complete that met the end of the file: ROMIO does through views, OMPIO
 * in collective reads. So the size of the file decides: that at open, and again at close. */
static ssize_t meet_end(const struct mpiio_file *f, const struct weir_io *io, struct weir_err *err)
{
    if (f->collective)
        return weir_refuse(err, WEIR_EIO, "end of file: it has %llu bytes",
                           (unsigned long long)f->size);
    return io->off < f->size ? (ssize_t)(f->size - io->off) : 0;
}

static ssize_t move(struct mpiio_file *f, const struct weir_io *io, struct weir_err *err)
{
    MPI_Offset at = io->len ? (MPI_Offset)io->off : 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Status status;
    size_t want = io->len;
    ssize_t moved;
    int count, rc, sys;

    if (f->viewed && io->len && mpiio_view_position(&f->view, io->off, io->len, &at) < 0)
        return weir_refuse(err, WEIR_EBUG, "outside the view of task %d", f->view.task);
    if (want > INT_MAX && want == f->base.extent.transfer)
        type = f->whole;
    else if (want > INT_MAX)
        want = PIECE_MAX;
    count = type == MPI_BYTE ? (int)want : 1;
    if (f->collective && io->dir == WEIR_DIR_READ)
        weir_mpi_mark(io->buf, want);
    errno = 0;
    rc = call_mpi(f, io, at, count, type, &status);
    sys = errno;
    if (rc != MPI_SUCCESS) {
        weir_mpi_fail(err, WEIR_EIO, rc, "%s", calls[io->dir][f->collective]);
        weir_mpi_unlock(f->base.path);
        return weir_mpi_add_reason(err, sys, mpi_of(f)->comm_errno);
    }
    if (io->dir == WEIR_DIR_READ && want > 0 && io->off + want > f->size)
        return meet_end(f, io, err);
    moved = want ? judge(f, io, want, &status, sys, err) : 0;
    if (moved > 0 && f->end < io->off + (uint64_t)moved)
        f->end = io->off + (uint64_t)moved;
    if (sys != 0 && f->collective && moved >= 0 && weir_mpi_hidden_errno(mpi_of(f), sys) &&
        doubt(f, io, (size_t)moved, sys, err) < 0)
        return -1;
    return moved;
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct mpiio_file *f = (struct mpiio_file *)file;
    ssize_t moved;

    moved = move(f, io, err);
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
        return weir_mpi_fsync(f->sync_fd, f->base.path, err);
    if (f->collective)
        rc = weir_mpi_check_end(f->comm, f->fh, f->base.path, &f->end, err);
    state = rc < 0 ? FAILED : f->collective && f->doubt.open ? DOUBTFUL : 0;
    if (f->collective)
        weir_mpi_max(f->comm, &state, 1);
    if (state == FAILED)
        return rc;
    if (state == DOUBTFUL) /* MPI_File_sync could fail on one rank and leave the others waiting */
        return weir_mpi_sync_file(f->base.path, err);
    return weir_mpi_sync(f->fh, f->base.path, mpi_of(f)->comm_errno, err);
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_show_hints(file->s, weir_mpi_info_of(&((struct mpiio_file *)file)->fh), out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_list_hints(weir_mpi_info_of(&((struct mpiio_file *)file)->fh), out);
}

static void find_applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    if (f)
        weir_mpi_judge_hints(s, weir_mpi_info_of(&((struct mpiio_file *)f)->fh), out);
}

const struct weir_backend weir_backend_mpiio = {
    .abi = WEIR_BACKEND_ABI,
    .name = "MPIIO",
    .brief = "MPI-IO: explicit offsets or file views, independent or collective",
    .prefix = "mpiio.",
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER,
    .opts = options,
    .opt_size = sizeof(struct mpiio_options),
    .priv_size = sizeof(struct weir_mpi_session),
    .file_size = sizeof(struct mpiio_file),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &mpiio_array_ops,
    .describe = describe,
    .hints = list_hints,
    .applied = find_applied,
};
