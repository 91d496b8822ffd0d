/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rc.c - lines "KEY: value  # comment" */
#include "programs/checkpoint/ckpt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static int take(void *arg, const char *list, struct weir_err *err)
{
    (void)err;
    weir_str_addf(arg, "%s;", list);
    return strstr(list, "BAD") ? weir_refuse(err, WEIR_EUSAGE, "BAD: unknown") : 0;
}

static int end(void *arg, struct weir_err *err)
{
    (void)err;
    weir_str_addf(arg, "end");
    return 0;
}

/* What the sink was told, or the error. */
static void reads(const char *text, size_t len, const char *want)
{
    struct weir_str said = { 0 };
    const struct weir_script_sink sink = { .directives = take, .run = end, .arg = &said };
    struct weir_err err = WEIR_ERR_INIT;
    int rc = ckpt_read_config(text, len, "x.rc", &sink, &err);

    assert_string_equal(rc < 0 ? err.text : weir_str_text(&said), want);
    weir_str_free(&said);
}

#define READS(text, want) reads(text, sizeof(text) - 1, want)

static void lines_become_directives(void **state)
{
    (void)state;
    READS("", "end");
    READS("NX: 4\nNY:8 # eight\r\n\n# only words\n  LM :\t137", "NX=4;NY=8;LM=137;end");
    READS("SPLIT_FILE: .true.\nA: b:c\n", "SPLIT_FILE=.true.;A=b:c;end");
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    READS("NX: 4\nNY 8\n", "x.rc:2: NY 8: a line has the form 'KEY: value'");
    READS("NX:   # four\n", "x.rc:1: NX:: the value is missing");
    READS("\n: 4\n", "x.rc:2: : 4: the key is missing");
    READS("NX: 4\n\nBAD: 1\n", "x.rc:3: BAD: unknown");
    READS("NX: 4\nN\0: 1\n", "x.rc:2: a NUL byte; this is not a text file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_directives),
        cmocka_unit_test(bad_lines_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
