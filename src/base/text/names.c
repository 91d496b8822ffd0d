/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - texts without the names in them */
#include "base/text/names.h"
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { HOST, WORD, FILE_NAME };

struct weir_name {
    enum kind kind;
    size_t len;
    char *text;
    char label[24];
};

/* ---- what is known ---- */

static void add(struct weir_names *n, enum kind kind, const char *text, size_t len,
                const char *label)
{
    struct weir_name *name;

    if (len == 0 || n->failed)
        return;
    if (n->n == n->capacity) {
        int capacity = n->capacity ? 2 * n->capacity : 16;

        name = realloc(n->name, (size_t)capacity * sizeof(*name));
        n->failed = !name;
        if (!name)
            return;
        n->name = name;
        n->capacity = capacity;
    }
    name = &n->name[n->n];
    *name = (struct weir_name) { .kind = kind, .len = len, .text = strndup(text, len) };
    n->failed = !name->text || snprintf(name->label, sizeof(name->label), "%s", label) < 0;
    n->n += name->text != NULL;
}

void weir_names_add_host(struct weir_names *n, const char *host, int number)
{
    char label[24];

    if (!host || snprintf(label, sizeof(label), "host%d", number) < 0)
        return;
    add(n, HOST, host, strlen(host), label);
    if (host[strcspn(host, ".")])
        add(n, HOST, host, strcspn(host, "."), label);
}

void weir_names_add_word(struct weir_names *n, const char *word)
{
    if (word)
        add(n, WORD, word, strlen(word), WEIR_NAME_LEFT_OUT);
}

void weir_names_add_file(struct weir_names *n, const char *path)
{
    if (path)
        add(n, FILE_NAME, path, strlen(path), WEIR_NAME_LEFT_OUT);
}

void weir_names_free(struct weir_names *n)
{
    for (int i = 0; i < n->n; i++)
        free(n->name[i].text);
    free(n->name);
    *n = (struct weir_names) { .n = 0 };
}

/* ---- texts ---- */

/* Does a name go on here? */
static bool is_inside(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* A name may have a part added: "b07-ib0", 'f-0001'. */
static bool ends_here(char c)
{
    return !is_inside(c) || c == '_' || c == '-';
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
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

/* The longest known name that begins here; NULL: none. */
static const struct weir_name *find(const struct weir_names *n, const char *at, char quote)
{
    const struct weir_name *best = NULL;

    for (int i = 0; i < n->n; i++) {
        const struct weir_name *name = &n->name[i];

        if (*at == *name->text && (!best || name->len > best->len) &&
            strncmp(at, name->text, name->len) == 0 && ends_here(at[name->len]) &&
            (name->kind != FILE_NAME || quote || strchr(name->text, '/')))
            best = name;
    }
    return best;
}

/* The end of the known name of a file that begins here or, in quotes, after a '/' of a longer one:
 * what is around it goes with it. NULL: none. */
static const char *end_of_file(const struct weir_names *n, const char *at, char quote)
{
    const char *end = NULL, *stop = end_of(at, quote);

    for (const char *part = at; part < stop; part++) {
        const struct weir_name *name =
            part == at || (quote && part[-1] == '/') ? find(n, part, quote) : NULL;

        if (name && name->kind == FILE_NAME)
            stop = end = end_of(part + name->len, quote);
    }
    return end;
}

/* Appends the replacement of the name that begins here, and returns the end of the name. NULL:
 * none. */
static const char *hide_one(const struct weir_names *n, const char *at, char quote,
                            struct weir_str *out)
{
    const struct weir_name *name = find(n, at, quote);
    const char *end = end_of_file(n, at, quote);

    if (end)
        name = NULL;
    else if (looks_like_path(at))
        end = end_of(at, quote);
    else
        end = name ? at + name->len : end_of_address(at);
    if (end)
        weir_str_addf(out, "%s", name ? name->label : WEIR_NAME_LEFT_OUT);
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

        end = begins ? hide_one(n, at, is_quote(before) ? before : '\0', out) : NULL;
        if (!end) {
            weir_str_addc(out, *at);
            end = at + 1;
        }
        before = end[-1];
    }
}
