/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.c - the option rows for programs: words, JSON, and what a shell offers */
#include "base/options/help.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/text/json.h"

/* True when a row can be set in scripts and -O. */
static bool is_key(const struct weir_opt *row)
{
    return row->type != WEIR_OPT_DIRECTIVES && !(row->flags & WEIR_OPT_ARGV_ONLY);
}

void weir_optdump_words(const struct weir_opts *o, struct weir_str *out)
{
    const struct weir_optname letter = { .letter = 'O' };
    const struct weir_opt *list = weir_opt_find(o, &letter);
    bool lists = list != NULL && list->type == WEIR_OPT_DIRECTIVES;

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);) {
        const struct weir_opt *row = at.row;
        const char *key = row->key != NULL ? row->key : row->name;

        if (!weir_opt_is_current(row))
            continue;
        if (row->letter != 0)
            weir_str_addf(out, "-%c\n", row->letter);
        if (row->name != NULL)
            weir_str_addf(out, "--%s%s\n", at.set->prefix, row->name);
        if (lists && key != NULL && is_key(row))
            weir_str_addf(out, "-O %s%s=\n", at.set->prefix, key);
    }
}

/* ---- JSON ---- */

/* A name with its prefix, or null. */
static void json_name(struct weir_json *j, const char *key, const struct weir_optset *set,
                      const char *name)
{
    char full[WEIR_OPT_NAME];

    weir_json_str(j, key, name == NULL ? NULL : weir_opt_fullname(set, name, full));
}

static void json_range(struct weir_json *j, const struct weir_opt *row)
{
    int64_t min, max;

    if (weir_opt_is_number(row)) {
        weir_opt_range(row, &min, &max);
        weir_json_int(j, "min", min);
        weir_json_int(j, "max", max);
    } else {
        weir_json_str(j, "min", NULL);
        weir_json_str(j, "max", NULL);
    }
}

static void json_choices(struct weir_json *j, const struct weir_opt *row)
{
    if (row->choices == NULL) {
        weir_json_str(j, "choices", NULL);
        return;
    }
    weir_json_open(j, "choices", true);
    for (const char *const *c = row->choices; *c != NULL; c++)
        weir_json_str(j, NULL, *c);
    weir_json_close(j);
}

static void json_row(struct weir_json *j, const struct weir_optrow *at)
{
    static const char *const types[] = {
        [WEIR_OPT_FLAG] = "flag",   [WEIR_OPT_COUNT] = "count",
        [WEIR_OPT_INT] = "int",     [WEIR_OPT_SIZE] = "size",
        [WEIR_OPT_REAL] = "real",   [WEIR_OPT_STR] = "string",
        [WEIR_OPT_DIRECTIVES] = "directives",
        [WEIR_OPT_ALIAS] = "alias", [WEIR_OPT_OLD] = "old",
        [WEIR_OPT_GONE] = "gone", [WEIR_OPT_LIST] = "list",
    };
    const struct weir_opt *row = at->row;
    const char letter[] = { row->letter, '\0' };

    weir_json_open(j, NULL, false);
    weir_json_str(j, "table", at->set->title);
    weir_json_str(j, "type", types[row->type]);
    weir_json_str(j, "letter", row->letter != 0 ? letter : NULL);
    json_name(j, "name", at->set, row->name);
    weir_json_open(j, "keys", true);
    if (row->key != NULL)
        json_name(j, NULL, at->set, row->key);
    if (row->key2 != NULL)
        json_name(j, NULL, at->set, row->key2);
    weir_json_close(j);
    weir_json_str(j, "default", row->def);
    json_range(j, row);
    json_choices(j, row);
    weir_json_str(j, "topic", row->topic ? weir_topic_names[row->topic - 1] : NULL);
    weir_json_str(j, "help", row->help);
    weir_json_close(j);
}

void weir_optdump_json(const struct weir_opts *o, struct weir_str *out)
{
    struct weir_json j = { .out = out, .flat = 2 }; /* a row a line */

    weir_json_open(&j, NULL, true);
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);)
        json_row(&j, &at);
    weir_json_close(&j);
    weir_str_addc(out, '\n');
}

/* ---- completion ---- */

/* A request of a shell for completions. */
struct request {
    const struct weir_opts *o;
    weir_opt_values_fn *more;
    struct weir_str *out;
};

/* "head" "word", a tab, the sentence, unless the word does not begin as 'typed' does
 * (case-insensitive). */
static void offer(const struct request *r, const char *head, size_t head_len, const char *typed,
                  const char *prefix, const char *word, const char *end, const char *help)
{
    struct weir_str full = { 0 };

    weir_str_addf(&full, "%s%s", prefix, word);
    if (strncasecmp(weir_str_text(&full), typed, strlen(typed)) == 0) {
        weir_str_add(r->out, head, head_len);
        weir_str_addf(r->out, "%s%s\t%s\n", weir_str_text(&full), end, help);
    }
    weir_str_free(&full);
}

