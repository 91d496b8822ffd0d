/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - what the ranks of a node have together */
#ifndef WEIR_PAR_NODES_H
#define WEIR_PAR_NODES_H

#include "par/comm.h"

/* The bits that any rank of our node has set, in place. Nodes as MPI sees them. Collective over
 * par->comm. */
void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n);

#endif
