/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-descriptor.h - what is known of the backend without its libraries: name and options */
#pragma once

#include <string.h>

#include "backends/backend.h"

/* The options. Words are those of the rows' choices; NULL: the environment, or the default of the
 * service, decides. Keys are no options: a command line is seen by all users of a node. */
struct s3_options {
    const char *bucket;
    const char *endpoints, *spread; /* URLs with ',' between; rank, node */
    const char *region, *profile;
    const char *style;              /* path, host */
    const char *object;             /* file, transfer */
    const char *checksum;           /* none, crc32c, sha256 */
    const char *payload;            /* unsigned, signed */
    const char *http;               /* 2, 1.1 */
    const char *ca_file;
    bool insecure, markers;
    int64_t part, part_least;       /* bytes; part 0: that of a transfer */
    int64_t server_memory;          /* bytes, of all servers together; 0: not known */
    int connections;                /* of a task at most; 0: as many as its depth */
    int retries, timeout;           /* of a request; seconds without a byte */
};

extern const struct weir_opt s3_opts[];

#define S3_SCHEME "s3://"

/* True when each transfer is an object (--s3.object=transfer). */
static inline bool s3_is_split(const struct s3_options *o)
{
    return strcmp(o->object, "transfer") == 0;
}

/* The members of struct weir_backend that the descriptor and the plugin share. */
#define S3_DESCRIPTOR                                                                              \
    .abi = WEIR_BACKEND_ABI, .name = "S3", .brief = "Objects in a bucket of an S3 service",        \
    .prefix = "s3.", .scheme = S3_SCHEME, .flags = WEIR_BE_OBJECTS | WEIR_BE_COLLECTIVE_OPEN, .opts = s3_opts, .opt_size = sizeof(struct s3_options)
