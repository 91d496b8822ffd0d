/* SPDX-License-Identifier: BSD-3-Clause */
/* directive.c - the grammar of "key=value, key=value # comment", for -O and for scripts */
#include "base/text/directive.h"
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/quote.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Bytes from 'from' to 'to' without blanks at the end. */
static size_t trimmed(const char *from, const char *to)
{
    while (to > from && is_blank(to[-1]))
        to--;
    return (size_t)(to - from);
}

static bool has_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (is_blank(text[i]))
            return true;
    return false;
}

/* The extent of one piece: where '=' is (NULL: nowhere) and where it stops, at a ',', a '#' or
 * the end. A quoted value hides both; one without closing mark reaches to the end. */
static const char *find_stop(const char *at, const char *end, const char **equals)
{
    *equals = NULL;
    for (; at < end && *at != ',' && *at != '#'; at++) {
        if (*at != '=' || *equals != NULL)
            continue;
        *equals = at;
        at = skip_blanks(at + 1, end);
        if (at < end && *at == '"') {
            at = memchr(at + 1, '"', (size_t)(end - at - 1));
            if (at == NULL)
                return end;
        } else {
            at--; /* the loop steps on */
        }
    }
    return at;
}

/* Take the value, whose first character is at 'from', apart. */
static int read_value(const char *from, const char *stop, struct weir_directive *d,
                      struct weir_err *err)
{
    char key[WEIR_QUOTE_TEXT], shown[WEIR_QUOTE_TEXT];
    const char *close;

    weir_quote(d->key, d->key_len, key);
    from = skip_blanks(from, stop);
    d->value = from;
    d->value_len = trimmed(from, stop);
    if (d->value_len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s=' needs a value after '='", key);
    if (*from != '"') {
        if (has_blank(d->value, d->value_len))
            return weir_refuse(err, WEIR_EUSAGE,
                               "the value '%s' of '%s' has a blank in it; separate options by "
                               "commas, or put the "
                               "value in double quotes",
                               weir_quote(d->value, d->value_len, shown), key);
        return 0;
    }
    close = memchr(from + 1, '"', (size_t)(stop - from - 1));
    if (close == NULL)
        return weir_refuse(err, WEIR_EUSAGE, "the value of '%s' has no closing quotation mark",
                           key);
    if (close + 1 != from + d->value_len)
        return weir_refuse(err, WEIR_EUSAGE,
                           "the value of '%s' has text after the closing quotation mark", key);
    d->value = from + 1;
    d->value_len = (size_t)(close - from - 1);
    return 0;
}

int weir_directive_next(const char **at, const char *end, struct weir_directive *d,
                        struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *from, *equals, *stop;

    if (*at > end)
        return 0;
    from = skip_blanks(*at, end);
    stop = find_stop(from, end, &equals);
    /* A comment ends the list, so do not look after it. */
    *at = stop < end && *stop == ',' ? stop + 1 : end + 1;
    d->key = from;
    d->key_len = trimmed(from, equals != NULL ? equals : stop);
    weir_quote(from, trimmed(from, stop), shown);
    if (trimmed(from, stop) == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "an option is missing: there is nothing before or after a comma");
    if (equals == NULL)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' needs '=value' here, as in '%s=1'", shown,
                           shown);
    if (d->key_len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' has no option name before '='", shown);
    return read_value(equals + 1, stop, d, err) < 0 ? -1 : 1;
}

size_t weir_directive_uncomment(const char *list, size_t len)
{
    const char *end = list + len, *at = list, *equals;

    while (at < end) {
        at = find_stop(skip_blanks(at, end), end, &equals);
        if (at < end && *at == '#')
            return (size_t)(at - list);
        at++;
    }
    return len;
}
