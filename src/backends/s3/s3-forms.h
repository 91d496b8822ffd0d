/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-forms.h - the forms of the protocol, without a request: names, XML, checksums, signatures */
#pragma once

#include "backends/s3/s3-descriptor.h"

/* Returns 0, or -1 and err (WEIR_ESETUP) if memory ran out for the text of a request. Local. */
static inline int s3_has_memory(bool has, struct weir_err *err)
{
    return has ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for a request");
}

/* ---- s3-names.c: bucket and key that a name stands for, and their encoding in a URL ---- */

#define S3_KEY_MOST 1024 /* bytes of a key */

/* Find the bucket and key of a name: s3://BUCKET/KEY, or with --s3.bucket the key. Slashes at
 * the begin and the end, doubled ones and "./" are left out. bucket, key: empty strings to
 * append to; an empty key is all of the bucket. Local; needs no service. Errors (-1 and err,
 * WEIR_EUSAGE): no bucket, a name that no bucket can have, a key of more than S3_KEY_MOST
 * bytes, with "..", with control characters or not in UTF-8. */
int s3_locate(const struct s3_options *o, const char *path, struct weir_str *bucket,
              struct weir_str *key, struct weir_err *err);

/* Check the name of a bucket. -1 and err (WEIR_EUSAGE) with the rule that it breaks. Local. */
int s3_bucket_check(const char *name, struct weir_err *err);

/* Append text encoded (RFC 3986: all bytes but letters, digits, "-._~" and those in 'kept'). kept:
 * "" for a name or value of a query, "/" for a key. Local. */
void s3_encode(const char *text, const char *kept, struct weir_str *out);

/* ---- s3-xml.c ---- */

/* Take an element: the names above it and its own ("ListBucketResult/Contents/Key"), and its
 * text ("" of one that has elements in it). Both are valid in that call only. Returns 0, or -1,
 * which ends the text, and fills err of s3_xml. */
typedef int s3_element_fn(void *mine, const char *path, const char *words);

/* Call 'take' for each element that ends. Local. -1 and err (WEIR_EIO): it is not XML, too deep, or
 * it declares a type, which no service does. */
int s3_xml(const struct weir_str *text, s3_element_fn *take, void *mine, struct weir_err *err);

/* Append an element with this text. Local. */
void s3_xml_add(struct weir_str *out, const char *element, const char *text);

/* ---- s3-sign.c: SHA-256, checksums of data, signatures of requests ---- */

#define S3_SHA256 32               /* bytes */
#define S3_HEX (2 * S3_SHA256 + 1) /* of them as text, with its end */
#define S3_SIGNED_MOST 24          /* headers of a request */
#define S3_CHECKSUM_HEADER 96      /* bytes of "x-amz-checksum-sha256: BASE64" */

/* Compute the SHA-256 of data as hexadecimal text. Local. -1: the library cannot. */
int s3_sha256_hex(const void *data, size_t len, char out[S3_HEX]);

/* CRC-32C (Castagnoli; RFC 3720, B.4) of data that follow others with this one, 0 for the first.
 * Local. */
uint32_t s3_crc32c(uint32_t before, const void *data, size_t len);

/* The header with the checksum of this kind (--s3.checksum) of the data. Returns where in 'header' its value begins, NULL
 * where the kind is "none" or the library cannot. Local, allocates nothing. */
const char *s3_checksum_header(const char *kind, const void *data, size_t len, char header[S3_CHECKSUM_HEADER]);

/* The signing key. It holds for a day and a region: it is made when one of them is new.
 * Zero-initialise. */
struct s3_signer {
    char day[9], region[64];
    unsigned char key[S3_SHA256];
    struct weir_str names, text; /* memory for what is signed */
};

void s3_signer_end(struct s3_signer *k); /* overwrites the key; harmless on zeros */

/* Parts of the text that is signed. Texts are encoded as they are sent. */
struct s3_signing {
    const char *id, *secret, *region;
    const char *verb, *path;
    const char *query;   /* names in order, each with '='; NULL: none */
    const char *payload; /* hash of the body, or what stands for it */
    const char *when;    /* "20261124T002558Z" */
    const char *headers[S3_SIGNED_MOST]; /* "Name: value", all that are sent by us, Host too */
    int n;
};

/* The header "Authorization: ..." for it, in 'capacity' bytes. Sorts the headers. Local. -1: more
 * is needed, or the library cannot. */
int s3_sign(struct s3_signer *k, struct s3_signing *what, char *out, size_t capacity);
