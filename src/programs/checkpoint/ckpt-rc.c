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

static int read_line(const char *at, size_t len, const struct weir_script_sink *sink,
                     struct weir_err *err)
{
    const char *comment = memchr(at, '#', len);
    struct piece line = trim(at, comment ? (size_t)(comment - at) : len), key = line, value = line;
    struct weir_str text = { 0 };
    int rc;

    if (line.len == 0)
        return 0;
    if (read_pair(line, &key, &value, err) < 0)
        return -1;
    weir_str_add(&text, key.at, key.len);
    weir_str_addc(&text, '=');
    weir_str_add(&text, value.at, value.len);
    rc = text.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a line")
                     : sink->directives(sink->arg, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc;
}

int weir_rc_read(const char *text, size_t len, const char *name,
                 const struct weir_script_sink *sink, struct weir_err *err)
{
    const char *end = text + len;
    unsigned number = 1;

    for (; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        stop = stop ? stop : end;
        if (read_line(text, (size_t)(stop - text), sink, err) < 0)
            return weir_err_within(err, "%s:%u", name, number);
        text = stop + 1;
    }
    return sink->run(sink->arg, err);
}

/* ---- sizes that are missing ---- */

/* Sizes, which a file of the originals must have. */
static const char *const sizes[] = { "NX", "NY", "IM_WORLD", "LM", "NUM_ARRAYS" };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

struct config {
    const struct weir_script_sink *to;
    bool has[SIZES], any; /* any: it says something */
};

static int pass_on(void *arg, const char *list, struct weir_err *err)
{
    struct config *c = arg;
    size_t len = strcspn(list, "=");

    c->any = true;
    for (size_t i = 0; i < SIZES; i++)
        c->has[i] |= len == strlen(sizes[i]) && strncasecmp(list, sizes[i], len) == 0;
    return c->to->directives(c->to->arg, list, err);
}

static int pass_end(void *arg, struct weir_err *err)
{
    const struct config *c = arg;

    return c->to->run(c->to->arg, err);
}

int ckpt_read_config(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err)
{
    struct config c = { .to = sink };
    const struct weir_script_sink mine = { .directives = pass_on, .run = pass_end, .arg = &c };
    struct weir_str words = { 0 };
    int rc = weir_rc_read(text, len, name, &mine, err);

    for (size_t i = 0; i < SIZES; i++)
        if (c.any && !c.has[i])
            weir_str_addf(&words, "%s%s", words.len > 0 ? ", " : "", sizes[i]);
    if (words.len > 0)
        weir_str_addf(&words, ": not in '%s', where the original wants it; the command line or the "
                              "default says what holds", name);
    if (rc == 0 && words.len > 0 && sink->note)
        sink->note(sink->arg, weir_str_text(&words));
    weir_str_free(&words);
    return rc;
}
