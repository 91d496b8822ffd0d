/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-server.c - the least that answers as a service of objects does: from memory, one thread, no signature verified. So
 * what is measured beside it is the cost of the client. Prints its port, and ends with its standard input */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define TABLE 65536
#define HEAD 16384 /* twice what a request may have */

/* An object, or a part of one: its key is the whole target of the request then. */
struct object {
    struct object *next;
    char *data;
    size_t len;
    char key[];
};

struct line {
    int fd;
    size_t have;        /* of the head that is read */
    char head[HEAD + 1];
    char *body;         /* of the request */
    size_t body_len, body_have;
    char answer[1024];
    struct iovec out[2]; /* what is left of the answer */
};

static struct object *table[TABLE];

static struct object **find(const char *key)
{
    unsigned h = 2166136261u;
    struct object **at;

    for (const char *c = key; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    for (at = &table[h % TABLE]; *at && strcmp((*at)->key, key) != 0; at = &(*at)->next)
        ;
    return at;
}

static void keep(const char *key, char *data, size_t len)
{
    struct object **at = find(key), *o = *at;

    if (!o) {
        *at = o = calloc(1, sizeof(*o) + strlen(key) + 1);
        if (!o)
            exit(1);
        strcpy(o->key, key);
    }
    free(o->data);
    o->data = data;
    o->len = len;
}

static void forget(const char *key)
{
    struct object **at = find(key), *o = *at;

    if (!o)
        return;
    *at = o->next;
    free(o->data);
    free(o);
}

/* ---- answers ---- */

static void reply(struct line *l, const char *status, const char *more, const char *data, size_t len, int has_body)
{
    int n = snprintf(l->answer, sizeof(l->answer),
                     "HTTP/1.1 %s\r\nServer: bench\r\nx-amz-request-id: 0123456789ABCDEF\r\n"
                     "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n%sContent-Length: %zu\r\n\r\n", status, more, len);

    l->out[0] = (struct iovec) { l->answer, (size_t)n };
    l->out[1] = (struct iovec) { (char *)data, has_body ? len : 0 };
}

static void reply_text(struct line *l, const char *status, const char *text)
{
    reply(l, status, "Content-Type: application/xml\r\n", text, strlen(text), 1);
}

static const char *header(const char *head, const char *name)
{
    for (const char *at = strstr(head, "\r\n"); at; at = strstr(at + 2, "\r\n"))
        if (strncasecmp(at + 2, name, strlen(name)) == 0)
            return at + 2 + strlen(name);
    return NULL;
}

static void get(struct line *l, const char *key, int has_body)
{
    const struct object *o = *find(key);
    const char *range = header(l->head, "Range: bytes=");
    unsigned long long first = 0, last;
    char more[160];

    if (!o) {
        reply_text(l, "404 Not Found", has_body ? "<Error><Code>NoSuchKey</Code><Message>none</Message></Error>" : "");
        return;
    }
    last = o->len - 1;
    if (range && (sscanf(range, "%llu-%llu", &first, &last) < 1 || first >= o->len)) {
        reply_text(l, "416 Range Not Satisfiable", "<Error><Code>InvalidRange</Code><Message>none</Message></Error>");
        return;
    }
    last = last < o->len ? last : o->len - 1;
    snprintf(more, sizeof(more), "ETag: \"0123456789abcdef0123456789abcdef\"\r\nContent-Range: bytes %llu-%llu/%zu\r\n", first,
             last, o->len);
    if (!range)
        *strstr(more, "Content-Range") = '\0';
    reply(l, range ? "206 Partial Content" : "200 OK", more, o->data + first, (size_t)(last + 1 - first), has_body);
}

/* Parts become the object. */
static void complete(const char *target, size_t path)
{
    struct object *o, *parts[10001];
    size_t len = 0, n = 0;
    char key[HEAD], *data;

    do {
        snprintf(key, sizeof(key), "%.*s?partNumber=%zu&%s", (int)path, target, n + 1, target + path + 1);
        o = *find(key);
        parts[n] = o;
        len += o ? o->len : 0;
    } while (o && n++ < 10000);
    data = malloc(len + 1);
    if (!data)
        exit(1);
    for (size_t i = 0, at = 0; i < n; at += parts[i++]->len)
        memcpy(data + at, parts[i]->data, parts[i]->len);
    for (size_t i = 0; i < n; i++)
        forget(strcpy(key, parts[i]->key));
    snprintf(key, sizeof(key), "%.*s", (int)path, target);
    keep(key, data, len);
}

static void post(struct line *l, const char *target, size_t path)
{
    static const char id[] = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>";
    static const char done[] = "<CompleteMultipartUploadResult><ETag>\"1-1\"</ETag></CompleteMultipartUploadResult>";
    const char *query = target + path;

    if (strncmp(query, "?uploads", 8) == 0) {
        reply_text(l, "200 OK", id);
    } else if (strncmp(query, "?uploadId", 9) == 0) {
        complete(target, path);
        reply_text(l, "200 OK", done);
    } else
        reply_text(l, "200 OK", "<DeleteResult></DeleteResult>");
}

/* '%2F' and its like as they are meant, up to the next '&'. */
static void decode(char *to, const char *from)
{
    unsigned c;

    for (; *from && *from != '&'; from++) {
        if (*from == '%' && sscanf(from + 1, "%2x", &c) == 1)
            from += 2;
        else
            c = (unsigned char)*from;
        *to++ = (char)c;
    }
    *to = '\0';
}

/* Objects whose keys begin with a prefix, in no order: enough to see that they are there, and how large. */
static void list(struct line *l, const char *target, size_t path)
{
    static char text[1 << 18];
    const char *prefix = strstr(target + path, "prefix="), *max = strstr(target + path, "max-keys=");
    long most = max ? atol(max + strlen("max-keys=")) : 1000;
    char begin[HEAD];
    size_t bucket = strcspn(target + 1, "/?") + 2, at = 0;

    snprintf(begin, sizeof(begin), "%.*s/", (int)(bucket - 1), target);
    if (prefix)
        decode(begin + bucket, prefix + strlen("prefix="));
    at += (size_t)snprintf(text, sizeof(text), "<ListBucketResult><IsTruncated>false</IsTruncated>");
    for (size_t i = 0; i < TABLE; i++)
        for (const struct object *o = table[i]; o && most > 0 && at < sizeof(text) - 1024; o = o->next)
            if (strncmp(o->key, begin, strlen(begin)) == 0 && !strchr(o->key, '?') && most-- > 0)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "<Contents><Key>%.800s</Key><Size>%zu</Size></Contents>",
                                       o->key + bucket, o->len);
    snprintf(text + at, sizeof(text) - at, "</ListBucketResult>");
    reply_text(l, "200 OK", text);
}

