/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - typed option rows: tables, names, ranges, defaults, the self-check */
#include "base/options/option.h"
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

bool weir_opt_is_end(const struct weir_opt *row)
{
    return row->name == NULL && row->letter == 0 && row->key == NULL;
}

bool weir_opts_next(const struct weir_opts *o, struct weir_optrow *at)
{
    for (; at->table < o->n; at->table++, at->row = NULL) {
        at->set = &o->set[at->table];
        at->row = at->row != NULL ? at->row + 1 : at->set->rows;
        if (!weir_opt_is_end(at->row))
            return true;
    }
    return false;
}

/* Is 'word' (may be NULL) with its prefix the name? */
static bool is_word(const char *prefix, const char *word, const struct weir_optname *name)
{
    size_t skip = strlen(prefix);

    return word != NULL && name->len == skip + strlen(word) &&
           strncasecmp(name->text, prefix, skip) == 0 &&
           strncasecmp(name->text + skip, word, name->len - skip) == 0;
}

bool weir_opt_matches(const struct weir_optrow *at, const struct weir_optname *name)
{
    const char *prefix = at->set->prefix;

    if (name->letter != 0)
        return at->row->letter == name->letter;
    return name->len > 0 &&
           (is_word(prefix, at->row->name, name) || is_word(prefix, at->row->key, name) ||
            is_word(prefix, at->row->key2, name));
}

const struct weir_opt *weir_opt_row_of(const struct weir_opt *rows, const char *key)
{
    for (; !weir_opt_is_end(rows); rows++)
        if ((rows->name && strcasecmp(rows->name, key) == 0) ||
            (rows->key && strcasecmp(rows->key, key) == 0) ||
            (rows->key2 && strcasecmp(rows->key2, key) == 0))
            return rows;
    return NULL;
}

const struct weir_opt *weir_opt_find(const struct weir_opts *o, const struct weir_optname *name)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (weir_opt_matches(&at, name))
            return at.row;
    return NULL;
}

bool weir_opt_is_current(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_OLD && row->type != WEIR_OPT_GONE &&
           !(row->flags & WEIR_OPT_HIDDEN);
}

bool weir_opt_stands_for(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_OLD || row->type == WEIR_OPT_ALIAS;
}

bool weir_opt_takes_value(const struct weir_opt *row)
{
    switch (row->type) {
    case WEIR_OPT_LIST:
    case WEIR_OPT_DIRECTIVES:
        return true;
    case WEIR_OPT_INT:
    case WEIR_OPT_SIZE:
    case WEIR_OPT_REAL:
    case WEIR_OPT_STR:
        return !(row->flags & WEIR_OPT_OPTARG);
    case WEIR_OPT_OLD:
    case WEIR_OPT_ALIAS:
        return row->def != NULL && strstr(row->def, "%s") != NULL;
    default:
        return false;
    }
}

const char *weir_opt_fullname(const struct weir_optset *set, const char *name,
                              char out[WEIR_OPT_NAME])
{
    if (snprintf(out, WEIR_OPT_NAME, "%s%s", set->prefix, name) >= WEIR_OPT_NAME)
        out[WEIR_OPT_NAME - 1] = '\0'; /* the self-check finds a name that does not fit */
    return out;
}

const char *weir_opt_meta(const struct weir_opt *row)
{
    return row->meta != NULL ? row->meta : row->type == WEIR_OPT_STR ? "STRING" : "VALUE";
}

void weir_opt_add_choices(const struct weir_opt *row, const char *before, const char *after,
                          struct weir_str *out)
{
    if (row->choices == NULL)
        return;
    weir_str_addf(out, "%s", before);
    for (const char *const *c = row->choices; *c != NULL; c++)
        weir_str_addf(out, "%s%s", c == row->choices ? "" : ", ", *c);
    weir_str_addf(out, "%s", after);
}

bool weir_opt_is_wide(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_SIZE || row->type == WEIR_OPT_LIST;
}

bool weir_opt_is_number(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_COUNT || row->type == WEIR_OPT_INT ||
           row->type == WEIR_OPT_REAL || weir_opt_is_wide(row);
}

void weir_opt_range(const struct weir_opt *row, int64_t *min, int64_t *max)
{
    bool is_narrowed = row->min != 0 || row->max != 0;
    bool is_wide = weir_opt_is_wide(row);
    int64_t lowest = is_wide ? INT64_MIN : row->type == WEIR_OPT_COUNT ? 0 : INT_MIN;
    int64_t highest = is_wide ? INT64_MAX : INT_MAX;

    *min = is_narrowed ? row->min : lowest;
    *max = is_narrowed && !(row->min > 0 && row->max == 0) ? row->max : highest;
    if (!is_wide) {
        *min = *min < INT_MIN ? INT_MIN : *min;
        *max = *max > INT_MAX ? INT_MAX : *max;
    }
}

int weir_opts_add(struct weir_opts *o, const struct weir_optset *set, struct weir_err *err)
{
    if (o->n >= WEIR_OPTSETS)
        return weir_refuse(err, WEIR_EBUG, "more than %d tables of options", WEIR_OPTSETS);
    o->set[o->n] = *set;
    if (set->prefix == NULL)
        o->set[o->n].prefix = "";
    o->n++;
    return 0;
}

/* Does the row have a field? */
static bool has_field(const struct weir_opt *row)
{
    return row->type < WEIR_OPT_DIRECTIVES;
}

