/* SPDX-License-Identifier: BSD-3-Clause */
/* test_optargv.c - command lines in IOR's spellings, and lists of directives */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/options/option.h"
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

/* Read a command line from a table with new defaults. words ends with NULL. */
static int parse(struct table *t, const char *const *words)
{
    int argc = 0;

    table_close(t);
    assert_int_equal(table_open(t), 0);
    while (words[argc] != NULL)
        argc++;
    return weir_opts_argv(&t->opts, argc, (char *const *)words, &t->err);
}

static void accept_words(struct table *t, const char *const *words)
{
    if (parse(t, words) != 0)
        fail_msg("%s", t->err.text);
}

static void refuse_words(struct table *t, const char *message, const char *const *words)
{
    assert_int_equal(parse(t, words), -1);
    assert_int_equal(t->err.code, WEIR_EUSAGE);
    assert_string_equal(t->err.text, message);
}

#define WORDS(...) ((const char *const[]) { "ior", __VA_ARGS__, NULL })
#define ACCEPT(...) accept_words(t, WORDS(__VA_ARGS__))
#define REFUSE(message, ...) refuse_words(t, message, WORDS(__VA_ARGS__))

static void a_value_stands_in_every_place(void **state)
{
    struct table *t = *state;

    ACCEPT("-b", "4k");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("-b4k");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("-b=4K");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("-b 4KiB ");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("-b ", "4kb");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("--block-size=4k");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("--BlockSize", "4k");
    assert_int_equal(t->m.block, 4096);
    ACCEPT("--block-size 4k");
    assert_int_equal(t->m.block, 4096);
}

static void an_attached_value_is_consumed_whole(void **state)
{
    struct table *t = *state;

    ACCEPT("-b4g");
    assert_false(t->m.keep); /* 'g' is a letter of its own, too */
    assert_true(t->m.block == INT64_C(4) << 30);
    ACCEPT("-orwvz=1");
    assert_string_equal(t->m.file, "rwvz=1");
    assert_false(t->m.read_file || t->m.write_file);
    ACCEPT("-o", "/a=b");
    assert_string_equal(t->m.file, "/a=b");
    ACCEPT("-o=/a=b");
    assert_string_equal(t->m.file, "/a=b");
    ACCEPT("-o", "-w");
    assert_string_equal(t->m.file, "-w");
    assert_false(t->m.write_file);
    ACCEPT("-G", "-1");
    assert_int_equal(t->m.seed, -1);
    ACCEPT("-i=2");
    assert_int_equal(t->m.repetitions, 2);
    ACCEPT("-o", "");
    assert_string_equal(t->m.file, "");
}

static void letters_of_a_group_are_flags(void **state)
{
    struct table *t = *state;

    ACCEPT("-vvv");
    assert_int_equal(t->m.verbose, 3);
    ACCEPT("-v", "-v");
    assert_int_equal(t->m.verbose, 2);
    ACCEPT("-wrg");
    assert_true(t->m.write_file && t->m.read_file && t->m.keep);
    ACCEPT("-wrb", "8k");
    assert_true(t->m.write_file && t->m.read_file);
    assert_int_equal(t->m.block, 8192);
    ACCEPT("-wrb8k", "-Cge");
    assert_true(t->m.write_file && t->m.read_file && t->m.reorder && t->m.keep && t->m.fsync);
    assert_int_equal(t->m.block, 8192);
    ACCEPT("-wb=8k");
    assert_true(t->m.write_file);
    assert_int_equal(t->m.block, 8192);
}

static void a_dash_between_letters_begins_another_word(void **state)
{
    struct table *t = *state;

    ACCEPT("-w-g");
    assert_true(t->m.write_file && t->m.keep);
    assert_string_equal(weir_str_text(&t->notes), "'-w-g' is read as '-w -g'\n");
    ACCEPT("-wr-b", "8k");
    assert_true(t->m.write_file && t->m.read_file);
    assert_int_equal(t->m.block, 8192);
    ACCEPT("-o-g"); /* a value is consumed whole */
    assert_string_equal(t->m.file, "-g");
    assert_false(t->m.keep);
    assert_int_equal(t->n_notes, 0);
}

