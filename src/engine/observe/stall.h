/* SPDX-License-Identifier: BSD-3-Clause */
/* stall.h - what the ranks of a node publish to each other in shared memory, and which of them
 * stand still */
#ifndef WEIR_ENGINE_OBSERVE_STALL_H
#define WEIR_ENGINE_OBSERVE_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"
#include "par/board.h"

/* A call, as other processes can read it. Texts are cut off where they are longer; the end of a
 * path is kept. */
struct weir_stall_call {
    uint64_t turn;   /* of the call of that rank: odd in one */
    uint64_t age_ns; /* since its rank has seen it first */
    uint64_t off, len;
    char what[40], path[640];
};

/* The slot of a rank. Written by its watchdog, and not by the thread that does the I/O, but for
 * 'child'. */
struct weir_stall_slot {
    uint64_t beat; /* increases with each look; 0: this rank is not watched */
    uint64_t turn; /* odd while 'call' is written */
    uint64_t told; /* 1: it has reported why the job ends, and ends it */
    int32_t rank;
    int64_t pid, pids; /* and the namespace that numbers it */
    int64_t child;     /* a command that the rank waits for, as in kill(2): -group or pid; 0: none */
    struct weir_stall_call call;
};

/* What a watcher has seen of the ranks of its node. */
struct weir_stall_seen {
    uint64_t beat, at_ns; /* the last beat, and when it was new */
};
struct weir_stall {
    const struct weir_board *board;
    struct weir_stall_slot *mine;
    struct weir_stall_seen *seen; /* of each slot */
    uint64_t now_ns;              /* time that passed while this process ran: see weir_stall_look */
    uint64_t step_ns;             /* of it from look to look, at most */
    uint64_t last_ns;             /* clock at the last look */
    uint64_t turn, since_ns;      /* the call that we are in, and 'now_ns' when it was seen first */
};

/* What is worst on this node. */
struct weir_stall_worst {
    int still, call;            /* slots, -1: none */
    uint64_t still_ns, call_ns; /* without a heartbeat; in a call */
};

/* Begin to publish the state of this rank on the board, which must stay; weir_stall_look must be
 * called every look_ns. Local. Returns 0, or -1 when there is no memory: then nothing is
 * watched. */
int weir_stall_begin(struct weir_stall *s, const struct weir_board *board, int rank,
                     uint64_t look_ns);
void weir_stall_end(struct weir_stall *s);

/* One look, some times a second: show the call that our rank is in, and see what others show. A
 * process that was stopped for a while does not take this for the time of others: what passes
 * between two looks counts as five times their distance at most. Local, in the watcher's thread;
 * allocates nothing. */
void weir_stall_look(struct weir_stall *s, const struct weir_call *call);

/* Must this rank report for its node? The lowest slot with a beat of the last late_ns does; no
 * rank does after one that ends the job. Local. */
bool weir_stall_speaks(const struct weir_stall *s, uint64_t late_ns);

/* Publish that this rank has reported why the job ends, and ends it; has a rank of the node done
 * so? Local. */
void weir_stall_told(struct weir_stall *s);
bool weir_stall_is_told(const struct weir_stall *s);

/* Publish the command that this rank waits for (see struct weir_stall_slot); kill the commands of
 * all ranks of the node. Local. */
void weir_stall_set_child(struct weir_stall *s, int64_t child);
void weir_stall_kill_children(const struct weir_stall *s);

/* Which ranks stand still: the rank without a heartbeat for the longest time, of at least
 * 'least_ns', and the rank whose call has lasted longest. Local. */
struct weir_stall_worst weir_stall_find(const struct weir_stall *s, uint64_t least_ns);

/* The words for a rank of the node: "rank 1 on h: open of 'f' has not returned for 2.0 seconds", or
 * "rank 1 on h stands still ...". Local. */
void weir_stall_tell_call(const struct weir_stall *s, int slot, const char *host, char *out,
                          size_t size);
void weir_stall_tell_still(const struct weir_stall *s, int slot, const char *host, char *out,
                           size_t size);

#endif
