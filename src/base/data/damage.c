/* SPDX-License-Identifier: BSD-3-Clause */
/* damage.c - kinds of wrong data */
#include "base/data/damage.h"
#include "config.h"

#define FEW_BITS 8 /* in a unit: a flip */

static const char *const names[WEIR_DAMAGES] = {
    [WEIR_DAMAGE_NONE] = "right",           [WEIR_DAMAGE_ZEROS] = "zeros",
    [WEIR_DAMAGE_STALE] = "stale data",     [WEIR_DAMAGE_MISPLACED] = "misplaced data",
    [WEIR_DAMAGE_FLIPPED] = "bit flip",     [WEIR_DAMAGE_TORN] = "torn write",
    [WEIR_DAMAGE_FOREIGN] = "foreign data", [WEIR_DAMAGE_UNCLEAR] = "not clear",
};

const char *weir_damage_name(enum weir_damage d)
{
    return d < WEIR_DAMAGES ? names[d] : "unknown";
}

enum weir_damage weir_damage_decide(const struct weir_damage_sum *s)
{
    bool begins_right = s->first > 0 || s->begin == WEIR_DAMAGE_TORN;
    enum weir_damage most = WEIR_DAMAGE_NONE;
    uint64_t all = 0;

    for (enum weir_damage d = WEIR_DAMAGE_NONE; d < WEIR_DAMAGES; d++) {
        all += s->wrong[d];
        if (s->wrong[d] > s->wrong[most])
            most = d;
    }
    if (s->wrong[most] == all &&
        (most == WEIR_DAMAGE_ZEROS || most == WEIR_DAMAGE_MISPLACED || most == WEIR_DAMAGE_FLIPPED))
        return most;
    if (begins_right && !s->right_after && s->wrong[WEIR_DAMAGE_MISPLACED] == 0)
        return WEIR_DAMAGE_TORN;
    /* The first and the last unit of a damaged range may hold two kinds of data. */
    return s->wrong[most] >= all - all / 4 ? most : WEIR_DAMAGE_UNCLEAR;
}

enum weir_damage weir_damage_of_words(const weir_word *got, const uint64_t *want, size_t n)
{
    size_t words = 0, zeros = 0, first = n;
    unsigned bits = 0;

    for (size_t i = 0; i < n; i++) {
        if (got[i] == want[i])
            continue;
        if (words++ == 0)
            first = i;
        zeros += got[i] == 0;
        bits += (unsigned)__builtin_popcountll(got[i] ^ want[i]);
    }
    if (words == 0)
        return WEIR_DAMAGE_NONE;
    if (zeros == words && bits > 1)
        return WEIR_DAMAGE_ZEROS;
    if (bits <= FEW_BITS)
        return WEIR_DAMAGE_FLIPPED;
    return first > 0 && words == n - first ? WEIR_DAMAGE_TORN : WEIR_DAMAGE_FOREIGN;
}
