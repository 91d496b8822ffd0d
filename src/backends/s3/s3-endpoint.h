/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-endpoint.h - URLs of a service: their form, and which of several a task has */
#ifndef WEIR_BACKENDS_S3_S3_ENDPOINT_H
#define WEIR_BACKENDS_S3_S3_ENDPOINT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct s3_endpoints {
    const char *list; /* URLs with ',' between */
    const char *from; /* the option or variable that has them, for messages */
    bool host_style;  /* names of buckets come before their hosts */
};

/* Check all of a list, and append the one of number 'which' (modulo how many there are) to url as "http[s]://HOST[:PORT]
 * [/PATH]": small letters, without the port that goes without saying, no '/' at the end. *n: how many. *https: some
 * are. Local. -1 and err (WEIR_EUSAGE) for one that is no URL of http or https, has a user, a password or a query, or
 * stands twice; its text is shown only where no key is in it. */
int s3_endpoints_take(const struct s3_endpoints *e, int which, struct weir_str *url, int *n, bool *https,
                      struct weir_err *err);

#endif
