/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - data of all ranks, brought to the rank that needs them */
#include "par/reduce.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NODES_TAG 6 /* the leader receives from any rank: see par/clock.c */
#define EACH_TAG 7
#define ASK_TAG 8
#define ANSWER_TAG 9
#define PIECE_TAG 10
#define BCAST_ASK_TAG 11
#define BCAST_TAG 12

/* Send a request to rank whom, and answer those of others with ours, until all are answered (NBX, Hoefler
 * 2010). A rank whose request has arrived enters the barrier. Not by one-sided reads: MPICH 4.0 reads from
 * another place than was asked for. 'answer' NULL: they are only counted. Returns the number of requests. */
static int64_t take_requests(const struct weir_par *par, int whom, const uint64_t *answer)
{
    MPI_Request asked, barrier, *waits = &asked;
    int64_t came = 0;
    MPI_Status from;
    int there, done = 0;

    weir_mpi_must(par, MPI_Issend(NULL, 0, MPI_BYTE, whom, ASK_TAG, par->comm, &asked),
                  "MPI_Issend");
    while (!done) {
        weir_mpi_must(par, MPI_Iprobe(MPI_ANY_SOURCE, ASK_TAG, par->comm, &there, &from),
                      "MPI_Iprobe");
        if (there)
            weir_mpi_must(par,
                          MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, ASK_TAG, par->comm,
                                   MPI_STATUS_IGNORE),
                          "MPI_Recv");
        if (there && answer)
            weir_mpi_must(
                par, MPI_Send(answer, 1, MPI_UINT64_T, from.MPI_SOURCE, ANSWER_TAG, par->comm),
                "MPI_Send");
        came += there;
        weir_mpi_must(par, MPI_Test(waits, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done && waits == &asked) {
            weir_mpi_must(par, MPI_Ibarrier(par->comm, &barrier), "MPI_Ibarrier");
            waits = &barrier;
            done = 0;
        }
    }
    return came;
}

/* Each rank asks one other; several may ask the same. */
static uint64_t ask(const struct weir_par *par, uint64_t mine, int whom)
{
    MPI_Request answered;
    uint64_t got;

    weir_mpi_must(par, MPI_Irecv(&got, 1, MPI_UINT64_T, whom, ANSWER_TAG, par->comm, &answered),
                  "MPI_Irecv");
    take_requests(par, whom, &mine);
    weir_mpi_must(par, MPI_Wait(&answered, MPI_STATUS_IGNORE), "MPI_Wait");
    return got;
}

/* The barrier keeps requests of this call apart from those of the one before. */
int64_t weir_askers(const struct weir_par *par, int whom)
{
    if (par->size == 1)
        return 1;
    weir_barrier(par);
    return take_requests(par, whom, NULL);
}

/* The agreement also keeps requests of this call apart from those of the one before. */
uint64_t weir_fetch_u64(const struct weir_par *par, uint64_t mine, int whom)
{
    int shift = (whom - par->rank + par->size) % par->size;
    int asker = (par->rank - shift + par->size) % par->size;
    int64_t ends[2] = { shift, -shift };
    uint64_t got = mine;

    weir_allmax_i64(par, ends, 2);
    if (ends[0] != -ends[1])
        return ask(par, mine, whom);
    if (shift != 0)
        weir_mpi_must(par,
                      MPI_Sendrecv(&mine, 1, MPI_UINT64_T, asker, 0, &got, 1, MPI_UINT64_T, whom,
                                   0, par->comm, MPI_STATUS_IGNORE),
                      "MPI_Sendrecv");
    return got;
}

uint64_t weir_before_u64(const struct weir_par *par, uint64_t mine)
{
    uint64_t before = 0;

    if (par->size == 1)
        return 0;
    weir_mpi_must(par, MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, par->comm),
                  "MPI_Exscan");
    return par->rank == 0 ? 0 : before; /* MPI leaves it undefined there */
}

