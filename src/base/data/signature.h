/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.h - data that name their writer: every unit of 512 bytes carries run, repetition,
 * file, writer and offset */
#ifndef WEIR_BASE_DATA_SIGNATURE_H
#define WEIR_BASE_DATA_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/damage.h"

#define WEIR_SIGNATURE_UNIT WEIR_DAMAGE_UNIT /* bytes; transfers are multiples of it */

/* The number of a file for its units, from its name without directories: the same from every job
 * that uses the same name. */
uint64_t weir_signature_file(const char *path);

/* Write units at buf (8-byte aligned) for len bytes, a multiple of WEIR_SIGNATURE_UNIT; off counts
 * up from unit to unit. Local. */
void weir_signature_fill(const struct weir_signature *s, void *buf, size_t len, uint64_t off);

/* The heads of a file of another run: the newest run and repetition seen, and the number of
 * transfers with older ones. */
struct weir_signature_seen {
    bool any;
    uint64_t run;
    uint32_t repetition;
    uint32_t writer;    /* of the last unit that was right */
    uint64_t transfers; /* that were right, */
    uint64_t older;     /* and those of them that hold older data than the newest */
};

/* Compare units with what they must be: file and offset always; run, repetition and writer of s
 * when known is set; otherwise any one run and repetition is right, *seen follows them, and what
 * is older than the newest counts as stale. Returns whether all are right; else fills *bad.
 * Local. */
bool weir_signature_check(const struct weir_signature *s, bool known, const void *buf, size_t len,
                          uint64_t off, struct weir_signature_seen *seen,
                          struct weir_data_damage *bad);

#endif
