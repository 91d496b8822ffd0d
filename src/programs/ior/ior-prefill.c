/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-prefill.c - --random-prefill: the file in order before random writes, so that they meet allocated
 * blocks */
#include "programs/ior/ior.h"

#include <string.h>

#include "engine/test.h"

/* As the write phase that follows, but in other pieces and another order. */
static int prepare_prefill(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    struct ior_prefill *p = t->prefill;
    struct weir_offset_conf c = { .layout = t->layout,
                                  .order = WEIR_ORDER_SEQUENTIAL,
                                  .task = run->par.rank };

    c.layout.transfer = p->io.len;
    if (ior_write_phase.prepare(run, t, err) < 0 ||
        weir_gpu_take(t->gpu, true, &p->io.buf, WEIR_PAGE, p->io.len, err) < 0)
        return -1;
    memset(p->io.buf, 0xff, p->io.len);
    weir_gpu_filled(t->gpu, p->io.buf, p->io.len);
    return weir_offsets_init(&p->offsets, &c, err);
}

static uint64_t count_prefill(struct weir_run *run, void *state)
{
    return weir_offsets_count(&((struct ior_test *)state)->prefill->offsets);
}

static int step_prefill(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                        struct weir_err *err)
{
    struct ior_test *t = state;
    struct ior_prefill *p = t->prefill;

    p->io.off = weir_offsets_next(&p->offsets);
    return weir_session_xfer(t->use.file, &p->io, clock_ns, err);
}

int ior_prefill(struct weir_run *run, struct ior_test *t, const struct weir_stage *s,
                struct weir_err *err)
{
    const struct weir_timing timing = weir_stage_timing(run->test, s);
    const struct weir_phase phase = { .key = "random prefill",
                                      .prepare = prepare_prefill,
                                      .count = count_prefill,
                                      .open = ior_write_phase.open,
                                      .step = step_prefill,
                                      .idle = ior_write_phase.idle,
                                      .close = ior_write_phase.close };
    struct ior_prefill p = { .io = { .dir = WEIR_DIR_WRITE, .len = (size_t)t->o->prefill } };
    struct weir_phase_rec rec;
    int rc;

    t->prefill = &p;
    rc = weir_phase_extra(run, &phase, t, &timing, &rec, err);
    t->prefill = NULL;
    weir_offsets_free(&p.offsets);
    weir_gpu_give(t->gpu, p.io.buf);
    if (rc < 0)
        return -1;
    t->use.made = true;
    if (run->log.verbose >= 2)
        weir_report_line(&run->report, "Random prefill took: %fs",
                         weir_phase_span(&rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED));
    return 0;
}
