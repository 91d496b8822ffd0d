/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-threads.c - several transfers in flight by threads that each move one */
#include "backends/posix/posix.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "backends/shared/posixfile.h"
#include "base/thread.h"

/* The next that waits; NULL: the threads shall end. The caller holds the lock. */
static struct weir_request *take_waiting(struct posix_threads *t)
{
    struct weir_request *r;

    while (!t->waiting && !t->stop)
        pthread_cond_wait(&t->work, &t->lock);
    r = t->waiting;
    if (r)
        t->waiting = r->next;
    return r;
}

static void *work(void *arg)
{
    struct posix_threads *t = arg;
    struct weir_request *r;

    weir_locale_plain();
    pthread_mutex_lock(&t->lock);
    while ((r = take_waiting(t))) {
        pthread_mutex_unlock(&t->lock);
        errno = 0;
        r->n = t->move(r->file, &r->io, NULL);
        r->sys = r->n < 0 ? errno : 0;
        pthread_mutex_lock(&t->lock);
        r->next = t->ended;
        t->ended = r;
        pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

const char *weir_posix_limit(int resource, unsigned unit, const char *name, char text[WEIR_LIMIT_TEXT])
{
    struct rlimit limit = { 0, 0 };

    getrlimit((unsigned)resource, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        return "unlimited";
    snprintf(text, WEIR_LIMIT_TEXT, "%llu%s", (unsigned long long)limit.rlim_cur / unit, name);
    return text;
}

/* Threads are counted with the processes of the user and of the control group, and have a stack each. */
static int start_threads(struct posix_threads *t, int n, struct weir_err *err)
{
    char users[WEIR_LIMIT_TEXT], bytes[WEIR_LIMIT_TEXT];
    int sys = 0;

    while (t->n < n && sys == 0) {
        sys = weir_thread_start(&t->thread[t->n], work, t);
        t->n += sys == 0;
    }
    if (sys == 0)
        return 0;
    errno = sys;
    return weir_fail(err, WEIR_ESETUP,
                     "start thread %d of --posix.threads=%d (limits: %s processes of the user, ulimit "
                     "-u; %s bytes of memory, ulimit -v; and pids.max of the control group)",
                     t->n + 1, n, weir_posix_limit(RLIMIT_NPROC, 1, "", users),
                     weir_posix_limit(RLIMIT_AS, 1, "", bytes));
}

int posix_threads_begin(struct posix_threads *t, int n,
                        ssize_t (*move)(struct weir_file *, const struct weir_io *, struct weir_err *),
                        struct weir_err *err)
{
    *t = (struct posix_threads) { .move = move };
    t->thread = calloc((size_t)n, sizeof(*t->thread));
    if (!t->thread)
        return weir_fail(err, WEIR_ESETUP, "memory for %d threads", n);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    if (start_threads(t, n, err) == 0)
        return 0;
    posix_threads_end(t);
    return -1;
}

void posix_threads_end(struct posix_threads *t)
{
    if (!t->thread)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->n; i++)
        pthread_join(t->thread[i], NULL);
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    free(t->thread);
    *t = (struct posix_threads) { 0 };
}

int posix_threads_submit(struct weir_request *r, struct weir_err *err)
{
    struct posix_threads *t = r->file->s->priv;

    r->next = NULL;
    pthread_mutex_lock(&t->lock);
    if (t->waiting)
        t->newest->next = r;
    else
        t->waiting = r;
    t->newest = r;
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

int posix_threads_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                           struct weir_err *err)
{
    struct posix_threads *t = f->s->priv;
    int n = 0;

    pthread_mutex_lock(&t->lock);
    while (n < most && (t->ended || n < least)) {
        while (!t->ended)
            pthread_cond_wait(&t->done, &t->lock);
        done[n] = t->ended;
        t->ended = done[n++]->next;
    }
    pthread_mutex_unlock(&t->lock);
    return n;
}

void posix_threads_describe(struct weir_file *f, struct weir_str *out)
{
    const struct posix_threads *t = f->s->priv;
    cpu_set_t set;

    if (f->s->log->verbose >= 1 && t->n > 0 && sched_getaffinity(0, sizeof(set), &set) == 0)
        weir_str_addf(out, "posix.threads = %d, on %d processor%s\n", t->n, CPU_COUNT(&set),
                      CPU_COUNT(&set) == 1 ? "" : "s");
}
