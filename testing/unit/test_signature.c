/* SPDX-License-Identifier: BSD-3-Clause */
/* test_signature.c - data that tell whose they are */
#include "base/data/damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define UNIT WEIR_SIGNATURE_UNIT
#define UNITS 8
#define LEN ((size_t)UNITS * UNIT)
#define OFF 0x123456000u

static const struct weir_signature ours = {
    .run = 1700000000000000000u, .repetition = 3, .writer = 5, .file = 0xabcdef
};

/* A transfer of ours at OFF, and what a check says of it. */
struct transfer {
    uint64_t word[LEN / 8];
    struct weir_signature_seen seen;
    struct weir_data_damage bad;
};

static void fill(struct transfer *t, const struct weir_signature *s, uint64_t off)
{
    memset(t, 0, sizeof(*t));
    weir_signature_fill(s, t->word, LEN, off);
}

static uint64_t check(struct transfer *t, bool known, uint64_t off)
{
    bool right = weir_signature_check(&ours, known, t->word, LEN, off, &t->seen, &t->bad);

    assert_int_equal(right, t->bad.pieces == 0);
    return t->bad.pieces;
}

/* Units from 'first' on come from a fill with other values. */
static void put_foreign(struct transfer *t, unsigned first, unsigned count,
                        const struct weir_signature *s, uint64_t off)
{
    weir_signature_fill(s, t->word + first * UNIT / 8, (size_t)count * UNIT, off + first * UNIT);
}

static void what_was_written_is_right(void **state)
{
    struct transfer t;

    (void)state;
    fill(&t, &ours, OFF);
    assert_int_equal(check(&t, true, OFF), 0);
    assert_int_equal(check(&t, false, OFF), 0);
    assert_true(t.seen.any);
    assert_true(t.seen.run == ours.run && t.seen.repetition == 3 && t.seen.writer == 5);
    assert_int_equal(t.seen.transfers, 2);
    assert_int_equal(t.seen.older, 0);
}

static void an_empty_transfer_is_right(void **state)
{
    struct transfer t;

    (void)state;
    memset(&t, 0, sizeof(t));
    assert_true(weir_signature_check(&ours, true, t.word, 0, 0, &t.seen, &t.bad));
}

static void every_flipped_bit_of_a_unit_is_found(void **state)
{
    struct transfer t;

    (void)state;
    for (int known = 0; known < 2; known++)
        for (unsigned bit = 0; bit < UNIT * 8; bit++) {
            fill(&t, &ours, OFF);
            assert_int_equal(check(&t, known, OFF), 0);
            t.word[UNIT / 8 + bit / 64] ^= (uint64_t)1 << bit % 64; /* in the second unit */
            assert_int_equal(check(&t, known, OFF), 1);
            assert_int_equal(t.bad.kind, WEIR_DAMAGE_FLIPPED);
            assert_int_equal((t.bad.byte - OFF), UNIT + bit / 64 * 8);
            assert_true((t.bad.expect ^ t.bad.got) == (uint64_t)1 << bit % 64);
        }
}

static void a_flipped_bit_in_the_first_unit_that_is_ever_seen_is_found(void **state)
{
    struct transfer t;

    (void)state;
    for (unsigned bit = 0; bit < UNIT * 8; bit++) {
        fill(&t, &ours, OFF);
        t.word[bit / 64] ^= (uint64_t)1 << bit % 64;
        assert_int_equal(check(&t, false, OFF), 1);
        assert_int_equal(t.seen.transfers, 0);
    }
}

static void two_units_never_share_their_filler(void **state)
{
    struct transfer a, b;
    struct weir_signature other = ours;
    unsigned same = 0;

    (void)state;
    fill(&a, &ours, OFF);
    other.repetition++;
    fill(&b, &other, OFF);
    for (size_t i = 0; i < LEN / 8; i++) {
        same += a.word[i] == b.word[i];
        if (i >= UNIT / 8)
            same += a.word[i] == a.word[i - UNIT / 8];
    }
    assert_int_equal(same, 0);
}

