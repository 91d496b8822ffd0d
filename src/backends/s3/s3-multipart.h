/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-multipart.h - the requests of one upload: begin it, complete it with its parts, give it up */
#ifndef WEIR_BACKENDS_S3_S3_MULTIPART_H
#define WEIR_BACKENDS_S3_S3_MULTIPART_H

#include "backends/s3/s3-call.h"

/* A part that the service has. */
struct s3_part {
    uint64_t len, order; /* bytes; of two with one number the later counts */
    uint32_t number;     /* from 1 */
    char etag[80];       /* with its quotes */
    char checksum[64];   /* base64; "" none */
};

struct s3_multipart {
    struct s3_line *line;
    const struct s3_options *o;
    const char *url;
    const char *id; /* encoded, as a query has it */
    bool exclusive; /* fail where the object is there */
};

/* Begin an upload; its id is appended, encoded. m->id is not used. *unsure: so many others, whose ids are not known, may have begun
 * by requests without a good answer. Local. 0, or -1 and err. */
int s3_multipart_begin(const struct s3_multipart *m, struct weir_str *id, int *unsure, struct weir_err *err);

/* Make the object of these n parts, which ascend: 'bytes' together. Where an answer was lost, and the upload is gone at the
 * next try, the object is looked at. Local. 0, or -1 and err: there is no such object, the upload may be there. */
int s3_multipart_complete(const struct s3_multipart *m, const struct s3_part *part, size_t n, uint64_t bytes,
                          struct weir_err *err);

/* Give it up, and all of its parts: no part is in flight. Asked until the service says that there is none, a few times.
 * Local. 0, or -1 and err: it may be there still. */
int s3_multipart_abort(const struct s3_multipart *m, struct weir_err *err);

#endif
