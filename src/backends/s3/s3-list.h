/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-list.h - keys below a prefix, and the removal of many */
#ifndef WEIR_BACKENDS_S3_S3_LIST_H
#define WEIR_BACKENDS_S3_S3_LIST_H

#include "backends/s3/s3-call.h"

#define S3_KEYS_A_REQUEST 1000 /* that a service lists, and deletes, at most */

/* Takes a key and its size in bytes; both are valid in that call only. 0, or -1 and err, which ends the listing. */
typedef int s3_take_fn(void *mine, const char *key, uint64_t size, struct weir_err *err);

/* Give the keys of a bucket that begin with prefix to take, in the order of their bytes; 'most': no more than so many (at
 * most S3_KEYS_A_REQUEST, one request), 0: all, in as many requests as it takes. bucket: its URL. Local. 0, or -1 and err
 * (WEIR_EIO: the request or its answer; WEIR_ESETUP: no memory). */
int s3_list(struct s3_line *l, const char *bucket, const char *prefix, int most, s3_take_fn *take, void *mine,
            struct weir_err *err);

/* Is it one of the keys that are meant? rest: what is after the prefix. */
typedef bool s3_wanted_fn(const char *rest);

/* Delete the keys that begin with prefix and that 'wanted' takes, S3_KEYS_A_REQUEST in a request; others stay. bucket: its
 * URL. Local. 0, or -1 and err (WEIR_EIO: the first key that the service does not delete and its reason). */
int s3_delete_below(struct s3_line *l, const char *bucket, const char *prefix, s3_wanted_fn *wanted, struct weir_err *err);

#endif