static void flags_take_a_value_behind_the_sign(void **state)
{
    struct table *t = *state;

    ACCEPT("-g=1");
    assert_true(t->m.keep);
    ACCEPT("-g", "-g=0");
    assert_false(t->m.keep);
    ACCEPT("-v=4");
    assert_int_equal(t->m.verbose, 4);
    ACCEPT("-wr=yes");
    assert_true(t->m.write_file && t->m.read_file);
    ACCEPT("--collective=off");
    assert_false(t->m.collective);
    ACCEPT("-w", "-w");
    assert_true(t->m.write_file);
    REFUSE("option -g (keepFile): 'x' is neither 0 nor 1, yes, no, true, false, on, off",
           "-g=x");
    REFUSE("'1' is not an option; options start with '-'", "-g", "1");
}

static void words_of_job_scripts_are_read(void **state)
{
    struct table *t = *state;

    ACCEPT("-C ", "-Q 1 ", "--collective ");
    assert_true(t->m.reorder && t->m.collective);
    assert_int_equal(t->m.offset, 1);
    ACCEPT("-Q 7");
    assert_int_equal(t->m.offset, 7);
    ACCEPT("-o  name ");
    assert_string_equal(t->m.file, "name");
    ACCEPT("-Cge", "-Q4", "-Q\t5");
    assert_int_equal(t->m.offset, 5);
}

static void a_list_stands_in_every_place(void **state)
{
    struct table *t = *state;

    ACCEPT("-O", "fsync=1,blockSize=4k");
    assert_true(t->m.fsync);
    assert_int_equal(t->m.block, 4096);
    ACCEPT("-Ofsync=1");
    assert_true(t->m.fsync);
    ACCEPT("-O=fsync=1");
    assert_true(t->m.fsync);
    ACCEPT("-wO", "fsync=1");
    assert_true(t->m.fsync && t->m.write_file);
    ACCEPT("--options=fsync=1", "-O", "--posix.odirect=1,-b=16k");
    assert_true(t->m.fsync && t->p.odirect && t->x.odirect);
    assert_int_equal(t->m.block, 16384);
    ACCEPT("-O", "posix.odirect=1");
    assert_true(t->p.odirect);
    REFUSE("option -O needs a value (key=value[,key=value...])", "-O");
    REFUSE("option -O is not allowed in a list of options", "-O", "-O=fsync=1");
}

static void check_lengths(const struct table *t, const char *expected)
{
    struct weir_str text = { 0 };

    weir_opt_show(weir_opt_row_of(main_rows, "lengths"), &t->m, &text);
    assert_string_equal(weir_str_text(&text), expected);
    weir_str_free(&text);
}

static void numbers_of_a_list_are_words_of_their_own(void **state)
{
    struct table *t = *state;

    ACCEPT("-c");
    check_lengths(t, "8");
    ACCEPT("--lengths", "2", "3k", "4", "-c");
    check_lengths(t, "2,3072,4");
    assert_true(t->m.collective);
    ACCEPT("--lengths", "2", "--lengths", "5,6 7", "8");
    check_lengths(t, "5,6,7,8");
    ACCEPT("--lengths=2,3", "-c");
    check_lengths(t, "2,3");
    ACCEPT("-O", "lengths=\"4 5\",collective=1");
    check_lengths(t, "4,5");
    REFUSE("option --lengths needs a value (N)", "--lengths", "-c");
    REFUSE("option --lengths needs a value (N)", "--lengths");
    REFUSE("option --lengths: a number is missing", "--lengths", ",");
    REFUSE("option --lengths: '0' is out of range: it must be from 1 to 2^63-1", "--lengths", "4",
           "0");
    REFUSE("option --lengths: '-3' is out of range: it must be from 1 to 2^63-1", "--lengths", "4",
           "-3");
    REFUSE("option --lengths: 'x' is not a whole number with an optional suffix k, m, g, t or p",
           "--lengths", "4", "x");
    REFUSE("'5' is not an option; options start with '-'", "--lengths=4", "5");
    REFUSE("option --lengths: more than 32 numbers", "--lengths",
           "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32",
           "33");
}

static void long_names_match_in_any_case(void **state)
{
    struct table *t = *state;

    ACCEPT("--COLLECTIVE", "--posix.ODIRECT", "--datapackettype",
           "O"
           "ffset");
    assert_true(t->m.collective && t->p.odirect);
    assert_string_equal(t->m.packet, "offset");
    ACCEPT("--setTimeStampSignature=12");
    assert_int_equal(t->m.seed, 12);
}

