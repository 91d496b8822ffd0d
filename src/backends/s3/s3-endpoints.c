/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-endpoints.c - the endpoint of this task, its region, and where the service sends requests */

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/s3/s3-client.h"
#include "base/text/quote.h"
#include "base/text/set.h"

#define HOST_MOST 255
#define REGION_TYPED 60 /* bytes of a region of ours: it fits into a message */
#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* ---- one URL: each function returns what is wrong, or NULL ---- */

/* In brackets, which stay: an address of IPv6. */
static const char *check_host(const char *host, size_t n, bool host_style)
{
    char address[HOST_MOST + 1];
    struct in6_addr a;

    if (n == 0 || n > HOST_MOST || n > strlen(host))
        return "has no valid host name (letters, digits, '-' and '.'; an IPv6 address in [])";
    snprintf(address, sizeof(address), "%.*s", (int)(*host == '[' ? n - 2 : n),
             host + (*host == '['));
    if (*host == '[' && inet_pton(AF_INET6, address, &a) != 1)
        return "has no valid IPv6 address in its brackets";
    if (host_style && (*host == '[' || inet_pton(AF_INET, address, &a) == 1))
        return "is an IP address, but --s3.style=host needs a host name; use --s3.style=path";
    return NULL;
}

/* Some services are below a path. *path is without '/' at its end, then. */
static const char *check_path(char *path, bool host_style)
{
    for (size_t n = strlen(path); n > 0 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (*path && *path != '/')
        return "must have ':PORT', '/' or nothing after its host";
    if (path[strspn(path, ALPHANUMERIC "-._~/")])
        return "has a path with characters other than letters, digits and -._~/";
    if (strstr(path, "//") || strstr(path, "/."))
        return "has an empty part in its path, or one that begins with a dot";
    return *path && host_style ? "has a path, which --s3.style=host does not support" : NULL;
}

/* Append it with small letters and without the port that goes without saying. */
static const char *read_url(char *text, bool host_style, struct weir_str *out)
{
    const bool https = strncasecmp(text, "https://", 8) == 0;
    char *host = text + (https ? 8 : 7), *path;
    const char *why;
    long port = https ? 443 : 80;
    size_t n;

    if (!https && strncasecmp(text, "http://", 7) != 0)
        return "does not begin with http:// or https://";
    n = *host == '[' ? strcspn(host, "]") + 1 : strspn(host, ALPHANUMERIC "-._");
    if ((why = check_host(host, n, host_style)))
        return why;
    for (size_t i = 0; i < n; i++)
        host[i] = (char)tolower((unsigned char)host[i]);
    path = host + n;
    if (*path == ':') {
        port = isdigit((unsigned char)path[1]) ? strtol(path + 1, &path, 10) : 0;
        if (port < 1 || port > 65535)
            return "needs a port from 1 to 65535 after ':'";
    }
    if ((why = check_path(path, host_style)))
        return why;
    weir_str_addf(out, "http%s://%.*s", https ? "s" : "", (int)n, host);
    if (port != (https ? 443 : 80))
        weir_str_addf(out, ":%ld", port);
    weir_str_addf(out, "%s", path);
    return NULL;
}

/* ---- a list of URLs ---- */

/* A setting and who has it, for messages. */
struct source {
    const char *value, *from;
};

/* The first that has a value; the last one in the list has one. */
static struct source first_of(const struct source *s)
{
    while (!s->value)
        s++;
    return *s;
}

/* Secrets may be before '@' and after '?': then nothing of it is shown. */
static int refuse_url(const struct source *list, int number, const char *text, const char *why,
                      struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    if (strchr(text, '@'))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "%s: URL %d has a user or a password in it; keys come from the environment or "
            "from a profile",
            list->from, number);
    if (strpbrk(text, "?#"))
        return weir_refuse(err, WEIR_EUSAGE, "%s: URL %d has a query or a fragment ('?', '#'): leave it out",
                           list->from, number);
    return weir_refuse(err, WEIR_EUSAGE, "%s: URL %d, '%s', %s", list->from, number,
                       weir_quote_str(text, shown), why);
}

