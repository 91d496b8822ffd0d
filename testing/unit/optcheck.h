/* SPDX-License-Identifier: BSD-3-Clause */
/* optcheck.h - a check of the tables of options themselves */
#pragma once

#include <string.h>
#include <strings.h>

#include "base/options/option.h"

static inline bool has_field(const struct weir_opt *row)
{
    return row->type < WEIR_OPT_DIRECTIVES;
}

/* Bytes of a row's field. */
static inline size_t field_size(const struct weir_opt *row)
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
static inline int blame(const struct weir_optrow *at, const char *what, struct weir_err *err)
{
    const struct weir_opt *row = at->row;

    return weir_refuse(err, WEIR_EBUG, "option table '%s', row '%s' (key '%s', letter '%c'): %s",
                       at->set->prefix, row->name != NULL ? row->name : "",
                       row->key != NULL ? row->key : "", row->letter != 0 ? row->letter : '-',
                       what);
}

static inline bool fits(const struct weir_optset *set, const char *name)
{
    return name == NULL ||
           (name[0] != '\0' && name[0] != '-' && strcspn(name, "=,# \t\"") == strlen(name) &&
            strlen(set->prefix) + strlen(name) < WEIR_OPT_NAME);
}

static inline int check_row(const struct weir_optrow *at, struct weir_err *err)
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
    if (has_field(row) && row->def && weir_opt_parse(row, row->def, &value, NULL) < 0)
        return blame(at, "the default cannot be parsed", err);
    return 0;
}

/* Does a name of 'row' mean 'other' as well? */
static inline bool share_name(const struct weir_opt *row, const struct weir_opt *other)
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
static inline int check_others(const struct weir_opts *o, const struct weir_optrow *at,
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

/* Two rows with one name in one table, a default that cannot be parsed, a missing help sentence, a
 * range upside down. Local. Returns 0, or -1 and err (WEIR_EBUG). */
static inline int optcheck(const struct weir_opts *o, struct weir_err *err)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (check_row(&at, err) < 0 || check_others(o, &at, err) < 0)
            return -1;
    return 0;
}
