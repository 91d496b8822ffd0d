/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-data.c - the bytes of tensors: words that follow from the save, the state, the tensor and
 * the place in the whole tensor, for any division of it. Wrong bytes are explained */
#include "programs/model_checkpoint/mc.h"

#include "base/rng.h"

#define WORD 8u
#define UNIT 512u /* bytes that are compared at once */

/* The contents of a word, or of blocks with a ratio. */
struct content {
    uint64_t tag, state, tensor, index; /* 12, 2, 18 and 32 bits */
    struct weir_ratio ratio;            /* zeros: words */
};

#define MARK UINT64_C(0x9e3779b97f4a7c15)

static uint64_t word_of(const struct content *c, uint64_t index)
{
    uint64_t key = c->tag << 52 | c->state << 50 | (c->tensor & 0x3ffff) << 32;

    return weir_rng_mix((key | (index & UINT32_MAX)) ^ MARK);
}

static struct content content_of(uint64_t word)
{
    uint64_t z = weir_rng_unmix(word) ^ MARK;

    return (struct content) { .tag = z >> 52, .state = z >> 50 & 3, .tensor = z >> 32 & 0x3ffff, .index = z & UINT32_MAX };
}

static struct content content_wanted(const struct mc_part *p, const struct mc_data *d)
{
    return (struct content) { .tag = (uint64_t)d->sequence & 0xfff, .state = (uint64_t)p->state, .tensor = p->tensor,
                              .ratio = d->ratio };
}

/* Some bytes of one word, from its byte 'skip' on. */
static uint64_t fill_piece(const struct content *c, uint64_t index, uint64_t skip, unsigned char *out, uint64_t n)
{
    uint64_t word = word_of(c, index), len = WORD - skip < n ? WORD - skip : n;

    memcpy(out, (const unsigned char *)&word + skip, len);
    return len;
}

/* n bytes of the whole tensor from byte 'at' on: mostly whole words, which take a nanosecond each. */
static void fill_run(const struct content *c, uint64_t at, unsigned char *out, uint64_t n)
{
    uint64_t index = at / WORD, done = 0, word;

    if (c->ratio.compress > 0) { /* blocks as those of a file, with a seed of the tensor */
        const struct weir_pattern p = { .packet = WEIR_PACKET_RATIO, .ratio = c->ratio, .files = WEIR_FILES_SHARED,
                                        .signature = (uint32_t)(c->tag << 20 | c->state << 18 | (c->tensor & 0x3ffff)) };

        weir_pattern_stamp(&p, out, n, at);
        return;
    }
    if (at % WORD > 0)
        done = fill_piece(c, index++, at % WORD, out, n);
    for (; n - done >= WORD; done += WORD) {
        word = word_of(c, index++);
        memcpy(out + done, &word, WORD);
    }
    if (done < n)
        fill_piece(c, index, 0, out + done, n - done);
}

/* Where byte 'at' of a part is in the whole tensor, and how many bytes from there on are together. */
static uint64_t place_of(const struct mc_part *p, uint64_t at, uint64_t *together)
{
    uint64_t elem = (uint64_t)p->elem, e = p->from + at / elem, row, column, whole;

    if (p->count[1] == p->len[1]) {
        *together = mc_part_bytes(p) - at;
        return (p->start[0] * p->len[1] + e) * elem + at % elem;
    }
    row = e / p->count[1];
    column = e % p->count[1];
    whole = (p->count[1] - column) * elem - at % elem;
    *together = whole < mc_part_bytes(p) - at ? whole : mc_part_bytes(p) - at;
    return ((p->start[0] + row) * p->len[1] + p->start[1] + column) * elem + at % elem;
}

void mc_data_fill(const struct mc_part *p, const struct mc_data *d, uint64_t at, void *buf, uint64_t len)
{
    const struct content c = content_wanted(p, d);
    uint64_t bytes = mc_part_bytes(p), n = 0, done = 0, there = at < bytes ? bytes - at : 0;
    unsigned char *out = buf;

    there = there < len ? there : len;
    for (; done < there; done += n) {
        uint64_t whole = place_of(p, at + done, &n);

        n = n < there - done ? n : there - done;
        fill_run(&c, whole, out + done, n);
    }
    memset(out + there, 0, len - there);
}

/* ---- wrong bytes ---- */

/* True for two consecutive words that this program has written; *c tells which. */
static bool is_ours(const weir_word *got, struct content *c)
{
    struct content next = content_of(got[1]);

    *c = content_of(got[0]);
    return next.tag == c->tag && next.state == c->state && next.tensor == c->tensor && next.index == c->index + 1;
}

/* n words of the tensor from word 'index' on that are not what they should be. */
static enum weir_damage damage_of(const struct content *want, uint64_t index, const weir_word *got, size_t n)
{
    uint64_t right[UNIT / WORD];
    struct content c;

    fill_run(want, index * WORD, (unsigned char *)right, n * WORD);
    for (size_t i = 0; i + 1 < n; i++) {
        if (got[i] == right[i] || !is_ours(got + i, &c))
            continue;
        return c.state == want->state && c.tensor == want->tensor && c.index == ((index + i) & UINT32_MAX)
                   ? WEIR_DAMAGE_STALE
                   : WEIR_DAMAGE_MISPLACED;
    }
    return n > 0 ? weir_damage_of_words(got, right, n) : WEIR_DAMAGE_UNCLEAR;
}

/* The damage at byte 'skip' of n bytes that lie together from byte 'whole' of the tensor on, by the words around it. */
static enum weir_damage judge_run(const struct content *c, uint64_t whole, const unsigned char *got, uint64_t n,
                                  uint64_t skip)
{
    uint64_t first = (whole + skip) / WORD * WORD;
    weir_word words[UNIT / WORD];
    size_t count;

    if (first < whole)
        first += WORD;
    count = first < whole + n ? (size_t)((whole + n - first) / WORD) : 0;
    count = count < UNIT / WORD ? count : UNIT / WORD;
    if (count > 0)
        memcpy(words, got + (first - whole), count * WORD);
    return damage_of(c, first / WORD, words, count);
}

/* Zeros up to the alignment. */
static bool is_padding(const unsigned char *got, uint64_t begin, uint64_t at, uint64_t len, uint64_t *wrong, enum weir_damage *kind)
{
    while (begin < len && got[begin] == 0)
        begin++;
    if (begin == len)
        return true;
    *wrong = at + begin;
    *kind = WEIR_DAMAGE_UNCLEAR;
    return false;
}

bool mc_data_check(const struct mc_part *p, const struct mc_data *d, uint64_t at, const void *buf, uint64_t len,
                   uint64_t *wrong, enum weir_damage *kind)
{
    const struct content c = content_wanted(p, d);
    uint64_t bytes = mc_part_bytes(p), there = at < bytes ? bytes - at : 0, n = 0, skip = 0;
    const unsigned char *got = buf;
    unsigned char want[UNIT];

    there = there < len ? there : len;
    for (uint64_t done = 0; done < there; done += n) {
        uint64_t whole = place_of(p, at + done, &n), run = n < there - done ? n : there - done;

        n = run < UNIT ? run : UNIT;
        fill_run(&c, whole, want, n);
        if (memcmp(want, got + done, n) == 0)
            continue;
        while (want[skip] == got[done + skip])
            skip++;
        *wrong = at + done + skip;
        *kind = judge_run(&c, whole, got + done, run, skip);
        return false;
    }
    return is_padding(got, there, at, len, wrong, kind);
}
