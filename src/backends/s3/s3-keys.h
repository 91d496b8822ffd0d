/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-keys.h - keys, from the environment or from the files of a profile, and what these files say besides */
#ifndef WEIR_BACKENDS_S3_S3_KEYS_H
#define WEIR_BACKENDS_S3_S3_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Zero-initialise; release with s3_keys_free. Texts are owned; NULL: there is none. */
struct s3_keys {
    char *id, *secret, *token;
    char *region, *endpoint; /* of the profile */
    char *from;              /* where id and secret are from, for people */
};

/* The keys of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN) unless 'profile' is
 * given; else those of that profile, of AWS_PROFILE, or of "default", from the files that
 * AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name, or ~/.aws/credentials and ~/.aws/config. Where there are
 * none, and nobody has named a profile, id stays NULL. Local. -1 and err (WEIR_ESETUP), which has no secret in it;
 * then nothing is left. */
int s3_keys_find(struct s3_keys *k, const char *profile, struct weir_err *err);

/* Overwrites the texts before they are freed. */
void s3_keys_free(struct s3_keys *k);

/* The value of a variable of the environment; NULL: it is not set, or empty. */
const char *s3_variable(const char *name);

#endif
