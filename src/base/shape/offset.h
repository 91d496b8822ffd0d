/* SPDX-License-Identifier: BSD-3-Clause */
/* offset.h - the sequence of file offsets that one task visits */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"

enum weir_order {
    WEIR_ORDER_SEQUENTIAL, /* segment by segment, the block of the task in each, transfer by
                            * transfer */
    WEIR_ORDER_SHUFFLED,   /* -z: every transfer once, as many for every task, keyed permutation */
    WEIR_ORDER_RANDOM,     /* -z -z: s random blocks with repetition */
    WEIR_ORDER_DISTRIBUTED /* the original's -z: glibc's random() gives each transfer to a task,
                              unequal work */
};

/* Geometry of a file: sizes in bytes. 'transfer' divides 'block'. */
struct weir_layout {
    uint64_t transfer, block, segments;
    int tasks;
    bool shared; /* one file for all tasks: a segment is tasks * block */
};

/* A walk through a file. 'task' owns the data (the pretend rank), 0 <= task < tasks. RANDOM alone
 * uses file_bytes, the bytes of the file that is visited; less than one block is refused. */
struct weir_offset_conf {
    struct weir_layout layout;
    enum weir_order order;
    int task;
    uint64_t seed;
    uint64_t file_bytes;
};

/* The sequence. Opaque but for embedding. Release with weir_offsets_free. */
struct weir_offsets {
    struct weir_offset_conf conf;
    uint64_t count;             /* transfers in one pass */
    uint64_t done;              /* of this pass, with those of 'ahead' */
    uint64_t segment,
        in_block;         /* position: segment (or block), transfer within the block; 'ahead' too */
    uint64_t next, ahead; /* transfers at one distance from each other, from offset 'next' on */
    uint64_t step;        /* that distance: bytes */
    uint64_t base;        /* offset of the current block */
    uint64_t hi, lo;            /* generator of RANDOM */
    struct weir_perm perm;
    uint64_t run;  /* transfers of this task in one segment (or block) */
    uint64_t *own; /* DISTRIBUTED only: this task's offsets within a segment, from malloc */
};

/* Prepare the sequence at its first transfer. O(1) time and memory, except DISTRIBUTED. Returns 0,
 * or -1 and err (WEIR_EUSAGE: file smaller than a block; WEIR_ESETUP: no memory). Local. SHUFFLED
 * permutes within a segment, with another key for each segment; when a block is one transfer it
 * permutes over all segments (as IOR 3.x did). Task p of N visits positions p*n .. p*n+n-1 of the
 * permuted segment. */
int weir_offsets_init(struct weir_offsets *o, const struct weir_offset_conf *conf,
                      struct weir_err *err);
void weir_offsets_free(struct weir_offsets *o);

/* Return the number of transfers in one pass of this task. */
uint64_t weir_offsets_count(const struct weir_offsets *o);

/* For weir_offsets_next only: the next offset where it does not simply follow the last one. */
uint64_t weir_offsets_turn(struct weir_offsets *o);

/* The next offset. After the last one it starts again from the first (wear-out and minTimeDuration
 * rely on it): the second pass repeats the first exactly. Undefined when count is 0. Local, a few
 * ns. */
static inline uint64_t weir_offsets_next(struct weir_offsets *o)
{
    uint64_t off = o->next;

    if (__builtin_expect(o->ahead == 0, 0))
        return weir_offsets_turn(o);
    o->ahead--;
    o->next = off + o->step;
    return off;
}

/* Go back to the first transfer. */
void weir_offsets_rewind(struct weir_offsets *o);
