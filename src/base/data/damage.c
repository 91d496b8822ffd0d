/* SPDX-License-Identifier: BSD-3-Clause */
/* damage.c - kinds of wrong data, and the kind that a wrong transfer of a pattern holds */
#include "base/data/damage.h"

#include <string.h>

#define FEW_BITS 8 /* in a unit: a flip */

static const char *const names[WEIR_DAMAGES] = {
    [WEIR_DAMAGE_NONE] = "right",           [WEIR_DAMAGE_ZEROS] = "zeros",
    [WEIR_DAMAGE_STALE] = "stale data",     [WEIR_DAMAGE_MISPLACED] = "misplaced data",
    [WEIR_DAMAGE_FLIPPED] = "bit flip",     [WEIR_DAMAGE_TORN] = "torn write",
    [WEIR_DAMAGE_FOREIGN] = "foreign data", [WEIR_DAMAGE_UNCLEAR] = "not clear",
    [WEIR_DAMAGE_LOST] = "lost update",
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
    if (all > 0 && s->wrong[WEIR_DAMAGE_LOST] == all)
        return all == s->units ? WEIR_DAMAGE_LOST : WEIR_DAMAGE_TORN; /* all old, or a part */
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

/* ---- a pattern ----
 *
 * TIMESTAMP and OFFSET are numbers in sequence, which contain their signature and task. Each word
 * of RANDOM and INCOMPRESSIBLE follows from the one before, so our own are known. The origin of
 * others is found by trial, at the beginning of a transfer only. */

enum {
    UNIT = WEIR_DAMAGE_UNIT / 8, /* words */
    TRIALS = 1024,               /* offsets and tasks that are tried */
    SECONDS = 4096               /* earlier signatures that are tried */
};

struct judge {
    const struct weir_pattern *p;
    const struct weir_layout *l;
    uint64_t off;
    struct weir_damage_sum sum;
    struct weir_data_damage *d;
    uint64_t stamps;       /* units of which only the stamp is another one, and that can be ours */
    enum weir_damage last; /* of the unit before, */
    const weir_word *end;  /* whose words end here */
    bool was_tried;        /* RATIO: the origin of a unit was looked for, */
    struct weir_pattern origin; /* and is a transfer of this pattern */
    uint64_t origin_off;        /* at this offset */
    enum weir_damage origin_kind; /* NONE: it was not found */
};

static uint64_t count_transfers(const struct weir_layout *l)
{
    uint64_t blocks = l->segments * (l->shared ? (uint64_t)l->tasks : 1);

    return l->transfer ? l->block / l->transfer * blocks : 0;
}

/* ---- TIMESTAMP and OFFSET ---- */

static bool is_sequence(const weir_word *w, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (w[i] != w[0] + i)
            return false;
    return n > 1;
}

/* Numbers in sequence, but not ours: 'first' is the word of the transfer at which they stand, and
 * want what should stand there. A page of the same transfer differs by whole pages. */
static enum weir_damage judge_sequence(const struct judge *j, uint64_t got, uint64_t want,
                                       size_t first)
{
    int64_t apart = (int64_t)(got - want), from = (int64_t)first + apart;
    int64_t words = (int64_t)(j->l->transfer / 8);
    uint64_t task = (got - first) >> 32;

    if (task == (want - first) >> 32)
        return apart % WEIR_PATTERN_PAGE == 0 && from >= 0 && from < words ? WEIR_DAMAGE_MISPLACED
                                                                           : WEIR_DAMAGE_STALE;
    if ((int32_t)j->p->signature < 0 || task >= (uint64_t)j->l->tasks)
        return WEIR_DAMAGE_FOREIGN;
    return (uint32_t)got == (uint32_t)want ? WEIR_DAMAGE_MISPLACED : WEIR_DAMAGE_UNCLEAR;
}

/* True when this can be the stamp of page k in a transfer at another offset. */
static bool is_stamp(const struct judge *j, uint64_t got, size_t k)
{
    uint64_t n = count_transfers(j->l);

    if (got >> 32 != (uint32_t)j->p->rank)
        return false;
    for (uint64_t i = 0; i < n && i < 64 * TRIALS; i++)
        if ((uint32_t)got == (uint32_t)(i * j->l->transfer * (k + 1)))
            return true;
    return false;
}

/* Only the stamp of the page differs. One changed bit, and zeros, can also be what they are. */
static enum weir_damage judge_stamp(struct judge *j, uint64_t got, uint64_t want, size_t k)
{
    if (!is_stamp(j, got, k))
        return weir_damage_of_words(&got, &want, 1);
    j->stamps++;
    return (uint32_t)got == 0 || __builtin_popcountll(got ^ want) == 1 ? WEIR_DAMAGE_UNCLEAR
                                                                       : WEIR_DAMAGE_MISPLACED;
}

static enum weir_damage judge_numbers(struct judge *j, const weir_word *got, const uint64_t *want,
                                      size_t n, size_t first)
{
    size_t skip = j->p->packet == WEIR_PACKET_OFFSET && first % WEIR_PATTERN_PAGE == 0;

    if (skip && memcmp(got + 1, want + 1, (n - 1) * 8) == 0)
        return judge_stamp(j, got[0], want[0], first / WEIR_PATTERN_PAGE);
    if (n > skip && got[skip] != want[skip] && is_sequence(got + skip, n - skip))
        return judge_sequence(j, got[skip], want[skip], first + skip);
    return weir_damage_of_words(got, want, n);
}

/* ---- RANDOM and INCOMPRESSIBLE ---- */

/* True when words 'later' follow from words w as a row of lanes from the one before. */
static bool are_next_lanes(const weir_word *w, const weir_word *later)
{
    for (size_t i = 0; i < WEIR_PATTERN_LANES; i++)
        if (later[i] != weir_pattern_step(w[i]))
            return false;
    return true;
}

/* True when these words can be ours, from any place. */
static bool is_ours(enum weir_packet packet, const weir_word *w, size_t n)
{
    if (w[0] == 0)
        return false;
    if (packet == WEIR_PACKET_RANDOM)
        return n > 1 && weir_lane_differ(w + 1, n - 1, w[0]) == 0;
    return n == (size_t)2 * WEIR_PATTERN_LANES && are_next_lanes(w, w + WEIR_PATTERN_LANES);
}

/* True when the unit at w continues the one that ends there. */
static bool goes_on(enum weir_packet packet, const weir_word *w)
{
    if (packet == WEIR_PACKET_RANDOM)
        return weir_lane_differ(w, 1, w[-1]) == 0;
    return are_next_lanes(w - WEIR_PATTERN_LANES, w);
}

/* True when 'word' at byte 'skip' belongs to a transfer of another offset or task: the origin. */
static bool is_moved(struct judge *j, uint64_t word, uint64_t skip)
{
    const struct weir_layout *l = j->l;
    struct weir_pattern *p = &j->origin;
    uint64_t n = count_transfers(l), own = l->transfer ? j->off / l->transfer : 0;
    uint64_t i = own > TRIALS / 2 ? own - TRIALS / 2 : 0;

    *p = *j->p;
    for (uint64_t end = i + TRIALS; i < n && i < end; i++) {
        j->origin_off = i * l->transfer;
        if (l->shared)
            p->rank = (int)(j->origin_off / l->block % (uint64_t)l->tasks);
        if (weir_pattern_word(p, j->origin_off + skip) == word)
            return true;
    }
    j->origin_off = j->off;
    for (p->rank = 0; p->rank < l->tasks && p->rank < TRIALS; p->rank++)
        if (p->rank != j->p->rank && weir_pattern_word(p, j->off + skip) == word)
            return true;
    return false;
}

/* True when the word has an earlier signature, which is then that of the origin. */
static bool is_stale(struct judge *j, uint64_t word, uint64_t skip)
{
    j->origin = *j->p;
    for (int i = 1; i <= SECONDS; i++) {
        j->origin.signature = j->p->signature - (uint32_t)i;
        if (weir_pattern_word(&j->origin, j->off + skip) == word)
            return true;
    }
    return false;
}

/* RATIO: units of other blocks. Where the first wrong one comes from is tried, and whether the
 * others come from there, too. */
static enum weir_damage judge_block(struct judge *j, const weir_word *got, const uint64_t *want,
                                    size_t n, size_t first)
{
    uint64_t there[UNIT];

    if (!j->was_tried && got[0] != 0 && got[0] != want[0]) {
        j->was_tried = true;
        if (is_moved(j, got[0], first * 8))
            j->origin_kind = WEIR_DAMAGE_MISPLACED;
        else if (is_stale(j, got[0], first * 8))
            j->origin_kind = WEIR_DAMAGE_STALE;
    }
    if (j->origin_kind != WEIR_DAMAGE_NONE) {
        weir_pattern_stamp(&j->origin, there, n * 8, j->origin_off + first * 8);
        if (memcmp(got, there, n * 8) == 0)
            return j->origin_kind;
    }
    return weir_damage_of_words(got, want, n);
}

static enum weir_damage judge_noise(struct judge *j, const weir_word *got, const uint64_t *want,
                                    size_t n, size_t first)
{
    bool moved, stale;

    if (!is_ours(j->p->packet, got, n))
        return weir_damage_of_words(got, want, n);
    if (first == 0) {
        moved = is_moved(j, got[0], 0);
        stale = is_stale(j, got[0], 0);
        if (moved == stale)
            return WEIR_DAMAGE_UNCLEAR;
        return moved ? WEIR_DAMAGE_MISPLACED : WEIR_DAMAGE_STALE;
    }
    return j->end == got && goes_on(j->p->packet, got) ? j->last : WEIR_DAMAGE_UNCLEAR;
}

/* ---- all of them ---- */

/* Counts the wrong words and keeps the first. */
static void note_words(const struct judge *j, const weir_word *got, const uint64_t *want, size_t n,
                       size_t first)
{
    for (size_t i = 0; i < n; i++) {
        if (got[i] == want[i] || j->d->pieces++ > 0)
            continue;
        j->d->byte = j->off + (first + i) * 8;
        j->d->expect = want[i];
        j->d->got = got[i];
    }
}

static enum weir_damage judge_unit(struct judge *j, const weir_word *got, const uint64_t *want,
                                   size_t n, size_t first)
{
    if (memcmp(got, want, n * 8) == 0)
        return WEIR_DAMAGE_NONE;
    note_words(j, got, want, n, first);
    if (j->p->packet == WEIR_PACKET_TIMESTAMP || j->p->packet == WEIR_PACKET_OFFSET)
        return judge_numbers(j, got, want, n, first);
    if (j->p->packet == WEIR_PACKET_RATIO)
        return judge_block(j, got, want, n, first);
    return judge_noise(j, got, want, n, first);
}

/* Sequences of the same signature differ by the same number everywhere: when some of them cannot
 * be pages of this transfer, none is. Stamps that are wrong together are so for one reason. */
static enum weir_damage conclude(struct judge *j)
{
    uint64_t *wrong = j->sum.wrong;

    if (wrong[WEIR_DAMAGE_STALE] > 0 && wrong[WEIR_DAMAGE_MISPLACED] > 0 &&
        j->p->packet <= WEIR_PACKET_OFFSET && j->stamps == 0) {
        wrong[WEIR_DAMAGE_STALE] += wrong[WEIR_DAMAGE_MISPLACED];
        wrong[WEIR_DAMAGE_MISPLACED] = 0;
    }
    if (j->stamps > 1) {
        wrong[WEIR_DAMAGE_MISPLACED] += wrong[WEIR_DAMAGE_UNCLEAR];
        wrong[WEIR_DAMAGE_UNCLEAR] = 0;
    }
    return weir_damage_decide(&j->sum);
}

void weir_damage_of_pattern(const struct weir_pattern *p, const struct weir_layout *l,
                            const void *buf, size_t len, uint64_t off, struct weir_data_damage *d)
{
    struct judge j = { .p = p, .l = l, .off = off, .d = d };
    struct weir_pattern_words pages;
    uint64_t want[WEIR_PATTERN_PAGE];
    const weir_word *w = buf;
    size_t words = len / 8;

    *d = (struct weir_data_damage) { .transfer = off };
    weir_pattern_begin(&pages, p, off);
    for (size_t page = 0; page < words; page += WEIR_PATTERN_PAGE) {
        size_t n = words - page < WEIR_PATTERN_PAGE ? words - page : WEIR_PATTERN_PAGE;

        weir_pattern_next(&pages, want, n);
        for (size_t i = 0; i < n; i += UNIT) {
            size_t some = n - i < UNIT ? n - i : UNIT;

            j.last = judge_unit(&j, w + page + i, want + i, some, page + i);
            j.end = w + page + i + some;
            weir_damage_add(&j.sum, j.last);
        }
    }
    d->kind = conclude(&j);
}
