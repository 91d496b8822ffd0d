/* SPDX-License-Identifier: BSD-3-Clause */
/* stall.h - what the ranks of a node publish to each other in shared memory, and which of them
 * stand still */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/clock.h"
#include "par/sharedstatus.h"

/* A call, as other processes can read it. Texts are cut off where they are longer; the end of a
 * path is kept. */
struct weir_stall_call {
    uint64_t version; /* counts begins and ends of calls of the rank: odd in a call */
    uint64_t age_ns; /* age of the call, since its rank has seen it first */
    uint64_t off, len; /* of a transfer; len is 0 where it moves no data */
    bool at;           /* it is at an offset */
    char what[40], path[640];
};

/* The state of a rank, in its slot. Written by its watchdog; 'child' by the thread that does the
 * I/O. */
struct weir_stall_slot {
    uint64_t beat; /* increases with each poll; 0: this rank is not watched */
    uint64_t version; /* odd while 'call' is written */
    uint64_t over; /* 1: it reports why the job ends, and ends it */
    int32_t rank;
    int64_t pid, pids; /* and the namespace that numbers it */
    int64_t child;     /* a command that the rank waits for, as in kill(2): -group or pid; 0: none */
    struct weir_stall_call call;
};

#define WEIR_STALL_NS ((uint64_t)WEIR_NS_PER_S) /* a busy machine may keep a thread waiting as long */

/* The last heartbeat of a rank, and when it was new. */
struct weir_stall_seen {
    uint64_t beat, at_ns;
};
struct weir_stall {
    const struct weir_shared_status *shared;
    struct weir_stall_slot *mine;
    struct weir_stall_seen *seen; /* of each slot */
    uint64_t now_ns;              /* time that passed while this process ran: see weir_stall_poll */
    uint64_t step_ns;             /* maximum of now_ns from one poll to the next */
    uint64_t late_ns, still_ns;   /* limits without heartbeat: another rank reports; rank is named */
    uint64_t last_ns;             /* clock at the last poll */
    uint64_t version, since_ns;   /* the call of this rank, and 'now_ns' when it was seen first */
};

/* The rank without a heartbeat for the longest time, and the rank whose call has lasted longest. */
struct weir_stall_worst {
    int still, call;            /* slots, -1: none */
    uint64_t still_ns, call_ns; /* without a heartbeat; in a call */
};

/* Begin to publish the state of this rank in 'shared', which must stay; weir_stall_poll must be
 * called every poll_ns. A rank without a heartbeat for still_ns stands still. Local. Returns 0, or
 * -1 when there is no memory: then nothing is watched. */
int weir_stall_begin(struct weir_stall *s, const struct weir_shared_status *shared, int rank,
                     uint64_t poll_ns, uint64_t still_ns);
void weir_stall_end(struct weir_stall *s);

/* Publish a heartbeat and the call of this rank, and read those of the node. Returns whether this
 * rank reports for its node, and *worst then. The time of others stands still while this process is
 * stopped: two polls are at most five times their distance apart. Local, in the thread of the
 * watchdog; allocates nothing. */
bool weir_stall_poll(struct weir_stall *s, const struct weir_call *call,
                     struct weir_stall_worst *worst);

/* Publish that this rank ends the job, and kill the commands of all ranks of the node. Local. */
void weir_stall_end_job(struct weir_stall *s);

/* Publish the command that this rank waits for (see struct weir_stall_slot). 0, at its end: does not
 * return where a rank of the node ends the job. Local. */
void weir_stall_child(struct weir_stall *s, int64_t child);

/* The words for a rank of the node: "rank 1 on h: open of 'f' has not returned for 2.0 seconds", or
 * with 'still' "rank 1 on h stands still ...". Local; allocates nothing. */
void weir_stall_describe(const struct weir_stall *s, int slot, bool still, const char *host,
                         char *out, size_t size);
