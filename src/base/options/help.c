/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - the option rows as help for people: a first page, topics, backends, single options */
#include "base/options/help.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"

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

/* The value of a row now; nothing where it has none. */
static void add_value(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    const void *values = at->set->values;
    char text[WEIR_SIZE_TEXT];
    int64_t bytes;
    double real;

    if (weir_opt_stands_for(row))
        return;
    if (row->type == WEIR_OPT_SIZE && values && weir_opt_number(row, values, &bytes, &real))
        weir_str_addf(out, "%s", weir_size_typed(bytes, text));
    else
        weir_opt_show(row, values, out);
}

static bool is_flag(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_FLAG || row->type == WEIR_OPT_COUNT ||
           row->type == WEIR_OPT_GONE || (weir_opt_stands_for(row) && !weir_opt_takes_value(row));
}

/* True when the row has neither letter nor long name: -O must go before its key. */
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
    if (at->row->flags & WEIR_OPT_ABSENT)
        weir_str_addf(&text, " (not in this build)");
    weir_help_wrap(out, COLUMN, COLUMN, weir_str_text(&text));
    out->failed = out->failed || text.failed;
    weir_str_free(&text);
}

/* ---- groups of rows ---- */

/* The name of a backend: the last word of the title. */
static const char *table_name(const struct weir_optset *set)
{
    const char *blank = strrchr(set->title, ' ');

    return blank != NULL ? blank + 1 : set->title;
}

static enum weir_topic find_topic(const char *name)
{
    for (int t = 0; weir_topic_names[t] != NULL; t++)
        if (strcasecmp(weir_topic_names[t], name) == 0)
            return (enum weir_topic)(t + 1);
    return WEIR_TOPIC_NONE;
}

/* True when the walk's group is called so: by its topic, or the title or the prefix of a table. */
static bool is_called(const struct weir_optwalk *w, const char *name)
{
    const struct weir_optset *set = w->at.set;
    const size_t bare = strcspn(set->prefix, ".");

    if (set->title == NULL)
        return weir_optwalk_topic(w) != WEIR_TOPIC_NONE &&
               weir_optwalk_topic(w) == find_topic(name);
    return strcasecmp(set->title, name) == 0 || strcasecmp(table_name(set), name) == 0 ||
           (bare > 0 && strlen(name) == bare && strncasecmp(set->prefix, name, bare) == 0);
}

static void add_title(const struct weir_optwalk *w, struct weir_str *out)
{
    const enum weir_topic topic = weir_optwalk_topic(w);

    if (topic != WEIR_TOPIC_NONE)
        weir_str_addf(out, "\n%s (--help=%s)\n", weir_topic_titles[topic - 1],
                      weir_topic_names[topic - 1]);
    else
        weir_str_addf(out, "\n%s\n", w->at.set->title ? w->at.set->title : "More options");
}

/* Appends the groups of current rows with this name and the examples of their topic; name NULL: all
 * groups, without examples. Returns whether there is one. */
static bool add_groups(const struct weir_opts *o, const struct weir_help *help, const char *name,
                       struct weir_str *out)
{
    struct weir_optwalk w = { .takes = weir_opt_is_current };
    const enum weir_topic topic = name ? find_topic(name) : WEIR_TOPIC_NONE;
    bool any = topic != WEIR_TOPIC_NONE;

    while (weir_optwalk_next(o, &w)) {
        if (name && !is_called(&w, name))
            continue;
        if (w.begins)
            add_title(&w, out);
        add_row(&w.at, out);
        any = true;
    }
    if (topic != WEIR_TOPIC_NONE) {
        weir_str_addf(out, "\nExample:\n");
        weir_examples(help, false, topic, out);
    }
    return any;
}

/* ---- the pages ---- */

/* List the values of --help=TOPIC: "all, files, ..., a backend (POSIX, ...)". */
static void list_topics(const struct weir_opts *o, struct weir_str *out)
{
    bool any = false;

    weir_str_addf(out, "all");
    for (int t = 0; weir_topic_names[t] != NULL; t++)
        weir_str_addf(out, ", %s", weir_topic_names[t]);
    for (int i = 0; i < o->n; i++)
        if (o->set[i].title != NULL) {
            weir_str_addf(out, "%s%s", any ? ", " : ", a backend (", table_name(&o->set[i]));
            any = true;
        }
    weir_str_addf(out, "%s, an option (--help=-v) or any word (--help=report)", any ? ")" : "");
}

static bool is_first(const struct weir_opt *row)
{
    return row->first;
}

static void add_first_page(const struct weir_opts *o, const struct weir_help *help,
                           struct weir_str *out)
{
    struct weir_optwalk w = { .takes = is_first };
    struct weir_str topics = { 0 };

