/* SPDX-License-Identifier: BSD-3-Clause */
/* set.h - a set of texts, which have the numbers 0, 1, 2 ... in the order in which they were added.
 *
 * To add or to find one takes the same time in any set: open addressing, at most half full. */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/str.h"

/* Zero-initialise; release with weir_set_free. */
struct weir_set {
    struct weir_set_slot *slot;
    size_t slots, n;       /* slots: a power of two; n: texts */
    size_t *begin, begins; /* where each text begins, and the capacity of that */
    struct weir_str text;  /* all of them, each with its NUL */
    uint64_t *looked;      /* NULL, or where slots that were looked at are counted: for tests */
    bool failed;           /* memory ran out: texts that were added since then may be missing */
};

/* Add len bytes at 'text', of which a copy is kept, unless they are there. Their number, -1 when memory is
 * out. Local. */
int64_t weir_set_add(struct weir_set *s, const char *text, size_t len);

/* The number of the len bytes at 'text', whose hash is that of weir_hash from WEIR_HASH_BEGIN on; -1: they are
 * not there. Local. */
int64_t weir_set_find(const struct weir_set *s, uint64_t hash, const char *text, size_t len);

void weir_set_free(struct weir_set *s);
