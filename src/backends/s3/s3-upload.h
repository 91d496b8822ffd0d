/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-upload.h - an object that is written in parts: of one task, or of all together */
#ifndef WEIR_BACKENDS_S3_S3_UPLOAD_H
#define WEIR_BACKENDS_S3_S3_UPLOAD_H

#include "backends/s3/s3-call.h"
#include "backends/s3/s3-parts.h"

struct s3_upload;

/* The object of an upload, the same on all ranks where it is shared. */
struct s3_target {
    const char *url; /* kept until the end */
    struct s3_parts parts;
    const struct weir_par *sharers; /* the ranks that share it; NULL: this one alone */
    bool exclusive; /* fail where the object is there: at once, and at the end by If-None-Match */
};

/* Begin: rank 0 of the sharers alone asks the service, and all of them get its id. Takes memory for the parts of this task
 * and for the calls that its depth allows. Collective over t->sharers, with the same result on all of them. NULL and err. */
struct s3_upload *s3_upload_begin(struct s3_line *l, const struct weir_session *s, const struct s3_target *t,
                                  struct weir_err *err);
/* Make c the call that sends part 'number', from 1; its query stays valid until the part is kept, or c is used for another.
 * Local. 0, or -1 and err (WEIR_EBUG): more calls in flight than twice the depth of the session and two. */
int s3_upload_part(struct s3_upload *u, uint64_t number, const void *data, size_t len, struct s3_call *c,
                   struct weir_err *err);
/* The call is done: keep the etag; a later one of the same part replaces it. Local. 0, or -1 and err: no memory, or the
 * service gave none. */
int s3_upload_keep(struct s3_upload *u, uint64_t number, size_t len, const struct s3_call *c, struct weir_err *err);
/* End it, with no call of it in flight, and free u. Where all ranks are ok and all parts are there it becomes an object. So
 * it does where parts are missing at its end in order, and access.stops says why. Else nothing is left of it: where a
 * rank is not ok that is no error; where parts are missing it is one, WEIR_EINTR, which gives way to those of others.
 * Collective over the sharers, with the same result on all of them. 0, or -1 and err. */
int s3_upload_end(struct s3_upload *u, bool ok, struct weir_err *err);

#endif
