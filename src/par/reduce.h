/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - data of all ranks, brought to the rank that needs them: one number from any other rank,
 * texts of all, numbers of the ranks of a node */
#pragma once

#include "base/hist.h"
#include "base/stats.h"
#include "base/str.h"
#include "par/comm.h"

/* Returns 'mine' of rank 'whom'; each rank chooses its own whom. One agreement, and one message for
 * each rank where all have the same distance, else a request and an answer. Constant memory.
 * Collective over par->comm. */
uint64_t weir_fetch_u64(const struct weir_par *par, uint64_t mine, int whom);

/* Return the number of ranks that call this with our rank as 'whom'. Costs a barrier and a
 * message for each rank. Constant memory. Collective over par->comm. */
int64_t weir_askers(const struct weir_par *par, int whom);

/* The sum of 'mine' over the ranks before this one. Collective over par->comm. */
uint64_t weir_before_u64(const struct weir_par *par, uint64_t mine);

/* The values of all ranks together, in place on rank 0; others keep theirs. Constant memory.
 * Collective over par->comm. */
void weir_merge_stats(const struct weir_par *par, struct weir_stats *s);

/* n histograms of all ranks together, in place on rank 0; others keep theirs. ends: memory for 2 n
 * numbers. One maximum, one sum. Collective over par->comm. */
void weir_merge_hists(const struct weir_par *par, struct weir_hist *h, int n, int64_t *ends);

/* Sends len bytes in buf from rank 'from' to rank 0. Only these two ranks call it; nothing happens if
 * they are the same. The sender waits until rank 0 asks, so nothing is buffered there. */
void weir_fetch_bytes(const struct weir_par *par, void *buf, size_t len, int from);

#define WEIR_PIECE ((size_t)4 << 20)

/* Pass the texts of all ranks, in rank order, to 'each' on rank 0: in pieces of one rank or of several, none
 * empty. A rank holds at most WEIR_PIECE bytes of others, or the longest text. Rank 0 gets a message for
 * each piece, other ranks at most log2 of the ranks. Returns 0, or -1 on every rank without a call of 'each'
 * when memory is out or 'mine' has failed. Collective over par->comm. */
int weir_pieces(const struct weir_par *par, const struct weir_str *mine,
                void (*each)(void *arg, const char *bytes, size_t len), void *arg);

#define WEIR_NODES_WORDS 64

/* Combines v of all ranks of our node by OR, in place on the leader of the node; others keep theirs.
 * n: at most WEIR_NODES_WORDS. Nodes are kernels, as in par->leader. Collective over
 * par->comm: messages between the ranks of a node only. */
void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n);

/* Sends len bytes in buf from the leader of our node to its other ranks. Nodes as the kernels are. Collective
 * over par->comm: messages between the ranks of a node only. */
void weir_nodes_bcast(const struct weir_par *par, void *buf, size_t len);

/* Collect the n numbers of every rank of our node on its leader, in 'all': its own first and
 * the others in any order. 'all' is NULL where they are not wanted. Other ranks get nothing.
 * Nodes are kernels. Collective over par->comm: messages between the ranks of a node only. */
void weir_nodes_gather(const struct weir_par *par, const uint64_t *mine, int n, uint64_t *all);
