/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h - the nodes of a run in a ring, each with one before it and one after it */
#ifndef WEIR_PAR_RING_H
#define WEIR_PAR_RING_H

#include "par/comm.h"

/* What the first rank of our node says goes to that of the node before, and we get what the node
 * after ours says. False, and nothing in 'next', on other ranks and where there is one node. Nodes
 * as MPI sees them. Collective over par->comm. */
bool weir_ring_pass(const struct weir_par *par, const void *mine, void *next, size_t len);

#endif
