/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mem.c - arenas and aligned buffers */
#include "base/mem.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void arena_memory_is_zeroed_aligned_and_distinct(void **state)
{
    struct weir_arena a = { .first = NULL };
    unsigned char *last = NULL;

    (void)state;
    for (size_t len = 0; len < 200; len++) {
        unsigned char *p = weir_arena_alloc(&a, len, NULL);

        assert_non_null(p);
        assert_ptr_not_equal(p, last);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, len);
        last = p;
    }
    weir_arena_free(&a);
    assert_null(a.first);
}

static void a_freed_arena_is_usable_again(void **state)
{
    struct weir_arena a = { .first = NULL };

    (void)state;
    weir_arena_free(&a);
    assert_non_null(weir_arena_strdup(&a, "one", NULL));
    weir_arena_free(&a);
    assert_string_equal(weir_arena_strdup(&a, "two", NULL), "two");
    weir_arena_free(&a);
}

static void strings_are_copied(void **state)
{
    struct weir_arena a = { .first = NULL };
    char text[] = "weir";
    char *all = weir_arena_strdup(&a, text, NULL);
    char *part = weir_arena_strndup(&a, text, 2, NULL);

    (void)state;
    text[0] = 'X';
    assert_string_equal(all, "weir");
    assert_string_equal(part, "we");
    assert_string_equal(weir_arena_strdup(&a, "", NULL), "");
    assert_string_equal(weir_arena_strndup(&a, text, 0, NULL), "");
    assert_string_equal(weir_arena_textf(&a, NULL, "%s/%d", part, 7), "we/7");
    assert_string_equal(weir_arena_textf(&a, NULL, "%s", ""), "");
    weir_arena_free(&a);
}

static void a_piece_may_contain_nul_bytes(void **state)
{
    struct weir_arena a = { .first = NULL };

    (void)state;
    assert_memory_equal(weir_arena_strndup(&a, "a\0b", 3, NULL), "a\0b", 4);
    weir_arena_free(&a);
}

static void too_much_memory_is_refused_with_a_reason(void **state)
{
    struct weir_arena a = { .first = NULL };
    struct weir_err err = WEIR_ERR_INIT;
    size_t huge = SIZE_MAX; /* not a constant for the compiler's warning */
    void *p;

    (void)state;
    assert_null(weir_arena_alloc(&a, huge, &err));
    assert_int_equal(err.code, WEIR_ESETUP);
    assert_non_null(strstr(err.text, "allocate 18446744073709551615 bytes: "));
    assert_null(weir_arena_strndup(&a, "", huge, NULL));
    err.text[0] = '\0';
    assert_int_equal(weir_mem_aligned(&p, 4096, huge, &err), -1);
    assert_null(p);
    assert_int_equal(err.code, WEIR_ESETUP);
    assert_non_null(strstr(err.text, "allocate "));
    assert_non_null(strstr(err.text, " TiB aligned to 4096: "));
    weir_arena_free(&a);
}

static void buffers_are_aligned_and_rounded_up(void **state)
{
    (void)state;
    for (size_t align = 1; align <= 1 << 21; align *= 2) {
        void *p;

        assert_int_equal(weir_mem_aligned(&p, align, 5, NULL), 0);
        assert_int_equal((uintptr_t)p % align, 0);
        memset(p, 1, (5 + align - 1) / align * align);
        free(p);
    }
}

/* Has the mapping that holds p the advice "hg" in smaps? */
static bool asks_for_huge_pages(const void *p)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    uintptr_t from, to;
    char line[512];
    bool here = false, asks = false;

    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            here = from <= (uintptr_t)p && (uintptr_t)p < to;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            asks = strstr(line, " hg ") != NULL;
    }
    fclose(f);
    return asks;
}

static void a_buffer_aligned_to_a_huge_page_asks_for_huge_pages(void **state)
{
    void *small, *large;

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        skip();
    assert_int_equal(weir_mem_aligned(&small, 4096, 2 * WEIR_HUGE, NULL), 0);
    assert_false(asks_for_huge_pages(small));
    assert_int_equal(weir_mem_aligned(&large, WEIR_HUGE, WEIR_HUGE + 1, NULL), 0);
    assert_true(asks_for_huge_pages(large));
    assert_true(asks_for_huge_pages((char *)large + 2 * WEIR_HUGE - 1));
    free(large);
    free(small);
}

static void an_empty_buffer_can_be_freed(void **state)
{
    void *p = NULL;

    (void)state;
    assert_int_equal(weir_mem_aligned(&p, 512, 0, NULL), 0);
    assert_non_null(p);
    free(p);
}

static void an_alignment_that_is_no_power_of_two_is_refused(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;
    void *p;

    (void)state;
    assert_int_equal(weir_mem_aligned(&p, 0, 8, &err), -1);
    assert_int_equal(err.code, WEIR_EBUG);
    assert_int_equal(weir_mem_aligned(&p, 24, 8, NULL), -1);
    assert_null(p);
}

static void a_list_grows_with_what_it_has(void **state)
{
    int *list = NULL;
    size_t capacity = 0, times = 0;

    (void)state;
    for (size_t n = 0; n < 1000; n++) {
        size_t before = capacity;

        assert_true(weir_mem_reserve(&list, n, &capacity, sizeof(*list)));
        list[n] = (int)n;
        times += capacity != before;
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(list[n], n);
    assert_in_range(times, 2, 12);
    assert_false(weir_mem_reserve(&list, capacity, &capacity, SIZE_MAX / 1024)); /* too much: as it was */
    assert_int_equal(list[999], 999);
    free(list);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_distinct),
        cmocka_unit_test(a_freed_arena_is_usable_again),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(a_piece_may_contain_nul_bytes),
        cmocka_unit_test(too_much_memory_is_refused_with_a_reason),
        cmocka_unit_test(buffers_are_aligned_and_rounded_up),
        cmocka_unit_test(a_buffer_aligned_to_a_huge_page_asks_for_huge_pages),
        cmocka_unit_test(an_empty_buffer_can_be_freed),
        cmocka_unit_test(a_list_grows_with_what_it_has),
        cmocka_unit_test(an_alignment_that_is_no_power_of_two_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
