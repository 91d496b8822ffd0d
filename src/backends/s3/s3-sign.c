/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-sign.c - SHA-256, checksums of data, and signatures of requests (AWS4-HMAC-SHA256). Not those
 * of libcurl: until 8 it signs headers that it does not send ("Expect:"), and it makes the key anew
 * for each request */

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/s3/s3-forms.h"

#define CRC_HEADER "x-amz-checksum-crc32c: "
#define SHA_HEADER "x-amz-checksum-sha256: "

static void to_hex(const unsigned char sum[S3_SHA256], char out[S3_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < S3_SHA256; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[2 * S3_SHA256] = '\0';
}

int s3_sha256_hex(const void *data, size_t len, char out[S3_HEX])
{
    unsigned char sum[S3_SHA256];

    if (!SHA256(data, len, sum))
        return -1;
    to_hex(sum, out);
    return 0;
}

/* ---- checksums of data ---- */

/* Four bits at a time, for processors without an instruction: the polynomial is 0x82f63b78, reflected. */
static uint32_t crc_by_table(uint32_t crc, const unsigned char *at, size_t len)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };

    for (; len > 0; len--) {
        crc ^= *at++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const unsigned char *at, size_t len)
{
    uint64_t wide = crc, word;

    for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    return crc_by_table((uint32_t)wide, at, len);
}
#endif

uint32_t s3_crc32c(uint32_t before, const void *data, size_t len)
{
    uint32_t crc = ~before;

#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_by_instruction(crc, data, len);
#endif
    return ~crc_by_table(crc, data, len);
}

static const char *make_header(char *header, const char *name, const unsigned char *sum, int len)
{
    size_t begin = strlen(name);

    memcpy(header, name, begin);
    (void)EVP_EncodeBlock((unsigned char *)header + begin, sum, len);
    return header + begin;
}

const char *s3_checksum_header(const char *kind, const void *data, size_t len, char header[S3_CHECKSUM_HEADER])
{
    unsigned char sum[S3_SHA256];
    uint32_t crc;

    if (strcmp(kind, "sha256") == 0)
        return SHA256(data, len, sum) ? make_header(header, SHA_HEADER, sum, sizeof(sum)) : NULL;
    if (strcmp(kind, "crc32c") != 0)
        return NULL;
    crc = s3_crc32c(0, data, len);
    for (int i = 0; i < 4; i++) /* the first byte is the highest */
        sum[i] = (unsigned char)(crc >> (24 - 8 * i));
    return make_header(header, CRC_HEADER, sum, 4);
}

/* HMAC-SHA256. out may be the key. */
static int hmac(const unsigned char *key, size_t len, const char *text,
                unsigned char out[S3_SHA256])
{
    return HMAC(EVP_sha256(), key, (int)len, (const unsigned char *)text, strlen(text), out, NULL)
               ? 0
               : -1;
}

/* ---- the key ---- */

static int make_key(struct s3_signer *k, const struct s3_signing *what)
{
    char first[1024];
    int len = snprintf(first, sizeof(first), "AWS4%s", what->secret), rc = -1;

    if (strncmp(k->day, what->when, 8) == 0 && strcmp(k->region, what->region) == 0)
        rc = 0;
    else if (len > 0 && (size_t)len < sizeof(first) && strlen(what->region) < sizeof(k->region)) {
        memcpy(k->day, what->when, 8);
        memcpy(k->region, what->region, strlen(what->region) + 1);
        rc = hmac((unsigned char *)first, (size_t)len, k->day, k->key);
        rc |= hmac(k->key, S3_SHA256, k->region, k->key) | hmac(k->key, S3_SHA256, "s3", k->key) |
              hmac(k->key, S3_SHA256, "aws4_request", k->key);
        if (rc < 0)
            k->day[0] = '\0';
    }
    explicit_bzero(first, sizeof(first));
    return rc;
}

void s3_signer_end(struct s3_signer *k)
{
    weir_str_free(&k->names);
    weir_str_free(&k->text);
    explicit_bzero(k, sizeof(*k));
}

/* ---- the request as it is signed ---- */

static size_t name_length(const char *header)
{
    return strcspn(header, ":");
}

static int compare_names(const void *x, const void *y)
{
    const char *a = *(const char *const *)x, *b = *(const char *const *)y;
    size_t la = name_length(a), lb = name_length(b);
    int order = strncasecmp(a, b, la < lb ? la : lb);

    return order ? order : la < lb ? -1 : la > lb;
}

static void add_name(struct weir_str *out, const char *header)
{
    const size_t before = out->len;

    weir_str_add(out, header, name_length(header));
    for (size_t i = before; i < out->len; i++)
        out->text[i] = (char)tolower((unsigned char)out->text[i]);
}

/* "name:value", with blanks around the value left out and those in it made one. */
static void add_header(struct weir_str *out, const char *header)
{
    const char *p = header + name_length(header);

    add_name(out, header);
    weir_str_addc(out, ':');
    p += *p == ':';
    p += strspn(p, " \t");
    while (*p) {
        size_t word = strcspn(p, " \t");

        weir_str_add(out, p, word);
        p += word;
        p += strspn(p, " \t");
        if (*p)
            weir_str_addc(out, ' ');
    }
    weir_str_addc(out, '\n');
}

static int hash_request(struct s3_signer *k, const struct s3_signing *what, char out[S3_HEX])
{
    struct weir_str *text = &k->text, *names = &k->names;

    weir_str_clear(names);
    weir_str_clear(text);
    weir_str_addf(text, "%s\n%s\n%s\n", what->verb, what->path, what->query ? what->query : "");
    for (int i = 0; i < what->n; i++) {
        if (i > 0)
            weir_str_addc(names, ';');
        add_name(names, what->headers[i]);
        add_header(text, what->headers[i]);
    }
    weir_str_addf(text, "\n%s\n%s", weir_str_text(names), what->payload);
    return text->failed || names->failed ? -1 : s3_sha256_hex(text->text, text->len, out);
}

int s3_sign(struct s3_signer *k, struct s3_signing *what, char *out, size_t capacity)
{
    char request[S3_HEX], signature[S3_HEX];
    unsigned char sum[S3_SHA256];
    int len;

    qsort(what->headers, (size_t)what->n, sizeof(*what->headers), compare_names);
    if (make_key(k, what) < 0 || hash_request(k, what, request) < 0)
        return -1;
    weir_str_clear(&k->text);
    weir_str_addf(&k->text, "AWS4-HMAC-SHA256\n%s\n%s/%s/s3/aws4_request\n%s", what->when, k->day,
                  k->region, request);
    if (k->text.failed || hmac(k->key, S3_SHA256, k->text.text, sum) < 0)
        return -1;
    to_hex(sum, signature);
    len = snprintf(out, capacity,
                   "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s/%s/s3/aws4_request, SignedHeaders=%s, "
                   "Signature=%s",
                   what->id, k->day, k->region, weir_str_text(&k->names), signature);
    return len > 0 && (size_t)len < capacity ? 0 : -1;
}
