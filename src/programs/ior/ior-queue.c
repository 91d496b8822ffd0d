/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-queue.c - transfers in the queue of a backend that has one */
#include "config.h"
#include "programs/ior/ior.h"

#include <string.h>

#include "base/clock.h"
#include "engine/transfer.h"

int ior_queue_begin(struct ior_test *t, struct weir_session *s, struct weir_err *err)
{
    const struct weir_extent *x = &t->extent;
    bool copies =
        weir_data_varies(&t->data.content) || t->o->check_write || ior_wants_read(t->o);

    return weir_queue_begin(&t->queue, s, x->block / x->transfer * x->segments,
                            copies ? x->transfer : 0, err);
}

static int count_failed(struct weir_run *run, const struct weir_request *r)
{
    const struct weir_err why = { .sys = r->sys };

    weir_records_add_failed(&run->records, r->io.dir, r->begin_ns, r->end_ns, r->io.off, &why);
    return -1;
}

/* Take back what is done, at least one transfer: count it, and check the data of a read. */
static int take_back(struct weir_run *run, struct ior_test *t, uint64_t *clock_ns,
                     struct weir_err *err)
{
    int n = weir_queue_complete(&t->queue, t->use.file, 1, clock_ns, err);
    int rc = n < 0 ? -1 : 0;

    for (int i = 0; i < n; i++) {
        const struct weir_request *r = t->queue.done[i];

        if (r->n < 0) {
            rc = count_failed(run, r);
            continue;
        }
        weir_transfer_count(run, &r->io, r->begin_ns, r->end_ns);
        if (t->pass.verify)
            ior_verify(run, t, &r->io, clock_ns);
    }
    return rc;
}

static void *write_from(struct weir_run *run, struct ior_test *t, const struct weir_request *r,
                        uint64_t *clock_ns)
{
    void *buf;

    if (!weir_data_varies(&t->data.content)) /* else each request has a copy */
        return t->data.buf[0];
    buf = weir_queue_buffer(&t->queue, r);
    memcpy(buf, t->data.buf[t->data.next - 1], t->extent.transfer);
    weir_clock_apart(&run->counters.fill_ns, clock_ns);
    return buf;
}

static void *read_into(const struct ior_test *t, const struct weir_request *r)
{
    unsigned char *buf = weir_queue_buffer(&t->queue, r);

    if (t->pass.verify)
        *buf ^= 0xff; /* what is left of the last read must not pass */
    return buf;
}

int ior_queue_step(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns,
                   struct weir_err *err)
{
    struct weir_request *r = weir_queue_take(&t->queue);

    if (!r) {
        if (take_back(run, t, clock_ns, err) < 0)
            return -1;
        r = weir_queue_take(&t->queue);
    }
    r->file = t->use.file;
    r->io = (struct weir_io) { .dir = t->pass.dir, .len = t->extent.transfer, .tag = i };
    r->io.off = ior_next_offset(run, t, i, clock_ns);
    r->io.buf = t->pass.dir == WEIR_DIR_WRITE ? write_from(run, t, r, clock_ns) : read_into(t, r);
    if (weir_queue_submit(&t->queue, r, clock_ns, err) == 0)
        return 0;
    weir_records_add_failed(&run->records, r->io.dir, r->begin_ns, *clock_ns, r->io.off, err);
    return -1;
}

int ior_queue_drain(struct weir_run *run, void *state, uint64_t *clock_ns, struct weir_err *err)
{
    struct ior_test *t = state;

    while (weir_queue_in_flight(&t->queue) > 0)
        if (take_back(run, t, clock_ns, err) < 0)
            return -1;
    return 0;
}
