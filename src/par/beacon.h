/* SPDX-License-Identifier: BSD-3-Clause */
/* beacon.h - signs of life from node to node, outside of MPI: ranks that wait in MPI cannot see that a node is frozen */
#ifndef WEIR_PAR_BEACON_H
#define WEIR_PAR_BEACON_H

#include <netinet/in.h>

#include "par/comm.h"

#define WEIR_BEACON_PLACES 4

/* On the leader of a node: its datagrams go to the next node in a ring, those of the one before come
 * in. */
struct weir_beacon {
    int fd; /* -1 or, in a zeroed struct, 0: there is none */
    int places;
    struct sockaddr_in to[WEIR_BEACON_PLACES]; /* of the next node */
    uint64_t mine, theirs; /* what datagrams to the next node have in them, and those to us */
    uint64_t sent, received; /* numbers of the last ones: they may overtake each other */
    uint64_t sent_ns, heard_ns;
    bool heard;                /* and nothing since that says that no more follow */
    int rank;                  /* leader of the node before; as messages name it */
    char host[WEIR_HOST_TEXT]; /* and where it runs */
};

/* Make the ring of the nodes with several kernels. Never fails: where there is no network, nothing is
 * heard. Collective over par->comm; two messages between leaders. */
void weir_beacon_begin(struct weir_beacon *b, const struct weir_par *par);

/* Say that we live, at most once a second, and listen. 'now_ns' is time of any begin that does not
 * count while this process is stopped. How long nothing has come from the node before, in ns: 0 where
 * it was never heard, or has said that it rests. Local, never waits, any thread, one at a time. */
uint64_t weir_beacon_poll(struct weir_beacon *b, uint64_t now_ns);

/* Say that no more will come for now. As weir_beacon_poll. */
void weir_beacon_rest(struct weir_beacon *b);

/* Harmless on a zeroed struct. Local. */
void weir_beacon_end(struct weir_beacon *b);

#endif
