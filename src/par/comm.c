/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c - who we are: ranks, nodes, placement; and the few collectives the suite uses */
#include "config.h"
#include "par/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void weir_mpi_must(const struct weir_par *par, int rc, const char *call)
{
    char why[MPI_MAX_ERROR_STRING] = "", host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int len = 0, rank = 0;

    if (rc == MPI_SUCCESS)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &len);
    MPI_Error_string(rc, why, &len);
    fprintf(stderr, "ERROR: rank %d on %s: %s: %s\n", par ? par->rank : rank,
            par ? par->host : host, call, why);
    MPI_Abort(MPI_COMM_WORLD, WEIR_ESETUP);
}

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

/* Fill everything but comm, which is set and ours. */
static int share_placement(struct weir_par *par, struct weir_err *err)
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

static struct weir_par empty(void)
{
    return (struct weir_par) { .comm = MPI_COMM_NULL,
                               .watch_comm = MPI_COMM_NULL,
                               .leaders = MPI_COMM_NULL };
}

int weir_par_init(struct weir_par *par, MPI_Comm parent, struct weir_err *err)
{
    *par = empty();
    weir_mpi_must(par, MPI_Comm_dup(parent, &par->comm), "MPI_Comm_dup");
    return share_placement(par, err);
}

void weir_par_alone(struct weir_par *par)
{
    *par = empty();
    par->comm = MPI_COMM_SELF;
    par->without_mpi = true;
    par->size = par->nodes = par->per_node = par->per_node_max = 1;
    par->placement = WEIR_PLACED_BLOCK;
    par->same_kernel = true;
    if (gethostname(par->host, sizeof(par->host) - 1) < 0)
        par->host[0] = '\0';
}

int weir_par_subset(const struct weir_par *all, int tasks, struct weir_par *out,
                    struct weir_err *err)
{
    MPI_Group group, lowest;
    int range[1][3] = { { 0, tasks - 1, 1 } };

    *out = empty();
    if (tasks < 1 || tasks > all->size)
        return weir_refuse(err, WEIR_EUSAGE, "%d tasks asked for, but there are %d", tasks,
                           all->size);

    weir_mpi_must(all, MPI_Comm_group(all->comm, &group), "MPI_Comm_group");
    weir_mpi_must(all, MPI_Group_range_incl(group, 1, range, &lowest), "MPI_Group_range_incl");
    weir_mpi_must(all, MPI_Comm_create(all->comm, lowest, &out->comm), "MPI_Comm_create");
    weir_mpi_must(all, MPI_Group_free(&lowest), "MPI_Group_free");
    weir_mpi_must(all, MPI_Group_free(&group), "MPI_Group_free");
    return out->comm == MPI_COMM_NULL ? 0 : share_placement(out, err);
}

void weir_par_free(struct weir_par *par)
{
    if (par->size > 0 && !par->without_mpi) { /* a zeroed handle need not be MPI_COMM_NULL */
        if (par->leaders != MPI_COMM_NULL)
            weir_mpi_must(par, MPI_Comm_free(&par->leaders), "MPI_Comm_free");
        if (par->watch_comm != MPI_COMM_NULL)
            weir_mpi_must(par, MPI_Comm_free(&par->watch_comm), "MPI_Comm_free");
        if (par->comm != MPI_COMM_NULL)
            weir_mpi_must(par, MPI_Comm_free(&par->comm), "MPI_Comm_free");
    }
    *par = empty();
}

int weir_par_node_stride(const struct weir_par *par)
{
    return par->placement == WEIR_PLACED_CYCLIC ? 1 : par->per_node_max;
}

int weir_par_same_node(const struct weir_par *par, int shift)
{
    int away = (int)(((int64_t)shift % par->size + par->size) % par->size);
    int from = (par->rank + away) % par->size;
    int to = (par->rank - away + par->size) % par->size;
    int theirs = -1;
    uint64_t same;

    if (par->size == 1)
        return 1;
    weir_mpi_must(par,
                  MPI_Sendrecv(&par->node, 1, MPI_INT, to, 0, &theirs, 1, MPI_INT, from, 0,
                               par->comm, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
    same = theirs == par->node;
    weir_allsum_u64(par, &same, 1);
    return (int)same;
}

void weir_barrier(const struct weir_par *par)
{
    if (par->size == 1)
        return;
    weir_mpi_must(par, MPI_Barrier(par->comm), "MPI_Barrier");
}

/* MPI counts are int: longer messages go in pieces. */
static int piece_of(size_t left)
{
    const size_t most = 1u << 30;

    return (int)(left < most ? left : most);
}

void weir_bcast(const struct weir_par *par, void *buf, size_t len, int root)
{
    char *at = buf;
    int n;

    for (; len > 0 && par->size > 1; len -= (size_t)n, at += n) {
        n = piece_of(len);
        weir_mpi_must(par, MPI_Bcast(at, n, MPI_BYTE, root, par->comm), "MPI_Bcast");
    }
}

void weir_allmax_i64(const struct weir_par *par, int64_t *v, int n)
{
    if (par->size == 1)
        return;
    weir_mpi_must(par, MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_INT64_T, MPI_MAX, par->comm),
                  "MPI_Allreduce");
}

int weir_allmax_rank(const struct weir_par *par, int64_t *v)
{
    int64_t mine = *v, before;

    weir_allmax_i64(par, v, 1);
    before = mine == *v ? -(int64_t)par->rank : INT64_MIN;
    weir_allmax_i64(par, &before, 1);
    return (int)-before;
}

void weir_allsum_u64(const struct weir_par *par, uint64_t *v, int n)
{
    if (par->size == 1)
        return;
    weir_mpi_must(par, MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_SUM, par->comm),
                  "MPI_Allreduce");
}

