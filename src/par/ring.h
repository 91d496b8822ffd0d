/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h - the nodes of a run in a ring, each with one before it and one after it */
#ifndef WEIR_PAR_RING_H
#define WEIR_PAR_RING_H

#include "par/comm.h"

/* The first rank of our node sends the len bytes of 'mine' to the first rank of the node before,
 * and receives those of the node after into 'next'. Returns true where this was done. False, and
 * 'next' is not changed, on other ranks and where there is one node. Nodes as MPI sees them.
 * Collective over par->comm. */
bool weir_ring_pass(const struct weir_par *par, const void *mine, void *next, size_t len);

#endif
