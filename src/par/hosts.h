/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h - the hosts of a run, each once with its ranks */
#pragma once

#include "base/text/columns.h"
#include "par/comm.h"

/* A kernel with its ranks, under the name of the first of them: what the user says of nodes does not
 * change it. */
struct weir_host {
    const char *name;
    const char *ranks; /* "0-15,32-62:2,70": each once, ascending; ":2" is every second one */
    int64_t tasks;     /* number of ranks */
};

/* The columns of a host in documents. */
extern const struct weir_col weir_host_cols[];

/* Pass every host to 'each' on rank 0, in the order of the lowest ranks. No rank has them all in
 * memory. Messages: those of weir_pieces, and one of each rank to the leader of its kernel. Returns
 * 0; -1 on every rank, and there were none, when memory is out. Collective over par->comm. */
int weir_hosts(const struct weir_par *par, void (*each)(void *arg, const struct weir_host *host),
               void *arg);

/* Append n ranks, in ascending order and each once, as in weir_host: a range has two ranks at least, one with
 * steps three. One pass. Local. */
void weir_hosts_ranks(struct weir_str *out, const uint64_t *rank, size_t n);
