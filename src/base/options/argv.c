/* SPDX-License-Identifier: BSD-3-Clause */
/* argv.c - options from a command line in IOR's spellings, and from lists of directives */
#include "base/options/option.h"

#include <string.h>

#include "base/str.h"
#include "base/text/script.h"

/* The position of the reader in the command line. */
struct reader {
    struct weir_opts *o;
    int argc, at; /* at: the word that is being read */
    char *const *argv;
};

/* Reads the rest of a word: nothing (*value NULL), "=value", or, as job scripts have it, " value". */
static int read_attached(struct reader *r, const char *rest, const char *shown, const char **value,
                         struct weir_err *err)
{
    size_t len;

    *value = NULL;
    if (*rest == '=') {
        if (rest[1] == '\0')
            return weir_refuse(err, WEIR_EUSAGE, "option %s needs a value after '='", shown);
        *value = rest + 1;
        return 0;
    }
    len = strlen(rest);
    rest = weir_trimmed(rest, &len);
    if (len == 0)
        return 0;
    *value = weir_arena_strndup(r->o->arena, rest, len, err);
    return *value == NULL ? -1 : 0;
}

/* True when the next word belongs to a list. */
static bool is_of_list(const struct reader *r)
{
    const char *word = r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL;

    return word != NULL && (word[0] != '-' || (word[1] >= '0' && word[1] <= '9'));
}

