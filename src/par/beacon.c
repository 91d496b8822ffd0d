/* SPDX-License-Identifier: BSD-3-Clause */
/* beacon.c - signs of life from node to node, outside of MPI */
#include "config.h"
#include "par/beacon.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"

#define EACH_NS ((uint64_t)WEIR_NS_PER_S)
#define FAREWELLS 3 /* datagrams may be lost */

/* A datagram. */
struct sign {
    uint64_t word, count;
    uint64_t rests; /* 1: no more follow */
};

/* Where a node listens, for the one before; who it is, for the one after. */
struct place {
    uint64_t word; /* 0: it does not listen */
    int32_t n;
    struct sockaddr_in at[WEIR_BEACON_PLACES];
};
struct person {
    int32_t rank;
    char host[WEIR_HOST_TEXT];
};

/* Our addresses with this port; the loopback where there is no other. */
static void find_places(struct place *p, in_port_t port)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) < 0)
        return;
    for (unsigned wanted = 0; wanted <= IFF_LOOPBACK && p->n == 0; wanted += IFF_LOOPBACK)
        for (const struct ifaddrs *a = all; a && p->n < WEIR_BEACON_PLACES; a = a->ifa_next) {
            if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP) ||
                (a->ifa_flags & IFF_LOOPBACK) != wanted)
                continue;
            memcpy(&p->at[p->n], a->ifa_addr, sizeof(p->at[0]));
            p->at[p->n++].sin_port = port;
        }
    freeifaddrs(all);
}

static void listen_somewhere(struct weir_beacon *b, const struct weir_par *par, struct place *p)
{
    struct sockaddr_in any = { .sin_family = AF_INET };
    socklen_t len = sizeof(any);

    b->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (b->fd < 0)
        return;
    if (bind(b->fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
        getsockname(b->fd, (struct sockaddr *)&any, &len) < 0) {
        weir_beacon_end(b);
        return;
    }
    find_places(p, any.sin_port);
    b->theirs = weir_rng_at(weir_now_ns(), (uint64_t)getpid() << 32 | (uint32_t)par->rank) | 1;
    p->word = b->theirs;
}

static void swap(const struct weir_par *par, const void *mine, int to, void *theirs, int from,
                 size_t len)
{
    weir_mpi_must(par,
                  MPI_Sendrecv(mine, (int)len, MPI_BYTE, to, 0, theirs, (int)len, MPI_BYTE, from, 0,
                               par->leaders, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
}

void weir_beacon_begin(struct weir_beacon *b, const struct weir_par *par)
{
    struct place mine = { .word = 0 }, next;
    struct person me = { .rank = par->named }, before;
    int rank, size;

    *b = (struct weir_beacon) { .fd = -1 };
    if (par->without_mpi || par->leaders == MPI_COMM_NULL)
        return;
    weir_mpi_must(par, MPI_Comm_rank(par->leaders, &rank), "MPI_Comm_rank");
    weir_mpi_must(par, MPI_Comm_size(par->leaders, &size), "MPI_Comm_size");
    listen_somewhere(b, par, &mine);
    memcpy(me.host, par->host, sizeof(me.host));
    swap(par, &mine, (rank + size - 1) % size, &next, (rank + 1) % size, sizeof(next));
    swap(par, &me, (rank + 1) % size, &before, (rank + size - 1) % size, sizeof(before));
    b->mine = next.word;
    b->places = next.word ? next.n : 0;
    memcpy(b->to, next.at, sizeof(b->to));
    b->rank = before.rank;
    memcpy(b->host, before.host, sizeof(b->host));
}

/* To all addresses of the next node: we do not know which of them lead there. */
static void send_sign(struct weir_beacon *b, uint64_t rests)
{
    const struct sign s = { b->mine, ++b->sent, rests };

    for (int i = 0; i < b->places; i++)
        if (sendto(b->fd, &s, sizeof(s), MSG_NOSIGNAL, (const struct sockaddr *)&b->to[i],
                   sizeof(b->to[i])) < 0)
            continue; /* some networks do not reach each other */
}

uint64_t weir_beacon_poll(struct weir_beacon *b, uint64_t now_ns)
{
    struct sign s;

    if (b->fd <= 0)
        return 0;
    if (b->sent_ns == 0 || now_ns - b->sent_ns >= EACH_NS) {
        send_sign(b, 0);
        b->sent_ns = now_ns;
    }
    for (ssize_t n = 0; n >= 0;) {
        n = recv(b->fd, &s, sizeof(s), 0);
        if (n != (ssize_t)sizeof(s) || s.word != b->theirs || s.count <= b->received)
            continue;
        b->received = s.count;
        b->heard = !s.rests;
        b->heard_ns = now_ns;
    }
    return b->heard ? now_ns - b->heard_ns : 0;
}

void weir_beacon_rest(struct weir_beacon *b)
{
    for (int i = 0; b->fd > 0 && i < FAREWELLS; i++)
        send_sign(b, 1);
    b->sent_ns = 0;
    b->heard = false;
}

void weir_beacon_end(struct weir_beacon *b)
{
    if (b->fd > 0)
        close(b->fd);
    b->fd = -1;
}
