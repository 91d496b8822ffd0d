/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - where the ranks are: nodes, and how the ranks are placed on them */
#include "config.h"
#include "par/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/size.h"

/* The place of this rank on its own node. */
struct place {
    int leader;       /* lowest rank of the node */
    int node;         /* how many leaders have a lower rank */
    int index, count; /* our position among the ranks of the node; how many they are */
    bool same_kernel; /* as the leader's */
};

/* Facts of one reduction (maximum). */
enum fact {
    FACT_NODES,
    FACT_FULLEST,
    FACT_FIRST, /* ranks on node 0 */
    FACT_NOT_BLOCK,
    FACT_STRIDE,       /* distance of neighbours on a node: the largest ... */
    FACT_STRIDE_LEAST, /* ... and minus the smallest */
    FACT_FAKE_NODES,   /* from the environment of rank 0; 0: not set */
    FACT_FAKE_PER_NODE,
    FACT_BAD_ENV,
    FACTS
};

/* A number that ranks have in common when they run on one kernel and see the same clocks of it; 0:
 * not known. Containers share a host's kernel, but a time namespace has clocks of its own. */
static int64_t identify_kernel(void)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    struct stat space = { 0 };
    char id[64] = "";
    uint64_t sum = 0;

    if (!f)
        return 0;
    if (!fgets(id, sizeof(id), f))
        id[0] = '\0';
    fclose(f);
    for (const char *c = id; *c; c++) /* FNV-1a */
        sum = (sum ^ (unsigned char)*c) * 1099511628211u;
    if (stat("/proc/self/ns/time", &space) == 0) /* else the kernel has none */
        sum ^= (uint64_t)space.st_ino << 1;
    return (int64_t)sum;
}

