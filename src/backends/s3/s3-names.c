/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-names.c - bucket and key that a name stands for, and their encoding in a URL */

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "backends/s3/s3-forms.h"
#include "base/text/quote.h"

/* ---- encoding ---- */

static bool is_plain(char c, const char *kept)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           strchr("-._~", c) || strchr(kept, c);
}

void s3_encode(const char *text, const char *kept, struct weir_str *out)
{
    for (size_t n; *text; text += n) {
        for (n = 0; text[n] && is_plain(text[n], kept);)
            n++;
        weir_str_add(out, text, n);
        if (text[n])
            weir_str_addf(out, "%%%02X", (unsigned char)text[n++]);
    }
}

/* ---- buckets ---- */

/* The rule of S3 that the name breaks; NULL: none. */
static const char *broken_rule(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    size_t len = strlen(name);
    struct in_addr a;

    if (len < 3 || len > 63)
        return "has 3 to 63 characters";
    if (strspn(name, letters) < len)
        return "has small letters, digits, '.' and '-' only";
    if (strchr(".-", name[0]) || strchr(".-", name[len - 1]))
        return "begins and ends with a letter or a digit";
    if (strstr(name, ".."))
        return "has no two dots in a row";
    if (inet_pton(AF_INET, name, &a) == 1)
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
                       "bucket '%s' has a dot in its name, and certificates do not cover such "
                       "names with --s3.style=host; use --s3.style=path", bucket);
}

/* ---- keys ---- */

/* Append the parts of a path with one '/' between. */
static void add_parts(const char *path, struct weir_str *key)
{
    for (size_t n; *path; path += n + strspn(path + n, "/")) {
        n = strcspn(path, "/");
        if (n == 0 || (n == 1 && *path == '.'))
            continue;
        if (key->len > 0)
            weir_str_addc(key, '/');
        weir_str_add(key, path, n);
    }
}

/* A part of it is "..". */
static bool has_parent(const char *key)
{
    for (; key; key = strchr(key, '/')) {
        key += *key == '/';
        if (strncmp(key, "..", 2) == 0 && (!key[2] || key[2] == '/'))
            return true;
    }
    return false;
}

/* Why no object can have this key; NULL: one can. */
static const char *bad_key(const char *key, size_t len)
{
    if (has_parent(key))
        return "contains '..', which some services read as a path";
    if (len > S3_KEY_MOST)
        return "is longer than 1024 bytes, the limit of a key";
    for (size_t i = 0, n; i < len; i += n) {
        n = weir_utf8_len(key + i, len - i);
        if (n == 0)
            return "is not UTF-8, as keys must be";
        if ((unsigned char)key[i] < ' ' || key[i] == '\177')
            return "has a control character, which a listing (XML) cannot show";
    }
    return NULL;
}

int s3_locate(const struct s3_options *o, const char *path, struct weir_str *bucket,
              struct weir_str *key, struct weir_err *err)
{
    const bool full = strncasecmp(path, S3_SCHEME, strlen(S3_SCHEME)) == 0;
    const char *rest = full ? path + strlen(S3_SCHEME) : path, *why;
    char shown[WEIR_QUOTE_TEXT];

    if (full) {
        weir_str_add(bucket, rest, strcspn(rest, "/"));
        rest += strcspn(rest, "/");
    } else if (o->bucket) {
        weir_str_addf(bucket, "%s", o->bucket);
    }
    add_parts(rest, key);
    if (s3_has_memory(!bucket->failed && !key->failed, err) < 0)
        return -1;
    if (bucket->len == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' has no bucket; give s3://BUCKET/NAME, or --s3.bucket=BUCKET",
                           weir_quote_str(path, shown));
    if (s3_bucket_check(bucket->text, err) < 0 || check_style(o, bucket->text, err) < 0)
        return -1;
    why = bad_key(weir_str_text(key), key->len);
    return why ? weir_refuse(err, WEIR_EUSAGE, "'%s' %s", weir_quote_str(path, shown), why) : 0;
}
