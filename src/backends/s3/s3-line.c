/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-line.c - a line to the service: requests in flight over few connections */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-line.h"
#include "base/clock.h"

#define BUFFER (128L << 10) /* bytes of libcurl's own, each way: with larger ones many requests do not fit into caches */
#define CONNECT_S 30        /* at most */

static int failed(struct weir_err *err, const char *what)
{
    return weir_refuse(err, WEIR_ESETUP, "S3: %s", what);
}

#if LIBCURL_VERSION_NUM >= 0x075000 /* earlier ones do not tell it */
/* The request is sent. libcurl sends it again by itself where a connection that was kept turns out to be lost. */
static int note_sent(void *user, char *ip, char *own_ip, int port, int own_port)
{
    struct s3_slot *slot = user;

    (void)ip, (void)own_ip, (void)port, (void)own_port;
    if (slot->sent > 0 && slot->c->answer.tried + slot->sent > slot->l->sv->o->retries + 1)
        return CURL_PREREQFUNC_ABORT;
    slot->sent++;
    return CURL_PREREQFUNC_OK;
}
#endif

#define SET(option, value) (rc = rc == CURLE_OK ? curl_easy_setopt(slot->easy, option, value) : rc)

/* All that holds for each request of a slot. */
static CURLcode set_up(struct s3_slot *slot)
{
    const struct s3_service *sv = slot->l->sv;
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
    SET(CURLOPT_ERRORBUFFER, slot->error);
    SET(CURLOPT_HEADERFUNCTION, s3_answer_header);
    SET(CURLOPT_HEADERDATA, slot);
    SET(CURLOPT_WRITEFUNCTION, s3_answer_body);
    SET(CURLOPT_WRITEDATA, slot);
#if LIBCURL_VERSION_NUM >= 0x075000
    SET(CURLOPT_PREREQFUNCTION, note_sent);
    SET(CURLOPT_PREREQDATA, slot);
#endif
    SET(CURLOPT_PRIVATE, slot);
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

static int make_slots(struct s3_line *l, struct weir_err *err)
{
    l->slots = calloc((size_t)l->depth + 1, sizeof(*l->slots));
    if (!l->slots)
        return failed(err, "no memory for requests");
    for (int i = 0; i <= l->depth; i++) {
        struct s3_slot *slot = &l->slots[i];
        CURLcode rc = CURLE_FAILED_INIT;

        slot->l = l;
        slot->next = l->idle;
        l->idle = slot;
        slot->easy = curl_easy_init();
        if (slot->easy)
            rc = set_up(slot);
        if (rc != CURLE_OK)
            return failed(err, curl_easy_strerror(rc));
    }
    return 0;
}

static int make_multi(struct s3_line *l, struct weir_err *err)
{
    long most = l->sv->o->connections;

    l->multi = curl_multi_init();
    if (!l->multi || curl_multi_setopt(l->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most) != CURLM_OK
        || curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, most ? most : l->depth + 1L) != CURLM_OK)
        return failed(err, "no memory for connections");
    return 0;
}

static int make_token(struct s3_line *l, struct weir_err *err)
{
    struct weir_str token = { 0 };

    if (!l->sv->id || !l->sv->token)
        return 0;
    weir_str_addf(&token, "x-amz-security-token: %s", l->sv->token);
    if (token.failed)
        return failed(err, "no memory for a token");
    l->token = token.text;
    return 0;
}

struct s3_line *s3_line_open(const struct s3_service *sv, const struct weir_session *s, int depth,
                             struct weir_err *err)
{
    struct s3_line *l = calloc(1, sizeof(*l));

    if (!l || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(l);
        (void)failed(err, "no memory for a connection");
        return NULL;
    }
    l->sv = sv;
    l->s = s;
    l->depth = depth;
    l->done_end = &l->done;
    if (s3_signer_begin(&l->signer) < 0) {
        (void)failed(err, "no memory for signatures");
        s3_line_close(l);
        return NULL;
    }
    if (make_token(l, err) < 0 || make_multi(l, err) < 0 || make_slots(l, err) < 0) {
        s3_line_close(l);
        return NULL;
    }
    return l;
}

