/* SPDX-License-Identifier: BSD-3-Clause */
/* set.c - one option set by its name: values, old spellings, the nearest known name */
#include "base/options/option.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/options/help.h"
#include "base/str.h"

struct nearest {
    int distance;
    char name[WEIR_OPT_NAME];
};

static void consider(struct nearest *best, const struct weir_optset *set, const char *word,
                     const struct weir_optname *name)
{
    char full[WEIR_OPT_NAME];
    size_t len;
    int edits;

    if (word == NULL)
        return;
    len = strlen(weir_opt_fullname(set, word, full));
    edits = weir_near_edits(name->text, name->len, full, len);
    /* A backend's option typed without the backend's name: one edit, so that an exact name
     * wins. */
    if (set->prefix[0] != '\0' && strlen(word) == name->len &&
        weir_near_edits(name->text, name->len, word, name->len) == 0)
        edits = 1;
    if (edits < best->distance) {
        best->distance = edits;
        memcpy(best->name, full, len + 1);
    }
}

/* Returns what weir has, without the name of a program where the one at hand has the option. */
static const char *ours_of(const struct weir_opts *o, const char *ours)
{
    const char *option = strchr(ours, ' ');
    struct weir_optname name = { .text = option ? option + 3 : "" };
    const struct weir_opt *row;

    if (!option || strncmp(option, " --", 3) != 0)
        return ours;
    name.len = strcspn(name.text, "= ");
    row = weir_opt_find(o, &name);
    return row && row->type != WEIR_OPT_GONE ? option + 1 : ours;
}

/* False where the row is about the original of one of our programs, and another is at hand. */
static bool is_for(const struct weir_opts *o, const struct weir_foreign *f)
{
    size_t len = strlen(f->of);

    return strncmp(f->ours, f->of, len) != 0 || f->ours[len] != ' ' ||
           (o->program && strcmp(o->program, f->of) == 0);
}

/* Refuses an option that another benchmark has: err names what weir has for it. 0: there is none. */
static int refuse_foreign(const struct weir_opts *o, const struct weir_optname *name,
                          struct weir_err *err)
{
    char word[WEIR_NEAR_MAX + 1] = { name->letter };
    const struct weir_foreign *first, *second;

    if (!name->letter && name->text && name->len < sizeof(word))
        memcpy(word, name->text, name->len);
    first = *word || strcmp(name->shown, "--") == 0 ? weir_foreign_next(NULL, word, false) : NULL;
    if (!first || !is_for(o, first) || strcasecmp(first->of, word) == 0 ||
        (name->letter && first->name[1] != name->letter))
        return 0;
    second = weir_foreign_next(first, word, false);
    return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s' (of %s%s%s): use %s (%s)",
                       name->shown, first->of, second ? " and " : "", second ? second->of : "",
                       ours_of(o, first->ours), first->what);
}

static int refuse_unknown(const struct weir_opts *o, const struct weir_optname *name,
                          struct weir_err *err)
{
    int limit = weir_near_limit(name->len);
    struct nearest best = { .distance = limit + 1 };

    if (refuse_foreign(o, name, err) < 0)
        return -1;
    if (name->letter != 0 || name->len <= 1 || name->len > WEIR_NEAR_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s'", name->shown);
    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);) {
        if (at.row->type == WEIR_OPT_OLD || at.row->type == WEIR_OPT_GONE)
            continue;
        consider(&best, at.set, at.row->name, name);
        consider(&best, at.set, at.row->key, name);
        consider(&best, at.set, at.row->key2, name);
    }
    if (best.distance > limit)
        return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s'", name->shown);
    return weir_refuse(err, WEIR_EUSAGE, "unknown option '%s' (did you mean '%s%s'?)", name->shown,
                       strncmp(name->shown, "--", 2) == 0 ? "--" : "", best.name);
}

