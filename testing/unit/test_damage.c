/* SPDX-License-Identifier: BSD-3-Clause */
/* test_damage.c - what is said of every kind of damage, for every kind of data */
#include "base/data/damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>


enum {
    PAGES = 8,
    PAGE = 4096,
    LEN = PAGES * PAGE,
    TASKS = 4,
    RANK = 2,
    BLOCK = 16 * LEN,
    CUT = 3 * PAGE + 1024 + 40 /* where a torn write ends: in a page, in a unit */
};

#define SIGNATURE 0x6b012585u
#define OFF ((uint64_t)RANK * BLOCK + 5 * LEN)

static const struct weir_layout layout = {
    .transfer = LEN, .block = BLOCK, .segments = 2, .tasks = TASKS, .shared = true
};

/* ---- data ---- */

/* What a task wrote at an offset, with an earlier signature or repetition where 'age' is set. */
static void make(enum weir_packet packet, void *buf, int rank, uint64_t off, unsigned age)
{
    struct weir_pattern p = { .packet = packet, .signature = SIGNATURE - age, .rank = rank };
    struct weir_signature s = {
        .run = 1700000000, .repetition = 9 - age, .writer = (uint32_t)rank, .file = 77
    };

    if (packet == WEIR_PACKET_SIGNATURE) {
        weir_signature_fill(&s, buf, LEN, off);
        return;
    }
    weir_pattern_base(&p, buf, LEN);
    weir_pattern_stamp(&p, buf, LEN, off);
}

static enum weir_damage kind_of(const struct weir_pattern *p, const struct weir_layout *l,
                                const void *buf, size_t len, uint64_t off)
{
    struct weir_data_damage bad;

    weir_damage_of_pattern(p, l, buf, len, off, &bad);
    return bad.kind;
}

static enum weir_damage judge(enum weir_packet packet, const void *buf)
{
    struct weir_pattern p = { .packet = packet, .signature = SIGNATURE, .rank = RANK };
    struct weir_signature s = { .run = 1700000000, .repetition = 9, .writer = RANK, .file = 77 };
    struct weir_signature_seen seen = { 0 };
    struct weir_data_damage bad;

    if (packet == WEIR_PACKET_SIGNATURE)
        return weir_signature_check(&s, true, buf, LEN, OFF, &seen, &bad) ? WEIR_DAMAGE_NONE
                                                                          : bad.kind;
    if (weir_pattern_is_right(&p, buf, LEN, OFF))
        return WEIR_DAMAGE_NONE;
    return kind_of(&p, &layout, buf, LEN, OFF);
}

/* ---- damages: 'buf' holds what is right ---- */

typedef void damage(enum weir_packet packet, unsigned char *buf);

static void put_noise(unsigned char *at, size_t len)
{
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < len; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        at[i] = (unsigned char)(x >> 56);
    }
}

static void put_from(enum weir_packet packet, unsigned char *buf, size_t from, size_t to,
                     size_t len, int rank, uint64_t off, unsigned age)
{
    unsigned char *other = malloc(LEN);

    assert_non_null(other);
    make(packet, other, rank, off, age);
    memcpy(buf + to, other + from, len);
    free(other);
}

static void zero_all(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf, 0, LEN);
}

static void zero_first_page(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf, 0, PAGE);
}

static void zero_middle_page(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf + 3 * PAGE, 0, PAGE);
}

static void zero_last_page(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf + LEN - PAGE, 0, PAGE);
}

static void zero_tail(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf + CUT, 0, LEN - CUT);
}

static void zero_word(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf + 2 * PAGE + 80, 0, 8);
}

static void zero_first_word(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    memset(buf, 0, 8);
}

static void flip_bit(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    buf[5 * PAGE + 1001] ^= 0x10;
}

static void flip_last_bit(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    buf[LEN - 1] ^= 0x80;
}

static void move_page(enum weir_packet packet, unsigned char *buf)
{
    put_from(packet, buf, 3 * PAGE, 3 * PAGE, PAGE, RANK, OFF - 3 * LEN, 0);
}

static void move_page_within(enum weir_packet packet, unsigned char *buf)
{
    put_from(packet, buf, 2 * PAGE, 5 * PAGE, PAGE, RANK, OFF, 0);
}

