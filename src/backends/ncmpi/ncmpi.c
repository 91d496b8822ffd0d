/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi.c - NCMPI: netCDF files in the CDF-5 format through PnetCDF, independent or collective */
#include "backends/ncmpi/ncmpi-file.h"

#include <errno.h>

#include "backends/ncmpi/ncmpi-descriptor.h"
#include "backends/shared/mpins.h"
#include "backends/shared/mpishow.h"
#include "par/agree.h"
#include "par/io/mpifile.h"
#include "par/io/mpisession.h"

#define NAME "data_var"
#define PIECE_MAX ((uint64_t)1 << 30) /* the library counts the bytes of a request in an int */

static const char *const dim_names[] = { "segments_times_np", "number_of_transfers",
                                         "transfer_size" };
#define DIMS ((int)(sizeof(dim_names) / sizeof(*dim_names)))

/* data_var[segments_times_np][number_of_transfers][transfer_size] of bytes. */
struct ncmpi_var {
    struct ncmpi_file *f;
    int id;
    uint64_t block, transfer; /* bytes */
    uint64_t segment;         /* bytes of the blocks of all tasks */
    uint64_t want;            /* records that the test needs */
    uint64_t begin;           /* where the first record starts in the file */
};

struct ncmpi_bytes {
    struct weir_file base;
    struct ncmpi_file f;
    struct ncmpi_var var;
};

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
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
                          "have no effect: PnetCDF makes these choices");
    return weir_mpi_session_begin(s->priv, s->par, s->log, o->mpi.hints_file, true, err);
}

static int end(struct weir_session *s, struct weir_err *err)
{
    weir_mpi_session_end(s->priv);
    return 0;
}

/* ---- the variable ---- */

static int learn_begin(struct ncmpi_var *v, struct weir_err *err)
{
    MPI_Offset begin = 0;
    int rc = ncmpi_inq_varoffset(v->f->nc, v->id, &begin);

    v->begin = (uint64_t)begin;
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "place of '%s' in '%s'", NAME, v->f->path) : 0;
}

/* Define the variable in a new file. Collective over the file, but a rank may fail alone. */
static int define_var(struct ncmpi_var *v, struct weir_err *err)
{
    MPI_Offset len[DIMS] = { NC_UNLIMITED, (MPI_Offset)(v->block / v->transfer),
                             (MPI_Offset)v->transfer };
    int dim[DIMS];
    int rc = NC_NOERR;

    for (int i = 0; i < DIMS && rc == NC_NOERR; i++)
        rc = ncmpi_def_dim(v->f->nc, dim_names[i], len[i], &dim[i]);
    if (rc == NC_NOERR)
        rc = ncmpi_def_var(v->f->nc, NAME, NC_BYTE, DIMS, dim, &v->id);
    if (rc != NC_NOERR)
        return ncmpi_fail(err, rc, "define '%s' in '%s'", NAME, v->f->path);
    return ncmpi_file_defined(v->f, err) < 0 ? -1 : learn_begin(v, err);
}

/* The lengths of the dimensions of a variable of ours. */
static int read_shape(struct ncmpi_var *v, MPI_Offset len[DIMS], struct weir_err *err)
{
    int dim[DIMS] = { 0 };
    int dims = 0;
    nc_type type = NC_NAT;
    int rc = ncmpi_inq_varid(v->f->nc, NAME, &v->id);

    if (rc == NC_NOERR)
        rc = ncmpi_inq_var(v->f->nc, v->id, NULL, &type, &dims, NULL, NULL);
    if (rc == NC_NOERR && (dims != DIMS || type != NC_BYTE))
        return weir_refuse(err, WEIR_EIO, "variable '%s' in '%s' is not a cube of bytes", NAME,
                           v->f->path);
    if (rc == NC_NOERR)
        rc = ncmpi_inq_vardimid(v->f->nc, v->id, dim);
    for (int i = 0; i < DIMS && rc == NC_NOERR; i++)
        rc = ncmpi_inq_dimlen(v->f->nc, dim[i], &len[i]);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "variable '%s' in '%s'", NAME, v->f->path) : 0;
}

/* Find it in an existing one, and refuse another shape. */
static int find_var(struct ncmpi_var *v, struct weir_err *err)
{
    MPI_Offset len[DIMS] = { 0 };

    if (read_shape(v, len, err) < 0)
        return -1;
    if ((uint64_t)len[2] != v->transfer || (uint64_t)len[1] != v->block / v->transfer)
        return weir_refuse(
            err, WEIR_EIO,
            "'%s' has blocks of %lld transfers of %lld bytes, this test needs %llu of %llu",
            v->f->path, (long long)len[1], (long long)len[2],
            (unsigned long long)(v->block / v->transfer), (unsigned long long)v->transfer);
    v->f->records = len[0];
    return learn_begin(v, err);
}

