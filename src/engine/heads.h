/* SPDX-License-Identifier: BSD-3-Clause */
/* heads.h - groups of ranks whose heads work on files for them */
#ifndef WEIR_ENGINE_HEADS_H
#define WEIR_ENGINE_HEADS_H

#include "engine/run.h"
#include "par/group.h"

struct weir_heads {
    struct weir_par group; /* the ranks of my group; rank 0 is its head */
    struct weir_par peers; /* those with my place in their groups; on heads all heads, in order */
    bool is_head;
};

/* Make groups of the ranks with the same color (0 or more), given back at the end of the test.
 * Collective over run->par. Returns 0, or -1 and err on all ranks. */
int weir_heads_begin(struct weir_run *run, struct weir_heads *h, int color, struct weir_err *err);

/* The ranks of a session of the heads; NULL on others (weir_test_session_of). Local. */
static inline const struct weir_par *weir_heads_par(const struct weir_heads *h)
{
    return h->is_head ? &h->peers : NULL;
}

#endif
