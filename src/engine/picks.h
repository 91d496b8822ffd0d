/* SPDX-License-Identifier: BSD-3-Clause */
/* picks.h - sampled operations of a phase in bounded memory: a random sample, and the slowest
 * with the operations before and after them */
#ifndef WEIR_ENGINE_PICKS_H
#define WEIR_ENGINE_PICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "engine/record.h"

/* Reasons why an operation is in the sample: one bit or several. */
enum {
    WEIR_PICK_SAMPLE = 1u << 0,    /* it was drawn */
    WEIR_PICK_SLOWEST = 1u << 1,   /* it is one of the slowest of its rank in the phase */
    WEIR_PICK_BESIDE = 1u << 2, /* it ended just before or just after one of them */
    WEIR_PICK_FAILED = 1u << 3     /* it failed; all that fail are there */
};

/* number: operations of the rank that ended before it in the phase. */
struct weir_pick {
    struct weir_record op;
    uint64_t number;
    unsigned why; /* 0: none */
};

/* The sampled operations of this rank. Zero-initialise; release with weir_picks_free. */
struct weir_picks {
    /* Settings of a test, by the observers that read the sample. */
    bool here;        /* false: this rank only counts */
    uint64_t one_of;  /* the sample has one operation of this number; 0: there is none */
    uint32_t slowest; /* number of the slowest to keep */
    uint64_t limit;   /* of the sample, operations */
    uint64_t key;     /* of the draw; set before each phase */
    /* State of a phase. */
    uint64_t seen;    /* operations */
    uint64_t dropped; /* that were drawn or failed, and had no room */
    uint64_t share;   /* numbers up to it are drawn; 0: none */
    uint64_t least;   /* ns of an operation that is one of the slowest until now */
    struct weir_pick *after; /* where the next operation goes as a neighbour; NULL: nowhere */
    struct weir_record last; /* where some are the slowest */
    struct weir_pick *pick;
    size_t n, cap; /* that are there, that there is room for before the end of the phase */
    /* The slowest until now: three places each in 'slow', and a heap of their times, the shortest
     * first. */
    struct weir_pick *slow;
    struct weir_slow {
        uint64_t ns;
        uint32_t place;
    } * heap;
    uint32_t slow_n, slow_cap;
    size_t taken; /* capacity, in operations */
};

/* Reserve memory for what a phase of 'operations' operations (UINT64_MAX: unknown) can have, all
 * pages touched, and forget the last phase. Local. Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_picks_reserve(struct weir_picks *p, uint64_t operations, struct weir_err *err);
void weir_picks_free(struct weir_picks *p);

/* Put the sample of a phase into p->pick, each once, in the order of their begin. Local. */
void weir_picks_finish(struct weir_picks *p);

/* Keep an operation that may belong to the sample. For weir_picks_put only. */
void weir_picks_keep(struct weir_picks *p, const struct weir_record *one, bool drawn);

/* An operation has ended. Local, a few ns. */
static inline void weir_picks_put(struct weir_picks *p, const struct weir_record *one)
{
    bool drawn = p->share && weir_rng_at(p->key, p->seen) <= p->share;

    if (__builtin_expect(drawn || one->end_ns - one->begin_ns >= p->least || p->after || one->error, 0))
        weir_picks_keep(p, one, drawn);
    if (p->slow_cap)
        p->last = *one;
    p->seen++;
}

#endif
