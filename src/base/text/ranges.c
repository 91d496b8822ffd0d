/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.c - lists of numbers as people type and read them: "0-15,32-62:2,70" */
#include "base/text/ranges.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number, where there is one; *at stands after it then. */
static bool take_number(const char **at, int64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoll(*at, &end, 10);
    *at = end;
    return *number <= INT32_MAX;
}

bool weir_range_next(const char **at, struct weir_range *r)
{
    bool good;

    if (!**at)
        return false;
    good = take_number(at, &r->first);
    r->last = r->first;
    r->step = 1;
    if (good && **at == '-') {
        ++*at;
        good = take_number(at, &r->last) && r->last >= r->first;
        if (good && **at == ':') {
            ++*at;
            good = take_number(at, &r->step) && r->step > 0;
        }
    }
    if (!good || (**at && **at != ','))
        r->first = -1;
    *at += strcspn(*at, ",");
    *at += **at == ',';
    return true;
}

bool weir_ranges_check(const char *list)
{
    struct weir_range r;

    if (!*list || list[strlen(list) - 1] == ',')
        return false;
    while (weir_range_next(&list, &r))
        if (r.first < 0)
            return false;
    return true;
}

bool weir_ranges_have(const char *list, int64_t number)
{
    struct weir_range r;

    while (weir_range_next(&list, &r))
        if (r.first <= number && number <= r.last && (number - r.first) % r.step == 0)
            return true;
    return false;
}

int64_t weir_ranges_last(const char *list)
{
    struct weir_range r;
    int64_t last = -1;

    while (weir_range_next(&list, &r))
        last = r.last > last ? r.last : last;
    return last;
}
