/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbour.c - the node that a node watches */
#include "config.h"
#include "engine/neighbour.h"

#include <stdio.h>

#include "base/clock.h"
#include "par/ring.h"

#define SHOW_NS (200 * 1000000u)

/* What a node tells the one that shall watch it. */
struct card {
    struct weir_peer_place place;
    int32_t tasks;
    char host[WEIR_HOST_TEXT];
};

void weir_neighbour_begin(struct weir_neighbour *n, const struct weir_par *world)
{
    struct card mine = { .tasks = world->followers + 1 }, next;

    *n = (struct weir_neighbour) { .lone = false };
    if (world->leaders != MPI_COMM_NULL)
        weir_peer_begin(&n->peer, sizeof(n->seen), &mine.place);
    if (snprintf(mine.host, sizeof(mine.host), "%s", world->host) < 0)
        mine.host[0] = '\0';
    if (!weir_ring_pass(world, &mine, &next, sizeof(mine)))
        return;
    n->lone = next.tasks == 1;
    if (snprintf(n->host, sizeof(n->host), "%s", next.host) < 0)
        n->host[0] = '\0';
    weir_peer_watch(&n->peer, &next.place);
}

void weir_neighbour_end(struct weir_neighbour *n)
{
    weir_peer_end(&n->peer);
}

void weir_neighbour_look(struct weir_neighbour *n, const struct weir_stall *s)
{
    if (!n->peer.bytes)
        return;
    if (s->now_ns - n->shown_ns >= SHOW_NS) {
        weir_peer_show(&n->peer, s->mine);
        n->shown_ns = s->now_ns;
    }
    if (weir_peer_turn(&n->peer, weir_now_ns(), &n->seen))
        n->at_ns = s->now_ns;
}

void weir_neighbour_rest(struct weir_neighbour *n, const struct weir_stall *s)
{
    struct weir_stall_slot none = { .rank = s->mine ? s->mine->rank : 0 };

    if (!n->peer.bytes)
        return;
    weir_peer_show(&n->peer, &none);
    n->seen.beat = n->shown_ns = 0;
}

uint64_t weir_neighbour_silence(const struct weir_neighbour *n, const struct weir_stall *s)
{
    return n->seen.beat == 0 || s->now_ns < n->at_ns ? 0 : s->now_ns - n->at_ns;
}

bool weir_neighbour_is_reached(const struct weir_neighbour *n)
{
    return weir_peer_answers(&n->peer);
}

void weir_neighbour_tell(const struct weir_neighbour *n, const struct weir_stall *s, char *out,
                         size_t size)
{
    const char *state = n->peer.ended                  ? " has ended"
                        : weir_peer_answers(&n->peer) ? ", whose host answers"
                                                       : ", whose host does not answer";

    weir_stall_tell_silent(&n->seen, n->host, state, weir_neighbour_silence(n, s), out, size);
}
