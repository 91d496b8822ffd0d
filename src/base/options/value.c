/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - the value of an option row: read, stored, shown; lists of numbers and of places */
#include "base/options/option.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/str.h"

int weir_opt_choice(const char *const *words, const char *word)
{
    for (int i = 0; word && words[i]; i++)
        if (strcasecmp(words[i], word) == 0)
            return i;
    return -1;
}

static int parse_flag(const char *text, struct weir_optvalue *value, struct weir_err *err)
{
    static const char *const words[] = { "no",    "yes", "false",   "true",   "off", "on", "n",
                                         "y",     "f",   "t",       ".false.", ".true.", ".f.",
                                         ".t.",   NULL };
    int word = weir_opt_choice(words, text);
    char shown[WEIR_QUOTE_TEXT];
    size_t len = strlen(text);

    if (word >= 0) {
        value->number = word % 2; /* the words stand in pairs: off, on */
        return 0;
    }
    if (len == 0 || strspn(text, "0123456789") != len)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is neither 0 nor 1, yes, no, true, false, on, off",
                           weir_quote(text, len, shown));
    value->number = strspn(text, "0") != len;
    return 0;
}

/* A whole number in the range of the row. */
static int parse_number(const struct weir_opt *row, const char *text, struct weir_optvalue *value,
                        struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    int64_t min, max, lowest, highest;

    weir_opt_range(row, &min, &max);
    weir_opt_limits(row, &lowest, &highest);
    lowest = row->flags & WEIR_OPT_RESET ? lowest : min;
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
        if (parse_number(row, text, value, err) < 0)
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
    int choice = weir_opt_choice(row->choices, text);
    char shown[WEIR_QUOTE_TEXT];
    struct weir_str list = { 0 };

    if (choice >= 0) {
        value->text = row->choices[choice];
        return 0;
    }
    weir_opt_add_choices(row, "", "", &list);
    weir_refuse(err, WEIR_EUSAGE, "'%s' is not one of: %s", weir_quote_str(text, shown),
                weir_str_text(&list));
    weir_str_free(&list);
    return weir_near_ask(err, text, strlen(text), row->choices);
}

#define BETWEEN ", \t"

/* Numbers between commas or blanks. */
static int parse_list(const struct weir_opt *row, const char *text, struct weir_optlist *list,
                      struct weir_err *err)
{
    struct weir_optvalue value;
    char word[WEIR_QUOTE_TEXT];

    list->n = 0;
    for (text += strspn(text, BETWEEN); *text; text += strspn(text, BETWEEN)) {
        size_t len = strcspn(text, BETWEEN);

        if (list->n == WEIR_OPTLIST_MAX)
            return weir_refuse(err, WEIR_EUSAGE, "more than %d numbers", WEIR_OPTLIST_MAX);
        weir_quote(text, len, word); /* what cannot be quoted as it is, is no number */
        if (parse_number(row, word, &value, err) < 0)
            return -1;
        list->v[list->n++] = value.number;
        text += len;
    }
    return list->n > 0 ? 0 : weir_refuse(err, WEIR_EUSAGE, "a number is missing");
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
        return parse_number(row, text, value, err);
    case WEIR_OPT_REAL:
        return parse_real(row, text, value, err);
    case WEIR_OPT_STR:
        /* --help without "=NAME" is the empty text, whatever the choices are. */
        if ((row->flags & WEIR_OPT_NONE) && strcasecmp(text, "none") == 0)
            value->text = NULL;
        if (value->text == NULL || row->choices == NULL || (*text == '\0' && (row->flags & WEIR_OPT_OPTARG)))
            return 0;
        return parse_choice(row, text, value, err);
    case WEIR_OPT_LIST:
        return parse_list(row, text, &value->list, err);
    default:
        return weir_refuse(err, WEIR_EBUG, "an option without a field was given a value");
    }
}

