/* SPDX-License-Identifier: BSD-3-Clause */
/* manual.c - the option rows as sections of a man page */
#include "base/options/help.h"

#include <inttypes.h>
#include <stdbool.h>
#include <strings.h>

/* Text for man(7): a backslash and a dash are escaped, and a line never begins with a dot or an
 * apostrophe. */
static void man_text(struct weir_str *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            weir_str_addf(out, "\\e");
        else if (*text == '-')
            weir_str_addf(out, "\\-");
        else if ((*text == '.' || *text == '\'') &&
                 (out->len == 0 || out->text[out->len - 1] == '\n'))
            weir_str_addf(out, "\\&%c", *text);
        else
            weir_str_addc(out, *text);
    }
}

/* One spelling: "\fB--block-size\fR=\fISIZE\fR". 'between' stands before the value. */
static void man_spelling(struct weir_str *out, const struct weir_opt *row, bool *is_first,
                         const char *before, const char *prefix, const char *name,
                         const char *between)
{
    if (name == NULL)
        return;
    weir_str_addf(out, "%s\\fB", *is_first ? "" : ", ");
    *is_first = false;
    man_text(out, before);
    man_text(out, prefix);
    man_text(out, name);
    weir_str_addf(out, "\\fR");
    if (weir_opt_takes_value(row) || (row->flags & WEIR_OPT_OPTARG)) {
        weir_str_addf(out, "%s%s\\fI", row->flags & WEIR_OPT_OPTARG ? "[" : "", between);
        man_text(out, weir_opt_meta(row));
        weir_str_addf(out, "\\fR%s", row->flags & WEIR_OPT_OPTARG ? "]" : "");
    }
}

/* A name in script case ("blockSize") unless it is the long name over again. */
static const char *unlike_name(const struct weir_opt *row, const char *key)
{
    return key != NULL && row->name != NULL && strcasecmp(key, row->name) == 0 ? NULL : key;
}

static void man_names(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;
    const char letter[] = { row->letter, '\0' };
    bool is_first = true;

    weir_str_addf(out, ".TP\n");
    man_spelling(out, row, &is_first, "-", "", row->letter != 0 ? letter : NULL,
                 row->flags & WEIR_OPT_OPTARG ? "=" : " ");
    man_spelling(out, row, &is_first, "--", at->set->prefix, row->name, "=");
    man_spelling(out, row, &is_first, "--", at->set->prefix, unlike_name(row, row->key), "=");
    man_spelling(out, row, &is_first, "--", at->set->prefix, unlike_name(row, row->key2), "=");
    weir_str_addc(out, '\n');
}

static void man_number(struct weir_str *out, const char *words, int64_t number)
{
    weir_str_addf(out, "%s%s%" PRIu64, words, number < 0 ? "\\-" : "",
                  number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* Only limits that are narrower than those of the type. */
static void man_range(const struct weir_opt *row, struct weir_str *out)
{
    int64_t min, max, lowest, highest;

    if (!weir_opt_is_number(row))
        return;
    weir_opt_range(row, &min, &max);
    weir_opt_limits(row, &lowest, &highest);
    if (min != lowest)
        man_number(out, max != highest ? " From " : " At least ", min);
    if (max != highest)
        man_number(out, min != lowest ? " to " : " At most ", max);
    if (min != lowest || max != highest)
        weir_str_addc(out, '.');
}

static void man_row(const struct weir_optrow *at, struct weir_str *out)
{
    const struct weir_opt *row = at->row;

    man_names(at, out);
    if (row->type == WEIR_OPT_GONE)
        weir_str_addf(out, "Refused. ");
    man_text(out, row->help);
    weir_str_addc(out, '.');
    if (row->def != NULL && !weir_opt_stands_for(row) && *row->def != '\0') {
        weir_str_addf(out, " Default: ");
        man_text(out, row->def);
        weir_str_addc(out, '.');
    }
    man_range(row, out);
    weir_opt_add_choices(row, " One of: ", ".", out);
    weir_str_addc(out, '\n');
}

static void man_heading(const struct weir_optwalk *w, struct weir_str *out)
{
    const enum weir_topic topic = weir_optwalk_topic(w);

    weir_str_addf(out, ".SS ");
    man_text(out, topic != WEIR_TOPIC_NONE ? weir_topic_titles[topic - 1]
                  : w->at.set->title       ? w->at.set->title
                                           : "Other options, and those of older releases");
    weir_str_addc(out, '\n');
}

static void man_examples(const struct weir_help *help, struct weir_str *out)
{
    struct weir_str lines = { 0 };

    weir_examples(help, true, WEIR_TOPIC_NONE, &lines);
    weir_str_addf(out, ".SH EXAMPLES\n.nf\n");
    man_text(out, weir_str_text(&lines));
    weir_str_addf(out, ".fi\n");
    out->failed = out->failed || lines.failed;
    weir_str_free(&lines);
}

static bool is_in_build(const struct weir_opt *row)
{
    return !(row->flags & WEIR_OPT_ABSENT);
}

void weir_optdump_man(const struct weir_opts *o, const struct weir_help *help,
                      struct weir_str *out)
{
    struct weir_optwalk w = { .takes = is_in_build };

    weir_str_addf(out, ".SH OPTIONS\n");
    while (weir_optwalk_next(o, &w)) {
        if (w.begins)
            man_heading(&w, out);
        man_row(&w.at, out);
    }
    man_examples(help, out);
}
