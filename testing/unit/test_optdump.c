/* SPDX-License-Identifier: BSD-3-Clause */
/* test_optdump.c - option rows as help, man page, words and JSON */
#include "config.h"
#include "base/optdump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "opttable.h"

struct dump {
    struct table t;
    struct weir_str out;
};

static int setup(void **state)
{
    struct dump *d = calloc(1, sizeof(*d));

    *state = d;
    return d == NULL ? -1 : table_open(&d->t);
}

static int teardown(void **state)
{
    struct dump *d = *state;

    table_close(&d->t);
    weir_str_free(&d->out);
    free(d);
    return 0;
}

static const char *help(struct dump *d, const char *only)
{
    weir_str_clear(&d->out);
    if (weir_optdump_help(&d->t.opts, "ior", "Measures bandwidth", only, &d->out, &d->t.err) !=
        0)
        fail_msg("%s", d->t.err.text);
    return weir_str_text(&d->out);
}

static void has(const struct dump *d, const char *words)
{
    if (strstr(weir_str_text(&d->out), words) == NULL)
        fail_msg("'%s' is not in:\n%s", words, weir_str_text(&d->out));
}

static void has_not(const struct dump *d, const char *words)
{
    if (strstr(weir_str_text(&d->out), words) != NULL)
        fail_msg("'%s' is in:\n%s", words, weir_str_text(&d->out));
}

static void help_names_every_option_with_its_value(void **state)
{
    struct dump *d = *state;

    help(d, NULL);
    has(d, "Synopsis ior [OPTION]...\n\nMeasures bandwidth\n\nFlags\n");
    has(d, "\n  -c, --collective              Collective I/O\n");
    has(d, "\n  -g                            Keep the files\n");
    has(d, "\n  -b, --block-size=1048576      Contiguous bytes each task writes\n");
    has(d, "\n  -o, --file=FILE               Name of the test file\n");
    has(d, "\n  -h, --help[=PART]             Show this text\n");
    has(d, "\n  -O interIODelay=0             Sleep after every transfer\n");
    has(d,
        "\n  -l, --dataPacketType=timestamp What the data are (timestamp, offset, random)\n");
    has(d, "\n  -O, --options=KEY=VALUE       Options by key\n");
    has(d, "\n\n\nModule POSIX\n\nFlags\n  --posix.odirect               Go around");
    has_not(d, "3.x");
    has_not(d, "-P");
    has_not(d, "useO_DIRECT");
}

static void help_shows_what_was_typed_before(void **state)
{
    struct dump *d = *state;

    assert_int_equal(weir_opts_set(&d->t.opts, "-b", "4k", &d->t.err), 0);
    assert_int_equal(weir_opts_set(&d->t.opts, "-v", NULL, &d->t.err), 0);
    help(d, NULL);
    has(d, "\n  -b, --block-size=4096         Contig");
    has(d, "\n  -v, --verbose (1)             Say more\n");
}

static void flags_come_before_arguments(void **state)
{
    struct dump *d = *state;
    const char *text = help(d, NULL), *flags = strstr(text, "\nFlags\n");
    const char *arguments = strstr(text, "\nOptional arguments\n"),
               *module = strstr(text, "\nModule ");

    assert_true(flags != NULL && arguments != NULL && module != NULL);
    assert_true(flags < strstr(text, "--collective") && strstr(text, "--random") < arguments);
    assert_true(arguments < strstr(text, "--block-size") &&
                strstr(text, "--block-size") < module);
}

static void the_main_tables_are_one_list(void **state)
{
    struct dump *d = *state;
    struct weir_optset set = d->t.opts.set[1];
    const char *text;

    set.title = NULL;
    set.prefix = "more.";
    assert_int_equal(weir_opts_add(&d->t.opts, &set, &d->t.err), 0);
    text = help(d, NULL);
    has(d, "Shuffle the offsets\n  --more.odirect ");
    assert_true(strstr(text, "--more.locks") < strstr(text, "\nModule "));
    text = strstr(text, "\nOptional arguments\n") + 1;
    assert_true(strstr(text, "\nOptional arguments\n") > strstr(text, "\nModule "));
}

static void help_of_one_part_is_only_that(void **state)
{
    static const char *const names[] = { "posix", "POSIX", "Module POSIX", "module posix" };
    struct dump *d = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        help(d, names[i]);
        has(d, "--posix.odirect");
        has_not(d, "--block-size");
    }
    help(d, "Module EXTRA");
    has(d, "here, too");
    has_not(d, "--posix.locks");
    help(d, "");
    has(d, "--block-size");
}