/* Parse the default of a row: 0, false or NULL when it has none. */
static int parse_default(const struct weir_optrow *at, struct weir_optvalue *value,
                         struct weir_err *err)
{
    const struct weir_opt *row = at->row;
    char full[WEIR_OPT_NAME];
    const char *name = row->name != NULL ? row->name : row->key != NULL ? row->key : "";

    *value = (struct weir_optvalue) { 0 };
    if (row->def == NULL)
        return 0;
    if (weir_opt_parse(row, row->def, value, err) < 0) {
        if (err != NULL)
            err->code = WEIR_EBUG;
        return weir_err_within(err, "the default of option '%s' (letter '%c')",
                               weir_opt_fullname(at->set, name, full),
                               row->letter != 0 ? row->letter : '-');
    }
    return 0;
}

int weir_opts_defaults(struct weir_opts *o, struct weir_err *err)
{
    struct weir_optvalue value;

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (has_field(at.row) && (parse_default(&at, &value, err) < 0 ||
                                  weir_opt_store(o, &at, &value, err) < 0))
            return -1;
    return 0;
}

/* Bytes of a row's field. */
static size_t field_size(const struct weir_opt *row)
{
    static const size_t sizes[] = {
        [WEIR_OPT_FLAG] = sizeof(bool),        [WEIR_OPT_COUNT] = sizeof(int),
        [WEIR_OPT_INT] = sizeof(int),          [WEIR_OPT_SIZE] = sizeof(int64_t),
        [WEIR_OPT_REAL] = sizeof(double),      [WEIR_OPT_STR] = sizeof(const char *),
        [WEIR_OPT_LIST] = sizeof(struct weir_optlist),
    };

    return has_field(row) ? sizes[row->type] : 0;
}

/* Refuse a row of a table. */
static int blame(const struct weir_optrow *at, const char *what, struct weir_err *err)
{
    const struct weir_opt *row = at->row;

    return weir_refuse(err, WEIR_EBUG, "option table '%s', row '%s' (key '%s', letter '%c'): %s",
                       at->set->prefix, row->name != NULL ? row->name : "",
                       row->key != NULL ? row->key : "", row->letter != 0 ? row->letter : '-',
                       what);
}

static bool fits(const struct weir_optset *set, const char *name)
{
    return name == NULL ||
           (name[0] != '\0' && name[0] != '-' && strcspn(name, "=,# \t\"") == strlen(name) &&
            strlen(set->prefix) + strlen(name) < WEIR_OPT_NAME);
}

static int check_row(const struct weir_optrow *at, struct weir_err *err)
{
    const struct weir_optset *set = at->set;
    const struct weir_opt *row = at->row;
    struct weir_optvalue value;
    int64_t min, max;
    size_t len = row->help == NULL ? 0 : strlen(row->help);

    weir_opt_range(row, &min, &max);
    if (len == 0)
        return blame(at, "no help sentence", err);
    if (row->help[len - 1] == '.')
        return blame(at, "the help sentence ends with a period", err);
    if (min > max)
        return blame(at, "the range is upside down", err);
    if (!fits(set, row->name) || !fits(set, row->key) || !fits(set, row->key2))
        return blame(at,
                     "a name is empty, too long, or has a character in it that cannot be typed",
                     err);
    if (row->offset + field_size(row) > set->size)
        return blame(at, "the field lies outside of the struct", err);
    if (weir_opt_stands_for(row) &&
        (row->def == NULL || (*row->def != '\0' && strchr(row->def, '=') == NULL)))
        return blame(at, "an old spelling without the directive it stands for", err);
    if (row->letter != 0 && strchr("-= \t,#", row->letter) != NULL)
        return blame(at, "a letter that cannot be typed", err);
    return has_field(row) ? parse_default(at, &value, err) : 0;
}

/* Does a name of 'row' mean 'other' as well? */
static bool share_name(const struct weir_opt *row, const struct weir_opt *other)
{
    const char *const mine[] = { row->name, row->key, row->key2 };
    const char *const theirs[] = { other->name, other->key, other->key2 };

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (mine[i] != NULL && theirs[j] != NULL && strcasecmp(mine[i], theirs[j]) == 0)
                return true;
    return row->letter != 0 && row->letter == other->letter;
}

/* Across tables one name is fine, but then the row must read a command line in the same way. */
static int check_others(const struct weir_opts *o, const struct weir_optrow *at,
                        struct weir_err *err)
{
    const struct weir_opt *row = at->row;

    for (struct weir_optrow other = { 0 }; weir_opts_next(o, &other);) {
        bool same_prefix = strcasecmp(at->set->prefix, other.set->prefix) == 0;
        bool letters = row->letter != 0 && row->letter == other.row->letter;

        if (other.table == at->table && other.row == row)
            return 0;
        if (!letters && !(same_prefix && share_name(row, other.row)))
            continue;
        if (other.table == at->table)
            return blame(at, "another row of the table has the same name", err);
        if (weir_opt_takes_value(row) != weir_opt_takes_value(other.row))
            return blame(at, "a row of this name in another table disagrees about having a value",
                         err);
    }
    return 0;
}

int weir_opts_selfcheck(const struct weir_opts *o, struct weir_err *err)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (check_row(&at, err) < 0 || check_others(o, &at, err) < 0)
            return -1;
    return 0;
}