static void note(const struct s3_line *l)
{
    if (l->route.moved)
        weir_note(l->s->log, "the service has sent requests of task 0 from %s to %s, region '%s': give --s3.endpoints and --s3.region so "
                  "that no request is sent twice", l->sv->endpoint, l->route.endpoint, l->route.region);
    if (l->confirmed < l->with_sum)
        weir_note(l->s->log, "--s3.checksum=%s: the service has confirmed %" PRIu64 " of %" PRIu64 " checksums of data that task 0 has sent: it may "
                  "not have verified the others; --s3.payload=signed is verified by all that verify signatures",
                  l->sv->o->checksum, l->confirmed, l->with_sum);
    if (strcmp(l->sv->o->checksum, "none") != 0 && l->verified < l->with_data)
        weir_note(l->s->log, "--s3.checksum=%s: %" PRIu64 " of %" PRIu64 " answers with data to task 0 had a checksum of these data; a check "
                  "of the data (-R, -W) verifies the others, too", l->sv->o->checksum, l->verified, l->with_data);
}

int s3_line_connections(const struct s3_line *l, int most)
{
    return l->http2 && l->connections < (uint64_t)most ? (int)l->connections : most;
}

void s3_line_close(struct s3_line *l)
{
    if (!l)
        return;
    note(l);
    for (int i = 0; l->slots && i <= l->depth; i++) {
        struct s3_slot *slot = &l->slots[i];

        if (slot->c)
            (void)curl_multi_remove_handle(l->multi, slot->easy);
        curl_easy_cleanup(slot->easy);
        weir_str_free(&slot->url);
        weir_str_free(&slot->body);
    }
    (void)curl_multi_cleanup(l->multi);
    free(l->slots);
    s3_signer_end(&l->signer);
    if (l->token)
        explicit_bzero(l->token, strlen(l->token));
    free(l->token);
    free(l);
    curl_global_cleanup();
}

static int start(struct s3_line *l, struct s3_call *c, struct weir_err *err)
{
    struct s3_slot *slot = l->idle;
    CURLMcode rc;

    if (!slot)
        return weir_refuse(err, WEIR_EBUG, "more than %d requests in flight", l->depth + 1);
    slot->c = c;
    c->answer.tried = 1;
    c->answer.unsure = 0;
    if (s3_request_prepare(slot, err) < 0) {
        slot->c = NULL;
        return -1;
    }
    rc = curl_multi_add_handle(l->multi, slot->easy);
    if (rc != CURLM_OK) {
        slot->c = NULL;
        return failed(err, curl_multi_strerror(rc));
    }
    l->idle = slot->next;
    slot->begin_ns = weir_now_ns();
    c->slot = slot;
    l->in_flight++;
    return 0;
}

int s3_line_start(struct s3_line *l, struct s3_call *c, struct weir_err *err)
{
    int running;

    if (start(l, c, err) < 0)
        return -1;
    /* Only the new one: a perform would ask the system for each request. An error shows at the next turn, too. */
    (void)curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    return 0;
}

void s3_finish(struct s3_slot *slot)
{
    struct s3_line *l = slot->l;
    struct s3_call *c = slot->c;

    slot->c = NULL;
    slot->next = l->idle;
    l->idle = slot;
    l->in_flight--;
    l->n_done++;
    c->slot = NULL;
    c->next = NULL;
    *l->done_end = c;
    l->done_end = &c->next;
}

/* A request and its times; one without an answer has none. */
static void count(const struct s3_slot *slot)
{
    struct weir_service_stats *stats = slot->l->s->service;
    const struct s3_answer *a = &slot->c->answer;
    long connections = 0, version = 0;

    (void)curl_easy_getinfo(slot->easy, CURLINFO_NUM_CONNECTS, &connections);
    (void)curl_easy_getinfo(slot->easy, CURLINFO_HTTP_VERSION, &version);
    slot->l->answered |= a->status > 0;
    slot->l->http2 |= version == CURL_HTTP_VERSION_2;
    slot->l->connections += (uint64_t)connections;
    if (!stats)
        return;
    stats->count[WEIR_SENT] += slot->sent > 0 ? (uint64_t)slot->sent : 1;
    stats->count[WEIR_SENT_LOST] += slot->sent > 1 ? (uint64_t)slot->sent - 1 : 0;
    stats->count[WEIR_SENT_CONNECTIONS] += (uint64_t)connections;
    if (a->status == 0)
        return;
    if (a->ns.connect)
        weir_hist_add(&stats->part[WEIR_PART_CONNECT], a->ns.connect);
    if (a->ns.tls)
        weir_hist_add(&stats->part[WEIR_PART_TLS], a->ns.tls);
    weir_hist_add(&stats->part[WEIR_PART_FIRST], a->ns.first);
    weir_hist_add(&stats->part[WEIR_PART_LAST], a->ns.last);
}

