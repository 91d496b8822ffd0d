/* SPDX-License-Identifier: BSD-3-Clause */
/* damage.h - kinds of wrong data: of a unit of 512 bytes, and of the transfer that its units make;
 * data that name their writer */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/pattern.h"
#include "base/shape/offset.h"

#define WEIR_DAMAGE_UNIT 512 /* bytes; the smallest piece that devices write */

enum weir_damage {
    WEIR_DAMAGE_NONE,
    WEIR_DAMAGE_ZEROS,     /* never written, or lost */
    WEIR_DAMAGE_STALE,     /* of an earlier run or repetition */
    WEIR_DAMAGE_LOST,      /* right once, but a later version was written over it */
    WEIR_DAMAGE_MISPLACED, /* good data of another offset, task or file */
    WEIR_DAMAGE_FLIPPED,   /* a few bits differ */
    WEIR_DAMAGE_TORN, /* begins right and ends with something else, or with what was there before */
    WEIR_DAMAGE_FOREIGN, /* nothing that we wrote */
    WEIR_DAMAGE_UNCLEAR, /* two of these are as likely, or several are mixed */
    WEIR_DAMAGES
};

/* The name of a kind of damage for messages: "bit flip" and so on. */
const char *weir_damage_name(enum weir_damage d);

/* The units of a transfer by kind of damage, added in their order. */
struct weir_damage_sum {
    uint64_t units, wrong[WEIR_DAMAGES];
    uint64_t first;         /* the first wrong unit, */
    enum weir_damage begin; /* what it is, */
    bool right_after;       /* and whether a right one comes after it */
};

/* Count one unit; WEIR_DAMAGE_NONE is a right one. Local. */
static inline void weir_damage_add(struct weir_damage_sum *s, enum weir_damage unit)
{
    uint64_t at = s->units++;

    if (unit == WEIR_DAMAGE_NONE) {
        s->right_after = s->begin != WEIR_DAMAGE_NONE;
        return;
    }
    s->wrong[unit]++;
    if (s->begin != WEIR_DAMAGE_NONE)
        return;
    s->first = at;
    s->begin = unit;
}

/* The kind of damage of the whole transfer. Local. */
enum weir_damage weir_damage_decide(const struct weir_damage_sum *s);

/* The damage of n words of a unit that differs, where nothing is known about them but what they
 * should be: ZEROS, FLIPPED, TORN or FOREIGN. Local. */
enum weir_damage weir_damage_of_words(const weir_word *got, const uint64_t *want, size_t n);

/* The head of a unit with a signature. */
struct weir_signature {
    uint64_t run; /* later runs have larger numbers: ns since 1970 */
    uint32_t repetition;
    uint32_t writer; /* the task that wrote it */
    uint64_t file;   /* which file, see weir_signature_file */
    uint64_t off;    /* logical offset of the unit, a multiple of WEIR_DAMAGE_UNIT */
    uint32_t version; /* below WEIR_DAMAGE_UNIT; 0, or data that were written over others of this repetition */
};

/* One wrong transfer, and the first wrong word in it. */
struct weir_data_damage {
    enum weir_damage kind;   /* of the whole transfer */
    uint64_t transfer, byte; /* offsets in the file */
    uint64_t expect, got;
    uint64_t pieces;            /* wrong words of 8 bytes; wrong units of a signature */
    struct weir_signature found; /* head of the first wrong unit; for STALE and MISPLACED */
};

/* Find the damage of a wrong transfer of a pattern: len bytes, a multiple of 8, at file offset
 * off. 'l' is the file that it belongs to: data of other places in it are MISPLACED, not
 * FOREIGN. Local, without allocation. */
void weir_damage_of_pattern(const struct weir_pattern *p, const struct weir_layout *l,
                            const void *buf, size_t len, uint64_t off, struct weir_data_damage *d);

/* ---- signature.c: data that name their writer: every unit of 512 bytes carries run, repetition,
 * file, writer and offset ---- */

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
    uint32_t writer, version; /* of the last unit that was right */
    uint64_t transfers; /* that were right, */
    uint64_t older;     /* and those of them that hold older data than the newest */
};

/* Compare units with what they must be. File and offset count always; run, repetition, writer
 * and version of s when known is set. Otherwise any one run and repetition is right, and *seen
 * follows them. Units older than the newest count as stale, but not beside later versions,
 * which are no sign that all was written again. Units of several versions are a torn write.
 * Returns whether all are right; else fills *bad. Local. */
bool weir_signature_check(const struct weir_signature *s, bool known, const void *buf, size_t len,
                          uint64_t off, struct weir_signature_seen *seen,
                          struct weir_data_damage *bad);
