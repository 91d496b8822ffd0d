/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-data.c - arithmetic: bytes of the files, where reads go, whose file is read */
#include "config.h"
#include "drivers/mib/mib.h"

#include <string.h>

#include "base/rng.h"

#define COUNTER_BITS 44

static uint64_t word_at(int task, uint64_t index)
{
    return ((uint64_t)(unsigned)task + 1) << COUNTER_BITS |
           (index & ((UINT64_C(1) << COUNTER_BITS) - 1));
}

/* The bytes of one word from 'skip' on, at most len; how many there are. */
static size_t take_word(int task, uint64_t offset, size_t len, unsigned char out[8])
{
    uint64_t word = word_at(task, offset / 8);
    size_t skip = offset % 8, n = 8 - skip < len ? 8 - skip : len;

    memcpy(out, (const unsigned char *)&word + skip, n);
    return n;
}

void mib_data_fill(int task, uint64_t offset, void *buf, size_t len)
{
    unsigned char *at = buf;
    unsigned char piece[8];

    for (size_t n; len > 0; at += n, offset += n, len -= n) {
        n = take_word(task, offset, len, piece);
        memcpy(at, piece, n);
    }
}

size_t mib_data_right(int task, uint64_t offset, const void *buf, size_t len)
{
    const unsigned char *at = buf;
    unsigned char piece[8];
    size_t done = 0, same;

    for (size_t n; done < len; done += n) {
        n = take_word(task, offset + done, len - done, piece);
        for (same = 0; same < n && at[done + same] == piece[same]; same++)
            ;
        if (same < n)
            return done + same;
    }
    return len;
}

uint64_t mib_random_offset(uint64_t granularity, uint64_t file_bytes, uint64_t call_size, int task,
                           int repetition, uint64_t i)
{
    uint64_t places = (file_bytes - call_size) / granularity + 1;
    uint64_t key = weir_rng_at((uint64_t)(unsigned)task + 1, (uint64_t)repetition);

    return granularity * (uint64_t)((unsigned __int128)weir_rng_at(key, i) * places >> 64);
}

int mib_peer(int task, int tasks)
{
    return (int)(((int64_t)task + tasks / 2) % tasks);
}
