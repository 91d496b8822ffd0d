/* SPDX-License-Identifier: BSD-3-Clause */
/* optnear.c - the known option nearest to a name that nothing matches */
#include "base/options/optset.h"
#include "config.h"

#include <string.h>

#include "base/text/near.h"

struct nearest {
    int distance;
    char name[WEIR_OPT_NAME];
};

static void consider(struct nearest *best, const struct weir_optset *set, const char *word,
                     const struct weir_optname *name)
{
    char full[WEIR_OPT_NAME];
    size_t len;
    int edits;

    if (word == NULL)
        return;
    len = strlen(weir_opt_fullname(set, word, full));
    edits = weir_near_edits(name->text, name->len, full, len);
    /* A backend's option typed without the backend's name: one edit, so that an exact name
     * wins. */
    if (set->prefix[0] != '\0' && strlen(word) == name->len &&
        weir_near_edits(name->text, name->len, word, name->len) == 0)
        edits = 1;
    if (edits < best->distance) {
        best->distance = edits;
        memcpy(best->name, full, len + 1);
    }
}

int weir_opt_refuse_unknown(const struct weir_opts *o, const struct weir_optname *name,
                            struct weir_err *err)
{
    int limit = weir_near_limit(name->len);
    struct nearest best = { .distance = limit + 1 };

    for (int i = 0; i < o->n && name->letter == 0 && name->len > 1 && name->len <= WEIR_NEAR_MOST; i++) {
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
