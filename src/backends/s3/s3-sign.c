/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-sign.c - signatures of requests: AWS4-HMAC-SHA256. Not those of libcurl: until 8 it signs headers that it does not
 * send ("Expect:"), and it makes the key anew for each request */
#include "backends/s3/s3-sign.h"
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLOCK 64 /* bytes of SHA-256 */

int s3_signer_begin(struct s3_signer *k)
{
    k->ctx = EVP_MD_CTX_new();
    return k->ctx && EVP_DigestInit_ex(k->ctx, EVP_sha256(), NULL) == 1 ? 0 : -1;
}

void s3_signer_end(struct s3_signer *k)
{
    EVP_MD_CTX_free(k->ctx);
    explicit_bzero(k, sizeof(*k));
}

/* Errors of the library show in 'finish': a context in error stays so. */
static void begin(struct s3_signer *k)
{
    (void)EVP_DigestInit_ex(k->ctx, NULL, NULL); /* the same digest again */
}

static void add(struct s3_signer *k, const void *data, size_t len)
{
    (void)EVP_DigestUpdate(k->ctx, data, len);
}

static void add_text(struct s3_signer *k, const char *text)
{
    add(k, text, strlen(text));
}

static int finish(struct s3_signer *k, unsigned char out[S3_SHA256])
{
    unsigned len = 0;

    return EVP_DigestFinal_ex(k->ctx, out, &len) == 1 && len == S3_SHA256 ? 0 : -1;
}

static int hash(struct s3_signer *k, const void *data, size_t len, unsigned char out[S3_SHA256])
{
    begin(k);
    add(k, data, len);
    return finish(k, out);
}

