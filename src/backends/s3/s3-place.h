/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-place.h - bucket and key that a name stands for, and their encoding in a URL */
#ifndef WEIR_BACKENDS_S3_S3_PLACE_H
#define WEIR_BACKENDS_S3_S3_PLACE_H

#include "backends/s3/s3-descriptor.h"

#define S3_KEY_MOST 1024 /* bytes of a key */

/* Bucket and key that a name stands for: s3://BUCKET/KEY, or with --s3.bucket the key. Slashes at the begin and the end,
 * doubled ones and "./" are left out. bucket, key: empty strings to append to. Local; needs no service.
 * -1 and err (WEIR_EUSAGE): no bucket, no key, a bucket's name that none can have, a key of more than S3_KEY_MOST bytes,
 * with "..", with control characters or not in UTF-8. */
int s3_place(const struct s3_options *o, const char *path, struct weir_str *bucket, struct weir_str *key,
             struct weir_err *err);

/* The same for a directory: an empty key is all of the bucket; no '/' is added at its end. */
int s3_place_dir(const struct s3_options *o, const char *path, struct weir_str *bucket, struct weir_str *key,
                 struct weir_err *err);

/* Can a bucket have this name? -1 and err (WEIR_EUSAGE) with the rule that it breaks. Local. */
int s3_bucket_check(const char *name, struct weir_err *err);

/* Append text encoded (RFC 3986: all bytes but letters, digits, "-._~" and those in 'kept'). kept: "" for a name or value of a
 * query, "/" for a key. Local. */
void s3_encode(const char *text, const char *kept, struct weir_str *out);

#endif
