/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h - groups of ranks, and fields that are gathered to the first rank of a group or
 * scattered from it */
#pragma once

#include "par/comm.h"

/* Groups of ranks whose leaders work on files for them. */
struct weir_leaders {
    struct weir_par group; /* the ranks of my group; rank 0 is its leader */
    struct weir_par peers; /* ranks with my place in their groups; of leaders: all leaders, in order */
    bool is_leader;
};

/* Make groups of the ranks with the same color (0 or more) in *g, which is zero. Collective over
 * all->comm. Returns 0, or -1 and err on all ranks; call weir_leaders_free in both cases. That is
 * collective, too, and does nothing with leaders that are zero. */
int weir_leaders_split(const struct weir_par *all, int color, struct weir_leaders *g,
                       struct weir_err *err);
void weir_leaders_free(struct weir_leaders *g);

/* The ranks of a session of the leaders; NULL on others (weir_test_session). Local. */
static inline const struct weir_par *weir_leaders_par(const struct weir_leaders *g)
{
    return g->is_leader ? &g->peers : NULL;
}

/* The size of each rank's patch in a group. Zero-initialise; release with weir_patches_free. */
struct weir_patches {
    const struct weir_par *par;
    MPI_Datatype unit; /* unit of all counts: a number of floats */
    bool has_type;
    int mine;           /* units of this rank */
    int *count, *begin; /* on rank 0: units of each rank, and before it */
    uint64_t all;       /* on rank 0: units of all */
};

/* Each rank has 'mine' units of 'unit' floats. par must live as long. Collective over par->comm.
 * Returns 0, or -1 and err on every rank: more than 2^31 - 1 units (WEIR_EUSAGE), or no memory. */
int weir_patches_begin(struct weir_patches *p, const struct weir_par *par, uint64_t mine,
                       uint64_t unit, struct weir_err *err);
void weir_patches_free(struct weir_patches *p);

/* All patches, one after the other in rank order, in 'all' on rank 0 (ignored elsewhere), from or
 * to 'mine' of each. Collective over par->comm. */
void weir_patches_gather(const struct weir_patches *p, const void *mine, void *all);
void weir_patches_scatter(const struct weir_patches *p, const void *all, void *mine);

/* The ranks stand in a circle, those of a kernel side by side. Return the number of ranks of
 * the fullest kernel (it is above par->cache.per_node_max where the user gives too few nodes).
 * Set rank[k], of n, to the rank that is (k + 1) * step places further on than this one.
 * Collective over par->comm. */
int weir_circle_most(const struct weir_par *par);
void weir_circle_ranks(const struct weir_par *par, int step, int n, int *rank);

/* Check that an order of 'rounds' times of reading exists in which no node sees the same data
 * twice. A node with m of n tasks touches the data of m tasks when it writes and in each round,
 * never the same: (rounds + 1) * m must not be more than n, and that is enough. 'most' is the
 * largest m. Local. 0, or -1 and err (WEIR_EUSAGE): the reason. */
int weir_elsewhere_check(int most, int tasks, int rounds, struct weir_err *err);
