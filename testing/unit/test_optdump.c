/* SPDX-License-Identifier: BSD-3-Clause */
/* test_optdump.c - option rows as help, man page, words and JSON */
#include "base/options/help.h"

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

static const struct weir_example examples[] = { { WEIR_TOPIC_NONE, "-b 4k", "small blocks" },
                                                { WEIR_TOPIC_DATA, "-t 4k", "small transfers" },
                                                { .args = NULL } };

static const struct weir_example common[] = { { WEIR_TOPIC_OUTPUT, "--json=r", "as JSON, too" },
                                              { .args = NULL } };

static const char *help(struct dump *d, const char *what)
{
    const struct weir_help about = { .program = "ior", .brief = "measures bandwidth", .examples = examples, .common = common };

    weir_str_clear(&d->out);
    if (weir_opthelp(&d->t.opts, &about, what, &d->out, &d->t.err) != 0)
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

    help(d, "all");
    has(d, "Synopsis mpirun -np TASKS ior [OPTION]...\n\nmeasures bandwidth\n");
    has(d, "\n  -c, --collective            Collective I/O\n");
    has(d, "\n  -g                          Keep the files\n");
    has(d, "\n  -b, --block-size=1m         Contiguous bytes each task writes\n");
    has(d, "\n  -o, --file=FILE             Name of the test file\n");
    has(d, "\n  -h, --help[=PART]           Show this text\n");
    has(d, "\n  -O interIODelay=0           Sleep after every transfer\n");
    has(d, "\n  -O, --options=KEY=VALUE     Options by key\n");
    has(d, "\n\nModule POSIX\n  --posix.odirect             Go around");
    has_not(d, "3.x");
    has_not(d, "-P");
    has_not(d, "useO_DIRECT");
}

static void help_shows_what_was_typed_before(void **state)
{
    struct dump *d = *state;

    assert_int_equal(weir_opts_set(&d->t.opts, "-b", "4k", &d->t.err), 0);
    assert_int_equal(weir_opts_set(&d->t.opts, "-v", NULL, &d->t.err), 0);
    help(d, "all");
    has(d, "\n  -b, --block-size=4k         Contig");
    has(d, "\n  -v, --verbose (1)           Say more\n");
}

static void the_first_page_has_examples_and_chosen_options(void **state)
{
    struct dump *d = *state;

    help(d, NULL);
    has(d, "  # small blocks\n  mpirun -np 4 ior -b 4k\n");
    has(d, "\n  -b, --block-size=1m ");
    has(d, "all, files, order, data, time, output, trust,");
    has_not(d, "--collective");
    has_not(d, "small transfers");
    has(d, "  # as JSON, too\n  mpirun -np 4 ior -b 4k --json=r\n");
    help(d, "output");
    has(d, "  # as JSON, too\n  mpirun -np 4 ior -b 4k --json=r\n");
}

static void help_of_a_topic_has_its_options_and_an_example(void **state)
{
    struct dump *d = *state;

    help(d, "Data");
    has(d, "\nSizes, contents and checks of the data (--help=data)\n  -b, --block-size=1m ");
    has(d, "  # small transfers\n  mpirun -np 4 ior -t 4k\n");
    has_not(d, "--collective");
    has_not(d, "small blocks");
}

static void help_of_one_part_is_only_that(void **state)
{
    static const char *const names[] = { "posix", "POSIX", "Module POSIX", "module posix" };
    struct dump *d = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        help(d, names[i]);
        has(d, "--posix.odirect");
        has_not(d, "Example:");
        has_not(d, "--block-size");
    }
    help(d, "Module EXTRA");
    has(d, "here, too");
    has_not(d, "--posix.locks");
    help(d, "");
    has(d, "--block-size");
}

static void help_of_one_option_has_its_spellings(void **state)
{
    static const char *const names[] = { "-C", "C", "--reorder-tasks", "reorderTasks" };
    struct dump *d = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        help(d, names[i]);
        has(d, "\n-C, --reorder-tasks, key reorderTasksConstant, key reorderTasks\n"
               "    Read what another node wrote.\n");
        has_not(d, "Example:");
    }
    help(d, "-b");
    has(d, "Default: 1m.\n    See also --help=data.\nExample:\n  mpirun -np 4 ior -b 4k -b 16m\n");
    help(d, "-l");
    has(d, "One of: timestamp, offset, random.\n");
}

