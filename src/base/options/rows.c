/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - typed option rows: tables, names, ranges, defaults, groups */
#include "base/options/help.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

/* True when these len bytes are a name of the row, with its prefix and in upper or lower case. */
static bool has_name(const struct weir_opt *row, const char *prefix, const char *text, size_t len)
{
    const char *const names[] = { row->name, row->key, row->key2 };
    size_t skip = strlen(prefix);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i] != NULL && len == skip + strlen(names[i]) &&
            strncasecmp(text, prefix, skip) == 0 &&
            strncasecmp(text + skip, names[i], len - skip) == 0)
            return true;
    return false;
}

bool weir_opt_matches(const struct weir_optrow *at, const struct weir_optname *name)
{
    if (name->letter != 0)
        return at->row->letter == name->letter;
    return name->len > 0 && has_name(at->row, at->set->prefix, name->text, name->len);
}

const struct weir_opt *weir_opt_row_of(const struct weir_opt *rows, const char *key)
{
    for (; !weir_opt_is_end(rows); rows++)
        if (has_name(rows, "", key, strlen(key)))
            return rows;
    return NULL;
}

bool weir_opt_is_on(const struct weir_opt *rows, const void *values, const char *flag)
{
    const struct weir_opt *row = rows && values ? weir_opt_row_of(rows, flag) : NULL;

    return row && *(const bool *)((const char *)values + row->offset);
}

bool weir_opt_is_typed(const struct weir_opt_typed *typed, const struct weir_opt *rows,
                       const char *key)
{
    const struct weir_opt *row = weir_opt_row_of(rows, key);
    size_t i = row ? (size_t)(row - rows) : WEIR_OPT_TYPED;

    return i < WEIR_OPT_TYPED && typed->bits[i / 64] >> i % 64 & 1;
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
           !(row->flags & (WEIR_OPT_HIDDEN | WEIR_OPT_ABSENT));
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
    /* The self-check finds a name that does not fit. */
    (void)snprintf(out, WEIR_OPT_NAME, "%s%s", set->prefix, name);
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

/* True for a row with numbers of 64 bits. */
static bool is_wide(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_SIZE || row->type == WEIR_OPT_LIST;
}

bool weir_opt_is_number(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_COUNT || row->type == WEIR_OPT_INT ||
           row->type == WEIR_OPT_REAL || is_wide(row);
}

void weir_opt_limits(const struct weir_opt *row, int64_t *min, int64_t *max)
{
    *min = is_wide(row) ? INT64_MIN : row->type == WEIR_OPT_COUNT ? 0 : INT_MIN;
    *max = is_wide(row) ? INT64_MAX : INT_MAX;
}

void weir_opt_range(const struct weir_opt *row, int64_t *min, int64_t *max)
{
    weir_opt_limits(row, min, max);
    if (row->min == 0 && row->max == 0)
        return;
    *min = is_wide(row) || row->min > INT_MIN ? row->min : INT_MIN;
    if (row->max < *max && !(row->min > 0 && row->max == 0))
        *max = row->max;
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

/* Parse the default of a row: 0, false or NULL when it has none. */
static int parse_default(const struct weir_optrow *at, struct weir_optvalue *value,
                         struct weir_err *err)
{
    const struct weir_opt *row = at->row;
    char full[WEIR_OPT_NAME];
    const char *name = row->name != NULL ? row->name : row->key != NULL ? row->key : "";

    *value = (struct weir_optvalue) { 0 };
    if (row->def == NULL || weir_opt_parse(row, row->def, value, err) == 0)
        return 0;
    if (err != NULL)
        err->code = WEIR_EBUG;
    return weir_err_within(err, "the default of option '%s' (letter '%c')",
                           weir_opt_fullname(at->set, name, full),
                           row->letter != 0 ? row->letter : '-');
}

int weir_opts_defaults(struct weir_opts *o, struct weir_err *err)
{
    struct weir_optvalue value;

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        if (at.row->type < WEIR_OPT_DIRECTIVES && (parse_default(&at, &value, err) < 0 ||
                                                   weir_opt_store(o, &at, &value, err) < 0))
            return -1;
    return 0;
}

/* ---- the walk of help and man page ---- */

const char *const weir_topic_names[] = {
    "files", "order", "data", "time", "output", "trust", NULL
};
const char *const weir_topic_titles[] = { "Files and directories",
                                          "Phases, tasks and the order of accesses",
                                          "Sizes, contents and checks of the data",
                                          "Time, repetitions and limits",
                                          "Results and messages",
                                          "What the numbers are worth",
                                          NULL };

/* Groups from 0 on: the topics, the rows without topic, and then the tables. */
enum { TOPICS = WEIR_TOPIC_TRUST };

enum weir_topic weir_optwalk_topic(const struct weir_optwalk *w)
{
    return w->group < TOPICS ? (enum weir_topic)(w->group + 1) : WEIR_TOPIC_NONE;
}

static bool is_in_group(const struct weir_optwalk *w)
{
    if (w->group > TOPICS)
        return w->at.set->title && w->at.table == w->group - TOPICS - 1;
    return !w->at.set->title && w->at.row->topic == weir_optwalk_topic(w);
}

bool weir_optwalk_next(const struct weir_opts *o, struct weir_optwalk *w)
{
    w->begins = w->at.row == NULL;
    for (; w->group <= TOPICS + o->n; w->group++) {
        while (weir_opts_next(o, &w->at))
            if (is_in_group(w) && (!w->takes || w->takes(w->at.row)))
                return true;
        w->at = (struct weir_optrow) { 0 };
        w->begins = true;
    }
    return false;
}
