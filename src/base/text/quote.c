/* SPDX-License-Identifier: BSD-3-Clause */
/* quote.c - text of unknown origin made fit for one line of a message, and the word that was
 * probably meant */
#include "base/text/quote.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The longest text shown whole; the rest of WEIR_QUOTE_TEXT is for "..." and NUL. */
enum { SHOWN = 200 };

size_t weir_utf8_len(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t want;

    if (len == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    want = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
           : s[0] >= 0xe0 && s[0] <= 0xef ? 3
           : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                          : 0;
    if (want == 0 || len < want)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Too long forms, surrogates, and what lies above U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return want;
}

const char *weir_utf8_next(const char **at, size_t *len)
{
    const char *character = *at;
    size_t n = weir_utf8_len(character, strnlen(character, 4));

    if (*character == '\0')
        return NULL;
    *at += n > 0 ? n : 1;
    *len = n > 0 ? n : 3;
    return n > 0 ? character : "\xef\xbf\xbd";
}

/* True when the character of n bytes only shows on a terminal. U+0080 to U+009F are control
 * characters, too. */
static bool is_printable(const char *text, size_t n)
{
    unsigned char c = (unsigned char)text[0], next = n > 1 ? (unsigned char)text[1] : 0;

    if (n == 0 || c < 0x20 || c == 0x7f)
        return false;
    return !(c == 0xc2 && next < 0xa0);
}

const char *weir_quote(const char *text, size_t len, char out[WEIR_QUOTE_TEXT])
{
    size_t used = 0, at = 0;

    if (text == NULL)
        len = 0;
    while (at < len) {
        size_t n = weir_utf8_len(text + at, len - at);
        bool as_is = is_printable(text + at, n);
        size_t width = as_is ? n : 4;

        if (used + width > SHOWN) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (as_is) {
            memcpy(out + used, text + at, n);
            at += n;
        } else {
            (void)snprintf(out + used, 5, "\\x%02x", (unsigned char)text[at]);
            at++;
        }
        used += width;
    }
    out[used] = '\0';
    return out;
}

const char *weir_quote_str(const char *text, char out[WEIR_QUOTE_TEXT])
{
    return weir_quote(text, text == NULL ? 0 : strlen(text), out);
}

/* ---- the word that was probably meant ---- */

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

int weir_near_edits(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][WEIR_NEAR_MAX + 1]; /* of a[i], a[i - 1] and a[i - 2] */

    if (na > WEIR_NEAR_MAX || nb > WEIR_NEAR_MAX)
        return WEIR_NEAR_MAX + 1;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least(last[j] + 1, now[j - 1] + 1, last[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1, now[j]); /* two letters changed places */
        }
    }
    return rows[na % 3][nb];
}

int weir_near_limit(size_t len)
{
    return len < 4 ? 1 : len < 8 ? 2 : 3;
}

int weir_near_ask(struct weir_err *err, const char *typed, size_t len, const char *const *words)
{
    int best = weir_near_limit(len) + 1;
    const char *found = NULL;

    for (; *words; words++) {
        int edits = weir_near_edits(typed, len, *words, strlen(*words));

        if (edits < best && edits < (int)len) {
            best = edits;
            found = *words;
        }
    }
    return found ? weir_err_add(err, " (did you mean '%s'?)", found) : -1;
}
