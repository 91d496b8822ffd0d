/* SPDX-License-Identifier: BSD-3-Clause */
/* optdump.c - the option rows as words */
#include "config.h"
#include "base/optdump.h"

#include <stdbool.h>
#include <string.h>

#include "base/optset.h"

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
