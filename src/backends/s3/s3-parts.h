/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-parts.h - how a file becomes parts of an object, and what a service takes. Pure: numbers only */
#ifndef WEIR_BACKENDS_S3_S3_PARTS_H
#define WEIR_BACKENDS_S3_S3_PARTS_H

#include "backends/s3/s3-descriptor.h"

/* Limits of the protocol. The least part is an option, because services differ in it. */
#define S3_PARTS_MOST 10000u
#define S3_PUT_MOST (UINT64_C(5) << 30)    /* bytes of a part, or of an object that is no upload */
#define S3_OBJECT_MOST (UINT64_C(5) << 40) /* bytes of an object */

/* How a file becomes parts: all have the same size but the last, so the place of bytes says which part they
 * belong to, in whatever order they are written. */
struct s3_parts {
    uint64_t size;  /* bytes of each part but the last */
    uint64_t n;     /* parts of the whole object, 1 with 'single'; 0: not known */
    uint64_t mine;  /* of them this task writes so many at most; 0: not known */
    uint64_t bytes; /* of the whole object; 0 with n == 0: not known */
    bool gathered;  /* transfers are copied into parts, in ascending order; false: a transfer is a part */
    bool single;    /* the whole object, or each of --s3.object=transfer, is one PUT: no upload */
};

/* Parts of files that are written with these options and this geometry. What is not possible: WEIR_EUSAGE, with what
 * would be. The same on all ranks but for 'mine'; local. 0, or -1 and err. Zeros where files are only read. */
int s3_parts_of(const struct weir_session *s, const struct weir_extent *x, struct s3_parts *out,
                struct weir_err *err);

/* Do several tasks write the file together? As its extent says, or the access. The same on all of them. Local. */
static inline bool s3_is_shared(const struct weir_session *s, const struct weir_extent *x)
{
    return x->sharers ? x->sharers->size > 1 : !s->access.file_per_task && s->access.tasks > 1;
}

/* The part, from 1, that has the bytes at 'off'. */
static inline uint64_t s3_part_at(const struct s3_parts *p, uint64_t off)
{
    return off / p->size + 1;
}

#endif
