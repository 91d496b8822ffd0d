/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.c - the bytes of a transfer: make and compare */
#include "base/data/pattern.h"

#include <string.h>

#include "base/rng.h"

/*
 * The loops over whole buffers are kernels. A body has the compiler's vector type. It is
 * built for several instruction sets and chosen at run time by the features of the
 * processor. Feature attributes instead of target_clones: those need ifunc, which
 * some C libraries and the sanitizers cannot have.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_KERNELS 1
#else
#define HAVE_X86_KERNELS 0
#endif

#define BODY static inline __attribute__((always_inline))

/* Arrays of vectors stay in registers only when their loops are unrolled. */
#define UNROLL4 _Pragma("GCC unroll 4")
#define UNROLL8 _Pragma("GCC unroll 8")

enum {
    PAGE_WORDS = WEIR_PATTERN_PAGE, /* a stamp to every 4096 bytes */
    VEC = 4,                        /* words of a vector */
    GROUP = 4 * VEC, /* words of four vectors: enough independent work to hide latencies */
    LANES = WEIR_PATTERN_LANES /* as GROUP, for the longer chains of INCOMPRESSIBLE */
};

typedef weir_word word;
typedef uint64_t vec __attribute__((vector_size(32)));
typedef uint64_t mem_vec __attribute__((vector_size(32), aligned(8), may_alias));

/* The parts of the base pattern and the stamps. */
struct base {
    uint64_t low;  /* the signature, sign-extended: word i has low + i */
    uint64_t high; /* the rank in the upper half */
};

struct kernels {
    uint64_t (*differ_plain)(const word *w, size_t n, const struct base *b);
    uint64_t (*differ_stamped)(const word *w, size_t n, const struct base *b, uint32_t off);
    void (*fill_noise)(uint64_t lane[LANES], word *w, size_t n);
    uint64_t (*differ_noise)(const uint64_t lane[LANES], const word *w, size_t n);
};

/* The stamp of page k of a transfer. */
BODY uint64_t stamp_word(const struct base *b, uint32_t off, size_t k)
{
    return (uint64_t)(uint32_t)(off * (uint32_t)(k + 1)) | b->high;
}

/* The bits in which n words differ from words first.. of the base pattern. */
BODY uint64_t differ_run_body(const word *w, size_t n, const struct base *b, size_t first)
{
    uint64_t low = b->low + first, high = b->high, diff = 0;
    vec count = { low, low + 1, low + 2, low + 3 };
    vec seen[4] = { { 0 } };
    size_t i = 0;

    for (; i + GROUP <= n; i += GROUP) {
        UNROLL4
        for (size_t j = 0; j < 4; j++)
            seen[j] |= ((count + j * VEC) | high) ^ *(const mem_vec *)(w + i + j * VEC);
        count += GROUP;
    }
    seen[0] |= seen[1] | seen[2] | seen[3];
    for (size_t j = 0; j < VEC; j++)
        diff |= seen[0][j];
    for (; i < n; i++)
        diff |= ((low + i) | high) ^ w[i];
    return diff;
}

/* As differ_run_body, but the first word of every page is its stamp. Vectors start at
 * a multiple of their size into a page, so that none straddles two cache lines. */
BODY uint64_t differ_stamped_body(const word *w, size_t n, const struct base *b, uint32_t off)
{
    uint64_t diff = 0;

    for (size_t first = 0; first < n; first += PAGE_WORDS) {
        size_t len = n - first < PAGE_WORDS ? n - first : PAGE_WORDS;
        size_t head = len < VEC ? len : VEC;

        diff |= w[first] ^ stamp_word(b, off, first / PAGE_WORDS);
        for (size_t i = 1; i < head; i++)
            diff |= ((b->low + first + i) | b->high) ^ w[first + i];
        diff |= differ_run_body(w + first + head, len - head, b, first + head);
    }
    return diff;
}

/* Advance all lanes: the next LANES words. */
BODY void step_noise(vec x[8])
{
    UNROLL8
    for (size_t j = 0; j < 8; j++) {
        x[j] ^= x[j] << 13;
        x[j] ^= x[j] >> 7;
        x[j] ^= x[j] << 17;
    }
}

