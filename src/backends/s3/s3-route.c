/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-route.c - where the requests of a line go, after a service has sent them to another region */
#include "backends/s3/s3-route.h"
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A part of a URL. */
struct piece {
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
static struct piece host_of(const char *url)
{
    const char *host = strstr(url, "://");

    host = host ? host + 3 : url;
    return (struct piece) { host, strcspn(host, "/?#") };
}

/* The bucket in a URL of s3_url. */
static struct piece bucket_of(const struct s3_service *sv, const char *url)
{
    struct piece host = host_of(url);
    const char *path = url + strlen(sv->endpoint);

    if (sv->host_style)
        return (struct piece) { host.text, host.len - host_of(sv->endpoint).len - 1 };
    return (struct piece) { path + 1, strcspn(path + 1, "/?") };
}

void s3_route_url(const struct s3_route *r, const struct s3_service *sv, const char *url, struct weir_str *out)
{
    struct piece host = host_of(url), bucket = bucket_of(sv, url);

    if (!r->moved) {
        weir_str_addf(out, "%s", url);
        return;
    }
    weir_str_add(out, r->endpoint, (size_t)(host_of(r->endpoint).text - r->endpoint));
    if (sv->host_style)
        weir_str_addf(out, "%.*s.", (int)bucket.len, bucket.text);
    weir_str_addf(out, "%s%s", host_of(r->endpoint).text, host.text + host.len);
}

/* Services name the host of a bucket, "BUCKET.HOST". The bucket stands where --s3.style has it, as before. */
static struct piece without_bucket(struct piece host, struct piece bucket)
{
    if (host.len > bucket.len + 1 && strncasecmp(host.text, bucket.text, bucket.len) == 0 && host.text[bucket.len] == '.')
        return (struct piece) { host.text + bucket.len + 1, host.len - bucket.len - 1 };
    return host;
}

/* Names that a host can have, and a port: nothing that would change the meaning of a URL. */
static bool is_host(struct piece host)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]";

    return host.len > 0 && strspn(host.text, letters) >= host.len;
}

/* AWS says of some requests (HEAD) only in which region the bucket is. */
static bool find_amazon(const struct s3_service *sv, const char *region, char out[S3_ENDPOINT_MOST])
{
    struct piece host = host_of(sv->endpoint);
    char ours[S3_ENDPOINT_MOST];
    int n = snprintf(ours, sizeof(ours), "s3.%s.amazonaws.com", sv->region);

    if (n < 0 || host.len != (size_t)n || strncasecmp(host.text, ours, host.len) != 0)
        return false;
    n = snprintf(out, S3_ENDPOINT_MOST, "http%s://s3.%s.amazonaws.com", sv->https ? "s" : "", region);
    return n > 0 && n < S3_ENDPOINT_MOST;
}

/* The endpoint that the answer names, or the one there is. False: it cannot be asked. */
static bool find_endpoint(const struct s3_service *sv, const char *url, const struct s3_elsewhere *e,
                          char out[S3_ENDPOINT_MOST])
{
    bool https = *e->location ? strncasecmp(e->location, "https://", 8) == 0 : sv->https;
    struct piece host = host_of(*e->location ? e->location : e->endpoint);
    int n;

    if (e->status >= 400 || (!*e->location && !*e->endpoint)) {
        if (!find_amazon(sv, e->region, out))
            snprintf(out, S3_ENDPOINT_MOST, "%s", sv->endpoint);
        return true;
    }
    host = without_bucket(host, bucket_of(sv, url));
    if (!is_host(host) || (sv->https && !https))
        return false;
    n = snprintf(out, S3_ENDPOINT_MOST, "http%s://%.*s", https ? "s" : "", (int)host.len, host.text);
    return n > 0 && n < S3_ENDPOINT_MOST;
}

/* Does it send us anywhere, and not only say that a request is wrong? */
static bool is_elsewhere(const struct s3_service *sv, const struct s3_elsewhere *e)
{
    bool other_region = *e->region && strcmp(e->region, sv->region) != 0;

    if (other_region && (strlen(e->region) >= S3_REGION_MOST || !is_host((struct piece) { e->region, strlen(e->region) })))
        return false;
    if (e->status == 301 || e->status == 302 || e->status == 307 || e->status == 308)
        return other_region || *e->location || *e->endpoint;
    return e->status == 400 && other_region;
}

bool s3_route_move(struct s3_route *r, const struct s3_service *sv, const char *url, const struct s3_elsewhere *e)
{
    struct s3_route to = { .moved = true };

    if (r->moved || !is_elsewhere(sv, e) || !find_endpoint(sv, url, e, to.endpoint))
        return false;
    snprintf(to.region, sizeof(to.region), "%s", *e->region ? e->region : sv->region);
    if (strcmp(to.endpoint, sv->endpoint) == 0 && strcmp(to.region, sv->region) == 0)
        return false;
    *r = to;
    return true;
}
