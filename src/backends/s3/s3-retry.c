/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-retry.c - which requests are sent again, when, and where to */
#include "config.h"

#include <string.h>

#include "backends/s3/s3-line.h"
#include "base/clock.h"
#include "base/rng.h"

#define FIRST_NS UINT64_C(100000000) /* 0.1 s */
#define MOST_NS UINT64_C(20000000000)
#define DOUBLED_MOST 8
#define ASKED_MOST_S 60 /* of what the service asks for */
#define TRIES_BRIEF 2
#define TRIES_AT_THE_END 3

/* Does the service say it only for now? */
static bool is_refused(const struct s3_answer *a)
{
    static const int statuses[] = { 408, 429, 500, 502, 503, 504 };

    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
        if (a->status == statuses[i])
            return true;
    return a->status == 400 && strcmp(a->code, "RequestTimeout") == 0;
}

/* Was nothing of it done? */
static bool is_not_begun(const struct s3_answer *a, CURLcode result)
{
    return a->status == 429 || a->status == 503 || result == CURLE_COULDNT_CONNECT || result == CURLE_SSL_CONNECT_ERROR;
}

/* The connection, not what was sent over it. A service that has never answered is not there. */
static bool is_lost(const struct s3_line *l, CURLcode result)
{
    switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        return l->answered;
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

/* How often it is sent: the end of a run waits for a few tries only. */
static int most_tries(const struct s3_line *l)
{
    int most = l->sv->o->retries + 1;

    return most > TRIES_AT_THE_END && s3_ends(l) ? TRIES_AT_THE_END : most;
}

static bool is_worth_it(const struct s3_slot *slot, CURLcode result)
{
    const struct s3_call *c = slot->c;

    if (c->answer.tried >= most_tries(slot->l) || (c->brief && c->answer.status == 0 && c->answer.tried >= TRIES_BRIEF))
        return false;
    return is_refused(&c->answer) || (c->answer.status < 300 && is_lost(slot->l, result));
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

/* Count it; returns after how many ns. */
static uint64_t again_ns(struct s3_line *l, bool refused, int tried, int asked_s)
{
    if (l->s->service)
        l->s->service->count[refused ? WEIR_SENT_REFUSED : WEIR_SENT_LOST]++;
    return s3_backoff_ns(tried, asked_s, weir_rng_at(weir_now_ns(), (uint64_t)l->s->par->rank));
}

bool s3_line_again(struct s3_line *l, int tried)
{
    uint64_t ns;

    if (tried >= most_tries(l))
        return false;
    ns = again_ns(l, true, tried, 0);
    weir_sleep_ns(s3_ends(l) ? 0 : ns);
    return true;
}

/* It waits for its turn; others go on. */
static void postpone(struct s3_slot *slot, uint64_t due_ns)
{
    slot->due_ns = due_ns;
    slot->next = slot->l->later;
    slot->l->later = slot;
}

static void retry(struct s3_slot *slot, CURLcode result)
{
    struct s3_line *l = slot->l;
    struct s3_answer *a = &slot->c->answer;

    postpone(slot, weir_now_ns() + again_ns(l, a->status > 0, a->tried, slot->reply.again_s));
    a->tried++;
    a->unsure += !is_not_begun(a, result);
}

/* Does the service send it elsewhere? Once: those that were on their way when others were sent there follow them. */
static bool follow(struct s3_slot *slot)
{
    struct s3_line *l = slot->l;
    const struct s3_reply *r = &slot->reply;
    const struct s3_elsewhere e = {
        .status = slot->c->answer.status, .region = r->region, .location = r->location, .endpoint = r->endpoint
    };
    struct s3_route route = { .moved = false };

    if (slot->moved || e.status < 300 || e.status > 400 || !s3_route_move(&route, l->sv, slot->c->url, &e))
        return false;
    if (!l->route.moved)
        l->route = route;
    if (l->s->service)
        l->s->service->count[WEIR_SENT_MOVED]++;
    postpone(slot, 0);
    return true;
}

static void send_again(struct s3_slot *slot)
{
    struct weir_err why = WEIR_ERR_INIT;
    CURLMcode rc = CURLM_OK;

    if (s3_request_prepare(slot, &why) == 0) { /* signed anew: the time is part of it */
        slot->begin_ns = weir_now_ns();
        rc = curl_multi_add_handle(slot->l->multi, slot->easy);
        if (rc == CURLM_OK)
            return;
    }
    s3_answer_fail(slot, rc == CURLM_OK ? why.text : curl_multi_strerror(rc));
    s3_finish(slot);
}

int s3_send_due(struct s3_line *l)
{
    uint64_t now_ns = !l->later ? 0 : s3_ends(l) ? UINT64_MAX : weir_now_ns(), least_ns = WEIR_NS_PER_S;
    struct s3_slot **at = &l->later;

    while (*at) {
        struct s3_slot *slot = *at;

        if (slot->due_ns > now_ns) {
            least_ns = slot->due_ns - now_ns < least_ns ? slot->due_ns - now_ns : least_ns;
            at = &slot->next;
            continue;
        }
        *at = slot->next;
        send_again(slot);
    }
    return (int)(least_ns / 1000000) + (l->later ? 1 : 0);
}

bool s3_send_later(struct s3_slot *slot, CURLcode result)
{
    if (follow(slot))
        return true;
    if (!is_worth_it(slot, result))
        return false;
    retry(slot, result);
    return true;
}