/* INCOMPRESSIBLE: independent xorshift64 generators; word i comes from lane i mod LANES. */
BODY void fill_noise_body(uint64_t lane[LANES], word *w, size_t n)
{
    vec x[8];
    size_t i = 0;

    memcpy(x, lane, sizeof(x));
    for (; i + LANES <= n; i += LANES) {
        step_noise(x);
        UNROLL8
        for (size_t j = 0; j < 8; j++)
            *(mem_vec *)(w + i + j * VEC) = x[j];
    }
    if (i < n) {
        step_noise(x);
        memcpy(w + i, x, (n - i) * sizeof(*w));
    }
    memcpy(lane, x, sizeof(x));
}

BODY uint64_t differ_noise_body(const uint64_t lane[LANES], const word *w, size_t n)
{
    vec x[8], seen = { 0 };
    uint64_t rest[LANES], diff = 0;
    size_t i = 0;

    memcpy(x, lane, sizeof(x));
    for (; i + LANES <= n; i += LANES) {
        step_noise(x);
        UNROLL8
        for (size_t j = 0; j < 8; j++)
            seen |= x[j] ^ *(const mem_vec *)(w + i + j * VEC);
    }
    for (size_t j = 0; j < VEC; j++)
        diff |= seen[j];
    step_noise(x);
    memcpy(rest, x, sizeof(x));
    for (size_t j = 0; i + j < n; j++)
        diff |= rest[j] ^ w[i + j];
    return diff;
}

/* All kernels for one instruction set. */
#define KERNELS(NAME, ATTR)                                                                        \
    ATTR static uint64_t differ_plain_##NAME(const word *w, size_t n, const struct base *b)        \
    {                                                                                              \
        return differ_run_body(w, n, b, 0);                                                        \
    }                                                                                              \
    ATTR static uint64_t differ_stamped_##NAME(const word *w, size_t n, const struct base *b,      \
                                               uint32_t off)                                       \
    {                                                                                              \
        return differ_stamped_body(w, n, b, off);                                                  \
    }                                                                                              \
    ATTR static void fill_noise_##NAME(uint64_t lane[LANES], word *w, size_t n)                    \
    {                                                                                              \
        fill_noise_body(lane, w, n);                                                               \
    }                                                                                              \
    ATTR static uint64_t differ_noise_##NAME(const uint64_t lane[LANES], const word *w, size_t n)  \
    {                                                                                              \
        return differ_noise_body(lane, w, n);                                                      \
    }                                                                                              \
    static const struct kernels kernels_##NAME = {                                                 \
        .differ_plain = differ_plain_##NAME,                                                       \
        .differ_stamped = differ_stamped_##NAME,                                                   \
        .fill_noise = fill_noise_##NAME,                                                           \
        .differ_noise = differ_noise_##NAME,                                                       \
    };

KERNELS(any, )
#if HAVE_X86_KERNELS
KERNELS(avx2, __attribute__((target("avx2"))))
#endif

static const struct kernels *pick_kernels(void)
{
#if HAVE_X86_KERNELS
    if (__builtin_cpu_supports("avx2"))
        return &kernels_avx2;
#endif
    return &kernels_any;
}

static struct base base_of(const struct weir_pattern *p)
{
    return (struct base) {
        .low = (uint64_t)(int64_t)(int32_t)p->signature,
        .high = (uint64_t)(uint32_t)p->rank << 32,
    };
}

/* RANDOM: the number before the first word. */
static uint64_t seed_chain(const struct weir_pattern *p, uint64_t off)
{
    uint32_t seed = p->signature + (uint32_t)p->rank + (uint32_t)off;

    return (uint64_t)weir_glibc_rand_r(&seed);
}

/* INCOMPRESSIBLE: unrelated states for all lanes, others for every signature, rank and
 * offset. A state of zero would stay zero. */
static uint64_t noise_key(const struct weir_pattern *p, uint64_t off)
{
    return weir_rng_at(weir_rng_at(p->signature, (uint32_t)p->rank), off);
}

static uint64_t seed_lane(uint64_t key, size_t i)
{
    uint64_t state = weir_rng_at(key, i);

    return state ? state : ~(uint64_t)0;
}

/* ---- packets: how the 64-bit words of a transfer go on from s->first, on a base pattern ---- */

static void seed_random(struct weir_pattern_words *s)
{
    s->state[0] = seed_chain(s->p, s->off);
}

static void fill_random(struct weir_pattern_words *s, word *w, size_t n)
{
    s->state[0] = weir_lane_fill(w, n, s->state[0]);
}

