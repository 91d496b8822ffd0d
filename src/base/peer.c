/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c - heartbeats between processes of different nodes, over TCP */
#include "config.h"
#include "base/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define TRY_NS (2 * (uint64_t)WEIR_NS_PER_S)   /* for one address */
#define GUEST_NS (5 * (uint64_t)WEIR_NS_PER_S) /* to show the token */
#define GREET_NS (5 * (uint64_t)WEIR_NS_PER_S) /* for the first message */
#define AT_ONCE 32                              /* connections that are taken in a turn */
#define PROBE_NS ((uint64_t)WEIR_NS_PER_S)
#define ROUNDS 3 /* through all addresses */

static int open_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void close_socket(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- where we are ---- */

/* Addresses of links that are up; those of this host alone come last. */
static void find_addresses(struct weir_peer_place *out)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) < 0)
        return;
    for (int own = 0; own < 2; own++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
            struct sockaddr_in at;

            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
                ((i->ifa_flags & IFF_LOOPBACK) != 0) != own || out->count == WEIR_PEER_ADDRESSES)
                continue;
            memcpy(&at, i->ifa_addr, sizeof(at));
            out->address[out->count++] = at.sin_addr.s_addr;
        }
    freeifaddrs(all);
}

static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof(at);
    int fd = open_socket();

    if (fd < 0)
        return -1;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 2 * AT_ONCE) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(at.sin_port);
    return fd;
}

void weir_peer_begin(struct weir_peer *p, size_t bytes, struct weir_peer_place *out)
{
    bytes += sizeof(p->token);
    *p = (struct weir_peer) { .bytes = bytes, .out_done = bytes };
    *out = (struct weir_peer_place) { .port = 0 };
    p->listener = p->watcher = p->watched = -1;
    for (int i = 0; i < WEIR_PEER_GUESTS; i++)
        p->guest[i] = -1;
    p->in = malloc(bytes);
    p->out = malloc(bytes);
    if (!p->in || !p->out || getrandom(&p->token, sizeof(p->token), 0) != sizeof(p->token))
        return;
    find_addresses(out);
    p->listener = out->count > 0 ? listen_anywhere(&out->port) : -1;
    out->token = p->token;
}

void weir_peer_watch(struct weir_peer *p, const struct weir_peer_place *place)
{
    p->place = *place;
}

/* ---- the one that watches us ---- */

