/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.c - data that tell whose they are */
#include "config.h"
#include "base/signature.h"

#include <string.h>

#define WORDS (WEIR_SIGNATURE_UNIT / 8)
#define FEW_BITS 64 /* more differing bits than this are no flip */

/* Words of a unit. The nonce is a hash of the four that follow and the key that hides them, so
 * that nothing in a unit compresses and no bit of the head can change unseen. */
enum { NONCE, RUN, WHO, FILE_NUMBER, OFFSET, HEAD };

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64's finaliser */
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t nonce_of(const uint64_t head[HEAD])
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    for (int i = RUN; i < HEAD; i++)
        h = mix(h + head[i] + (uint64_t)i);
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
                            [OFFSET] = off };
    uint64_t nonce = nonce_of(head);

    w[NONCE] = nonce;
    for (unsigned i = RUN; i < HEAD; i++)
        w[i] = head[i] ^ filler(nonce, i);
    for (unsigned i = HEAD; i < WORDS; i++)
        w[i] = filler(nonce, i);
}

/* What a unit says of itself; false when its head was never written by us as it is. */
static bool read_head(const uint64_t *w, struct weir_signature *said)
{
    uint64_t head[HEAD] = { 0 };

    for (unsigned i = RUN; i < HEAD; i++)
        head[i] = w[i] ^ filler(w[NONCE], i);
    *said = (struct weir_signature) { .run = head[RUN],
                                      .repetition = (uint32_t)(head[WHO] >> 32),
                                      .writer = (uint32_t)head[WHO],
                                      .file = head[FILE_NUMBER],
                                      .off = head[OFFSET] };
    return nonce_of(head) == w[NONCE];
}

void weir_signature_fill(const struct weir_signature *s, void *buf, size_t len, uint64_t off)
{
    uint64_t *w = buf;

    for (size_t at = 0; at < len; at += WEIR_SIGNATURE_UNIT, w += WORDS)
        make_unit(s, off + at, w);
}

static const char *const names[WEIR_DAMAGES] = {
    [WEIR_DAMAGE_NONE] = "right",           [WEIR_DAMAGE_ZEROS] = "zeros",
    [WEIR_DAMAGE_STALE] = "stale data",     [WEIR_DAMAGE_MISPLACED] = "misplaced data",
    [WEIR_DAMAGE_FLIPPED] = "bit flip",     [WEIR_DAMAGE_TORN] = "torn write",
    [WEIR_DAMAGE_FOREIGN] = "foreign data",
};

const char *weir_damage_name(enum weir_damage d)
{
    return d < WEIR_DAMAGES ? names[d] : "unknown";
}

/* FNV-1a (Fowler, Noll, Vo) over the last part of the path. */
uint64_t weir_signature_file(const char *path)
{
    const char *name = strrchr(path, '/');
    uint64_t h = 0xcbf29ce484222325u;

    for (name = name ? name + 1 : path; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return mix(h);
}

static bool is_zero(const uint64_t *w)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < WORDS; i++)
        any |= w[i];
    return any == 0;
}

static unsigned differing_bits(const uint64_t *a, const uint64_t *b)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WORDS; i++)
        n += (unsigned)__builtin_popcountll(a[i] ^ b[i]);
    return n;
}

/* The kind of damage of a unit that is not 'want'. */
static enum weir_damage judge(const uint64_t *w, const uint64_t *want,
                              const struct weir_signature *s, bool known, uint64_t off,
                              struct weir_signature *said)
{
    uint64_t whole[WORDS];
    bool has_head = read_head(w, said);

    if (is_zero(w))
        return WEIR_DAMAGE_ZEROS;
    if (differing_bits(w, want) <= FEW_BITS)
        return WEIR_DAMAGE_FLIPPED;
    if (!has_head)
        return WEIR_DAMAGE_FOREIGN;
    make_unit(said, said->off, whole);
    if (differing_bits(w, whole) > FEW_BITS)
        return WEIR_DAMAGE_TORN;
    if (said->file != s->file || said->off != off)
        return WEIR_DAMAGE_MISPLACED;
    return known ? WEIR_DAMAGE_STALE : WEIR_DAMAGE_FLIPPED;
}