/* An operation of MPI. */
static void merge(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const struct weir_stats *more = in;
    struct weir_stats *s = inout;

    for (int i = 0; i < *n; i++)
        weir_stats_merge(&s[i], &more[i]);
}

void weir_merge_stats(const struct weir_par *par, struct weir_stats *s)
{
    const struct weir_stats mine = *s;
    MPI_Datatype type;
    MPI_Op op;

    if (par->size == 1)
        return;
    weir_mpi_must(par, MPI_Op_create(merge, 1, &op), "MPI_Op_create");
    weir_mpi_must(par, MPI_Type_contiguous(sizeof(mine), MPI_BYTE, &type), "MPI_Type_contiguous");
    weir_mpi_must(par, MPI_Type_commit(&type), "MPI_Type_commit");
    weir_mpi_must(par, MPI_Reduce(&mine, s, 1, type, op, 0, par->comm), "MPI_Reduce");
    weir_mpi_must(par, MPI_Type_free(&type), "MPI_Type_free");
    weir_mpi_must(par, MPI_Op_free(&op), "MPI_Op_free");
}

/* The sums of extremes mean nothing, and are replaced. */
void weir_merge_hists(const struct weir_par *par, struct weir_hist *h, int n, int64_t *ends)
{
    for (int i = 0; i < n; i++)
        weir_hist_ends(&h[i], &ends[2 * i]);
    weir_allmax_i64(par, ends, 2 * n);
    weir_sum_u64(par, (uint64_t *)(void *)h, (size_t)n * sizeof(*h) / sizeof(uint64_t));
    for (int i = 0; i < n && par->rank == 0; i++)
        weir_hist_set_ends(&h[i], &ends[2 * i]);
}