/* Data of the same place with another version. */
static struct weir_signature of_version(uint32_t version)
{
    struct weir_signature s = ours;

    s.version = version;
    return s;
}

static void what_was_there_before_an_update_is_a_lost_update(void **state)
{
    struct weir_signature newer = of_version(2), before[] = { ours, of_version(1), ours, ours };
    struct transfer t;

    (void)state;
    before[2].run -= 1000;
    before[2].writer = 9;
    before[3].repetition--;
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        fill(&t, &before[i], OFF);
        assert_false(weir_signature_check(&newer, true, t.word, LEN, OFF, &t.seen, &t.bad));
        assert_int_equal(t.bad.kind, WEIR_DAMAGE_LOST);
        assert_int_equal(t.bad.pieces, UNITS);
        assert_int_equal(t.bad.found.version, before[i].version);
        assert_true(t.bad.found.off == OFF);
    }
    fill(&t, &newer, OFF);
    assert_true(weir_signature_check(&newer, true, t.word, LEN, OFF, &t.seen, &t.bad));
    assert_int_equal(t.seen.version, 2);
    before[1].writer = 9; /* nobody else writes there: not an update that was lost */
    fill(&t, &before[1], OFF);
    assert_false(weir_signature_check(&newer, true, t.word, LEN, OFF, &t.seen, &t.bad));
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_MISPLACED);
}

static void a_part_of_an_update_is_a_torn_write(void **state)
{
    struct weir_signature newer = of_version(1);
    struct transfer t;

    (void)state;
    for (unsigned first = 0; first < UNITS; first++)
        for (unsigned count = 1; count < UNITS && first + count <= UNITS; count++)
            for (int known = 0; known < 2; known++) {
                fill(&t, &newer, OFF);
                put_foreign(&t, first, count, &ours, OFF);
                assert_false(weir_signature_check(&newer, known, t.word, LEN, OFF, &t.seen, &t.bad));
                assert_int_equal(t.bad.kind, WEIR_DAMAGE_TORN);
            }
}

static void updates_do_not_make_the_rest_of_an_unknown_file_stale(void **state)
{
    struct weir_signature newer = of_version(1);
    struct transfer t, u;

    (void)state;
    newer.run += 1000;
    fill(&t, &newer, OFF);
    fill(&u, &ours, OFF + LEN);
    for (int i = 0; i < 2; i++) {
        assert_true(weir_signature_check(&ours, false, t.word, LEN, OFF, &t.seen, &t.bad));
        assert_int_equal(t.seen.version, 1);
        assert_true(weir_signature_check(&ours, false, u.word, LEN, OFF + LEN, &t.seen, &u.bad));
        assert_int_equal(t.seen.version, 0);
    }
    assert_int_equal(t.seen.older, 0);
    newer.version = 0; /* all of the file was written again */
    fill(&t, &newer, OFF);
    assert_true(weir_signature_check(&ours, false, t.word, LEN, OFF, &t.seen, &t.bad));
    assert_false(weir_signature_check(&ours, false, u.word, LEN, OFF + LEN, &t.seen, &u.bad));
    assert_int_equal(u.bad.kind, WEIR_DAMAGE_STALE);
}

static void offsets_that_are_four_gib_apart_differ(void **state)
{
    struct transfer t;

    (void)state;
    fill(&t, &ours, OFF + 0x100000000u);
    assert_int_equal(check(&t, true, OFF), UNITS);
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_MISPLACED);
    assert_true(t.bad.found.off == OFF + 0x100000000u);
}

static void a_unit_moved_by_one_is_misplaced(void **state)
{
    struct transfer t;

    (void)state;
    for (int known = 0; known < 2; known++) {
        fill(&t, &ours, OFF);
        assert_int_equal(check(&t, known, OFF), 0);
        memcpy(t.word + 3 * UNIT / 8, t.word + 4 * UNIT / 8, UNIT);
        assert_int_equal(check(&t, known, OFF), 1);
        assert_int_equal(t.bad.kind, WEIR_DAMAGE_MISPLACED);
        assert_true(t.bad.found.off == OFF + 4 * UNIT);
        assert_int_equal((t.bad.byte - OFF) / UNIT, 3);
    }
}