static void send_rest(struct weir_peer *p)
{
    while (p->out_done < p->bytes) {
        ssize_t n = send(p->watcher, p->out + p->out_done, p->bytes - p->out_done, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        p->out_done += (size_t)n;
    }
}

/* A message of zeros at once: it knows that it is right here. Nobody else can connect any more. */
static void welcome(struct weir_peer *p, int *guest)
{
    p->watcher = *guest;
    *guest = -1;
    close_socket(&p->listener);
    for (int i = 0; i < WEIR_PEER_GUESTS; i++)
        close_socket(&p->guest[i]);
    memset(p->out, 0, p->bytes);
    memcpy(p->out, &p->token, sizeof(p->token));
    p->out_done = 0;
    send_rest(p);
}

/* What comes after the token only shows that it can reach us. It may have given up while we stood still. */
static bool is_open(int fd)
{
    char bytes[256];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        ;
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void hear_guest(struct weir_peer *p, int i, uint64_t now_ns)
{
    uint64_t token = 0;
    ssize_t n = recv(p->guest[i], &token, sizeof(token), 0);

    if (n == (ssize_t)sizeof(token) && token == p->token && is_open(p->guest[i]))
        welcome(p, &p->guest[i]);
    else if (n >= 0 || (errno != EAGAIN && errno != EINTR) || now_ns - p->guest_ns[i] > GUEST_NS)
        close_socket(&p->guest[i]);
}

/* A free place, or that of the guest who is here longest. */
static int find_place(const struct weir_peer *p)
{
    int oldest = 0;

    for (int i = 0; i < WEIR_PEER_GUESTS; i++) {
        if (p->guest[i] < 0)
            return i;
        if (p->guest_ns[i] < p->guest_ns[oldest])
            oldest = i;
    }
    return oldest;
}

/* The right one shows the token at once: however many strangers come, each is heard. */
static void receive_guests(struct weir_peer *p, uint64_t now_ns)
{
    for (int i = 0; i < WEIR_PEER_GUESTS; i++)
        if (p->guest[i] >= 0)
            hear_guest(p, i, now_ns);
    for (int n = 0; n < AT_ONCE && p->listener >= 0; n++) {
        int fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        int i = find_place(p);

        if (fd < 0)
            return;
        close_socket(&p->guest[i]);
        p->guest[i] = fd;
        p->guest_ns[i] = now_ns;
        hear_guest(p, i, now_ns);
    }
}

/* What it sends only shows that it can be reached. */
static void take_probes(struct weir_peer *p)
{
    char bytes[256];

    while (p->watcher >= 0 && recv(p->watcher, bytes, sizeof(bytes), 0) > 0)
        ;
}

void weir_peer_show(struct weir_peer *p, const void *message)
{
    if (p->watcher < 0)
        return;
    send_rest(p);
    if (p->out_done < p->bytes)
        return;
    memcpy(p->out, &p->token, sizeof(p->token));
    memcpy(p->out + sizeof(p->token), message, p->bytes - sizeof(p->token));
    p->out_done = 0;
    send_rest(p);
}

/* ---- the one that we watch ---- */

static void try_next(struct weir_peer *p, uint64_t now_ns)
{
    struct sockaddr_in at = { .sin_family = AF_INET };

    close_socket(&p->watched);
    p->try_ns = now_ns;
    if (p->tries == ROUNDS * p->place.count || (p->watched = open_socket()) < 0)
        return;
    at.sin_port = htons(p->place.port);
    at.sin_addr.s_addr = p->place.address[p->next++ % p->place.count];
    p->tries++;
    if (connect(p->watched, (struct sockaddr *)&at, sizeof(at)) < 0 && errno != EINPROGRESS)
        close_socket(&p->watched);
}

static void reach(struct weir_peer *p, uint64_t now_ns)
{
    struct pollfd ready = { .fd = p->watched, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int failed = 0;

    if (p->watched < 0 || now_ns - p->try_ns > TRY_NS) {
        try_next(p, now_ns);
        return;
    }
    if (poll(&ready, 1, 0) <= 0)
        return;
    if (getsockopt(p->watched, SOL_SOCKET, SO_ERROR, &failed, &len) < 0 || failed ||
        send(p->watched, &p->place.token, sizeof(p->place.token), MSG_NOSIGNAL) !=
            (ssize_t)sizeof(p->place.token))
        close_socket(&p->watched); /* the next address in the next turn */
    else
        p->connected = true;
    p->try_ns = now_ns;
}

/* Somebody who takes connections and says nothing, or the right one, which stands still: what the next
 * address says is worth a look, for as long as it takes. */
static void give_up(struct weir_peer *p)
{
    p->connected = false;
    p->in_done = 0;
    p->tries--;
    close_socket(&p->watched);
}

/* A process that does not know the token is somebody else, at an address that each host has. */
static bool take_message(struct weir_peer *p, void *seen)
{
    if (memcmp(p->in, &p->place.token, sizeof(p->place.token)) != 0)
        return false;
    memcpy(seen, p->in + sizeof(p->token), p->bytes - sizeof(p->token));
    p->in_done = 0;
    p->heard = true;
    return true;
}

static bool receive(struct weir_peer *p, void *seen)
{
    bool any = false, right = true;
    ssize_t n;

    while (right && (n = recv(p->watched, p->in + p->in_done, p->bytes - p->in_done, 0)) > 0) {
        p->in_done += (size_t)n;
        if (p->in_done == p->bytes)
            right = any = take_message(p, seen);
    }
    if (right && n < 0 && (errno == EAGAIN || errno == EINTR))
        return any;
    p->ended = p->heard;
    p->connected = false;
    p->in_done = 0;
    close_socket(&p->watched);
    return any;
}

static void probe(struct weir_peer *p, uint64_t now_ns)
{
    if (now_ns - p->probe_ns < PROBE_NS || send(p->watched, "", 1, MSG_NOSIGNAL) < 0)
        return;
    p->probe_ns = now_ns;
}

bool weir_peer_turn(struct weir_peer *p, uint64_t now_ns, void *seen)
{
    bool any;

    if (p->watcher < 0)
        receive_guests(p, now_ns);
    else
        take_probes(p);
    if (p->place.port == 0 || p->ended)
        return false;
    if (!p->connected) {
        reach(p, now_ns);
        return false;
    }
    any = receive(p, seen);
    if (p->connected && !p->heard && now_ns - p->try_ns > GREET_NS)
        give_up(p);
    if (p->connected)
        probe(p, now_ns);
    return any;
}

bool weir_peer_answers(const struct weir_peer *p)
{
    int left = 0;

    return p->connected && ioctl(p->watched, SIOCOUTQ, &left) == 0 && left == 0;
}

void weir_peer_end(struct weir_peer *p)
{
    if (!p->bytes)
        return;
    close_socket(&p->listener);
    for (int i = 0; i < WEIR_PEER_GUESTS; i++)
        close_socket(&p->guest[i]);
    close_socket(&p->watcher);
    close_socket(&p->watched);
    free(p->in);
    free(p->out);
    *p = (struct weir_peer) { .bytes = 0 };
}
