/* SPDX-License-Identifier: BSD-3-Clause */
/* str.c - a string that grows */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAP = 64 };

/* Reserve memory for more bytes and a NUL. After a failure nothing is added any more, so that
 * the text never has holes. */
static bool reserve(struct weir_str *s, size_t more)
{
    size_t need, cap;
    char *text;

    if (s->failed)
        return false;
    if (__builtin_add_overflow(s->len, more, &need) || need >= PTRDIFF_MAX) {
        s->failed = true;
        return false;
    }
    if (need < s->cap)
        return true;
    cap = s->cap ? s->cap : FIRST_CAP;
    while (cap <= need)
        cap = cap < PTRDIFF_MAX / 2 ? cap * 2 : PTRDIFF_MAX;
    text = realloc(s->text, cap);
    if (!text) {
        s->failed = true;
        return false;
    }
    s->text = text;
    s->cap = cap;
    return true;
}

void weir_str_vaddf(struct weir_str *s, const char *fmt, va_list ap)
{
    va_list again;
    int len;

    if (!reserve(s, 0))
        return;
    va_copy(again, ap);
    len = vsnprintf(s->text + s->len, s->cap - s->len, fmt, ap);
    if (len < 0) {
        s->text[s->len] = '\0';
        s->failed = true;
    } else if ((size_t)len < s->cap - s->len) {
        s->len += (size_t)len;
    } else {
        s->text[s->len] = '\0'; /* undo the clipped attempt before there is a chance to fail */
        if (reserve(s, (size_t)len) &&
            vsnprintf(s->text + s->len, s->cap - s->len, fmt, again) == len)
            s->len += (size_t)len;
    }
    va_end(again);
}

void weir_str_addf(struct weir_str *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    weir_str_vaddf(s, fmt, ap);
    va_end(ap);
}

void weir_str_add(struct weir_str *s, const char *piece, size_t len)
{
    if (!reserve(s, len))
        return;
    if (len > 0)
        memcpy(s->text + s->len, piece, len);
    s->len += len;
    s->text[s->len] = '\0';
}

void weir_str_addc(struct weir_str *s, char c)
{
    weir_str_add(s, &c, 1);
}

const char *weir_str_text(const struct weir_str *s)
{
    return s->text ? s->text : "";
}

const char *weir_str_words(const struct weir_str *s)
{
    return s->failed ? "(no memory for the words)" : weir_str_text(s);
}

const char *weir_str_next(const struct weir_str *s, const char *at)
{
    at = at ? at + strlen(at) + 1 : s->text;
    return at && at < s->text + s->len ? at : NULL;
}

void weir_str_clear(struct weir_str *s)
{
    s->len = 0;
    if (s->text)
        s->text[0] = '\0';
}

void weir_str_free(struct weir_str *s)
{
    free(s->text);
    *s = (struct weir_str) { .text = NULL };
}

bool weir_str_print(const struct weir_str *s, FILE *to)
{
    return (fputs(weir_str_words(s), to) != EOF && fflush(to) != EOF) || errno == EPIPE;
}

int weir_write_all(int fd, const char *text, size_t len, size_t *done)
{
    for (*done = 0; *done < len;) {
        ssize_t n = write(fd, text + *done, len - *done);

        if (n == 0)
            errno = EIO;
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        *done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

const char *weir_trimmed(const char *text, size_t *len)
{
    for (; *len > 0 && isspace((unsigned char)*text); --*len)
        text++;
    while (*len > 0 && isspace((unsigned char)text[*len - 1]))
        --*len;
    return text;
}

char *weir_trim(char *text)
{
    size_t len = strlen(text);
    char *begin = text + (weir_trimmed(text, &len) - text);

    begin[len] = '\0';
    return begin;
}

char *weir_put_u64(char *at, uint64_t number)
{
    char digits[20]; /* of 2^64 */
    char *d = digits + sizeof(digits);
    size_t len;

    do {
        *--d = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    len = (size_t)(digits + sizeof(digits) - d);
    memcpy(at, d, len);
    at[len] = '\0';
    return at + len;
}