/* The request is there, with its body. */
static void answer(struct line *l)
{
    const char *blank = strchr(l->head, ' ');
    char target[HEAD / 2];
    size_t path;

    if (!blank || sscanf(blank, " %8191s", target) != 1) {
        reply_text(l, "400 Bad Request", "");
        return;
    }
    path = strcspn(target, "?");
    if (strncmp(l->head, "PUT", 3) == 0) {
        keep(target, l->body, l->body_len);
        l->body = NULL;
        reply(l, "200 OK", "ETag: \"0123456789abcdef0123456789abcdef\"\r\n", "", 0, 1);
    } else if (strncmp(l->head, "POST", 4) == 0) {
        post(l, target, path);
    } else if (strncmp(l->head, "DELETE", 6) == 0) {
        forget(target);
        reply(l, "204 No Content", "", "", 0, 1);
    } else if (target[path] == '?' || !strchr(target + 1, '/')) {
        list(l, target, path);
    } else
        get(l, target, *l->head == 'G');
}

/* ---- lines ---- */

/* A head is there: make room for the body, and take what has come with it. The rest of l->head is the next request. */
static int begin(struct line *l, char *end)
{
    const char *length;
    size_t used = (size_t)(end + 4 - l->head), rest = l->have - used;

    end[2] = '\0'; /* the last header keeps its end of line */
    length = header(l->head, "Content-Length: ");
    l->body_len = length ? strtoul(length, NULL, 10) : 0;
    l->body_have = 0;
    l->body = malloc(l->body_len + 1);
    if (!l->body || rest > l->body_len || used > HEAD / 2)
        return -1;
    memcpy(l->body, end + 4, rest);
    l->body_have = rest;
    if (header(l->head, "Expect: 100") && send(l->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL) != 25)
        return -1;
    return 0;
}

/* -1: the line is to be closed; 0: no more for now. */
static int receive(struct line *l)
{
    ssize_t n;
    char *end;

    while (l->out[0].iov_len + l->out[1].iov_len == 0) {
        if (l->body)
            n = recv(l->fd, l->body + l->body_have, l->body_len - l->body_have, 0);
        else
            n = recv(l->fd, l->head + l->have, HEAD / 2 - l->have, 0);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
        if (l->body)
            l->body_have += (size_t)n;
        else {
            l->have += (size_t)n;
            l->head[l->have] = '\0';
            end = strstr(l->head, "\r\n\r\n");
            if (!end && l->have == HEAD / 2)
                return -1;
            if (end && begin(l, end) < 0)
                return -1;
        }
        if (l->body && l->body_have == l->body_len) {
            answer(l);
            free(l->body);
            l->body = NULL;
            l->have = 0;
            return 1;
        }
    }
    return 0;
}

static int give(struct line *l)
{
    struct msghdr m = { .msg_iov = l->out, .msg_iovlen = 2 };
    ssize_t n;

    while (l->out[0].iov_len + l->out[1].iov_len > 0) {
        n = sendmsg(l->fd, &m, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)n < l->out[i].iov_len ? (size_t)n : l->out[i].iov_len;

            l->out[i].iov_base = (char *)l->out[i].iov_base + part;
            l->out[i].iov_len -= part;
            n -= (ssize_t)part;
        }
    }
    return 0;
}

static int serve(struct line *l)
{
    int rc = 1;

    while (rc > 0) {
        if (give(l) < 0)
            return -1;
        rc = receive(l);
    }
    return rc;
}

static void take_line(int queue, int listener)
{
    struct line *l = calloc(1, sizeof(*l));
    int one = 1;

    if (!l)
        exit(1);
    l->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    epoll_ctl(queue, EPOLL_CTL_ADD, l->fd, &(struct epoll_event) { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = l });
}

static int listen_here(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
        perror("s3-server");
        exit(1);
    }
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

int main(void)
{
    int listener = listen_here(), queue = epoll_create1(EPOLL_CLOEXEC), n;
    struct epoll_event e[64];
    static char standard_input;

    epoll_ctl(queue, EPOLL_CTL_ADD, listener, &(struct epoll_event) { .events = EPOLLIN });
    epoll_ctl(queue, EPOLL_CTL_ADD, 0, &(struct epoll_event) { .events = EPOLLIN, .data.ptr = &standard_input });
    while ((n = epoll_wait(queue, e, 64, -1)) > 0 || errno == EINTR)
        for (int i = 0; i < n; i++) {
            struct line *l = e[i].data.ptr;

            if (e[i].data.ptr == &standard_input)
                return 0;
            if (!l)
                take_line(queue, listener);
            else if (serve(l) < 0) {
                close(l->fd);
                free(l->body);
                free(l);
            }
        }
    return 1;
}
