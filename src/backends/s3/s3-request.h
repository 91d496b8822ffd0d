/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-request.h - a request to the service and its answer: blocking, or several in flight */
#pragma once

#include "backends/s3/s3-client.h"

enum s3_method { S3_GET, S3_HEAD, S3_PUT, S3_POST, S3_DELETE };

#define S3_WHY 768 /* bytes of a reason */

/* Times of the stages of a request, one after the other, in ns (libcurl counts microseconds).
 * With an existing connection connect and tls are 0. */
struct s3_times {
    uint64_t connect; /* name and TCP */
    uint64_t tls;     /* handshake */
    uint64_t first;   /* from then on until the first byte of the answer: the data of a PUT are sent in it */
    uint64_t last;    /* and until the last one */
};

/* The answer. status 0: no answer (sys and why say why). */
struct s3_answer {
    int status;         /* of HTTP; 0 none */
    int sys;            /* errno that says it best: ENOENT of 404, EACCES of 403, EEXIST of 412, EIO, ETIMEDOUT,
                         * ECONNREFUSED...; 0: it is what was asked for */
    uint64_t moved;     /* bytes of data: received, or sent and accepted. Fewer than 'limit' are received only where
                         * the object ends there: 0 after its end (status 416) */
    uint64_t length;    /* of the object, where the answer says it (Content-Length of GET and HEAD, Content-Range) */
    char etag[80];      /* with its quotes; "" none */
    char checksum[64];  /* of x-amz-checksum-..., base64, or that was sent; "" none */
    char code[64];      /* the service's word for the error ("NoSuchKey"); "" none */
    char why[S3_WHY];   /* the reason as text: the service's code and message, or curl's */
    int tried;          /* requests that it took */
    int unsure;         /* of them, those that the service may have done though they had no good answer */
    struct s3_times ns; /* of the last of them */
    uint64_t end_ns;    /* local clock: when it had come */
};

/* One request. Filled by the caller, which keeps it, its texts and buffers until it is done; may be used again. No memory
 * is allocated by us for a request after the first of a handle, but for a body in 'text'. */
struct s3_call {
    enum s3_method method;
    struct s3_object object;
    const char *query;          /* encoded, names in order of bytes, each with '=': "partNumber=1&uploadId=x"; NULL none */
    const char *const *headers; /* "Name: value", at most S3_HEADERS, ends with NULL; NULL none. Besides those of
                                 * signature, range, checksum and type: a name that stands there twice makes
                                 * signatures that services refuse */
    const void *send;           /* body of PUT and POST */
    size_t send_len;
    void *into;                 /* data of a GET go here, limit bytes at most: more is an error of the service */
    size_t limit;
    struct weir_str *text;      /* or here, of any method: the body of the answer, XML. It is emptied first */
    bool ranged;                /* only 'limit' bytes from 'off' */
    bool brief;                 /* after a failure, so that a service that does not answer is asked twice at most */
    uint64_t off;
    struct s3_answer answer;
    void *owner;                /* the caller's */
    struct s3_handle *handle;   /* s3-request.c's own, as next */
    struct s3_call *next;
};

/* Headers of a request that makes an object only where there is none. */
extern const char *const s3_only_new[];

/* Start a call; it ends in s3_wait. Local. -1 and err: not started (no memory, more than depth). */
int s3_start(struct s3_client *c, struct s3_call *call, struct weir_err *err);
/* Return calls that are done, 'most' at most, after waiting until there are 'least' (0: do not
 * wait). Those that the service refuses for now are repeated before they count as done; where
 * libcurl cannot go on all have failed. Local. Returns how many. */
int s3_wait(struct s3_client *c, int least, int most, struct s3_call **done);

/* Start one and wait for it; others in flight go on and stay for s3_wait. Local. 0 where answer.sys
 * is 0, else -1 and err (may be NULL) with errno: "PUT s3://b/k at http://h:9000: 503 SlowDown:
 * Please reduce ... (tried 6 times)". */
int s3_call(struct s3_client *c, struct s3_call *call, struct weir_err *err);
/* Fill err with the message of that error, for a call that failed. Returns -1. */
int s3_call_reason(const struct s3_client *c, const struct s3_call *call, struct weir_err *err);

/* ---- s3-answer.c: what the service has sent ---- */

/* Discard the answer received so far. */
void s3_answer_begin(struct s3_handle *h);
/* Callbacks of libcurl, whose last argument is a handle. */
size_t s3_answer_header(char *data, size_t size, size_t n, void *handle);
size_t s3_answer_body(char *data, size_t size, size_t n, void *handle);
/* Make the call a failed one with this errno and reason, whatever the service has answered. */
void s3_fail(struct s3_answer *a, int sys, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Fill the caller's answer, but for 'tried', from this result of the request in libcurl. */
void s3_answer_judge(struct s3_handle *h, CURLcode result);

/* ---- s3-retry.c: what is sent again, when, and where to ---- */

/* Decide by the judged answer whether to send the request again: where the service redirects it
 * (once), or where a retry may help (--s3.retries). Then it is in c->later, and counted. Local. */
bool s3_retry_later(struct s3_handle *h, CURLcode result);
/* Take one of c->later whose time has come, or any when a signal ends the run. NULL: none; *wait_ms
 * is until the next one is due, 1000 at most. Local. */
struct s3_handle *s3_retry_due(struct s3_client *c, int *wait_ms);
/* Return the wait before the next try, ns, after 'tried' failed ones. It doubles with each try; a
 * half of it depends on 'random', any number. asked_s: minimum that the service asks for, seconds
 * (0: none). */
uint64_t s3_backoff_ns(int tried, int asked_s, uint64_t random);
