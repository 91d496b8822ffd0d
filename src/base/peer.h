/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.h - heartbeats between processes of different nodes, over TCP: each process sends messages
 * to one process that watches it, and watches one other. There is no thread and no waiting:
 * weir_peer_turn does what can be done now. */
#ifndef WEIR_BASE_PEER_H
#define WEIR_BASE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_PEER_ADDRESSES 6
#define WEIR_PEER_GUESTS 4

/* Where a process can be reached: it sends this to the process that is to watch it. port 0:
 * nowhere. */
struct weir_peer_place {
    uint64_t token; /* messages go only to a process that has sent it */
    uint16_t port, count;
    uint32_t address[WEIR_PEER_ADDRESSES]; /* IPv4, in the order of the network */
};

/* Zero: there is none. */
struct weir_peer {
    size_t bytes; /* of a message with its token */
    uint64_t token;
    /* the one that watches us */
    int listener, watcher;       /* descriptors, -1: none */
    int guest[WEIR_PEER_GUESTS]; /* have not shown the token yet */
    uint64_t guest_ns[WEIR_PEER_GUESTS]; /* since when they are here */
    char *out;
    size_t out_done; /* sent of it; 'bytes': all */
    /* the one that we watch */
    struct weir_peer_place place;
    int watched;
    int tries, next; /* connections that came to nothing or may; the address to try */
    bool connected, heard, ended; /* ended: it was heard, and the connection is closed now */
    uint64_t try_ns, probe_ns; /* try_ns: began to connect, or is connected since */
    char *in;
    size_t in_done;
};

/* Wait for the one that will watch us, and say where. Messages have 'bytes' bytes. Never fails: a
 * place with port 0 where there are no sockets or no memory. Local. */
void weir_peer_begin(struct weir_peer *p, size_t bytes, struct weir_peer_place *out);

/* Watch the process at this place from the next turn on. Local. */
void weir_peer_watch(struct weir_peer *p, const struct weir_peer_place *place);

/* Do what can be done now: connect, listen, probe. now_ns: weir_now_ns. True when there was a new
 * message of the process that is watched: the last one is in 'seen' then. Local. */
bool weir_peer_turn(struct weir_peer *p, uint64_t now_ns, void *seen);

/* Send this message to the process that watches us. It is dropped where the one before is not sent
 * completely yet. Local. */
void weir_peer_show(struct weir_peer *p, const void *message);

/* Has the system of the process that is watched taken all that was sent to it? It does that for a
 * process that is stopped, too. Local. */
bool weir_peer_answers(const struct weir_peer *p);

/* Close everything. Harmless on a zeroed struct. */
void weir_peer_end(struct weir_peer *p);

#endif
