/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-retry.c - which requests are sent again, and when */
#include "config.h"

#include <string.h>

#include "backends/s3/s3-line.h"
#include "base/clock.h"

#define FIRST_NS UINT64_C(100000000) /* 0.1 s */
#define MOST_NS UINT64_C(20000000000)
#define DOUBLED_MOST 8
#define ASKED_MOST_S 60 /* of what the service asks for */

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
static bool is_not_begun(const struct s3_answer *a)
{
    return a->status == 429 || a->status == 503;
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

bool s3_worth_retry(const struct s3_slot *slot, CURLcode result)
{
    const struct s3_call *c = slot->c;

    if (c->answer.tried > slot->l->sv->o->retries || (c->once && !is_not_begun(&c->answer)))
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