static uint64_t differ_random(const struct weir_pattern_words *s, const word *w, size_t n)
{
    return weir_lane_differ(w, n, s->state[0]);
}

static void seed_noise(struct weir_pattern_words *s)
{
    uint64_t key = noise_key(s->p, s->off);

    for (size_t i = 0; i < LANES; i++)
        s->state[i] = seed_lane(key, i);
}

static void fill_noise(struct weir_pattern_words *s, word *w, size_t n)
{
    pick_kernels()->fill_noise(s->state, w, n);
}

static uint64_t differ_noise(const struct weir_pattern_words *s, const word *w, size_t n)
{
    return pick_kernels()->differ_noise(s->state, w, n);
}

/* ---- RATIO ---- */

/* The first bytes of a block, as many words as hold 'end' of them. */
static void make_block(const struct weir_pattern *p, const struct weir_ratio_block *b, word *w,
                       size_t end)
{
    struct weir_ratio_block origin = weir_ratio_origin(&p->ratio, *b);
    uint64_t lane[LANES], key = weir_rng_at(weir_rng_at(p->signature, origin.file), origin.item);
    size_t noise = weir_ratio_bytes(&p->ratio), words = (end + 7) / 8;

    key = weir_rng_at(key, origin.number);
    noise = noise < words * 8 ? noise : words * 8;
    for (size_t i = 0; i < LANES; i++)
        lane[i] = seed_lane(key, i);
    pick_kernels()->fill_noise(lane, w, (noise + 7) / 8);
    memset((unsigned char *)w + noise, 0, words * 8 - noise);
}

/* len bytes of the transfer at off, from its byte 'first' on. */
static void fill_bytes(const struct weir_pattern *p, uint64_t off, uint64_t first,
                       unsigned char *out, size_t len)
{
    bool small = p->files == WEIR_FILES_SMALL;
    uint64_t at = first + (small ? 0 : off);
    struct weir_ratio_block b = { .file = p->files == WEIR_FILES_SHARED ? 0 : (uint32_t)p->rank,
                                  .item = small ? off : 0 };
    word block[WEIR_RATIO_BLOCK / 8];

    for (size_t n; len > 0; at += n, out += n, len -= n) {
        size_t skip = at % WEIR_RATIO_BLOCK, rest = WEIR_RATIO_BLOCK - skip;

        n = len < rest ? len : rest;
        b.number = at / WEIR_RATIO_BLOCK;
        if (n == WEIR_RATIO_BLOCK && (uintptr_t)out % 8 == 0) {
            make_block(p, &b, (word *)out, n);
            continue;
        }
        make_block(p, &b, block, skip + n);
        memcpy(out, (const unsigned char *)block + skip, n);
    }
}

static void fill_ratio(struct weir_pattern_words *s, word *w, size_t n)
{
    fill_bytes(s->p, s->off, s->first * 8, (unsigned char *)w, n * 8);
}

static uint64_t differ_ratio(const struct weir_pattern_words *s, const word *w, size_t n)
{
    word want[PAGE_WORDS];
    uint64_t diff = 0;

    for (size_t i = 0; i < n; i += PAGE_WORDS) {
        size_t some = n - i < PAGE_WORDS ? n - i : PAGE_WORDS;

        fill_bytes(s->p, s->off, i * 8, (unsigned char *)want, some * 8);
        diff |= memcmp(want, w + i, some * 8) != 0;
    }
    return diff;
}

/* ---- the others ---- */

/* Different in every word, file and task, unlike the original's, which repeats one word. */
static void fill_indexed(struct weir_pattern_words *s, word *w, size_t n)
{
    struct base b = base_of(s->p);
    uint64_t key = weir_rng_at(weir_rng_at(b.low, (uint64_t)s->p->rank), s->off);

    for (size_t i = 0; i < n; i++)
        w[i] = weir_rng_at(key, s->first + i);
}

static void fill_stamps(struct weir_pattern_words *s, word *w, size_t n)
{
    struct base b = base_of(s->p);

    for (size_t i = 0; i < n; i += PAGE_WORDS)
        w[i] = stamp_word(&b, (uint32_t)s->off, (s->first + i) / PAGE_WORDS);
}

