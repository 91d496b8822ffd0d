/* SPDX-License-Identifier: BSD-3-Clause */
/* opthelp.c - the option rows as help for people: a first page, topics, backends, single options */
#include "base/options/opthelp.h"
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/options/optrow.h"
#include "base/options/optset.h"

const char *const weir_topic_names[] = { "files", "order",  "data", "time",
                                         "output", "trust", NULL };
const char *const weir_topic_titles[] = { "Files and directories",
                                          "Phases, tasks and the order of accesses",
                                          "Sizes, contents and checks of the data",
                                          "Time, repetitions and limits",
                                          "Results and messages",
                                          "What the numbers are worth",
                                          NULL };

/* ---- examples ---- */

/* "-a MPIIO " for options of that backend. */
static void add_backend(const struct weir_opts *o, const struct weir_optset *set,
                        struct weir_str *out)
{
    const struct weir_optname api = { .text = "api", .len = 3 };
    const struct weir_opt *row = weir_opt_find(o, &api);
    const char *name = set->title != NULL ? strrchr(set->title, ' ') : NULL;

    if (row != NULL && name != NULL && row->letter != 0)
        weir_str_addf(out, "-%c %s ", row->letter, name + 1);
    else if (row != NULL && name != NULL)
        weir_str_addf(out, "--api=%s ", name + 1);
}

#define FIRST_PAGE 5 /* examples on it */

/* A command line; one that is too long goes on after a backslash, so that it can be copied. */
static void add_command(const struct weir_help *help, const char *first, const char *args,
                        struct weir_str *out)
{
    struct weir_str line = { 0 };
    const char *text;
    size_t at;

    weir_str_addf(&line, "  mpirun -np %d %s %s%s%s", help->tasks > 0 ? help->tasks : 4,
                  help->program, first, *first != '\0' ? " " : "", args);
    text = weir_str_text(&line);
    for (at = line.len; line.len > WEIR_OPTROW_WIDTH && at > 0; at--)
        if (text[at] == ' ' && at + 2 <= WEIR_OPTROW_WIDTH)
            break;
    if (line.len > WEIR_OPTROW_WIDTH && at > 0)
        weir_str_addf(out, "%.*s \\\n     %s\n", (int)at, text, text + at);
    else
        weir_str_addf(out, "%s\n", text);
    out->failed = out->failed || line.failed;
    weir_str_free(&line);
}

static void add_option_example(const struct weir_opts *o, const struct weir_help *help,
                               const struct weir_optset *set, const struct weir_opt *row,
                               struct weir_str *out)
{
    struct weir_str args = { 0 };

    add_backend(o, set, &args);
    weir_optrow_sample(set, row, &args);
    weir_str_addf(out, "Example:\n");
    add_command(help, "", weir_str_text(&args), out);
    weir_str_free(&args);
}

/* The examples of a topic, each with its words above it. */
static void add_examples(const struct weir_help *help, enum weir_topic topic, struct weir_str *out)
{
    const struct weir_example *e = help->examples;
    const char *first = e != NULL ? e->args : "";
    int own = 0;

    for (; e != NULL && e->args != NULL; e++)
        if (e->topic == topic) {
            weir_str_addf(out, "  # %s\n", e->what);
            add_command(help, "", e->args, out);
            own++;
        }
    e = help->common;
    for (int room = FIRST_PAGE - own; e != NULL && e->args != NULL; e++)
        if (topic == WEIR_TOPIC_NONE ? room-- > 0 : own == 0 && e->topic == topic) {
            weir_str_addf(out, "  # %s\n", e->what);
            add_command(help, first, e->args, out);
        }
}

void weir_opthelp_examples(const struct weir_help *help, struct weir_str *out)
{
    const char *first = help->examples != NULL ? help->examples->args : "";

    for (const struct weir_example *e = help->examples; e != NULL && e->args != NULL; e++) {
        weir_str_addf(out, "  # %s\n", e->what);
        add_command(help, "", e->args, out);
    }
    for (const struct weir_example *e = help->common; e != NULL && e->args != NULL; e++) {
        weir_str_addf(out, "  # %s\n", e->what);
        add_command(help, first, e->args, out);
    }
}

/* ---- lists ---- */