/* Keep the first wrong unit. */
static void note_unit(struct weir_signature_bad *bad, const uint64_t *w, const uint64_t *want,
                      size_t at, enum weir_damage damage, const struct weir_signature *said)
{
    unsigned i = 0;

    if (bad->units++ > 0)
        return;
    while (i < WORDS && w[i] == want[i])
        i++;
    i %= WORDS; /* all of an old unit is as it was written */
    bad->damage = damage;
    bad->at = at + i * 8;
    bad->expect = want[i];
    bad->got = w[i];
    bad->said = *said;
}

/* Good data of an older run than others in the file: what stands where the newest would be. */
static void note_older(struct weir_signature_bad *bad, const uint64_t *w, size_t at, uint64_t off,
                       const struct weir_signature_seen *seen, const struct weir_signature *said)
{
    struct weir_signature newest = *said;
    uint64_t want[WORDS];

    newest.run = seen->run;
    newest.repetition = seen->repetition;
    make_unit(&newest, off + at, want);
    note_unit(bad, w, want, at, WEIR_DAMAGE_STALE, said);
}

/* Follow run and repetition of a unit of an unknown run. Returns -1: older than the newest seen,
 * 1: newer than all before, 0. */
static int follow(struct weir_signature_seen *seen, const struct weir_signature *said)
{
    bool newer =
        said->run > seen->run || (said->run == seen->run && said->repetition > seen->repetition);
    bool same = said->run == seen->run && said->repetition == seen->repetition;

    if (seen->any && same)
        return 0;
    if (seen->any && !newer)
        return -1;
    newer = seen->any;
    seen->any = true;
    seen->run = said->run;
    seen->repetition = said->repetition;
    return newer;
}

/* What the unit at off must be; without a known run it is what its own head says, moved to where
 * it must stand, or what its neighbours said when its head is damaged. */
static struct weir_signature expectation(const struct weir_signature *s, bool known,
                                         const uint64_t *w, const struct weir_signature_seen *seen)
{
    struct weir_signature said;

    if (known)
        return *s;
    if (!read_head(w, &said)) {
        said.run = seen->run;
        said.repetition = seen->repetition;
        said.writer = seen->writer;
    }
    said.file = s->file;
    return said;
}

/* Right up to some unit, and old data from there to the end: the write did not come further. */
static void find_tear(struct weir_signature_bad *bad, size_t len)
{
    size_t first = bad->at / WEIR_SIGNATURE_UNIT;

    if (bad->units > 0 && bad->damage == WEIR_DAMAGE_STALE && first > 0 &&
        bad->units == len / WEIR_SIGNATURE_UNIT - first)
        bad->damage = WEIR_DAMAGE_TORN;
}

uint64_t weir_signature_verify(const struct weir_signature *s, bool known, const void *buf,
                               size_t len, uint64_t off, struct weir_signature_seen *seen,
                               struct weir_signature_bad *bad)
{
    const uint64_t *w = buf;
    uint64_t want[WORDS];
    uint64_t before = seen->transfers;

    bad->units = 0;
    for (size_t at = 0; at < len; at += WEIR_SIGNATURE_UNIT, w += WORDS) {
        struct weir_signature e = expectation(s, known, w, seen), said = e;
        int age;

        make_unit(&e, off + at, want);
        if (memcmp(w, want, sizeof(want)) != 0) {
            note_unit(bad, w, want, at, judge(w, want, &e, known, off + at, &said), &said);
            continue;
        }
        age = known ? 0 : follow(seen, &e);
        seen->writer = e.writer;
        if (age > 0)
            seen->older = before + (at > 0); /* all before this unit was older */
        if (age < 0)
            note_older(bad, w, at, off, seen, &said);
    }
    seen->transfers += bad->units == 0;
    find_tear(bad, len);
    return bad->units;
}