/* "option -b (blockSize)": what was typed, and the name it means where that says more. */
static const char *label_option(const struct weir_optrow *at, const struct weir_optname *name,
                                char out[2 * WEIR_QUOTE_TEXT])
{
    char full[WEIR_OPT_NAME];
    const char *known = at->row->key != NULL ? at->row->key : at->row->name;

    if (known != NULL)
        weir_opt_fullname(at->set, known, full);
    if (known == NULL || (name->letter == 0 && name->len == strlen(full) &&
                          strncasecmp(name->text, full, name->len) == 0))
        (void)snprintf(out, 2 * WEIR_QUOTE_TEXT, "option %s", name->shown);
    else
        (void)snprintf(out, 2 * WEIR_QUOTE_TEXT, "option %s (%s)", name->shown, full);
    return out;
}

void weir_opts_note(const struct weir_opts *o, const char *fmt, ...)
{
    struct weir_str text = { 0 };
    va_list args;

    va_start(args, fmt);
    weir_str_vaddf(&text, fmt, args);
    va_end(args);
    if (o->note != NULL)
        o->note(o->note_arg, weir_str_text(&text));
    weir_str_free(&text);
}

/* An option named without a value that may be. */
static int apply_bare(struct weir_opts *o, const struct weir_optrow *at,
                      const struct weir_optname *name, struct weir_err *err)
{
    const struct weir_opt *row = at->row;
    struct weir_optvalue value = { .number = 1, .text = "" };
    int64_t min, max;

    if (weir_opt_takes_value(row))
        return weir_refuse(err, WEIR_EUSAGE, "option %s needs a value (%s)%s%s", name->shown,
                           weir_opt_meta(row), row->missing ? "; " : "",
                           row->missing ? row->missing : "");
    if (row->type == WEIR_OPT_COUNT) {
        weir_opt_range(row, &min, &max);
        value.number = *(const int *)((const char *)at->set->values + row->offset);
        value.number += value.number < max;
    }
    return weir_opt_store(o, at, &value, err);
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
    size_t len = strcspn(text, ":"); /* words of the value may follow */

    for (const char *const *w = row->suggestions; w && *w && (row->flags & WEIR_OPT_ABBREV); w++) {
        if (strncasecmp(*w, text, len) == 0)
            return NULL;
        if (!meant && strncasecmp(*w, text, 1) == 0)
            meant = *w;
    }
    return meant;
}

/* Notes how a value was read where the user may have meant another one. */
static void note_reading(const struct weir_opts *o, const struct weir_opt *row, const char *label,
                         const char *text, const struct weir_optvalue *value)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *word = word_meant(row, text);

    weir_quote_str(text, shown);
    if (is_ambiguous(row, text))
        weir_opts_note(o, "%s: '%s' is read as %" PRId64 " bytes: units are multiples of 1024", label,
                       shown, value->number);
    else if (word)
        weir_opts_note(o, "%s: '%s' is read as '%s'", label, shown, word);
}

/* Refuses a value for the reason in err. The name of a backend is meant for another option. */
static int refuse_value(const struct weir_opts *o, const struct weir_opt *row, const char *label,
                        const char *text, struct weir_err *err)
{
    const struct weir_optname api = { .text = "api", .len = 3 };
    const struct weir_opt *other = weir_opt_find(o, &api);

    weir_err_within(err, "%s", label);
    for (int i = 0; other && other != row && i < o->n; i++) {
        const char *name = o->set[i].title ? strrchr(o->set[i].title, ' ') : NULL;

        if (name && strcasecmp(name + 1, text) == 0)
            return weir_refuse(err, WEIR_EUSAGE, "%s; a backend is chosen with --api=%s", err->text,
                               name + 1);
    }
    return -1;
}

static int apply_value(struct weir_opts *o, const struct weir_optrow *at,
                       const struct weir_optname *name, const char *text, bool is_first,
                       struct weir_err *err)
{
    const struct weir_opt *row = at->row;
    char label[2 * WEIR_QUOTE_TEXT];
    struct weir_optvalue value;

    label_option(at, name, label);
    if (weir_opt_parse(row, text, &value, err) < 0)
        return refuse_value(o, row, label, text, err);
    if (value.below && is_first)
        weir_opts_note(o, "%s: value %.15g is too small, using %.15g", label, value.asked,
                       row->type == WEIR_OPT_REAL ? value.real : (double)value.number);
    if (is_first)
        note_reading(o, row, label, text, &value);
    return weir_opt_store(o, at, &value, err);
}

/* Set what one directive of an old spelling names. It was split before the value went in: a
 * comma in the value is not the beginning of another directive. */
