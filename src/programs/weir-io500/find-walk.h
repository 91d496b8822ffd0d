/* SPDX-License-Identifier: BSD-3-Clause */
/* find-walk.h - one rank's part of a find: directories that it reads, and batches of entries that it looks at */
#ifndef WEIR_PROGRAMS_WEIR_IO500_FIND_WALK_H
#define WEIR_PROGRAMS_WEIR_IO500_FIND_WALK_H

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "base/str.h"
#include "programs/weir-io500/find-pool.h"
#include "programs/weir-io500/find.h"

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

/* Does an entry match, by its name and, where 'st' is not NULL, by size and time? Local. */
bool io500_walk_matches(const struct io500_walk *w, const char *name, const struct stat *st);

/* Count one that does; path: of the directory that it is in, name "" for the directory itself. Local. */
void io500_walk_hit(struct io500_walk *w, const char *path, const char *name);

/* Work on pieces until there are none on any rank. The first one is a directory, from rank 0. Collective over the ranks of the pool. */
void io500_walk_run(struct io500_walk *w);
void io500_walk_put_root(struct io500_walk *w);

#endif
