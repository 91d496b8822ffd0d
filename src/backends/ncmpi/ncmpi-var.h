/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-var.h - the variable that holds the data of a file: a record for each block */
#ifndef WEIR_BACKENDS_NCMPI_NCMPI_VAR_H
#define WEIR_BACKENDS_NCMPI_NCMPI_VAR_H

#include "backends/ncmpi/ncmpi-file.h"

/* data_var[segments_times_np][number_of_transfers][transfer_size] of bytes. Embedded in an open
 * file; nothing to free. */
struct ncmpi_var {
    struct ncmpi_file *f;
    int id;
    uint64_t block, transfer; /* bytes */
    uint64_t segment;         /* bytes of the blocks of all tasks */
    uint64_t want;            /* records that the test needs */
    MPI_Offset begin;         /* where the first record starts in the file */
};

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