void weir_fetch_bytes(const struct weir_par *par, void *buf, size_t len, int from)
{
    if (from == 0)
        return;
    if (par->rank == from)
        weir_mpi_must(par, MPI_Ssend(buf, (int)len, MPI_BYTE, 0, 0, par->comm), "MPI_Ssend");
    else
        weir_mpi_must(par, MPI_Recv(buf, (int)len, MPI_BYTE, from, 0, par->comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
}

/* ---- texts of all ranks ---- */

/* A tree for each group of neighbours: a rank has the texts of those that follow it, up to the next
 * one of its height. */
struct tree {
    int group; /* ranks, a power of two; the first of each group sends to rank 0 */
    int place; /* of this rank in its group */
    char *held;
    size_t used, size;
};

/* Take the text of this rank. Memory is only where others come in. False: there is none. */
static bool begin_tree(const struct weir_par *par, const struct weir_str *mine, size_t most,
                       struct tree *t)
{
    int ranks;

    for (t->group = 1; t->group < par->size && 2 * (size_t)t->group * most <= WEIR_PIECE;)
        t->group *= 2;
    t->place = par->rank % t->group;
    ranks = t->place ? t->place & -t->place : t->group;
    t->size = (size_t)ranks * most;
    t->used = mine->len;
    if (ranks == 1 && par->rank > 0)
        return true;
    t->held = malloc(t->size);
    if (t->held)
        memcpy(t->held, weir_str_text(mine), mine->len);
    return t->held != NULL;
}

static void receive_text(const struct weir_par *par, struct tree *t, int from)
{
    MPI_Status got;
    int n;

    weir_mpi_must(par,
                  MPI_Recv(t->held + t->used, (int)(t->size - t->used), MPI_BYTE, from, PIECE_TAG,
                           par->comm, &got),
                  "MPI_Recv");
    weir_mpi_must(par, MPI_Get_count(&got, MPI_BYTE, &n), "MPI_Get_count");
    t->used += (size_t)n;
}

/* Bring the texts of a group to its first rank, and from there to rank 0: synchronous, so that only
 * that one which is received takes memory there. */
static void climb_tree(const struct weir_par *par, const struct weir_str *mine, struct tree *t)
{
    int up = 1;

    for (; up < t->group && !(t->place & up); up *= 2)
        if (par->rank + up < par->size)
            receive_text(par, t, par->rank + up);
    if (par->rank > 0)
        weir_mpi_must(par,
                      MPI_Ssend(t->held ? t->held : weir_str_text(mine), (int)t->used, MPI_BYTE,
                                t->place ? par->rank - up : 0, PIECE_TAG, par->comm),
                      "MPI_Ssend");
}

int weir_pieces(const struct weir_par *par, const struct weir_str *mine,
                void (*each)(void *arg, const char *bytes, size_t len), void *arg)
{
    int64_t most[2] = { mine->failed, (int64_t)mine->len }, missing;
    struct tree t = { 0 };

    weir_allmax_i64(par, most, 2);
    if (most[0] || most[1] == 0)
        return most[0] ? -1 : 0;
    weir_mpi_must(par, most[1] > INT_MAX ? MPI_ERR_COUNT : MPI_SUCCESS, "weir_pieces");
    missing = !begin_tree(par, mine, (size_t)most[1], &t);
    weir_allmax_i64(par, &missing, 1);
    if (!missing)
        climb_tree(par, mine, &t);
    for (int from = 0; !missing && par->rank == 0 && from < par->size; from += t.group) {
        if (from > 0) {
            t.used = 0;
            receive_text(par, &t, from);
        }
        if (t.used > 0)
            each(arg, t.held, t.used);
    }
    free(t.held);
    return missing ? -1 : 0;
}

/* ---- the ranks of a node ---- */

static void send_to_leader(const struct weir_par *par, const uint64_t *v, int n, int tag)
{
    weir_mpi_must(par, MPI_Send(v, n, MPI_UINT64_T, par->leader, tag, par->comm), "MPI_Send");
}

static void receive_from_any(const struct weir_par *par, uint64_t *v, int n, int tag)
{
    weir_mpi_must(par,
                  MPI_Recv(v, n, MPI_UINT64_T, MPI_ANY_SOURCE, tag, par->comm, MPI_STATUS_IGNORE),
                  "MPI_Recv");
}

void weir_nodes_or(const struct weir_par *par, uint64_t *v, int n)
{
    uint64_t more[WEIR_NODES_WORDS];

    if (par->rank != par->leader) {
        send_to_leader(par, v, n, NODES_TAG);
        return;
    }
    for (int i = 0; i < par->followers; i++) {
        receive_from_any(par, more, n, NODES_TAG);
        for (int k = 0; k < n; k++)
            v[k] |= more[k];
    }
}

void weir_nodes_gather(const struct weir_par *par, const uint64_t *mine, int n, uint64_t *all)
{
    uint64_t more[WEIR_NODES_WORDS];

    if (par->rank != par->leader) {
        send_to_leader(par, mine, n, EACH_TAG);
        return;
    }
    if (all)
        memcpy(all, mine, (size_t)n * sizeof(*all));
    for (int i = 1; i <= par->followers; i++)
        receive_from_any(par, all ? all + (size_t)i * (size_t)n : more, n, EACH_TAG);
}

/* The leader knows how many they are, not who. */
void weir_nodes_bcast(const struct weir_par *par, void *buf, size_t len)
{
    MPI_Status from;

    if (par->rank != par->leader)
        weir_mpi_must(par,
                      MPI_Sendrecv(NULL, 0, MPI_BYTE, par->leader, BCAST_ASK_TAG, buf, (int)len,
                                   MPI_BYTE, par->leader, BCAST_TAG, par->comm, MPI_STATUS_IGNORE),
                      "MPI_Sendrecv");
    for (int i = 0; i < par->followers; i++) {
        weir_mpi_must(par,
                      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, BCAST_ASK_TAG, par->comm, &from),
                      "MPI_Recv");
        weir_mpi_must(par,
                      MPI_Send(buf, (int)len, MPI_BYTE, from.MPI_SOURCE, BCAST_TAG, par->comm),
                      "MPI_Send");
    }
}