/* Take the next URL into the set of all. */
static int take_url(const struct s3_service *sv, const struct source *list, const char *text,
                    size_t len, struct weir_set *all, struct weir_err *err)
{
    const int number = (int)all->n + 1;
    char *own = strndup(text, len);
    struct weir_str url = { 0 };
    const char *why = own ? read_url(own, sv->host_style, &url) : NULL;
    int64_t at = -1;

    if (own && !why && !url.failed)
        at = weir_set_add(all, weir_str_text(&url), url.len);
    if (why)
        refuse_url(list, number, own, why, err);
    else if (at < 0)
        weir_refuse(err, WEIR_ESETUP, "no memory for the URLs of %s", list->from);
    else if (at != number - 1)
        weir_refuse(err, WEIR_EUSAGE, "%s: URLs %d and %d are the same, '%s'; list each URL once",
                    list->from, (int)at + 1, number, weir_str_text(&url));
    free(own);
    weir_str_free(&url);
    return at == number - 1 ? 0 : -1;
}

static int take_list(const struct s3_service *sv, const struct source *list, struct weir_set *all,
                     struct weir_err *err)
{
    for (const char *at = list->value;; at++) {
        size_t len;

        at += strspn(at, " \t");
        len = strcspn(at, ",");
        while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
            len--;
        if (take_url(sv, list, at, len, all, err) < 0)
            return -1;
        at += strcspn(at, ",");
        if (!*at)
            return 0;
    }
}

/* ---- the endpoint of this task ---- */

static int check_https(const struct s3_service *sv, const struct weir_set *all, const char *from,
                       struct weir_err *err)
{
    bool https = false;

    for (size_t i = 0; i < all->n; i++)
        https |= strncmp(all->text.text + all->begin[i], "https:", 6) == 0;
    if (https || (!sv->o->insecure && !sv->o->ca_file))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "%s has only http://: %s is about certificates of https",
                       from, sv->o->insecure ? "--s3.insecure" : "--s3.ca-file");
}

static int find_endpoint(struct s3_service *sv, const struct weir_par *par, struct weir_err *err)
{
    const int which = strcmp(sv->o->spread, "node") == 0 ? par->node : par->rank;
    char amazon[S3_ENDPOINT_MOST];
    const struct source list = first_of((const struct source[]) {
        { sv->o->endpoints, "--s3.endpoints" },
        { s3_variable("AWS_ENDPOINT_URL_S3"), "AWS_ENDPOINT_URL_S3" },
        { s3_variable("AWS_ENDPOINT_URL"), "AWS_ENDPOINT_URL" },
        { sv->keys.endpoint, "'endpoint_url' of the profile" },
        { amazon, "the service of AWS" },
    });
    struct weir_set *all = &sv->all;
    int rc;

    snprintf(amazon, sizeof(amazon), "https://s3.%s.amazonaws.com%s", sv->region,
             strncmp(sv->region, "cn-", 3) == 0 ? ".cn" : "");
    rc = take_list(sv, &list, all, err);
    if (rc == 0)
        rc = check_https(sv, all, list.from, err);
    if (rc < 0)
        return -1;
    sv->urls = calloc(all->n, sizeof(*sv->urls));
    if (!sv->urls)
        return weir_fail(err, WEIR_ESETUP, "memory for %zu endpoints", all->n);
    for (size_t i = 0; i < all->n; i++)
        sv->urls[i] = all->text.text + all->begin[i];
    sv->own = which % (int)all->n;
    sv->endpoint = sv->urls[sv->own];
    sv->https = strncmp(sv->endpoint, "https:", 6) == 0;
    return 0;
}

static int find_region(struct s3_service *sv, struct weir_err *err)
{
    const struct source s = first_of((const struct source[]) {
        { sv->o->region, "--s3.region" },
        { s3_variable("AWS_REGION"), "AWS_REGION" },
        { s3_variable("AWS_DEFAULT_REGION"), "AWS_DEFAULT_REGION" },
        { sv->keys.region, "'region' of the profile" },
        { "us-east-1", "" },
    });
    const size_t n = strlen(s.value);
    char shown[WEIR_QUOTE_TEXT];

    if (n == 0 || n > REGION_TYPED || strspn(s.value, ALPHANUMERIC "-_.") < n)
        return weir_refuse(err, WEIR_EUSAGE,
                           "%s: '%s' is not a region (up to %d letters, digits and '-')", s.from,
                           weir_quote_str(s.value, shown), REGION_TYPED);
    sv->region = s.value;
    return 0;
}

/* ---- certificates, memory ---- */

