/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.h - the bytes of a transfer: make and compare */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* ---- lanes.c: the 64-bit words of RANDOM: each follows from the one before ---- */

#define WEIR_LANE_FACTOR 0x9e37fffffffc0001u /* the next word: the product without three bits */
#define WEIR_LANES 8 /* made side by side by weir_lanes_fill */

/* A word of a buffer that others see as bytes or something else. */
typedef uint64_t weir_word __attribute__((may_alias));

/* Fill n words; x is the number before the first one. Returns the last, to go on from. Local. */
uint64_t weir_lane_fill(weir_word *w, size_t n, uint64_t x);

/* The bits in which n words differ from those of weir_lane_fill; 0: they are right. Local. */
uint64_t weir_lane_differ(const weir_word *w, size_t n, uint64_t x);

/* weir_lane_fill of n words in each of WEIR_LANES buffers: a chain is serial, and the processor
 * works on all of them during the latency of one. Buffers may be the same when their x are.
 * Local. */
void weir_lanes_fill(weir_word *const w[WEIR_LANES], size_t n, const uint64_t x[WEIR_LANES]);

/* ---- ratio.c: random data with a chosen ratio of compression and of equal blocks ---- */

#define WEIR_RATIO_BLOCK 4096 /* bytes; blocks begin at multiples of it in their file */
#define WEIR_RATIO_ONE 1000   /* ratios are in thousandths */
#define WEIR_RATIO_MAX 512    /* then a block has one incompressible word */

/* Both are 0 where no ratio was given, else at least WEIR_RATIO_ONE. */
struct weir_ratio {
    uint32_t compress; /* bytes of a block over its incompressible ones */
    uint32_t dedupe;   /* blocks over different blocks */
};

/* A block of the data of a run: its number in a file, or in one of the small files of a task. */
struct weir_ratio_block {
    uint64_t file; /* the task of a file per task; else 0 */
    uint64_t item; /* the number of the small file; else 0 */
    uint64_t number;
};

/* The bytes at the begin of a block that are incompressible; the others are zeros. Local. */
static inline uint32_t weir_ratio_bytes(const struct weir_ratio *r)
{
    return ((uint32_t)WEIR_RATIO_BLOCK * WEIR_RATIO_ONE + r->compress / 2) / r->compress;
}

/* The block whose content b has: b itself, or an earlier one of file 0 that b repeats. The first n
 * blocks of a file have n / dedupe that are no repeats. It depends on no seed. Local. */
struct weir_ratio_block weir_ratio_origin(const struct weir_ratio *r, struct weir_ratio_block b);

/* ---- the bytes of a transfer ---- */

enum weir_packet {
    WEIR_PACKET_TIMESTAMP,      /* 't' */
    WEIR_PACKET_OFFSET,         /* 'o' */
    WEIR_PACKET_INCOMPRESSIBLE, /* 'i': our own generator, really incompressible, never repeats */
    WEIR_PACKET_RANDOM,         /* 'r' */
    WEIR_PACKET_SIGNATURE,      /* 's': by base/data/signature.c, but for the base pattern */
    WEIR_PACKET_INDEXED,        /* 'i' in small files: a word follows from its place alone */
    WEIR_PACKET_RATIO           /* "random:WORDS": blocks of ratio.c */
};

/* RATIO: the files in which blocks are counted. */
enum weir_pattern_files {
    WEIR_FILES_OF_TASKS, /* one for each rank */
    WEIR_FILES_SHARED,   /* one for all: the rank does not count */
    WEIR_FILES_SMALL     /* many for each rank, and an offset is the number of one */
};

/* The data of one task. */
struct weir_pattern {
    enum weir_packet packet;
    uint32_t signature; /* -G, 32 bits */
    int rank;           /* the task that owns the data (pretend rank) */
    struct weir_ratio ratio; /* these two for RATIO only */
    enum weir_pattern_files files;
};

/* True when every transfer needs its own fill. False: the base pattern alone is enough. */
bool weir_pattern_varies(const struct weir_pattern *p);

/* The base pattern, once per repetition: len bytes at buf (8-byte aligned; len need not be a
 * multiple of 8: trailing byte at index i becomes i mod 256). Local. */
void weir_pattern_base(const struct weir_pattern *p, void *buf, size_t len);

/* The update for the transfer at file offset off, or for the small file of that number, on a buffer
 * that holds the base pattern (and possibly an earlier stamp). RATIO writes all bytes, at any
 * alignment and offset. Local. */
void weir_pattern_stamp(const struct weir_pattern *p, void *buf, size_t len, uint64_t off);

/* weir_pattern_stamp on n <= WEIR_LANES buffers at once, interleaved for speed (RANDOM is a
 * serial chain). */
void weir_pattern_stamp_many(const struct weir_pattern *p, void *const *buf, size_t len,
                             const uint64_t *off, int n);

/* Compares len bytes, a multiple of 8, with base + stamp for off; for the first four packets and
 * RATIO. Local; close to memory speed for TIMESTAMP and OFFSET. */
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

/* Begin at the transfer at off. p must not change before the last page. Local. */
void weir_pattern_begin(struct weir_pattern_words *s, const struct weir_pattern *p, uint64_t off);
/* Put the next n <= WEIR_PATTERN_PAGE words into want; only the last page may be shorter. Local. */
void weir_pattern_next(struct weir_pattern_words *s, uint64_t *want, size_t n);

/* The first word of the transfer at off, with RANDOM, INCOMPRESSIBLE and RATIO. Local. */
uint64_t weir_pattern_word(const struct weir_pattern *p, uint64_t off);

/* INCOMPRESSIBLE: the word that comes WEIR_PATTERN_LANES after this one (xorshift64). */
static inline uint64_t weir_pattern_step(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

/* The word of which this one is the weir_pattern_step. */
static inline uint64_t weir_pattern_unstep(uint64_t x)
{
    x ^= x << 17 ^ x << 34 ^ x << 51;
    x ^= x >> 7 ^ x >> 14 ^ x >> 21 ^ x >> 28 ^ x >> 35 ^ x >> 42 ^ x >> 49 ^ x >> 56 ^ x >> 63;
    return x ^ x << 13 ^ x << 26 ^ x << 39 ^ x << 52;
}

/* ---- kinds.c ---- */

/* Set packet and ratio of p from the value of an option: one of the kinds (NULL-terminated). Its first
 * letter counts: t(imestamp) o(ffset) i(ncompressible) r(andom) s(ignature). After random comes
 * ":compress=X,dedupe=Y" or one of both. Local. Returns 0, or -1 and err (WEIR_EUSAGE). */
int weir_pattern_parse(struct weir_pattern *p, const char *option, const char *text,
                       const char *const *kinds, struct weir_err *err);
/* The kinds of programs whose transfers begin at any byte. */
extern const char *const weir_pattern_random[];
