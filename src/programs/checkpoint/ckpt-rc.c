/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-rc.c - files of options: lines "KEY: value  # comment" */
#include "config.h"
#include "programs/checkpoint/ckpt.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/text/quote.h"

struct piece {
    const char *at;
    size_t len;
};

static struct piece trim(const char *at, size_t len)
{
    while (len > 0 && isspace((unsigned char)*at)) {
        at++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)at[len - 1]))
        len--;
    return (struct piece) { at, len };
}

static int read_pair(struct piece line, struct piece *key, struct piece *value,
                     struct weir_err *err)
{
    const char *colon = memchr(line.at, ':', line.len);
    char shown[WEIR_QUOTE_TEXT];

    if (memchr(line.at, '\0', line.len))
        return weir_refuse(err, WEIR_EUSAGE, "a NUL byte; this is not a text file");
    weir_quote(line.at, line.len, shown);
    if (!colon)
        return weir_refuse(err, WEIR_EUSAGE, "%s: a line has the form 'KEY: value'", shown);
    *key = trim(line.at, (size_t)(colon - line.at));
    *value = trim(colon + 1, (size_t)(line.at + line.len - colon - 1));
    if (key->len == 0 || value->len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "%s: the %s is missing", shown,
                           key->len == 0 ? "key" : "value");
    return 0;
}

/* Sizes, which a file of the originals must have. */
static const char *const sizes[] = { "NX", "NY", "IM_WORLD", "LM", "NUM_ARRAYS" };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

struct config {
    const struct weir_script_sink *sink;
    bool has[SIZES], any; /* any: it says something */
};

static int read_line(struct config *c, const char *at, size_t len, struct weir_err *err)
{
    const char *comment = memchr(at, '#', len);
    struct piece line = trim(at, comment ? (size_t)(comment - at) : len), key = line, value = line;
    struct weir_str text = { 0 };
    int rc;

    if (line.len == 0)
        return 0;
    if (read_pair(line, &key, &value, err) < 0)
        return -1;
    c->any = true;
    for (size_t i = 0; i < SIZES; i++)
        c->has[i] |= key.len == strlen(sizes[i]) && strncasecmp(key.at, sizes[i], key.len) == 0;
    weir_str_add(&text, key.at, key.len);
    weir_str_addc(&text, '=');
    weir_str_add(&text, value.at, value.len);
    rc = text.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a line")
                     : c->sink->directives(c->sink->arg, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc;
}

static void note_missing(const struct config *c, const char *name)
{
    struct weir_str words = { 0 };

    for (size_t i = 0; i < SIZES; i++)
        if (c->any && !c->has[i])
            weir_str_addf(&words, "%s%s", words.len > 0 ? ", " : "", sizes[i]);
    if (words.len > 0 && c->sink->note) {
        weir_str_addf(&words, ": not in '%s', where the original wants it; the command line or the "
                              "default says what holds", name);
        c->sink->note(c->sink->arg, weir_str_text(&words));
    }
    weir_str_free(&words);
}

int ckpt_read_config(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err)
{
    struct config c = { .sink = sink };
    const char *end = text + len;
    unsigned number = 1;

    for (; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        stop = stop ? stop : end;
        if (read_line(&c, text, (size_t)(stop - text), err) < 0)
            return weir_err_within(err, "%s:%u", name, number);
        text = stop + 1;
    }
    if (sink->run(sink->arg, err) < 0)
        return -1;
    note_missing(&c, name);
    return 0;
}
