/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - where the ranks are: on nodes, as MPI reports them, and on kernels, each with a page
 * cache and a clock of its own */
#include "par/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/size.h"

/* The kernel of this process. */
struct kernel {
    int64_t boot;  /* 0: not known */
    int64_t clock; /* of the time namespace: its clocks are its own */
};

/* The place of this rank in its group: a node of MPI, or the ranks of a kernel. Groups are numbered
 * by their lowest rank. */
struct place {
    int leader;       /* lowest rank of the group */
    int group;        /* how many leaders have a lower rank */
    int index, count; /* our position among the ranks of the group; how many they are */
    bool same_kernel; /* as the leader's; false: one of them is not known */
    bool same_clock;
};

/* Facts of one reduction (maximum). */
enum fact {
    FACT_GROUPS,
    FACT_FULLEST,
    FACT_FIRST, /* ranks of group 0 */
    FACT_NOT_BLOCK,
    FACT_STRIDE,       /* distance of neighbours in a group: the largest ... */
    FACT_STRIDE_MIN, /* ... and minus the smallest */
    FACT_NO_KERNEL,    /* it is not known */
    FACT_MIXED,        /* a group has ranks of several kernels */
    FACT_DIFFERS,      /* groups are not the nodes of MPI */
    FACT_FAKE_NODES,   /* from the environment of rank 0; 0: not set */
    FACT_FAKE_PER_NODE,
    FACT_BAD_ENV,
    FACTS
};

/* Containers share a host's kernel; hosts do not, whatever their names are. */
static struct kernel identify_kernel(void)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    struct stat space = { 0 };
    char id[64] = "";

    if (f && !fgets(id, sizeof(id), f))
        id[0] = '\0';
    if (f)
        fclose(f);
    stat("/proc/self/ns/time", &space); /* else the kernel has none */
    return (struct kernel) { *id ? (int64_t)weir_hash(WEIR_HASH_BEGIN, id, strlen(id)) : 0,
                             (int64_t)space.st_ino };
}

static MPI_Comm split(const struct weir_par *par, MPI_Comm whole, int color)
{
    MPI_Comm part;

    weir_mpi_must(par, MPI_Comm_split(whole, color, par->rank, &part), "MPI_Comm_split");
    return part;
}