static void an_unknown_part_is_refused_with_the_known_ones(void **state)
{
    struct dump *d = *state;

    assert_int_equal(weir_optdump_help(&d->t.opts, "ior", "x", "pos", &d->out, &d->t.err), -1);
    assert_int_equal(d->t.err.code, WEIR_EUSAGE);
    assert_string_equal(d->t.err.text, "there is no help for 'pos'; there is for: posix");
    assert_int_equal(d->out.len, 0);
}

static void the_man_page_has_every_spelling(void **state)
{
    struct dump *d = *state;

    weir_optdump_man(&d->t.opts, &d->out);
    has(d, ".SH OPTIONS\n.TP\n\\fB\\-c\\fR, \\fB\\-\\-collective\\fR\nCollective I/O.\n");
    has(d, ".TP\n\\fB\\-b\\fR \\fISIZE\\fR, \\fB\\-\\-block\\-size\\fR=\\fISIZE\\fR, "
           "\\fB\\-\\-blockSize\\fR=\\fISIZE\\fR\nContiguous bytes each task writes. Default: "
           "1m.\n");
    has(d, "\\fB\\-\\-narrow\\fR=\\fIN\\fR\nBetween two and nine. Default: 3. From 2 to 9.\n");
    has(d, "Bytes of one I/O call. Default: 256k. At least 1.\n");
    has(d, "Say more. From \\-1 to 5.\n");
    has(d, "One of: timestamp, offset, random.\n");
    has(d, "\\fB\\-h\\fR[=\\fIPART\\fR], \\fB\\-\\-help\\fR[=\\fIPART\\fR]\n");
    has(d, "O_DIRECT.\n");
    has(d, "Refused. shared file pointers");
    has(d, "a \\e and a \\- in it.\n");
    has(d, ".SS Module POSIX\n.TP\n\\fB\\-\\-posix.odirect\\fR\n");
}

static void the_words_are_what_can_be_typed(void **state)
{
    struct dump *d = *state;

    weir_optdump_words(&d->t.opts, &d->out);
    has(d, "-c\n--collective\n-O collective=\n");
    has(d, "\n-b\n--block-size\n-O blockSize=\n");
    has(d, "\n--posix.odirect\n-O posix.odirect=\n");
    has(d, "\n-O interIODelay=\n");
    has(d, "\n-h\n--help\n-O\n--options\n--posix.odirect\n");
    has_not(d, "useO_DIRECT");
    has_not(d, "-P\n");
}

static void the_json_has_a_row_for_every_option(void **state)
{
    struct dump *d = *state;

    weir_optdump_json(&d->t.opts, &d->out);
    assert_int_equal(strncmp(d->out.text, "[\n  {", 5), 0);
    assert_string_equal(d->out.text + d->out.len - 4, "}\n]\n");
    has(d, "{\"table\": null, \"type\": \"size\", \"letter\": \"b\", \"name\": \"block-size\", "
           "\"keys\": [\"blockSize\"], "
           "\"default\": \"1m\", \"min\": -9223372036854775808, \"max\": 9223372036854775807, "
           "\"choices\": null, "
           "\"help\": \"Contiguous bytes each task writes\"},\n");
    has(d, "\"keys\": [\"reorderTasksConstant\", \"reorderTasks\"], \"default\": null, "
           "\"min\": null, ");
    has(d, "\"choices\": [\"timestamp\", \"offset\", \"random\"], ");
    has(d, "\"help\": \"\\\"Format\\\" of the result, a \\\\ and a - in it\"},\n");
    has(d, "{\"table\": \"Module POSIX\", \"type\": \"size\", \"letter\": null, \"name\": "
           "\"posix.stripe\", "
           "\"keys\": [\"posix.stripeSize\"], ");
    has(d, "\"type\": \"gone\", ");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(help_names_every_option_with_its_value),
        T(help_shows_what_was_typed_before),
        T(flags_come_before_arguments),
        T(the_main_tables_are_one_list),
        T(help_of_one_part_is_only_that),
        T(an_unknown_part_is_refused_with_the_known_ones),
        T(the_man_page_has_every_spelling),
        T(the_words_are_what_can_be_typed),
        T(the_json_has_a_row_for_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