/* Make as many records as the test needs, so that no rank waits for another one that makes them. A
 * request of no bytes of the last record makes them without writing any. The size of the file still
 * tells how far data were written. */
static int extend_var(struct ncmpi_var *v, struct weir_err *err)
{
    MPI_Offset start[DIMS] = { (MPI_Offset)v->want - 1, 0, 0 };
    MPI_Offset count[DIMS] = { 1, 0, 0 };
    signed char nothing = 0;
    int rc;

    if (v->want <= (uint64_t)v->f->records)
        return 0;
    errno = 0;
    rc = ncmpi_put_vara_schar_all(v->f->nc, v->id, start, count, &nothing);
    v->f->records = (MPI_Offset)v->want;
    if (ncmpi_judge(v->f, rc, "ncmpi_put_vara", err) < 0)
        return weir_err_within(err, "create %llu records", (unsigned long long)v->want);
    return 0;
}

/* ---- open and close ---- */

/* The variable, its records, and the mode of transfers. Rank 0 writes the header and the number of
 * records and may fail alone: no rank enters the next collective call before all know. */
static int prepare(struct ncmpi_bytes *b, struct weir_err *err)
{
    const struct weir_par *par = b->base.s->par;
    int rc = b->f.fresh ? define_var(&b->var, err) : find_var(&b->var, err);

    if (weir_mpi_agree(par->comm, rc) < 0)
        return rc;
    rc = b->f.writes ? extend_var(&b->var, err) : 0;
    if (weir_mpi_agree(par->comm, rc) < 0)
        return rc;
    return ncmpi_file_ready(&b->f, err);
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_bytes *b = (struct ncmpi_bytes *)file;
    const struct weir_extent *x = &file->extent;
    int rc;

    if (x->transfer == 0) /* on all ranks */
        return weir_refuse(err, WEIR_EUSAGE, "NCMPI needs the geometry of '%s'", path);
    if (ncmpi_file_open(&b->f, s, path, flags, err) < 0)
        return -1;
    b->var = (struct ncmpi_var) { .f = &b->f,
                                  .block = x->block,
                                  .transfer = x->transfer,
                                  .segment = weir_segment_bytes(&s->access, x),
                                  .want = x->segments * (uint64_t)s->access.tasks };
    rc = weir_agree_call(s->par, prepare(b, err), err);
    if (rc < 0)
        ncmpi_file_drop(&b->f);
    return rc;
}

static int close_file(struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_bytes *b = (struct ncmpi_bytes *)file;

    return ncmpi_file_close(&b->f, b->var.transfer, err);
}

/* ---- transfers ---- */

static int call_library(const struct ncmpi_var *v, enum weir_dir dir, const MPI_Offset *start,
                        const MPI_Offset *count, void *buf)
{
    if (dir == WEIR_DIR_WRITE)
        return v->f->collective ? ncmpi_put_vara_schar_all(v->f->nc, v->id, start, count, buf)
                             : ncmpi_put_vara_schar(v->f->nc, v->id, start, count, buf);
    return v->f->collective ? ncmpi_get_vara_schar_all(v->f->nc, v->id, start, count, buf)
                         : ncmpi_get_vara_schar(v->f->nc, v->id, start, count, buf);
}

/* A call that reports success and leaves an errno: PnetCDF does not look at how much was moved. */
static int doubt(struct ncmpi_var *v, const struct weir_io *io, uint64_t len, int sys,
                 const char *call, struct weir_err *err)
{
    uint64_t place = v->begin + io->off;

    if (io->dir == WEIR_DIR_READ || !v->f->collective)
        return len ? weir_mpi_doubt_scan(&v->f->doubt, v->f->path, sys, call, io->buf, len, place, err)
                   : 0;
    if (len == 0)
        weir_mpi_doubt_keep(&v->f->doubt, sys, call, v->begin, INT64_MAX);
    else
        weir_mpi_doubt_keep(&v->f->doubt, sys, call, place - io->off % v->segment,
                            place - io->off % v->segment + v->segment);
    return 0;
}

/* Move a transfer; with 'nothing' only take part in those of the others. All ranks make the same
 * number of calls for a transfer, whatever their part in it. */
