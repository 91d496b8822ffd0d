/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-place.c - bucket and key that a name stands for, and their encoding in a URL */
#include "backends/s3/s3-place.h"
#include "config.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/text/quote.h"

/* ---- encoding ---- */

/* Letters and digits of ASCII, whatever the locale. */
static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void s3_encode(const char *text, const char *kept, struct weir_str *out)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (is_alnum(*text) || strchr("-._~", c) || strchr(kept, c)) {
            weir_str_addc(out, *text);
            continue;
        }
        weir_str_addc(out, '%');
        weir_str_addc(out, digits[c >> 4]);
        weir_str_addc(out, digits[c & 15]);
    }
}

/* ---- buckets ---- */

static bool is_small_or_digit(char c)
{
    return is_alnum(c) && !(c >= 'A' && c <= 'Z');
}

static bool is_address(const char *name)
{
    struct in_addr a;

    return inet_pton(AF_INET, name, &a) == 1;
}

/* The rule of S3 that the name breaks; NULL: none. */
static const char *broken_rule(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    size_t len = strlen(name);

    if (len < 3 || len > 63)
        return "has 3 to 63 characters";
    if (strspn(name, letters) < len)
        return "has small letters, digits, '.' and '-' only";
    if (!is_small_or_digit(name[0]) || !is_small_or_digit(name[len - 1]))
        return "begins and ends with a letter or a digit";
    if (strstr(name, ".."))
        return "has no two dots in a row";
    if (is_address(name))
        return "is no IP address";
    if (strncmp(name, "xn--", 4) == 0)
        return "does not begin with 'xn--'";
    return NULL;
}

int s3_bucket_check(const char *name, struct weir_err *err)
{
    const char *rule = broken_rule(name);
    char shown[WEIR_QUOTE_TEXT];

    if (!rule)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "bucket '%s': the name of a bucket %s",
                       weir_quote_str(name, shown), rule);
}

/* The certificate of a service is for all names before its own, but only up to the next dot. */
static int check_style(const struct s3_options *o, const char *bucket, struct weir_err *err)
{
    if (strcmp(o->style, "host") != 0 || !strchr(bucket, '.'))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "bucket '%s' has a dot in its name, and --s3.style=host puts it before the name of "
                       "the endpoint, where certificates do not cover it: take --s3.style=path", bucket);
}

/* ---- keys ---- */

/* Append the parts of a path with one '/' between. -1: one of them is "..". */
static int add_parts(const char *path, struct weir_str *key)
{
    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == 2 && path[0] == '.' && path[1] == '.')
            return -1;
        if (n > 0 && !(n == 1 && path[0] == '.')) {
            if (key->len > 0)
                weir_str_addc(key, '/');
            weir_str_add(key, path, n);
        }
        path += n + strspn(path + n, "/");
    }
    return 0;
}

/* Why no object can have this key; NULL: one can. */
static const char *bad_key(const char *key, size_t len)
{
    if (len > S3_KEY_MOST)
        return "is longer than 1024 bytes, the most that a key has";
    for (size_t i = 0, n; i < len; i += n) {
        n = weir_utf8_len(key + i, len - i);
        if (n == 0)
            return "is not in UTF-8, as keys are";
        if ((unsigned char)key[i] < ' ' || key[i] == '\177')
            return "has a control character, which the lists of a service (XML) cannot show";
    }
    return NULL;
}

static int make_key(const char *path, const char *rest, struct weir_str *key, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    const char *why = NULL;

    if (add_parts(rest, key) < 0)
        why = "has '..' in it; a key is no path, and some services would take it as one";
    else if (!key->failed)
        why = bad_key(weir_str_text(key), key->len);
    if (why)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' %s", weir_quote_str(path, shown), why);
    if (key->failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for a key");
    return 0;
}

int s3_place_dir(const struct s3_options *o, const char *path, struct weir_str *bucket,
                 struct weir_str *key, struct weir_err *err)
{
    bool full = strncasecmp(path, S3_SCHEME, strlen(S3_SCHEME)) == 0;
    const char *rest = full ? path + strlen(S3_SCHEME) : path;
    char shown[WEIR_QUOTE_TEXT];

    if (full) {
        weir_str_add(bucket, rest, strcspn(rest, "/"));
        rest += strcspn(rest, "/");
    } else if (o->bucket) {
        weir_str_add(bucket, o->bucket, strlen(o->bucket));
    }
    if (bucket->failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the name of a bucket");
    if (bucket->len == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is in no bucket: give s3://BUCKET/NAME, or --s3.bucket=BUCKET",
                           weir_quote_str(path, shown));
    if (s3_bucket_check(bucket->text, err) < 0 || check_style(o, bucket->text, err) < 0)
        return -1;
    return make_key(path, rest, key, err);
}

int s3_place(const struct s3_options *o, const char *path, struct weir_str *bucket,
             struct weir_str *key, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    if (s3_place_dir(o, path, bucket, key, err) < 0)
        return -1;
    if (key->len > 0)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "'%s' names no object: add a name after the bucket '%s'",
                       weir_quote_str(path, shown), weir_str_text(bucket));
}
