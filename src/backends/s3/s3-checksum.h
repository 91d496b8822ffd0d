/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-checksum.h - checksums of data that are sent, which the service verifies and keeps */
#ifndef WEIR_BACKENDS_S3_S3_CHECKSUM_H
#define WEIR_BACKENDS_S3_S3_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define S3_CHECKSUM_HEADER 96 /* bytes of "x-amz-checksum-sha256: BASE64" */

/* CRC-32C (Castagnoli; RFC 3720, B.4) of a piece that follows others with this one, 0 for the first. Local. */
uint32_t s3_crc32c(uint32_t before, const void *data, size_t len);

/* The header with the checksum of this kind (--s3.checksum) of the data. Returns where in 'header' its value begins, NULL
 * where the kind is "none" or the library cannot. Local, allocates nothing. */
const char *s3_checksum_header(const char *kind, const void *data, size_t len, char header[S3_CHECKSUM_HEADER]);

#endif
