/* SPDX-License-Identifier: BSD-3-Clause */
/* optset.c - find a row by name and give it a value: for the readers of options only */
#include "base/options/optset.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/str.h"
#include "base/text/near.h"

bool weir_opt_is_end(const struct weir_opt *row)
{
    return row->name == NULL && row->letter == 0 && row->key == NULL;
}

/* Is 'word' (may be NULL) with its prefix the name? */
static bool is_word(const char *prefix, const char *word, const struct weir_optname *name)
{
    size_t skip = strlen(prefix);

    return word != NULL && name->len == skip + strlen(word) &&
           strncasecmp(name->text, prefix, skip) == 0 &&
           strncasecmp(name->text + skip, word, name->len - skip) == 0;
}

bool weir_opt_matches(const struct weir_optset *set, const struct weir_opt *row,
                      const struct weir_optname *name)
{
    if (name->letter != 0)
        return row->letter == name->letter;
    return name->len > 0 &&
           (is_word(set->prefix, row->name, name) || is_word(set->prefix, row->key, name) ||
            is_word(set->prefix, row->key2, name));
}

const struct weir_opt *weir_opt_row_of(const struct weir_opt *rows, const char *key)
{
    for (; !weir_opt_is_end(rows); rows++)
        if ((rows->name && strcasecmp(rows->name, key) == 0) ||
            (rows->key && strcasecmp(rows->key, key) == 0) ||
            (rows->key2 && strcasecmp(rows->key2, key) == 0))
            return rows;
    return NULL;
}

const struct weir_opt *weir_opt_find(const struct weir_opts *o, const struct weir_optname *name)
{
    for (int i = 0; i < o->n; i++)
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++)
            if (weir_opt_matches(&o->set[i], row, name))
                return row;
    return NULL;
}

bool weir_opt_stands_for(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_OLD || row->type == WEIR_OPT_ALIAS;
}

bool weir_opt_takes_value(const struct weir_opt *row)
{
    switch (row->type) {
    case WEIR_OPT_LIST:
    case WEIR_OPT_DIRECTIVES:
        return true;
    case WEIR_OPT_INT:
    case WEIR_OPT_SIZE:
    case WEIR_OPT_REAL:
    case WEIR_OPT_STR:
        return !(row->flags & WEIR_OPT_OPTARG);
    case WEIR_OPT_OLD:
    case WEIR_OPT_ALIAS:
        return row->def != NULL && strstr(row->def, "%s") != NULL;
    default:
        return false;
    }
}

const char *weir_opt_fullname(const struct weir_optset *set, const char *name,
                              char out[WEIR_OPT_NAME])
{
    if (snprintf(out, WEIR_OPT_NAME, "%s%s", set->prefix, name) >= WEIR_OPT_NAME)
        out[WEIR_OPT_NAME - 1] = '\0'; /* the self-check finds a name that does not fit */
    return out;
}

const char *weir_opt_meta(const struct weir_opt *row)
{
    return row->meta != NULL ? row->meta : row->type == WEIR_OPT_STR ? "STRING" : "VALUE";
}

void weir_opt_add_choices(const struct weir_opt *row, const char *before, const char *after,
                          struct weir_str *out)
{
    if (row->choices == NULL)
        return;
    weir_str_addf(out, "%s", before);
    for (const char *const *c = row->choices; *c != NULL; c++)
        weir_str_addf(out, "%s%s", c == row->choices ? "" : ", ", *c);
    weir_str_addf(out, "%s", after);
}

bool weir_opt_is_wide(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_SIZE || row->type == WEIR_OPT_LIST;
}

void weir_opt_range(const struct weir_opt *row, int64_t *min, int64_t *max)
{
    bool is_narrowed = row->min != 0 || row->max != 0;
    bool is_wide = weir_opt_is_wide(row);
    int64_t lowest = is_wide ? INT64_MIN : row->type == WEIR_OPT_COUNT ? 0 : INT_MIN;
    int64_t highest = is_wide ? INT64_MAX : INT_MAX;

    *min = is_narrowed ? row->min : lowest;
    *max = is_narrowed && !(row->min > 0 && row->max == 0) ? row->max : highest;
    if (!is_wide) {
        *min = *min < INT_MIN ? INT_MIN : *min;
        *max = *max > INT_MAX ? INT_MAX : *max;
    }
}

