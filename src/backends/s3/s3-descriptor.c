/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-descriptor.c - what is known of the backend without its libraries */
#include "backends/s3/s3-descriptor.h"

static const char *const spreads[] = { "rank", "node", NULL };
static const char *const styles[] = { "path", "host", NULL };
static const char *const objects[] = { "file", "transfer", NULL };
static const char *const checksums[] = { "none", "crc32c", "sha256", NULL };
static const char *const https[] = { "2", "1.1", NULL };
static const char *const payloads[] = { "unsigned", "signed", NULL };

#define O struct s3_options
const struct weir_opt s3_opts[] = {
    OPT_STR(0, "bucket", NULL, O, bucket, NULL, "NAME",
            "Bucket of names that do not begin with s3://BUCKET/"),
    OPT_STR(0, "endpoints", NULL, O, endpoints, NULL, "LIST",
            "URLs of the service, joined by ',' (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, "
            "the profile's, AWS)"),
    OPT_STR(0, "spread", NULL, O, spread, "rank", "HOW",
            "Endpoints in turn, the next for each rank or for each node", .choices = spreads),
    OPT_STR(0, "region", NULL, O, region, NULL, "NAME",
            "Region in signatures (default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or "
            "us-east-1)"),
    OPT_STR(0, "profile", NULL, O, profile, NULL, "NAME",
            "Profile in ~/.aws with the keys (default: AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, AWS_PROFILE, 'default')"),
    OPT_STR(0, "style", NULL, O, style, "path", "HOW",
            "Bucket in the path of the URL, or before the host name",
            .choices = styles),
    OPT_STR(0, "object", NULL, O, object, "file", "WHAT",
            "Object for each file, or for each transfer (offset in the key)",
            .choices = objects),
    OPT_SIZE(0, "part", NULL, O, part, "0", "SIZE",
             "Part size of an object, collected in memory, bytes (0: a transfer)",
             .max = INT64_C(5) << 30),
    OPT_SIZE(0, "part-least", NULL, O, part_least, "5m", "SIZE",
             "Smallest part that the service takes, except the last one, bytes", .min = 1,
             .max = INT64_C(5) << 30),
    OPT_STR(0, "checksum", NULL, O, checksum, "none", "KIND",
            "Checksum sent with data, compared when whole objects are read; timed",
            .choices = checksums),
    OPT_STR(0, "payload", NULL, O, payload, "unsigned", "HOW",
            "Signatures without or with a SHA-256 of the data; timed",
            .choices = payloads),
    OPT_STR(0, "http", NULL, O, http, "2", "VERSION",
            "HTTP version over https: 2 shares connections, 1.1 has one per request",
            .choices = https),
    OPT_INT(0, "connections", NULL, O, connections, "0", "N",
            "Maximum connections of a task (0: one for each transfer in flight)", .max = 65536),
    OPT_INT(0, "retries", NULL, O, retries, "5", "N",
            "Retries of a request after status 500, 503, timeout or lost connection",
            .max = 1000),
    OPT_INT(0, "timeout", NULL, O, timeout, "60", "SECONDS",
            "Time without a byte after which a request has failed, seconds", .min = 1,
            .max = 86400),
    OPT_SIZE(0, "server-memory", NULL, O, server_memory, "0", "SIZE",
             "Memory of all servers, compared with the data read, bytes (0: unknown)",
             .max = INT64_MAX),
    OPT_STR(0, "ca-file", NULL, O, ca_file, NULL, "FILE",
            "Certificates of trusted authorities, PEM (default: AWS_CA_BUNDLE, or the system's)",
            .flags = WEIR_OPT_READS),
    OPT_FLAG(0, "insecure", NULL, O, insecure, "Certificates are not verified"),
    OPT_FLAG(0, "markers", NULL, O, markers,
             "Object 'NAME/' for each directory; else directories are in names only"),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_s3 = { S3_DESCRIPTOR, .plugin = "s3" };
