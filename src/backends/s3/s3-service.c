/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-service.c - the service and who asks it */
#include "backends/s3/s3-service.h"
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/s3/s3-endpoint.h"
#include "backends/s3/s3-profile.h"
#include "base/text/quote.h"

#define REGION_MOST 60 /* bytes that libcurl takes in a signature */

static int copy(char **out, const char *text, struct weir_err *err)
{
    *out = strdup(text);
    return *out ? 0 : weir_fail(err, WEIR_ESETUP, "memory for the service of S3");
}

/* ---- the parts ---- */

static bool is_region(const char *region)
{
    return *region && strlen(region) <= REGION_MOST &&
           strspn(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == strlen(region);
}

static int find_region(struct s3_service *sv, const struct s3_keys *k, struct weir_err *err)
{
    const struct {
        const char *value, *from;
    } places[] = {
        { sv->o->region, "--s3.region" },
        { s3_variable("AWS_REGION"), "AWS_REGION" },
        { s3_variable("AWS_DEFAULT_REGION"), "AWS_DEFAULT_REGION" },
        { k->region, "'region' of the profile" },
        { "us-east-1", "" },
    };
    char shown[WEIR_QUOTE_TEXT];
    int i = 0;

    while (!places[i].value)
        i++;
    if (!is_region(places[i].value))
        return weir_refuse(err, WEIR_EUSAGE, "%s: '%s' is no region: up to %d letters, digits and '-'",
                           places[i].from, weir_quote_str(places[i].value, shown), REGION_MOST);
    return copy(&sv->region, places[i].value, err);
}

/* Where the endpoints are written; NULL: nowhere, so it is AWS. */
static const char *find_list(const struct s3_service *sv, const struct s3_keys *k, const char **from)
{
    const struct {
        const char *value, *from;
    } places[] = {
        { sv->o->endpoints, "--s3.endpoints" },
        { s3_variable("AWS_ENDPOINT_URL_S3"), "AWS_ENDPOINT_URL_S3" },
        { s3_variable("AWS_ENDPOINT_URL"), "AWS_ENDPOINT_URL" },
        { k->endpoint, "'endpoint_url' of the profile" },
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i].value) {
            *from = places[i].from;
            return places[i].value;
        }
    return NULL;
}

/* ---- the endpoint of this task ---- */

static int number_of(const struct s3_service *sv, const struct weir_par *par)
{
    return strcmp(sv->o->spread, "node") == 0 ? par->node : par->rank;
}

static int check_https(const struct s3_service *sv, bool https, const char *from, struct weir_err *err)
{
    const struct weir_conflict rules[] = {
        { sv->o->insecure && !https, "--s3.insecure is about certificates of https" },
        { sv->o->ca_file && !https, "--s3.ca-file is about certificates of https" },
    };

    if (weir_conflicts_check(rules, 2, err) == 0)
        return 0;
    return weir_err_within(err, "%s has only http://", from);
}

static int find_endpoint(struct s3_service *sv, const struct s3_keys *k, const struct weir_par *par,
                         struct weir_err *err)
{
    struct s3_endpoints e = { .host_style = sv->host_style };
    struct weir_str amazon = { 0 }, url = { 0 };
    bool https;
    int rc;

    weir_str_addf(&amazon, "https://s3.%s.amazonaws.com%s", sv->region,
                  strncmp(sv->region, "cn-", 3) == 0 ? ".cn" : "");
    e.list = find_list(sv, k, &e.from);
    if (!e.list) {
        e.list = weir_str_text(&amazon);
        e.from = "the service of AWS";
    }
    rc = s3_endpoints_take(&e, number_of(sv, par), &url, &sv->endpoints, &https, err);
    if (rc == 0)
        rc = check_https(sv, https, e.from, err);
    if (rc == 0)
        rc = copy(&sv->endpoint, weir_str_text(&url), err);
    sv->https = rc == 0 && strncmp(sv->endpoint, "https:", 6) == 0;
    weir_str_free(&amazon);
    weir_str_free(&url);
    return rc;
}

/* ---- certificates, memory ---- */

/* libcurl reads it with the first request only. */
static int check_file(const char *from, const char *file, struct weir_err *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st = { .st_size = 0 };
    int rc = fd < 0 ? -1 : fstat(fd, &st);

    if (rc < 0)
        weir_fail(err, WEIR_ESETUP, "%s: read '%s'", from, file);
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        rc = weir_refuse(err, WEIR_ESETUP, "%s: '%s' is %s; certificates are in a file of text (PEM)", from, file,
                         S_ISREG(st.st_mode) ? "empty" : "no regular file");
    if (fd >= 0)
        close(fd);
    return rc;
}

static int find_authorities(struct s3_service *sv, struct weir_err *err)
{
    const char *from = sv->o->ca_file ? "--s3.ca-file" : "AWS_CA_BUNDLE";
    const char *file = sv->o->ca_file ? sv->o->ca_file : s3_variable("AWS_CA_BUNDLE");

    if (!sv->https || sv->o->insecure || !file)
        return 0;
    if (check_file(from, file, err) < 0)
        return -1;
    return copy(&sv->ca_file, file, err);
}

