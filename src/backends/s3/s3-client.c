/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-client.c - connections to the service, and a handle of libcurl for each request in flight */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-client.h"

#define BUFFER (128L << 10) /* bytes of libcurl's own, each way: with larger ones many requests do not fit into caches */
#define CONNECT_S 30        /* at most */

#if LIBCURL_VERSION_NUM >= 0x075000 /* earlier ones do not report it */
/* The request is sent. libcurl sends it again by itself where a connection that was kept turns out to be lost. */
static int note_sent(void *user, char *ip, char *own_ip, int port, int own_port)
{
    struct s3_handle *h = user;

    if (h->sent > 0 && h->sent >= h->allowed)
        return CURL_PREREQFUNC_ABORT;
    h->sent++;
    return CURL_PREREQFUNC_OK;
}
#endif

#define SET(option, value) (rc = rc == CURLE_OK ? curl_easy_setopt(h->easy, option, value) : rc)

/* All that holds for each request of a handle. */
static CURLcode set_up(struct s3_handle *h, curl_write_callback header, curl_write_callback body)
{
    const struct s3_service *sv = h->client->sv;
    const bool http2 = sv->https && strcmp(sv->o->http, "2") == 0;
    long timeout = sv->o->timeout;
    CURLcode rc = CURLE_OK;

    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM < 0x075500 /* the later name of the same */
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#else
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
#endif
    SET(CURLOPT_HTTP_VERSION, (long)(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    SET(CURLOPT_PIPEWAIT, http2 ? 1L : 0L); /* else each of the first requests makes a connection of its own */
    SET(CURLOPT_BUFFERSIZE, BUFFER);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, BUFFER);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, timeout);
    SET(CURLOPT_CONNECTTIMEOUT, timeout < CONNECT_S ? timeout : CONNECT_S);
    SET(CURLOPT_ERRORBUFFER, h->error);
    SET(CURLOPT_HEADERFUNCTION, header);
    SET(CURLOPT_HEADERDATA, h);
    SET(CURLOPT_WRITEFUNCTION, body);
    SET(CURLOPT_WRITEDATA, h);
#if LIBCURL_VERSION_NUM >= 0x075000
    SET(CURLOPT_PREREQFUNCTION, note_sent);
    SET(CURLOPT_PREREQDATA, h);
#endif
    SET(CURLOPT_PRIVATE, h);
    SET(CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
    if (sv->ca_file)
        SET(CURLOPT_CAINFO, sv->ca_file);
    if (sv->o->insecure) {
        SET(CURLOPT_SSL_VERIFYPEER, 0L);
        SET(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    return rc;
}
#undef SET

static bool make_handles(struct s3_client *c, curl_write_callback header, curl_write_callback body)
{
    c->handles = calloc((size_t)c->depth + 1, sizeof(*c->handles));
    for (int i = 0; c->handles && i <= c->depth; i++) {
        struct s3_handle *h = &c->handles[i];

        h->client = c;
        h->next = c->idle;
        c->idle = h;
        h->easy = curl_easy_init();
        if (!h->easy || set_up(h, header, body) != CURLE_OK)
            return false;
    }
    return c->handles != NULL;
}

static bool make_multi(struct s3_client *c)
{
    const long most = c->sv->o->connections;

    c->multi = curl_multi_init();
    return c->multi &&
           curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most) == CURLM_OK &&
           curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, most ? most : c->depth + 1L) ==
               CURLM_OK;
}

static bool make_token(struct s3_client *c)
{
    struct weir_str token = { 0 };

    if (!c->sv->keys.id || !c->sv->keys.token)
        return true;
    weir_str_addf(&token, "x-amz-security-token: %s", c->sv->keys.token);
    c->token = token.text;
    return !token.failed;
}

struct s3_client *s3_client_open(const struct s3_service *sv, const struct weir_session *s,
                                 int depth, curl_write_callback header, curl_write_callback body,
                                 struct weir_err *err)
{
    struct s3_client *c = calloc(1, sizeof(*c));

    if (c && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
        c->sv = sv;
        c->s = s;
        c->depth = depth;
        if (make_token(c) && make_multi(c) && make_handles(c, header, body))
            return c;
        s3_client_close(c);
        c = NULL;
    }
    free(c);
    weir_refuse(err, WEIR_ESETUP, "S3: no memory for connections");
    return NULL;
}

static void note(const struct s3_client *c)
{
    const char *kind = c->sv->o->checksum;

    if (c->route.moved)
        weir_note(c->s->log,
                  "the service has sent requests of task 0 from %s to %s, region '%s': give "
                  "--s3.endpoints "
                  "and --s3.region so that no request is sent twice",
                  c->sv->endpoint, c->route.endpoint, c->route.region);
    if (c->confirmed < c->with_sum)
        weir_note(c->s->log, "--s3.checksum=%s: the service has confirmed only %" PRIu64 " of "
                             "%" PRIu64 " checksums that task 0 has sent; the others are perhaps "
                             "not verified (--s3.payload=signed is verified with the signature)",
                             kind, c->confirmed, c->with_sum);
    if (strcmp(kind, "none") != 0 && c->verified < c->with_data)
        weir_note(c->s->log,
                  "--s3.checksum=%s: %" PRIu64 " of %" PRIu64
                  " answers with data to task 0 had a checksum of "
                  "these data; a check of the data (-R, -W) verifies the others, too",
                  kind, c->verified, c->with_data);
}

void s3_client_close(struct s3_client *c)
{
    if (!c)
        return;
    note(c);
    for (int i = 0; c->handles && i <= c->depth; i++) {
        struct s3_handle *h = &c->handles[i];

        if (h->call)
            (void)curl_multi_remove_handle(c->multi, h->easy);
        curl_easy_cleanup(h->easy);
        weir_str_free(&h->url);
        weir_str_free(&h->body);
    }
    (void)curl_multi_cleanup(c->multi);
    free(c->handles);
    s3_signer_end(&c->signer);
    if (c->token)
        explicit_bzero(c->token, strlen(c->token));
    free(c->token);
    free(c);
    curl_global_cleanup();
}