static int parse_flag(const char *text, struct weir_optvalue *value, struct weir_err *err)
{
    static const char *const words[] = { "no",    "yes", "false",   "true",   "off", "on", "n",
                                         "y",     "f",   "t",       ".false.", ".true.", ".f.",
                                         ".t." };
    char shown[WEIR_QUOTE_TEXT];
    size_t len = strlen(text);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            value->number = (int64_t)(i % 2); /* the words stand in pairs: off, on */
            return 0;
        }
    }
    if (len == 0 || strspn(text, "0123456789") != len)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is neither 0 nor 1, yes, no, true, false, on, off",
                           weir_quote(text, len, shown));
    value->number = strspn(text, "0") != len;
    return 0;
}

int weir_opt_parse_number(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                          struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    int64_t min, max, lowest;

    weir_opt_range(row, &min, &max);
    lowest = row->flags & WEIR_OPT_RESET ? (weir_opt_is_wide(row) ? INT64_MIN : INT_MIN) : min;
    /* Longer than any number, or not fit for a message: the size parser need not see it. */
    if (strlen(text) > 64 || strcmp(weir_quote_str(text, shown), text) != 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is not a whole number with an optional suffix k, m, g, t or p",
                           weir_quote_str(text, shown));
    if (weir_size_parse(text, lowest, max, &value->number, err) < 0)
        return -1;
    value->asked = (double)value->number;
    value->below = value->number < min;
    value->number = value->below ? min : value->number;
    return 0;
}

/* A decimal number in the range of the row. Whole numbers are read as those of INT, with their
 * suffixes. */
static int parse_real(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                      struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *end;
    size_t digits = strspn(text, "+-0123456789");
    int64_t min, max;

    weir_quote_str(text, shown);
    if (strpbrk(text, ".eE") == NULL && digits > 0 &&
        strspn(text + digits, "kKmMgGtTpP") == strlen(text + digits)) {
        if (weir_opt_parse_number(row, text, value, err) < 0)
            return -1;
        value->real = (double)value->number;
        return 0;
    }
    errno = 0;
    end = weir_real_scan(text, &value->real);
    if (value->real == 0 && errno == ERANGE)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is too close to 0 to be stored", shown);
    if (end == text || *end != '\0')
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is not a number like 10, 0.5 or 1e-3", shown);
    weir_opt_range(row, &min, &max);
    value->asked = value->real;
    value->below = value->real < (double)min;
    if (value->real > (double)max || (value->below && !(row->flags & WEIR_OPT_RESET)))
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is out of range: it must be from %" PRId64 " to %" PRId64, shown,
                           min, max);
    value->real = value->below ? (double)min : value->real;
    return 0;
}

static int parse_choice(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                        struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    struct weir_str list = { 0 };

    for (const char *const *c = row->choices; *c != NULL; c++) {
        if (strcasecmp(*c, text) == 0) {
            value->text = *c;
            return 0;
        }
    }
    weir_opt_add_choices(row, "", "", &list);
    weir_near_ask(text, row->choices, &list);
    weir_refuse(err, WEIR_EUSAGE, "'%s' is none of: %s", weir_quote_str(text, shown),
                weir_str_text(&list));
    weir_str_free(&list);
    return -1;
}