static void move_transfer(enum weir_packet packet, unsigned char *buf)
{
    make(packet, buf, RANK, OFF + 2 * LEN, 0);
}

static void move_transfer_of_offset_0(enum weir_packet packet, unsigned char *buf)
{
    make(packet, buf, 0, 0, 0);
}

static void take_other_task(enum weir_packet packet, unsigned char *buf)
{
    make(packet, buf, RANK + 1, OFF, 0);
}

static void age_transfer(enum weir_packet packet, unsigned char *buf)
{
    make(packet, buf, RANK, OFF, 7);
}

static void age_far(enum weir_packet packet, unsigned char *buf)
{
    make(packet, buf, RANK, OFF, 512); /* as many words as a page has */
}

static void age_middle(enum weir_packet packet, unsigned char *buf)
{
    put_from(packet, buf, 2 * PAGE, 2 * PAGE, 3 * PAGE, RANK, OFF, 7);
}

static void tear_over_old(enum weir_packet packet, unsigned char *buf)
{
    put_from(packet, buf, CUT, CUT, LEN - CUT, RANK, OFF, 7);
}

static void tear_over_old_page(enum weir_packet packet, unsigned char *buf)
{
    put_from(packet, buf, 4 * PAGE, 4 * PAGE, LEN - 4 * PAGE, RANK, OFF, 7);
}

static void tear_over_noise(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    put_noise(buf + CUT, LEN - CUT);
}

static void noise_all(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    put_noise(buf, LEN);
}

static void noise_first(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    put_noise(buf, PAGE);
}

static void noise_middle(enum weir_packet packet, unsigned char *buf)
{
    (void)packet;
    put_noise(buf + 1000, 3 * PAGE);
}

static void mix(enum weir_packet packet, unsigned char *buf)
{
    zero_middle_page(packet, buf);
    put_noise(buf + 5 * PAGE, PAGE);
}

#define NONE WEIR_DAMAGE_NONE
#define ZEROS WEIR_DAMAGE_ZEROS
#define STALE WEIR_DAMAGE_STALE
#define MOVED WEIR_DAMAGE_MISPLACED
#define FLIP WEIR_DAMAGE_FLIPPED
#define TORN WEIR_DAMAGE_TORN
#define OTHER WEIR_DAMAGE_FOREIGN
#define UNCLEAR WEIR_DAMAGE_UNCLEAR

/* In the order of enum weir_packet. TIMESTAMP is the same at every offset, and the words of RANDOM
 * and INCOMPRESSIBLE tell where they belong at the beginning of a transfer only. */
static const struct {
    const char *name;
    damage *spoil;
    enum weir_damage say[WEIR_PACKET_SIGNATURE + 1];
} table[] = {
    /*                                                       t       o       i        r        s */
    { "all zeros", zero_all, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "a zero page at the start", zero_first_page, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "a zero page in the middle", zero_middle_page, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "a zero page at the end", zero_last_page, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "a tail of zeros", zero_tail, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "8 zero bytes", zero_word, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "8 zero bytes at the start", zero_first_word, { ZEROS, ZEROS, ZEROS, ZEROS, ZEROS } },
    { "a flipped bit", flip_bit, { FLIP, FLIP, FLIP, FLIP, FLIP } },
    { "the last bit flipped", flip_last_bit, { FLIP, FLIP, FLIP, FLIP, FLIP } },
    { "a page of another transfer", move_page, { NONE, MOVED, UNCLEAR, UNCLEAR, MOVED } },
    { "another page of the transfer", move_page_within, { MOVED, MOVED, UNCLEAR, UNCLEAR, MOVED } },
    { "another transfer", move_transfer, { NONE, MOVED, MOVED, MOVED, MOVED } },
    { "the first transfer of the file",
      move_transfer_of_offset_0,
      { MOVED, MOVED, MOVED, MOVED, MOVED } },
    { "data of another task", take_other_task, { MOVED, MOVED, MOVED, MOVED, MOVED } },
    { "an earlier repetition", age_transfer, { STALE, STALE, STALE, STALE, STALE } },
    { "a much earlier repetition", age_far, { STALE, STALE, STALE, STALE, STALE } },
    { "earlier data in the middle", age_middle, { STALE, STALE, UNCLEAR, UNCLEAR, STALE } },
    { "a tail of earlier data", tear_over_old, { TORN, TORN, TORN, TORN, TORN } },
    { "pages of earlier data at the end", tear_over_old_page, { TORN, TORN, TORN, TORN, TORN } },
    { "a tail of noise", tear_over_noise, { TORN, TORN, TORN, TORN, TORN } },
    { "noise", noise_all, { OTHER, OTHER, OTHER, OTHER, OTHER } },
    { "noise at the start", noise_first, { OTHER, OTHER, OTHER, OTHER, OTHER } },
    { "noise in the middle", noise_middle, { OTHER, OTHER, OTHER, OTHER, OTHER } },
    { "a zero page and a page of noise", mix, { UNCLEAR, UNCLEAR, UNCLEAR, UNCLEAR, UNCLEAR } },
};

