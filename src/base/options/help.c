/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - the option rows as help for people: a first page, topics, backends, single options */
#include "base/options/help.h"
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

const char *const weir_topic_names[] = { "files", "order",  "data", "time",
                                         "output", "trust", NULL };
const char *const weir_topic_titles[] = { "Files and directories",
                                          "Phases, tasks and the order of accesses",
                                          "Sizes, contents and checks of the data",
                                          "Time, repetitions and limits",
                                          "Results and messages",
                                          "What the numbers are worth",
                                          NULL };

/* ---- one row ---- */

enum { COLUMN = 30 }; /* where the sentence of an option begins */

void weir_help_wrap(struct weir_str *out, size_t at, size_t indent, const char *text)
{
    bool first = true;

    while (*text != '\0') {
        size_t len = strcspn(text, " ");

        if (!first && at + 1 + len > WEIR_HELP_WIDTH) {
            weir_str_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            weir_str_addc(out, ' ');
            at++;
        }
        weir_str_add(out, text, len);
        at += len;
        text += len + strspn(text + len, " ");
        first = false;
    }
    weir_str_addc(out, '\n');
}

/* Bytes as people write them, where that is exact: "1m" for 1048576. */
static void add_size(struct weir_str *out, int64_t bytes)
{
    static const char suffixes[] = "kmgt";
    int suffix = -1;

    while (suffix < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        suffix++;
    }
    weir_str_addf(out, "%" PRId64, bytes);
    if (suffix >= 0)
        weir_str_addc(out, suffixes[suffix]);
}

/* The value of a row now; nothing where it has none. */
static void add_value(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    const void *values = at->set->values;

    if (weir_opt_stands_for(row))
        return;
    if (row->type == WEIR_OPT_SIZE && values != NULL)
        add_size(out, *(const int64_t *)((const char *)values + row->offset));
    else
        weir_opt_show(row, values, out);
}

static bool is_flag(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_FLAG || row->type == WEIR_OPT_COUNT ||
           (row->type == WEIR_OPT_ALIAS && !weir_opt_takes_value(row));
}

/* Has the row neither letter nor long name? Then -O must go before its key. */
static bool has_only_key(const struct weir_opt *row)
{
    return row->letter == 0 && row->name == NULL;
}

static void add_names(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    const char *prefix = at->set->prefix;

    if (row->letter != 0)
        weir_str_addf(out, "-%c%s", row->letter, row->name != NULL ? ", " : "");
    if (row->name != NULL)
        weir_str_addf(out, "--%s%s", prefix, row->name);
    if (has_only_key(row))
        weir_str_addf(out, "-O %s%s", prefix, row->key);
}

/* Letter and long name (or the key) with the value that the option has now: "-b,
 * --block-size=1m"; a flag that is on shows " (1)". */
static void add_heading(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    struct weir_str value = { 0 };

    add_names(at, out);
    add_value(at, &value);
    if (is_flag(row) && value.len > 0 && strcmp(weir_str_text(&value), "0") != 0)
        weir_str_addf(out, " (%s)", weir_str_text(&value));
    else if (!is_flag(row) && (row->flags & WEIR_OPT_OPTARG))
        weir_str_addf(out, "[=%s]", weir_opt_meta(row));
    else if (!is_flag(row))
        weir_str_addf(out, "=%s", value.len > 0 ? weir_str_text(&value) : weir_opt_meta(row));
    out->failed = out->failed || value.failed;
    weir_str_free(&value);
}

/* The row as lines of a list: names, value, sentence, choices. */
static void add_row(const struct weir_optrow *at, struct weir_str *out)
{
    struct weir_str text = { 0 };
    size_t start = out->len, used;

    weir_str_addf(out, "  ");
    add_heading(at, out);
    used = out->len - start;
    if (used < COLUMN)
        weir_str_addf(out, "%*s", (int)(COLUMN - used), "");
    else
        weir_str_addf(out, "\n%*s", COLUMN, "");
    weir_str_addf(&text, "%s", at->row->help);
    weir_opt_add_choices(at->row, " (", ")", &text);
    weir_help_wrap(out, COLUMN, COLUMN, weir_str_text(&text));
    out->failed = out->failed || text.failed;
    weir_str_free(&text);
}

/* ---- lists ---- */

/* The rows of a topic in the tables without title. false: there are none. */
static bool add_topic_rows(const struct weir_opts *o, enum weir_topic topic, struct weir_str *out)
{
    bool any = false;

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (at.set->title == NULL && at.row->topic == topic && weir_opt_is_current(at.row)) {
            add_row(&at, out);
            any = true;
        }
    return any;
}

