/* SPDX-License-Identifier: BSD-3-Clause */
/* httpscript.h - a server of HTTP/1.1 that gives answers of a script, for tests of requests */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HTTP_ACTS 64

/* The answer to the next request. 'must' is in its header, 'lacks' is not: else the answer is 599. */
struct http_act {
    const char *answer; /* all of it; NULL: none */
    const char *must, *lacks;
    bool closes; /* the connection, after the answer */
    int wait_ms; /* before it */
};

struct http_server {
    pid_t pid;
    int port;
    char url[64];
    int *asked; /* requests so far, in shared memory */
};

static inline bool http_read(int fd, char *head, size_t room)
{
    size_t used = 0;
    char *end;
    const char *length;
    unsigned long body = 0;

    for (;;) {
        ssize_t n = read(fd, head + used, room - 1 - used);

        if (n <= 0)
            return false;
        used += (size_t)n;
        head[used] = '\0';
        end = strstr(head, "\r\n\r\n");
        if (end)
            break;
    }
    length = strstr(head, "Content-Length: ");
    if (length)
        body = strtoul(length + 16, NULL, 10);
    used -= (size_t)(end + 4 - head);
    *end = '\0';
    while (used < body) {
        char piece[4096];
        ssize_t n = read(fd, piece, sizeof(piece));

        if (n <= 0)
            return false;
        used += (size_t)n;
    }
    return true;
}

static inline void http_talk(int fd, const struct http_act *acts, int n, int *asked)
{
    static const char wrong[] = "HTTP/1.1 599 Not in the script\r\nContent-Length: 0\r\n\r\n";
    char head[16384];

    while (http_read(fd, head, sizeof(head))) {
        int at = __atomic_fetch_add(asked, 1, __ATOMIC_SEQ_CST);
        const struct http_act *a = &acts[at];
        const char *answer = wrong;

        if (at < n && (!a->must || strstr(head, a->must)) && (!a->lacks || !strstr(head, a->lacks)))
            answer = a->answer;
        if (answer == wrong)
            fprintf(stderr, "request %d is not as the script has it:\n%s\n", at, head);
        if (at < n && a->wait_ms)
            usleep((useconds_t)a->wait_ms * 1000);
        if (answer && write(fd, answer, strlen(answer)) < 0)
            break;
        if (!answer || (at < n && a->closes))
            break;
    }
    _exit(0);
}

/* Serve until http_stop. Each connection has a process. */
static inline void http_start(struct http_server *s, const struct http_act *acts, int n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, 64) < 0
        || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        abort();
    s->asked = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    s->port = ntohs(at.sin_port);
    (void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", s->port);
    fflush(NULL);
    s->pid = fork();
    if (s->pid == 0) {
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test does not stop it */
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int c = accept(fd, NULL, NULL);

            if (c >= 0 && fork() == 0) {
                close(fd);
                http_talk(c, acts, n, s->asked);
            }
            close(c);
        }
    }
    (void)setpgid(s->pid, s->pid);
    close(fd);
}

/* Returns how many requests there were. */
static inline int http_stop(struct http_server *s)
{
    int asked = *s->asked;

    (void)kill(-s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
    (void)munmap(s->asked, sizeof(int));
    return asked;
}