static void help_of_a_word_searches_names_texts_and_other_benchmarks(void **state)
{
    struct dump *d = *state;

    help(d, "--SHUFFLE");
    has(d, "\nOptions with the word 'SHUFFLE'\n  -z, --random                Shuffle the offsets\n");
    has_not(d, "--block-size");
    help(d, "lock");
    has(d, "  -b, --block-size=1m ");
    has(d, "  --posix.locks=");
    help(d, "numjobs");
    has(d, "  fio --numjobs: mpirun -np N (tasks)\n");
}

static void an_unknown_part_is_refused_with_the_known_ones(void **state)
{
    const struct weir_help about = { .program = "ior", .brief = "x" };
    struct dump *d = *state;

    assert_int_equal(weir_opthelp(&d->t.opts, &about, "nothing like it", &d->out, &d->t.err), -1);
    assert_int_equal(d->t.err.code, WEIR_EUSAGE);
    assert_non_null(strstr(d->t.err.text, "there is no help for 'nothing like it'; topics are all, files, "));
    assert_int_equal(d->out.len, 0);
}

static struct weir_opt_word backends(const struct weir_opt *row, int i)
{
    static const struct weir_opt_word words[] = { { "POSIX", "", "" }, { "MPIIO", ":", "Of MPI" }, { 0 } };

    return words[row->name && strcmp(row->name, "api") == 0 ? i : 2];
}

static void completion_offers_names_values_and_keys(void **state)
{
    static const struct {
        const char *before, *typed,
            *first; /* first: the beginning of the first word, NULL: nothing */
    } cases[] = {
        { "ior", "--blo", "--block-size=\tContiguous" },
        { "ior", "--posix.o", "--posix.odirect\tGo" },
        { "ior", "-", "-c\tCollective" },
        { "ior", "-C", NULL },
        { "ior", "word", NULL },
        { "-l", "ran", "random\t" },
        { "--dataPacketType", "", "timestamp\t" },
        { "ior", "--dataPacketType=o", "--dataPacketType=offset\t" },
        { "-a", "mp", "MPIIO:\tOf MPI" },
        { "ior", "--api=po", "--api=POSIX\t" },
        { "-O", "blockSize=4k,transf", "blockSize=4k,transferSize=\tBytes" },
        { "-O", "blockSize=4k,dataPacketType=r", "blockSize=4k,dataPacketType=random\t" },
        { "-o", "f", NULL },
    };
    struct dump *d = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *first = cases[i].first;

        weir_str_clear(&d->out);
        weir_opt_complete(&d->t.opts, cases[i].before, cases[i].typed, backends, &d->out);
        if (strncmp(weir_str_text(&d->out), first ? first : "", first ? strlen(first) : 1) != 0)
            fail_msg("%s %s: %s", cases[i].before, cases[i].typed, weir_str_text(&d->out));
    }
}

static void the_man_page_has_every_spelling(void **state)
{
    static const struct weir_example own[] = { { WEIR_TOPIC_NONE, "-b 4k", "small" }, { 0 } };
    static const struct weir_example shared[] = { { WEIR_TOPIC_OUTPUT, "-v", "more words" }, { 0 } };
    const struct weir_help help = { .program = "p", .examples = own, .common = shared };
    struct dump *d = *state;

    weir_optdump_man(&d->t.opts, &help, &d->out);
    has(d, ".SH OPTIONS\n.SS Sizes, contents and checks of the data\n.TP\n\\fB\\-b\\fR");
    has(d, ".SS Other options, and those of older releases\n.TP\n\\fB\\-c\\fR, "
           "\\fB\\-\\-collective\\fR\nCollective I/O.\n");
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
    has(d, ".SH EXAMPLES\n.nf\n  # small\n  mpirun \\-np 4 p \\-b 4k\n"
           "  # more words\n  mpirun \\-np 4 p \\-b 4k \\-v\n.fi\n");
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
           "\"choices\": null, \"topic\": \"data\", "
           "\"help\": \"Contiguous bytes each task writes\"},\n");
    has(d, "\"keys\": [\"reorderTasksConstant\", \"reorderTasks\"], \"default\": null, "
           "\"min\": null, ");
    has(d, "\"choices\": [\"timestamp\", \"offset\", \"random\"], \"topic\": null, ");
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
        T(the_first_page_has_examples_and_chosen_options),
        T(help_of_a_topic_has_its_options_and_an_example),
        T(help_of_one_part_is_only_that),
        T(help_of_one_option_has_its_spellings),
        T(completion_offers_names_values_and_keys),
        T(help_of_a_word_searches_names_texts_and_other_benchmarks),
        T(an_unknown_part_is_refused_with_the_known_ones),
        T(the_man_page_has_every_spelling),
        T(the_words_are_what_can_be_typed),
        T(the_json_has_a_row_for_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
