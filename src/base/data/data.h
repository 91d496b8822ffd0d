/* SPDX-License-Identifier: BSD-3-Clause */
/* data.h - the data of the transfers of a file, a pattern or units with a signature: made before
 * a write and checked after a read */
#ifndef WEIR_BASE_DATA_DATA_H
#define WEIR_BASE_DATA_DATA_H

#include "base/data/damage.h"
#include "base/data/pattern.h"
#include "base/data/signature.h"
#include "base/str.h"

struct weir_data {
    struct weir_pattern pattern;
    const struct weir_layout *layout; /* of the file */
    bool by_block; /* a block has the data of the task whose block it is, whoever writes it: so it
                    * is right after any number of writers, in any order */
    struct weir_signature unit; /* where the packet of the pattern is SIGNATURE */
    bool unit_known;            /* run and repetition of the data are ours */
    struct weir_signature_seen seen;
};

static inline bool weir_data_is_signed(const struct weir_data *c)
{
    return c->pattern.packet == WEIR_PACKET_SIGNATURE;
}

/* Do the data change from one transfer to the next? */
static inline bool weir_data_varies(const struct weir_data *c)
{
    return c->by_block || weir_pattern_varies(&c->pattern);
}

/* The data of a task in the file at path are next; ours: this run writes them. Local. */
void weir_data_begin(struct weir_data *c, int task, int repetition, const char *path,
                     bool ours);

/* With by_block: take the data of the task that owns the block at offset off. True: it is another
 * task than before, and the caller makes the base pattern. Local. */
bool weir_data_take_owner(struct weir_data *c, uint64_t off);

/* Make n transfers of len bytes, for the offsets off; their buffers hold the base pattern.
 * Local. */
void weir_data_make(const struct weir_data *c, void *const *buf, size_t len,
                    const uint64_t *off, int n);

/* Is the transfer at offset off right? Else *d says how it is wrong. Local, without allocation. */
bool weir_data_check(struct weir_data *c, const void *buf, size_t len, uint64_t off,
                     struct weir_data_damage *d);

/* Append where and how a transfer is wrong. Local. */
void weir_data_describe(const struct weir_data *c, const struct weir_data_damage *d,
                        struct weir_str *out);

#endif