int weir_opt_parse(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                   struct weir_err *err)
{
    *value = (struct weir_optvalue) { .text = text };
    switch (row->type) {
    case WEIR_OPT_FLAG:
        return parse_flag(text, value, err);
    case WEIR_OPT_COUNT:
    case WEIR_OPT_INT:
    case WEIR_OPT_SIZE:
        return weir_opt_parse_number(row, text, value, err);
    case WEIR_OPT_REAL:
        return parse_real(row, text, value, err);
    case WEIR_OPT_STR:
        /* --help without "=NAME" is the empty text, whatever the choices are. */
        if (row->choices == NULL || (*text == '\0' && (row->flags & WEIR_OPT_OPTARG)))
            return 0;
        return parse_choice(row, text, value, err);
    case WEIR_OPT_LIST:
        return weir_optlist_parse(row, text, &value->list, err);
    default:
        return weir_refuse(err, WEIR_EBUG, "an option without a field was given a value");
    }
}

int weir_opt_store(struct weir_opts *o, const struct weir_optset *set, const struct weir_opt *row,
                   const struct weir_optvalue *value, struct weir_err *err)
{
    char *field = (char *)set->values + row->offset;

    switch (row->type) {
    case WEIR_OPT_FLAG:
        *(bool *)field = value->number != 0;
        return 0;
    case WEIR_OPT_COUNT:
    case WEIR_OPT_INT:
        *(int *)field = (int)value->number;
        return 0;
    case WEIR_OPT_SIZE:
        *(int64_t *)field = value->number;
        return 0;
    case WEIR_OPT_REAL:
        *(double *)field = value->real;
        return 0;
    case WEIR_OPT_LIST:
        *(struct weir_optlist *)field = value->list;
        return 0;
    case WEIR_OPT_STR: {
        const char *copy =
            value->text == NULL ? NULL : weir_arena_strdup(o->arena, value->text, err);

        if (copy == NULL && value->text != NULL)
            return -1;
        *(const char **)field = copy;
        return 0;
    }
    default:
        return 0;
    }
}

/* "option -b (blockSize)": what was typed, and the name it means where that says more. */
static const char *label_option(const struct weir_optset *set, const struct weir_opt *row,
                                const struct weir_optname *name, char out[2 * WEIR_QUOTE_TEXT])
{
    char full[WEIR_OPT_NAME];
    const char *known = row->key != NULL ? row->key : row->name;

    if (known != NULL)
        weir_opt_fullname(set, known, full);
    if (known == NULL || (name->letter == 0 && name->len == strlen(full) &&
                          strncasecmp(name->text, full, name->len) == 0))
        (void)snprintf(out, 2 * WEIR_QUOTE_TEXT, "option %s", name->shown);
    else
        (void)snprintf(out, 2 * WEIR_QUOTE_TEXT, "option %s (%s)", name->shown, full);
    return out;
}

static void note(const struct weir_opts *o, const struct weir_str *text)
{
    if (o->note != NULL)
        o->note(o->note_arg, weir_str_text(text));
}

/* An option named without a value that may be. */
static int apply_bare(struct weir_opts *o, const struct weir_optset *set,
                      const struct weir_opt *row, const struct weir_optname *name,
                      struct weir_err *err)
{
    struct weir_optvalue value = { .number = 1, .text = "" };
    int64_t min, max;

    if (weir_opt_takes_value(row))
        return weir_refuse(err, WEIR_EUSAGE, "option %s needs a value (%s)%s%s", name->shown,
                           weir_opt_meta(row), row->missing ? "; " : "",
                           row->missing ? row->missing : "");
    if (row->type == WEIR_OPT_COUNT) {
        weir_opt_range(row, &min, &max);
        value.number = *(const int *)((const char *)set->values + row->offset);
        value.number += value.number < max;
    }
    return weir_opt_store(o, set, row, &value, err);
}

/* Some read "1mb" as a million. */
static bool is_ambiguous(const struct weir_opt *row, const char *text)
{
    size_t len = strlen(text);

    return (row->type == WEIR_OPT_SIZE || row->type == WEIR_OPT_INT) && len > 2 &&
           strchr("bB", text[len - 1]) && strchr("kKmMgGtTpP", text[len - 2]);
}

/* The word that a value stands for, by its first letter alone; NULL: it is that word, its begin, or
 * no such value. */