/* ---- the turns of a line ---- */

static void end_request(struct s3_slot *slot, CURLcode result)
{
    s3_answer_judge(slot, result);
    slot->c->answer.tried += slot->sent > 1 ? slot->sent - 1 : 0;
    slot->c->answer.unsure += slot->sent > 1 ? slot->sent - 1 : 0;
    count(slot);
    if (!s3_send_later(slot, result))
        s3_finish(slot);
}

/* libcurl cannot go on (memory): all calls in flight have failed. */
static void end_all(struct s3_line *l, CURLMcode rc)
{
    if (rc == CURLM_OK)
        return;
    l->later = NULL;
    for (int i = 0; i <= l->depth; i++) {
        struct s3_slot *slot = &l->slots[i];

        if (!slot->c)
            continue;
        (void)curl_multi_remove_handle(l->multi, slot->easy);
        s3_answer_fail(slot, curl_multi_strerror(rc));
        s3_finish(slot);
    }
}

/* Move what can be moved, without waiting. */
static void turn(struct s3_line *l)
{
    int running, more;
    CURLMsg *m;

    (void)s3_send_due(l);
    end_all(l, curl_multi_perform(l->multi, &running));
    while ((m = curl_multi_info_read(l->multi, &more))) {
        CURLcode result = m->data.result;
        struct s3_slot *slot;

        if (m->msg != CURLMSG_DONE || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &slot) != CURLE_OK)
            continue;
        (void)curl_multi_remove_handle(l->multi, slot->easy);
        end_request(slot, result);
    }
}

/* Until something can be moved. */
static void pause_line(struct s3_line *l)
{
    end_all(l, curl_multi_poll(l->multi, NULL, 0, s3_send_due(l), NULL));
}

static struct s3_call *take_done(struct s3_line *l, struct s3_call **at)
{
    struct s3_call *c = *at;

    *at = c->next;
    if (!*at)
        l->done_end = at;
    l->n_done--;
    return c;
}

int s3_line_wait(struct s3_line *l, int least, int most, struct s3_call **done)
{
    int n = 0;

    turn(l);
    while (l->n_done < least && l->in_flight) {
        pause_line(l);
        turn(l);
    }
    while (n < most && l->done)
        done[n++] = take_done(l, &l->done);
    return n;
}

/* The answer to HEAD has no body, so a GET of one byte asks for the words of the service. */
static void find_words(struct s3_line *l, struct s3_call *c)
{
    const struct s3_answer *a = &c->answer;
    struct weir_str text = { 0 };
    struct s3_call get = { .method = S3_GET, .url = c->url, .query = c->query, .headers = c->headers, .text = &text,
                           .ranged = true, .room = 1 };

    if (c->method != S3_HEAD || a->code[0] || a->status < 300 || a->status > 403)
        return;
    if (s3_call(l, &get, NULL) < 0 && get.answer.status == a->status) {
        get.answer.tried = a->tried;
        c->answer = get.answer;
    }
    weir_str_free(&text);
}

int s3_call(struct s3_line *l, struct s3_call *c, struct weir_err *err)
{
    struct s3_call **at = &l->done;

    if (start(l, c, err) < 0)
        return -1;
    turn(l);
    while (c->slot) {
        pause_line(l);
        turn(l);
    }
    while (*at != c)
        at = &(*at)->next;
    (void)take_done(l, at);
    if (c->answer.sys)
        find_words(l, c);
    return c->answer.sys ? s3_call_reason(l, c, err) : 0;
}
