/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-loop.c - the least that moves the same objects: a loop over libcurl's multi interface with as many requests in
 * flight, each signed as the backend signs it. Says when it is ready, begins at the end of its standard input, and prints
 * the seconds of its requests and the processor time in them */
#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER 65536L /* of libcurl, in each direction: with larger ones 32 requests do not fit into caches */

enum { GET, RANGE, PUT };

/* What is asked for. keys: "ID:SECRET", or "" for requests without signatures. */
struct job {
    const char *base, *keys;
    int what, hashed; /* hashed: signatures cover the data */
    size_t bytes;
    long count, next, done;
};

struct slot {
    struct job *job;
    CURL *easy;
    struct curl_slist *headers;
    char *data, hash[96];
    size_t at;
};

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t take(char *from, size_t size, size_t n, void *arg)
{
    struct slot *s = arg;

    (void)size;
    if (s->at + n > s->job->bytes)
        return 0;
    memcpy(s->data + s->at, from, n);
    s->at += n;
    return n;
}

/* The options that all requests of a slot have. */
static void prepare(struct slot *s)
{
    const struct job *j = s->job;

    s->easy = curl_easy_init();
    s->data = malloc(j->bytes);
    if (!s->easy || !s->data)
        exit(1);
    memset(s->data, 7, j->bytes);
    curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
    curl_easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(s->easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(s->easy, CURLOPT_BUFFERSIZE, BUFFER);
    curl_easy_setopt(s->easy, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER);
    curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
    if (*j->keys) {
        curl_easy_setopt(s->easy, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
        curl_easy_setopt(s->easy, CURLOPT_USERPWD, j->keys);
    }
    if (j->what != PUT)
        return;
    /* With CURLOPT_UPLOAD it would wait for "100 Continue", and the header that forbids that would be signed and not sent. */
    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, s->data);
    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)j->bytes);
    curl_easy_setopt(s->easy, CURLOPT_CUSTOMREQUEST, "PUT");
}

/* The headers of a request: they change only where signatures cover the data. */
static void add_headers(struct slot *s)
{
    static const char digits[] = "0123456789abcdef";
    char *at = s->hash + sprintf(s->hash, "x-amz-content-sha256: ");
    unsigned char sum[32];

    if (s->headers && !s->job->hashed)
        return;
    curl_slist_free_all(s->headers);
    s->headers = NULL;
    if (s->job->what == PUT)
        s->headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
    if (s->job->hashed) {
        EVP_Digest(s->data, s->job->what == PUT ? s->job->bytes : 0, sum, NULL, EVP_sha256(), NULL);
        for (int i = 0; i < 32; i++) {
            *at++ = digits[sum[i] >> 4];
            *at++ = digits[sum[i] & 15];
        }
        *at = '\0';
    } else
        strcpy(at, "UNSIGNED-PAYLOAD");
    if (*s->job->keys)
        s->headers = curl_slist_append(s->headers, s->hash);
    curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
}

static void start(CURLM *multi, struct slot *s)
{
    struct job *j = s->job;
    unsigned long long first = (unsigned long long)j->next * j->bytes;
    char text[2048];

    if (j->what == RANGE) {
        snprintf(text, sizeof(text), "%llu-%llu", first, first + j->bytes - 1);
        curl_easy_setopt(s->easy, CURLOPT_RANGE, text);
        snprintf(text, sizeof(text), "%s", j->base);
    } else
        snprintf(text, sizeof(text), "%s-%ld", j->base, j->next);
    curl_easy_setopt(s->easy, CURLOPT_URL, text);
    add_headers(s);
    s->at = 0;
    j->next++;
    curl_multi_add_handle(multi, s->easy);
}

/* What has ended makes place for the next one. */
static int reap(CURLM *multi, struct job *j)
{
    struct CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(multi, &left))) {
        CURL *easy = m->easy_handle;
        CURLcode rc = m->data.result;
        struct slot *s;

        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&s);
        curl_multi_remove_handle(multi, easy);
        if (rc != CURLE_OK || (j->what != PUT && s->at != j->bytes)) {
            fprintf(stderr, "s3-loop: %s, %zu bytes\n", curl_easy_strerror(rc), s->at);
            return -1;
        }
        j->done++;
        if (j->next < j->count)
            start(multi, s);
    }
    return 0;
}

static int loop(CURLM *multi, struct job *j)
{
    int running;

    while (j->done < j->count) {
        if (curl_multi_perform(multi, &running) != CURLM_OK || reap(multi, j) < 0)
            return -1;
        if (j->done < j->count && curl_multi_poll(multi, NULL, 0, 1000, NULL) != CURLM_OK)
            return -1;
    }
    return 0;
}

static int measure(struct job *j, int depth)
{
    struct slot *slots = calloc((size_t)depth, sizeof(*slots));
    CURLM *multi = curl_multi_init();
    double begin, used;
    int rc;

    if (!slots || !multi)
        return 1;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)depth);
    for (int i = 0; i < depth; i++) {
        slots[i].job = j;
        prepare(&slots[i]);
    }
    puts("ready");
    fflush(stdout);
    getchar();
    begin = seconds_of(CLOCK_MONOTONIC);
    used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < depth && j->next < j->count; i++)
        start(multi, &slots[i]);
    rc = loop(multi, j);
    printf("%.9f %.9f\n", seconds_of(CLOCK_MONOTONIC) - begin, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used);
    return rc < 0;
}

int main(int argc, char **argv)
{
    struct job j = { 0 };

    if (argc != 8) {
        fprintf(stderr, "usage: s3-loop get|range|put URL BYTES COUNT DEPTH ID:SECRET unsigned|signed\n");
        return 2;
    }
    j.what = strcmp(argv[1], "put") == 0 ? PUT : strcmp(argv[1], "range") == 0 ? RANGE : GET;
    j.base = argv[2];
    j.bytes = strtoul(argv[3], NULL, 10);
    j.count = strtol(argv[4], NULL, 10);
    j.keys = argv[6];
    j.hashed = strcmp(argv[7], "signed") == 0;
    curl_global_init(CURL_GLOBAL_ALL);
    return measure(&j, atoi(argv[5]));
}
