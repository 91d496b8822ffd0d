/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-names.h - names of objects: what is there, how long it is, its removal; directories are in names only */
#ifndef WEIR_BACKENDS_S3_S3_NAMES_H
#define WEIR_BACKENDS_S3_S3_NAMES_H

#include "backends/backend.h"

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
