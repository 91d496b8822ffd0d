/* SPDX-License-Identifier: BSD-3-Clause */
/* optlist.c - options that have several values: numbers, one for each dimension, and names of
 * places */
#include "base/options/optset.h"
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

#define BETWEEN ", \t"

int weir_optlist_parse(const struct weir_opt *row, const char *text, struct weir_optlist *list,
                       struct weir_err *err)
{
    struct weir_optvalue value;
    char word[WEIR_QUOTE_TEXT];

    list->n = 0;
    for (text += strspn(text, BETWEEN); *text; text += strspn(text, BETWEEN)) {
        size_t len = strcspn(text, BETWEEN);

        if (list->n == WEIR_OPTLIST_MOST)
            return weir_refuse(err, WEIR_EUSAGE, "more than %d numbers", WEIR_OPTLIST_MOST);
        weir_quote(text, len, word); /* what cannot be quoted as it is, is no number */
        if (weir_opt_parse_number(row, word, &value, err) < 0)
            return -1;
        list->v[list->n++] = value.number;
        text += len;
    }
    return list->n > 0 ? 0 : weir_refuse(err, WEIR_EUSAGE, "no number is given");
}

int weir_optlist_spread(const struct weir_optlist *list, const char *name, int dims,
                        const char *what, uint64_t *out, struct weir_err *err)
{
    if (list->n != 1 && list->n != dims)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "option --%s has %d values, but %s is %d: give one value, or one for each", name,
            list->n, what, dims);
    for (int d = 0; d < dims; d++)
        out[d] = (uint64_t)list->v[list->n == 1 ? 0 : d];
    return 0;
}

void weir_optlist_show(const struct weir_optlist *list, struct weir_str *s)
{
    for (int i = 0; i < list->n; i++)
        weir_str_addf(s, "%s%" PRId64, i ? "," : "", list->v[i]);
}

int weir_places_count(const char *list)
{
    int n = 1;

    for (; *list; list++)
        n += *list == '@';
    return n;
}

const char *weir_places_at(const char *list, int i, size_t *len)
{
    for (; i > 0; i--)
        list = strchr(list, '@') + 1;
    *len = strcspn(list, "@");
    return list;
}
