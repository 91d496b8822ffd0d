/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - what the ranks of a node have together */
#ifndef WEIR_PAR_NODES_H
#define WEIR_PAR_NODES_H

#include "par/comm.h"

#define WEIR_NODES_WORDS 64

/* The bits that any rank of our node has set, in place on the leader of the node, of
 * WEIR_NODES_WORDS words at most; others keep theirs. Nodes as MPI sees them. Collective over
 * par->comm: messages between the ranks of a node only. */
void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n);

/* The n words of every rank of our node, on its leader, its own first and the others in any order:
 * n for each rank, or nowhere where 'all' is NULL; others get nothing. Nodes as MPI sees them.
 * Collective over par->comm: messages between the ranks of a node only. */
void weir_nodes_gather(const struct weir_par *par, const uint64_t *mine, int n, uint64_t *all);

#endif
