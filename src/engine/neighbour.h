/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbour.h - each node watches another node, because a rank that is alone on its node has no
 * rank there that could report that it stands still */
#ifndef WEIR_ENGINE_NEIGHBOUR_H
#define WEIR_ENGINE_NEIGHBOUR_H

#include "base/peer.h"
#include "engine/stall.h"
#include "par/comm.h"

/* Of a run. Nodes are in a ring; the first rank of each watches that of the next one. */
struct weir_neighbour {
    struct weir_peer peer; /* zero: there is none */
    char host[WEIR_HOST_TEXT];
    bool lone;                   /* it is alone on its node */
    struct weir_stall_slot seen; /* beat 0: it is not watched now, or was never heard */
    uint64_t at_ns, shown_ns;    /* of the watcher's time: heard, and our own shown */
};

/* Find the neighbour; connections are made when the watchdog runs. Never fails: where nodes cannot
 * reach each other over TCP, nobody is watched. Collective over world->comm. */
void weir_neighbour_begin(struct weir_neighbour *n, const struct weir_par *world);
void weir_neighbour_end(struct weir_neighbour *n);

/* In the watcher's thread, after weir_stall_look: show our slot to the node before, hear the next
 * one. Local. */
void weir_neighbour_look(struct weir_neighbour *n, const struct weir_stall *s);

/* Watching ends for now: heartbeats that do not come from now on do not count as silence. Local. */
void weir_neighbour_rest(struct weir_neighbour *n, const struct weir_stall *s);

/* Time without a heartbeat, ns; 0 where it is not watched. Local. */
uint64_t weir_neighbour_silence(const struct weir_neighbour *n, const struct weir_stall *s);

/* Is its silence that of the process, not of its host or of the network? Local. */
bool weir_neighbour_is_reached(const struct weir_neighbour *n);

/* The words for it. Local. */
void weir_neighbour_tell(const struct weir_neighbour *n, const struct weir_stall *s, char *out,
                         size_t size);

#endif
