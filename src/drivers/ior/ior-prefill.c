/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-prefill.c - write the file in order before random writes, so that they meet allocated
 * blocks */
#include "config.h"
#include "drivers/ior/ior.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAGE 4096

/* A phase of its own, in other pieces and another order than the one that follows. */
struct prefill {
    struct ior_test *t;
    struct weir_offsets offsets;
    struct weir_io io;
};

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct prefill *p = state;
    struct weir_offset_conf c = { .layout = p->t->layout,
                                  .order = WEIR_ORDER_SEQUENTIAL,
                                  .task = run->par.rank };

    c.layout.transfer = p->io.len;
    if (ior_prepare_write(run, p->t, err) < 0 ||
        weir_mem_aligned(&p->io.buf, PAGE, p->io.len, err) < 0)
        return -1;
    memset(p->io.buf, 0xff, p->io.len);
    return weir_offsets_init(&p->offsets, &c, err);
}

static uint64_t count(struct weir_run *run, void *state)
{
    (void)run;
    return weir_offsets_count(&((struct prefill *)state)->offsets);
}

static int open_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct prefill *p = state;

    (void)run;
    return ior_open_write(p->t, p->io.len, err);
}

static int step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                struct weir_err *err)
{
    struct prefill *p = state;

    (void)run;
    (void)i;
    p->io.off = weir_offsets_next(&p->offsets);
    return weir_session_xfer(p->t->use.file, &p->io, clock_ns, err);
}

/* All tasks write as much, so this one has failed. */
static int idle(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns,
                struct weir_err *err)
{
    struct prefill *p = state;
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = p->io.buf };

    (void)run;
    (void)round;
    return p->t->use.file ? weir_session_xfer(p->t->use.file, &io, clock_ns, err) : 0;
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct prefill *p = state;
    struct weir_file *f = p->t->use.file;

    (void)run;
    p->t->use.file = NULL;
    return weir_session_close(f, err);
}

static const struct weir_phase phase = { .key = "random prefill",
                                         .prepare = prepare,
                                         .count = count,
                                         .open = open_file,
                                         .step = step,
                                         .idle = idle,
                                         .close = close_file };

int ior_prefill(struct weir_run *run, struct ior_test *t, const struct weir_timing *timing,
                struct weir_err *err)
{
    struct prefill p = { .t = t, .io = { .dir = WEIR_DIR_WRITE, .len = (size_t)t->o->prefill } };
    struct weir_phase_rec rec;
    int rc = weir_phase_run(run, &phase, &p, timing, &rec, err);

    weir_offsets_free(&p.offsets);
    free(p.io.buf);
    if (rc < 0)
        return -1;
    if (rec.interrupted)
        return weir_refuse(err, WEIR_EINTR, "interrupted in the %s of repetition %d", phase.key,
                           run->repetition);
    t->use.prefilled = true;
    if (run->log.verbose >= 2)
        weir_report_line(&run->report, "Random prefill took: %fs",
                         weir_phase_span(&rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED));
    return 0;
}
