/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-session.h - the functions of the backend on files and on names */
#ifndef WEIR_BACKENDS_S3_S3_SESSION_H
#define WEIR_BACKENDS_S3_S3_SESSION_H

#include "backends/s3/s3-objects.h"

/* ---- s3-session.c: as in struct weir_backend ---- */

int s3_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f, struct weir_err *err);
int s3_close(struct weir_file *f, struct weir_err *err);
ssize_t s3_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err);
int s3_queue(struct weir_session *s, int depth, struct weir_err *err);
int s3_submit(struct weir_request *r, struct weir_err *err);
int s3_complete(struct weir_file *f, int least, int most, struct weir_request **done, struct weir_err *err);
int s3_reason(const struct weir_request *r, struct weir_err *err);
void s3_queue_end(struct s3_queue *q); /* free it; harmless on zeros */

/* ---- s3-namespace.c: names of objects; directories are in names only ---- */

/* Requests of each, where nothing fails:
 *   mkdir    none; with --s3.markers a PUT of an object 'NAME/'
 *   rmdir    LIST of two keys, ENOTEMPTY where another than the marker is there; and where it is, its DELETE
 *   unlink   DELETE, which succeeds also where nothing is there; --s3.object=transfer: LIST, and POST of 1000 keys each,
 *            of those only that end in an offset
 *   stat     HEAD; where there is no such object, LIST of one key below the name
 *   exists   as stat; --s3.object=transfer: LIST of one key
 *   size     HEAD; --s3.object=transfer: LIST of all objects of the file
 *   mknod    PUT of no bytes; --s3.object=transfer: at the offset 0
 *   syncfs   none: a service has stored what it has accepted */
extern const struct weir_ns s3_names;

#endif
