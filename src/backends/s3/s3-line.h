/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-line.h - what the modules of a line share: its slots, and the answer that one of them is getting */
#ifndef WEIR_BACKENDS_S3_S3_LINE_H
#define WEIR_BACKENDS_S3_S3_LINE_H

#include <curl/curl.h>

#include "backends/s3/s3-call.h"
#include "backends/s3/s3-checksum.h"
#include "backends/s3/s3-route.h"
#include "backends/s3/s3-sign.h"

#define S3_OWN_HEADERS 13 /* of the connection, signature, range and checksum */

/* The answer besides what its caller gets. */
struct s3_reply {
    bool has_length, has_range, has_total, excess;
    uint64_t length;      /* Content-Length */
    uint64_t from, to, total; /* Content-Range */
    int64_t date;         /* of the service, seconds since 1970; 0 not known */
    int again_s;          /* Retry-After */
    char id[80];          /* of the request */
    char checksum[64];    /* of the data, of the kind that was asked for; base64, "" none */
    char region[S3_REGION_MOST], location[S3_KEY_MOST * 3 + 512], endpoint[256]; /* where to ask instead */
    char message[512];
};

/* A handle of libcurl, for one request after the other. */
struct s3_slot {
    CURL *easy;
    struct s3_line *l;
    struct s3_call *c; /* NULL: free */
    struct weir_str url, body; /* the body of an answer that is an error */
    struct s3_reply reply;
    struct curl_slist headers[S3_OWN_HEADERS + S3_HEADERS];
    int n_headers;
    char host[320], range[64], hash[96], when[32], sign[1536], checksum[S3_CHECKSUM_HEADER]; /* texts of them */
    bool moved;    /* the request went where the service had sent others */
    int sent;      /* how often, since it was prepared */
    uint64_t begin_ns, first_ns;
    char error[CURL_ERROR_SIZE];
    uint64_t due_ns; /* when to try again */
    struct s3_slot *next;
};

struct s3_line {
    const struct s3_service *sv;
    const struct weir_session *s;
    struct s3_route route;
    CURLM *multi;
    struct s3_slot *slots, *idle, *later; /* later: those that wait to try again */
    struct s3_call *done, **done_end;
    int depth, in_flight, n_done;         /* in_flight: not done yet */
    bool answered;                        /* the service has, once */
    bool http2;                           /* in HTTP/2 */
    uint64_t connections;                 /* that were made */
    uint64_t with_sum, confirmed;         /* data that were sent with a checksum, and answers that have it: of a service
                                           * that has verified it */
    uint64_t with_data, verified;         /* answers with data, and those whose checksum was compared */
    char *token;                          /* header of the token */
    struct s3_signer signer;
};

/* Prepare the handle for slot->c, from its first byte on. -1 and err: no memory, or a call that cannot be. */
int s3_request_prepare(struct s3_slot *slot, struct weir_err *err);

/* The answer so far is of no use: forget it. */
void s3_answer_begin(struct s3_slot *slot);
/* Has a signal come that ends the run? */
static inline bool s3_ends(const struct s3_line *l)
{
    return l->s->ends && l->s->ends(l->s->ends_arg);
}

/* Callbacks of libcurl. */
size_t s3_answer_header(char *data, size_t size, size_t n, void *slot);
size_t s3_answer_body(char *data, size_t size, size_t n, void *slot);
/* There is no answer, because of 'why'. */
void s3_answer_fail(struct s3_slot *slot, const char *why);
/* The request has ended in libcurl with this result: fill the caller's answer, but for 'tried'. */
void s3_answer_judge(struct s3_slot *slot, CURLcode result);

/* The answer of slot->c was judged: is the request sent again? Because the service sends it elsewhere, once, or because it is
 * worth another try (--s3.retries). Then it is among l->later, and is counted. Local. */
bool s3_send_later(struct s3_slot *slot, CURLcode result);
/* Send those of l->later whose time has come, or all when a signal ends the run; one that cannot be sent has failed. Local. Returns the ms until that of the next
 * one, 1000 at most. */
int s3_send_due(struct s3_line *l);
/* The call of the slot is done: it has an answer, or the reason why it has none. */
void s3_finish(struct s3_slot *slot);
/* And after how long, in ns: 'tried' requests have failed, and the service asks for asked_s seconds (0: it does not).
 * The time doubles with each; a half of it is as 'random', any number, says, so that tasks do not come back together. */
uint64_t s3_backoff_ns(int tried, int asked_s, uint64_t random);

#endif
