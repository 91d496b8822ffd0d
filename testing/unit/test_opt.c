/* SPDX-License-Identifier: BSD-3-Clause */
/* test_opt.c - option rows: defaults, values of every type, old spellings, the self-check */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "optcheck.h"
#include "opttable.h"

static int setup(void **state)
{
    struct table *t = malloc(sizeof(*t));

    *state = t;
    return t == NULL ? -1 : table_open(t);
}

static int teardown(void **state)
{
    table_close(*state);
    free(*state);
    return 0;
}

static void sets(struct table *t, const char *name, const char *value)
{
    if (weir_opts_set(&t->opts, name, value, &t->err) != 0)
        fail_msg("%s=%s: %s", name, value != NULL ? value : "(none)", t->err.text);
}

/* Setting is refused, as the user's mistake, and the message has the words in it. */
static void refuses(struct table *t, const char *name, const char *value, const char *words)
{
    t->err = (struct weir_err)WEIR_ERR_INIT;
    assert_int_equal(weir_opts_set(&t->opts, name, value, &t->err), -1);
    assert_int_equal(t->err.code, WEIR_EUSAGE);
    if (strstr(t->err.text, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, t->err.text);
    assert_null(strpbrk(t->err.text, "\n\r\x1b"));
}

static void defaults_are_parsed_as_if_typed(void **state)
{
    struct table *t = *state;

    assert_int_equal(t->m.block, 1 << 20);
    assert_int_equal(t->m.xfer, 256 << 10);
    assert_int_equal(t->m.repetitions, 1);
    assert_int_equal(t->m.seed, 0);
    assert_int_equal(t->m.verbose, 0);
    assert_false(t->m.collective);
    assert_string_equal(t->m.api, "POSIX");
    assert_string_equal(t->m.packet, "timestamp");
    assert_null(t->m.file);
    assert_int_equal(t->n_notes, 0);
}

static void defaults_put_back_what_was_set(void **state)
{
    struct table *t = *state;

    sets(t, "blockSize", "4k");
    sets(t, "testFile", "x");
    sets(t, "collective", NULL);
    assert_int_equal(weir_opts_defaults(&t->opts, &t->err), 0);
    assert_int_equal(t->m.block, 1 << 20);
    assert_null(t->m.file);
    assert_false(t->m.collective);
}

static void a_flag_takes_numbers_and_words(void **state)
{
    static const struct {
        const char *text;
        bool on;
    } cases[] = { { "1", true },   { "0", false },   { "2", true },
                  { "00", false }, { "010", true },  { "yes", true },
                  { "No", false }, { "TRUE", true }, { "false", false },
                  { "on", true },  { "oFF", false }, { "99999999999999999999999", true },
                  { ".True.", true }, { ".FALSE.", false }, { "T", true }, { "f", false },
                  { ".t.", true }, { ".F.", false }, { "y", true }, { "N", false } };
    struct table *t = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        t->m.fsync = !cases[i].on;
        sets(t, "fsync", cases[i].text);
        assert_int_equal(t->m.fsync, cases[i].on);
    }
    sets(t, "fsync", "0");
    sets(t, "fsync", NULL);
    assert_true(t->m.fsync);
    sets(t, "fsync", NULL);
    assert_true(t->m.fsync);
}

