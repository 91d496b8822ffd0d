/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-list.c - keys below a prefix, and the removal of many */
#include "backends/s3/s3-list.h"
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-xml.h"

/* ---- a page ---- */

struct page {
    s3_take_fn *take;
    void *mine;
    const char *prefix; /* that was asked for */
    struct weir_str key, *token, last; /* last: the token that was asked with */
    uint64_t size;
    bool is_list, more;
    bool refused; /* by 'take', or because of a key */
    struct weir_err *err;
};

/* Keys that nobody asked for would be read as shorter names, or removed. */
static int take_key_of_page(struct page *p)
{
    const char *key = weir_str_text(&p->key);

    if (p->key.failed)
        return weir_refuse(p->err, WEIR_ESETUP, "no memory for a key");
    if (strncmp(key, p->prefix, strlen(p->prefix)) != 0)
        return weir_refuse(p->err, WEIR_EIO, "the service was asked for keys that begin with '%s', and lists another one", p->prefix);
    return p->take(p->mine, key, p->size, p->err);
}

static int take_element(void *mine, const char *path, const char *words)
{
    struct page *p = mine;

    if (strcmp(path, "ListBucketResult/Contents/Key") == 0) {
        weir_str_clear(&p->key);
        weir_str_addf(&p->key, "%s", words);
    } else if (strcmp(path, "ListBucketResult/Contents/Size") == 0) {
        p->size = strtoull(words, NULL, 10);
    } else if (strcmp(path, "ListBucketResult/Contents") == 0) {
        p->refused = take_key_of_page(p) < 0;
        return p->refused ? -1 : 0;
    } else if (strcmp(path, "ListBucketResult") == 0) {
        p->is_list = true;
    } else if (strcmp(path, "ListBucketResult/IsTruncated") == 0) {
        p->more = strcmp(words, "true") == 0;
    } else if (strcmp(path, "ListBucketResult/NextContinuationToken") == 0) {
        weir_str_addf(p->token, "%s", words);
    }
    return 0;
}

