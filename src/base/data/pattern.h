/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.h - the bytes of a transfer: make and compare */
#ifndef WEIR_BASE_DATA_PATTERN_H
#define WEIR_BASE_DATA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/lanes.h"

enum weir_packet {
    WEIR_PACKET_TIMESTAMP,      /* 't' */
    WEIR_PACKET_OFFSET,         /* 'o' */
    WEIR_PACKET_INCOMPRESSIBLE, /* 'i': our own generator, really incompressible, never repeats */
    WEIR_PACKET_RANDOM,         /* 'r' */
    WEIR_PACKET_SIGNATURE,      /* 's': by base/data/signature.c, but for the base pattern */
    WEIR_PACKET_INDEXED         /* 'i' in small files: a word follows from its place alone */
};

/* The data of one task. */
struct weir_pattern {
    enum weir_packet packet;
    uint32_t signature; /* -G, 32 bits */
    int rank;           /* the task that owns the data (pretend rank) */
};

/* True when every transfer needs its own fill. False: the base pattern alone is enough. */
bool weir_pattern_varies(const struct weir_pattern *p);

/* The base pattern, once per repetition: len bytes at buf (8-byte aligned; len need not be a
 * multiple of 8: trailing byte at index i becomes i mod 256). Local. */
void weir_pattern_base(const struct weir_pattern *p, void *buf, size_t len);

/* The update for the transfer at file offset off, or for the small file of that number, on a buffer
 * that holds the base pattern (and possibly an earlier stamp). Local. */
void weir_pattern_stamp(const struct weir_pattern *p, void *buf, size_t len, uint64_t off);

/* weir_pattern_stamp on n <= WEIR_LANES buffers at once, interleaved for speed (RANDOM is a
 * serial chain). */
void weir_pattern_stamp_many(const struct weir_pattern *p, void *const *buf, size_t len,
                             const uint64_t *off, int n);

/* Compares len bytes, a multiple of 8, with base + stamp for off; for the first four packets.
 * Local; close to memory speed for TIMESTAMP and OFFSET. */
bool weir_pattern_is_right(const struct weir_pattern *p, const void *buf, size_t len, uint64_t off);

/* ---- the 64-bit words of a wrong transfer ---- */

#define WEIR_PATTERN_PAGE 512 /* words; OFFSET has a stamp at the beginning of each page */
#define WEIR_PATTERN_LANES 32 /* INCOMPRESSIBLE: word i + 32 follows from word i, see below */

/* The words that a transfer should hold, page by page. */
struct weir_pattern_words {
    const struct weir_pattern *p;
    uint64_t off;
    size_t first; /* of the next page */
    uint64_t state[WEIR_PATTERN_LANES];
};

/* p stays the caller's, and as it is until the last page. Local. */
void weir_pattern_begin(struct weir_pattern_words *s, const struct weir_pattern *p, uint64_t off);
/* The next n <= WEIR_PATTERN_PAGE words; all pages but the last are whole. Local. */
void weir_pattern_next(struct weir_pattern_words *s, uint64_t *want, size_t n);

/* The first word of the transfer at off, with RANDOM and INCOMPRESSIBLE. Local, some ns. */
uint64_t weir_pattern_word(const struct weir_pattern *p, uint64_t off);

/* INCOMPRESSIBLE: the word that comes WEIR_PATTERN_LANES after this one (xorshift64). */
static inline uint64_t weir_pattern_step(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

/* The packet of a word as users type it: the first letter of t(imestamp) o(ffset) i(ncompressible)
 * r(andom) s(ignature). Returns 0, or -1 for anything else. */
int weir_packet_parse(const char *word, enum weir_packet *out);

#endif
