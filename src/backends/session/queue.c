/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - requests and buffers for a session with several transfers in flight */
#include "backends/session/queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

/* The buffers are touched: a system without memory would end the process, so it is asked first. */
static int check_memory(const struct weir_session *s, int depth, size_t bytes, struct weir_err *err)
{
    int tasks = s->par->cache.per_node_max > 0 ? s->par->cache.per_node_max : 1;
    bool own = s->access.depth == 0;
    double node = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    if ((double)depth * (double)bytes * tasks <= node)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "%d buffers of %zu bytes in each of %d tasks are more than the memory of a "
                       "node; give a smaller --%s%s or transfer size",
                       depth, bytes, tasks, own ? s->be->prefix : "",
                       own ? s->be->depth_option : "depth");
}

static int make_buffers(struct weir_queue *q, size_t size, struct weir_err *err)
{
    size_t bytes;

    q->stride = (size + WEIR_PAGE - 1) / WEIR_PAGE * WEIR_PAGE;
    bytes = q->stride * (size_t)q->depth;
    if (weir_gpu_take(q->gpu, true, &q->pool, bytes < WEIR_HUGE ? WEIR_PAGE : WEIR_HUGE, bytes, err) < 0)
        return weir_err_within(err, "%d buffers of %zu bytes", q->depth, size);
    return 0;
}

static int make_requests(struct weir_queue *q, struct weir_err *err)
{
    size_t depth = (size_t)q->depth;

    q->slots = calloc(depth, sizeof(*q->slots));
    q->idle = calloc(depth, sizeof(*q->idle));
    q->done = calloc(depth, sizeof(*q->done));
    if (!q->slots || !q->idle || !q->done)
        return weir_fail(err, WEIR_ESETUP, "memory for %d transfers in flight", q->depth);
    for (int i = q->depth; i > 0; i--)
        q->idle[q->n_idle++] = &q->slots[i - 1];
    return 0;
}

static int show_buffers(const struct weir_queue *q, struct weir_session *s, struct iovec own,
                        struct weir_err *err)
{
    struct iovec area[] = { own, { q->pool, q->stride * (size_t)q->depth } };

    return s->be->buffers ? s->be->buffers(s, area, q->pool ? 2 : 1, err) : 0;
}

int weir_queue_begin(struct weir_queue *q, struct weir_session *s, uint64_t most, size_t size,
                     struct iovec own, struct weir_err *err)
{
    *q = (struct weir_queue) { .depth = most < (uint64_t)s->depth ? (int)most : s->depth,
                               .gpu = s->gpu };
    if (q->depth <= 1) {
        q->depth = 0;
        return 0;
    }
    if (weir_session_queue(s, q->depth, err) == 0 && check_memory(s, q->depth, size, err) == 0 &&
        make_requests(q, err) == 0 && (size == 0 || make_buffers(q, size, err) == 0) &&
        show_buffers(q, s, own, err) == 0)
        return 0;
    weir_queue_end(q);
    return -1;
}

void weir_queue_end(struct weir_queue *q)
{
    weir_gpu_give(q->gpu, q->pool);
    free(q->done);
    free(q->idle);
    free(q->slots);
    *q = (struct weir_queue) { 0 };
}

int weir_queue_complete(struct weir_queue *q, struct weir_file *f, int least, uint64_t *clock_ns,
                        struct weir_err *err)
{
    int n = weir_session_complete(f, least, q->depth, q->done, clock_ns, err);

    for (int i = 0; i < n; i++)
        q->idle[q->n_idle++] = q->done[i];
    return n;
}
