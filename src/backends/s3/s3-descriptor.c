/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-descriptor.c - what is known of the backend without its libraries */
#include "backends/s3/s3-descriptor.h"
#include "config.h"

static const char *const spreads[] = { "rank", "node", NULL };
static const char *const styles[] = { "path", "host", NULL };
static const char *const objects[] = { "file", "transfer", NULL };
static const char *const checksums[] = { "none", "crc32c", "sha256", NULL };
static const char *const https[] = { "2", "1.1", NULL };
static const char *const payloads[] = { "unsigned", "signed", NULL };

#define O struct s3_options
const struct weir_opt s3_opts[] = {
    OPT_STR(0, "bucket", NULL, O, bucket, NULL, "NAME",
            "Bucket of all names that do not begin with s3://BUCKET/"),
    OPT_STR(0, "endpoints", NULL, O, endpoints, NULL, "LIST",
            "URLs of the service with ',' between, which tasks share by --s3.spread; without it those of "
            "AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, of the profile, or of AWS"),
    OPT_STR(0, "spread", NULL, O, spread, "rank", "HOW",
            "Which endpoint a task has, in turn: rank: the next one for each rank; node: for each node",
            .choices = spreads),
    OPT_STR(0, "region", NULL, O, region, NULL, "NAME",
            "Region in signatures; without it that of AWS_REGION, AWS_DEFAULT_REGION or of the profile, "
            "else us-east-1"),
    OPT_STR(0, "profile", NULL, O, profile, NULL, "NAME",
            "Profile in ~/.aws/credentials and ~/.aws/config with the keys; without it those of "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, then AWS_PROFILE, then 'default'"),
    OPT_STR(0, "style", NULL, O, style, "path", "HOW",
            "Where a request names the bucket: path: in the path of the URL; host: before the name of the "
            "endpoint",
            .choices = styles),
    OPT_STR(0, "object", NULL, O, object, "file", "WHAT",
            "What is an object: file: a file, written in parts where it has more than one; transfer: each "
            "transfer, its offset in its key",
            .choices = objects),
    OPT_SIZE(0, "part", NULL, O, part, "0", "SIZE",
             "Parts of an object that is written; transfers are gathered in memory until a part is full; "
             "0: each transfer is a part",
             .max = INT64_C(5) << 30),
    OPT_SIZE(0, "part-least", NULL, O, part_least, "5m", "SIZE",
             "Least part that the service takes, but for the last of an object", .min = 1,
             .max = INT64_C(5) << 30),
    OPT_STR(0, "checksum", NULL, O, checksum, "none", "KIND",
            "Checksum that is sent with data, which the service verifies and keeps, and which is compared when a whole "
            "object is read; made inside the time",
            .choices = checksums),
    OPT_STR(0, "payload", NULL, O, payload, "unsigned", "HOW",
            "Do signatures cover the data; signed: a SHA-256 of them is made for each request, in its time",
            .choices = payloads),
    OPT_STR(0, "http", NULL, O, http, "2", "VERSION",
            "Over https: 2: HTTP/2 where the service speaks it, whose requests share a connection; 1.1: a connection for "
            "each request in flight",
            .choices = https),
    OPT_INT(0, "connections", NULL, O, connections, "0", "N",
            "Connections of a task at most; 0: one for each transfer in flight", .max = 65536),
    OPT_INT(0, "retries", NULL, O, retries, "5", "N",
            "How often a request is repeated that the service refuses for now (500, 503), that times out or "
            "loses its connection",
            .max = 1000),
    OPT_INT(0, "timeout", NULL, O, timeout, "60", "SECONDS",
            "A request that moves no byte for so long has failed", .min = 1, .max = 86400),
    OPT_SIZE(0, "server-memory", NULL, O, server_memory, "0", "SIZE",
             "Memory of all servers of the service, against which the data that are read are compared; 0: "
             "not known",
             .max = INT64_MAX),
    OPT_STR(0, "ca-file", NULL, O, ca_file, NULL, "FILE",
            "Certificates of the authorities that are trusted (PEM); without it AWS_CA_BUNDLE, or those of "
            "the system",
            .flags = WEIR_OPT_READS),
    OPT_FLAG(0, "insecure", NULL, O, insecure, "Do not verify certificates"),
    OPT_FLAG(0, "markers", NULL, O, markers,
             "Make an object 'NAME/' for each directory; without it directories are in names only"),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_s3 = { S3_DESCRIPTOR, .plugin = "s3" };
