/* SPDX-License-Identifier: BSD-3-Clause */
/* near.c - the word that was probably meant */
#include "base/text/near.h"
#include "config.h"

#include <ctype.h>
#include <string.h>

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

int weir_near_edits(const char *a, size_t na, const char *b, size_t nb)
{
    int row[WEIR_NEAR_MOST + 1];

    if (na > WEIR_NEAR_MOST || nb > WEIR_NEAR_MOST)
        return WEIR_NEAR_MOST + 1;
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

int weir_near_limit(size_t len)
{
    return len < 4 ? 1 : len < 8 ? 2 : 3;
}

void weir_near_ask(const char *typed, const char *const *words, struct weir_str *out)
{
    size_t len = strlen(typed);
    int best = weir_near_limit(len) + 1;
    const char *found = NULL;

    for (; *words; words++) {
        int edits = weir_near_edits(typed, len, *words, strlen(*words));

        if (edits < best && edits < (int)len) {
            best = edits;
            found = *words;
        }
    }
    if (found)
        weir_str_addf(out, " (did you mean '%s'?)", found);
}
