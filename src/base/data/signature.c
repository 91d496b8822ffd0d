/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.c - data that name their writer */
#include "base/data/damage.h"

#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

#define WORDS (WEIR_SIGNATURE_UNIT / 8)
#define VERSIONS (WEIR_SIGNATURE_UNIT - 1) /* the bits of a version */
#define FEW_BITS 8 /* more differing bits than this are no flip */

/* Words of a unit. The version is in the low bits of the offset, which are 0. The nonce is a
 * hash of the four that follow and the key that hides them. So nothing in a unit compresses,
 * and no bit of the head can change unseen. */
enum { NONCE, RUN, WHO, FILE_NUMBER, OFFSET, HEAD };

static uint64_t nonce_of(const uint64_t head[HEAD])
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    for (int i = RUN; i < HEAD; i++)
        h = weir_rng_mix(h + head[i] + (uint64_t)i);
    return h;
}

static inline uint64_t filler(uint64_t nonce, unsigned i)
{
    uint64_t z = nonce + i * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 32);
}

static void make_unit(const struct weir_signature *s, uint64_t off, uint64_t w[WORDS])
{
    uint64_t head[HEAD] = { [RUN] = s->run,
                            [WHO] = (uint64_t)s->repetition << 32 | s->writer,
                            [FILE_NUMBER] = s->file,
                            [OFFSET] = off | s->version };
    uint64_t nonce = nonce_of(head);

    w[NONCE] = nonce;
    for (unsigned i = RUN; i < HEAD; i++)
        w[i] = head[i] ^ filler(nonce, i);
    for (unsigned i = HEAD; i < WORDS; i++)
        w[i] = filler(nonce, i);
}

/* Reads the head of a unit. False: we never wrote this head. */
static bool read_head(const uint64_t *w, struct weir_signature *found)
{
    uint64_t head[HEAD] = { 0 };

    for (unsigned i = RUN; i < HEAD; i++)
        head[i] = w[i] ^ filler(w[NONCE], i);
    *found = (struct weir_signature) { .run = head[RUN],
                                       .repetition = (uint32_t)(head[WHO] >> 32),
                                       .writer = (uint32_t)head[WHO],
                                       .file = head[FILE_NUMBER],
                                       .off = head[OFFSET] & ~(uint64_t)VERSIONS,
                                       .version = (uint32_t)(head[OFFSET] & VERSIONS) };
    return nonce_of(head) == w[NONCE];
}

void weir_signature_fill(const struct weir_signature *s, void *buf, size_t len, uint64_t off)
{
    uint64_t *w = buf;

    for (size_t at = 0; at < len; at += WEIR_SIGNATURE_UNIT, w += WORDS)
        make_unit(s, off + at, w);
}

/* Hash the last part of the path. */
uint64_t weir_signature_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return weir_rng_mix(weir_hash(WEIR_HASH_BEGIN, name, strlen(name)));
}

static unsigned differing_bits(const uint64_t *a, const uint64_t *b)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WORDS; i++)
        n += (unsigned)__builtin_popcountll(a[i] ^ b[i]);
    return n;
}

/* True for data that were at the place of s before s was written over them. */
static bool is_before(const struct weir_signature *found, const struct weir_signature *s)
{
    if (found->run != s->run || found->repetition != s->repetition)
        return found->run < s->run ||
               (found->run == s->run && found->repetition < s->repetition);
    return found->writer == s->writer && found->version != s->version;
}

/* A unit as it was written, but not here, not now or not by this task. */
static enum weir_damage judge_whole(const struct weir_signature *s, bool known, uint64_t off,
                                    const struct weir_signature *found)
{
    bool same_time = found->run == s->run && found->repetition == s->repetition;
    bool same_place = found->file == s->file && found->off == off;

    if (same_place && known && s->version > 0 && is_before(found, s))
        return WEIR_DAMAGE_LOST;
    if (!same_place || (known && same_time))
        return WEIR_DAMAGE_MISPLACED;
    return known ? WEIR_DAMAGE_STALE : WEIR_DAMAGE_FLIPPED;
}

/* The kind of damage of a unit that is not 'want'. */
static enum weir_damage judge(const uint64_t *w, const uint64_t *want,
                              const struct weir_signature *s, bool known, uint64_t off,
                              struct weir_signature *found)
{
    enum weir_damage plain = weir_damage_of_words(w, want, WORDS);
    uint64_t whole[WORDS];
    bool has_head = read_head(w, found);

    if (plain == WEIR_DAMAGE_ZEROS || plain == WEIR_DAMAGE_FLIPPED || !has_head)
        return plain;
    make_unit(found, found->off, whole);
    if (differing_bits(w, whole) > FEW_BITS)
        return plain == WEIR_DAMAGE_TORN || memcmp(w, want, HEAD * sizeof(*w)) != 0
                   ? WEIR_DAMAGE_TORN
                   : WEIR_DAMAGE_FOREIGN;
    return judge_whole(s, known, off, found);
}

