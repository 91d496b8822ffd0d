/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-file.h - an open file of PnetCDF, whatever is in it: opened, defined, flushed and closed in
 * order also when some bytes could not be written; and arrays in it */
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include "backends/shared/nctable.h"
#include "par/io/mpidoubt.h"

/* Embedded in an open file of the backend. */
struct ncmpi_file {
    struct weir_session *s;
    const char *path;
    int nc;
    int sync_fd; /* for fsync: ncmpi_sync waits for the other ranks, also when theirs fail. -1:
                  * none */
    bool collective;    /* transfers are */
    bool writes, fresh; /* fresh: it is new */
    bool defining;      /* in define mode: the header may be changed, data must not */
    bool independent;   /* between ncmpi_begin_indep_data and its end */
    bool failed;        /* a write has failed here; the user of the struct sets it, too */
    uint64_t size;      /* of a file that is only read; UINT64_MAX otherwise */
    uint64_t end;       /* one past the last byte of the file that this rank wrote or read */
    MPI_Offset records; /* that the header must count */
    struct weir_mpi_doubt doubt;
};

/* Record the failure rc of a call of the library: the formatted words, ": " and its own. err->sys
 * gets the errno that comes closest. Local. err may be NULL. Returns -1. */
int ncmpi_fail(struct weir_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Judge a call that did not transfer and began with errno 0, by its result rc. Where it leaves
 * an errno that may hide a failure, the header in the file is checked: it must have f->records
 * at least. Then f->doubt counts the call. Local. Returns 0, or -1 and err (WEIR_EIO). */
int ncmpi_judge(struct ncmpi_file *f, int rc, const char *call, struct weir_err *err);

/* Open s's file; flags as for open in struct weir_backend. A new file is left in define mode.
 * Collective over s->par, and the result is agreed on: 0, or -1 and err. */
int ncmpi_file_open(struct ncmpi_file *f, struct weir_session *s, const char *path, unsigned flags,
                    struct weir_err *err);

/* Finish opening: begin transfers, unless the file is in define mode, and open it for sync.
 * Collective over the file, but a rank may fail alone. */
int ncmpi_file_ready(struct ncmpi_file *f, struct weir_err *err);

/* Close a file that cannot be used, and free what f holds. Collective over the file. Returns the
 * status of the library. */
int ncmpi_file_drop(struct ncmpi_file *f);

/* Leave define mode, where dimensions, variables and attributes are made; begin transfers after
 * it. Collective over the file; a rank may fail alone. */
int ncmpi_file_defined(struct ncmpi_file *f, struct weir_err *err);
int ncmpi_file_transfers(struct ncmpi_file *f, struct weir_err *err);

/* Write all to stable storage. Local. Returns 0, or -1 and err (WEIR_EIO). */
int ncmpi_file_sync(struct ncmpi_file *f, struct weir_err *err);

/* Close the file, also after a failure, and look whether all bytes are there. piece: bytes of the
 * smallest write. Collective over the file, but a rank may fail alone; one on which something has
 * failed before returns 0. */
int ncmpi_file_close(struct ncmpi_file *f, uint64_t piece, struct weir_err *err);

/* The hints in effect, or MPI_INFO_NULL. The caller frees them. Local. */
MPI_Info ncmpi_file_hints(const struct ncmpi_file *f);

/* An open file of arrays. */
struct ncmpi_arrays {
    struct weir_array_file base;
    struct ncmpi_file f;
};

struct ncmpi_array {
    struct weir_nc_array nc;
    MPI_Datatype basic;     /* of an element */
    MPI_Datatype in_memory; /* MPI_DATATYPE_NULL: the buffer is in one piece */
    bool in_boxes;          /* blocks with gaps: a list of boxes, else one slab of the library */
    MPI_Offset start[WEIR_SLAB_RANK], count[WEIR_SLAB_RANK], stride[WEIR_SLAB_RANK];
    uint64_t first;   /* byte of the buffer where the elements begin */
    uint64_t end;     /* one past the last byte of the slab in the file, 0: unknown */
    uint64_t boxes;   /* in the list */
    MPI_Offset **box; /* starts, then counts, of each; memory for all as one piece */
    bool has_type;
};

extern const struct weir_nc_library ncmpi_arrays;

/* As select, move and release of struct weir_array_ops. */
int ncmpi_slab_select(struct weir_array *base, struct weir_err *err);
int ncmpi_slab_move(struct weir_array *base, enum weir_dir dir, void *buf, struct weir_err *err);
int ncmpi_slab_release(struct weir_array *base, struct weir_err *err);
