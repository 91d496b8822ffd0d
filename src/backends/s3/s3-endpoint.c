/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-endpoint.c - URLs of a service */
#include "backends/s3/s3-endpoint.h"
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text/quote.h"
#include "base/text/set.h"

#define HOST_MOST 255

/* One URL on its way. */
struct url {
    const char *text, *end; /* what is not read yet */
    bool https;
    char host[HOST_MOST + 1];
    long port; /* 0: that of the scheme */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- the parts: each returns what is wrong, or NULL ---- */

static const char *take_scheme(struct url *u)
{
    size_t len = (size_t)(u->end - u->text);

    if (len >= 8 && strncasecmp(u->text, "https://", 8) == 0)
        u->https = true;
    else if (len < 7 || strncasecmp(u->text, "http://", 7) != 0)
        return "is no URL that begins with http:// or https://";
    u->text += u->https ? 8 : 7;
    return NULL;
}

/* In brackets, which stay: an address of IPv6. */
static const char *check_brackets(const char *host, size_t len)
{
    char address[HOST_MOST + 1];
    struct in6_addr a;

    memcpy(address, host + 1, len - 2);
    address[len - 2] = '\0';
    return inet_pton(AF_INET6, address, &a) == 1 ? NULL : "has no address of IPv6 in its brackets";
}

static const char *take_host(struct url *u)
{
    size_t left = (size_t)(u->end - u->text), n = 0;
    const char *close = left > 0 && *u->text == '[' ? memchr(u->text, ']', left) : NULL;

    if (close)
        n = (size_t)(close - u->text) + 1;
    else
        while (n < left && (is_alnum(u->text[n]) || strchr("-._", u->text[n])))
            n++;
    if (n == 0 || n > HOST_MOST)
        return "has no name of a host (letters, digits, '-' and '.'; an address of IPv6 in [])";
    for (size_t i = 0; i < n; i++)
        u->host[i] = (char)tolower((unsigned char)u->text[i]);
    u->host[n] = '\0';
    u->text += n;
    return close ? check_brackets(u->host, n) : NULL;
}

static const char *take_port(struct url *u)
{
    if (u->text == u->end || *u->text != ':')
        return NULL;
    for (u->text++; u->text < u->end && is_digit(*u->text) && u->port <= 65535; u->text++)
        u->port = 10 * u->port + (*u->text - '0');
    if (u->port < 1 || u->port > 65535)
        return "has no port from 1 to 65535 after ':'";
    if (u->port == (u->https ? 443 : 80))
        u->port = 0;
    return NULL;
}

/* Some services are below a path. u->text .. u->end is that without '/' at its end, then. */
static const char *take_path(struct url *u)
{
    while (u->end > u->text && u->end[-1] == '/')
        u->end--;
    if (u->text < u->end && *u->text != '/')
        return "has something else than ':PORT' or '/' after its host";
    for (const char *c = u->text; c < u->end; c++)
        if (!is_alnum(*c) && !strchr("-._~/", *c))
            return "has characters in its path that are not letters, digits or one of -._~/";
    for (const char *c = u->text; c < u->end; c++)
        if (*c == '/' && (c[1] == '/' || c[1] == '.'))
            return "has empty parts in its path, or some that begin with a dot";
    return NULL;
}

static const char *check_style(const struct url *u, bool host_style)
{
    struct in_addr a;

    if (!host_style)
        return NULL;
    if (*u->host == '[' || inet_pton(AF_INET, u->host, &a) == 1)
        return "is an IP address, before which --s3.style=host can put no bucket: take --s3.style=path";
    return u->text < u->end ? "has a path, which does not go with --s3.style=host" : NULL;
}

static const char *read_url(struct url *u, bool host_style)
{
    const char *why;

    if ((why = take_scheme(u)) || (why = take_host(u)) || (why = take_port(u)) || (why = take_path(u)))
        return why;
    return check_style(u, host_style);
}

/* ---- the list ---- */

/* Secrets may be before '@' and after '?': then nothing of it is shown. */
static int refuse(const struct s3_endpoints *e, int number, const char *text, size_t len, const char *why,
                  struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    if (memchr(text, '@', len))
        return weir_refuse(err, WEIR_EUSAGE, "%s: URL %d has a user or a password in it; keys come from the "
                           "environment or from a profile", e->from, number);
    if (memchr(text, '?', len) || memchr(text, '#', len))
        return weir_refuse(err, WEIR_EUSAGE, "%s: URL %d has a query or a fragment ('?', '#'): leave it out",
                           e->from, number);
    return weir_refuse(err, WEIR_EUSAGE, "%s: URL %d, '%s', %s", e->from, number,
                       weir_quote(text, len, shown), why);
}

static void show(const struct url *u, struct weir_str *out)
{
    weir_str_clear(out);
    weir_str_addf(out, "http%s://%s", u->https ? "s" : "", u->host);
    if (u->port)
        weir_str_addf(out, ":%ld", u->port);
    weir_str_add(out, u->text, (size_t)(u->end - u->text));
}

/* Take the URL of len bytes into the set of all. */
static int take(const struct s3_endpoints *e, const char *text, size_t len, struct weir_set *all, bool *https,
                struct weir_err *err)
{
    struct url u = { .text = text, .end = text + len };
    const int number = (int)all->n + 1;
    const char *why = read_url(&u, e->host_style);
    struct weir_str url = { 0 };
    int64_t at;

    if (why)
        return refuse(e, number, text, len, why, err);
    show(&u, &url);
    at = weir_set_add(all, weir_str_text(&url), url.len);
    *https |= u.https;
    if (at < 0 || url.failed)
        weir_refuse(err, WEIR_ESETUP, "no memory for the URLs of %s", e->from);
    else if (at != number - 1)
        weir_refuse(err, WEIR_EUSAGE, "%s: URLs %d and %d are the same, '%s'; each task has one of different ones",
                    e->from, (int)at + 1, number, weir_str_text(&url));
    weir_str_free(&url);
    return at == number - 1 ? 0 : -1;
}

static struct weir_str *add(struct weir_str *out, const char *text)
{
    weir_str_add(out, text, strlen(text));
    return out;
}

int s3_endpoints_take(const struct s3_endpoints *e, int which, struct weir_str *url, int *n, bool *https,
                      struct weir_err *err)
{
    struct weir_set all = { .n = 0 };
    const char *at = e->list;
    int rc = 0;

    *https = false;
    for (bool more = true; more && rc == 0;) {
        size_t gap = strspn(at, " \t"), len, end;

        at += gap;
        len = end = strcspn(at, ",");
        while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
            len--;
        rc = take(e, at, len, &all, https, err);
        more = at[end] == ',';
        at += end + more;
    }
    *n = (int)all.n;
    if (rc == 0 && add(url, all.text.text + all.begin[which % *n])->failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the URLs of %s", e->from);
    weir_set_free(&all);
    return rc;
}
