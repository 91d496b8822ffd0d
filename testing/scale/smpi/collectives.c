/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - calls of MPI for which the simulator takes too much processor time: here as MPI
 * libraries do them, in log P steps
 *
 * bare.c measures what the simulator's own take: with SMPI 3.32 the processor time of MPI_Iallreduce
 * and MPI_Exscan grows faster than P^2 (doc/dev/scale.md).
 * The other collectives are chosen from the simulator's own by options (bed.py). */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TAG_UP 30001 /* of no message of weir */
#define TAG_DOWN 30002
#define TAG_SCAN 30003
#define TAG_GATHER 30004

/* ---- without waiting: up a binomial tree to rank 0, and down again ---- */

/* Its address plus 1 is the request: no request of the simulator is odd. */
struct walk {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request now; /* the message that is awaited */
    char *result, *other;
    int rank, size, n, bit, down;
};

static struct walk *walk_of(MPI_Request r)
{
    return (uintptr_t)r & 1 ? (struct walk *)((uintptr_t)r - 1) : NULL;
}

static MPI_Request begin(MPI_Comm comm, const void *mine, void *result, int n, MPI_Datatype type, MPI_Op op)
{
    struct walk *w = calloc(1, sizeof(*w));
    int bytes;

    if (!w)
        abort();
    MPI_Type_size(type, &bytes);
    *w = (struct walk) { .comm = comm, .type = type, .op = op, .now = MPI_REQUEST_NULL, .result = result, .n = n, .bit = 1 };
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    w->other = malloc((size_t)n * (size_t)bytes + 1);
    if (!w->other)
        abort();
    if (mine != MPI_IN_PLACE && n > 0)
        memcpy(result, mine, (size_t)n * (size_t)bytes);
    return (MPI_Request)((uintptr_t)w + 1);
}

/* The next message to wait for, or to send. True: there is none left. */
static int step(struct walk *w)
{
    if (!w->down && w->bit < w->size && !(w->rank & w->bit)) {
        if (w->rank + w->bit < w->size)
            MPI_Irecv(w->other, w->n, w->type, w->rank + w->bit, TAG_UP, w->comm, &w->now);
        else
            w->bit *= 2;
        return 0;
    }
    if (!w->down) {
        w->down = 1;
        if (w->rank > 0) {
            MPI_Send(w->result, w->n, w->type, w->rank - w->bit, TAG_UP, w->comm);
            MPI_Irecv(w->result, w->n, w->type, w->rank - w->bit, TAG_DOWN, w->comm, &w->now);
        }
        return 0;
    }
    w->bit /= 2;
    if (w->bit > 0 && w->rank + w->bit < w->size)
        MPI_Send(w->result, w->n, w->type, w->rank + w->bit, TAG_DOWN, w->comm);
    return w->bit == 0;
}

static void take(struct walk *w)
{
    w->now = MPI_REQUEST_NULL;
    if (w->down)
        return;
    if (w->n > 0)
        MPI_Reduce_local(w->other, w->result, w->n, w->type, w->op);
    w->bit *= 2;
}

static void end(struct walk *w, MPI_Request *r)
{
    free(w->other);
    free(w);
    *r = MPI_REQUEST_NULL;
}

int __wrap_MPI_Iallreduce(const void *mine, void *result, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *r)
{
    *r = begin(comm, mine, result, n, type, op);
    return MPI_SUCCESS;
}

int __wrap_MPI_Ibarrier(MPI_Comm comm, MPI_Request *r)
{
    *r = begin(comm, MPI_IN_PLACE, NULL, 0, MPI_BYTE, MPI_MAX);
    return MPI_SUCCESS;
}

int __real_MPI_Test(MPI_Request *r, int *done, MPI_Status *status);
int __wrap_MPI_Test(MPI_Request *r, int *done, MPI_Status *status)
{
    struct walk *w = walk_of(*r);

    if (!w)
        return __real_MPI_Test(r, done, status);
    do {
        *done = 1;
        if (w->now != MPI_REQUEST_NULL) {
            __real_MPI_Test(&w->now, done, MPI_STATUS_IGNORE);
            if (*done)
                take(w);
        }
        if (*done && step(w) && w->now == MPI_REQUEST_NULL) {
            end(w, r);
            return MPI_SUCCESS;
        }
    } while (*done);
    return MPI_SUCCESS;
}

