/* SPDX-License-Identifier: BSD-3-Clause */
/* optdump.c - the option rows as help text and as words for completion */
#include "config.h"
#include "base/optdump.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/optset.h"

enum { HELP_COLUMN = 30 }; /* where the sentence begins, after two blanks */

/* Has the row a use today, so that help and completion name it? */
static bool is_current(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_OLD && row->type != WEIR_OPT_GONE &&
           !(row->flags & WEIR_OPT_HIDDEN);
}

/* Is it listed under "Flags"? */
static bool is_flag(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_FLAG || row->type == WEIR_OPT_COUNT ||
           (row->type == WEIR_OPT_ALIAS && !weir_opt_takes_value(row));
}

/* Can a row be set in scripts and -O? */
static bool is_key(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_DIRECTIVES && !(row->flags & WEIR_OPT_ARGV_ONLY);
}

/* A row without letter and long name has only its key; -O must go before it. */
static const char *only_key(const struct weir_opt *row)
{
    return row->letter == 0 && row->name == NULL ? row->key : NULL;
}

static void help_names(const struct weir_optset *set, const struct weir_opt *row,
                       struct weir_str *out)
{
    weir_str_addf(out, "  ");
    if (row->letter != 0)
        weir_str_addf(out, "-%c%s", row->letter, row->name != NULL ? ", " : "");
    if (row->name != NULL)
        weir_str_addf(out, "--%s%s", set->prefix, row->name);
    if (only_key(row) != NULL)
        weir_str_addf(out, "-O %s%s", set->prefix, row->key);
}

/* "=VALUE" with the value the option has now; a flag that is on shows " (1)". */
static void help_value(const struct weir_optset *set, const struct weir_opt *row,
                       struct weir_str *out)
{
    struct weir_str value = { 0 };

    if (row->type != WEIR_OPT_ALIAS)
        weir_opt_show(row, set->values, &value);
    if (is_flag(row) && value.len > 0 && strcmp(weir_str_text(&value), "0") != 0)
        weir_str_addf(out, " (%s)", weir_str_text(&value));
    else if (!is_flag(row) && (row->flags & WEIR_OPT_OPTARG))
        weir_str_addf(out, "[=%s]", weir_opt_meta(row));
    else if (!is_flag(row))
        weir_str_addf(out, "=%s", value.len > 0 ? weir_str_text(&value) : weir_opt_meta(row));
    out->failed = out->failed || value.failed;
    weir_str_free(&value);
}

static void help_row(const struct weir_optset *set, const struct weir_opt *row,
                     struct weir_str *out)
{
    size_t start = out->len, used;

    help_names(set, row, out);
    help_value(set, row, out);
    used = out->len - start - 2;
    weir_str_addf(out, "%*s", used < HELP_COLUMN ? (int)(HELP_COLUMN - used) : 1, "");
    weir_str_addf(out, "%s", row->help);
    weir_opt_add_choices(row, " (", ")", out);
    weir_str_addc(out, '\n');
}

/* One list of a table under its heading; nothing when the list is empty. */
static void help_list(const struct weir_optset *set, bool flags, const char *heading,
                      struct weir_str *out)
{
    bool any = false;

    for (const struct weir_opt *row = set->rows; !weir_opt_is_end(row); row++) {
        if (!is_current(row) || is_flag(row) != flags)
            continue;
        if (!any)
            weir_str_addf(out, "\n%s\n", heading);
        any = true;
        help_row(set, row, out);
    }
}

static void help_lists(const struct weir_optset *set, struct weir_str *out)
{
    help_list(set, true, "Flags", out);
    help_list(set, false, "Optional arguments", out);
}

/* The tables without title are one list, flags first. */
static void help_main(const struct weir_opts *o, bool flags, struct weir_str *out)
{
    bool any = false;

    for (int i = 0; i < o->n; i++) {
        struct weir_str part = { 0 };
        const char *body;

        if (o->set[i].title != NULL)
            continue;
        help_list(&o->set[i], flags, flags ? "Flags" : "Optional arguments", &part);
        body = weir_str_text(&part);
        if (any && part.len > 0) /* this list's heading is there already */
            body = strchr(body + 1, '\n') + 1;
        weir_str_addf(out, "%s", body);
        any = any || part.len > 0;
        out->failed = out->failed || part.failed;
        weir_str_free(&part);
    }
}