void weir_sum_u64(const struct weir_par *par, uint64_t *v, size_t n)
{
    bool is_root = par->rank == 0;
    int now;

    for (; n > 0 && par->size > 1; n -= (size_t)now, v += now) {
        now = piece_of(n);
        weir_mpi_must(par,
                      MPI_Reduce(is_root ? MPI_IN_PLACE : v, is_root ? v : NULL, now, MPI_UINT64_T,
                                 MPI_SUM, 0, par->comm),
                      "MPI_Reduce");
    }
}

void weir_gather(const struct weir_par *par, const void *mine, size_t len, void *out)
{
    if (par->size == 1) {
        if (out)
            memcpy(out, mine, len);
        return;
    }
    weir_mpi_must(par, len > INT_MAX ? MPI_ERR_COUNT : MPI_SUCCESS, "weir_gather");
    weir_mpi_must(par, MPI_Gather(mine, (int)len, MPI_BYTE, out, (int)len, MPI_BYTE, 0, par->comm),
                  "MPI_Gather");
}

void *weir_gather_new(const struct weir_par *par, const void *mine, size_t len)
{
    void *all = par->rank == 0 ? malloc(len * (size_t)par->size) : NULL;
    int64_t missing = par->rank == 0 && !all;

    weir_allmax_i64(par, &missing, 1);
    if (!missing)
        weir_gather(par, mine, len, all);
    return all;
}

void weir_mpi_abort(int status)
{
    int begun = 0;

    if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun)
        return;
    MPI_Abort(MPI_COMM_WORLD, status);
}

void weir_mpi_library(struct weir_str *out)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = 0;

    if (MPI_Get_library_version(text, &len) == MPI_SUCCESS)
        weir_str_add(out, text, strcspn(text, "\n"));
}

void weir_mpi_io(struct weir_str *out)
{
    const char *chosen = getenv("OMPI_MCA_io");
    struct weir_str mpi = { 0 };

    weir_mpi_library(&mpi);
    if (!strstr(weir_str_text(&mpi), "Open MPI"))
        weir_str_addf(out, "ROMIO");
    else
        weir_str_addf(out, "%s", chosen && *chosen && !strpbrk(chosen, "^,") ? chosen : "unknown");
    out->failed |= mpi.failed;
    weir_str_free(&mpi);
}

/* Bring the others' to rank 0, whose memory is 'all', NULL where it has none. Collective over
 * par->leaders. */
static void gather_hosts(const struct weir_par *par, const struct weir_host *mine,
                         struct weir_host *all)
{
    int wanted = all != NULL;

    weir_mpi_must(par, MPI_Bcast(&wanted, 1, MPI_INT, 0, par->leaders), "MPI_Bcast");
    if (wanted)
        weir_mpi_must(par,
                      MPI_Gather(mine, sizeof(*mine), MPI_BYTE, all, sizeof(*mine), MPI_BYTE, 0,
                                 par->leaders),
                      "MPI_Gather");
}

struct weir_host *weir_par_hosts(const struct weir_par *par, int *n)
{
    struct weir_host mine = { .tasks = par->followers + 1 }, *all = NULL;
    bool several = par->leaders != MPI_COMM_NULL;

    *n = par->rank == 0;
    memcpy(mine.name, par->host, sizeof(mine.name));
    if (par->rank == 0 && several)
        weir_mpi_must(par, MPI_Comm_size(par->leaders, n), "MPI_Comm_size");
    if (*n > 0 && (all = calloc((size_t)*n, sizeof(*all))))
        all[0] = mine;
    if (several)
        gather_hosts(par, &mine, all);
    *n = all ? *n : 0;
    return all;
}