static void to_hex(const unsigned char sum[S3_SHA256], char out[S3_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < S3_SHA256; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[2 * S3_SHA256] = '\0';
}

int s3_sha256_hex(struct s3_signer *k, const void *data, size_t len, char out[S3_HEX])
{
    unsigned char sum[S3_SHA256];

    if (hash(k, data, len, sum) < 0)
        return -1;
    to_hex(sum, out);
    return 0;
}

/* Begin a hash with the key, of at most a block, mixed with 'pad'. */
static void begin_keyed(struct s3_signer *k, const unsigned char *key, size_t len, unsigned char pad)
{
    unsigned char block[BLOCK];

    for (size_t i = 0; i < BLOCK; i++)
        block[i] = (unsigned char)((i < len ? key[i] : 0) ^ pad);
    begin(k);
    add(k, block, sizeof(block));
    explicit_bzero(block, sizeof(block));
}

/* HMAC of the texts one after the other. out may be the key. */
static int hmac(struct s3_signer *k, const unsigned char *key, size_t len, const char *const *texts,
                unsigned char out[S3_SHA256])
{
    unsigned char inner[S3_SHA256];

    begin_keyed(k, key, len, 0x36);
    while (*texts)
        add_text(k, *texts++);
    if (finish(k, inner) < 0)
        return -1;
    begin_keyed(k, key, len, 0x5c);
    add(k, inner, sizeof(inner));
    return finish(k, out);
}

/* The secret with "AWS4" before it is the first key; a long one is hashed, as HMAC has it. */
static int first_key(struct s3_signer *k, const char *secret, const char *day)
{
    const char *const texts[] = { day, NULL };
    unsigned char key[BLOCK] = "AWS4";
    size_t len = strlen(secret);
    int rc = 0;

    if (len + 4 <= BLOCK) {
        memcpy(key + 4, secret, len);
        len += 4;
    } else {
        begin(k);
        add_text(k, "AWS4");
        add_text(k, secret);
        rc = finish(k, key);
        len = S3_SHA256;
    }
    if (rc == 0)
        rc = hmac(k, key, len, texts, k->key);
    explicit_bzero(key, sizeof(key));
    return rc;
}

static int make_key(struct s3_signer *k, const struct s3_signing *what)
{
    const char *const region[] = { what->region, NULL };
    static const char *const service[] = { "s3", NULL };
    static const char *const last[] = { "aws4_request", NULL };

    if (!strncmp(k->day, what->when, 8) && !strcmp(k->region, what->region))
        return 0;
    if (strlen(what->region) >= sizeof(k->region))
        return -1;
    memcpy(k->day, what->when, 8);
    memcpy(k->region, what->region, strlen(what->region) + 1);
    if (first_key(k, what->secret, k->day) < 0 || hmac(k, k->key, S3_SHA256, region, k->key) < 0
        || hmac(k, k->key, S3_SHA256, service, k->key) < 0 || hmac(k, k->key, S3_SHA256, last, k->key) < 0) {
        k->day[0] = '\0';
        return -1;
    }
    return 0;
}

static size_t name_length(const char *header)
{
    return strcspn(header, ":");
}

static int compare_names(const char *a, const char *b)
{
    size_t la = name_length(a), lb = name_length(b);
    int order = strncasecmp(a, b, la < lb ? la : lb);

    return order ? order : la < lb ? -1 : la > lb;
}

static void sort(struct s3_signing *what)
{
    for (int i = 1; i < what->n; i++) {
        const char *h = what->headers[i];
        int at = i;

        for (; at > 0 && compare_names(h, what->headers[at - 1]) < 0; at--)
            what->headers[at] = what->headers[at - 1];
        what->headers[at] = h;
    }
}

/* The names with ';' between, in small letters. -1: no room. */
static int signed_names(const struct s3_signing *what, char *out, size_t room)
{
    size_t used = 0;

    for (int i = 0; i < what->n; i++) {
        size_t len = name_length(what->headers[i]);

        if (used + len + 2 > room)
            return -1;
        if (i)
            out[used++] = ';';
        for (size_t j = 0; j < len; j++)
            out[used++] = (char)tolower((unsigned char)what->headers[i][j]);
    }
    out[used] = '\0';
    return 0;
}

/* "name:value", with blanks around the value left out and those in it made one. 'name' is in the list of names. */
static void add_header(struct s3_signer *k, const char *name, const char *header)
{
    size_t len = name_length(header);
    const char *p = header + len + (header[len] == ':');

    add(k, name, len);
    add(k, ":", 1);
    p += strspn(p, " \t");
    while (*p) {
        size_t word = strcspn(p, " \t");

        add(k, p, word);
        p += word;
        p += strspn(p, " \t");
        if (*p)
            add(k, " ", 1);
    }
    add(k, "\n", 1);
}

static int hash_request(struct s3_signer *k, const struct s3_signing *what, const char *names, char out[S3_HEX])
{
    unsigned char sum[S3_SHA256];
    const char *name = names;

    begin(k);
    add_text(k, what->verb);
    add(k, "\n", 1);
    add_text(k, what->path);
    add(k, "\n", 1);
    add_text(k, what->query ? what->query : "");
    add(k, "\n", 1);
    for (int i = 0; i < what->n; i++) {
        add_header(k, name, what->headers[i]);
        name += name_length(what->headers[i]) + 1;
    }
    add(k, "\n", 1);
    add_text(k, names);
    add(k, "\n", 1);
    add_text(k, what->payload);
    if (finish(k, sum) < 0)
        return -1;
    to_hex(sum, out);
    return 0;
}

int s3_sign(struct s3_signer *k, struct s3_signing *what, char *out, size_t room)
{
    char names[512], request[S3_HEX], signature[S3_HEX];
    unsigned char sum[S3_SHA256];
    int len;

    sort(what);
    if (make_key(k, what) < 0 || signed_names(what, names, sizeof(names)) < 0
        || hash_request(k, what, names, request) < 0)
        return -1;
    if (hmac(k, k->key, S3_SHA256,
             (const char *const[]){ "AWS4-HMAC-SHA256\n", what->when, "\n", k->day, "/", k->region,
                                    "/s3/aws4_request\n", request, NULL },
             sum)
        < 0)
        return -1;
    to_hex(sum, signature);
    len = snprintf(out, room,
                   "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s/%s/s3/aws4_request, SignedHeaders=%s, "
                   "Signature=%s",
                   what->id, k->day, k->region, names, signature);
    return len > 0 && (size_t)len < room ? 0 : -1;
}
