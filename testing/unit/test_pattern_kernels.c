/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pattern_kernels.c - the loops over whole buffers, for any processor and for one with AVX2 */
#include "base/data/pattern.c" /* its tables of kernels, of which a processor uses one */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    WORDS = 300,                /* lengths: 0 to this many words */
    PLACES = 32,                /* first words: 0 to 31 after a multiple of 256 bytes */
    STAMPED = 2 * PAGE_WORDS + 3 /* with a second and a third stamp */
};

static const struct base base = { .low = (uint64_t)-5, .high = (uint64_t)3 << 32 };

/* All kernels that this processor can run; NULL after the last. */
static const struct kernels *const *all_kernels(void)
{
#if HAVE_X86_KERNELS
    static const struct kernels *const both[] = { &kernels_any, &kernels_avx2, NULL };
    static const struct kernels *const one[] = { &kernels_any, NULL };

    return __builtin_cpu_supports("avx2") ? both : one;
#else
    static const struct kernels *const one[] = { &kernels_any, NULL };

    return one;
#endif
}

/* Memory for the words of one length at one place, and a word on either side. */
static word *new_words(void)
{
    word *w = aligned_alloc(256, (PLACES + STAMPED + 128) / 32 * 32 * sizeof(*w));

    assert_non_null(w);
    return w;
}

static void fill_plain(word *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = (base.low + i) | base.high;
}

static void fill_stamped(word *w, size_t n, uint32_t off)
{
    fill_plain(w, n);
    for (size_t i = 0; i < n; i += PAGE_WORDS)
        w[i] = (uint32_t)(off * (uint32_t)(i / PAGE_WORDS + 1)) | base.high;
}

/* The words of INCOMPRESSIBLE, one after another. */
static void fill_lanes(const uint64_t lane[LANES], word *w, size_t n)
{
    uint64_t x[LANES];

    memcpy(x, lane, sizeof(x));
    for (size_t i = 0; i < n; i++)
        w[i] = x[i % LANES] = weir_pattern_step(x[i % LANES]);
}

static void seed(uint64_t lane[LANES])
{
    for (size_t i = 0; i < LANES; i++)
        lane[i] = weir_rng_at(7, i);
}

/* What a kernel finds in n words. */
struct found {
    const struct kernels *k;
    word *w;
    size_t n;
};

static uint64_t plain_in(const struct found *f)
{
    return f->k->differ_plain(f->w, f->n, &base);
}

static uint64_t stamped_in(const struct found *f)
{
    return f->k->differ_stamped(f->w, f->n, &base, 4096);
}

static uint64_t noise_in(const struct found *f)
{
    uint64_t lane[LANES];

    seed(lane);
    return f->k->differ_noise(lane, f->w, f->n);
}

/* Right words have no wrong bits, and a wrong bit of each word is found: at the places of a vector
 * of each word, at others of some. Words beside them do not count. */
static void check_found(const struct found *f, size_t place,
                        uint64_t (*differ)(const struct found *))
{
    f->w[-1] = f->w[f->n] = 0x55;
    assert_int_equal(differ(f), 0);
    for (size_t bad = 0; bad < f->n; bad += place <= VEC ? 1 : f->n / 3 + 1) {
        uint64_t bits = (uint64_t)1 << (bad % 64);

        f->w[bad] ^= bits;
        assert_int_equal(differ(f), bits);
        f->w[bad] ^= bits;
    }
}

static void wrong_bits_of_the_base_pattern_are_found_at_all_lengths_and_places(void **state)
{
    word *memory = new_words();

    (void)state;
    for (const struct kernels *const *k = all_kernels(); *k; k++)
        for (size_t n = 0; n <= WORDS; n++)
            for (size_t place = 1; place <= PLACES; place++) {
                fill_plain(memory + place, n);
                check_found(&(struct found) { *k, memory + place, n }, place, plain_in);
            }
    free(memory);
}

static void wrong_bits_of_stamped_words_are_found_at_all_lengths_and_places(void **state)
{
    word *memory = new_words();

    (void)state;
    for (const struct kernels *const *k = all_kernels(); *k; k++)
        for (size_t n = 0; n <= STAMPED; n += n < WORDS || n > STAMPED - 24 ? 1 : 29)
            for (size_t place = 1; place <= PLACES; place++) {
                fill_stamped(memory + place, n, 4096);
                check_found(&(struct found) { *k, memory + place, n }, place, stamped_in);
            }
    free(memory);
}

static void wrong_bits_of_incompressible_words_are_found_at_all_lengths_and_places(void **state)
{
    word *memory = new_words();
    uint64_t lane[LANES];

    (void)state;
    seed(lane);
    for (const struct kernels *const *k = all_kernels(); *k; k++)
        for (size_t n = 0; n <= WORDS; n++)
            for (size_t place = 1; place <= PLACES; place++) {
                fill_lanes(lane, memory + place, n);
                check_found(&(struct found) { *k, memory + place, n }, place, noise_in);
            }
    free(memory);
}

/* Two buffers in a row: the state goes on by whole rows of lanes, as the header says. */
static void incompressible_words_are_those_of_the_lanes_at_all_lengths_and_places(void **state)
{
    word *memory = new_words(), *want = new_words();

    (void)state;
    for (const struct kernels *const *k = all_kernels(); *k; k++)
        for (size_t n = 0; n <= WORDS; n++)
            for (size_t place = 1; place <= PLACES; place++) {
                word *w = memory + place;
                uint64_t lane[LANES], first[LANES];

                seed(lane);
                memcpy(first, lane, sizeof(first));
                fill_lanes(first, want, (n + LANES - 1) / LANES * LANES + LANES);
                w[-1] = w[n] = 0x55;
                (*k)->fill_noise(lane, w, n);
                assert_memory_equal(w, want, n * sizeof(*w));
                assert_true(w[-1] == 0x55 && w[n] == 0x55);
                (*k)->fill_noise(lane, w, LANES);
                assert_memory_equal(w, want + (n + LANES - 1) / LANES * LANES, LANES * sizeof(*w));
            }
    free(want);
    free(memory);
}

/* Which kernels are used is a matter of speed. */
static void the_kernels_in_use_are_those_of_this_processor(void **state)
{
    const struct kernels *const *k = all_kernels();

    (void)state;
    while (k[1])
        k++;
    assert_ptr_equal(pick_kernels(), *k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_bits_of_the_base_pattern_are_found_at_all_lengths_and_places),
        cmocka_unit_test(wrong_bits_of_stamped_words_are_found_at_all_lengths_and_places),
        cmocka_unit_test(wrong_bits_of_incompressible_words_are_found_at_all_lengths_and_places),
        cmocka_unit_test(incompressible_words_are_those_of_the_lanes_at_all_lengths_and_places),
        cmocka_unit_test(the_kernels_in_use_are_those_of_this_processor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
