/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-xml.h - answers in XML, one element after the other */
#ifndef WEIR_BACKENDS_S3_S3_XML_H
#define WEIR_BACKENDS_S3_S3_XML_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* Call 'take' for each element that ends, with the names above it and its own ("ListBucketResult/Contents/Key") and its
 * text ("" of one that has elements in it); both are valid in that call only. -1 of take ends it with -1, and take has
 * filled err. Local. -1 and err (WEIR_EIO): it is no XML, too deep, or it declares a type, which no service does. */
int s3_xml(const char *text, size_t len, int (*take)(void *mine, const char *path, const char *words), void *mine,
           struct weir_err *err);

/* Append text that stands between two tags. Local. */
void s3_xml_add(const char *text, struct weir_str *out);

#endif
