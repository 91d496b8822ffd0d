/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h - who we are: ranks, nodes, placement; and the few collectives the suite uses */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum weir_placement {
    WEIR_PLACED_BLOCK,  /* each node holds a contiguous range of ranks; nodes may differ in size */
    WEIR_PLACED_CYCLIC, /* rank r is on node r mod nodes */
    WEIR_PLACED_OTHER
};

#define WEIR_HOST_TEXT 256

/* Groups of ranks, numbered by their lowest rank. */
struct weir_nodes {
    int node, nodes;  /* ours; how many */
    int per_node;     /* ranks of group 0, on every rank */
    int per_node_max; /* of the fullest */
    enum weir_placement placement;
};

/* The ranks of a run. Filled by weir_par_init; read-only afterwards. */
struct weir_par {
    MPI_Comm comm;       /* our own duplicate; MPI_ERRORS_RETURN */
    MPI_Comm watch_comm; /* another, for weir_watch only */
    int rank, size;
    int named; /* the rank that messages name: of a group, that in the run that it is a part of */
    int node, nodes; /* as MPI reports them: what tables show; numbered by their lowest rank */
    int per_node;                  /* ranks on node 0, on every rank */
    int per_node_max;              /* of the fullest node ("clients per node") */
    int fake_nodes, fake_per_node; /* what the environment says they are, 0: nothing */
    enum weir_placement placement;
    struct weir_nodes cache; /* by kernel: all that is about memory, page caches and processors */
    int kernels;             /* distinct ones; 0: not known, and cache is as MPI reports the nodes */
    bool differs; /* the kernels are not the nodes that MPI reports */
    bool given;   /* the user has said what nodes there are: cache is as that, too */
    int leader;       /* lowest rank of our kernel, whatever the user says */
    int followers;    /* other ranks of the kernel, on its leader; else 0 */
    bool same_clock;  /* ours is that of the leader */
    bool without_mpi; /* MPI_Init was not called; comm is MPI_COMM_SELF, to be passed on only */
    MPI_Comm leaders; /* the leaders of several kernels, on a leader; else MPI_COMM_NULL */
    char host[WEIR_HOST_TEXT];
};

/* Duplicate 'parent' and find the nodes (MPI_Comm_split_type) and the kernels. IOR_FAKE_NODES
 * and IOR_FAKE_TASK_PER_NODES (read on rank 0) override nodes and per_node, each only its own
 * number. Ranks are then placed in blocks of per_node, the last node takes the rest, and
 * per_node_max is per_node. Memory does not grow with the number of ranks. Collective over
 * parent. Returns 0, or -1 and err on every rank. */
int weir_par_init(struct weir_par *par, MPI_Comm parent, struct weir_err *err);

/* Fill everything but comm, which is set and ours: for weir_par_init and weir_par_subset. Collective
 * over par->comm. Returns 0, or -1 and err on every rank, and par is freed. */
int weir_par_place(struct weir_par *par, struct weir_err *err);

/* The ranks of a run without MPI: this process. No call of MPI follows: functions on the ranks of a
 * run do nothing where there is one. Local. */
void weir_par_single(struct weir_par *par);

/* The lowest 'tasks' ranks of 'all' as a run of their own; on the others out->comm is
 * MPI_COMM_NULL. Collective over all->comm. */
int weir_par_subset(const struct weir_par *all, int tasks, struct weir_par *out,
                    struct weir_err *err);

/* True when this rank asks for all ranks of its kernel what is the same for them, mostly a file
 * system. One of each kernel does, and all do where MPI reports other nodes: containers may
 * have directories of their own. Local. */
static inline bool weir_par_asks(const struct weir_par *par)
{
    return par->rank == par->leader || par->differs;
}

/* Use these numbers of nodes and of ranks on each instead of those that were found, for caches,
 * too; 0: as found. Ranks are then placed in blocks. Local. */
void weir_par_renumber(struct weir_par *par, int nodes, int per_node);

/* Free the communicators. Collective over par->comm. Does nothing on a zeroed struct and where
 * comm is MPI_COMM_NULL. */
void weir_par_free(struct weir_par *par);

/* The unit of -Q: ranks to go to reach the next kernel. 1 where ranks are placed in turn, else those
 * of the fullest. */
int weir_par_node_stride(const struct weir_par *par);

/* Return the number of ranks that would find rank (r + shift) mod size on their own kernel.
 * Collective over par->comm; constant memory. */
int weir_par_same_node(const struct weir_par *par, int shift);

/* Unless rc is MPI_SUCCESS, end the job with MPI_Abort, after the library's error message on
 * stderr. The other ranks cannot be informed through a broken library. rc is what the call
 * 'call' returned. par names the rank; NULL: its number in MPI_COMM_WORLD does. Local. */
void weir_mpi_must(const struct weir_par *par, int rc, const char *call);

/* End all ranks with this status now. The last resort: a rank hangs in a call and cannot take part
 * in anything. Without MPI it returns, and the caller's alarm ends the process. Any thread. */
void weir_mpi_abort(int status);

/* Collectives over par->comm; they abort only if MPI itself is broken. */
void weir_barrier(const struct weir_par *par);
void weir_bcast(const struct weir_par *par, void *buf, size_t len, int root);
void weir_allmax_i64(const struct weir_par *par, int64_t *v, int n); /* in place, on all ranks */
int weir_allmax_rank(const struct weir_par *par, int64_t *v); /* returns the lowest rank that has it */
void weir_allsum_u64(const struct weir_par *par, uint64_t *v, int n);
void weir_sum_u64(const struct weir_par *par, uint64_t *v,
                  size_t n); /* in place on rank 0, others unchanged */

/* Gather len bytes of every rank in rank order on rank 0 (out: size*len bytes there, else ignored). */
void weir_gather(const struct weir_par *par, const void *mine, size_t len, void *out);

/* As weir_gather, into memory that it allocates on rank 0 and the caller frees. NULL on the other
 * ranks, and where there is no memory. Collective. */
void *weir_gather_new(const struct weir_par *par, const void *mine, size_t len);

/* Append the first line of MPI_Get_library_version. Local. */
void weir_mpi_library(struct weir_str *out);

/* Append the component that does MPI-IO: what the environment tells Open MPI to use ("romio321",
 * "ompio"), "unknown" where it does not, "ROMIO" in other libraries. Open MPI itself could be asked
 * through MPI_T, which takes 0.2 s and some memory that does not come back. Local. */
void weir_mpi_io(struct weir_str *out);