/* Keep the first wrong unit. */
static void note_unit(struct weir_data_damage *bad, const uint64_t *w, const uint64_t *want,
                      size_t at, const struct weir_signature *found)
{
    unsigned i = 0;

    if (bad->pieces++ > 0)
        return;
    while (i < WORDS && w[i] == want[i])
        i++;
    i %= WORDS; /* all of an old unit is as it was written */
    bad->byte = bad->transfer + at + i * 8;
    bad->expect = want[i];
    bad->got = w[i];
    bad->found = *found;
}

/* Follow run and repetition of a unit of an unknown run. Returns -1: older than the newest seen,
 * 1: newer than all before, 0. */
static int follow(struct weir_signature_seen *seen, const struct weir_signature *found)
{
    bool newer =
        found->run > seen->run || (found->run == seen->run && found->repetition > seen->repetition);
    bool same = found->run == seen->run && found->repetition == seen->repetition;

    if (seen->any && same)
        return 0;
    if (seen->any && !newer)
        return -1;
    newer = seen->any;
    seen->any = true;
    seen->run = found->run;
    seen->repetition = found->repetition;
    return newer;
}

/* The head of a unit, or of one beside it in the transfer where its own is damaged. */
static bool read_near(const uint64_t *w, size_t at, size_t len, struct weir_signature *found)
{
    return read_head(w, found) ||
           (at + WEIR_SIGNATURE_UNIT < len && read_head(w + WORDS, found)) ||
           (at > 0 && read_head(w - WORDS, found));
}

/* The signature that the unit at w must have, of a transfer that begins 'at' bytes before it. Without a
 * known run it comes from a head, or from the units before when all are damaged. */
static struct weir_signature expectation(const struct weir_signature *s, bool known,
                                         const uint64_t *w, size_t at, size_t len,
                                         const struct weir_signature_seen *seen)
{
    struct weir_signature found;

    if (known)
        return *s;
    if (!read_near(w, at, len, &found)) {
        found.run = seen->run;
        found.repetition = seen->repetition;
        found.writer = seen->writer;
        found.version = seen->version;
    }
    found.file = s->file;
    return found;
}

/* True when two units of a transfer are of different versions of it. */
static bool is_other_version(const struct weir_signature *first, const struct weir_signature *e)
{
    bool same_time = e->run == first->run && e->repetition == first->repetition;

    return e->version != first->version || (e->version > 0 && !same_time);
}

/* A unit that is as it was written, of an unknown run, in a transfer whose first such unit is 'first':
 * the newest known, or older, or of another version. Keeps what it should be where it is wrong. */
static enum weir_damage check_age(const struct weir_signature *e, const struct weir_signature *first,
                                  const uint64_t *w, uint64_t before,
                                  struct weir_signature_seen *seen, struct weir_data_damage *bad)
{
    size_t at = (size_t)(e->off - bad->transfer);
    bool torn = is_other_version(first, e);
    int age = torn || e->version > 0 ? 0 : follow(seen, e);
    struct weir_signature newest = torn ? *first : *e;
    uint64_t want[WORDS];

    if (age > 0)
        seen->older = before + (at > 0); /* all before this unit was older */
    if (age >= 0 && !torn)
        return WEIR_DAMAGE_NONE;
    if (!torn) {
        newest.run = seen->run;
        newest.repetition = seen->repetition;
    }
    make_unit(&newest, e->off, want);
    note_unit(bad, w, want, at, e);
    return torn ? WEIR_DAMAGE_TORN : WEIR_DAMAGE_STALE;
}

bool weir_signature_check(const struct weir_signature *s, bool known, const void *buf, size_t len,
                          uint64_t off, struct weir_signature_seen *seen,
                          struct weir_data_damage *bad)
{
    const uint64_t *w = buf;
    struct weir_damage_sum sum = { 0 };
    struct weir_signature first = { .run = 0 };
    uint64_t want[WORDS], before = seen->transfers, right = 0;

    *bad = (struct weir_data_damage) { .transfer = off };
    for (size_t at = 0; at < len; at += WEIR_SIGNATURE_UNIT, w += WORDS) {
        struct weir_signature e = expectation(s, known, w, at, len, seen), found = e;
        enum weir_damage unit = WEIR_DAMAGE_NONE;

        e.off = off + at;
        make_unit(&e, e.off, want);
        if (memcmp(w, want, sizeof(want)) != 0) {
            unit = judge(w, want, &e, known, e.off, &found);
            note_unit(bad, w, want, at, &found);
        } else {
            if (right++ == 0)
                first = e;
            if (!known)
                unit = check_age(&e, &first, w, before, seen, bad);
            seen->writer = e.writer;
            seen->version = e.version;
        }
        weir_damage_add(&sum, unit);
    }
    seen->transfers += bad->pieces == 0;
    bad->kind = weir_damage_decide(&sum);
    return bad->pieces == 0;
}