/* The words after a list up to the next option, with blanks between them; *value NULL: none. */
static int take_words(struct reader *r, const char **value, struct weir_err *err)
{
    struct weir_str words = { 0 };
    int rc = 0;

    while (is_of_list(r))
        weir_str_addf(&words, "%s%s", words.len > 0 ? " " : "", r->argv[++r->at]);
    if (words.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for an option");
    else if (words.len > 0 &&
             !(*value = weir_arena_strdup(r->o->arena, weir_str_text(&words), err)))
        rc = -1;
    weir_str_free(&words);
    return rc;
}

/* True when the next word may be the value of this row. */
static bool takes_word(const struct weir_opt *row, const char *word)
{
    if (*word == '-' && ((row->flags & WEIR_OPT_NEXT) || row->missing))
        return false;
    return weir_opt_takes_value(row) || (row->flags & WEIR_OPT_NEXT);
}

/* Apply an option; one that needs a value takes the next word when its own word has none. */
static int take_option(struct reader *r, const struct weir_opt *row,
                       const struct weir_optname *name, const char *value, struct weir_err *err)
{
    if (value == NULL && row->type == WEIR_OPT_LIST) {
        if (take_words(r, &value, err) < 0)
            return -1;
    } else if (value == NULL && r->at + 1 < r->argc && takes_word(row, r->argv[r->at + 1])) {
        value = r->argv[++r->at];
    }
    if (row->type != WEIR_OPT_DIRECTIVES)
        return weir_opt_apply(r->o, name, value, err);
    if (value == NULL)
        return weir_refuse(err, WEIR_EUSAGE, "option %s needs a value (key=value[,key=value...])",
                           name->shown);
    return weir_opts_directives(r->o, value, err);
}

static int read_long(struct reader *r, const char *word, struct weir_err *err)
{
    struct weir_optname name = { .text = word + 2, .len = strcspn(word + 2, "= \t\r\n") };
    const struct weir_opt *row;
    const char *value;

    weir_quote(word, name.len + 2, name.shown);
    row = weir_opt_find(r->o, &name);
    if (row == NULL)
        return weir_opt_apply(r->o, &name, NULL, err); /* refuses it */
    if (read_attached(r, name.text + name.len, name.shown, &value, err) < 0)
        return -1;
    return take_option(r, row, &name, value, err);
}

static void name_letter(struct weir_optname *name, char letter)
{
    const char typed[] = { '-', letter };

    *name = (struct weir_optname) { .letter = letter };
    weir_quote(typed, sizeof(typed), name->shown);
}

static int refuse_letter(const struct reader *r, const char *word, const char *letter,
                         struct weir_err *err)
{
    struct weir_optname whole = { .text = word + 1, .len = strcspn(word + 1, "= \t\r\n") };
    char shown[WEIR_QUOTE_TEXT], bad[WEIR_QUOTE_TEXT];
    size_t n = weir_utf8_len(letter, strlen(letter));

    weir_quote_str(word, shown);
    weir_quote(letter, n == 0 ? 1 : n, bad);
    if (whole.len > 1 && weir_opt_find(r->o, &whole) != NULL)
        return weir_refuse(err, WEIR_EUSAGE, "unknown letter '%s' in '%s' (did you mean '-%s'?)",
                           bad, shown, shown);
    if (whole.len <= n || whole.len <= 1) {
        struct weir_optname name = { .letter = *letter };

        weir_quote_str(word, name.shown);
        return weir_opt_apply(r->o, &name, NULL, err); /* refuses it */
    }
    return weir_refuse(err, WEIR_EUSAGE, "unknown letter '%s' in '%s'", bad, shown);
}

/* True when the dash at 'at' is one between the letters of two options, as in "-z-k". */
static bool is_dash_between(const struct reader *r, const char *at)
{
    struct weir_optname next;

    name_letter(&next, at[1]);
    return *at == '-' && weir_opt_find(r->o, &next) != NULL;
}

/* IOR reads "-z-k" as "-z -k", and scripts have it. */
static void note_dash(const struct reader *r, const char *word, const char *dash)
{
    char shown[WEIR_QUOTE_TEXT], first[WEIR_QUOTE_TEXT], rest[WEIR_QUOTE_TEXT];

    weir_opts_note(r->o, "'%s' is read as '%s %s'", weir_quote_str(word, shown),
                   weir_quote(word, (size_t)(dash - word), first), weir_quote_str(dash, rest));
}

/* Apply the flags from word[1] up to 'end', all with one value, as "-wr=1" means in IOR. */
static int take_flags(struct reader *r, const char *word, const char *end, const char *value,
                      struct weir_err *err)
{
    struct weir_optname name;

    for (const char *c = word + 1; c < end; c++) {
        name_letter(&name, *c);
        if (weir_opt_apply(r->o, &name, value, err) < 0)
            return -1;
    }
    return 0;
}

/* Letters: flags up to the first that has a value, which gets all the rest. */
static int read_group(struct reader *r, const char *word, struct weir_err *err)
{
    const char *c, *value = NULL;
    struct weir_optname name;

    for (c = word + 1; *c != '\0' && strchr("= \t\r\n", *c) == NULL; c++) {
        const struct weir_opt *row;

        name_letter(&name, *c);
        row = weir_opt_find(r->o, &name);
        if (row == NULL && c > word + 1 && is_dash_between(r, c)) {
            note_dash(r, word, c);
            return take_flags(r, word, c, NULL, err) < 0 ? -1 : read_group(r, c, err);
        }
        if (row == NULL)
            return refuse_letter(r, word, c, err);
        if (row->type == WEIR_OPT_GONE) /* "-P4k": what became of -P, not what is wrong with 4 */
            return weir_opt_apply(r->o, &name, c[1] == '=' ? c + 2 : NULL, err);
        if (weir_opt_takes_value(row) || (row->flags & WEIR_OPT_NEXT)) {
            if (take_flags(r, word, c, NULL, err) < 0 ||
                read_attached(r, c + 1, name.shown, &value, err) < 0)
                return -1;
            return take_option(r, row, &name, value, err);
        }
    }
    if (c == word + 1)
        return refuse_letter(r, word, c, err);
    if (read_attached(r, c, name.shown, &value, err) < 0)
        return -1;
    return take_flags(r, word, c, value, err);
}

/* True when the row names the file or directory of the data. It is on the first page of help. */
static bool is_place(const struct weir_opt *row)
{
    return row->first && row->topic == WEIR_TOPIC_FILES && row->type == WEIR_OPT_STR && row->name &&
           !row->choices && row->meta && strcmp(row->meta, "NAME") != 0;
}

/* A word that is no option: the value of the row that takes one, where it has none yet. */
static int read_word(struct reader *r, const char *word, struct weir_err *err)
{
    const struct weir_opt *place = NULL;
    char shown[WEIR_QUOTE_TEXT];

    weir_quote_str(word, shown);
    for (struct weir_optrow at = { 0 }; weir_opts_next(r->o, &at);) {
        struct weir_optname name = { .text = at.row->name, .len = at.row->name ? strlen(at.row->name) : 0 };

        if (!place && is_place(at.row))
            place = at.row;
        if (!(at.row->flags & WEIR_OPT_WORD))
            continue;
        if (*(const char *const *)(const void *)((const char *)at.set->values + at.row->offset))
            return weir_refuse(err, WEIR_EUSAGE, "'%s' is a second %s, and only one is allowed",
                                                 shown, weir_opt_meta(at.row));
        weir_quote_str(at.row->name, name.shown);
        return weir_opt_apply(r->o, &name, word, err);
    }
    return weir_refuse(err, WEIR_EUSAGE, "'%s' is not an option; options start with '-'%s%s", shown,
                       place ? ", and a name of a file or directory follows --" : "",
                       place ? place->name : "");
}

int weir_opts_argv(struct weir_opts *o, int argc, char *const *argv, struct weir_err *err)
{
    struct reader r = { .o = o, .argc = argc, .at = 1, .argv = argv };
    int rc = 0;

    o->on_line = true;
    for (; r.at < argc && rc == 0; r.at++) {
        const char *word = argv[r.at];

        if (word[0] != '-')
            rc = read_word(&r, word, err);
        else
            rc = word[1] == '-' ? read_long(&r, word, err) : read_group(&r, word, err);
    }
    o->on_line = false;
    return rc;
}

/* Add to the error of a piece that is no option: it may be the rest of a text that has a comma. */
static int hint_quotes(const struct weir_opts *o, const struct weir_directive *before,
                       const char *piece, struct weir_err *err)
{
    struct weir_optname name = weir_optname_of(piece, strlen(piece));
    struct weir_optname last = weir_optname_of(before->key, before->key_len);
    const struct weir_opt *row = weir_opt_find(o, &last);
    char value[WEIR_QUOTE_TEXT];

    if (*piece == '\0' || weir_opt_find(o, &name) || !row || row->type != WEIR_OPT_STR)
        return -1;
    return weir_err_add(err,
                        "; if it belongs to %s, put double quotes around that value: "
                        "%s=\"%s,...\"",
                        last.shown, last.shown,
                        weir_quote(before->value, before->value_len, value));
}

int weir_opts_directives(struct weir_opts *o, const char *list, struct weir_err *err)
{
    const char *at = list, *end = list + strlen(list);
    struct weir_directive d = { .key = NULL }, before;
    char *key, *value;
    int rc;

    for (;;) {
        before = d;
        rc = weir_directive_next(&at, end, &d, err);
        if (rc == 0)
            return 0;
        key = weir_arena_strndup(o->arena, d.key, d.key_len, err);
        value = rc > 0 ? weir_arena_strndup(o->arena, d.value, d.value_len, err) : NULL;
        if (value && key && weir_opts_set(o, key, value, err) == 0)
            continue;
        return before.key && key && err ? hint_quotes(o, &before, key, err) : -1;
    }
}