/* The text of an option, after what the command line has given it before where that goes on. */
static int store_text(struct weir_opts *o, const struct weir_opt *row, const char *text,
                      const char **field, struct weir_err *err)
{
    bool joins = (row->flags & WEIR_OPT_APPEND) && o->on_line && text && *field && **field;
    const char *copy = joins  ? weir_arena_textf(o->arena, err, "%s,%s", *field, text)
                       : text ? weir_arena_strdup(o->arena, text, err)
                              : NULL;

    if (copy || !text)
        *field = copy;
    return text && !copy ? -1 : 0;
}

int weir_opt_store(struct weir_opts *o, const struct weir_optrow *at,
                   const struct weir_optvalue *value, struct weir_err *err)
{
    char *field = (char *)at->set->values + at->row->offset;

    switch (at->row->type) {
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
    case WEIR_OPT_STR:
        return store_text(o, at->row, value->text, (const char **)(void *)field, err);
    default:
        return 0;
    }
}

void weir_opt_show(const struct weir_opt *row, const void *values, struct weir_str *s)
{
    const char *field = values == NULL ? NULL : (const char *)values + row->offset;
    const struct weir_optlist *list = (const void *)field;
    const char *text = row->def;
    int64_t whole;
    double real;

    if (row->type >= WEIR_OPT_DIRECTIVES)
        return;
    if (field == NULL) {
        weir_str_addf(s, "%s", text != NULL ? text : row->type >= WEIR_OPT_STR ? "" : "0");
    } else if (row->type == WEIR_OPT_STR) {
        text = *(const char *const *)field;
        weir_str_addf(s, "%s", text != NULL ? text : "");
    } else if (row->type == WEIR_OPT_LIST) {
        for (int i = 0; i < list->n; i++)
            weir_str_addf(s, "%s%" PRId64, i ? "," : "", list->v[i]);
    } else if (row->type == WEIR_OPT_REAL) {
        weir_str_addf(s, "%.15g", *(const double *)field);
    } else {
        weir_opt_number(row, values, &whole, &real);
        weir_str_addf(s, "%" PRId64, whole);
    }
}

bool weir_opt_number(const struct weir_opt *row, const void *values, int64_t *whole, double *real)
{
    const char *field = (const char *)values + row->offset;

    *whole = 0;
    if (row->type == WEIR_OPT_REAL) {
        *real = *(const double *)field;
        if (!(fabs(*real) < 1e15) || *real != floor(*real))
            return false;
        *whole = (int64_t)*real;
        return true;
    }
    if (row->type == WEIR_OPT_FLAG)
        *whole = *(const bool *)field;
    else if (row->type == WEIR_OPT_SIZE)
        *whole = *(const int64_t *)field;
    else if (row->type == WEIR_OPT_INT || row->type == WEIR_OPT_COUNT)
        *whole = *(const int *)field;
    *real = (double)*whole;
    return true;
}

int weir_optlist_spread(const struct weir_optlist *list, const char *name, int dims,
                        const char *what, uint64_t *out, struct weir_err *err)
{
    if (list->n != 1 && list->n != dims)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "option --%s has %d values, but %s is %d: give one value, or one for each", name,
            list->n, what, dims);
    for (int d = 0; d < dims; d++)
        out[d] = (uint64_t)list->v[list->n == 1 ? 0 : d];
    return 0;
}

int weir_places_count(const char *list)
{
    int n = 1;

    for (; *list; list++)
        n += *list == '@';
    return n;
}

const char *weir_places_at(const char *list, int i, size_t *len)
{
    for (; i > 0; i--)
        list = strchr(list, '@') + 1;
    *len = strcspn(list, "@");
    return list;
}

size_t weir_opt_file_length(const struct weir_opt *row, const char *value)
{
    size_t len = strlen(value), end = row->ends ? strlen(row->ends) : 0;

    if (len < end || strcmp(value + len - end, row->ends ? row->ends : "") == 0)
        return len;
    for (size_t at = len; at > end; at--)
        if (value[at] == ',' && memcmp(value + at - end, row->ends, end) == 0)
            return at;
    return len;
}
