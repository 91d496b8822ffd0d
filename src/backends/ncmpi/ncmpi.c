/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi.c - NCMPI: netCDF files in the CDF-5 format through PnetCDF, independent or collective */
#include "backends/ncmpi/ncmpi-var.h"
#include "config.h"

#include <errno.h>

#include "backends/ncmpi/ncmpi-array.h"
#include "backends/ncmpi/ncmpi-descriptor.h"
#include "backends/shared/mpins.h"
#include "backends/shared/mpishow.h"
#include "par/agree.h"
#include "par/io/mpisession.h"

struct ncmpi_bytes {
    struct weir_file base;
    struct ncmpi_file f;
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

/* The variable, its records, and the mode of transfers. Rank 0 writes the header and the number of
 * records and may fail alone: no rank enters the next collective call before all know. */
static int prepare(struct ncmpi_bytes *b, struct weir_err *err)
{
    const struct weir_par *par = b->base.s->par;
    int rc = b->f.fresh ? ncmpi_var_define(&b->var, err) : ncmpi_var_find(&b->var, err);

    if (weir_mpi_agree(par->comm, rc) < 0)
        return rc;
    rc = b->f.writes ? ncmpi_var_extend(&b->var, err) : 0;
    if (weir_mpi_agree(par->comm, rc) < 0)
        return rc;
    return ncmpi_file_ready(&b->f, err);
}

static struct ncmpi_var describe_var(struct ncmpi_bytes *b)
{
    uint64_t tasks = (uint64_t)b->base.s->access.tasks;
    const struct weir_extent *x = &b->base.extent;

    return (struct ncmpi_var) { .f = &b->f,
                                .block = x->block,
                                .transfer = x->transfer,
                                .segment = x->block * tasks,
                                .want = x->segments * tasks };
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct ncmpi_bytes *b = (struct ncmpi_bytes *)file;
    int rc;

    if (file->extent.transfer == 0) /* on all ranks */
        return weir_refuse(err, WEIR_EUSAGE, "NCMPI needs to know the geometry of '%s'", path);
    b->base.s = s;
    b->base.path = path;
    if (ncmpi_file_open(&b->f, s, path, flags, err) < 0)
        return -1;
    b->var = describe_var(b);
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

/* Is all that is to be read in the file? The library would return whatever is in its memory. */
static bool is_there(const struct ncmpi_bytes *b, const struct weir_io *io)
{
    uint64_t end = io->off + io->len;

    return end <= (uint64_t)b->f.records * b->var.block &&
           ncmpi_var_place(&b->var, end) <= b->f.size;
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    struct ncmpi_bytes *b = (struct ncmpi_bytes *)file;
    struct ncmpi_file *f = &b->f;
    bool at_end;
    uint64_t end;

    if (io->len > 0 && io->off % b->var.transfer + io->len > b->var.transfer)
        return weir_refuse(err, WEIR_EBUG, "not within a transfer of the variable");
    at_end = io->len > 0 && io->dir == WEIR_DIR_READ && !f->writes && !is_there(b, io);
    if (ncmpi_var_move(&b->var, io, io->len == 0 || at_end, err) < 0) {
        /* a call that is repeated has not failed yet; a collective one is not repeated */
        f->failed |= io->dir == WEIR_DIR_WRITE &&
                     (f->collective || !err || (err->sys != EINTR && err->sys != EAGAIN));
        return -1;
    }
    if (at_end)
        return 0;
    end = ncmpi_var_place(&b->var, io->off + io->len);
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
    .applied = find_applied,
};
