/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-retry.c - which requests are sent again, when, and where to */

#include <string.h>

#include "backends/s3/s3-request.h"
#include "base/clock.h"
#include "base/rng.h"

#define FIRST_NS UINT64_C(100000000) /* 0.1 s */
#define MOST_NS UINT64_C(20000000000)
#define DOUBLED_MOST 8
#define ASKED_MOST_S 60 /* of what the service asks for */
#define TRIES_BRIEF 2
#define TRIES_AT_THE_END 3

/* True for a refusal of the service that is temporary; also one in the body of a good answer. */
static bool is_refused(const struct s3_answer *a)
{
    static const struct {
        int status;
        const char *code; /* NULL: any */
    } rows[] = { { 408, NULL }, { 429, NULL }, { 500, NULL }, { 502, NULL }, { 503, NULL },
                 { 504, NULL }, { 400, "RequestTimeout" }, { 200, "RequestTimeout" },
                 { 200, "InternalError" }, { 200, "SlowDown" }, { 200, "ServiceUnavailable" } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (a->status == rows[i].status && (!rows[i].code || strcmp(a->code, rows[i].code) == 0))
            return true;
    return false;
}

/* The connection, not what was sent over it. A service that has never answered is not there. */
static bool is_lost(const struct s3_client *c, CURLcode result)
{
    switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        return c->answered;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

/* Return the most tries of a request: the end of a run waits for a few only. */
static int most_tries(const struct s3_client *c)
{
    int most = c->sv->o->retries + 1;

    return most > TRIES_AT_THE_END && s3_ends(c) ? TRIES_AT_THE_END : most;
}

static bool is_worth_it(const struct s3_handle *h, CURLcode result)
{
    const struct s3_answer *a = &h->call->answer;

    if (a->tried >= most_tries(h->client) ||
        (h->call->brief && a->status == 0 && a->tried >= TRIES_BRIEF))
        return false;
    return is_refused(a) || (a->status < 300 && is_lost(h->client, result));
}

uint64_t s3_backoff_ns(int tried, int asked_s, uint64_t random)
{
    int doubled = tried - 1 < DOUBLED_MOST ? tried - 1 : DOUBLED_MOST;
    uint64_t ns = FIRST_NS << doubled;
    uint64_t asked = (uint64_t)(asked_s < ASKED_MOST_S ? asked_s : ASKED_MOST_S) * WEIR_NS_PER_S;

    ns = ns < MOST_NS ? ns : MOST_NS;
    ns = ns / 2 + random % (ns / 2 + 1);
    return asked_s > 0 && asked > ns ? asked : ns;
}

/* ---- requests that wait ---- */

/* Let a request wait until it is due; others go on. */
static void postpone(struct s3_handle *h, uint64_t due_ns)
{
    h->due_ns = due_ns;
    h->next = h->client->later;
    h->client->later = h;
}

/* Send the request elsewhere, once, if the service says so. Requests in flight follow, too. */
static bool follow(struct s3_handle *h)
{
    struct s3_client *c = h->client;
    const int status = h->call->answer.status;
    struct s3_route route = { .moved = false };

    if (h->moved || status < 300 || status > 400 ||
        !s3_route_move(&route, c->sv, h->call->object.bucket, status, &h->reply))
        return false;
    if (!c->route.moved)
        c->route = route;
    if (c->s->service)
        c->s->service->count[WEIR_SENT_MOVED]++;
    postpone(h, 0);
    return true;
}

struct s3_handle *s3_retry_due(struct s3_client *c, int *wait_ms)
{
    uint64_t now_ns = !c->later    ? 0
                      : s3_ends(c) ? UINT64_MAX
                                   : weir_now_ns(),
             least_ns = WEIR_NS_PER_S;

    for (struct s3_handle **at = &c->later, *h; (h = *at); at = &h->next) {
        if (h->due_ns <= now_ns) {
            *at = h->next;
            return h;
        }
        least_ns = h->due_ns - now_ns < least_ns ? h->due_ns - now_ns : least_ns;
    }
    *wait_ms = (int)(least_ns / 1000000) + (c->later ? 1 : 0);
    return NULL;
}

bool s3_retry_later(struct s3_handle *h, CURLcode result)
{
    const struct weir_session *s = h->client->s;
    struct s3_answer *a = &h->call->answer;
    uint64_t now_ns;
    const bool begun = a->status != 429 && a->status != 503 && result != CURLE_COULDNT_CONNECT &&
                       result != CURLE_SSL_CONNECT_ERROR; /* the service may have done some of it */

    if (follow(h))
        return true;
    if (!is_worth_it(h, result))
        return false;
    if (s->service)
        s->service->count[a->status > 0 ? WEIR_SENT_REFUSED : WEIR_SENT_LOST]++;
    now_ns = weir_now_ns();
    postpone(h, now_ns + s3_backoff_ns(a->tried, h->reply.again_s,
                                       weir_rng_at(now_ns, (uint64_t)s->par->rank)));
    a->tried++;
    a->unsure += begun;
    return true;
}