static void help_takes_only_an_attached_value(void **state)
{
    struct table *t = *state;

    ACCEPT("--help");
    assert_string_equal(t->m.help, "");
    ACCEPT("-h", "-w");
    assert_string_equal(t->m.help, "");
    assert_true(t->m.write_file);
    ACCEPT("--help=posix");
    assert_string_equal(t->m.help, "posix");
    ACCEPT("-h=posix");
    assert_string_equal(t->m.help, "posix");
    ACCEPT("-hv");
    assert_string_equal(t->m.help, "");
    assert_int_equal(t->m.verbose, 1);
    ACCEPT("-w");
    assert_null(t->m.help);
    REFUSE("'posix' is not an option; options start with '-'", "--help", "posix");
}

struct table_words {
    const char *prefix;
    int64_t random;
    bool headers, direct;
};

static const struct weir_opt word_rows[] = {
    OPT_STR('p', "profiles", NULL, struct table_words, prefix, NULL, "PREFIX", "Tables",
            .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT),
    OPT_SIZE('b', "random", NULL, struct table_words, random, NULL, "SIZE", "At random", .min = 1,
             .max = INT64_MAX, .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT),
    OPT_FLAG('H', "headers", NULL, struct table_words, headers, "Headings"),
    OPT_FLAG(0, "around.cache", NULL, struct table_words, direct, "Go around the page cache"),
    { .type = WEIR_OPT_ALIAS,
      .letter = 'D',
      .name = "directio",
      .def = "around.cache=1",
      .help = "The same" },
    OPT_END
};

/* Read a command line into *w. words ends with NULL. */
static int read_words(struct weir_arena *arena, struct table_words *w, const char *const *words)
{
    struct weir_opts opts = { .arena = arena };
    struct weir_optset set = { .prefix = "", .rows = word_rows, .values = w, .size = sizeof(*w) };
    int argc = 0;

    while (words[argc])
        argc++;
    assert_int_equal(weir_opts_add(&opts, &set, NULL), 0);
    assert_int_equal(optcheck(&opts, NULL), 0);
    assert_int_equal(weir_opts_defaults(&opts, NULL), 0);
    return weir_opts_argv(&opts, argc, (char *const *)words, NULL);
}

#define LINE(...) read_words(&arena, &w, (const char *const[]) { "mib", __VA_ARGS__, NULL })

static void a_value_that_may_be_left_out_is_the_next_word(void **state)
{
    struct weir_arena arena = { 0 };
    struct table_words w;

    (void)state;
    assert_int_equal(LINE("-H", "-p"), 0);
    assert_string_equal(w.prefix, "");
    assert_int_equal(LINE("-p", "-H"), 0);
    assert_string_equal(w.prefix, "");
    assert_true(w.headers);
    assert_int_equal(LINE("-p", "here", "-H"), 0);
    assert_string_equal(w.prefix, "here");
    assert_int_equal(LINE("-Hphere"), 0);
    assert_string_equal(w.prefix, "here");
    assert_int_equal(LINE("--profiles", "here"), 0);
    assert_string_equal(w.prefix, "here");
    assert_int_equal(LINE("--profiles=-here", "-H"), 0);
    assert_string_equal(w.prefix, "-here");
    assert_int_equal(LINE("--profiles", "--headers"), 0);
    assert_string_equal(w.prefix, "");
    assert_int_equal(LINE("-H"), 0);
    assert_null(w.prefix);
    assert_int_equal(LINE("-H", "here"), -1);
    weir_arena_free(&arena);
}

static void a_number_that_may_be_left_out_is_one(void **state)
{
    struct weir_arena arena = { 0 };
    struct table_words w;

    (void)state;
    assert_int_equal(LINE("-H"), 0);
    assert_int_equal(w.random, 0);
    assert_int_equal(LINE("-b", "-H"), 0);
    assert_int_equal(w.random, 1);
    assert_int_equal(LINE("-b4k"), 0);
    assert_int_equal(w.random, 4096);
    assert_int_equal(LINE("--random", "8"), 0);
    assert_int_equal(w.random, 8);
    assert_int_equal(LINE("-b0"), -1);
    weir_arena_free(&arena);
}

static void another_spelling_is_as_good(void **state)
{
    struct weir_arena arena = { 0 };
    struct table_words w;

    (void)state;
    assert_int_equal(LINE("-HD"), 0);
    assert_true(w.headers && w.direct);
    assert_int_equal(LINE("--around.cache", "--directio=0"), 0);
    assert_false(w.direct);
    weir_arena_free(&arena);
}

