/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c - who we are: ranks and their groups; and the few collectives the suite uses */
#include "par/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    return weir_par_place(par, err);
}

void weir_par_single(struct weir_par *par)
{
    *par = empty();
    par->comm = MPI_COMM_SELF;
    par->without_mpi = true;
    par->size = par->nodes = par->per_node = par->per_node_max = 1;
    par->placement = WEIR_PLACED_BLOCK;
    par->same_clock = true;
    par->cache = (struct weir_nodes) { 0, 1, 1, 1, WEIR_PLACED_BLOCK };
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
        return weir_refuse(err, WEIR_EUSAGE, "%d tasks are requested, but there are only %d", tasks,
                           all->size);

    weir_mpi_must(all, MPI_Comm_group(all->comm, &group), "MPI_Comm_group");
    weir_mpi_must(all, MPI_Group_range_incl(group, 1, range, &lowest), "MPI_Group_range_incl");
    weir_mpi_must(all, MPI_Comm_create(all->comm, lowest, &out->comm), "MPI_Comm_create");
    weir_mpi_must(all, MPI_Group_free(&lowest), "MPI_Group_free");
    weir_mpi_must(all, MPI_Group_free(&group), "MPI_Group_free");
    return out->comm == MPI_COMM_NULL ? 0 : weir_par_place(out, err);
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
    return par->cache.placement == WEIR_PLACED_CYCLIC ? 1 : par->cache.per_node_max;
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
                  MPI_Sendrecv(&par->cache.node, 1, MPI_INT, to, 0, &theirs, 1, MPI_INT, from, 0,
                               par->comm, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
    same = theirs == par->cache.node;
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
