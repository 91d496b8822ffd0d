/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-sign.h - signatures of requests: AWS4-HMAC-SHA256 */
#ifndef WEIR_BACKENDS_S3_S3_SIGN_H
#define WEIR_BACKENDS_S3_S3_SIGN_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define S3_SHA256 32                /* bytes */
#define S3_HEX (2 * S3_SHA256 + 1)  /* of them as text, with its end */
#define S3_SIGNED_MOST 24           /* headers of a request */

/* The one who signs. The key holds for a day and a region: it is made when one of them is new. Zero-initialise. */
struct s3_signer {
    EVP_MD_CTX *ctx;
    char day[9], region[64];
    unsigned char key[S3_SHA256];
};

int s3_signer_begin(struct s3_signer *k); /* -1: no memory */
void s3_signer_end(struct s3_signer *k);  /* overwrites the key; harmless on zeros */

/* SHA-256 of a piece, and the same as hexadecimal text. -1: the library cannot. */
int s3_sha256_hex(struct s3_signer *k, const void *data, size_t len, char out[S3_HEX]);

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

/* The header "Authorization: ..." for it, in 'room' bytes. Sorts the headers. Local, allocates nothing. -1: no room, or
 * the library cannot. */
int s3_sign(struct s3_signer *k, struct s3_signing *what, char *out, size_t room);

#endif