static uint64_t differ_stamps(const struct weir_pattern_words *s, const word *w, size_t n)
{
    struct base b = base_of(s->p);

    return pick_kernels()->differ_stamped(w, n, &b, (uint32_t)s->off);
}

static uint64_t differ_base(const struct weir_pattern_words *s, const word *w, size_t n)
{
    struct base b = base_of(s->p);

    return pick_kernels()->differ_plain(w, n, &b);
}

/* seed NULL: no state. fill NULL: the base pattern is all. differ: the bits in which all words of
 * a transfer are wrong. INDEXED and SIGNATURE are not compared here. */
static const struct packet {
    void (*seed)(struct weir_pattern_words *s);
    void (*fill)(struct weir_pattern_words *s, word *w, size_t n);
    uint64_t (*differ)(const struct weir_pattern_words *s, const word *w, size_t n);
} packets[] = {
    [WEIR_PACKET_TIMESTAMP] = { .differ = differ_base },
    [WEIR_PACKET_OFFSET] = { NULL, fill_stamps, differ_stamps },
    [WEIR_PACKET_INCOMPRESSIBLE] = { seed_noise, fill_noise, differ_noise },
    [WEIR_PACKET_RANDOM] = { seed_random, fill_random, differ_random },
    [WEIR_PACKET_SIGNATURE] = { 0 },
    [WEIR_PACKET_INDEXED] = { .fill = fill_indexed },
    [WEIR_PACKET_RATIO] = { NULL, fill_ratio, differ_ratio },
};

/* ---- transfers ---- */

static void make_base(const struct weir_pattern *p, word *w, size_t first, size_t n)
{
    struct base b = base_of(p);

    for (size_t i = 0; i < n; i++)
        w[i] = (b.low + first + i) | b.high;
}

bool weir_pattern_varies(const struct weir_pattern *p)
{
    return p->packet != WEIR_PACKET_TIMESTAMP;
}

void weir_pattern_base(const struct weir_pattern *p, void *buf, size_t len)
{
    unsigned char *byte = buf;

    make_base(p, buf, 0, len / 8);
    for (size_t i = len / 8 * 8; i < len; i++)
        byte[i] = (unsigned char)i;
}

/* The state is not cleared: transfers of 4 KiB would feel it. */
void weir_pattern_begin(struct weir_pattern_words *s, const struct weir_pattern *p, uint64_t off)
{
    s->p = p;
    s->off = off;
    s->first = 0;
    if (packets[p->packet].seed)
        packets[p->packet].seed(s);
}

void weir_pattern_next(struct weir_pattern_words *s, uint64_t *want, size_t n)
{
    make_base(s->p, want, s->first, n);
    if (packets[s->p->packet].fill)
        packets[s->p->packet].fill(s, want, n);
    s->first += n;
}

void weir_pattern_stamp(const struct weir_pattern *p, void *buf, size_t len, uint64_t off)
{
    struct weir_pattern_words s;

    if (!packets[p->packet].fill)
        return;
    if (p->packet == WEIR_PACKET_RATIO) {
        fill_bytes(p, off, 0, buf, len);
        return;
    }
    weir_pattern_begin(&s, p, off);
    packets[p->packet].fill(&s, buf, len / 8);
}

void weir_pattern_stamp_many(const struct weir_pattern *p, void *const *buf, size_t len,
                             const uint64_t *off, int n)
{
    word *w[WEIR_LANES];
    uint64_t x[WEIR_LANES];

    if (p->packet != WEIR_PACKET_RANDOM || n < 2) {
        for (int i = 0; i < n; i++)
            weir_pattern_stamp(p, buf[i], len, off[i]);
        return;
    }
    /* Lanes without work of their own write the last transfer again: that costs nothing. */
    for (int i = 0; i < WEIR_LANES; i++) {
        int from = i < n ? i : n - 1;

        w[i] = buf[from];
        x[i] = seed_chain(p, off[from]);
    }
    weir_lanes_fill(w, len / 8, x);
}

bool weir_pattern_is_right(const struct weir_pattern *p, const void *buf, size_t len, uint64_t off)
{
    struct weir_pattern_words s;

    weir_pattern_begin(&s, p, off);
    return packets[p->packet].differ(&s, buf, len / 8) == 0;
}

uint64_t weir_pattern_word(const struct weir_pattern *p, uint64_t off)
{
    word w = 0;

    weir_pattern_stamp(p, &w, sizeof(w), off);
    return w;
}