static const char *word_meant(const struct weir_opt *row, const char *text)
{
    const char *meant = NULL;

    for (const char *const *w = row->suggestions; w && *w && (row->flags & WEIR_OPT_INITIAL); w++) {
        if (strncasecmp(*w, text, strlen(text)) == 0)
            return NULL;
        if (!meant && strncasecmp(*w, text, 1) == 0)
            meant = *w;
    }
    return meant;
}

/* What was understood, where it may not be what was meant. */
static void note_reading(const struct weir_opts *o, const struct weir_opt *row, const char *label,
                         const char *text, const struct weir_optvalue *value)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *word = word_meant(row, text);
    struct weir_str s = { 0 };

    weir_quote_str(text, shown);
    if (is_ambiguous(row, text))
        weir_str_addf(&s, "%s: '%s' is read as %" PRId64 " bytes: units are multiples of 1024",
                      label, shown, value->number);
    else if (word)
        weir_str_addf(&s, "%s: '%s' is read as '%s'", label, shown, word);
    if (s.len > 0)
        note(o, &s);
    weir_str_free(&s);
}

static int apply_value(struct weir_opts *o, const struct weir_optset *set,
                       const struct weir_opt *row, const struct weir_optname *name,
                       const char *text, bool is_first, struct weir_err *err)
{
    char label[2 * WEIR_QUOTE_TEXT];
    struct weir_optvalue value;

    label_option(set, row, name, label);
    if (weir_opt_parse(row, text, &value, err) < 0)
        return weir_err_within(err, "%s", label);
    if (value.below && is_first) {
        struct weir_str s = { 0 };

        weir_str_addf(&s, "%s: value %.15g is too small, using %.15g", label, value.asked,
                      row->type == WEIR_OPT_REAL ? value.real : (double)value.number);
        note(o, &s);
        weir_str_free(&s);
    }
    if (is_first)
        note_reading(o, row, label, text, &value);
    return weir_opt_store(o, set, row, &value, err);
}

/* Set what one directive of an old spelling names. It was split before the value went in: a
 * comma in the value is not the beginning of another directive. */
static int apply_piece(struct weir_opts *o, const char *piece, struct weir_err *err)
{
    struct weir_optname name = { 0 };
    const char *equals = strchr(piece, '=');
    const struct weir_opt *row;

    if (equals == NULL)
        return weir_refuse(err, WEIR_EBUG, "an old spelling stands for '%s', which has no value",
                           piece);
    name.text = piece + strspn(piece, "-");
    name.len = (size_t)(equals - name.text);
    if (name.len == 1 && *piece == '-')
        name.letter = *name.text;
    weir_quote(piece, (size_t)(equals - piece), name.shown);
    row = weir_opt_find(o, &name);
    if (row != NULL && (weir_opt_stands_for(row) || row->type == WEIR_OPT_DIRECTIVES))
        return weir_refuse(err, WEIR_EBUG,
                           "an old spelling stands for '%s', which is no plain option", piece);
    return weir_opt_apply(o, &name, equals + 1, err);
}

/* Build one directive from len bytes of an old spelling's text. value: the text for %s; is_off:
 * the old flag was switched off, then "=1" becomes "=0", and a piece with any other value is
 * left out (nothing is built). */
static void build_piece(const char *def, size_t len, const char *value, bool is_off,
                        struct weir_str *out)
{
    const char *slot = memmem(def, len, "%s", 2);

    if (slot != NULL) {
        weir_str_add(out, def, (size_t)(slot - def));
        weir_str_addf(out, "%s", value);
        weir_str_add(out, slot + 2, len - (size_t)(slot + 2 - def));
    } else if (!is_off) {
        weir_str_add(out, def, len);
    } else if (len > 2 && def[len - 2] == '=' && def[len - 1] == '1') {
        weir_str_add(out, def, len - 1);
        weir_str_addc(out, '0');
    }
}