static int move(struct ncmpi_var *v, const struct weir_io *io, bool nothing, struct weir_err *err)
{
    const struct weir_mpi_session *m = v->f->s->priv;
    static const char *const verbs[] = {
        [WEIR_DIR_WRITE] = "ncmpi_put_vara", [WEIR_DIR_READ] = "ncmpi_get_vara"
    };
    uint64_t len = nothing ? 0 : io->len;
    uint64_t in_block = io->off % v->block;
    MPI_Offset start[DIMS] = { 0, 0, 0 };
    MPI_Offset count[DIMS] = { 0, 0, 0 };
    signed char spare = 0;
    int first = NC_NOERR;
    int sys;

    if (io->dir == WEIR_DIR_READ)
        weir_mpi_mark(io->buf, len);
    errno = 0;
    for (uint64_t at = 0; at < v->transfer && (v->f->collective || at < len); at += PIECE_MAX) {
        uint64_t n = at >= len ? 0 : len - at < PIECE_MAX ? len - at : PIECE_MAX;
        int rc;

        if (n > 0) {
            start[0] = (MPI_Offset)(io->off / v->block);
            start[1] = (MPI_Offset)(in_block / v->transfer);
            start[2] = (MPI_Offset)(in_block % v->transfer + at);
        }
        count[0] = count[1] = n > 0;
        count[2] = (MPI_Offset)n;
        rc = call_library(v, io->dir, start, count, n > 0 ? (char *)io->buf + at : (void *)&spare);
        if (first == NC_NOERR)
            first = rc;
    }
    sys = errno;
    if (first != NC_NOERR) {
        ncmpi_fail(err, first, "%s%s", verbs[io->dir], v->f->collective ? "_all" : "");
        weir_mpi_unlock(v->f->path);
        return weir_mpi_add_reason(err, sys, m->comm_errno);
    }
    return sys && weir_mpi_hidden_errno(m, sys) ? doubt(v, io, len, sys, verbs[io->dir], err) : 0;
}

/* True when all bytes to be read are in the file. Else the library returns what its memory has. */
static bool is_there(const struct ncmpi_bytes *b, const struct weir_io *io)
{
    uint64_t end = io->off + io->len;

    return end <= (uint64_t)b->f.records * b->var.block && b->var.begin + end <= b->f.size;
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct ncmpi_bytes *b = (struct ncmpi_bytes *)file;
    struct ncmpi_file *f = &b->f;
    bool at_end;
    uint64_t end;

    if (io->len > 0 && io->off % b->var.transfer + io->len > b->var.transfer)
        return weir_refuse(err, WEIR_EBUG, "a request is not within one transfer of the variable");
    at_end = io->len > 0 && io->dir == WEIR_DIR_READ && !f->writes && !is_there(b, io);
    if (move(&b->var, io, io->len == 0 || at_end, err) < 0) {
        /* a call that is repeated has not failed yet; a collective one is not repeated */
        f->failed |= io->dir == WEIR_DIR_WRITE &&
                     (f->collective || !err || (err->sys != EINTR && err->sys != EAGAIN));
        return -1;
    }
    if (at_end)
        return 0;
    end = b->var.begin + io->off + io->len;
    if (io->len > 0 && end > f->end)
        f->end = end;
    return (ssize_t)io->len;
}

static int sync_file(struct weir_file *file, struct weir_err *err)
{
    return ncmpi_file_sync(&((struct ncmpi_bytes *)file)->f, err);
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_show_hints(file->s, ncmpi_file_hints(&((struct ncmpi_bytes *)file)->f), out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    weir_mpi_list_hints(ncmpi_file_hints(&((struct ncmpi_bytes *)file)->f), out);
}

static void find_applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    if (f)
        weir_mpi_judge_hints(s, ncmpi_file_hints(&((struct ncmpi_bytes *)f)->f), out);
}

const struct weir_backend weir_plugin = {
    NCMPI_DESCRIPTOR,
    .flags = WEIR_BE_NEEDS_MPI | WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER |
             WEIR_BE_NO_RANDOM | WEIR_BE_CONTAINER | WEIR_BE_SHARED_ONLY,
    .priv_size = sizeof(struct weir_mpi_session),
    .file_size = sizeof(struct ncmpi_bytes),
    .version = ncmpi_inq_libvers,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &ncmpi_arrays.ops,
    .describe = describe,
    .hints = list_hints,
    .applied = find_applied,
};
