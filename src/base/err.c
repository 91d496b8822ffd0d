/* SPDX-License-Identifier: BSD-3-Clause */
/* err.c - errors as values: fill and extend the text */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define INTERNAL "internal error: "
#define CONTEXT_MAX 512 /* bytes that callers put in front: the reason stays whole with them */

enum weir_code weir_code_worse(enum weir_code a, enum weir_code b)
{
    static const enum weir_code order[] = { WEIR_EBUG,   WEIR_EDATA, WEIR_EIO,     WEIR_ESETUP,
                                            WEIR_EUSAGE, WEIR_EINTR, WEIR_EINVALID };

    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return WEIR_OK;
}

/* Format into out; when it does not fit, keep what does. */
static void format_clipped(char *out, size_t capacity, const char *fmt, va_list ap)
{
    if (vsnprintf(out, capacity, fmt, ap) < 0)
        out[0] = '\0';
}

/* Append as much of the words as fits. */
static void append_clipped(char *text, size_t capacity, const char *words)
{
    size_t used = strlen(text);
    size_t len = strlen(words);

    if (len > capacity - used - 1)
        len = capacity - used - 1;
    memcpy(text + used, words, len);
    text[used + len] = '\0';
}

int weir_fail_with(struct weir_err *err, enum weir_code code, int sys, const char *why,
                   const char *fmt, va_list ap)
{
    const size_t head = code == WEIR_EBUG ? strlen(INTERNAL) : 0;
    char text[WEIR_ERR_TEXT]; /* the arguments may point into err->text */

    if (!err)
        return -1;
    /* The reason matters most: long words are cut off before it. */
    memcpy(text, INTERNAL, head);
    format_clipped(text + head, sizeof(text) - head - (why ? strlen(why) + CONTEXT_MAX : 0),
                   fmt, ap);
    if (why) {
        append_clipped(text, sizeof(text), ": ");
        append_clipped(text, sizeof(text), why);
    }
    err->code = code;
    err->agreed = false;
    err->sys = sys;
    memcpy(err->text, text, strlen(text) + 1);
    return -1;
}

int weir_fail(struct weir_err *err, enum weir_code code, const char *fmt, ...)
{
    int sys = errno;
    va_list ap;

    va_start(ap, fmt);
    weir_fail_with(err, code, sys, strerror(sys), fmt, ap);
    va_end(ap);
    errno = sys;
    return -1;
}

int weir_refuse(struct weir_err *err, enum weir_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    weir_fail_with(err, code, 0, NULL, fmt, ap);
    va_end(ap);
    return -1;
}

int weir_conflicts_check(const struct weir_conflict *rules, size_t n, struct weir_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].broken)
            return weir_refuse(err, WEIR_EUSAGE, "%s", rules[i].text);
    return 0;
}

int weir_err_within(struct weir_err *err, const char *fmt, ...)
{
    char text[WEIR_ERR_TEXT];
    va_list ap;

    if (!err)
        return -1;
    va_start(ap, fmt);
    format_clipped(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (err->text[0]) {
        append_clipped(text, sizeof(text), ": ");
        append_clipped(text, sizeof(text), err->text);
    }
    memcpy(err->text, text, strlen(text) + 1);
    return -1;
}

int weir_err_add(struct weir_err *err, const char *fmt, ...)
{
    size_t used = err ? strlen(err->text) : 0;
    va_list ap;

    if (!err)
        return -1;
    va_start(ap, fmt);
    format_clipped(err->text + used, sizeof(err->text) - used, fmt, ap);
    va_end(ap);
    return -1;
}