/* Bytes of a table's prefix without its dot. */
static size_t bare_len(const struct weir_optset *set)
{
    size_t len = strlen(set->prefix);

    return len > 0 && set->prefix[len - 1] == '.' ? len - 1 : len;
}

static bool is_called(const struct weir_optset *set, const char *name)
{
    size_t bare = bare_len(set);

    if (set->title == NULL)
        return false;
    return strcasecmp(set->title, name) == 0 ||
           (bare > 0 && strlen(name) == bare && strncasecmp(set->prefix, name, bare) == 0);
}

/* Has a table before this one the same prefix, and so the same name? */
static bool is_listed(const struct weir_opts *o, int table)
{
    const struct weir_optset *set = &o->set[table];

    for (int i = 0; i < table; i++)
        if (o->set[i].title != NULL && bare_len(set) > 0 &&
            strcasecmp(o->set[i].prefix, set->prefix) == 0)
            return true;
    return false;
}

static int refuse_part(const struct weir_opts *o, const char *only, struct weir_err *err)
{
    struct weir_str names = { 0 };
    char shown[WEIR_QUOTE_TEXT];

    for (int i = 0; i < o->n; i++) {
        const struct weir_optset *set = &o->set[i];

        if (set->title == NULL || is_listed(o, i))
            continue;
        weir_str_addf(&names, "%s", names.len > 0 ? ", " : "");
        if (bare_len(set) > 0)
            weir_str_add(&names, set->prefix, bare_len(set));
        else
            weir_str_addf(&names, "%s", set->title);
    }
    weir_refuse(err, WEIR_EUSAGE, "there is no help for '%s'; there is for: %s",
                weir_quote_str(only, shown),
                names.len > 0 ? weir_str_text(&names) : "nothing in particular");
    weir_str_free(&names);
    return -1;
}

static void help_part(const struct weir_optset *set, struct weir_str *out)
{
    weir_str_addf(out, "\n\n%s\n", set->title);
    help_lists(set, out);
}

int weir_optdump_help(const struct weir_opts *o, const char *program, const char *brief,
                      const char *only, struct weir_str *out, struct weir_err *err)
{
    bool is_whole = only == NULL || *only == '\0', any = false;

    for (int i = 0; i < o->n; i++)
        any = any || (!is_whole && is_called(&o->set[i], only));
    if (!is_whole && !any)
        return refuse_part(o, only, err);
    weir_str_addf(out, "Synopsis %s [OPTION]...\n\n%s\n", program, brief);
    if (is_whole) {
        help_main(o, true, out);
        help_main(o, false, out);
    }
    for (int i = 0; i < o->n; i++)
        if (o->set[i].title != NULL && (is_whole || is_called(&o->set[i], only)))
            help_part(&o->set[i], out);
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the help text") : 0;
}

/* The letter under which lists of directives are given, 0 when the program has none. */
static char directives_letter(const struct weir_opts *o)
{
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++)
            if (row->type == WEIR_OPT_DIRECTIVES && row->letter != 0)
                return row->letter;
    return 0;
}

void weir_optdump_words(const struct weir_opts *o, struct weir_str *out)
{
    char list = directives_letter(o);

    for (int i = 0; i < o->n; i++) {
        const struct weir_optset *set = &o->set[i];

        for (const struct weir_opt *row = set->rows; !weir_opt_is_end(row); row++) {
            const char *key = row->key != NULL ? row->key : row->name;

            if (!is_current(row))
                continue;
            if (row->letter != 0)
                weir_str_addf(out, "-%c\n", row->letter);
            if (row->name != NULL)
                weir_str_addf(out, "--%s%s\n", set->prefix, row->name);
            if (list != 0 && key != NULL && is_key(row))
                weir_str_addf(out, "-%c %s%s=\n", list, set->prefix, key);
        }
    }
}
