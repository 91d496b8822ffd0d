/* SPDX-License-Identifier: BSD-3-Clause */
/* sharedstatus.h - memory that the ranks of a node share, a slot for each: the others can read what
 * a rank has written there also when that rank stands still */
#pragma once

#include "par/comm.h"

/* Zero: there is none. */
struct weir_shared_status {
    char *memory;
    size_t each; /* bytes from slot to slot */
    int count;   /* slots: ranks of this node, or 1 where memory cannot be shared; 0: no memory */
    int mine;    /* our slot; the slots of a node are in no particular order */
};

/* Allocate a slot of 'each' zeroed bytes for every rank of the node, in a segment of /dev/shm.
 * The segment is unlinked when this returns, and its memory is bound. A rank that cannot use it
 * (no space, another container) has a private slot. Never fails. Collective over par->comm,
 * between the ranks of a node only. */
void weir_shared_status_begin(struct weir_shared_status *b, const struct weir_par *par,
                              size_t each);

/* The slot of this number, from 0 to count - 1; aligned to 64 bytes. Local. */
void *weir_shared_status_slot(const struct weir_shared_status *b, int i);

/* Unmap the segment; harmless on a zeroed struct. Local: what others see of our slot stays. */
void weir_shared_status_end(struct weir_shared_status *b);