static void a_missing_value_is_an_error(void **state)
{
    struct table *t = *state;

    REFUSE("option -b needs a value (SIZE)", "-b");
    REFUSE("option -b needs a value (SIZE)", "-b  ");
    REFUSE("option -b needs a value after '='", "-b=");
    REFUSE("option -b needs a value after '='", "-wb=");
    REFUSE("option -w needs a value after '='", "-w=");
    REFUSE("option --block-size needs a value (SIZE)", "--block-size");
    REFUSE("option --block-size needs a value after '='", "--block-size=");
    REFUSE("option --collective needs a value after '='", "--collective=");
    REFUSE("option -b (blockSize): '-t' is not a whole number with an optional suffix k, m, g, "
           "t or p",
           "-b", "-t", "4k");
    REFUSE("option -b (blockSize): '' is not a whole number with an optional suffix k, m, g, t "
           "or p",
           "-b", "");
}

static void an_unknown_option_is_named(void **state)
{
    struct table *t = *state;

    REFUSE("unknown letter 'q' in '-wq'", "-wq");
    REFUSE("unknown letter '9' in '-w9'", "-w9");
    REFUSE("unknown letter '-' in '-w-'", "-w-");
    REFUSE("unknown letter '-' in '-w-q'", "-w-q");
    REFUSE("unknown letter '-' in '-w--keep'", "-w--keep");
    REFUSE("unknown option '-q'", "-q");
    REFUSE("unknown option '-q=1'", "-q=1");
    REFUSE("unknown option '-'", "-");
    REFUSE("unknown option '-=x'", "-=x");
    REFUSE("unknown option '--'", "--");
    REFUSE("unknown option '--'", "--=x");
    REFUSE("unknown option '--b'", "--b", "4k");
    REFUSE("unknown option '--COLECTIVE' (did you mean '--collective'?)", "--COLECTIVE");
    REFUSE("unknown option '--block-sise' (did you mean '--block-size'?)", "--block-sise=4k");
    REFUSE("unknown letter 'p' in '-posix.odirect' (did you mean '--posix.odirect'?)",
           "-posix.odirect");
    REFUSE("unknown letter 'f' in '-fsync' (did you mean '--fsync'?)", "-fsync");
    REFUSE("unknown option '-\xc3\xb6'", "-\xc3\xb6");
    REFUSE("unknown option '-\\xff'", "-\xff");
    REFUSE("unknown letter '\\x1b' in '-w\\x1b[2J'", "-w\x1b[2J");
}

static void a_word_without_dash_is_an_error(void **state)
{
    struct table *t = *state;

    REFUSE("'foo' is not an option; options start with '-'", "-w", "foo", "-q");
    REFUSE("'' is not an option; options start with '-'", "");
    REFUSE("' -w' is not an option; options start with '-'", " -w");
}

static void a_program_without_options_is_fine(void **state)
{
    struct table *t = *state;
    char *none[] = { NULL };

    accept_words(t, (const char *const[]) { "ior", NULL });
    assert_int_equal(weir_opts_argv(&t->opts, 0, none, &t->err), 0);
}

static void old_and_gone_options_are_told(void **state)
{
    struct table *t = *state;

    ACCEPT("-wB");
    assert_true(t->p.odirect && t->m.write_file);
    assert_string_equal(weir_str_text(&t->notes),
                        "option -B is from IOR 3.x; using --posix.odirect=1\n");
    ACCEPT("-J64", "-w");
    assert_int_equal(t->p.stripe, 64);
    ACCEPT("-J", "65");
    assert_int_equal(t->p.locks, 65);
    REFUSE("option -P: shared file pointers are not supported any more", "-P4k");
    REFUSE("option -P: shared file pointers are not supported any more", "-wP");
    REFUSE("option -J needs a value (N)", "-J");
}

static int lists(struct table *t, const char *list)
{
    table_close(t);
    assert_int_equal(table_open(t), 0);
    return weir_opts_directives(&t->opts, list, &t->err);
}

static void blanks_and_comments_in_a_list_are_dropped(void **state)
{
    struct table *t = *state;

    assert_int_equal(lists(t, "  fsync = 1 ,\tblockSize=4k\t# , nonsense"), 0);
    assert_true(t->m.fsync);
    assert_int_equal(t->m.block, 4096);
    assert_int_equal(lists(t, "testFile=a#b"), 0);
    assert_string_equal(t->m.file, "a");
    assert_int_equal(lists(t, "testFile=a=b==c"), 0);
    assert_string_equal(t->m.file, "a=b==c");
}

