/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-call.h - a request to the service and its answer: blocking, or several in flight */
#ifndef WEIR_BACKENDS_S3_S3_CALL_H
#define WEIR_BACKENDS_S3_S3_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/s3/s3-service.h"
#include "backends/s3/s3-xml.h"

enum s3_method { S3_GET, S3_HEAD, S3_PUT, S3_POST, S3_DELETE };

#define S3_WHY 768 /* bytes of a reason */

/* How long the stages of a request took, one after the other, in ns (libcurl counts microseconds). connect and tls
 * are 0 where a connection was there. */
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
    uint64_t moved;     /* bytes of data: received, or sent and accepted. Fewer than 'room' are received only where
                         * the object ends there: 0 after its end (status 416) */
    uint64_t length;    /* of the object, where the answer says it (Content-Length of GET and HEAD, Content-Range) */
    char etag[80];      /* with its quotes; "" none */
    char checksum[64];  /* of x-amz-checksum-..., base64, or that was sent; "" none */
    char code[64];      /* the service's word for the error ("NoSuchKey"); "" none */
    char why[S3_WHY];   /* the reason as text: the service's code and message, or curl's */
    int tried;          /* requests that it took */
    int unsure;         /* of them, those that the service may have done though they had no good answer */
    struct s3_times ns; /* of the last of them */
};

/* One request. Filled by the caller, which keeps it, its texts and buffers until it is done; may be used again. No memory
 * is allocated by us for a request after the first of a slot, but for a body in 'text'. */
struct s3_call {
    enum s3_method method;
    const char *url;            /* of s3_url */
    const char *query;          /* encoded, names in order of bytes, each with '=': "partNumber=1&uploadId=x"; NULL none */
    const char *const *headers; /* "Name: value", at most S3_HEADERS, ends with NULL; NULL none. Besides those of
                                 * signature, range, checksum and type: a name that stands there twice makes
                                 * signatures that services refuse */
    const void *send;           /* body of PUT and POST */
    size_t send_len;
    void *into;                 /* data of a GET go here, room bytes at most: more is an error of the service */
    size_t room;
    struct weir_str *text;      /* or here, of any method: the body of the answer, XML. It is emptied first */
    bool ranged;                /* only 'room' bytes from 'off' */
    bool brief;                 /* after a failure, so that a service that does not answer is asked twice at most */
    uint64_t off;
    struct s3_answer answer;
    void *owner;                /* the caller's */
    /* s3-line.c's own */
    struct s3_slot *slot;
    struct s3_call *next;
};

#define S3_HEADERS 8

/* Headers of a request that makes an object only where there is none. */
extern const char *const s3_only_new[];

struct s3_line; /* to the service: connections, and requests in flight */

/* depth: calls in flight at most, besides one blocking one. sv and s must outlive it. Local. NULL and err (WEIR_ESETUP). */
struct s3_line *s3_line_open(const struct s3_service *sv, const struct weir_session *s, int depth,
                             struct weir_err *err);
/* Ends what is in flight, and notes what the results are not to be read without: requests that the service has sent to
 * another region, data that have no checksum. NULL: nothing. Local. */
void s3_line_close(struct s3_line *l);
/* Connections of this task at most, of 'most' by its options: with HTTP/2 those that it has made, which all share. Local. */
int s3_line_connections(const struct s3_line *l, int most);

/* Start a call; it ends in s3_line_wait. Local. -1 and err: not started (no memory, more than depth). */
int s3_line_start(struct s3_line *l, struct s3_call *c, struct weir_err *err);
/* Calls that are done, 'most' at most, after waiting until there are 'least' (0: do not wait). Those that the service
 * refuses for now are repeated before they count as done; where libcurl cannot go on all have failed. Local. Returns how many. */
int s3_line_wait(struct s3_line *l, int least, int most, struct s3_call **done);

/* Start one and wait for it; others in flight go on and stay for s3_line_wait. Local. 0 where answer.sys is 0, else -1
 * and err (may be NULL) with errno: "PUT s3://b/k at http://h:9000: 503 SlowDown: Please reduce ... (tried 6 times)". */
int s3_call(struct s3_line *l, struct s3_call *c, struct weir_err *err);
/* A request had a good answer with an error in it, which may pass; 'tried': it was sent so often. Is it to be sent again?
 * Then it is counted, and this waits until the time for that. Local. */
bool s3_line_again(struct s3_line *l, int tried);
/* The words of that error for a call that failed. Returns -1. */
int s3_call_reason(const struct s3_line *l, const struct s3_call *c, struct weir_err *err);

#endif
