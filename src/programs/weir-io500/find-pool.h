/* SPDX-License-Identifier: BSD-3-Clause */
/* find-pool.h - pieces of work that bring further pieces: each rank works independently, and a
 * rank without work receives some from another one */
#ifndef WEIR_PROGRAMS_WEIR_IO500_FIND_POOL_H
#define WEIR_PROGRAMS_WEIR_IO500_FIND_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* A rank asks its peers once and waits. No rank polls, so ranks without work send nothing. The peers of a rank are those
 * whose numbers differ from its own in one bit, log2 of the ranks at most. */
#define IO500_POOL_PEERS 32
#define IO500_POOL_MESSAGE ((size_t)64 << 10) /* bytes of pieces on their way between two ranks; a longer one stays where it is */

/* A piece of work: its bytes mean something to the user only. */
struct io500_piece {
    struct io500_piece *older, *newer;
    size_t len;
    char bytes[];
};

struct io500_pool_peer {
    int rank;
    bool gives;       /* may be asked by us */
    bool asked;       /* by us, and it has not given yet */
    bool asks;        /* it waits for pieces */
    MPI_Request sent; /* pieces on their way to it */
    char *message;    /* them */
};

/* Set by the user before begin: most and what follows it. */
struct io500_pool {
    uint64_t most, most_bytes; /* a pool with so much is full */
    bool next;                 /* ask the next rank only */
    bool (*asks)(void *arg);   /* has this rank a reason to stop? Asked 20 times a second at most. NULL: never */
    void *arg;

    bool stopped; /* some rank has stopped: there is no work any more */
    bool failed;  /* this rank has, since memory ran out */
    bool asked;   /* this rank has, since 'asks' said so */
    uint64_t n, bytes; /* pieces of this rank, and their bytes */

    const struct weir_par *par;
    MPI_Comm comm;
    struct io500_piece *newest, *oldest;
    struct io500_pool_peer peer[IO500_POOL_PEERS];
    int peers;
    char *messages;
    int parent;       /* the rank that sent the first pieces of our current work; -1: none */
    uint64_t unended; /* messages with pieces that we sent, and that have not ended */
    int left;         /* peers that have not said yet that all is over */
    bool over;        /* all pieces of all ranks are done */
    uint64_t asked_ns;
};

/* Begin without a piece; ends with a barrier. par must live as long. Collective over par->comm. Returns 0, or -1 and err on
 * every rank (no memory). io500_pool_free is collective, too, and takes what begin has not finished. */
int io500_pool_begin(struct io500_pool *p, const struct weir_par *par, struct weir_err *err);
void io500_pool_free(struct io500_pool *p);

/* Add a copy of a piece. Only rank 0 adds one before it works on another. All ranks stop when memory runs out. Local. */
void io500_pool_put(struct io500_pool *p, const void *bytes, size_t len);

/* The newest piece of this rank, which the caller frees; NULL: it has none. Local. */
struct io500_piece *io500_pool_take(struct io500_pool *p);

/* Should no more be added? It is no error to do so. Local. */
static inline bool io500_pool_is_full(const struct io500_pool *p)
{
    return p->n >= p->most || p->bytes >= p->most_bytes;
}

/* Give old pieces to peers that wait: all of them when this rank is 'busy' with something else,
 * else all but one. To be called some thousand times a second. Local, does not block. */
void io500_pool_serve(struct io500_pool *p, bool busy);

/* This rank has nothing to do. True: it has been given pieces; false: all pieces of all ranks are done, or all ranks
 * stopped. Waits, and sleeps between two looks once that takes longer than a moment. */
bool io500_pool_wait(struct io500_pool *p);

/* Drop all pieces of all ranks: io500_pool_wait then returns false as soon as each rank has ended what it is in. Local. */
void io500_pool_stop(struct io500_pool *p);

#endif
