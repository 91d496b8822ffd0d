/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - a parallel find: what a rank reads of a tree it shares with ranks that have nothing to do */
#ifndef WEIR_PROGRAMS_WEIR_IO500_FIND_H
#define WEIR_PROGRAMS_WEIR_IO500_FIND_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
