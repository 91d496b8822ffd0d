/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-checksum.c - checksums of data that are sent: CRC-32C and SHA-256 */
#include "config.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>

#include "backends/s3/s3-checksum.h"

#define CRC_HEADER "x-amz-checksum-crc32c: "
#define SHA_HEADER "x-amz-checksum-sha256: "

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

static const char *make(char *header, const char *name, const unsigned char *sum, int len)
{
    size_t begin = strlen(name);

    memcpy(header, name, begin);
    (void)EVP_EncodeBlock((unsigned char *)header + begin, sum, len);
    return header + begin;
}

const char *s3_checksum_header(const char *kind, const void *data, size_t len, char header[S3_CHECKSUM_HEADER])
{
    unsigned char sum[SHA256_DIGEST_LENGTH];
    uint32_t crc;

    if (strcmp(kind, "sha256") == 0)
        return SHA256(data, len, sum) ? make(header, SHA_HEADER, sum, sizeof(sum)) : NULL;
    if (strcmp(kind, "crc32c") != 0)
        return NULL;
    crc = s3_crc32c(0, data, len);
    for (int i = 0; i < 4; i++) /* the first byte is the highest */
        sum[i] = (unsigned char)(crc >> (24 - 8 * i));
    return make(header, CRC_HEADER, sum, 4);
}
