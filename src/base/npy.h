/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.h - the file of a timeline: one array of records in the format 1.0 of NumPy's .npy files
 *
 * numpy.load(FILE, mmap_mode="r") reads it: an array of one dimension whose elements have the fields
 * below, little-endian and without padding. */
#ifndef WEIR_BASE_NPY_H
#define WEIR_BASE_NPY_H

#include <stdint.h>

#define WEIR_NPY_HEADER 512 /* bytes before the first record, whatever their number */
#define WEIR_NPY_RECORD 48  /* bytes of a record */

/* One operation. Times in ns; offset -1: none; error: its errno, 0 for none. phase and operation are
 * numbers of the document beside the file. */
struct weir_npy_record {
    int64_t begin, end, offset, bytes;
    uint32_t rank, repetition;
    uint16_t phase, operation;
    int32_t error;
};

/* The header of a file of n records. Local. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n);

/* A record as it is in the file. Local. */
void weir_npy_record(unsigned char out[WEIR_NPY_RECORD], const struct weir_npy_record *r);

#endif
