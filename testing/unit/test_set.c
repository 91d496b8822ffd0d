/* SPDX-License-Identifier: BSD-3-Clause */
/* test_set.c - a set of texts with numbers */
#include "base/text/set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int64_t find(const struct weir_set *s, const char *text)
{
    size_t len = strlen(text);

    return weir_set_find(s, weir_hash(WEIR_HASH_BEGIN, text, len), text, len);
}

static void texts_have_numbers_in_the_order_in_which_they_came(void **state)
{
    struct weir_set s = { 0 };

    (void)state;
    assert_int_equal(find(&s, "a"), -1);
    assert_int_equal(weir_set_add(&s, "a", 1), 0);
    assert_int_equal(weir_set_add(&s, "ab", 2), 1);
    assert_int_equal(weir_set_add(&s, "a", 1), 0);
    assert_int_equal(weir_set_add(&s, "", 0), 2);
    assert_int_equal(weir_set_add(&s, "abc", 2), 1);
    assert_int_equal(s.n, 3);
    assert_int_equal(find(&s, "ab"), 1);
    assert_int_equal(find(&s, ""), 2);
    assert_int_equal(find(&s, "abc"), -1);
    assert_int_equal(find(&s, "b"), -1);
    assert_int_equal(weir_hash(weir_hash(WEIR_HASH_BEGIN, "a", 1), "b", 1), weir_hash(WEIR_HASH_BEGIN, "ab", 2));
    weir_set_free(&s);
    assert_int_equal(find(&s, "a"), -1);
}

/* Slots that are looked at when n names of this form are added, found, and n others are not. */
static uint64_t work(const char *form, int n)
{
    struct weir_set s = { 0 };
    uint64_t looked = 0;
    char text[64];

    s.looked = &looked;
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), form, i);
        assert_int_equal(weir_set_add(&s, text, strlen(text)), i);
    }
    for (int i = 0; i < 2 * n; i++) {
        snprintf(text, sizeof(text), form, i);
        assert_int_equal(find(&s, text), i < n ? i : -1);
    }
    weir_set_free(&s);
    return looked;
}

/* Half full at most, a name that is there takes 1.5 slots on average, and one that is not 2.5 (Knuth). */
static void the_work_is_linear_in_the_number_of_names(void **state)
{
    static const char *const forms[] = { "/scratch/run/o.%08d", "node%d", "%d", "t-%05d.csv" };

    (void)state;
    for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++)
        for (int n = 100; n <= 100000; n *= 10)
            assert_true(work(forms[f], n) <= (uint64_t)n * 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_numbers_in_the_order_in_which_they_came),
        cmocka_unit_test(the_work_is_linear_in_the_number_of_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