static void data_of_another_file_are_misplaced(void **state)
{
    struct weir_signature other = ours;
    struct transfer t;

    (void)state;
    other.file++;
    fill(&t, &other, OFF);
    assert_int_equal(check(&t, true, OFF), UNITS);
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_MISPLACED);
    assert_int_equal(check(&t, false, OFF), UNITS);
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_MISPLACED);
    assert_false(t.seen.any);
}

static void with_a_known_run_every_other_one_is_stale_and_another_writer_misplaced(void **state)
{
    struct weir_signature other[4] = { ours, ours, ours, ours };
    struct transfer t;

    (void)state;
    other[0].run--;
    other[1].run++;
    other[2].repetition--;
    other[3].writer++;
    for (int i = 0; i < 4; i++) {
        fill(&t, &other[i], OFF);
        assert_int_equal(check(&t, true, OFF), UNITS);
        assert_int_equal(t.bad.kind, i < 3 ? WEIR_DAMAGE_STALE : WEIR_DAMAGE_MISPLACED);
        assert_true(t.bad.found.run == other[i].run && t.bad.found.repetition == other[i].repetition);
        assert_true(t.bad.found.writer == other[i].writer);
    }
}

static void with_an_unknown_run_any_writer_is_right(void **state)
{
    struct weir_signature other = ours;
    struct transfer t;

    (void)state;
    fill(&t, &ours, OFF);
    other.writer = 77;
    put_foreign(&t, 4, 4, &other, OFF);
    assert_int_equal(check(&t, false, OFF), 0);
    assert_int_equal(t.seen.writer, 77);
}

static void behind_newer_data_older_ones_are_stale(void **state)
{
    struct weir_signature old[2] = { ours, ours };
    struct transfer t;

    (void)state;
    old[0].repetition--;
    old[1].run -= 1000000000u;
    old[1].repetition += 5; /* of an earlier run: not newer for all its repetitions */
    for (int i = 0; i < 2; i++) {
        fill(&t, &ours, OFF);
        assert_int_equal(check(&t, false, OFF), 0);
        weir_signature_fill(&old[i], t.word, LEN, OFF + LEN);
        assert_int_equal(check(&t, false, OFF + LEN), UNITS);
        assert_int_equal(t.bad.kind, WEIR_DAMAGE_STALE);
        assert_int_equal(t.seen.older, 0);
    }
}

static void older_data_in_front_of_newer_ones_are_counted_once_they_are_known(void **state)
{
    struct weir_signature old = ours;
    struct transfer t;

    (void)state;
    old.repetition--;
    fill(&t, &old, OFF);
    assert_int_equal(check(&t, false, OFF), 0);
    assert_int_equal(check(&t, false, OFF), 0);
    t.word[0] ^= 1; /* counted as wrong, so not once more as older */
    assert_int_equal(check(&t, false, OFF), 1);
    weir_signature_fill(&ours, t.word, LEN, OFF);
    assert_int_equal(check(&t, false, OFF), 0);
    assert_int_equal(t.seen.older, 2);
    assert_int_equal(t.seen.transfers, 3);
    assert_int_equal(check(&t, false, OFF), 0);
    assert_int_equal(t.seen.older, 2);
}

static void a_write_that_came_only_half_way_is_torn(void **state)
{
    struct weir_signature old = ours;
    struct transfer t;

    (void)state;
    old.repetition--;
    for (int known = 0; known < 2; known++)
        for (unsigned cut = 1; cut < UNITS; cut++) {
            fill(&t, &ours, OFF);
            put_foreign(&t, cut, UNITS - cut, &old, OFF);
            assert_int_equal(check(&t, known, OFF), UNITS - cut);
            assert_int_equal(t.bad.kind, WEIR_DAMAGE_TORN);
            assert_int_equal((t.bad.byte - OFF) / UNIT, cut);
        }
}