/* There is no core file: the environment, the keys, and copies of libraries would be in its memory, and parts of them in
 * the registers, which are in each. A limit of 1 also holds where a program gets it (core_pattern). */
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

static void take_keys(struct s3_service *sv, struct s3_keys *k)
{
    sv->id = k->id;
    sv->secret = k->secret;
    sv->token = k->token;
    sv->from = k->from;
    k->id = k->secret = k->token = k->from = NULL;
}

static int find_all(struct s3_service *sv, const struct weir_par *par, struct s3_keys *k, struct weir_err *err)
{
    if (s3_keys_find(k, sv->o->profile, err) < 0 || find_region(sv, k, err) < 0 ||
        find_endpoint(sv, k, par, err) < 0 || find_authorities(sv, err) < 0)
        return -1;
    take_keys(sv, k);
    return sv->id ? hide_memory(err) : 0;
}

static int find(struct s3_service *sv, const struct weir_session *s, struct weir_err *err)
{
    struct s3_keys k = { .id = NULL };
    int rc;

    *sv = (struct s3_service) { .o = s->opt };
    sv->host_style = strcmp(sv->o->style, "host") == 0;
    rc = find_all(sv, s->par, &k, err);
    s3_keys_free(&k);
    if (rc < 0)
        s3_service_end(sv);
    return rc;
}

/* The variable by which libcurl takes a proxy, whose URL may have a password in it; NULL: none. */
static const char *proxy(const struct s3_service *sv)
{
    static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY" };

    for (int i = 0; i < 5; i++)
        if (s3_variable(names[i]) && (i > 2 || (i < 2) == sv->https))
            return names[i];
    return NULL;
}

/* Part of every result, but not seen in its numbers. */
static void note(const struct s3_service *sv, const struct weir_session *s)
{
    const bool nodes = strcmp(sv->o->spread, "node") == 0;
    const int users = nodes ? s->par->nodes : s->par->size;

    if (!sv->id)
        weir_note(s->log, "requests are not signed: there are no keys, neither in the environment (AWS_ACCESS_KEY_ID, "
                          "AWS_SECRET_ACCESS_KEY) nor in the files of a profile");
    if (sv->https && sv->o->insecure)
        weir_note(s->log, "certificates are not verified (--s3.insecure): anybody on the way may be the service");
    if (proxy(sv))
        weir_note(s->log, "the environment names a proxy (%s): unless no_proxy names the endpoint, requests go through it, "
                          "and what is measured is both", proxy(sv));
    if (users < sv->endpoints)
        weir_note(s->log, "%d of %d endpoints are not used: there are %d %s", sv->endpoints - users, sv->endpoints,
                  users, nodes ? "nodes" : "tasks");
}

int s3_service_begin(struct s3_service *sv, const struct weir_session *s, struct weir_err *err)
{
    if (find(sv, s, err) < 0)
        return -1;
    note(sv, s);
    return 0;
}

void s3_service_end(struct s3_service *sv)
{
    s3_wipe(sv->id);
    s3_wipe(sv->secret);
    s3_wipe(sv->token);
    free(sv->endpoint);
    free(sv->region);
    free(sv->from);
    free(sv->ca_file);
    *sv = (struct s3_service) { .o = NULL };
}

/* ---- check ---- */

static int check_sizes(const struct s3_options *o, struct weir_err *err)
{
    if (o->part == 0 || o->part >= o->part_least)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--s3.part=%lld is less than --s3.part-least=%lld, the least part that the service takes",
                       (long long)o->part, (long long)o->part_least);
}

int s3_options_check(const struct weir_session *s, struct weir_err *err)
{
    const struct s3_options *o = s->opt;
    struct s3_service sv;

    if ((o->bucket && s3_bucket_check(o->bucket, err) < 0) || check_sizes(o, err) < 0 ||
        find(&sv, s, err) < 0)
        return -1;
    s3_service_end(&sv);
    return 0;
}

/* ---- what is asked for ---- */

void s3_service_describe(const struct s3_service *sv, struct weir_str *out)
{
    weir_str_addf(out, "endpoint = %s\n", sv->endpoint);
    weir_str_addf(out, "endpoints = %d\n", sv->endpoints);
    weir_str_addf(out, "region = %s\n", sv->region);
    weir_str_addf(out, "style = %s\n", sv->host_style ? "host" : "path");
    weir_str_addf(out, "keys = %s\n", sv->id ? sv->from : "none: requests are not signed");
    if (sv->id)
        weir_str_addf(out, "data in signatures = %s\n", strcmp(sv->o->payload, "signed") == 0 ? "yes" : "no (UNSIGNED-PAYLOAD)");
    if (sv->https)
        weir_str_addf(out, "certificates = %s\n",
                      sv->o->insecure ? "not verified" : sv->ca_file ? sv->ca_file : "verified by the system's");
}

void s3_url(const struct s3_service *sv, const char *bucket, const char *key, struct weir_str *url)
{
    const char *host = strstr(sv->endpoint, "//") + 2;

    if (sv->host_style)
        weir_str_addf(url, "http%s://%s.%s/", sv->https ? "s" : "", bucket, host);
    else
        weir_str_addf(url, "%s/%s%s", sv->endpoint, bucket, *key ? "/" : "");
    s3_encode(key, "/", url);
}
