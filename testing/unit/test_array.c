/* SPDX-License-Identifier: BSD-3-Clause */
/* test_array.c - descriptions of arrays that make sense, and places of arrays in a plain file */
#include "backends/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>


static const struct weir_array_spec plane = { .type = { .elem = WEIR_ELEM_FLOAT64 },
                                              .shape = { 2, { 3, 5 } } };

static void accept(struct weir_array_spec spec)
{
    struct weir_err err = WEIR_ERR_INIT;

    if (weir_array_spec_check(&spec, &err) < 0)
        fail_msg("%s", err.text);
}

/* The text must say why. */
static void refuse(struct weir_array_spec spec, const char *words)
{
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(weir_array_spec_check(&spec, &err), -1);
    assert_int_equal(err.code, WEIR_EUSAGE);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void shapes_and_types_make_sense(void **unused)
{
    struct weir_array_spec s = plane;

    (void)unused;
    accept(s);
    s.shape.rank = 0;
    refuse(s, "0 dimensions");
    s.shape.rank = WEIR_RANK_MAX + 1;
    refuse(s, "1 to 32");
    s = plane, s.shape.len[1] = 0;
    refuse(s, "dimension 2 of the array has no element");
    s = plane, s.shape.len[0] = 1ull << 62;
    refuse(s, "2^63 - 1 bytes");
    s = plane, s.type.elem = (enum weir_elem)99;
    refuse(s, "unknown");
    s = plane, s.type.size = 4;
    refuse(s, "has 8 bytes, not 4");
}

static void chunks_are_not_larger_than_the_array(void **unused)
{
    struct weir_array_spec s = plane;

    (void)unused;
    s.chunk = (struct weir_shape) { 2, { 3, 5 } };
    accept(s);
    s.chunk.rank = 1;
    refuse(s, "chunks of 1 dimensions in an array of 2");
    s.chunk = (struct weir_shape) { 2, { 3, 0 } };
    refuse(s, "dimension 2: chunks of 0");
    s.chunk = (struct weir_shape) { 2, { 4, 5 } };
    refuse(s, "dimension 1: chunks of 4");
}

static void members_lie_side_by_side(void **unused)
{
    struct weir_member m[] = { { "a", WEIR_ELEM_INT32, 0 }, { "b", WEIR_ELEM_FLOAT64, 8 } };
    struct weir_array_spec s = plane;

    (void)unused;
    s.type = (struct weir_type) { WEIR_ELEM_COMPOUND, 16, m, 2 };
    accept(s);
    assert_int_equal(weir_type_bytes(&s.type), 16);
    s.type.size = 15;
    refuse(s, "'b' does not fit into a record of 15 bytes");
    s.type.size = 16, m[1].at = SIZE_MAX;
    refuse(s, "'b' does not fit");
    m[1].at = 3;
    refuse(s, "'a' and 'b'");
    m[1].at = 8, m[1].name = "a";
    refuse(s, "'a' and 'a'");
    m[1].name = "";
    refuse(s, "member 2 of the compound type has no name");
    m[1].name = "b", m[1].elem = WEIR_ELEM_COMPOUND;
    refuse(s, "not of a simple type");
    s.type.count = 0;
    refuse(s, "needs a size and members");
}

/* One array more in the file, at the front of its list as in a session. */
static int place(struct weir_array_file *f, struct weir_array *a, const char *name, uint64_t len,
                 bool makes, struct weir_err *err)
{
    *a = (struct weir_array) { .file = f, .name = name, .elem = 4, .next = f->first };
    a->spec.type.elem = WEIR_ELEM_INT32;
    a->spec.shape = (struct weir_shape) { 1, { len } };
    f->first = a;
    return makes ? weir_plain_array_make(a, err) : weir_plain_array_find(a, INT64_MAX, err);
}

static void arrays_of_a_plain_file_follow_each_other(void **unused)
{
    const struct weir_backend be = { .name = "PLAIN" };
    struct weir_session s = { .be = &be };
    struct weir_array_file f = { .s = &s };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_array a[6];

    (void)unused;
    assert_int_equal(place(&f, &a[0], "a", 3, false, &err), 0);
    assert_int_equal(a[0].at, 0);
    assert_int_equal(place(&f, &a[1], "b", 1, true, &err), 0);
    assert_int_equal(a[1].at, 16); /* 12 rounded up */
    f.made++;
    assert_int_equal(place(&f, &a[2], "a", 3, false, &err), 0); /* as before */
    assert_int_equal(a[2].at, 0);
    assert_int_equal(place(&f, &a[3], "b", 1, true, &err), -1);
    assert_non_null(strstr(err.text, "already"));
    assert_int_equal(place(&f, &a[4], "c", 1, false, &err), -1);
    assert_non_null(strstr(err.text, "in their order"));
    f.first = NULL;
    f.next_at = INT64_MAX - 3;
    assert_int_equal(place(&f, &a[5], "d", 1, true, &err), -1);
    assert_non_null(strstr(err.text, "2^63"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_types_make_sense),
        cmocka_unit_test(chunks_are_not_larger_than_the_array),
        cmocka_unit_test(members_lie_side_by_side),
        cmocka_unit_test(arrays_of_a_plain_file_follow_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
