/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - texts without the names in them */
#include "engine/about/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what is known ---- */

/* A name that is known stays as it is. */
static void add(struct weir_names *n, int what, const char *text, size_t len)
{
    int64_t number = len > 0 ? weir_set_add(&n->texts, text, len) : 0;

    n->failed |= number < 0;
    if (len == 0 || n->failed || (size_t)number < n->known)
        return;
    n->failed = !weir_mem_reserve(&n->what, n->known, &n->capacity, sizeof(*n->what));
    if (n->failed)
        return;
    n->what[n->known++] = what;
    n->longest = len > n->longest ? len : n->longest;
}

void weir_names_add(struct weir_names *n, int what, const char *name)
{
    if (name)
        add(n, what, name, strlen(name));
    if (name && what >= 0)
        add(n, what, name, strcspn(name, "."));
}

void weir_names_free(struct weir_names *n)
{
    weir_set_free(&n->texts);
    free(n->what);
    *n = (struct weir_names) { .known = 0 };
}

/* ---- texts ---- */

/* True for a character inside of a name. */
static bool is_inside(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The end of the word or the quoted text that begins at 'at'. */
static const char *end_of(const char *at, char quote)
{
    const char *end = quote ? strchr(at, quote) : NULL;

    return end ? end : at + strcspn(at, " \t\n,;:)'\"");
}

static bool looks_like_path(const char *at)
{
    at += *at == '~';
    for (int i = 0; i < 2 && *at == '.'; i++)
        at++;
    return at[0] == '/' && at[1] && !isspace((unsigned char)at[1]);
}

/* "user@host", up to its end; NULL: none. */
static const char *end_of_address(const char *at)
{
    const char *end = at;

    while (is_inside(*end) || *end == '.')
        end++;
    if (end == at || *end != '@' || !is_inside(end[1]))
        return NULL;
    for (end++; is_inside(*end) || *end == '.';)
        end++;
    return end;
}

/* The longest known name that begins here: what it is, and its length in *len, 0: none. */
static int find(const struct weir_names *n, const char *at, char quote, size_t *len)
{
    uint64_t hash = WEIR_HASH_BEGIN;
    bool has_slash = false;
    int what = WEIR_NAME_WORD;

    *len = 0;
    for (size_t i = 0; i < n->longest && at[i]; i++) {
        int64_t number = -1;

        hash = weir_hash(hash, at + i, 1);
        has_slash |= at[i] == '/';
        if (!isalnum((unsigned char)at[i + 1])) /* a part may be added: "b07-ib0", 'f-0001' */
            number = weir_set_find(&n->texts, hash, at, i + 1);
        if (number < 0 || (n->what[number] == WEIR_NAME_FILE && !quote && !has_slash))
            continue;
        what = n->what[number];
        *len = i + 1;
    }
    return what;
}

/* The end of the known name of a file that begins here or, in quotes, after a '/' of a longer one:
 * what is around it goes with it. NULL: none. */
static const char *end_of_file(const struct weir_names *n, const char *at, char quote)
{
    const char *end = NULL, *stop = end_of(at, quote);

    for (const char *part = at; part < stop; part++) {
        size_t len = 0;

        if ((part == at || (quote && part[-1] == '/')) &&
            find(n, part, quote, &len) == WEIR_NAME_FILE)
            stop = end = end_of(part + len, quote);
    }
    return end;
}

/* Appends the replacement of the name that begins here, and returns the end of the name. NULL:
 * none. */
static const char *hide_one(const struct weir_names *n, const char *at, char quote,
                            struct weir_str *out)
{
    size_t len;
    int what = find(n, at, quote, &len);
    const char *end = end_of_file(n, at, quote);

    if (end || looks_like_path(at)) {
        what = WEIR_NAME_FILE;
        end = end ? end : end_of(at, quote);
    } else {
        end = len > 0 ? at + len : end_of_address(at);
    }
    if (end && what >= 0)
        weir_str_addf(out, "host%d", what);
    else if (end)
        weir_str_addf(out, WEIR_NAME_LEFT_OUT);
    return end;
}

void weir_names_hide(const struct weir_names *n, const char *text, struct weir_str *out)
{
    char before = '\0';

    if (n->failed) {
        weir_str_addf(out, WEIR_NAME_LEFT_OUT);
        return;
    }
    for (const char *at = text, *end; *at; at = end) {
        bool begins = !is_inside(before) && before != '.' && before != '/';
        char quote = before == '\'' || before == '"' ? before : '\0';

        end = begins ? hide_one(n, at, quote, out) : NULL;
        if (!end) {
            weir_str_addc(out, *at);
            end = at + 1;
        }
        before = end[-1];
    }
}