static int apply_piece(struct weir_opts *o, const char *piece, struct weir_err *err)
{
    const char *equals = strchr(piece, '=');
    struct weir_optname name;
    const struct weir_opt *row;

    if (equals == NULL)
        return weir_refuse(err, WEIR_EBUG, "an old spelling stands for '%s', which has no value",
                           piece);
    name = weir_optname_of(piece, (size_t)(equals - piece));
    row = weir_opt_find(o, &name);
    if (row != NULL && (weir_opt_stands_for(row) || row->type == WEIR_OPT_DIRECTIVES))
        return weir_refuse(err, WEIR_EBUG,
                           "an old spelling stands for '%s', which is no plain option", piece);
    return weir_opt_apply(o, &name, equals + 1, err);
}

/* Build one directive from len bytes of an old spelling's text, with 'value' for %s. 'is_off':
 * the old flag was switched off; then "=1" becomes "=0", and for a piece with any other value
 * nothing is built. */
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
    char shown[WEIR_QUOTE_TEXT];

    if (instead->len > 0)
        weir_opts_note(o, "option %s is from IOR 3.x; using %s", name->shown,
                       weir_quote(instead->text, instead->len, shown));
    else
        weir_opts_note(o, "option %s is from IOR 3.x and has no effect now", name->shown);
}

static const struct weir_opt truth = { .type = WEIR_OPT_FLAG };

/* Apply what another spelling stands for, one directive after the other; note an old one. */
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

static int apply_row(struct weir_opts *o, const struct weir_optrow *at,
                     const struct weir_optname *name, const char *value, bool is_first,
                     struct weir_err *err)
{
    const struct weir_opt *row = at->row;
    const struct weir_str nothing = { 0 };

    if (row->type == WEIR_OPT_GONE && !is_off(value))
        return weir_refuse(err, WEIR_EUSAGE, "option %s: %s", name->shown, row->help);
    if (row->type == WEIR_OPT_GONE) {
        note_old(o, name, &nothing);
        return 0;
    }
    if (row->type == WEIR_OPT_DIRECTIVES)
        return weir_refuse(err, WEIR_EUSAGE, "option %s is not allowed in a list of options",
                           name->shown);
    if (weir_opt_stands_for(row))
        return is_first ? apply_spelling(o, row, name, value, err) : 0;
    if (value == NULL)
        return apply_bare(o, at, name, err);
    return apply_value(o, at, name, value, is_first, err);
}

int weir_opt_apply(struct weir_opts *o, const struct weir_optname *name, const char *value,
                   struct weir_err *err)
{
    struct weir_optrow last = { 0 };
    int matches = 0;

    for (struct weir_optrow at = { 0 }; weir_opts_next(o, &at);) {
        size_t i = (size_t)(at.row - at.set->rows);

        if (!weir_opt_matches(&at, name))
            continue;
        if (apply_row(o, &at, name, value, matches == 0, err) < 0)
            return -1;
        if (at.set->typed && i < WEIR_OPT_TYPED)
            at.set->typed->bits[i / 64] |= UINT64_C(1) << i % 64;
        last = at;
        matches++;
    }
    if (matches == 1 && !o->several && !last.set->given)
        o->set[last.table].given = last.row;
    return matches == 0 ? refuse_unknown(o, name, err) : 0;
}

struct weir_optname weir_optname_of(const char *word, size_t len)
{
    size_t dashes = strspn(word, "-"), skip = dashes < len ? dashes : len;
    struct weir_optname n = { .text = word + skip, .len = len - skip };

    if (n.len == 1 && skip == 1)
        n.letter = *n.text;
    weir_quote(word, len, n.shown);
    return n;
}

int weir_opts_set(struct weir_opts *o, const char *name, const char *value, struct weir_err *err)
{
    const struct weir_optname n = weir_optname_of(name, strlen(name));
    const struct weir_opt *row;

    row = weir_opt_find(o, &n);
    if (row != NULL && (row->flags & WEIR_OPT_ARGV_ONLY))
        return weir_refuse(err, WEIR_EUSAGE, "option %s is for the command line only", n.shown);
    return weir_opt_apply(o, &n, value, err);
}
