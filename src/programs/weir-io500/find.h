/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - a parallel find: what a rank reads of a tree it shares with ranks that have nothing to do */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/str.h"
#include "par/comm.h"

/* The directory and the conditions of a find. Zero-initialise, and set size to -1 where it does not matter. An entry of any
 * kind matches that meets all conditions, as with find(1); links below the directory are not followed. */
struct io500_find {
    const char *directory; /* a link to one is followed: find -H */
    const char *name;      /* pattern of the last part of the path (fnmatch); NULL: any: find -name */
    int64_t size;          /* bytes; below 0: any: find -size Nc */
    const char *newer;     /* modified later than this file, in ns; NULL: at any time: find -newer */
    uint64_t queue;        /* directories and batches that may wait on a rank; 0: 10000. With paths of more than 16 MiB it is full, too */
    bool next;             /* a rank without work asks the next rank only */
    const char *csv;         /* for rank 0 to write: a row for each rank; NULL: none */
    bool (*stop)(void *arg); /* is it to end? Asked 20 times a second at most, on every rank. NULL: never. It does not call MPI */
    void (*each)(void *arg, const char *path); /* on the rank that has found it. NULL: not called */
    void *arg;
};

/* The result, the same on all ranks. */
struct io500_found {
    uint64_t found, total; /* entries that match; all entries, the directory itself included: what find(1) prints without conditions */
    uint64_t directories;  /* of them */
    uint64_t vanished;     /* looks at entries that a directory had named and that were gone. They are part of total, and no error */
    uint64_t errors;       /* directories that could not be read, and entries whose size or time could not be */
    struct weir_err problem; /* the first of these errors; WEIR_OK: there was none */
    double seconds;        /* from a barrier until the last rank was done */
};

/* Memory and descriptors do not grow with the tree: each rank has 64 directories open at most, and reads on when fewer than 'queue'
 * wait. Paths may be longer than PATH_MAX. Collective over par. Returns 0, or -1 and err on all ranks. Errors: the directory or the
 * file to compare with cannot be read (WEIR_EIO); 'stop' has ended the find (WEIR_EINTR); no memory, or 'csv' cannot be written
 * (WEIR_ESETUP). */
int io500_find_run(const struct weir_par *par, const struct io500_find *find, struct io500_found *found,
                   struct weir_err *err);

/* The rest is for the files of a find. */

/* ---- pieces of work that bring further pieces (find-pool.c): each rank works independently, and a
 * rank without work receives some from another one ---- */

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

/* Set by the user before begin: max_pieces to arg. */
struct io500_pool {
    uint64_t max_pieces, max_bytes; /* a pool with one of them is full */
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

/* True when no more should be added; adding more is no error. Local. */
static inline bool io500_pool_is_full(const struct io500_pool *p)
{
    return p->n >= p->max_pieces || p->bytes >= p->max_bytes;
}

/* Give old pieces to peers that wait: all of them when this rank is 'busy' with something else,
 * else all but one. To be called some thousand times a second. Local, does not block. */
void io500_pool_serve(struct io500_pool *p, bool busy);

/* This rank has nothing to do. True: it has been given pieces; false: all pieces of all ranks are done, or all ranks
 * stopped. Waits, and sleeps between two looks once that takes longer than a moment. */
bool io500_pool_wait(struct io500_pool *p);

/* Drop all pieces of all ranks: io500_pool_wait then returns false as soon as each rank has ended what it is in. Local. */
void io500_pool_stop(struct io500_pool *p);

/* ---- directories that a rank reads, and batches of entries that it looks at (find-walk.c) ---- */

#define IO500_FIND_OPEN 64

/* A directory that is being read; its path begins below that of the find, "" for that. */
struct io500_directory {
    DIR *stream; /* NULL: none */
    char *path;
    struct weir_str batch; /* entries to look up, as a piece; their number */
    int in_batch;
};

struct io500_walk {
    const struct io500_find *find;
    struct timespec newer;
    struct io500_pool pool;
    int root; /* the directory of the find, open for paths only */
    struct io500_directory open[IO500_FIND_OPEN]; /* from the outer to the inner one */
    int n;
    struct io500_directory last; /* that was read to its end: what comes next is often in it or below it */
    uint64_t served_ns;
    struct io500_found count; /* of this rank */
};

/* True when an entry matches, by its name and, where 'st' is not NULL, by size and time. Local. */
bool io500_walk_matches(const struct io500_walk *w, const char *name, const struct stat *st);

/* Count a match; path: of the directory that it is in, name "" for the directory itself. Local. */
void io500_walk_hit(struct io500_walk *w, const char *path, const char *name);

/* Work on pieces until there are none on any rank. The first one is the directory of the find, on the
 * rank that begins (rank 0, if at all). Collective over the ranks of the pool. */
void io500_walk_run(struct io500_walk *w, bool begins);
