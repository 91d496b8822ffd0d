/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h - pieces of work that bring further pieces: each rank works on its own, and one that has none left is given
 * some by a rank that has */
#ifndef WEIR_PAR_POOL_H
#define WEIR_PAR_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "par/comm.h"

/* A rank asks its peers once and waits: nobody is asked again and again, so ranks without work send nothing. The peers of
 * a rank are those whose numbers differ from its own in one bit, log2 of the ranks at most. */
#define WEIR_POOL_PEERS 32
#define WEIR_POOL_MESSAGE ((size_t)64 << 10) /* bytes of pieces on their way between two ranks; a longer one stays where it is */

/* A piece of work: its bytes mean something to the user only. */
struct weir_piece {
    struct weir_piece *older, *newer;
    size_t len;
    char bytes[];
};

struct weir_pool_peer {
    int rank;
    bool gives;       /* may be asked by us */
    bool asked;       /* by us, and it has not given yet */
    bool asks;        /* it waits for pieces */
    MPI_Request sent; /* pieces on their way to it */
    char *message;    /* them */
};

/* Set by the user before begin: most and what follows it. */
struct weir_pool {
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
    struct weir_piece *newest, *oldest;
    struct weir_pool_peer peer[WEIR_POOL_PEERS];
    int peers;
    char *messages;
    int parent;       /* that has given us the first pieces of what we work on; -1: nobody */
    uint64_t unended; /* messages with pieces that we sent, and that have not ended */
    int left;         /* peers that have not said yet that all is over */
    bool over;        /* all pieces of all ranks are done */
    uint64_t asked_ns;
};

/* Begin without a piece; ends with a barrier. par must live as long. Collective over par->comm. Returns 0, or -1 and err on
 * every rank (no memory). weir_pool_free is collective, too, and takes what begin has not finished. */
int weir_pool_begin(struct weir_pool *p, const struct weir_par *par, struct weir_err *err);
void weir_pool_free(struct weir_pool *p);

/* Add a copy of a piece. Only rank 0 adds one before it works on another. Where memory runs out all ranks stop. Local. */
void weir_pool_put(struct weir_pool *p, const void *bytes, size_t len);

/* The newest piece of this rank, which the caller frees; NULL: it has none. Local. */
struct weir_piece *weir_pool_take(struct weir_pool *p);

/* Should no more be added? It is no error to do so. Local. */
static inline bool weir_pool_is_full(const struct weir_pool *p)
{
    return p->n >= p->most || p->bytes >= p->most_bytes;
}

/* Give old pieces to peers that wait: all of them where this rank is 'busy' with something else, else all but one. To be called
 * every now and then, some thousand times a second. Local, waits for nobody. */
void weir_pool_serve(struct weir_pool *p, bool busy);

/* This rank has nothing to do. True: it has been given pieces; false: all pieces of all ranks are done, or all ranks
 * stopped. Waits, and sleeps between two looks once that takes longer than a moment. */
bool weir_pool_wait(struct weir_pool *p);

/* Drop all pieces of all ranks: weir_pool_wait then returns false as soon as each rank has ended what it is in. Local. */
void weir_pool_stop(struct weir_pool *p);

#endif
