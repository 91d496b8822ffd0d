/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-route.h - where the requests of a line go: to the endpoint of the service, or where it has sent them */
#ifndef WEIR_BACKENDS_S3_S3_ROUTE_H
#define WEIR_BACKENDS_S3_S3_ROUTE_H

#include "backends/s3/s3-service.h"

#define S3_ENDPOINT_MOST 320 /* bytes of "https://host:port" */
#define S3_REGION_MOST 64

/* The route of a line. Zero-initialise: the endpoint and the region of the service. */
struct s3_route {
    bool moved;                      /* another one, which holds for all requests from now on */
    char endpoint[S3_ENDPOINT_MOST]; /* "https://host:port"; of a bucket before its host: without the bucket */
    char region[S3_REGION_MOST];
};

/* The answer, as far as it names another place. "" where it says nothing. */
struct s3_elsewhere {
    int status;           /* of the answer */
    const char *region;   /* of the bucket */
    const char *location; /* URL */
    const char *endpoint; /* a host, or a bucket and a host */
};

/* The endpoint and the region that hold now. Local. */
const char *s3_route_endpoint(const struct s3_route *r, const struct s3_service *sv);
const char *s3_route_region(const struct s3_route *r, const struct s3_service *sv);

/* Append a URL of s3_url as it is now. Only its host changes. Local. */
void s3_route_url(const struct s3_route *r, const struct s3_service *sv, const char *url, struct weir_str *out);

/* Does the answer to a request for 'url' (of s3_url) name another place, which can be asked? Then the route leads there. A
 * place that has less security (http instead of https) is not taken. Local. */
bool s3_route_move(struct s3_route *r, const struct s3_service *sv, const char *url, const struct s3_elsewhere *e);

#endif