/* libcurl reads the file with the first request only. */
static int find_authorities(struct s3_service *sv, struct weir_err *err)
{
    const char *from = sv->o->ca_file ? "--s3.ca-file" : "AWS_CA_BUNDLE";
    const char *file = sv->o->ca_file ? sv->o->ca_file : s3_variable("AWS_CA_BUNDLE");
    struct stat st;

    if (!sv->https || sv->o->insecure || !file)
        return 0;
    if (access(file, R_OK) < 0 || stat(file, &st) < 0)
        return weir_fail(err, WEIR_ESETUP, "%s: read '%s'", from, file);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return weir_refuse(err, WEIR_ESETUP,
                           "%s: '%s' is %s; certificates must be in a text file (PEM)", from, file,
                           S_ISREG(st.st_mode) ? "empty" : "not a regular file");
    sv->ca_file = file;
    return 0;
}

/* There is no core file: the environment, the keys, and copies of libraries would be in its memory,
 * and parts of them in the registers, which are in each. A limit of 1 also holds where a program
 * gets it (core_pattern). */
static int hide_memory(struct weir_err *err)
{
    struct rlimit core;

    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = core.rlim_max > 0;
        if (setrlimit(RLIMIT_CORE, &core) == 0)
            return 0;
    }
    return weir_fail(err, WEIR_ESETUP, "keep keys out of core files (setrlimit)");
}

/* ---- all of it ---- */

int s3_service_begin(struct s3_service *sv, const struct weir_session *s, struct weir_err *err)
{
    *sv = (struct s3_service) { .o = s->opt };
    sv->host_style = strcmp(sv->o->style, "host") == 0;
    if (s3_keys_find(&sv->keys, sv->o->profile, err) == 0 && find_region(sv, err) == 0 &&
        find_endpoint(sv, s->par, err) == 0 && find_authorities(sv, err) == 0 &&
        (!sv->keys.id || hide_memory(err) == 0))
        return 0;
    s3_service_end(sv);
    return -1;
}

void s3_service_end(struct s3_service *sv)
{
    s3_keys_free(&sv->keys);
    free(sv->urls);
    weir_set_free(&sv->all);
    *sv = (struct s3_service) { .o = NULL };
}

/* The variable by which libcurl takes a proxy, whose URL may have a password in it; NULL: none. */
static const char *proxy(const struct s3_service *sv)
{
    static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (s3_variable(names[i]) && (i > 2 || (i < 2) == sv->https))
            return names[i];
    return NULL;
}

void s3_service_note(const struct s3_service *sv, const struct weir_session *s)
{
    const bool nodes = strcmp(sv->o->spread, "node") == 0;
    const int users = nodes ? s->par->nodes : s->par->size;

    if (!sv->keys.id)
        weir_note(s->log, "requests are not signed, because no keys are found in the environment "
                          "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or in the files of a "
                          "profile");
    if (sv->https && sv->o->insecure)
        weir_note(s->log, "certificates are not verified (--s3.insecure): the identity of the "
                          "service is not known");
    if (proxy(sv))
        weir_note(
            s->log,
            "the environment names a proxy (%s): unless no_proxy names the endpoint, requests pass "
            "through the proxy, and the results include its time",
            proxy(sv));
    if (users < (int)sv->all.n)
        weir_note(s->log, "%d of %d endpoints are not used: there are %d %s",
                  (int)sv->all.n - users, (int)sv->all.n, users, nodes ? "nodes" : "tasks");
}

void s3_service_describe(const struct s3_service *sv, struct weir_str *out)
{
    weir_str_addf(out, "endpoint = %s\nendpoints = %d\nregion = %s\nstyle = %s\nkeys = %s\n",
                  sv->endpoint, (int)sv->all.n, sv->region, sv->o->style,
                  sv->keys.id ? sv->keys.from : "none: requests are not signed");
    if (sv->keys.id)
        weir_str_addf(out, "data in signatures = %s\n",
                      strcmp(sv->o->payload, "signed") == 0 ? "yes" : "no (UNSIGNED-PAYLOAD)");
    if (sv->https)
        weir_str_addf(out, "certificates = %s\n",
                      sv->o->insecure ? "not verified" : sv->ca_file ? sv->ca_file : "verified by the system's");
}

/* ---- where the service sends requests ---- */

/* A part of a URL. */
struct span {
    const char *text;
    size_t len;
};

const char *s3_route_endpoint(const struct s3_route *r, const struct s3_service *sv)
{
    return r->moved ? r->endpoint : sv->endpoint;
}

const char *s3_route_region(const struct s3_route *r, const struct s3_service *sv)
{
    return r->moved ? r->region : sv->region;
}

