/* SPDX-License-Identifier: BSD-3-Clause */
/* session-queue.c - several transfers at a time: what is submitted, and what comes back */
#include "backends/session/session.h"

#include <errno.h>

#include "backends/session/complete.h"

#define SOME 16 /* requests that a drain takes back at a time */

/* True when the backend has a queue, and it is in use. */
static bool has_queue(const struct weir_session *s)
{
    return s->depth > 1 && s->be->submit;
}

int weir_session_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    if (depth < 1 || depth > s->depth || s->in_flight > 0)
        return weir_refuse(err, WEIR_EBUG,
                           "a queue of %d transfers with %s: %d are possible, %d "
                           "are in flight",
                           depth, s->be->name, s->depth, s->in_flight);
    return has_queue(s) && s->be->queue ? s->be->queue(s, depth, err) : 0;
}

/* For the watchdog this rank is in the transfer that has been in flight longest, so one that never
 * ends is found while others come and go. */
static void announce(const struct weir_session *s)
{
    if (!s->call)
        return;
    if (!s->oldest)
        weir_call_end(s->call);
    else if (s->call->io != &s->oldest->io || s->call->version % 2 == 0) /* another one than before */
        weir_call_move(s->call, s->oldest->file->path, &s->oldest->io);
}

static void add_flight(struct weir_session *s, struct weir_request *r)
{
    r->older = s->newest;
    r->newer = NULL;
    s->newest = r;
    if (r->older) {
        r->older->newer = r;
        return;
    }
    s->oldest = r;
    announce(s);
}

static void drop_flight(struct weir_session *s, const struct weir_request *r)
{
    if (r->newer)
        r->newer->older = r->older;
    else
        s->newest = r->older;
    if (r->older)
        r->older->newer = r->newer;
    else
        s->oldest = r->newer;
}

int weir_session_submit(struct weir_request *r, uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_session *s = r->file->s;
    bool has_sync = r->io.dir == WEIR_DIR_WRITE && s->access.sync_each; /* just after the write */
    int rc = 0;

    r->begin_ns = *clock_ns;
    if (!has_queue(s) || has_sync) {
        if (s->only)
            return weir_refuse(err, WEIR_EBUG, "a second transfer began without a queue");
        s->only = r;
    } else {
        add_flight(s, r);
        rc = s->be->submit(r, err);
        *clock_ns = weir_now_ns();
        if (weir_io_acts(&r->io))
            weir_hist_add(&s->stats->hist[WEIR_HIST_DEPTH], rc > 0 ? 1 : (uint64_t)s->in_flight + 1);
    }
    if (rc < 0) {
        drop_flight(s, r);
        announce(s);
        return -1;
    }
    s->in_flight++;
    r->file->in_flight++;
    return 0;
}

/* Not in a queue: the transfer is moved now, and begins now. */
static void move_only(struct weir_session *s, uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_request *r = s->only;

    s->only = NULL;
    r->begin_ns = *clock_ns;
    r->n = weir_session_xfer(r->file, &r->io, clock_ns, err) < 0 ? -1 : (ssize_t)r->io.len;
    r->end_ns = *clock_ns;
}

/* The request came back with a part of its bytes, or with an errno. */
static void finish(struct weir_request *r, uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_session *s = r->file->s;

    if (r->n < 0) {
        if (s->be->reason)
            s->be->reason(r, err);
        else
            weir_refuse(err, WEIR_EIO, "%s", strerror(r->sys));
        errno = r->sys;
        if (err && err->sys == 0)
            err->sys = r->sys;
    }
    weir_session_enter_xfer(s, r->file->path, &r->io);
    r->n = weir_session_leave(s, weir_complete(r->file, &r->io, r->n, s->be->xfer, err)) < 0
               ? -1
               : (ssize_t)r->io.len;
    if (r->n < 0 && err)
        r->sys = err->sys;
    r->end_ns = *clock_ns = weir_now_ns();
}

/* Account for what came back. err is that of the first request that failed. */
static void take(struct weir_session *s, struct weir_request **done, int n, uint64_t *clock_ns,
                 struct weir_err *err)
{
    bool failed = false;

    *clock_ns = weir_now_ns();
    for (int i = 0; i < n; i++) {
        struct weir_request *r = done[i];

        drop_flight(s, r);
        if (r->end_ns <= r->begin_ns) /* the backend does not say when it ended */
            r->end_ns = *clock_ns;
        if (__builtin_expect(r->n != (ssize_t)r->io.len, 0))
            finish(r, clock_ns, failed ? NULL : err);
        failed |= r->n < 0;
        if (!weir_io_acts(&r->io)) /* only takes part in the transfers of others */
            continue;
        if (r->n >= 0)
            weir_hist_add(&s->stats->hist[WEIR_OP_XFER], r->end_ns - r->begin_ns);
        if (s->stats->completed_ns && r->end_ns >= s->stats->completed_ns)
            weir_hist_add(&s->stats->hist[WEIR_HIST_BETWEEN], r->end_ns - s->stats->completed_ns);
        s->stats->completed_ns = r->end_ns;
    }
}

/* From the queue of the backend. */
static int complete_queued(struct weir_file *f, int least, int most, struct weir_request **done,
                           uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_session *s = f->s;
    int n = s->be->complete(f, least, most, done, err);

    if (n <= 0)
        return n;
    take(s, done, n, clock_ns, err);
    announce(s);
    return n;
}

int weir_session_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                          uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_session *s = f->s;
    int n = 0, got = 0;

    if (most < 1)
        return 0;
    if (s->only) {
        done[n++] = s->only;
        move_only(s, clock_ns, err);
    }
    if (least > s->in_flight)
        least = s->in_flight;
    if (n < most && s->in_flight > n && (n == 0 || n < least))
        got = complete_queued(f, least - n, most - n, done + n, clock_ns,
                              n > 0 && done[0]->n < 0 ? NULL : err);
    n += got > 0 ? got : 0;
    s->in_flight -= n;
    if (s->in_flight == 0) /* the next begins without one before it */
        s->stats->completed_ns = 0;
    for (int i = 0; i < n; i++)
        done[i]->file->in_flight--;
    return got < 0 && n == 0 ? -1 : n;
}

void weir_session_drain(struct weir_file *f)
{
    struct weir_request *done[SOME];
    uint64_t clock_ns = weir_now_ns();

    while (f->s->in_flight > 0)
        if (weir_session_complete(f, 1, SOME, done, &clock_ns, NULL) < 0)
            return;
}