/* Its keys to take, and the token of the next page: empty, it was the last. */
static int read_page(const struct weir_str *text, struct page *p, struct weir_err *err)
{
    weir_str_clear(&p->last);
    weir_str_addf(&p->last, "%s", weir_str_text(p->token));
    weir_str_clear(p->token);
    p->is_list = p->more = false;
    if (s3_xml(weir_str_text(text), text->len, take_element, p, err) < 0)
        return -1;
    if (!p->is_list)
        return weir_refuse(err, WEIR_EIO, "the answer is no list of objects");
    if (p->token->failed || p->last.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the token of a listing");
    if (p->more && p->token->len == 0)
        return weir_refuse(err, WEIR_EIO, "the service says that a listing goes on, and gives no token for the rest");
    if (p->more && strcmp(weir_str_text(p->token), weir_str_text(&p->last)) == 0)
        return weir_refuse(err, WEIR_EIO, "the service says that a listing goes on with the page that it has given: it has no end");
    if (!p->more)
        weir_str_clear(p->token);
    return 0;
}

/* Names of the query are in the order of bytes. */
static void make_query(struct weir_str *query, const char *token, const char *prefix, int most)
{
    weir_str_clear(query);
    if (*token) {
        weir_str_addf(query, "continuation-token=");
        s3_encode(token, "", query);
        weir_str_addf(query, "&");
    }
    weir_str_addf(query, "list-type=2&max-keys=%d&prefix=", most ? most : S3_KEYS_A_REQUEST);
    s3_encode(prefix, "", query);
}

int s3_list(struct s3_line *l, const char *bucket, const char *prefix, int most, s3_take_fn *take, void *mine,
            struct weir_err *err)
{
    struct weir_str query = { 0 }, token = { 0 }, text = { 0 };
    struct s3_call c = { .method = S3_GET, .url = bucket, .text = &text };
    struct page p = { .take = take, .mine = mine, .prefix = prefix, .token = &token, .err = err };
    int rc;

    do {
        make_query(&query, weir_str_text(&token), prefix, most);
        c.query = weir_str_text(&query);
        rc = query.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a listing") : s3_call(l, &c, err);
        if (rc == 0 && read_page(&text, &p, err) < 0)
            rc = p.refused ? -1 : weir_err_within(err, "list objects of %s", bucket);
    } while (rc == 0 && token.len > 0 && most == 0);
    weir_str_free(&p.key);
    weir_str_free(&p.last);
    weir_str_free(&query);
    weir_str_free(&token);
    weir_str_free(&text);
    return rc;
}

/* ---- removal ---- */

struct removal {
    struct s3_line *l;
    const char *bucket, *prefix;
    s3_wanted_fn *wanted;
    struct weir_str body, failed;
    int n; /* keys in the body */
};

/* Multi-object delete needs the digest of its body. */
static int make_digest(const struct weir_str *body, char header[64], struct weir_err *err)
{
    unsigned char md[EVP_MAX_MD_SIZE], text[32];
    unsigned int len = 0;

    if (EVP_Digest(body->text, body->len, md, &len, EVP_md5(), NULL) != 1 || len != 16)
        return weir_refuse(err, WEIR_ESETUP, "the library of OpenSSL refuses MD5, which the removal of many objects needs");
    EVP_EncodeBlock(text, md, (int)len);
    snprintf(header, 64, "Content-MD5: %s", (const char *)text); /* fits: 24 characters */
    return 0;
}

/* The first element of an error, for people: key, code, message. */
static int take_failure(void *mine, const char *path, const char *words)
{
    struct weir_str *failed = mine;
    const char *name = strrchr(path, '/');

    if (strncmp(path, "DeleteResult/Error/", 19) == 0 && failed->len < 400 && *words)
        weir_str_addf(failed, "%s%s '%s'", failed->len ? ", " : "", name + 1, words);
    return 0;
}

static int delete_keys(struct removal *r, struct weir_err *err)
{
    char digest[64];
    const char *const headers[] = { digest, NULL };
    struct weir_str text = { 0 };
    struct s3_call c = { .method = S3_POST, .url = r->bucket, .query = "delete=", .headers = headers, .text = &text };
    int rc;

    if (r->n == 0)
        return 0;
    weir_str_addf(&r->body, "</Delete>");
    c.send = r->body.text;
    c.send_len = r->body.len;
    rc = r->body.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the keys to delete") : make_digest(&r->body, digest, err);
    if (rc == 0 && (rc = s3_call(r->l, &c, err)) == 0 && text.len > 0)
        rc = s3_xml(text.text, text.len, take_failure, &r->failed, err);
    if (rc == 0 && r->failed.len > 0)
        rc = weir_refuse(err, WEIR_EIO, "the service has not deleted all of %d objects: %s", r->n, weir_str_text(&r->failed));
    weir_str_free(&text);
    weir_str_clear(&r->body);
    r->n = 0;
    return rc;
}

static int take_key(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct removal *r = mine;
    size_t before = strlen(r->prefix);

    (void)size;
    if (strncmp(key, r->prefix, before) != 0 || !r->wanted(key + before))
        return 0;
    if (r->n == 0)
        weir_str_addf(&r->body, "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    weir_str_addf(&r->body, "<Object><Key>");
    s3_xml_add(key, &r->body);
    weir_str_addf(&r->body, "</Key></Object>");
    return ++r->n == S3_KEYS_A_REQUEST ? delete_keys(r, err) : 0;
}

int s3_delete_below(struct s3_line *l, const char *bucket, const char *prefix, s3_wanted_fn *wanted, struct weir_err *err)
{
    struct removal r = { .l = l, .bucket = bucket, .prefix = prefix, .wanted = wanted };
    int rc = s3_list(l, bucket, prefix, 0, take_key, &r, err);

    if (rc == 0)
        rc = delete_keys(&r, err);
    weir_str_free(&r.body);
    weir_str_free(&r.failed);
    return rc;
}
