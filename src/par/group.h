/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h - groups of ranks, and fields that are gathered to the first rank of a group or
 * scattered from it */
#ifndef WEIR_PAR_GROUP_H
#define WEIR_PAR_GROUP_H

#include "par/comm.h"

/* Groups of ranks whose heads work on files for them. */
struct weir_heads {
    struct weir_par group; /* the ranks of my group; rank 0 is its head */
    struct weir_par peers; /* those with my place in their groups; on heads all heads, in order */
    bool is_head;
};

/* Make groups of the ranks with the same color (0 or more) in *h, which is zero. Collective over
 * all->comm. Returns 0, or -1 and err on all ranks; call weir_heads_free in both cases. That is
 * collective, too, and does nothing with heads that are zero. */
int weir_heads_split(const struct weir_par *all, int color, struct weir_heads *h,
                     struct weir_err *err);
void weir_heads_free(struct weir_heads *h);

/* The ranks of a session of the heads; NULL on others (weir_test_session_of). Local. */
static inline const struct weir_par *weir_heads_par(const struct weir_heads *h)
{
    return h->is_head ? &h->peers : NULL;
}

/* How much each rank of a group has. Zero-initialise; release with weir_patches_free. */
struct weir_patches {
    const struct weir_par *par;
    MPI_Datatype unit; /* what is counted: so many floats */
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

#endif