static void a_flag_refuses_anything_else(void **state)
{
    static const char *const bad[] = { "-1", "maybe", "1x", "", " ", "ye", "0x1", "1k", "+1" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(*state, "fsync", bad[i], "option fsync: '");
}

static void a_count_adds_up_and_can_be_set(void **state)
{
    struct table *t = *state;

    sets(t, "-z", NULL);
    sets(t, "-z", NULL);
    assert_int_equal(t->m.shuffle, 2);
    sets(t, "randomOffset", "7");
    assert_int_equal(t->m.shuffle, 7);
    refuses(t, "randomOffset", "-1", "-1");
    refuses(t, "randomOffset", "yes", "'yes' is not a whole number");
    assert_int_equal(t->m.shuffle, 7);
}

static void a_count_stops_at_its_largest_value(void **state)
{
    struct table *t = *state;

    for (int i = 0; i < 9; i++)
        sets(t, "-v", NULL);
    assert_int_equal(t->m.verbose, 5);
    sets(t, "verbose", "-1");
    assert_int_equal(t->m.verbose, -1);
    sets(t, "randomOffset", "2147483647");
    sets(t, "-z", NULL);
    assert_int_equal(t->m.shuffle, INT_MAX);
}

static void an_int_keeps_to_its_type_and_range(void **state)
{
    struct table *t = *state;

    sets(t, "-G", "-2147483648");
    assert_int_equal(t->m.seed, INT_MIN);
    sets(t, "-G", "1k");
    assert_int_equal(t->m.seed, 1024);
    refuses(t, "-G", "2147483648", "option -G (setTimeStampSignature): ");
    refuses(t, "-G", "-2147483649", "-2147483648");
    sets(t, "narrow", "2");
    sets(t, "narrow", "9");
    refuses(t, "narrow", "1", "1");
    refuses(t, "narrow", "10", "10");
    assert_int_equal(t->m.narrow, 9);
}

static void a_size_keeps_to_its_range(void **state)
{
    struct table *t = *state;

    sets(t, "transferSize", "9223372036854775807");
    assert_true(t->m.xfer == INT64_MAX);
    refuses(t, "transferSize", "0", "option transferSize: ");
    refuses(t, "transferSize", "9223372036854775808", "9223372036854775808");
    refuses(t, "transferSize", "1.5m", "'1.5m' is not a whole number with an optional suffix");
    refuses(t, "-t", "16x", "option -t (transferSize): '16x'");
    refuses(t, "-t", "", "option -t (transferSize): ''");
    refuses(t, "--transfer-size", "0x10", "option --transfer-size (transferSize): '0x10'");
    assert_true(t->m.xfer == INT64_MAX);
}

static void a_choice_is_stored_as_the_table_writes_it(void **state)
{
    struct table *t = *state;

    sets(t, "datapackettype", "OFFSET");
    assert_string_equal(t->m.packet, "offset");
    refuses(t, "dataPacketType", "x", "'x' is not one of: timestamp, offset, random");
    refuses(t, "dataPacketType", "", "'' is not one of: timestamp, offset, random");
    assert_string_equal(t->m.packet, "offset");
}

static void a_value_that_is_missing_is_named(void **state)
{
    refuses(*state, "-b", NULL, "option -b needs a value (SIZE)");
    refuses(*state, "testFile", NULL, "option testFile needs a value (FILE)");
    refuses(*state, "-J", NULL, "option -J needs a value (N)");
}

static void a_low_value_is_raised_with_one_note(void **state)
{
    struct table *t = *state;

    sets(t, "-i", "0");
    assert_int_equal(t->m.repetitions, 1);
    assert_string_equal(weir_str_text(&t->notes),
                        "option -i (repetitions): value 0 is too small, using 1\n");
    sets(t, "repetitions", "-3");
    assert_int_equal(t->m.repetitions, 1);
    assert_int_equal(t->n_notes, 2);
    refuses(t, "-i", "2147483648", "2147483648");
    sets(t, "-i", "1");
    assert_int_equal(t->n_notes, 2);
}

static void a_real_is_a_decimal_or_a_whole_number(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = { { "0.5", 0.5 }, { ".5", 0.5 }, { "10", 10 }, { "1e-3", 1e-3 }, { "2.", 2 } };
    static const char *const bad[] = { "x", "0.5s", "0,5", "nan", "inf", "0x1.8p1", "1e", "" };
    struct table *t = *state;

    assert_true(t->m.wait == 0.25);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        sets(t, "--wait", good[i].text);
        assert_true(t->m.wait == good[i].value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(t, "--wait", bad[i], "option --wait: '");
    refuses(t, "--wait", "100.5", "'100.5' is out of range: it must be from 0 to 100");
    sets(t, "--wait", "-0.5");
    assert_true(t->m.wait == 0);
    assert_string_equal(weir_str_text(&t->notes),
                        "option --wait: value -0.5 is too small, using 0\n");
}

static void a_name_matches_in_every_spelling(void **state)
{
    static const char *const names[] = { "blockSize",    "BLOCKSIZE",   "block-size",
                                         "--block-size", "--blocksize", "-blockSize",
                                         "-b",           "--Block-Size" };
    struct table *t = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        t->m.block = 0;
        sets(t, names[i], "8k");
        assert_int_equal(t->m.block, 8192);
    }
    sets(t, "REORDERTASKS", "1");
    assert_true(t->m.reorder);
}

static void a_letter_keeps_its_case_and_needs_its_dash(void **state)
{
    struct table *t = *state;

    sets(t, "-C", "1");
    assert_true(t->m.reorder);
    assert_false(t->m.collective);
    refuses(t, "b", "4k", "unknown option 'b'");
    refuses(t, "--b", "4k", "unknown option '--b'");
    refuses(t, "-x", "4k", "unknown option '-x'");
}

static void an_option_of_two_tables_is_set_in_both(void **state)
{
    static const char *const names[] = { "posix.odirect", "--posix.odirect", "POSIX.ODirect" };
    struct table *t = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        t->p.odirect = t->x.odirect = false;
        sets(t, names[i], "1");
        assert_true(t->p.odirect);
        assert_true(t->x.odirect);
    }
    sets(t, "posix.stripesize", "1m");
    assert_int_equal(t->p.stripe, 1 << 20);
    refuses(t, "stripeSize", "1m", "did you mean 'posix.stripeSize'?");
    refuses(t, "posix.", "1", "unknown option 'posix.'");
}

