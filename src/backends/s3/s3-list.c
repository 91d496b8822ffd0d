/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-list.c - keys below a prefix, and the removal of many */
#include "backends/s3/s3-objects.h"

#include <openssl/evp.h>
#include <stdlib.h>

#define KEYS_A_POLL 50

/* ---- a list ---- */

struct listing {
    s3_take_fn *take;
    void *mine;
    const char *prefix;              /* that was asked for */
    struct weir_str key, token, last; /* tokens of the next page and of this one; empty: none */
    uint64_t size;
    bool is_list, more;
    bool refused; /* by 'take', or because of a key */
    struct weir_err *err;
};

/* Keys that were not asked for would be read as shorter names, or removed. */
static int take_key(struct listing *l)
{
    const char *key = weir_str_text(&l->key);

    if (l->key.failed)
        return weir_refuse(l->err, WEIR_ESETUP, "no memory for a key");
    if (strncmp(key, l->prefix, strlen(l->prefix)) != 0)
        return weir_refuse(l->err, WEIR_EIO,
                           "the service lists a key without the requested prefix '%s'", l->prefix);
    return l->take(l->mine, key, l->size, l->err);
}

static int take_element(void *mine, const char *path, const char *words)
{
    struct listing *l = mine;

    if (strcmp(path, "ListBucketResult/Contents/Key") == 0) {
        weir_str_clear(&l->key);
        weir_str_add(&l->key, words, strlen(words));
    } else if (strcmp(path, "ListBucketResult/Contents/Size") == 0) {
        l->size = strtoull(words, NULL, 10);
    } else if (strcmp(path, "ListBucketResult/Contents") == 0) {
        l->refused = take_key(l) < 0;
        return l->refused ? -1 : 0;
    } else if (strcmp(path, "ListBucketResult") == 0) {
        l->is_list = true;
    } else if (strcmp(path, "ListBucketResult/IsTruncated") == 0) {
        l->more = strcmp(words, "true") == 0;
    } else if (strcmp(path, "ListBucketResult/NextContinuationToken") == 0) {
        weir_str_addf(&l->token, "%s", words);
    }
    return 0;
}