static void add_topic(const struct weir_opts *o, const struct weir_help *help,
                      enum weir_topic topic, bool examples, struct weir_str *out)
{
    struct weir_str rows = { 0 };

    if (add_topic_rows(o, topic, &rows)) {
        if (topic == WEIR_TOPIC_NONE)
            weir_str_addf(out, "\nMore options\n");
        else
            weir_str_addf(out, "\n%s (--help=%s)\n", weir_topic_titles[topic - 1],
                          weir_topic_names[topic - 1]);
        weir_str_add(out, weir_str_text(&rows), rows.len);
    }
    if (examples) {
        weir_str_addf(out, "\nExample:\n");
        weir_examples_of_topic(help, topic, out);
    }
    weir_str_free(&rows);
}

static void add_table(const struct weir_opts *o, const struct weir_help *help, int table,
                      bool examples, struct weir_str *out)
{
    const struct weir_opt *first = NULL;

    weir_str_addf(out, "\n%s\n", o->set[table].title);
    for (struct weir_optrow at = { .table = table }; weir_opts_next(o, &at) && at.table == table;) {
        if (!weir_opt_is_current(at.row))
            continue;
        first = first != NULL ? first : at.row;
        add_row(&at, out);
    }
    if (first == NULL)
        weir_str_addf(out, "  no options of its own\n");
    if (!examples)
        return;
    weir_str_addc(out, '\n');
    weir_example_of_row(o, help, &o->set[table], first, out);
}

/* ---- the pages ---- */

static void add_head(const struct weir_help *help, struct weir_str *out)
{
    if (help->usage)
        weir_str_addf(out, "%s\n", help->usage);
    weir_str_addf(out, "Synopsis mpirun -np TASKS %s [OPTION]...\n", help->program);
}

/* Bytes of a table's prefix without its dot. */
static size_t bare_len(const struct weir_optset *set)
{
    size_t len = strlen(set->prefix);

    return len > 0 && set->prefix[len - 1] == '.' ? len - 1 : len;
}

/* The name of a backend: the last word of the title. */
static const char *table_name(const struct weir_optset *set)
{
    const char *blank = strrchr(set->title, ' ');

    return blank != NULL ? blank + 1 : set->title;
}

/* The names of backends between two pieces of text; nothing where there are none. */
static void add_table_names(const struct weir_opts *o, const char *before, const char *after, struct weir_str *out)
{
    bool any = false;

    for (int i = 0; i < o->n; i++)
        if (o->set[i].title != NULL) {
            weir_str_addf(out, "%s%s", any ? ", " : before, table_name(&o->set[i]));
            any = true;
        }
    if (any)
        weir_str_addf(out, "%s", after);
}

static void add_places(const struct weir_opts *o, struct weir_str *out)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "all, ");
    for (int i = 0; weir_topic_names[i] != NULL; i++)
        weir_str_addf(&text, "%s%s", i > 0 ? ", " : "", weir_topic_names[i]);
    add_table_names(o, ", a backend (", ")", &text);
    weir_str_addf(&text, " or an option, as in --help=-v");
    weir_str_addf(out, "\nMore: --help=TOPIC, where TOPIC is ");
    weir_help_wrap(out, 35, 6, weir_str_text(&text));
    weir_str_free(&text);
}

static void add_first_page(const struct weir_opts *o, const struct weir_help *help,
                           struct weir_str *out)
{
    weir_str_addf(out, "\n");
    weir_help_wrap(out, 0, 0, help->brief);
    weir_str_addf(out, "\nCommands to copy\n");
    weir_examples_of_topic(help, WEIR_TOPIC_NONE, out);
    weir_str_addf(out, "\nThe options that matter (sizes: 4k, 1m, 2g; multiples of 1024)\n");
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (at.row->first)
            add_row(&at, out);
    add_places(o, out);
}

static void add_all(const struct weir_opts *o, const struct weir_help *help, struct weir_str *out)
{
    weir_str_addf(out, "\n%s\n", help->brief);
    for (int t = 0; weir_topic_names[t] != NULL; t++)
        add_topic(o, help, (enum weir_topic)(t + 1), false, out);
    add_topic(o, help, WEIR_TOPIC_NONE, false, out);
    for (int i = 0; i < o->n; i++)
        if (o->set[i].title != NULL)
            add_table(o, help, i, false, out);
}

/* ---- one option ---- */

