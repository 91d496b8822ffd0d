/* SPDX-License-Identifier: BSD-3-Clause */
/* optdump.c - the option rows as words and as JSON */
#include "base/options/optdump.h"
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/options/opthelp.h"
#include "base/options/optset.h"
#include "base/text/json.h"

bool weir_opt_is_current(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_OLD && row->type != WEIR_OPT_GONE &&
           !(row->flags & WEIR_OPT_HIDDEN);
}

/* Can a row be set in scripts and -O? */
static bool is_key(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_DIRECTIVES && !(row->flags & WEIR_OPT_ARGV_ONLY);
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

            if (!weir_opt_is_current(row))
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

/* ---- JSON ---- */

/* A name with its prefix, or null. */
static void json_name(struct weir_json *j, const char *key, const struct weir_optset *set,
                      const char *name)
{
    char full[WEIR_OPT_NAME];

    weir_json_str(j, key, name == NULL ? NULL : weir_opt_fullname(set, name, full));
}

static void json_keys(struct weir_json *j, const struct weir_optset *set,
                      const struct weir_opt *row)
{
    weir_json_open(j, "keys", true);
    if (row->key != NULL)
        json_name(j, NULL, set, row->key);
    if (row->key2 != NULL)
        json_name(j, NULL, set, row->key2);
    weir_json_close(j);
}

static void json_range(struct weir_json *j, const struct weir_opt *row)
{
    int64_t min, max;

    if (row->type == WEIR_OPT_COUNT || row->type == WEIR_OPT_INT ||
        row->type == WEIR_OPT_REAL || weir_opt_is_wide(row)) {
        weir_opt_range(row, &min, &max);
        weir_json_int(j, "min", min);
        weir_json_int(j, "max", max);
    } else {
        weir_json_null(j, "min");
        weir_json_null(j, "max");
    }
}

static void json_choices(struct weir_json *j, const struct weir_opt *row)
{
    if (row->choices == NULL) {
        weir_json_null(j, "choices");
        return;
    }
    weir_json_open(j, "choices", true);
    for (const char *const *c = row->choices; *c != NULL; c++)
        weir_json_str(j, NULL, *c);
    weir_json_close(j);
}

static void json_row(struct weir_json *j, const struct weir_optset *set, const struct weir_opt *row)
{
    static const char *const types[] = {
        [WEIR_OPT_FLAG] = "flag",   [WEIR_OPT_COUNT] = "count",
        [WEIR_OPT_INT] = "int",     [WEIR_OPT_SIZE] = "size",
        [WEIR_OPT_REAL] = "real",   [WEIR_OPT_STR] = "string",
        [WEIR_OPT_DIRECTIVES] = "directives",
        [WEIR_OPT_ALIAS] = "alias", [WEIR_OPT_OLD] = "old",
        [WEIR_OPT_GONE] = "gone", [WEIR_OPT_LIST] = "list",
    };
    const char letter[] = { row->letter, '\0' };

    weir_json_open(j, NULL, false);
    weir_json_str(j, "table", set->title);
    weir_json_str(j, "type", types[row->type]);
    weir_json_str(j, "letter", row->letter != 0 ? letter : NULL);
    json_name(j, "name", set, row->name);
    json_keys(j, set, row);
    weir_json_str(j, "default", row->def);
    json_range(j, row);
    json_choices(j, row);
    weir_json_str(j, "topic", row->topic ? weir_topic_names[row->topic - 1] : NULL);
    weir_json_str(j, "help", row->help);
    weir_json_close(j);
}

void weir_optdump_json(const struct weir_opts *o, struct weir_str *out)
{
    struct weir_json j = { .out = out, .flat = 2 }; /* a row a line */

    weir_json_open(&j, NULL, true);
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++)
            json_row(&j, &o->set[i], row);
    weir_json_close(&j);
    weir_str_addc(out, '\n');
}
