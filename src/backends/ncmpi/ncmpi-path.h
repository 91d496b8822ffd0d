/* SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi-path.h - checks of a file without the library: its name, its size, and whether all bytes
 * can be in it */
#ifndef WEIR_BACKENDS_NCMPI_NCMPI_PATH_H
#define WEIR_BACKENDS_NCMPI_NCMPI_PATH_H

#include <stdint.h>

#include "par/comm.h"
#include "par/io/mpisession.h"

/* The name of a file for the library, as weir_mpi_name. PnetCDF drops what stands before the first
 * ':', whatever it is, and empties or makes the file of the rest: that must be the file that MPI-IO
 * opens. Local. NULL and err (WEIR_EUSAGE) where it is not. */
const char *ncmpi_name(struct weir_mpi_session *m, const char *path, char text[WEIR_MPI_NAME_TEXT],
                       struct weir_err *err);

/* Are all bytes in the file that should be there? The library does not look at how many bytes
 * MPI-IO has written. A full disk then shows in the size of the file, or, when only blocks before
 * its end are missing, nowhere; so a file system without free space counts as a failure. When a
 * file that is read has become shorter, the library returns whatever is in its memory. end: one
 * past the last byte that this rank wrote or read; room: bytes that a file that was written must
 * still find free, 0: it was read. Collective over par->comm. Returns 0, or -1 and err
 * (WEIR_EIO). */
int ncmpi_check_end(const struct weir_par *par, const char *path, uint64_t *end, uint64_t room,
                    struct weir_err *err);

#endif
