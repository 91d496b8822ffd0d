/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-var.c - the variable that holds the data of a file: a record for each block */
#include "backends/ncmpi/ncmpi-var.h"
#include "config.h"

#include <errno.h>

#include "par/io/mpifile.h"

#define DIMS 3
#define NAME "data_var"
#define PIECE_MAX ((uint64_t)1 << 30) /* the library counts the bytes of a request in an int */

static const char *const dim_names[DIMS] = { "segments_times_np", "number_of_transfers",
                                             "transfer_size" };

static int learn_begin(struct ncmpi_var *v, struct weir_err *err)
{
    int rc = ncmpi_inq_varoffset(v->f->nc, v->id, &v->begin);

    return rc != NC_NOERR ? ncmpi_fail(err, rc, "place of '%s' in '%s'", NAME, v->f->path) : 0;
}

int ncmpi_var_define(struct ncmpi_var *v, struct weir_err *err)
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
        rc = ncmpi_inq_varndims(v->f->nc, v->id, &dims);
    if (rc == NC_NOERR)
        rc = ncmpi_inq_vartype(v->f->nc, v->id, &type);
    if (rc == NC_NOERR && (dims != DIMS || type != NC_BYTE))
        return weir_refuse(err, WEIR_EIO, "variable '%s' in '%s' is not a cube of bytes", NAME,
                           v->f->path);
    if (rc == NC_NOERR)
        rc = ncmpi_inq_vardimid(v->f->nc, v->id, dim);
    for (int i = 0; i < DIMS && rc == NC_NOERR; i++)
        rc = ncmpi_inq_dimlen(v->f->nc, dim[i], &len[i]);
    return rc != NC_NOERR ? ncmpi_fail(err, rc, "variable '%s' in '%s'", NAME, v->f->path) : 0;
}

int ncmpi_var_find(struct ncmpi_var *v, struct weir_err *err)
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

static int call_library(const struct ncmpi_var *v, enum weir_dir dir, const MPI_Offset *start,
                        const MPI_Offset *count, void *buf)
{
    if (dir == WEIR_DIR_WRITE)
        return v->f->collective ? ncmpi_put_vara_schar_all(v->f->nc, v->id, start, count, buf)
                             : ncmpi_put_vara_schar(v->f->nc, v->id, start, count, buf);
    return v->f->collective ? ncmpi_get_vara_schar_all(v->f->nc, v->id, start, count, buf)
                         : ncmpi_get_vara_schar(v->f->nc, v->id, start, count, buf);
}

/* A request of no bytes of the last record makes the records without writing any of them. The size
 * of the file still tells how far data were written. */
int ncmpi_var_extend(struct ncmpi_var *v, struct weir_err *err)
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
        return weir_err_within(err, "make %llu records", (unsigned long long)v->want);
    return 0;
}

uint64_t ncmpi_var_place(const struct ncmpi_var *v, uint64_t off)
{
    return (uint64_t)v->begin + off;
}

/* A call that reports success and leaves an errno: PnetCDF does not look at how much was moved. */
static int doubt(struct ncmpi_var *v, const struct weir_io *io, uint64_t len, int sys,
                 const char *call, struct weir_err *err)
{
    uint64_t place = ncmpi_var_place(v, io->off);

    if (io->dir == WEIR_DIR_READ || !v->f->collective)
        return len ? weir_mpi_doubt_look(&v->f->doubt, v->f->path, sys, call, io->buf, len, place, err)
                   : 0;
    if (len == 0)
        weir_mpi_doubt_keep(&v->f->doubt, sys, call, (uint64_t)v->begin, INT64_MAX);
    else
        weir_mpi_doubt_keep(&v->f->doubt, sys, call, place - io->off % v->segment,
                            place - io->off % v->segment + v->segment);
    return 0;
}

/* All ranks make the same number of calls for a transfer, whatever their part in it. */
int ncmpi_var_move(struct ncmpi_var *v, const struct weir_io *io, bool nothing,
                   struct weir_err *err)
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
