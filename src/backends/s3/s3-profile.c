/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-profile.c - the form of ~/.aws/credentials and ~/.aws/config */
#include "backends/s3/s3-profile.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/quote.h"

/* Several names of one setting mean the same here: that there are keys which this program cannot get. */
static const struct {
    const char *name;
    enum s3_setting setting;
} names[] = {
    { "aws_access_key_id", S3_SET_ID },       { "aws_secret_access_key", S3_SET_SECRET },
    { "aws_session_token", S3_SET_TOKEN },    { "aws_security_token", S3_SET_TOKEN },
    { "region", S3_SET_REGION },              { "endpoint_url", S3_SET_ENDPOINT },
    { "services", S3_SET_SERVICES },          { "credential_process", S3_SET_ELSEWHERE },
    { "role_arn", S3_SET_ELSEWHERE },         { "source_profile", S3_SET_ELSEWHERE },
    { "credential_source", S3_SET_ELSEWHERE }, { "web_identity_token_file", S3_SET_ELSEWHERE },
    { "sso_session", S3_SET_ELSEWHERE },      { "sso_start_url", S3_SET_ELSEWHERE },
};
#define NAMES (sizeof(names) / sizeof(names[0]))

const char *s3_setting_name(enum s3_setting setting)
{
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].setting == setting)
            return names[i].name;
    return "";
}

/* len bytes of the file that is read. */
struct piece {
    const char *text;
    size_t len;
};

/* Where the reader is. */
struct reader {
    struct s3_profile *p;
    const struct s3_section *where;
    struct piece above; /* the last name that was not indented, */
    size_t indent;      /* and the blanks before it */
    int line;
    bool inside;
    bool headed; /* there was a section */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct piece trim(struct piece s)
{
    while (s.len > 0 && is_blank(*s.text))
        s = (struct piece) { s.text + 1, s.len - 1 };
    while (s.len > 0 && is_blank(s.text[s.len - 1]))
        s.len--;
    return s;
}

static bool is_text(struct piece s, const char *text)
{
    return s.len == strlen(text) && strncasecmp(s.text, text, s.len) == 0;
}

static bool is_same(struct piece s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.text, text, s.len) == 0;
}

/* Up to a comment, which stands at the begin or after a blank. */
static struct piece without_comment(struct piece s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((s.text[i] == '#' || s.text[i] == ';') && (i == 0 || is_blank(s.text[i - 1])))
            s.len = i;
    return trim(s);
}

static struct piece without_quotes(struct piece s)
{
    if (s.len >= 2 && (*s.text == '"' || *s.text == '\'') && s.text[s.len - 1] == *s.text)
        return trim((struct piece) { s.text + 1, s.len - 2 });
    return s;
}

static int refuse(const struct reader *r, struct weir_err *err, const char *what)
{
    return weir_refuse(err, WEIR_ESETUP, "%s:%d: %s", r->where->file, r->line, what);
}

/* ---- lines ---- */

static bool is_section(const struct s3_section *where, struct piece head)
{
    size_t n = 0;

    if (!*where->kind)
        return is_same(head, where->name);
    if (strcmp(where->kind, "profile") == 0 && is_same(head, "default"))
        return strcmp(where->name, "default") == 0;
    while (n < head.len && !is_blank(head.text[n]))
        n++;
    return is_same((struct piece) { head.text, n }, where->kind) &&
           is_same(without_quotes(trim((struct piece) { head.text + n, head.len - n })), where->name);
}

static int take_head(struct reader *r, struct piece s, struct weir_err *err)
{
    const char *end = memchr(s.text, ']', s.len);

    if (!end)
        return refuse(r, err, "a section has no ']'");
    r->headed = true;
    r->inside = is_section(r->where, trim((struct piece) { s.text + 1, (size_t)(end - s.text) - 1 }));
    r->p->found |= r->inside;
    r->above = (struct piece) { NULL, 0 };
    return 0;
}

static int keep(struct reader *r, enum s3_setting setting, struct piece value, struct weir_err *err)
{
    struct s3_profile *p = r->p;

    if (p->text[setting] && setting == S3_SET_ELSEWHERE)
        return 0;
    if (p->text[setting])
        return weir_refuse(err, WEIR_ESETUP, "%s:%d: section '%s' has a second '%s'; the first is in line %d",
                           r->where->file, r->line, r->where->name, s3_setting_name(setting),
                           p->line[setting]);
    p->text[setting] = strndup(value.text, value.len);
    p->line[setting] = r->line;
    return p->text[setting] ? 0 : weir_fail(err, WEIR_ESETUP, "memory for '%s'", r->where->file);
}

static int take_setting(struct reader *r, struct piece s, bool indented, struct weir_err *err)
{
    const char *equals = memchr(s.text, '=', s.len);
    struct piece name, value;

    if (!equals && indented)
        return 0; /* the value of the line above goes on */
    if (!equals)
        return refuse(r, err, "neither 'name = value' nor a section nor a comment");
    if (!r->headed)
        return refuse(r, err, "a setting before the first section, such as [default]");
    name = trim((struct piece) { s.text, (size_t)(equals - s.text) });
    value = without_comment((struct piece) { equals + 1, s.len - (size_t)(equals - s.text) - 1 });
    if (!indented)
        r->above = name;
    if (!r->inside || value.len == 0 || indented != (r->where->under != NULL) ||
        (indented && !is_text(r->above, r->where->under)))
        return 0;
    for (size_t i = 0; i < NAMES; i++)
        if (is_text(name, names[i].name))
            return keep(r, names[i].setting, value, err);
    return 0;
}

static int take_line(struct reader *r, struct piece line, struct weir_err *err)
{
    struct piece s = trim(line);
    size_t indent = (size_t)(s.text - line.text);
    bool indented = r->above.text && indent > r->indent;

    if (memchr(line.text, '\0', line.len))
        return refuse(r, err, "a NUL byte: this is no text");
    if (s.len == 0 || *s.text == '#' || *s.text == ';')
        return 0;
    if (*s.text == '[')
        return take_head(r, s, err);
    if (!indented)
        r->indent = indent;
    return take_setting(r, s, indented, err);
}

int s3_profile_read(struct s3_profile *p, const struct s3_section *where, const char *text, size_t len,
                    struct weir_err *err)
{
    struct reader r = { .p = p, .where = where };
    const char *end = len ? text + len : text; /* of nothing there is no address */

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* the mark of UTF-8 that editors put in front */
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        stop = stop ? stop : end;
        r.line++;
        if (take_line(&r, (struct piece) { text, (size_t)(stop - text) }, err) < 0)
            return -1;
        text = stop + 1;
    }
    return 0;
}

/* ---- the end ---- */

void s3_wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void s3_profile_free(struct s3_profile *p)
{
    for (int i = 0; i < S3_SETTINGS; i++)
        s3_wipe(p->text[i]);
    *p = (struct s3_profile) { .found = false };
}
