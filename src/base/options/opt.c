/* SPDX-License-Identifier: BSD-3-Clause */
/* opt.c - typed option rows: tables, defaults, one option by name, the self-check */
#include "base/options/opt.h"
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/options/optset.h"
#include "base/str.h"

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
static int parse_default(const struct weir_optset *set, const struct weir_opt *row,
                         struct weir_optvalue *value, struct weir_err *err)
{
    char full[WEIR_OPT_NAME];
    const char *name = row->name != NULL ? row->name : row->key != NULL ? row->key : "";

    *value = (struct weir_optvalue) { 0 };
    if (row->def == NULL)
        return 0;
    if (weir_opt_parse(row, row->def, value, err) < 0) {
        if (err != NULL)
            err->code = WEIR_EBUG;
        return weir_err_within(err, "the default of option '%s' (letter '%c')",
                               weir_opt_fullname(set, name, full),
                               row->letter != 0 ? row->letter : '-');
    }
    return 0;
}

int weir_opts_defaults(struct weir_opts *o, struct weir_err *err)
{
    struct weir_optvalue value;

    for (int i = 0; i < o->n; i++) {
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++) {
            if (!has_field(row))
                continue;
            if (parse_default(&o->set[i], row, &value, err) < 0 ||
                weir_opt_store(o, &o->set[i], row, &value, err) < 0)
                return -1;
        }
    }
    return 0;
}

int weir_opts_set(struct weir_opts *o, const char *name, const char *value, struct weir_err *err)
{
    struct weir_optname n = { .text = name + strspn(name, "-") };
    const struct weir_opt *row;

    n.len = strlen(n.text);
    if (n.len == 1 && n.text == name + 1)
        n.letter = *n.text;
    weir_quote_str(name, n.shown);
    row = weir_opt_find(o, &n);
    if (row != NULL && (row->flags & WEIR_OPT_ARGV_ONLY))
        return weir_refuse(err, WEIR_EUSAGE, "option %s can only stand on the command line itself",
                           n.shown);
    return weir_opt_apply(o, &n, value, err);
}

void weir_opt_show(const struct weir_opt *row, const void *values, struct weir_str *s)
{
    const char *field = values == NULL ? NULL : (const char *)values + row->offset;
    const char *text = row->def;

    if (row->type >= WEIR_OPT_DIRECTIVES)
        return;
    if (field == NULL) {
        weir_str_addf(s, "%s", text != NULL ? text : row->type >= WEIR_OPT_STR ? "" : "0");
    } else if (row->type == WEIR_OPT_FLAG) {
        weir_str_addc(s, *(const bool *)field ? '1' : '0');
    } else if (row->type == WEIR_OPT_SIZE) {
        weir_str_addf(s, "%" PRId64, *(const int64_t *)field);
    } else if (row->type == WEIR_OPT_REAL) {
        weir_str_addf(s, "%.15g", *(const double *)field);
    } else if (row->type == WEIR_OPT_STR) {
        text = *(const char *const *)field;
        weir_str_addf(s, "%s", text != NULL ? text : "");
    } else if (row->type == WEIR_OPT_LIST) {
        weir_optlist_show((const struct weir_optlist *)field, s);
    } else {
        weir_str_addf(s, "%d", *(const int *)field);
    }
}

bool weir_opt_number(const struct weir_opt *row, const void *values, int64_t *whole, double *real)
{
    const char *field = (const char *)values + row->offset;

    *whole = 0;
    if (row->type == WEIR_OPT_REAL) {
        *real = *(const double *)field;
        if (!(fabs(*real) < 1e15) || *real != floor(*real))
            return false;
        *whole = (int64_t)*real;
        return true;
    }
    if (row->type == WEIR_OPT_FLAG)
        *whole = *(const bool *)field;
    else if (row->type == WEIR_OPT_SIZE)
        *whole = *(const int64_t *)field;
    else if (row->type == WEIR_OPT_INT || row->type == WEIR_OPT_COUNT)
        *whole = *(const int *)field;
    *real = (double)*whole;
    return true;
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
static int blame(const struct weir_optset *set, const struct weir_opt *row, const char *what,
                 struct weir_err *err)
{
    return weir_refuse(err, WEIR_EBUG, "option table '%s', row '%s' (key '%s', letter '%c'): %s",
                       set->prefix, row->name != NULL ? row->name : "",
                       row->key != NULL ? row->key : "", row->letter != 0 ? row->letter : '-',
                       what);
}

static bool fits(const struct weir_optset *set, const char *name)
{
    return name == NULL ||
           (name[0] != '\0' && name[0] != '-' && strcspn(name, "=,# \t\"") == strlen(name) &&
            strlen(set->prefix) + strlen(name) < WEIR_OPT_NAME);
}

static int check_row(const struct weir_optset *set, const struct weir_opt *row,
                     struct weir_err *err)
{
    struct weir_optvalue value;
    int64_t min, max;
    size_t len = row->help == NULL ? 0 : strlen(row->help);

    weir_opt_range(row, &min, &max);
    if (len == 0)
        return blame(set, row, "no help sentence", err);
    if (row->help[len - 1] == '.')
        return blame(set, row, "the help sentence ends with a period", err);
    if (min > max)
        return blame(set, row, "the range is upside down", err);
    if (!fits(set, row->name) || !fits(set, row->key) || !fits(set, row->key2))
        return blame(set, row,
                     "a name is empty, too long, or has a character in it that cannot be typed",
                     err);
    if (row->offset + field_size(row) > set->size)
        return blame(set, row, "the field lies outside of the struct", err);
    if (weir_opt_stands_for(row) &&
        (row->def == NULL || (*row->def != '\0' && strchr(row->def, '=') == NULL)))
        return blame(set, row, "an old spelling without the directive it stands for", err);
    if (row->letter != 0 && strchr("-= \t,#", row->letter) != NULL)
        return blame(set, row, "a letter that cannot be typed", err);
    return has_field(row) ? parse_default(set, row, &value, err) : 0;
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
static int check_others(const struct weir_opts *o, int table, const struct weir_opt *row,
                        struct weir_err *err)
{
    const struct weir_optset *set = &o->set[table];

    for (int i = 0; i <= table; i++) {
        bool same_prefix = strcasecmp(set->prefix, o->set[i].prefix) == 0;

        for (const struct weir_opt *other = o->set[i].rows; other != row && !weir_opt_is_end(other);
             other++) {
            bool letters = row->letter != 0 && row->letter == other->letter;

            if (!letters && !(same_prefix && share_name(row, other)))
                continue;
            if (i == table)
                return blame(set, row, "another row of the table has the same name", err);
            if (weir_opt_takes_value(row) != weir_opt_takes_value(other))
                return blame(set, row,
                             "a row of this name in another table disagrees about having a value",
                             err);
        }
    }
    return 0;
}

int weir_opts_selfcheck(const struct weir_opts *o, struct weir_err *err)
{
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++)
            if (check_row(&o->set[i], row, err) < 0 || check_others(o, i, row, err) < 0)
                return -1;
    return 0;
}