/* Pass the keys of a page on, and keep the token of the next page. */
static int read_page(const struct weir_str *text, struct listing *l, struct weir_err *err)
{
    const struct weir_str before = l->last;

    l->last = l->token;
    l->token = before;
    weir_str_clear(&l->token);
    l->is_list = l->more = false;
    if (s3_xml(text, take_element, l, err) < 0)
        return -1;
    if (!l->is_list)
        return weir_refuse(err, WEIR_EIO, "the response is not a list of objects");
    if (l->token.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the token of a listing");
    if (!l->more)
        weir_str_clear(&l->token);
    else if (l->token.len == 0)
        return weir_refuse(err, WEIR_EIO, "the service reports an incomplete listing, but gives no "
                                          "continuation token");
    else if (strcmp(l->token.text, weir_str_text(&l->last)) == 0)
        return weir_refuse(err, WEIR_EIO, "the service reports an endless listing: a page has its "
                                          "own continuation token");
    return 0;
}

/* Names of the query are in the order of bytes. */
void s3_list_query(struct weir_str *query, const char *prefix, const char *token, int most)
{
    if (*token) {
        weir_str_addf(query, "continuation-token=");
        s3_encode(token, "", query);
        weir_str_addf(query, "&");
    }
    weir_str_addf(query, "list-type=2&max-keys=%d&prefix=", most ? most : S3_KEYS_A_REQUEST);
    s3_encode(prefix, "", query);
}

static void free_listing(struct listing *l)
{
    weir_str_free(&l->key);
    weir_str_free(&l->token);
    weir_str_free(&l->last);
}

struct check {
    struct s3_client *client;
    const char *after;
    int keys; /* so far */
};

/* Refuse a key that does not come after the one before the list. Reading 1000 keys takes some ms:
 * the end of requests that are in flight is noticed meanwhile. */
static int take_later(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct check *c = mine;

    if (++c->keys % KEYS_A_POLL == 0)
        (void)s3_wait(c->client, 0, 0, NULL);
    if (strcmp(key, c->after) > 0)
        return 0;
    return weir_refuse(err, WEIR_EIO, "the service lists the key '%s', which is not after '%s'",
                       key, c->after);
}

int s3_list_check(struct s3_client *client, const struct weir_str *answer, const char *prefix,
                  const char *after, struct weir_err *err)
{
    struct check c = { .client = client, .after = after };
    struct listing l = { .take = take_later, .mine = &c, .prefix = prefix, .err = err };
    int rc = read_page(answer, &l, err);

    free_listing(&l);
    return rc;
}

static int name_list(const struct s3_client *client, const struct s3_object *bucket,
                     struct weir_err *err)
{
    struct weir_str url = { 0 };

    s3_route_url(&client->route, client->sv, bucket, &url);
    weir_err_within(err, "list objects of %s", weir_str_words(&url));
    weir_str_free(&url);
    return -1;
}

int s3_list(struct s3_client *client, const char *bucket, const char *prefix, int most,
            s3_take_fn *take, void *mine, struct weir_err *err)
{
    struct weir_str query = { 0 }, text = { 0 };
    struct s3_call c = { .method = S3_GET, .object = { bucket, "" }, .text = &text };
    struct listing l = { .take = take, .mine = mine, .prefix = prefix, .err = err };
    int rc;

    do {
        weir_str_clear(&query);
        s3_list_query(&query, prefix, weir_str_text(&l.token), most);
        c.query = weir_str_text(&query);
        rc = s3_has_memory(!query.failed, err) < 0 ? -1 : s3_call(client, &c, err);
        if (rc == 0 && read_page(&text, &l, err) < 0)
            rc = l.refused ? -1 : name_list(client, &c.object, err);
    } while (rc == 0 && l.token.len > 0 && most == 0);
    free_listing(&l);
    weir_str_free(&query);
    weir_str_free(&text);
    return rc;
}

/* ---- removal ---- */

struct removal {
    struct s3_client *client;
    const char *bucket;
    size_t skip; /* bytes of a key before the rest that is asked about */
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
        return weir_refuse(
            err, WEIR_ESETUP,
            "the OpenSSL library refuses MD5, which is needed to delete many objects at once");
    EVP_EncodeBlock(text, md, (int)len);
    snprintf(header, 64, "Content-MD5: %s", (const char *)text); /* fits: 24 characters */
    return 0;
}

/* The first element of an error, for people: key, code, message. */
static int take_failure(void *mine, const char *path, const char *words)
{
    struct weir_str *failed = mine;

    if (strncmp(path, "DeleteResult/Error/", 19) == 0 && failed->len < 400 && *words)
        weir_str_addf(failed, "%s%s '%s'", failed->len ? ", " : "", path + 19, words);
    return 0;
}

static int send_removal(struct removal *r, struct weir_str *answer, struct weir_err *err)
{
    char digest[64];
    const char *const headers[] = { digest, NULL };
    struct s3_call c = { .method = S3_POST,
                         .object = { r->bucket, "" },
                         .query = "delete=",
                         .headers = headers,
                         .text = answer,
                         .send = r->body.text,
                         .send_len = r->body.len };

    if (s3_has_memory(!r->body.failed, err) < 0 || make_digest(&r->body, digest, err) < 0 ||
        s3_call(r->client, &c, err) < 0 ||
        (answer->len > 0 && s3_xml(answer, take_failure, &r->failed, err) < 0))
        return -1;
    if (r->failed.len > 0)
        return weir_refuse(err, WEIR_EIO, "the service has not deleted all of %d objects: %s", r->n,
                           r->failed.text);
    return 0;
}

static int delete_keys(struct removal *r, struct weir_err *err)
{
    struct weir_str answer = { 0 };
    int rc = 0;

    if (r->n > 0) {
        weir_str_addf(&r->body, "</Delete>");
        rc = send_removal(r, &answer, err);
    }
    weir_str_free(&answer);
    weir_str_clear(&r->body);
    r->n = 0;
    return rc;
}

static int delete_key(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct removal *r = mine;

    if (!r->wanted(key + r->skip))
        return 0;
    if (r->n == 0)
        weir_str_addf(&r->body, "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    weir_str_addf(&r->body, "<Object>");
    s3_xml_add(&r->body, "Key", key);
    weir_str_addf(&r->body, "</Object>");
    return ++r->n == S3_KEYS_A_REQUEST ? delete_keys(r, err) : 0;
}

int s3_delete_below(struct s3_client *client, const char *bucket, const char *prefix,
                    s3_wanted_fn *wanted, struct weir_err *err)
{
    struct removal r = {
        .client = client, .bucket = bucket, .skip = strlen(prefix), .wanted = wanted
    };
    int rc = s3_list(client, bucket, prefix, 0, delete_key, &r, err);

    if (rc == 0)
        rc = delete_keys(&r, err);
    weir_str_free(&r.body);
    weir_str_free(&r.failed);
    return rc;
}
