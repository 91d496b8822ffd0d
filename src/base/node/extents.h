/* SPDX-License-Identifier: BSD-3-Clause */
/* extents.h - which bytes of a file were ever written, and where on its device they are */
#ifndef WEIR_BASE_NODE_EXTENTS_H
#define WEIR_BASE_NODE_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a file that are together on its device. */
struct weir_stored {
    uint64_t first, len; /* in the file */
    uint64_t at;         /* on the device, from its beginning; 0 where 'placed' is false */
    bool placed;
    bool reserved;   /* has room on the device, and was never written */
    bool compressed; /* other bytes, fewer, are on the device than in the file */
};

/* Call visit for each extent (FIEMAP) in the len bytes from 'first' on of the open file, cut to
 * them, in ascending order. Local. False: the file system does not tell. */
bool weir_extents_visit(int fd, uint64_t first, uint64_t len,
                        void (*visit)(void *context, const struct weir_stored *e), void *context);

/* How many of these bytes were written? Those in holes were not, nor, where 'clean' says that none
 * of them waits to be written back, those in extents that are only reserved. Moves the offset of
 * fd. Network file systems may write back what is dirty. *compressed: in compressed extents. Local.
 * NaN: the file system does not tell. */
double weir_extents_written(int fd, uint64_t first, uint64_t len, bool clean, double *compressed);

#endif