static void an_unknown_name_is_told_its_neighbour(void **state)
{
    refuses(*state, "--blokSize", "4k",
            "unknown option '--blokSize' (did you mean '--blockSize'?)");
    refuses(*state, "blokSize", "4k", "(did you mean 'blockSize'?)");
    refuses(*state, "odirect", "1", "(did you mean 'posix.odirect'?)");
    refuses(*state, "entirelyDifferent", "1", "unknown option 'entirelyDifferent'");
    assert_null(strstr(((struct table *)*state)->err.text, "did you mean"));
    refuses(*state, "", "1", "unknown option ''");
    refuses(*state, "-", "1", "unknown option '-'");
    refuses(*state, "---", NULL, "unknown option '---'");
}

static void an_old_flag_becomes_its_directive(void **state)
{
    struct table *t = *state;

    sets(t, "-B", NULL);
    assert_true(t->p.odirect && t->x.odirect);
    assert_string_equal(weir_str_text(&t->notes),
                        "option -B is from IOR 3.x; using --posix.odirect=1\n");
    sets(t, "useO_DIRECT", "0");
    assert_false(t->p.odirect || t->x.odirect);
    assert_int_equal(t->n_notes, 2);
    refuses(t, "useO_DIRECT", "perhaps", "option useO_DIRECT: 'perhaps'");
}

static void an_old_option_passes_its_value_on(void **state)
{
    struct table *t = *state;

    sets(t, "-J", "64");
    assert_int_equal(t->p.stripe, 64);
    assert_int_equal(t->p.locks, 64);
    assert_string_equal(weir_str_text(&t->notes),
                        "option -J is from IOR 3.x; using posix.stripe=64,posix.locks=64\n");
    refuses(t, "-J", "1,api=EVIL",
            "option -J: option posix.stripe (posix.stripeSize): '1,api=EVIL'");
    assert_string_equal(t->m.api, "POSIX");
    refuses(t, "-n", "1", "option -n: unknown option 'hdf5.noFill'");
    assert_int_equal(t->n_notes, 1);
}

static void a_gone_option_says_what_became_of_it(void **state)
{
    refuses(*state, "-P", "1", "option -P: shared file pointers are not supported any more");
    refuses(*state, "usesharedfilepointer", NULL, "option usesharedfilepointer: shared");
}