static MPI_Comm ranks_of_node(const struct weir_par *par)
{
    MPI_Comm node;

    weir_mpi_must(
        par, MPI_Comm_split_type(par->comm, MPI_COMM_TYPE_SHARED, par->rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    return node;
}

/* The ranks of 'whole' with this kernel. Colors have 31 bits, which two of many kernels may have in common: the second
 * split tells them apart. */
static MPI_Comm ranks_of_kernel(const struct weir_par *par, MPI_Comm whole, int64_t boot)
{
    MPI_Comm some = split(par, whole, (int)(boot & INT_MAX));
    MPI_Comm kernel = split(par, some, (int)(boot >> 31 & INT_MAX));

    weir_mpi_must(par, MPI_Comm_free(&some), "MPI_Comm_free");
    return kernel;
}

/* Frees 'group'. Collective over par->comm. */
static void find_place(const struct weir_par *par, MPI_Comm group, const struct kernel *k,
                       struct place *p)
{
    int64_t head[4] = { 0, par->rank, k->boot, k->clock };
    int leads, before = 0;

    weir_mpi_must(par, MPI_Comm_rank(group, &p->index), "MPI_Comm_rank");
    weir_mpi_must(par, MPI_Comm_size(group, &p->count), "MPI_Comm_size");

    leads = p->index == 0;
    weir_mpi_must(par, MPI_Exscan(&leads, &before, 1, MPI_INT, MPI_SUM, par->comm), "MPI_Exscan");
    head[0] = par->rank == 0 ? 0 : before; /* MPI leaves it undefined there */
    weir_mpi_must(par, MPI_Bcast(head, 4, MPI_INT64_T, 0, group), "MPI_Bcast");
    weir_mpi_must(par, MPI_Comm_free(&group), "MPI_Comm_free");
    p->group = (int)head[0];
    p->leader = (int)head[1];
    p->same_kernel = k->boot != 0 && head[2] == k->boot;
    p->same_clock = p->same_kernel && head[3] == k->clock;
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

/* Both placements are decided without knowing the number of groups yet. Round robin means that the
 * i-th rank of each group is i times the number of groups after the first one. Rounding down loses
 * nothing: going up through the ranks, each finds only one place left where that can be true. */
static void state_facts(const struct weir_par *par, const struct place *p, int64_t fact[FACTS])
{
    int away = par->rank - p->leader;

    fact[FACT_GROUPS] = p->group + 1;
    fact[FACT_FULLEST] = p->count;
    fact[FACT_FIRST] = p->group == 0 ? p->count : 0;
    fact[FACT_NOT_BLOCK] = away != p->index;
    fact[FACT_STRIDE] = p->index > 0 ? away / p->index : 0;
    fact[FACT_STRIDE_MIN] = p->index > 0 ? -fact[FACT_STRIDE] : INT64_MIN;
    fact[FACT_MIXED] = !p->same_kernel;
}

static enum weir_placement judge_placement(const int64_t fact[FACTS])
{
    if (!fact[FACT_NOT_BLOCK])
        return WEIR_PLACED_BLOCK;
    if (fact[FACT_STRIDE] == fact[FACT_GROUPS] && fact[FACT_STRIDE_MIN] == -fact[FACT_GROUPS])
        return WEIR_PLACED_CYCLIC;
    return WEIR_PLACED_OTHER;
}

static struct weir_nodes summarize(const struct place *p, const int64_t fact[FACTS])
{
    return (struct weir_nodes) { .node = p->group,
                                 .nodes = (int)fact[FACT_GROUPS],
                                 .per_node = (int)fact[FACT_FIRST],
                                 .per_node_max = (int)fact[FACT_FULLEST],
                                 .placement = judge_placement(fact) };
}

void weir_par_renumber(struct weir_par *par, int nodes, int per_node)
{
    if (nodes <= 0 && per_node <= 0)
        return;
    if (nodes > 0)
        par->nodes = nodes;
    if (per_node > 0)
        par->per_node = par->per_node_max = per_node;
    par->node = par->rank / par->per_node;
    if (par->node >= par->nodes)
        par->node = par->nodes - 1;
    par->cache = (struct weir_nodes) { par->node, par->nodes, par->per_node, par->per_node_max,
                                       par->placement };
    par->given = true;
}

static void pretend_nodes(struct weir_par *par, const int64_t fact[FACTS])
{
    if (fact[FACT_FAKE_NODES] == 0 && fact[FACT_FAKE_PER_NODE] == 0)
        return;
    par->fake_nodes = (int)fact[FACT_FAKE_NODES];
    par->fake_per_node = (int)fact[FACT_FAKE_PER_NODE];
    par->per_node_max = par->per_node;
    par->placement = WEIR_PLACED_BLOCK;
    weir_par_renumber(par, par->fake_nodes, par->fake_per_node);
}

/* True when each node of MPI has a kernel of its own. Only the leaders of nodes compare theirs:
 * a split lets each of its ranks learn of all others. Keeps the leaders then. Collective over
 * par->comm, whose nodes are several and have one kernel each. */
static bool are_nodes_kernels(struct weir_par *par, const struct kernel *k, bool leads)
{
    MPI_Comm same;
    int64_t shared = 0;
    int ranks;

    par->leaders = split(par, par->comm, leads ? 0 : MPI_UNDEFINED);
    if (leads) {
        same = ranks_of_kernel(par, par->leaders, k->boot);
        weir_mpi_must(par, MPI_Comm_size(same, &ranks), "MPI_Comm_size");
        weir_mpi_must(par, MPI_Comm_free(&same), "MPI_Comm_free");
        shared = ranks > 1;
    }
    weir_allmax_i64(par, &shared, 1);
    if (shared && leads)
        weir_mpi_must(par, MPI_Comm_free(&par->leaders), "MPI_Comm_free");
    return !shared;
}

/* The kernels check the nodes that MPI reports: on one node whose ranks have one kernel nothing is
 * left to find. *p is the place on the kernel then. True on every rank: par->leaders is known.
 * Collective over par->comm. */
static bool find_kernels(struct weir_par *par, const struct kernel *k, const int64_t seen[FACTS],
                         struct place *p)
{
    bool several = seen[FACT_GROUPS] > 1, has_leaders = false;
    int64_t fact[FACTS] = { 0 };

    if (seen[FACT_NO_KERNEL])
        return false;
    if (several && !seen[FACT_MIXED])
        has_leaders = are_nodes_kernels(par, k, p->index == 0);
    if (!has_leaders && (several || seen[FACT_MIXED])) {
        find_place(par, ranks_of_kernel(par, par->comm, k->boot), k, p);
        state_facts(par, p, fact);
        fact[FACT_DIFFERS] = p->group != par->node;
        weir_allmax_i64(par, fact, FACTS);
        par->cache = summarize(p, fact);
        par->differs = fact[FACT_DIFFERS];
    }
    par->kernels = par->cache.nodes;
    return has_leaders;
}

/* Finds the leaders of clocks (par/clock.h). Collective when there are several that are not known. */
static void find_leaders(struct weir_par *par, const struct place *place, bool is_known)
{
    bool leads = place->index == 0;

    par->leader = place->leader;
    par->same_clock = place->same_clock;
    par->followers = leads ? place->count - 1 : 0;
    if (par->cache.nodes > 1 && !is_known)
        par->leaders = split(par, par->comm, leads ? 0 : MPI_UNDEFINED);
}

int weir_par_place(struct weir_par *par, struct weir_err *err)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    const struct kernel kernel = identify_kernel();
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
    find_place(par, ranks_of_node(par), &kernel, &place);
    state_facts(par, &place, fact);
    fact[FACT_NO_KERNEL] = kernel.boot == 0;
    weir_allmax_i64(par, fact, FACTS);
    if (fact[FACT_BAD_ENV]) {
        if (err)
            weir_bcast(par, err, sizeof(*err), 0);
        weir_par_free(par);
        return -1;
    }
    par->cache = summarize(&place, fact);
    par->node = par->cache.node;
    par->nodes = par->cache.nodes;
    par->per_node = par->cache.per_node;
    par->per_node_max = par->cache.per_node_max;
    par->placement = par->cache.placement;
    find_leaders(par, &place, find_kernels(par, &kernel, fact, &place));
    pretend_nodes(par, fact);
    return 0;
}
