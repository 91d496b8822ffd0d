/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonscan.c - a reader of JSON that keeps nothing */
#include "config.h"
#include "base/jsonscan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/size.h"

struct scan {
    const char *at;
    struct weir_str path, text;
    void (*take)(void *to, const struct weir_json_value *v);
    void *to;
    int depth;
};

static bool scan_value(struct scan *s);

static void skip_blanks(struct scan *s)
{
    s->at += strspn(s->at, " \t\r\n");
}

static bool skip(struct scan *s, char c)
{
    skip_blanks(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

static void hand_on(struct scan *s, enum weir_json_kind kind, double number)
{
    struct weir_json_value v = { .path = weir_str_text(&s->path),
                                 .kind = kind,
                                 .text = kind == WEIR_JSON_TEXT ? weir_str_text(&s->text) : NULL,
                                 .number = number };

    s->take(s->to, &v);
}

/* Into s->text. */
static bool scan_text(struct scan *s)
{
    const char *from;

    if (!skip(s, '"'))
        return false;
    for (from = s->at; *s->at && *s->at != '"' && *s->at != '\n'; s->at++)
        if (*s->at == '\\' && s->at[1])
            s->at++;
    weir_str_clear(&s->text);
    weir_str_add(&s->text, from, (size_t)(s->at - from));
    return skip(s, '"');
}

static bool scan_word(struct scan *s)
{
    static const struct {
        const char *word;
        double number;
    } words[] = { { "true", 1 }, { "false", 0 }, { "null", NAN } };
    const char *end;
    double number;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t n = strlen(words[i].word);

        if (strncmp(s->at, words[i].word, n) == 0) {
            s->at += n;
            hand_on(s, WEIR_JSON_NUMBER, words[i].number);
            return true;
        }
    }
    if (!strchr("-0123456789", *s->at) || !*s->at)
        return false;
    end = weir_real_scan(s->at, &number);
    if (end == s->at)
        return false;
    s->at = end;
    hand_on(s, WEIR_JSON_NUMBER, number);
    return true;
}

static bool scan_member(struct scan *s)
{
    size_t len = s->path.len;
    bool good = scan_text(s);

    weir_str_addf(&s->path, "%s%s", len > 0 ? "." : "", weir_str_text(&s->text));
    good = good && skip(s, ':') && scan_value(s);
    s->path.len = len;
    if (s->path.text)
        s->path.text[len] = '\0';
    return good;
}

/* After the bracket that opens it. */
static bool scan_members(struct scan *s, char close, bool (*member)(struct scan *s))
{
    if (skip(s, close))
        return true;
    do {
        if (!member(s))
            return false;
    } while (skip(s, ','));
    return skip(s, close);
}

static bool scan_value(struct scan *s)
{
    bool good;

    skip_blanks(s);
    if (*s->at == '"') {
        if ((good = scan_text(s)))
            hand_on(s, WEIR_JSON_TEXT, NAN);
        return good;
    }
    if (*s->at != '{' && *s->at != '[')
        return scan_word(s);
    if (++s->depth > WEIR_JSON_DEPTH)
        return false;
    if (*s->at++ == '[') {
        good = scan_members(s, ']', scan_value);
    } else if ((good = scan_members(s, '}', scan_member))) {
        hand_on(s, WEIR_JSON_END, NAN);
    }
    s->depth--;
    return good;
}

int weir_json_scan(const char *text, void (*take)(void *to, const struct weir_json_value *v),
                   void *to, struct weir_err *err)
{
    struct scan s = { .at = text, .take = take, .to = to };
    bool good = scan_value(&s) && !s.path.failed && !s.text.failed;
    int line = 1;

    skip_blanks(&s);
    good = good && !*s.at;
    weir_str_free(&s.path);
    weir_str_free(&s.text);
    if (good)
        return 0;
    for (; text < s.at; text++)
        line += *text == '\n';
    return weir_refuse(err, WEIR_EUSAGE, "line %d: this is not JSON", line);
}
