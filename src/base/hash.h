/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - FNV-1a, of 64 bits (Fowler, Noll, Vo) */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WEIR_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* The hash of all that 'hash' is of, WEIR_HASH_BEGIN where that is nothing, and of len more bytes. Local. */
static inline uint64_t weir_hash(uint64_t hash, const void *bytes, size_t len)
{
    for (const unsigned char *b = bytes; len > 0; len--)
        hash = (hash ^ *b++) * UINT64_C(0x100000001b3);
    return hash;
}
