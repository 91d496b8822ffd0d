/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - strings as JSON */
#include "config.h"
#include "base/json.h"

#include <string.h>

#include "base/quote.h"

/* Append one ASCII character. */
static void add_ascii(struct weir_str *s, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = strchr(plain, c);

    if (found != NULL) {
        weir_str_addc(s, '\\');
        weir_str_addc(s, letter[found - plain]);
    } else if ((unsigned char)c < 0x20 || c == 0x7f) {
        weir_str_addf(s, "\\u%04x", (unsigned)c);
    } else {
        weir_str_addc(s, c);
    }
}

void weir_str_add_json(struct weir_str *s, const char *text)
{
    if (text == NULL) {
        weir_str_addf(s, "null");
        return;
    }
    weir_str_addc(s, '"');
    for (size_t left = strlen(text); left > 0;) {
        size_t n = weir_utf8_len(text, left);

        if (n == 0)
            weir_str_add(s, "\xef\xbf\xbd", 3);
        else if (n == 1)
            add_ascii(s, *text);
        else
            weir_str_add(s, text, n);
        n = n == 0 ? 1 : n;
        text += n;
        left -= n;
    }
    weir_str_addc(s, '"');
}