/* Host and port of a URL. */
static struct span host_of(const char *url)
{
    const char *host = strstr(url, "://");

    host = host ? host + 3 : url;
    return (struct span) { host, strcspn(host, "/?#") };
}

void s3_route_url(const struct s3_route *r, const struct s3_service *sv,
                  const struct s3_object *object, struct weir_str *out)
{
    const char *endpoint = s3_route_endpoint(r, sv), *host = host_of(endpoint).text;

    if (sv->host_style)
        weir_str_addf(out, "%.*s%s.%s/", (int)(host - endpoint), endpoint, object->bucket, host);
    else
        weir_str_addf(out, "%s/%s%s", endpoint, object->bucket, *object->key ? "/" : "");
    s3_encode(object->key, "/", out);
}

/* Services name the host of a bucket, "BUCKET.HOST". The bucket stands where --s3.style has it, as before. */
static struct span without_bucket(struct span host, const char *bucket)
{
    const size_t len = strlen(bucket);

    if (host.len > len + 1 && strncasecmp(host.text, bucket, len) == 0 && host.text[len] == '.')
        return (struct span) { host.text + len + 1, host.len - len - 1 };
    return host;
}

/* Names that a host can have, and a port: nothing that would change the meaning of a URL. */
static bool is_host(struct span host)
{
    return host.len > 0 && strspn(host.text, ALPHANUMERIC "-._:[]") >= host.len;
}

/* AWS says of some requests (HEAD) only in which region the bucket is. */
static bool find_amazon(const struct s3_service *sv, const char *region, char out[S3_ENDPOINT_MOST])
{
    struct span host = host_of(sv->endpoint);
    char ours[S3_ENDPOINT_MOST];
    int n = snprintf(ours, sizeof(ours), "s3.%s.amazonaws.com", sv->region);

    if (n < 0 || host.len != (size_t)n || strncasecmp(host.text, ours, host.len) != 0)
        return false;
    n = snprintf(out, S3_ENDPOINT_MOST, "http%s://s3.%s.amazonaws.com", sv->https ? "s" : "", region);
    return n > 0 && n < S3_ENDPOINT_MOST;
}

/* The endpoint that the answer names, with the path of ours, or the one there is. False: it cannot
 * be asked. */
static bool find_other(const struct s3_service *sv, const char *bucket, int status,
                       const struct s3_reply *e, char out[S3_ENDPOINT_MOST])
{
    bool https = *e->location ? strncasecmp(e->location, "https://", 8) == 0 : sv->https;
    struct span host = host_of(*e->location ? e->location : e->endpoint);
    struct span ours = host_of(sv->endpoint);
    int n;

    if (status >= 400 || (!*e->location && !*e->endpoint)) {
        if (!find_amazon(sv, e->region, out))
            snprintf(out, S3_ENDPOINT_MOST, "%s", sv->endpoint);
        return true;
    }
    host = without_bucket(host, bucket);
    if (!is_host(host) || (sv->https && !https))
        return false;
    n = snprintf(out, S3_ENDPOINT_MOST, "http%s://%.*s%s", https ? "s" : "", (int)host.len,
                 host.text, ours.text + ours.len);
    return n > 0 && n < S3_ENDPOINT_MOST;
}

/* True when it sends us elsewhere, and does not only report a wrong request. */
static bool is_elsewhere(const struct s3_service *sv, int status, const struct s3_reply *e)
{
    bool other_region = *e->region && strcmp(e->region, sv->region) != 0;

    if (other_region && (strlen(e->region) >= S3_REGION_MOST ||
                         !is_host((struct span) { e->region, strlen(e->region) })))
        return false;
    if (status == 301 || status == 302 || status == 307 || status == 308)
        return other_region || *e->location || *e->endpoint;
    return status == 400 && other_region;
}

bool s3_route_move(struct s3_route *r, const struct s3_service *sv, const char *bucket, int status,
                   const struct s3_reply *e)
{
    struct s3_route to = { .moved = true };

    if (r->moved || !is_elsewhere(sv, status, e) || !find_other(sv, bucket, status, e, to.endpoint))
        return false;
    snprintf(to.region, sizeof(to.region), "%s", *e->region ? e->region : sv->region);
    if (strcmp(to.endpoint, sv->endpoint) == 0 && strcmp(to.region, sv->region) == 0)
        return false;
    *r = to;
    return true;
}
