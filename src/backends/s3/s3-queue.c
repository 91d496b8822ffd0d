/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-queue.c - transfers in flight: a call each, and the reasons of those that failed */
#include "backends/s3/s3-file.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#define SOME 64 /* calls that are taken back at a time */

static void push(struct s3_flight **list, struct s3_flight *fl)
{
    fl->next = *list;
    *list = fl;
}

static struct s3_flight *pop(struct s3_flight **list)
{
    struct s3_flight *fl = *list;

    if (fl)
        *list = fl->next;
    return fl;
}

void s3_queue_end(struct s3_queue *q)
{
    for (int i = 0; i < q->depth; i++)
        weir_str_free(&q->flights[i].url);
    free(q->flights);
    *q = (struct s3_queue) { 0 };
}

int s3_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    const struct s3_options *o = s->opt;
    struct s3 *s3 = s3_of(s);
    struct s3_queue *q = &s3->queue;

    s3_queue_end(q);
    q->flights = calloc((size_t)depth, sizeof(*q->flights));
    if (!q->flights)
        return weir_fail(err, WEIR_ESETUP, "memory for %d transfers in flight", depth);
    q->depth = depth;
    for (int i = depth; i > 0; i--)
        push(&q->idle, &q->flights[i - 1]);
    return o->part > 0 ? s3_gather_reserve(&s3->pool, s3->pool.size, depth, err) : 0;
}

static void add_done(struct s3_queue *q, struct weir_request *r)
{
    r->next = NULL;
    if (q->done)
        q->last_done->next = r;
    else
        q->done = r;
    q->last_done = r;
}

/* Where nobody has asked for the reason of one that failed, it is forgotten. */
static struct s3_flight *take_idle(struct s3_queue *q)
{
    struct s3_flight *fl = pop(&q->idle);

    return fl ? fl : pop(&q->failed);
}

int s3_submit(struct weir_request *r, struct weir_err *err)
{
    struct s3 *s3 = s3_of(r->file->s);
    struct s3_queue *q = &s3->queue;
    struct s3_flight *fl = take_idle(q);
    int rc;

    if (!fl)
        return weir_refuse(err, WEIR_EBUG, "more than %d transfers in a queue", q->depth);
    rc = s3_move_begin((struct s3_file *)r->file, &r->io, fl, &r->n, err);
    fl->request = r;
    if (rc == 0 && s3_line_start(s3->line, &fl->call, err) == 0) {
        fl->flying = true;
        q->busy++;
        return 0;
    }
    if (rc == 0) /* it was not sent */
        fl->file->failed |= fl->call.method != S3_GET;
    fl->request = NULL;
    push(&q->idle, fl);
    if (rc > 0)
        add_done(q, r);
    return rc > 0 ? 1 : -1;
}

/* One that failed keeps its call for s3_reason. */
static void land(struct s3_queue *q, struct s3_flight *fl)
{
    struct weir_request *r = fl->request;

    r->n = s3_move_end(fl);
    r->sys = r->n < 0 ? fl->call.answer.sys : 0;
    fl->flying = false;
    q->busy--;
    add_done(q, r);
    push(r->n < 0 ? &q->failed : &q->idle, fl);
    if (r->n >= 0)
        fl->request = NULL;
}

void s3_collect(struct s3 *s3, int least)
{
    struct s3_call *done[SOME];
    int n = s3_line_wait(s3->line, least < SOME ? least : SOME, SOME, done);

    for (int i = 0; i < n; i++) {
        struct s3_flight *fl = done[i]->owner;

        if (fl->request)
            land(&s3->queue, fl);
        else
            s3_gather_landed(fl);
    }
}

void s3_wait_for_part(const struct s3_file *f, uint64_t number)
{
    struct s3 *s3 = s3_of(f->base.s);
    const struct s3_queue *q = &s3->queue;

    for (int i = 0; i < q->depth && q->busy > 0; i++) {
        const struct s3_flight *fl = &q->flights[i];

        while (fl->flying && fl->file == f && fl->number == number)
            s3_collect(s3, 1);
    }
}

static int take_done(struct s3_queue *q, int most, struct weir_request **done)
{
    int n = 0;

    for (; n < most && q->done; n++) {
        done[n] = q->done;
        q->done = done[n]->next;
    }
    return n;
}

/* Looks at the connections once where nothing has to be waited for: they move only then. */
int s3_complete(struct weir_file *f, int least, int most, struct weir_request **done, struct weir_err *err)
{
    struct s3 *s3 = s3_of(f->s);
    struct s3_queue *q = &s3->queue;
    int n = take_done(q, most, done);

    (void)err;
    if (n < most && q->busy > 0 && n >= least)
        s3_collect(s3, 0);
    n += take_done(q, most - n, done + n);
    while (n < least && q->busy > 0) {
        s3_collect(s3, least - n);
        n += take_done(q, most - n, done + n);
    }
    return n;
}

int s3_reason(const struct weir_request *r, struct weir_err *err)
{
    struct s3 *s3 = s3_of(r->file->s);
    struct s3_queue *q = &s3->queue;

    for (struct s3_flight **at = &q->failed, *fl = *at; fl; at = &fl->next, fl = *at)
        if (fl->request == r) {
            s3_call_reason(s3->line, &fl->call, err);
            *at = fl->next;
            fl->request = NULL;
            push(&q->idle, fl);
            return -1;
        }
    errno = r->sys;
    return weir_fail(err, WEIR_EIO, "a transfer to the service");
}