static void note_old(const struct weir_opts *o, const struct weir_optname *name,
                     const struct weir_str *instead)
{
    struct weir_str s = { 0 };
    char shown[WEIR_QUOTE_TEXT];

    if (instead->len > 0)
        weir_str_addf(&s, "option %s is from IOR 3.x; using %s", name->shown,
                      weir_quote(instead->text, instead->len, shown));
    else
        weir_str_addf(&s, "option %s is from IOR 3.x and has no effect any more", name->shown);
    note(o, &s);
    weir_str_free(&s);
}

static const struct weir_opt truth = { .type = WEIR_OPT_FLAG };

/* Do what another spelling stands for, one directive after the other; say so of an old one. */
static int apply_spelling(struct weir_opts *o, const struct weir_opt *row,
                          const struct weir_optname *name, const char *value, struct weir_err *err)
{
    struct weir_str piece = { 0 }, all = { 0 };
    struct weir_optvalue flag = { .number = 1 };
    int rc = 0;

    if (weir_opt_takes_value(row)) {
        if (value == NULL)
            return weir_refuse(err, WEIR_EUSAGE, "option %s needs a value (%s)", name->shown,
                               weir_opt_meta(row));
    } else if (value != NULL && weir_opt_parse(&truth, value, &flag, err) < 0) {
        return weir_err_within(err, "option %s", name->shown);
    }
    o->several = row->def != NULL && strchr(row->def, ',') != NULL;
    for (const char *def = row->def; rc == 0 && def != NULL && *def != '\0';) {
        size_t len = strcspn(def, ",");

        weir_str_clear(&piece);
        build_piece(def, len, value, flag.number == 0, &piece);
        def += len + (def[len] == ',');
        if (piece.len == 0)
            continue;
        weir_str_addf(&all, "%s%s", all.len > 0 ? "," : "", weir_str_text(&piece));
        rc = piece.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for an option")
                          : apply_piece(o, weir_str_text(&piece), err);
        if (rc < 0)
            weir_err_within(err, "option %s", name->shown);
    }
    o->several = false;
    if (rc == 0 && row->type == WEIR_OPT_OLD)
        note_old(o, name, &all);
    weir_str_free(&piece);
    weir_str_free(&all);
    return rc;
}

/* Old scripts list flags with 0, which is the default. */
static bool is_off(const char *value)
{
    struct weir_optvalue flag = { .number = 1 };

    return value != NULL && weir_opt_parse(&truth, value, &flag, NULL) == 0 && flag.number == 0;
}

static int apply_row(struct weir_opts *o, const struct weir_optset *set, const struct weir_opt *row,
                     const struct weir_optname *name, const char *value, bool is_first,
                     struct weir_err *err)
{
    const struct weir_str nothing = { 0 };

    if (row->type == WEIR_OPT_GONE && !is_off(value))
        return weir_refuse(err, WEIR_EUSAGE, "option %s: %s", name->shown, row->help);
    if (row->type == WEIR_OPT_GONE) {
        note_old(o, name, &nothing);
        return 0;
    }
    if (row->type == WEIR_OPT_DIRECTIVES)
        return weir_refuse(err, WEIR_EUSAGE, "option %s cannot stand inside a list of options",
                           name->shown);
    if (weir_opt_stands_for(row))
        return is_first ? apply_spelling(o, row, name, value, err) : 0;
    if (value == NULL)
        return apply_bare(o, set, row, name, err);
    return apply_value(o, set, row, name, value, is_first, err);
}

int weir_opt_apply(struct weir_opts *o, const struct weir_optname *name, const char *value,
                   struct weir_err *err)
{
    bool is_first = true;
    struct weir_optset *last = NULL;
    const struct weir_opt *given = NULL;
    int matches = 0;

    for (int i = 0; i < o->n; i++) {
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++) {
            if (!weir_opt_matches(&o->set[i], row, name))
                continue;
            if (apply_row(o, &o->set[i], row, name, value, is_first, err) < 0)
                return -1;
            is_first = false;
            last = &o->set[i];
            given = row;
            matches++;
        }
    }
    if (matches == 1 && !o->several && !last->given)
        last->given = given;
    return is_first ? weir_opt_refuse_unknown(o, name, err) : 0;
}
