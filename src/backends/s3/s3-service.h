/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-service.h - the service and who asks it: endpoint, region, keys, and the URL of an object */
#ifndef WEIR_BACKENDS_S3_S3_SERVICE_H
#define WEIR_BACKENDS_S3_S3_SERVICE_H

#include "backends/s3/s3-keys.h"
#include "backends/s3/s3-place.h"

/* Where requests of this task go, and how they are signed. Texts are owned. */
struct s3_service {
    const struct s3_options *o;
    char *endpoint;      /* "https://host:port", no '/' at its end: that of this task */
    char *region;
    char *id, *secret, *token; /* id NULL: requests are not signed (no keys were found) */
    char *from;          /* where the keys are from, for people: "profile 'x' of /home/u/.aws/credentials" */
    char *ca_file;       /* certificates of trusted authorities; NULL: those of the system */
    int endpoints;       /* of all tasks */
    bool https, host_style;
};

/* Find them: options, environment, files of the profile. Local. 0, or -1 and err (WEIR_EUSAGE: options;
 * WEIR_ESETUP: the environment); then nothing is left. s->opt has the options. Where there are keys this process
 * leaves no memory in a core file from now on. Notes from rank 0 say what is not signed, not verified, not used. */
int s3_service_begin(struct s3_service *sv, const struct weir_session *s, struct weir_err *err);
void s3_service_end(struct s3_service *sv); /* overwrites the keys; harmless on zeros */

/* Options against each other, and all of what s3_service_begin finds, without its notes. Nothing is sent. Local. -1 and err. */
int s3_options_check(const struct weir_session *s, struct weir_err *err);

/* For the report: append lines "key = value\n", none of them with a secret. Local. */
void s3_service_describe(const struct s3_service *sv, struct weir_str *out);

/* Append the URL of a place ("" as key: of the bucket), encoded as signatures need it. Local. */
void s3_url(const struct s3_service *sv, const char *bucket, const char *key, struct weir_str *url);

#endif