static void an_option_of_the_command_line_is_no_key(void **state)
{
    refuses(*state, "--help", "x", "option --help is for the command line only");
    refuses(*state, "-h", NULL, "option -h is for the");
    refuses(*state, "-O", "fsync=1", "option -O is not allowed in a list");
}

static void a_long_or_wild_text_stays_one_short_line(void **state)
{
    char *huge = test_malloc((1 << 20) + 1);

    memset(huge, '9', 1 << 20);
    huge[1 << 20] = '\0';
    refuses(*state, "-b", huge, "9999...' is not a whole number");
    assert_true(strlen(((struct table *)*state)->err.text) < 400);
    refuses(*state, huge, "1", "9999...'");
    test_free(huge);
    refuses(*state, "-b", "\x1b[2J\n\x80", "'\\x1b[2J\\x0a\\x80'");
    refuses(*state, "a\tb\x7f", "1", "'a\\x09b\\x7f'");
    refuses(*state, "-b",
            "gr\xc3\xb6\xc3\x9f"
            "e",
            "'gr\xc3\xb6\xc3\x9f"
            "e'");
    refuses(*state, "-b", "\xc2\x9b", "'\\xc2\\x9b'");
}

static void a_string_of_any_length_is_kept(void **state)
{
    struct table *t = *state;
    char *huge = test_malloc((1 << 20) + 1);

    memset(huge, 'x', 1 << 20);
    huge[1 << 20] = '\0';
    sets(t, "testFile", huge);
    assert_ptr_not_equal(t->m.file, huge);
    assert_string_equal(t->m.file, huge);
    test_free(huge);
}

static void a_value_is_shown_as_it_would_be_typed(void **state)
{
    static const char *const names[] = {
        "blockSize", "1048576",  "api", "POSIX", "fsync", "1", "setTimeStampSignature",
        "-7",        "testFile", ""
    };
    struct table *t = *state;
    struct weir_str s = { 0 };

    sets(t, "fsync", "yes");
    sets(t, "-G", "-7");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i += 2) {
        const struct weir_opt *row = main_rows;

        while (row->key == NULL || strcmp(row->key, names[i]) != 0)
            row++;
        weir_str_clear(&s);
        weir_opt_show(row, &t->m, &s);
        assert_string_equal(weir_str_text(&s), names[i + 1]);
    }
    weir_str_free(&s);
}

static void there_is_a_limit_of_tables(void **state)
{
    struct table *t = *state;
    struct weir_optset set = t->opts.set[1];

    while (t->opts.n < WEIR_OPTSETS)
        assert_int_equal(weir_opts_add(&t->opts, &set, &t->err), 0);
    assert_int_equal(weir_opts_add(&t->opts, &set, &t->err), -1);
    assert_int_equal(t->err.code, WEIR_EBUG);
    assert_int_equal(t->opts.n, WEIR_OPTSETS);
}

static void the_test_tables_pass_the_selfcheck(void **state)
{
    struct table *t = *state;

    if (optcheck(&t->opts, &t->err) != 0)
        fail_msg("%s", t->err.text);
}

struct bad {
    int a;
    int64_t b;
    const char *s;
};