int __real_MPI_Wait(MPI_Request *r, MPI_Status *status);
int __wrap_MPI_Wait(MPI_Request *r, MPI_Status *status)
{
    struct walk *w = walk_of(*r);

    if (!w)
        return __real_MPI_Wait(r, status);
    do {
        if (w->now != MPI_REQUEST_NULL) {
            __real_MPI_Wait(&w->now, MPI_STATUS_IGNORE);
            take(w);
        }
    } while (!step(w));
    end(w, r);
    return MPI_SUCCESS;
}

/* ---- the others ---- */

/* By doubling: after step k the sum of the 2^k ranks before. */
int __wrap_MPI_Exscan(const void *mine, void *before, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int rank, size, bytes, has = 0;
    MPI_Request sent;
    char *sum, *got;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_size(type, &bytes);
    bytes *= n;
    sum = malloc(2 * (size_t)bytes);
    if (!sum)
        abort();
    got = sum + bytes;
    memcpy(sum, mine, (size_t)bytes);
    for (int away = 1; away < size; away *= 2) {
        if (rank + away < size)
            MPI_Isend(sum, n, type, rank + away, TAG_SCAN, comm, &sent);
        if (rank >= away)
            MPI_Recv(got, n, type, rank - away, TAG_SCAN, comm, MPI_STATUS_IGNORE);
        if (rank + away < size)
            __real_MPI_Wait(&sent, MPI_STATUS_IGNORE);
        if (rank < away)
            continue;
        MPI_Reduce_local(got, sum, n, type, op);
        if (has)
            MPI_Reduce_local(got, before, n, type, op);
        else
            memcpy(before, got, (size_t)bytes);
        has = 1;
    }
    free(sum);
    return MPI_SUCCESS;
}

/* Rank 0 receives from each in turn, as libraries do: P messages, but no list of P requests. */
int __wrap_MPI_Gatherv(const void *mine, int n, MPI_Datatype type, void *all, const int *counts, const int *at,
                       MPI_Datatype all_type, int root, MPI_Comm comm)
{
    MPI_Aint least, extent;
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != root)
        return n > 0 ? MPI_Send(mine, n, type, root, TAG_GATHER, comm) : MPI_SUCCESS;
    MPI_Type_get_extent(all_type, &least, &extent);
    for (int i = 0; i < size; i++) {
        char *to = (char *)all + extent * at[i];
        if (i == root)
            memcpy(to, mine, (size_t)extent * (size_t)counts[i]);
        else if (counts[i] > 0)
            MPI_Recv(to, counts[i], all_type, i, TAG_GATHER, comm, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

/* Everybody learns the color and key of everybody, as in Open MPI and MPICH, and makes its own list. */

struct member {
    int color, key, rank;
};

static int by_key(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->rank > y->rank) - (x->rank < y->rank);
}

int __wrap_MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    struct member mine = { color, key, 0 }, *all;
    MPI_Group whole, group;
    int *ranks, size, n = 0;

    MPI_Comm_rank(comm, &mine.rank);
    MPI_Comm_size(comm, &size);
    all = malloc((size_t)size * sizeof(*all));
    ranks = malloc((size_t)size * sizeof(*ranks));
    if (!all || !ranks)
        abort();
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, comm);
    for (int i = 0; i < size && color != MPI_UNDEFINED; i++)
        if (all[i].color == color)
            all[n++] = all[i];
    qsort(all, (size_t)n, sizeof(*all), by_key);
    for (int i = 0; i < n; i++)
        ranks[i] = all[i].rank;
    MPI_Comm_group(comm, &whole);
    MPI_Group_incl(whole, n, ranks, &group);
    MPI_Comm_create(comm, group, part);
    MPI_Group_free(&group);
    MPI_Group_free(&whole);
    free(ranks);
    free(all);
    return MPI_SUCCESS;
}
