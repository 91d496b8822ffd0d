/* SPDX-License-Identifier: BSD-3-Clause */
/* find-pool.c - pieces of work that ranks give to each other.
 *
 * The end is detected as in a diffusing computation (Dijkstra and Scholten 1980). A rank without work that receives some
 * becomes the child of the giver. It reports back when it has none left, and its own children have none. When rank 0, the
 * root, has no work and no child, no rank has. That costs one empty message for each message with pieces, and no rounds.
 * The end is sent from peer to peer; it is the last message between any two, so none is pending when all have it. */
#include "programs/weir-io500/find.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/agree.h"

#define SPIN_NS 50000u /* a wait this long is spent testing */
#define NAP_LEAST_NS 20000u
#define NAP_MOST_NS 500000u
#define ASK_NS 50000000u

enum tag { TAG_PIECES, TAG_ENDED, TAG_ASK, TAG_STOP, TAG_OVER };

/* ---- pieces of this rank ---- */

void io500_pool_put(struct io500_pool *p, const void *bytes, size_t len)
{
    struct io500_piece *piece;

    if (p->stopped)
        return;
    piece = malloc(sizeof(*piece) + len);
    if (!piece) {
        p->failed = true;
        io500_pool_stop(p);
        return;
    }
    piece->len = len;
    memcpy(piece->bytes, bytes, len);
    piece->newer = NULL;
    piece->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = piece;
    p->newest = piece;
    p->n++;
    p->bytes += len;
}

static void take_out(struct io500_pool *p, struct io500_piece *piece)
{
    *(piece->older ? &piece->older->newer : &p->oldest) = piece->newer;
    *(piece->newer ? &piece->newer->older : &p->newest) = piece->older;
    p->n--;
    p->bytes -= piece->len;
}

struct io500_piece *io500_pool_take(struct io500_pool *p)
{
    struct io500_piece *piece = p->newest;

    if (piece)
        take_out(p, piece);
    return piece;
}

/* ---- messages ---- */

/* Send without any bytes: it needs no buffer, and does not block. */
static void send_tag(const struct io500_pool *p, int rank, enum tag tag)
{
    MPI_Request sent;

    weir_mpi_must(p->par, MPI_Isend(NULL, 0, MPI_BYTE, rank, (int)tag, p->comm, &sent), "MPI_Isend");
    weir_mpi_must(p->par, MPI_Request_free(&sent), "MPI_Request_free");
}

static void send_tag_to_all(const struct io500_pool *p, enum tag tag)
{
    for (int i = 0; i < p->peers; i++)
        send_tag(p, p->peer[i].rank, tag);
}

void io500_pool_stop(struct io500_pool *p)
{
    struct io500_piece *piece;

    if (p->stopped || p->over)
        return;
    p->stopped = true;
    send_tag_to_all(p, TAG_STOP);
    while ((piece = io500_pool_take(p)))
        free(piece);
}

static void end_all(struct io500_pool *p)
{
    if (p->over)
        return;
    p->over = true;
    send_tag_to_all(p, TAG_OVER);
}

/* Each piece is its length and its bytes. A rank that works has a parent already, and the root needs
 * none: what else comes has ended for its giver at once. */
static void receive_pieces(struct io500_pool *p, struct io500_pool_peer *from, const char *message, int len)
{
    from->asked = false;
    if (p->parent < 0 && p->par->rank != 0)
        p->parent = from->rank;
    else
        send_tag(p, from->rank, TAG_ENDED);
    for (size_t at = 0, piece; at < (size_t)len; at += piece) {
        memcpy(&piece, message + at, sizeof(piece));
        at += sizeof(piece);
        io500_pool_put(p, message + at, piece);
    }
}

static bool receive_one(struct io500_pool *p)
{
    char *message = p->messages + (size_t)p->peers * IO500_POOL_MESSAGE;
    struct io500_pool_peer *from = p->peer;
    MPI_Status status;
    int there = 0, len = 0;

    weir_mpi_must(p->par, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->comm, &there, &status), "MPI_Iprobe");
    if (!there)
        return false;
    weir_mpi_must(p->par,
                  MPI_Recv(message, (int)IO500_POOL_MESSAGE, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, p->comm, &status),
                  "MPI_Recv");
    weir_mpi_must(p->par, MPI_Get_count(&status, MPI_BYTE, &len), "MPI_Get_count");
    while (from->rank != status.MPI_SOURCE)
        from++;
    switch ((enum tag)status.MPI_TAG) {
    case TAG_PIECES: receive_pieces(p, from, message, len); break;
    case TAG_ENDED: p->unended--; break;
    case TAG_ASK: from->asks = true; break;
    case TAG_STOP: io500_pool_stop(p); break;
    case TAG_OVER:
        p->left--;
        end_all(p);
        break;
    }
    return true;
}

/* Receive messages, and check whether this rank has a reason to stop. */
static void look(struct io500_pool *p)
{
    while (p->left > 0 && receive_one(p)) {
        /* the next one */
    }
    if (p->asks && !p->stopped && !p->over && weir_now_ns() - p->asked_ns >= ASK_NS) {
        p->asked_ns = weir_now_ns();
        p->asked = p->asks(p->arg);
        if (p->asked)
            io500_pool_stop(p);
    }
}

/* ---- giving ---- */