static void old_data_in_the_middle_are_stale_not_torn(void **state)
{
    struct weir_signature old = ours;
    struct transfer t;

    (void)state;
    old.repetition--;
    fill(&t, &ours, OFF);
    put_foreign(&t, 2, 3, &old, OFF);
    assert_int_equal(check(&t, true, OFF), 3);
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_STALE);
}

static void a_unit_that_ends_as_another_one_is_torn(void **state)
{
    struct transfer t;

    (void)state;
    for (unsigned cut = 8; cut < 60; cut++) {
        fill(&t, &ours, OFF);
        memset(t.word + cut, 0x5a, UNIT - cut * 8);
        assert_int_equal(check(&t, true, OFF), 1);
        assert_int_equal(t.bad.kind, WEIR_DAMAGE_TORN);
        assert_int_equal((t.bad.byte - OFF), cut * 8);
    }
}

static void what_was_never_written_is_zeros(void **state)
{
    struct transfer t;

    (void)state;
    for (int known = 0; known < 2; known++) {
        fill(&t, &ours, OFF);
        memset(t.word + 6 * UNIT / 8, 0, 2 * (size_t)UNIT);
        assert_int_equal(check(&t, known, OFF), 2);
        assert_int_equal(t.bad.kind, WEIR_DAMAGE_ZEROS);
        assert_true(t.bad.got == 0 && (t.bad.byte - OFF) == 6 * (size_t)UNIT);
    }
}

static void anything_else_is_foreign(void **state)
{
    struct transfer t;

    (void)state;
    fill(&t, &ours, OFF);
    for (size_t i = 0; i < UNIT / sizeof(*t.word); i++)
        t.word[i] = 0x7878787878787878u;
    assert_int_equal(check(&t, true, OFF), 1);
    assert_int_equal(t.bad.kind, WEIR_DAMAGE_FOREIGN);
    memset(&t.seen, 0, sizeof(t.seen));
    assert_int_equal(check(&t, false, OFF), 1);
}

static void a_file_is_known_by_its_name_without_directories(void **state)
{
    (void)state;
    assert_true(weir_signature_file("a/b/name") == weir_signature_file("/elsewhere/name"));
    assert_true(weir_signature_file("name") == weir_signature_file("./name"));
    assert_true(weir_signature_file("name") != weir_signature_file("eman"));
    assert_true(weir_signature_file("") != weir_signature_file("name"));
    assert_true(weir_signature_file("d/") == weir_signature_file(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_right),
        cmocka_unit_test(an_empty_transfer_is_right),
        cmocka_unit_test(every_flipped_bit_of_a_unit_is_found),
        cmocka_unit_test(a_flipped_bit_in_the_first_unit_that_is_ever_seen_is_found),
        cmocka_unit_test(two_units_never_share_their_filler),
        cmocka_unit_test(what_was_there_before_an_update_is_a_lost_update),
        cmocka_unit_test(a_part_of_an_update_is_a_torn_write),
        cmocka_unit_test(updates_do_not_make_the_rest_of_an_unknown_file_stale),
        cmocka_unit_test(offsets_that_are_four_gib_apart_differ),
        cmocka_unit_test(a_unit_moved_by_one_is_misplaced),
        cmocka_unit_test(data_of_another_file_are_misplaced),
        cmocka_unit_test(with_a_known_run_every_other_one_is_stale_and_another_writer_misplaced),
        cmocka_unit_test(with_an_unknown_run_any_writer_is_right),
        cmocka_unit_test(behind_newer_data_older_ones_are_stale),
        cmocka_unit_test(older_data_in_front_of_newer_ones_are_counted_once_they_are_known),
        cmocka_unit_test(a_write_that_came_only_half_way_is_torn),
        cmocka_unit_test(old_data_in_the_middle_are_stale_not_torn),
        cmocka_unit_test(a_unit_that_ends_as_another_one_is_torn),
        cmocka_unit_test(what_was_never_written_is_zeros),
        cmocka_unit_test(anything_else_is_foreign),
        cmocka_unit_test(a_file_is_known_by_its_name_without_directories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