/* A table of these two rows does not pass. */
static void is_found(struct weir_opt one, struct weir_opt two, size_t size, const char *words)
{
    const struct weir_opt rows[] = { one, two, OPT_END };
    struct bad values = { 0 };
    struct weir_opts o = { .n = 0 };
    struct weir_optset set = { .prefix = "t.", .rows = rows, .values = &values, .size = size };
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(weir_opts_add(&o, &set, &err), 0);
    assert_int_equal(optcheck(&o, &err), -1);
    assert_int_equal(err.code, WEIR_EBUG);
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void the_selfcheck_finds_mistakes_of_a_table(void **state)
{
    static const char *const choices[] = { "a", "b", NULL };
    const struct weir_opt good = OPT_INT('a', "alpha", "one", struct bad, a, "1", "N", "Good");
    const size_t size = sizeof(struct bad);

    (void)state;
#define ROW(...) ((struct weir_opt)OPT_INT(__VA_ARGS__))
    is_found(good, ROW('a', "beta", NULL, struct bad, a, "1", "N", "Letter"), size,
             "same name");
    is_found(good, ROW('b', "ALPHA", NULL, struct bad, a, "1", "N", "Name"), size, "same name");
    is_found(good, ROW('b', "beta", "Alpha", struct bad, a, "1", "N", "Key"), size,
             "same name");
    is_found(good, ROW(0, "beta", "x", struct bad, a, "1", "N", "K", .key2 = "ONE"), size,
             "same name");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "1x", "N", "Default"), size,
             "the default");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "9", "N", "D", .max = 8), size,
             "default");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "1", "N", NULL), size, "no help");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "1", "N", ""), size, "no help");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "1", "N", "Ends."), size, "period");
    is_found(good, ROW('b', "beta", NULL, struct bad, a, "1", "N", "R", .min = 9, .max = 8),
             size, "upside");
    is_found(good, ROW('b', "be=ta", NULL, struct bad, a, "1", "N", "E"), size,
             "cannot be typed");
    is_found(good, ROW('=', "beta", NULL, struct bad, a, "1", "N", "E"), size,
             "cannot be typed");
    is_found(good, (struct weir_opt)OPT_STR('s', "str", NULL, struct bad, s, NULL, "S", "S"),
             sizeof(int), "outside");
    is_found(good,
             (struct weir_opt)OPT_STR('s', "str", NULL, struct bad, s, "c", "S", "S",
                                      .choices = choices),
             size, "the default");
    is_found(good, (struct weir_opt) { .type = WEIR_OPT_OLD, .letter = 'x', .help = "Old" },
             size, "directive");
#undef ROW
}

static void tables_that_disagree_about_a_value_are_found(void **state)
{
    static const struct weir_opt rows[] = { OPT_INT(0, "odirect", NULL, struct bad, a, "1", "N",
                                                    "A value here, a flag there"),
                                            OPT_END };
    struct table *t = *state;
    struct bad values = { 0 };
    struct weir_optset set = {
        .prefix = "posix.", .rows = rows, .values = &values, .size = sizeof(values)
    };

    assert_int_equal(weir_opts_add(&t->opts, &set, &t->err), 0);
    assert_int_equal(optcheck(&t->opts, &t->err), -1);
    assert_non_null(strstr(t->err.text, "disagrees"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(defaults_are_parsed_as_if_typed),
        T(a_real_is_a_decimal_or_a_whole_number),
        T(defaults_put_back_what_was_set),
        T(a_flag_takes_numbers_and_words),
        T(a_flag_refuses_anything_else),
        T(a_count_adds_up_and_can_be_set),
        T(a_count_stops_at_its_largest_value),
        T(an_int_keeps_to_its_type_and_range),
        T(a_size_keeps_to_its_range),
        T(a_choice_is_stored_as_the_table_writes_it),
        T(a_value_that_is_missing_is_named),
        T(a_low_value_is_raised_with_one_note),
        T(a_name_matches_in_every_spelling),
        T(a_letter_keeps_its_case_and_needs_its_dash),
        T(an_option_of_two_tables_is_set_in_both),
        T(an_unknown_name_is_told_its_neighbour),
        T(an_old_flag_becomes_its_directive),
        T(an_old_option_passes_its_value_on),
        T(a_gone_option_says_what_became_of_it),
        T(an_option_of_the_command_line_is_no_key),
        T(a_long_or_wild_text_stays_one_short_line),
        T(a_string_of_any_length_is_kept),
        T(a_value_is_shown_as_it_would_be_typed),
        T(there_is_a_limit_of_tables),
        T(the_test_tables_pass_the_selfcheck),
        T(the_selfcheck_finds_mistakes_of_a_table),
        T(tables_that_disagree_about_a_value_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