static void a_quoted_value_may_hold_anything(void **state)
{
    struct table *t = *state;

    assert_int_equal(lists(t, "testFile = \"a, b # c\" , fsync=1 # end"), 0);
    assert_string_equal(t->m.file, "a, b # c");
    assert_true(t->m.fsync);
    assert_int_equal(lists(t, "testFile=\"\""), 0);
    assert_string_equal(t->m.file, "");
    assert_int_equal(lists(t, "testFile=a\"b"), 0);
    assert_string_equal(t->m.file, "a\"b");
}

static void a_bad_list_is_refused(void **state)
{
    static const char *const cases[][2] = {
        { "", "an option is missing" },
        { "   ", "an option is missing" },
        { "# only a comment", "an option is missing" },
        { "fsync=1,", "an option is missing" },
        { ",fsync=1", "an option is missing" },
        { "fsync=1,,collective=1", "an option is missing" },
        { "fsync=1, # x", "an option is missing" },
        { "-w", "'-w' needs '=value' here, as in '-w=1'" },
        { "fsync=1,collective", "'collective' needs '=value'" },
        { "fsync # =1", "'fsync' needs '=value'" },
        { "fsync=", "'fsync=' needs a value after '='" },
        { "fsync= # 1", "'fsync=' needs a value" },
        { "=1", "'=1' has no option name" },
        { "testFile=a b", "has a blank in it" },
        { "testFile=\"a", "no closing quotation mark" },
        { "testFile=\"", "no closing quotation mark" },
        { "testFile=\"a\"b", "has text after" },
        { "testFile=\"a\" \"b\"", "has text after" },
        { "file size=1", "unknown option 'file size'" },
        { "nokey=1", "unknown option 'nokey'" },
        { "blockSize=x", "option blockSize: 'x' is not" },
    };
    struct table *t = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (lists(t, cases[i][0]) != -1)
            fail_msg("'%s' was accepted", cases[i][0]);
        assert_int_equal(t->err.code, WEIR_EUSAGE);
        if (strstr(t->err.text, cases[i][1]) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i][1], t->err.text);
    }
}

static void the_rest_of_a_value_with_a_comma_has_a_hint(void **state)
{
    static const char *const cases[][2] = {
        { "testFile=a:b=2,dedupe=3",
          "unknown option 'dedupe'; if it belongs to testFile, put double quotes around that value: "
          "testFile=\"a:b=2,...\"" },
        { "-o=read:60, write:25, list:3",
          "'write:25' needs '=value' here, as in 'write:25=1'; if it belongs to -o, put double quotes "
          "around that value: -o=\"read:60,...\"" },
        { "blockSize=1k,nokey=1", "unknown option 'nokey'" },
        { "testFile=a,blockSize=x",
          "option blockSize: 'x' is not a whole number with an optional suffix k, m, g, t or p" },
        { "testFile=a,", "an option is missing: there is nothing before or after a comma" },
    };
    struct table *t = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(lists(t, cases[i][0]), -1);
        assert_string_equal(t->err.text, cases[i][1]);
    }
}

static void the_last_of_a_list_wins(void **state)
{
    struct table *t = *state;

    assert_int_equal(lists(t, "blockSize=1k,blockSize=2k,-b=3k"), 0);
    assert_int_equal(t->m.block, 3072);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_value_stands_in_every_place),    T(an_attached_value_is_consumed_whole),
        T(letters_of_a_group_are_flags),     T(a_dash_between_letters_begins_another_word),
        T(flags_take_a_value_behind_the_sign),
        T(words_of_job_scripts_are_read),    T(a_list_stands_in_every_place),
        T(long_names_match_in_any_case),     T(help_takes_only_an_attached_value),
        T(a_missing_value_is_an_error),      T(an_unknown_option_is_named),
        T(a_word_without_dash_is_an_error),  T(a_program_without_options_is_fine),
        T(old_and_gone_options_are_told),    T(blanks_and_comments_in_a_list_are_dropped),
        T(a_quoted_value_may_hold_anything), T(a_bad_list_is_refused),
        T(the_rest_of_a_value_with_a_comma_has_a_hint),
        T(the_last_of_a_list_wins),          T(numbers_of_a_list_are_words_of_their_own),
        T(a_value_that_may_be_left_out_is_the_next_word),
        T(a_number_that_may_be_left_out_is_one),
        T(another_spelling_is_as_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
