/* SPDX-License-Identifier: BSD-3-Clause */
/* script.c - IOR script files, and the grammar of their lines, "key=value, key=value # comment",
 * which -O has, too */
#include "base/text/script.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/text/quote.h"

/* ---- a list of directives ---- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

/* Bytes from 'from' to 'to' without blanks at the end. */
static size_t trimmed(const char *from, const char *to)
{
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return (size_t)(to - from);
}

static bool has_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (isspace((unsigned char)text[i]))
            return true;
    return false;
}

/* The extent of one piece: where '=' is (NULL: nowhere) and where it stops, at a ',', a '#' or
 * the end. A quoted value hides both; one without closing mark reaches to the end. */
static const char *find_stop(const char *at, const char *end, const char **equals)
{
    *equals = NULL;
    for (; at < end && *at != ',' && *at != '#'; at++) {
        if (*at != '=' || *equals != NULL)
            continue;
        *equals = at;
        at = skip_blanks(at + 1, end);
        if (at < end && *at == '"') {
            at = memchr(at + 1, '"', (size_t)(end - at - 1));
            if (at == NULL)
                return end;
        } else {
            at--; /* the loop steps on */
        }
    }
    return at;
}

/* Take the value, whose first character is at 'from', apart. */
static int read_value(const char *from, const char *stop, struct weir_directive *d,
                      struct weir_err *err)
{
    char key[WEIR_QUOTE_TEXT], shown[WEIR_QUOTE_TEXT];
    const char *close;

    weir_quote(d->key, d->key_len, key);
    from = skip_blanks(from, stop);
    d->value = from;
    d->value_len = trimmed(from, stop);
    if (d->value_len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s=' needs a value after '='", key);
    if (*from != '"') {
        if (has_blank(d->value, d->value_len))
            return weir_refuse(err, WEIR_EUSAGE,
                               "the value '%s' of '%s' has a blank in it; separate options by "
                               "commas, or put the "
                               "value in double quotes",
                               weir_quote(d->value, d->value_len, shown), key);
        return 0;
    }
    close = memchr(from + 1, '"', (size_t)(stop - from - 1));
    if (close == NULL)
        return weir_refuse(err, WEIR_EUSAGE, "the value of '%s' has no closing quotation mark",
                           key);
    if (close + 1 != from + d->value_len)
        return weir_refuse(err, WEIR_EUSAGE,
                           "the value of '%s' has text after the closing quotation mark", key);
    d->value = from + 1;
    d->value_len = (size_t)(close - from - 1);
    return 0;
}

int weir_directive_next(const char **at, const char *end, struct weir_directive *d,
                        struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *from, *equals, *stop;

    if (*at > end)
        return 0;
    from = skip_blanks(*at, end);
    stop = find_stop(from, end, &equals);
    /* A comment ends the list, so do not look after it. */
    *at = stop < end && *stop == ',' ? stop + 1 : end + 1;
    d->key = from;
    d->key_len = trimmed(from, equals != NULL ? equals : stop);
    weir_quote(from, trimmed(from, stop), shown);
    if (trimmed(from, stop) == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "an option is missing: there is nothing before or after a comma");
    if (equals == NULL)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' needs '=value' here, as in '%s=1'", shown,
                           shown);
    if (d->key_len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' has no option name before '='", shown);
    return read_value(equals + 1, stop, d, err) < 0 ? -1 : 1;
}

/* Bytes of the list before its comment. */
static size_t uncomment(const char *list, size_t len)
{
    const char *end = list + len, *at = list, *equals;

    while (at < end) {
        at = find_stop(skip_blanks(at, end), end, &equals);
        if (at < end && *at == '#')
            return (size_t)(at - list);
        at++;
    }
    return len;
}

/* ---- a script: lines, keywords, and when a test is complete ---- */

struct script {
    const struct weir_script_sink *sink;
    char shown[WEIR_QUOTE_TEXT]; /* its name */
    unsigned long number;        /* of the line being read */
    struct weir_str line; /* the line being read: no comment, no blanks at either end */
    bool started, stopped;
    bool plain; /* there is no line "IOR START": all lines count */
    bool pending; /* directives since the last RUN */
    bool any_run;
    /* The first line before "IOR START" and after "IOR STOP" that looks like an option; 0: there
     * is none. */
    unsigned long before, after;
};

/* True when the line has these words, in upper or lower case, with any blanks between them.
 * second may be NULL. */
static bool is_keyword(const char *line, const char *first, const char *second)
{
    size_t len = strlen(first), gap;

    if (strncasecmp(line, first, len) != 0)
        return false;
    line += len;
    if (second == NULL)
        return *line == '\0';
    gap = strspn(line, " \t");
    return gap > 0 && strcasecmp(line + gap, second) == 0;
}

/* Copy a raw line to s->line without comment and surrounding blanks. */
static int clean_line(struct script *s, const char *raw, size_t len, struct weir_err *err)
{
    if (memchr(raw, '\0', len) != NULL)
        return weir_refuse(err, WEIR_EUSAGE, WEIR_NOT_TEXT);
    len = uncomment(raw, len);
    raw = weir_trimmed(raw, &len);
    weir_str_clear(&s->line);
    weir_str_add(&s->line, raw, len);
    return s->line.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a line of %zu bytes", len)
                          : 0;
}

static int end_test(struct script *s, struct weir_err *err)
{
    s->pending = false;
    s->any_run = true;
    return s->sink->run(s->sink->arg, err);
}

/* The line at *text, of *line bytes, without its end; *text and *len go on after it. NULL: the text
 * is over. */
static const char *next_line(const char **text, size_t *len, size_t *line)
{
    const char *begin = *text, *newline = *len > 0 ? memchr(begin, '\n', *len) : NULL;
    size_t step = newline != NULL ? (size_t)(newline - begin) + 1 : *len;

    *line = step - (newline != NULL);
    *text += step;
    *len -= step;
    return step > 0 ? begin : NULL;
}

int weir_text_line_copy(const char **text, size_t *len, struct weir_arena *arena, char **line,
                        struct weir_err *err)
{
    size_t n;
    const char *begin = next_line(text, len, &n);

