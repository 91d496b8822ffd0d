/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-client.h - who asks which service: keys, endpoint and region; connections to it, and what is
 * in flight */
#pragma once

#include <curl/curl.h>

#include "backends/s3/s3-forms.h"
#include "base/text/set.h"

/* ---- s3-keys.c ---- */

#define S3_SECRET_MOST 512 /* bytes of an id or a secret; those of services have 16 to 128 */

/* Zero-initialise; release with s3_keys_free. Texts are owned; NULL: there is none. */
struct s3_keys {
    char *id, *secret, *token;
    char *region, *endpoint; /* of the profile */
    char *from;              /* where id and secret are from, for people: "profile 'x' of FILE" */
};

/* Find the keys. Without 'profile' they are those of the environment (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN). Else they are those of that profile, of AWS_PROFILE,
 * or of "default", in the files that AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name, or
 * ~/.aws/credentials and ~/.aws/config. Without any, and without a named profile, id stays NULL.
 * Local. -1 and err (WEIR_ESETUP), which has no secret in it; then nothing is left. */
int s3_keys_find(struct s3_keys *k, const char *profile, struct weir_err *err);

/* Free the keys; overwrites the texts before. */
void s3_keys_free(struct s3_keys *k);

/* The value of a variable of the environment; NULL: it is not set, or empty. */
const char *s3_variable(const char *name);

/* ---- s3-endpoints.c ---- */

#define S3_ENDPOINT_MOST 320 /* bytes of "https://host:port" */
#define S3_REGION_MOST 64

/* Where requests of this task go, and how they are signed. Texts are those of the options, the
 * environment and the keys. */
struct s3_service {
    const struct s3_options *o;
    struct s3_keys keys; /* id NULL: requests are not signed */
    const char *region;
    const char *ca_file; /* certificates of trusted authorities; NULL: those of the system */
    struct weir_set all; /* URLs of the endpoints of all tasks */
    const char **urls;   /* pointers to these, all.n of them, owned */
    int own;             /* index of the endpoint of this task, */
    const char *endpoint; /* which is "https://host:port", no '/' at its end */
    bool https, host_style;
};

/* Read the options, the environment, and the files of the profile. Local. 0, or -1 and err
 * (WEIR_EUSAGE: options; WEIR_ESETUP: the environment); then nothing is left. s->opt has the
 * options. With keys, this process leaves no memory in a core file from now on. */
int s3_service_begin(struct s3_service *sv, const struct weir_session *s, struct weir_err *err);
void s3_service_end(struct s3_service *sv); /* overwrites the keys; harmless on zeros */

/* Print notes, on rank 0: what is not signed, not verified, not used. */
void s3_service_note(const struct s3_service *sv, const struct weir_session *s);

/* For the report: append lines "key = value\n", none of them with a secret. Local. */
void s3_service_describe(const struct s3_service *sv, struct weir_str *out);

/* An object of the service; key "": the bucket itself. */
struct s3_object {
    const char *bucket, *key;
};

/* The route of requests. Zero-initialise: the endpoint and the region of the service. */
struct s3_route {
    bool moved;                      /* another one, which holds for all requests from now on */
    char endpoint[S3_ENDPOINT_MOST]; /* as that of the service, without a bucket in its host */
    char region[S3_REGION_MOST];
};

/* Return the endpoint or the region to which requests go now. Local. */
const char *s3_route_endpoint(const struct s3_route *r, const struct s3_service *sv);
const char *s3_route_region(const struct s3_route *r, const struct s3_service *sv);

/* Append the URL to which requests for an object go now, encoded as signatures need it. Local. */
void s3_route_url(const struct s3_route *r, const struct s3_service *sv,
                  const struct s3_object *object, struct weir_str *out);

/* The answer besides what its caller gets (s3-answer.c). */
struct s3_reply {
    bool has_length, has_range, has_total, excess;
    uint64_t length;          /* Content-Length */
    uint64_t from, to, total; /* Content-Range */
    size_t words;             /* bytes of a body that is not data */
    int64_t date;             /* of the service, seconds since 1970; 0 not known */
    int again_s;              /* Retry-After */
    char id[80];              /* of the request */
    char checksum[64];        /* of the data, of the kind that was asked for; base64, "" none */
    char region[S3_REGION_MOST], location[S3_KEY_MOST * 3 + 512], endpoint[256]; /* where to ask instead */
    char message[512];
};

/* True when an answer with this status to a request for an object of 'bucket' names another
 * location that can be asked. Then the route leads there. A location that has less security (http
 * instead of https) is not taken. Local. */
bool s3_route_move(struct s3_route *r, const struct s3_service *sv, const char *bucket, int status,
                   const struct s3_reply *e);

/* ---- s3-client.c ---- */

#define S3_HEADERS 8      /* of a call, at most */
#define S3_OWN_HEADERS 13 /* of the connection, signature, range and checksum */

struct s3_call;
struct s3_client;

/* A handle of libcurl, for one request after the other. */
struct s3_handle {
    CURL *easy;
    struct s3_client *client;
    struct s3_call *call;      /* NULL: free */
    struct weir_str url, body; /* the body of an answer that is an error */
    struct s3_reply reply;
    struct curl_slist headers[S3_OWN_HEADERS + S3_HEADERS];
    int n_headers;
    char host[320], range[64], hash[96], when[32], sign[1536], checksum[S3_CHECKSUM_HEADER]; /* texts of them */
    bool moved;                /* the request went where the service had sent others */
    int sent;                  /* how often, since it was prepared */
    int allowed;               /* and how often libcurl may send it */
    uint64_t begin_ns, first_ns;
    uint64_t due_ns;           /* when to send it again */
    char error[CURL_ERROR_SIZE];
    struct s3_handle *next;
};

/* Connections, and requests in flight over them. */
struct s3_client {
    const struct s3_service *sv;
    const struct weir_session *s;
    struct s3_route route;
    CURLM *multi;
    struct s3_handle *handles, *idle;
    struct s3_handle *later;          /* those that wait to be sent again */
    struct s3_call *done;
    int depth, in_flight, n_done;     /* in_flight: not done yet */
    bool answered, http2;             /* the service has answered, in HTTP/2 */
    uint64_t connections;             /* that were made */
    uint64_t with_sum, confirmed;     /* data that were sent with a checksum, and answers that
                                       * have it: of a service that has verified it */
    uint64_t with_data, verified;     /* answers with data, and those whose checksum was compared */
    char *token;                      /* header of the token */
    struct s3_signer signer;
};

/* depth: handles, besides one for a blocking call. header, body: s3_answer_header, s3_answer_body.
 * sv and s must outlive it. Local. NULL and err (WEIR_ESETUP). */
struct s3_client *s3_client_open(const struct s3_service *sv, const struct weir_session *s,
                                 int depth, curl_write_callback header, curl_write_callback body,
                                 struct weir_err *err);
/* End the requests in flight, and note what a reader of the results must know: requests that the
 * service has sent to another region, data that have no checksum. NULL: nothing. Local. */
void s3_client_close(struct s3_client *c);

/* True after a signal that ends the run. */
static inline bool s3_ends(const struct s3_client *c)
{
    return c->s->ends && c->s->ends(c->s->ends_arg);
}
