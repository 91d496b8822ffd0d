/* SPDX-License-Identifier: BSD-3-Clause */
/* optnear.c - the known option nearest to a name that nothing matches */
#include "config.h"
#include "base/optset.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 }; /* longer names are not compared, which keeps the table small */

struct nearest {
    int distance;
    char name[WEIR_OPT_NAME];
};

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

/* How many letters must be put in, left out or changed to make b of a; upper and lower case are
 * the same. */
static int count_edits(const char *a, size_t na, const char *b, size_t nb)
{
    int row[LONGEST + 1];

    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int corner = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int edits = least(row[j] + 1, row[j - 1] + 1, corner + !same);

            corner = row[j];
            row[j] = edits;
        }
    }
    return row[nb];
}

static void consider(struct nearest *best, const struct weir_optset *set, const char *word,
                     const struct weir_optname *name)
{
    char full[WEIR_OPT_NAME];
    size_t len;
    int edits;

    if (word == NULL)
        return;
    len = strlen(weir_opt_fullname(set, word, full));
    if (len > LONGEST)
        return;
    edits = count_edits(name->text, name->len, full, len);
    /* A backend's option typed without the backend's name: one edit, so that an exact name
     * wins. */
    if (set->prefix[0] != '\0' && strlen(word) == name->len &&
        count_edits(name->text, name->len, word, name->len) == 0)
        edits = 1;
    if (edits < best->distance) {
        best->distance = edits;
        memcpy(best->name, full, len + 1);
    }
}

int weir_opt_refuse_unknown(const struct weir_opts *o, const struct weir_optname *name,
                            struct weir_err *err)
{
    int limit = name->len < 4 ? 1 : name->len < 8 ? 2 : 3;
    struct nearest best = { .distance = limit + 1 };

    for (int i = 0; i < o->n && name->letter == 0 && name->len > 1 && name->len <= LONGEST; i++) {
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++) {
            if (row->type == WEIR_OPT_OLD || row->type == WEIR_OPT_GONE)
                continue;
            consider(&best, &o->set[i], row->name, name);
            consider(&best, &o->set[i], row->key, name);
            consider(&best, &o->set[i], row->key2, name);
        }
    }
    if (best.distance > limit)
        return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s'", name->shown);
    return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s' (did you mean '%s%s'?)", name->shown,
                       strncmp(name->shown, "--", 2) == 0 ? "--" : "", best.name);
}
