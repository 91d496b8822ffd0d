/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c - groups of ranks, and fields that are gathered to the first rank of a group or
 * scattered from it */
#include "par/group.h"

#include <limits.h>
#include <stdlib.h>

#include "par/agree.h"

/* The ranks with the same color, in their order, as a run of their own. weir_par_free gives it back.
 * Collective over all->comm. Returns 0, or -1 and err on every rank of a group. */
static int split(const struct weir_par *all, int color, struct weir_par *out, struct weir_err *err)
{
    MPI_Comm part = MPI_COMM_NULL;
    int rc;

    weir_mpi_must(all, MPI_Comm_split(all->comm, color, all->rank, &part), "MPI_Comm_split");
    *out = (struct weir_par) { .comm = MPI_COMM_NULL,
                               .watch_comm = MPI_COMM_NULL,
                               .leaders = MPI_COMM_NULL };
    rc = weir_par_init(out, part, err);
    out->named = all->named;
    weir_mpi_must(all, MPI_Comm_free(&part), "MPI_Comm_free");
    return rc;
}

int weir_leaders_split(const struct weir_par *all, int color, struct weir_leaders *g,
                       struct weir_err *err)
{
    int rc = split(all, color, &g->group, err);

    if (weir_agree(all, rc, err) < 0)
        return -1;
    g->is_leader = g->group.rank == 0;
    return weir_agree(all, split(all, g->group.rank, &g->peers, err), err);
}

void weir_leaders_free(struct weir_leaders *g)
{
    weir_par_free(&g->peers);
    weir_par_free(&g->group);
}

/* ---- patches ---- */

static int learn_counts(struct weir_patches *p, struct weir_err *err)
{
    size_t n = (size_t)p->par->size;
    int rc = 0;

    if (p->par->rank == 0) {
        p->count = calloc(2 * n, sizeof(*p->count));
        if (!p->count)
            rc = weir_fail(err, WEIR_ESETUP, "memory for the counts of %zu ranks", n);
    }
    if (weir_agree(p->par, rc, err) < 0)
        return -1;
    weir_gather(p->par, &p->mine, sizeof(p->mine), p->count);
    if (p->par->rank > 0)
        return 0;
    p->begin = p->count + n;
    for (size_t i = 0; i < n; i++) {
        p->begin[i] = (int)p->all;
        p->all += (uint64_t)p->count[i];
    }
    return 0;
}

int weir_patches_begin(struct weir_patches *p, const struct weir_par *par, uint64_t mine,
                       uint64_t unit, struct weir_err *err)
{
    uint64_t sum = mine;
    int64_t most = (int64_t)unit;

    *p = (struct weir_patches) { .par = par, .unit = MPI_FLOAT };
    weir_allsum_u64(par, &sum, 1);
    weir_allmax_i64(par, &most, 1);
    if (sum > INT_MAX || most > INT_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "%llu pieces of %lld elements are gathered on one "
                                             "rank, but MPI counts only to 2^31 - 1; use more "
                                             "writers", (unsigned long long)sum, (long long)most);
    p->mine = (int)mine;
    p->has_type = unit > 1;
    if (p->has_type) {
        weir_mpi_must(par, MPI_Type_contiguous((int)unit, MPI_FLOAT, &p->unit),
                      "MPI_Type_contiguous");
        weir_mpi_must(par, MPI_Type_commit(&p->unit), "MPI_Type_commit");
    }
    return learn_counts(p, err);
}

void weir_patches_free(struct weir_patches *p)
{
    if (p->has_type)
        MPI_Type_free(&p->unit);
    free(p->count);
    *p = (struct weir_patches) { .unit = MPI_DATATYPE_NULL };
}

void weir_patches_gather(const struct weir_patches *p, const void *mine, void *all)
{
    weir_mpi_must(
        p->par,
        MPI_Gatherv(mine, p->mine, p->unit, all, p->count, p->begin, p->unit, 0, p->par->comm),
        "MPI_Gatherv");
}

void weir_patches_scatter(const struct weir_patches *p, const void *all, void *mine)
{
    weir_mpi_must(
        p->par,
        MPI_Scatterv(all, p->count, p->begin, p->unit, mine, p->mine, p->unit, 0, p->par->comm),
        "MPI_Scatterv");
}

/* ---- the circle ---- */

static MPI_Comm ranks_of(const struct weir_par *par, int color, int key)
{
    MPI_Comm part;

    weir_mpi_must(par, MPI_Comm_split(par->comm, color, key, &part), "MPI_Comm_split");
    return part;
}

int weir_circle_most(const struct weir_par *par)
{
    MPI_Comm kernel = ranks_of(par, par->cache.node, par->rank);
    int64_t most;
    int mine;

    weir_mpi_must(par, MPI_Comm_size(kernel, &mine), "MPI_Comm_size");
    weir_mpi_must(par, MPI_Comm_free(&kernel), "MPI_Comm_free");
    most = mine;
    weir_allmax_i64(par, &most, 1);
    return (int)most;
}

void weir_circle_ranks(const struct weir_par *par, int step, int n, int *rank)
{
    MPI_Comm circle = ranks_of(par, 0, par->cache.node); /* then by rank */
    int at;

    weir_mpi_must(par, MPI_Comm_rank(circle, &at), "MPI_Comm_rank");
    for (int k = 0; k < n; k++) {
        int away = (int)((k + 1LL) * step % par->size);

        weir_mpi_must(par,
                      MPI_Sendrecv(&par->rank, 1, MPI_INT, (at - away + par->size) % par->size, 0,
                                   &rank[k], 1, MPI_INT, (at + away) % par->size, 0, circle,
                                   MPI_STATUS_IGNORE),
                      "MPI_Sendrecv");
    }
    weir_mpi_must(par, MPI_Comm_free(&circle), "MPI_Comm_free");
}

/* ---- an order in which no node sees the same data twice ----
 *
 * The tasks stand in a circle, those of a node side by side. Let m be the most tasks of a node.
 * Two tasks that are at least m places apart in both directions are on different nodes. In
 * round k each task reads the data of the task (k + 1) * m places further on. So the tasks that
 * touch the same data are m or more places apart from each other. */

int weir_elsewhere_check(int most, int tasks, int rounds, struct weir_err *err)
{
    if (most == tasks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "all tasks are on one node; at least two nodes are needed");
    if (2LL * most > tasks)
        return weir_refuse(err, WEIR_EUSAGE, "one node has %d of the %d tasks; a node can have "
                                             "half of the tasks at most", most, tasks);
    if ((rounds + 1LL) * most > tasks)
        return weir_refuse(err, WEIR_EUSAGE, "the data are read %d times, but a node with %d of %d "
                                             "tasks would read some of them twice; use more nodes, "
                                             "or read the data fewer times", rounds, most, tasks);
    return 0;
}