/* The oldest are mostly those that bring the most work. */
static void give(struct io500_pool *p, struct io500_pool_peer *peer, uint64_t share)
{
    struct io500_piece *piece = p->oldest, *newer;
    size_t len = 0;

    for (; piece && share > 0; piece = newer) {
        newer = piece->newer;
        if (sizeof(piece->len) + piece->len > IO500_POOL_MESSAGE - len)
            continue;
        memcpy(peer->message + len, &piece->len, sizeof(piece->len));
        memcpy(peer->message + len + sizeof(piece->len), piece->bytes, piece->len);
        len += sizeof(piece->len) + piece->len;
        take_out(p, piece);
        free(piece);
        share--;
    }
    if (len == 0)
        return;
    peer->asks = false;
    p->unended++;
    weir_mpi_must(p->par,
                  MPI_Isend(peer->message, (int)len, MPI_BYTE, peer->rank, TAG_PIECES, p->comm, &peer->sent), "MPI_Isend");
}

void io500_pool_serve(struct io500_pool *p, bool busy)
{
    struct io500_pool_peer *waiting[IO500_POOL_PEERS];
    int n = 0;

    look(p);
    for (int i = 0; i < p->peers; i++) {
        int complete = 0;

        if (p->peer[i].asks)
            weir_mpi_must(p->par, MPI_Test(&p->peer[i].sent, &complete, MPI_STATUS_IGNORE),
                          "MPI_Test");
        if (complete)
            waiting[n++] = &p->peer[i];
    }
    for (; n > 0; n--) {
        uint64_t spare = busy || p->n == 0 ? p->n : p->n - 1;

        give(p, waiting[n - 1], (spare + (uint64_t)n) / ((uint64_t)n + 1));
    }
}

/* ---- waiting ---- */

/* Without pieces: tell the parent once all that we gave has ended, and ask whoever has not been asked. */
static void rest(struct io500_pool *p)
{
    if (p->unended == 0 && p->par->rank == 0)
        end_all(p);
    if (p->unended == 0 && p->parent >= 0) {
        send_tag(p, p->parent, TAG_ENDED);
        p->parent = -1;
    }
    for (int i = 0; i < p->peers && !p->over && !p->stopped; i++)
        if (p->peer[i].gives && !p->peer[i].asked) {
            p->peer[i].asked = true;
            send_tag(p, p->peer[i].rank, TAG_ASK);
        }
}

bool io500_pool_wait(struct io500_pool *p)
{
    uint64_t start_ns = weir_now_ns(), nap_ns = NAP_LEAST_NS;

    for (;;) {
        look(p);
        if (p->newest)
            return true;
        if (!p->over)
            rest(p);
        if (p->over && p->left == 0)
            return false;
        if (weir_now_ns() - start_ns < SPIN_NS) {
            sched_yield();
        } else {
            weir_sleep_ns(nap_ns);
            nap_ns = nap_ns * 2 < NAP_MOST_NS ? nap_ns * 2 : NAP_MOST_NS;
        }
    }
}

/* ---- begin and end ---- */

static void add_peer(struct io500_pool *p, int rank, bool gives)
{
    p->peer[p->peers++] = (struct io500_pool_peer) { .rank = rank, .gives = gives, .sent = MPI_REQUEST_NULL };
}

/* The ranks whose number differs in one bit, or those beside this one. */
static void add_peers(struct io500_pool *p)
{
    const int rank = p->par->rank, size = p->par->size;

    if (p->next && size > 1) {
        add_peer(p, (rank + 1) % size, true);
        if (size > 2)
            add_peer(p, (rank + size - 1) % size, false);
        return;
    }
    for (unsigned bit = 1; bit < (unsigned)size; bit *= 2)
        if ((int)((unsigned)rank ^ bit) < size)
            add_peer(p, (int)((unsigned)rank ^ bit), true);
}

int io500_pool_begin(struct io500_pool *p, const struct weir_par *par, struct weir_err *err)
{
    int rc = 0;

    p->par = par;
    p->comm = MPI_COMM_NULL;
    p->parent = -1;
    add_peers(p);
    p->left = p->peers;
    p->messages = malloc(((size_t)p->peers + 1) * IO500_POOL_MESSAGE);
    if (!p->messages)
        rc = weir_fail(err, WEIR_ESETUP, "memory for the messages of %d ranks", p->peers);
    if (weir_agree(par, rc, err) < 0)
        return -1;
    for (int i = 0; i < p->peers; i++)
        p->peer[i].message = p->messages + (size_t)i * IO500_POOL_MESSAGE;
    if (p->peers > 0)
        weir_mpi_must(par, MPI_Comm_dup(par->comm, &p->comm), "MPI_Comm_dup");
    weir_barrier(par); /* of the pattern */
    return 0;
}

void io500_pool_free(struct io500_pool *p)
{
    for (int i = 0; i < p->peers && p->comm != MPI_COMM_NULL; i++)
        weir_mpi_must(p->par, MPI_Wait(&p->peer[i].sent, MPI_STATUS_IGNORE), "MPI_Wait");
    if (p->par && p->comm != MPI_COMM_NULL)
        weir_mpi_must(p->par, MPI_Comm_free(&p->comm), "MPI_Comm_free");
    free(p->messages);
    p->messages = NULL;
}