    weir_str_addf(out, "\n");
    weir_help_wrap(out, 0, 0, help->brief);
    weir_str_addf(out, "\nCommands to copy\n");
    weir_examples(help, false, WEIR_TOPIC_NONE, out);
    weir_str_addf(out, "\nThe options that matter (sizes: 4k, 1m, 2g; multiples of 1024)\n");
    while (weir_optwalk_next(o, &w))
        add_row(&w.at, out);
    list_topics(o, &topics);
    weir_str_addf(out, "\nMore: --help=TOPIC, where TOPIC is ");
    weir_help_wrap(out, 35, 6, weir_str_text(&topics));
    weir_str_free(&topics);
}

/* The names of options that need what this build lacks: "posix.lustre.*" for several of a library. */
static void add_absent(const struct weir_opts *o, struct weir_str *out)
{
    struct weir_str text = { 0 };
    char last[WEIR_OPT_NAME] = "", full[WEIR_OPT_NAME];

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);) {
        char *dot;

        if (!(at.row->flags & WEIR_OPT_ABSENT))
            continue;
        weir_opt_fullname(at.set, at.row->name ? at.row->name : at.row->key, full);
        dot = strrchr(full, '.');
        if (dot && strncmp(full, last, (size_t)(dot - full) + 1) == 0)
            continue;
        memcpy(last, full, sizeof(last));
        weir_str_addf(&text, "%s%.*s%s", text.len > 0 ? ", " : "",
                      dot ? (int)(dot - full) + 1 : (int)strlen(full), full, dot ? "*" : "");
    }
    if (text.len > 0) {
        weir_str_addf(out, "\nNot in this build: ");
        weir_help_wrap(out, 19, 2, weir_str_text(&text));
    }
    weir_str_free(&text);
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
    if (row->flags & WEIR_OPT_ABSENT)
        weir_str_addf(&text, " Not in this build.");
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
        weir_example_of_row(help, at.row, out);
        any = true;
    }
    return any;
}

/* ---- a word ---- */

static bool has_word(const struct weir_opt *row, const char *word)
{
    const char *const texts[] = { row->name, row->key, row->key2, row->help };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i] && strcasestr(texts[i], word))
            return true;
    return false;
}

static void add_foreign(const struct weir_foreign *f, const char *option, struct weir_str *out)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "%s %s%s: %s (%s)", f->of, option, f->name, f->ours, f->what);
    weir_str_addf(out, "  ");
    weir_help_wrap(out, 2, 6, weir_str_text(&text));
    out->failed |= text.failed;
    weir_str_free(&text);
}

/* The options with this word in a name or in their help, and what weir has for options and backends
 * of other benchmarks with this name. Returns whether there is one. */
static bool add_found(const struct weir_opts *o, const char *word, struct weir_str *out)
{
    struct weir_optwalk w = { .takes = NULL };
    const struct weir_foreign *f = NULL;
    bool any = false;

    word += strspn(word, "-");
    if (strlen(word) < 2)
        return false;
    weir_str_addf(out, "\nOptions with the word '%s'\n", word);
    while (weir_optwalk_next(o, &w))
        if ((weir_opt_is_current(w.at.row) || (w.at.row->flags & WEIR_OPT_ABSENT)) &&
            has_word(w.at.row, word)) {
            add_row(&w.at, out);
            any = true;
        }
    for (; (f = weir_foreign_next(f, word, false)); any = true)
        add_foreign(f, "", out);
    for (; (f = weir_foreign_next(f, word, true)); any = true)
        add_foreign(f, "-a ", out);
    return any;
}

static int refuse_what(const struct weir_opts *o, const char *what, struct weir_err *err)
{
    struct weir_str names = { 0 };
    char shown[WEIR_QUOTE_TEXT];

    list_topics(o, &names);
    weir_refuse(err, WEIR_EUSAGE, "there is no help for '%s'; topics are %s",
                weir_quote_str(what, shown), weir_str_text(&names));
    weir_str_free(&names);
    return -1;
}

int weir_opthelp(const struct weir_opts *o, const struct weir_help *help, const char *what,
                 struct weir_str *out, struct weir_err *err)
{
    struct weir_str page = { 0 };
    bool found = true;

    if (what == NULL || *what == '\0') {
        add_first_page(o, help, &page);
    } else if (strcasecmp(what, "all") == 0) {
        weir_str_addf(&page, "\n%s\n", help->brief);
        add_groups(o, help, NULL, &page);
        add_absent(o, &page);
    } else {
        found = add_groups(o, help, what, &page) || add_option(o, help, what, &page) ||
                add_found(o, what, &page);
    }
    if (found) {
        if (help->usage)
            weir_str_addf(out, "%s\n", help->usage);
        weir_str_addf(out, "Synopsis mpirun -np TASKS %s [OPTION]...\n", help->program);
        weir_str_add(out, weir_str_text(&page), page.len);
    }
    out->failed = out->failed || page.failed;
    weir_str_free(&page);
    if (!found)
        return refuse_what(o, what, err);
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the help text") : 0;
}