static void add_spellings(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    const char *prefix = at->set->prefix;

    add_heading(at, out);
    if (row->key != NULL && !has_only_key(row) && !(row->flags & WEIR_OPT_ARGV_ONLY) &&
        (row->name == NULL || strcasecmp(row->key, row->name) != 0))
        weir_str_addf(out, ", key %s%s", prefix, row->key);
    if (row->key2 != NULL)
        weir_str_addf(out, ", key %s%s", prefix, row->key2);
    weir_str_addc(out, '\n');
}

static void add_facts(const struct weir_opt *row, struct weir_str *out)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "%s%s.", row->type == WEIR_OPT_GONE ? "Refused: " : "", row->help);
    if (row->def != NULL && !weir_opt_stands_for(row) && *row->def != '\0')
        weir_str_addf(&text, " Default: %s.", row->def);
    weir_opt_add_choices(row, " One of: ", ".", &text);
    weir_str_addf(out, "    ");
    weir_help_wrap(out, 4, 4, weir_str_text(&text));
    weir_str_free(&text);
}

/* The option that a name means, in all tables that know it. false: there is none. */
static bool add_option(const struct weir_opts *o, const struct weir_help *help, const char *what,
                       struct weir_str *out)
{
    struct weir_optname name = { .text = what + strspn(what, "-") };
    bool any = false;

    name.len = strlen(name.text);
    if (name.len == 1)
        name.letter = *name.text;
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);) {
        if (!weir_opt_matches(&at, &name))
            continue;
        weir_str_addc(out, '\n');
        add_spellings(&at, out);
        add_facts(at.row, out);
        if (at.row->topic != WEIR_TOPIC_NONE)
            weir_str_addf(out, "    See also --help=%s.\n", weir_topic_names[at.row->topic - 1]);
        if (at.row->type != WEIR_OPT_GONE)
            weir_example_of_row(o, help, at.set, at.row, out);
        any = true;
    }
    return any;
}

static bool is_called(const struct weir_optset *set, const char *name)
{
    size_t bare = bare_len(set);

    if (set->title == NULL)
        return false;
    return strcasecmp(set->title, name) == 0 || strcasecmp(table_name(set), name) == 0 ||
           (bare > 0 && strlen(name) == bare && strncasecmp(set->prefix, name, bare) == 0);
}

static bool add_tables(const struct weir_opts *o, const struct weir_help *help, const char *what,
                       struct weir_str *out)
{
    bool any = false;

    for (int i = 0; i < o->n; i++)
        if (is_called(&o->set[i], what)) {
            add_table(o, help, i, true, out);
            any = true;
        }
    return any;
}

static enum weir_topic find_topic(const char *what)
{
    for (int t = 0; weir_topic_names[t] != NULL; t++)
        if (strcasecmp(weir_topic_names[t], what) == 0)
            return (enum weir_topic)(t + 1);
    return WEIR_TOPIC_NONE;
}

static int refuse_what(const struct weir_opts *o, const char *what, struct weir_err *err)
{
    struct weir_str names = { 0 };
    char shown[WEIR_QUOTE_TEXT];

    for (int t = 0; weir_topic_names[t] != NULL; t++)
        weir_str_addf(&names, "%s%s", t > 0 ? ", " : "", weir_topic_names[t]);
    add_table_names(o, ", ", "", &names);
    weir_refuse(err, WEIR_EUSAGE,
                "there is no help for '%s'; topics are all, %s and every option, as in --help=-v",
                weir_quote_str(what, shown), weir_str_text(&names));
    weir_str_free(&names);
    return -1;
}

int weir_opthelp(const struct weir_opts *o, const struct weir_help *help, const char *what,
                 struct weir_str *out, struct weir_err *err)
{
    enum weir_topic topic = what != NULL ? find_topic(what) : WEIR_TOPIC_NONE;
    struct weir_str page = { 0 };
    bool found = true;

    if (what == NULL || *what == '\0')
        add_first_page(o, help, &page);
    else if (strcasecmp(what, "all") == 0)
        add_all(o, help, &page);
    else if (topic != WEIR_TOPIC_NONE)
        add_topic(o, help, topic, true, &page);
    else
        found = add_tables(o, help, what, &page) || add_option(o, help, what, &page);
    if (found) {
        add_head(help, out);
        weir_str_add(out, weir_str_text(&page), page.len);
    }
    out->failed = out->failed || page.failed;
    weir_str_free(&page);
    if (!found)
        return refuse_what(o, what, err);
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the help text") : 0;
}