static void every_damage_is_called_by_its_name(void **state)
{
    unsigned char *buf = aligned_alloc(64, LEN);
    int wrong = 0;

    (void)state;
    assert_non_null(buf);
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        for (enum weir_packet k = WEIR_PACKET_TIMESTAMP; k <= WEIR_PACKET_SIGNATURE; k++) {
            enum weir_damage got;

            make(k, buf, RANK, OFF, 0);
            assert_int_equal(judge(k, buf), NONE);
            table[i].spoil(k, buf);
            got = judge(k, buf);
            if (got == table[i].say[k])
                continue;
            printf("# %s, packet %c: '%s' instead of '%s'\n", table[i].name, "toirs"[k],
                   weir_damage_name(got), weir_damage_name(table[i].say[k]));
            wrong++;
        }
    free(buf);
    assert_int_equal(wrong, 0);
}

/* On rank 0 the stamps of offset 0 are zeros: 8 zero bytes in one page can be either. */
static void stamps_of_offset_0_are_not_zeros(void **state)
{
    struct weir_pattern p = { .packet = WEIR_PACKET_OFFSET, .signature = SIGNATURE };
    struct weir_layout l = layout;
    uint64_t *buf = aligned_alloc(64, LEN);

    (void)state;
    assert_non_null(buf);
    weir_pattern_base(&p, buf, LEN);
    weir_pattern_stamp(&p, buf, LEN, 0);
    assert_int_equal(kind_of(&p, &l, buf, LEN, 3 * LEN), MOVED);
    weir_pattern_stamp(&p, buf, LEN, 3 * LEN);
    buf[0] = 0;
    assert_int_equal(kind_of(&p, &l, buf, LEN, 3 * LEN), UNCLEAR);
    free(buf);
}

static void the_smallest_transfers_have_a_damage_too(void **state)
{
    (void)state;
    for (enum weir_packet k = WEIR_PACKET_TIMESTAMP; k <= WEIR_PACKET_RANDOM; k++)
        for (size_t len = 8; len <= 1024; len += 8) {
            struct weir_pattern p = { .packet = k, .signature = SIGNATURE, .rank = 1 };
            struct weir_layout l = { .transfer = len, .block = len, .segments = 3, .tasks = 2 };
            uint64_t buf[128];

            weir_pattern_base(&p, buf, len);
            weir_pattern_stamp(&p, buf, len, len);
            buf[len / 16] ^= 4;
            assert_int_not_equal(kind_of(&p, &l, buf, len, len), NONE);
            memset(buf, 0, len);
            assert_int_equal(kind_of(&p, &l, buf, len, len), ZEROS);
            memset(buf, 0xa5, len);
            assert_int_equal(kind_of(&p, &l, buf, len, len), OTHER);
        }
}

static void every_damage_has_a_name(void **state)
{
    (void)state;
    for (int d = 0; d < WEIR_DAMAGES; d++)
        for (int e = 0; e < d; e++)
            assert_string_not_equal(weir_damage_name(d), weir_damage_name(e));
    assert_string_equal(weir_damage_name(WEIR_DAMAGES), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_damage_is_called_by_its_name),
        cmocka_unit_test(stamps_of_offset_0_are_not_zeros),
        cmocka_unit_test(the_smallest_transfers_have_a_damage_too),
        cmocka_unit_test(every_damage_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