static void find_place(const struct weir_par *par, struct place *p)
{
    MPI_Comm node;
    int64_t kernel = identify_kernel();
    int64_t head[3] = { 0, par->rank, kernel };
    int leads, before = 0;

    weir_mpi_must(
        par, MPI_Comm_split_type(par->comm, MPI_COMM_TYPE_SHARED, par->rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    weir_mpi_must(par, MPI_Comm_rank(node, &p->index), "MPI_Comm_rank");
    weir_mpi_must(par, MPI_Comm_size(node, &p->count), "MPI_Comm_size");

    leads = p->index == 0;
    weir_mpi_must(par, MPI_Exscan(&leads, &before, 1, MPI_INT, MPI_SUM, par->comm), "MPI_Exscan");
    head[0] = par->rank == 0 ? 0 : before; /* MPI leaves it undefined there */
    weir_mpi_must(par, MPI_Bcast(head, 3, MPI_INT64_T, 0, node), "MPI_Bcast");
    weir_mpi_must(par, MPI_Comm_free(&node), "MPI_Comm_free");
    p->node = (int)head[0];
    p->leader = (int)head[1];
    p->same_kernel = kernel != 0 && head[2] == kernel;
}

/* A positive number from the environment; *out stays 0 when the variable is not set. */
static int read_env(const char *name, int64_t *out, struct weir_err *err)
{
    const char *text = getenv(name);

    if (!text)
        return 0;
    if (weir_size_parse(text, 1, INT_MAX, out, err) < 0)
        return weir_err_within(err, "%s", name);
    return 0;
}

/* Both placements are decided without knowing the number of nodes yet. Round robin means that the
 * i-th rank of each node is i times the number of nodes after the first one. Rounding down loses
 * nothing: going up through the ranks, each finds only one place left where that can be true. */
static void state_facts(const struct weir_par *par, const struct place *p, int64_t fact[FACTS])
{
    int away = par->rank - p->leader;

    fact[FACT_NODES] = p->node + 1;
    fact[FACT_FULLEST] = p->count;
    fact[FACT_FIRST] = p->node == 0 ? p->count : 0;
    fact[FACT_NOT_BLOCK] = away != p->index;
    fact[FACT_STRIDE] = p->index > 0 ? away / p->index : 0;
    fact[FACT_STRIDE_LEAST] = p->index > 0 ? -fact[FACT_STRIDE] : INT64_MIN;
}

static enum weir_placement judge_placement(const int64_t fact[FACTS])
{
    if (!fact[FACT_NOT_BLOCK])
        return WEIR_PLACED_BLOCK;
    if (fact[FACT_STRIDE] == fact[FACT_NODES] && fact[FACT_STRIDE_LEAST] == -fact[FACT_NODES])
        return WEIR_PLACED_CYCLIC;
    return WEIR_PLACED_OTHER;
}

void weir_par_renumber(struct weir_par *par, int nodes, int per_node)
{
    if (nodes > 0)
        par->nodes = nodes;
    if (per_node > 0)
        par->per_node = par->per_node_max = per_node;
    if (nodes > 0 || per_node > 0)
        par->node = par->rank / par->per_node;
    if (par->node >= par->nodes)
        par->node = par->nodes - 1;
}

static void pretend_nodes(struct weir_par *par, const int64_t fact[FACTS])
{
    if (fact[FACT_FAKE_NODES] == 0 && fact[FACT_FAKE_PER_NODE] == 0)
        return;
    par->fake_nodes = (int)fact[FACT_FAKE_NODES];
    par->fake_per_node = (int)fact[FACT_FAKE_PER_NODE];
    weir_par_renumber(par, par->fake_nodes, par->fake_per_node);
    par->per_node_max = par->per_node;
    par->placement = WEIR_PLACED_BLOCK;
}

/* Finds the leaders of clocks (par/clock.h). Collective when there are several nodes. */
static void find_leaders(struct weir_par *par, const struct place *place, bool several)
{
    bool leads = place->index == 0;

    par->leader = place->leader;
    par->same_kernel = place->same_kernel;
    par->followers = leads ? place->count - 1 : 0;
    if (several)
        weir_mpi_must(
            par, MPI_Comm_split(par->comm, leads ? 0 : MPI_UNDEFINED, par->rank, &par->leaders),
            "MPI_Comm_split");
}

int weir_par_place(struct weir_par *par, struct weir_err *err)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int64_t fact[FACTS] = { 0 };
    struct place place;
    int len = 0;

    weir_mpi_must(par, MPI_Comm_set_errhandler(par->comm, MPI_ERRORS_RETURN),
                  "MPI_Comm_set_errhandler");
    weir_mpi_must(par, MPI_Comm_rank(par->comm, &par->rank), "MPI_Comm_rank");
    par->named = par->rank;
    weir_mpi_must(par, MPI_Comm_size(par->comm, &par->size), "MPI_Comm_size");
    weir_mpi_must(par, MPI_Get_processor_name(host, &len), "MPI_Get_processor_name");
    if (snprintf(par->host, sizeof(par->host), "%s", host) >= (int)sizeof(par->host))
        par->host[sizeof(par->host) - 1] = '\0'; /* cut off: it is only shown */
    weir_mpi_must(par, MPI_Comm_dup(par->comm, &par->watch_comm), "MPI_Comm_dup");

    if (par->rank == 0)
        fact[FACT_BAD_ENV] =
            read_env("IOR_FAKE_NODES", &fact[FACT_FAKE_NODES], err) < 0 ||
            read_env("IOR_FAKE_TASK_PER_NODES", &fact[FACT_FAKE_PER_NODE], err) < 0;
    find_place(par, &place);
    state_facts(par, &place, fact);
    weir_allmax_i64(par, fact, FACTS);
    if (fact[FACT_BAD_ENV]) {
        if (err)
            weir_bcast(par, err, sizeof(*err), 0);
        weir_par_free(par);
        return -1;
    }
    par->node = place.node;
    par->nodes = (int)fact[FACT_NODES];
    par->per_node = (int)fact[FACT_FIRST];
    par->per_node_max = (int)fact[FACT_FULLEST];
    par->placement = judge_placement(fact);
    find_leaders(par, &place, fact[FACT_NODES] > 1);
    pretend_nodes(par, fact);
    return 0;
}