/* The rows of a topic in the tables without title. false: there are none. */
static bool add_topic_rows(const struct weir_opts *o, enum weir_topic topic, struct weir_str *out)
{
    bool any = false;

    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows;
             o->set[i].title == NULL && !weir_opt_is_end(row); row++)
            if (row->topic == topic && weir_opt_is_current(row)) {
                weir_optrow_add(&o->set[i], row, out);
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
        add_examples(help, topic, out);
    }
    weir_str_free(&rows);
}

static void add_table(const struct weir_opts *o, const struct weir_help *help,
                      const struct weir_optset *set, bool examples, struct weir_str *out)
{
    const struct weir_opt *first = NULL;

    weir_str_addf(out, "\n%s\n", set->title);
    for (const struct weir_opt *row = set->rows; !weir_opt_is_end(row); row++) {
        if (!weir_opt_is_current(row))
            continue;
        first = first != NULL ? first : row;
        weir_optrow_add(set, row, out);
    }
    if (first == NULL)
        weir_str_addf(out, "  no options of its own\n");
    if (!examples)
        return;
    weir_str_addc(out, '\n');
    if (first != NULL) {
        add_option_example(o, help, set, first, out);
    } else {
        struct weir_str args = { 0 };

        add_backend(o, set, &args);
        weir_str_addf(out, "Example:\n");
        add_command(help, "", weir_str_text(&args), out);
        weir_str_free(&args);
    }
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

static void add_table_names(const struct weir_opts *o, struct weir_str *out)
{
    bool any = false;

    for (int i = 0; i < o->n; i++)
        if (o->set[i].title != NULL) {
            weir_str_addf(out, "%s%s", any ? ", " : "", table_name(&o->set[i]));
            any = true;
        }
}

static void add_places(const struct weir_opts *o, struct weir_str *out)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "all, ");
    for (int i = 0; weir_topic_names[i] != NULL; i++)
        weir_str_addf(&text, "%s, ", weir_topic_names[i]);
    weir_str_addf(&text, "a backend (");
    add_table_names(o, &text);
    weir_str_addf(&text, ") or an option, as in --help=-v");
    weir_str_addf(out, "\nMore: --help=TOPIC, where TOPIC is ");
    weir_optrow_wrap(out, 35, 6, weir_str_text(&text));
    weir_str_free(&text);
}

static void add_first_page(const struct weir_opts *o, const struct weir_help *help,
                           struct weir_str *out)
{
    weir_str_addf(out, "\n");
    weir_optrow_wrap(out, 0, 0, help->brief);
    if (help->more != NULL)
        weir_optrow_wrap(out, 0, 0, help->more);
    weir_str_addf(out, "\nCommands to copy\n");
    add_examples(help, WEIR_TOPIC_NONE, out);
    weir_str_addf(out, "\nThe options that matter (sizes: 4k, 1m, 2g; multiples of 1024)\n");
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++)
            if (row->first)
                weir_optrow_add(&o->set[i], row, out);
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
            add_table(o, help, &o->set[i], false, out);
}

/* ---- one option ---- */

static void add_spellings(const struct weir_optset *set, const struct weir_opt *row,
                          struct weir_str *out)
{
    weir_optrow_names(set, row, out);
    if (row->key != NULL && !weir_optrow_has_only_key(row) && !(row->flags & WEIR_OPT_ARGV_ONLY) &&
        (row->name == NULL || strcasecmp(row->key, row->name) != 0))
        weir_str_addf(out, ", key %s%s", set->prefix, row->key);
    if (row->key2 != NULL)
        weir_str_addf(out, ", key %s%s", set->prefix, row->key2);
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
    weir_optrow_wrap(out, 4, 4, weir_str_text(&text));
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
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++) {
            if (!weir_opt_matches(&o->set[i], row, &name))
                continue;
            weir_str_addc(out, '\n');
            add_spellings(&o->set[i], row, out);
            add_facts(row, out);
            if (row->topic != WEIR_TOPIC_NONE)
                weir_str_addf(out, "    See also --help=%s.\n", weir_topic_names[row->topic - 1]);
            if (row->type != WEIR_OPT_GONE)
                add_option_example(o, help, &o->set[i], row, out);
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
            add_table(o, help, &o->set[i], true, out);
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
        weir_str_addf(&names, "%s, ", weir_topic_names[t]);
    add_table_names(o, &names);
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
