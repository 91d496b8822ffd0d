/* SPDX-License-Identifier: BSD-3-Clause */
/* owned.h - data that say of each word whose it is and where it belongs: the owner plus 1 in the
 * high 20 bits, the number of the word in the file in the low 44. For any offset and length. */
#ifndef WEIR_BASE_OWNED_H
#define WEIR_BASE_OWNED_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the owner's file from offset on. Local. */
void weir_owned_fill(int owner, uint64_t offset, void *buf, size_t len);

/* How many of the first bytes are right: len when all are. Local. */
size_t weir_owned_right(int owner, uint64_t offset, const void *buf, size_t len);

#endif
