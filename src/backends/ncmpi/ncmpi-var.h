/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-var.h - the variable that holds the data of a file: a record for each block */
#ifndef WEIR_BACKENDS_NCMPI_NCMPI_VAR_H
#define WEIR_BACKENDS_NCMPI_NCMPI_VAR_H

#include <mpi.h>
#include <pnetcdf.h>

#include "backends/backend.h"
#include "par/io/mpidoubt.h"

/* data_var[segments_times_np][number_of_transfers][transfer_size] of bytes. Embedded in an open
 * file; nothing to free. */
struct ncmpi_var {
    int nc, id;
    const char *path;
    bool collective;
    const struct weir_mpi_session *mpi;
    uint64_t block, transfer; /* bytes */
    uint64_t segment;         /* bytes of the blocks of all tasks */
    uint64_t want;            /* records that the test needs */
    MPI_Offset begin;         /* where the first record starts in the file */
    MPI_Offset records;       /* there are */
    struct weir_mpi_doubt doubt;
};

/* Record the failure rc of a call of the library: the formatted words, ": " and its own. err->sys
 * gets the errno that comes closest. Local. err may be NULL. Returns -1. */
int ncmpi_fail(struct weir_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Judge a call that did not transfer and began with errno 0 by its result rc and, where it leaves
 * an errno that may hide a failure, by the header in the file: is there one, with that many
 * records at least? Then d (may be NULL) counts the call. Local. Returns 0, or -1 and err
 * (WEIR_EIO). */
int ncmpi_judge(const struct weir_mpi_session *m, const char *path, uint64_t records, int rc,
                const char *call, struct weir_mpi_doubt *d, struct weir_err *err);

/* The same for the variable's file and its v->records. Local. */
int ncmpi_var_judge(struct ncmpi_var *v, int rc, const char *call, struct weir_err *err);

/* Define the variable in a new file. Collective over the file. Returns 0, or -1 and err
 * (WEIR_EIO). */
int ncmpi_var_define(struct ncmpi_var *v, struct weir_err *err);

/* Find it in an existing one, and refuse another shape. Collective over the file. */
int ncmpi_var_find(struct ncmpi_var *v, struct weir_err *err);

/* Give it as many records as the test needs, so that no rank waits for another one that makes
 * them. In collective mode, collective over the file. A rank may fail alone, as in define. */
int ncmpi_var_extend(struct ncmpi_var *v, struct weir_err *err);

/* Where the byte at logical offset off is in the file. Local. */
uint64_t ncmpi_var_place(const struct ncmpi_var *v, uint64_t off);

/* Move a transfer; with 'nothing' only take part in those of the others. Collective over the file
 * when transfers are. 0, or -1 and err. */
int ncmpi_var_move(struct ncmpi_var *v, const struct weir_io *io, bool nothing,
                   struct weir_err *err);

#endif
