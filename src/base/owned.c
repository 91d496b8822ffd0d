/* SPDX-License-Identifier: BSD-3-Clause */
/* owned.c - data that say of each word whose it is and where it belongs */
#include "config.h"
#include "base/owned.h"

#include <string.h>

#define COUNTER_BITS 44

static uint64_t word_at(int owner, uint64_t index)
{
    return ((uint64_t)(unsigned)owner + 1) << COUNTER_BITS |
           (index & ((UINT64_C(1) << COUNTER_BITS) - 1));
}

/* The bytes of one word from 'skip' on, at most len; how many there are. */
static size_t take_word(int owner, uint64_t offset, size_t len, unsigned char out[8])
{
    uint64_t word = word_at(owner, offset / 8);
    size_t skip = offset % 8, n = 8 - skip < len ? 8 - skip : len;

    memcpy(out, (const unsigned char *)&word + skip, n);
    return n;
}

void weir_owned_fill(int owner, uint64_t offset, void *buf, size_t len)
{
    unsigned char *at = buf;
    unsigned char piece[8];

    for (size_t n; len > 0; at += n, offset += n, len -= n) {
        n = take_word(owner, offset, len, piece);
        memcpy(at, piece, n);
    }
}

size_t weir_owned_right(int owner, uint64_t offset, const void *buf, size_t len)
{
    const unsigned char *at = buf;
    unsigned char piece[8];
    size_t done = 0, same;

    for (size_t n; done < len; done += n) {
        n = take_word(owner, offset + done, len - done, piece);
        for (same = 0; same < n && at[done + same] == piece[same]; same++)
            ;
        if (same < n)
            return done + same;
    }
    return len;
}