/* Where the last value of a list begins (FORMAT:PATH,...), of another row the only one. */
static const char *last_value(const struct weir_opt *row, const char *typed)
{
    const char *comma = row->meta && strstr(row->meta, ",...") ? strrchr(typed, ',') : NULL;

    return comma != NULL ? comma + 1 : typed;
}

/* The values of a row that begin as 'typed' does, each after the first head_len bytes of 'head'; 'typed' is what
 * follows these. */
static void offer_values(const struct request *r, const struct weir_opt *row, const char *head,
                         size_t head_len, const char *typed)
{
    static const char *const truth[] = { "0", "1", NULL };
    const char *const *value = row->choices != NULL         ? row->choices
                               : row->suggestions != NULL   ? row->suggestions
                               : row->type == WEIR_OPT_FLAG ? truth
                                                            : NULL;
    const char *last = last_value(row, typed);
    struct weir_opt_word word;

    head_len += (size_t)(last - typed);
    for (; value != NULL && *value != NULL; value++)
        offer(r, head, head_len, last, "", *value, "", "");
    for (int i = 0; r->more != NULL && (word = r->more(row, i)).text != NULL; i++)
        offer(r, head, head_len, last, "", word.text, word.end, word.help);
}

static const struct weir_opt *find_word(const struct weir_opts *o, const char *text, size_t len)
{
    struct weir_optname name = { .text = text, .len = len };

    if (len == 2 && text[0] == '-' && text[1] != '-')
        name.letter = text[1];
    else if (len > 2 && text[0] == '-' && text[1] == '-')
        name = (struct weir_optname) { .text = text + 2, .len = len - 2 };
    else if (text[0] == '-')
        return NULL;
    return weir_opt_find(o, &name);
}

static void offer_keys(const struct request *r, const char *head, size_t head_len,
                       const char *typed)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(r->o, &at);)
        if (weir_opt_is_current(at.row) && is_key(at.row) && at.row->type != WEIR_OPT_ALIAS)
            offer(r, head, head_len, typed, at.set->prefix,
                  at.row->key != NULL ? at.row->key : at.row->name, "=", at.row->help);
}

/* The last piece of "key=value,key=value". */
static void offer_directives(const struct request *r, const char *list)
{
    const char *comma = strrchr(list, ','), *piece = comma != NULL ? comma + 1 : list;
    const char *equals = strchr(piece, '=');
    const struct weir_opt *row;

    if (equals == NULL) {
        offer_keys(r, list, (size_t)(piece - list), piece);
        return;
    }
    row = find_word(r->o, piece, (size_t)(equals - piece));
    if (row != NULL)
        offer_values(r, row, list, (size_t)(equals + 1 - list), equals + 1);
}

static void offer_value(const struct request *r, const struct weir_opt *row, const char *head,
                        size_t head_len, const char *typed)
{
    if (row->type == WEIR_OPT_DIRECTIVES && head_len == 0)
        offer_directives(r, typed);
    else if (row->type != WEIR_OPT_DIRECTIVES)
        offer_values(r, row, head, head_len, typed);
}

static void offer_names(const struct request *r, const char *typed)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(r->o, &at);) {
        const struct weir_opt *row = at.row;
        const char letter[] = { '-', row->letter, '\0' };

        if (!weir_opt_is_current(row))
            continue;
        if (row->letter != 0 && strlen(typed) < 2)
            offer(r, "", 0, typed, "", letter, "", row->help);
        if (row->name != NULL)
            offer(r, "--", 2, typed + strspn(typed, "-"), at.set->prefix, row->name,
                  weir_opt_takes_value(row) ? "=" : "", row->help);
    }
}

void weir_opt_complete(const struct weir_opts *o, const char *before, const char *typed,
                       weir_opt_values_fn *more, struct weir_str *out)
{
    const struct request r = { .o = o, .more = more, .out = out };
    const char *equals = strchr(typed, '=');
    const struct weir_opt *row = find_word(o, before, strlen(before));

    if (before[0] == '-' && row != NULL && weir_opt_takes_value(row)) {
        offer_value(&r, row, typed, 0, typed);
        return;
    }
    if (typed[0] != '-')
        return;
    if (equals == NULL) {
        if (typed[1] == '-' || typed[1] == '\0')
            offer_names(&r, typed);
        return;
    }
    row = find_word(o, typed, (size_t)(equals - typed));
    if (row != NULL)
        offer_value(&r, row, typed, (size_t)(equals + 1 - typed), equals + 1);
}