    if (!begin)
        return 0;
    if (memchr(begin, '\0', n))
        return weir_refuse(err, WEIR_EUSAGE, WEIR_NOT_TEXT);
    *line = weir_arena_strndup(arena, begin, n, err);
    return *line ? 1 : -1;
}

/* True when there is a line "IOR START". */
static bool has_start(struct script *s, const char *text, size_t len)
{
    const char *line;
    size_t line_len;

    while ((line = next_line(&text, &len, &line_len)) != NULL)
        if (clean_line(s, line, line_len, NULL) == 0 &&
            is_keyword(weir_str_text(&s->line), "IOR", "START"))
            return true;
    return false;
}

/* A note about a line; 0: about all of the script. */
static void note(const struct script *s, unsigned long line, const char *words)
{
    struct weir_str text = { 0 };

    if (s->sink->note == NULL)
        return;
    weir_str_addf(&text, "%s", s->shown);
    if (line > 0)
        weir_str_addf(&text, ":%lu", line);
    weir_str_addf(&text, ": %s", words);
    s->sink->note(s->sink->arg, weir_str_text(&text));
    weir_str_free(&text);
}

/* Each note says it once, about the first line. */
static void note_reading(const struct script *s)
{
    if (s->plain)
        note(s, 0, "no line \"IOR START\"; its lines are taken as options of the test");
    if (s->before > 0)
        note(s, s->before, "lines before IOR START are ignored; options belong after it");
    if (s->after > 0)
        note(s, s->after, "lines after IOR STOP are ignored; options belong before it");
}

/* A line after "IOR STOP", where anything may stand. */
static void look_at_rest(struct script *s, const char *raw, size_t len)
{
    const char *line;

    if (s->after > 0 || clean_line(s, raw, len, NULL) < 0)
        return;
    line = weir_str_text(&s->line);
    if (strchr(line, '=') != NULL || is_keyword(line, "RUN", NULL))
        s->after = s->number;
}

/* Carry out a cleaned line. */
static int obey(struct script *s, struct weir_err *err)
{
    const char *line = weir_str_text(&s->line);

    if (!s->started) {
        s->started = is_keyword(line, "IOR", "START");
        if (s->before == 0 && strchr(line, '=') != NULL)
            s->before = s->number;
        return 0;
    }
    if (*line == '\0')
        return 0;
    if (is_keyword(line, "IOR", "STOP")) {
        s->stopped = true;
        return 0;
    }
    if (is_keyword(line, "RUN", NULL))
        return end_test(s, err);
    s->pending = true;
    return s->sink->directives(s->sink->arg, line, err);
}

static int read_lines(struct script *s, const char *text, size_t len, struct weir_err *err)
{
    const char *line;
    size_t line_len;

    while ((line = next_line(&text, &len, &line_len)) != NULL) {
        s->number++;
        if (s->stopped)
            look_at_rest(s, line, line_len);
        else if (clean_line(s, line, line_len, err) < 0 || obey(s, err) < 0)
            return -1;
    }
    return 0;
}

int weir_script_read(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err)
{
    struct script s = { .sink = sink };
    int rc;

    weir_quote_str(name, s.shown);
    s.plain = s.started = !has_start(&s, text, len);
    rc = read_lines(&s, text, len, err);
    if (rc == 0 && s.plain && !s.pending && !s.any_run) {
        weir_str_free(&s.line);
        return weir_refuse(err, WEIR_EUSAGE, "%s: no line \"IOR START\", and no option", s.shown);
    }
    if (rc == 0)
        note_reading(&s);
    if (rc == 0 && (s.pending || !s.any_run))
        rc = end_test(&s, err) < 0 ? -1 : 0;
    if (rc < 0)
        weir_err_within(err, s.plain ? "%s:%lu (no line \"IOR START\", so all lines are options)"
                                     : "%s:%lu",
                        s.shown, s.number);
    weir_str_free(&s.line);
    return rc;
}
