/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-load.c - load what mc-find.c has planned, and is every byte right? */
#include "config.h"
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <string.h>

#include "base/node/machine.h"
#include "engine/transfer.h"

/* ---- timed ---- */

void mc_load_prepare(struct mc_test *t)
{
    struct weir_machine_use use;

    t->in = NULL;
    t->in_region = -1;
    t->opens = t->metadata_ns = t->read = 0;
    weir_machine_use(&use, true);
    t->io_known = use.io_known;
    t->io_before = use.read;
}

static int prepare_load(struct weir_run *run, void *state, struct weir_err *err)
{
    (void)run;
    (void)err;
    mc_load_prepare(state);
    return 0;
}

static uint64_t count_load(struct weir_run *run, void *state)
{
    (void)run;
    return ((struct mc_test *)state)->load.moves;
}

static int close_in(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = weir_session_close(t->in, err);

    (void)run;
    t->in = NULL;
    t->in_region = -1;
    return rc;
}

static struct weir_flow flow_of(void *state)
{
    struct mc_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->in };
}

static int open_in(struct weir_run *run, struct mc_test *t, const struct mc_region *r, uint64_t *clock_ns, struct weir_err *err)
{
    const struct weir_flow flow = flow_of(t);

    if (weir_flow_drain(run, &flow, clock_ns, err) < 0 || close_in(run, t, err) < 0)
        return -1;
    weir_str_clear(&t->in_name);
    weir_str_addf(&t->in_name, "%s/%s", weir_str_text(&t->from), r->file);
    t->opens++;
    return weir_session_open(&t->session, weir_str_text(&t->in_name), WEIR_OPEN_READ, NULL, &t->in, err);
}

/* The table of contents of the region is read when the first of its parts is: it says where they are. */
static int enter_region(struct weir_run *run, struct mc_test *t, int region, uint64_t *clock_ns, struct weir_err *err)
{
    const struct mc_region *r = &t->meta.region[region];
    bool same = t->in_region >= 0 && strcmp(r->file, t->meta.region[t->in_region].file) == 0;
    uint64_t begin_ns = *clock_ns, most = (uint64_t)t->o->transfer;

    struct weir_flow flow;

    if (!same && open_in(run, t, r, clock_ns, err) < 0)
        return -1;
    flow = flow_of(t);
    if (weir_flow_drain(run, &flow, clock_ns, err) < 0)
        return -1;
    for (uint64_t at = 0; at < r->head; at += most) {
        uint64_t len = r->head - at < most ? r->head - at : most;
        const struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->toc + at, .len = len, .off = r->at + at };

        if (weir_session_xfer(t->in, &io, clock_ns, err) < 0)
            return -1;
        t->read += len;
    }
    t->toc[r->head] = '\0';
    t->in_region = region;
    *clock_ns = weir_now_ns();
    t->metadata_ns += *clock_ns - begin_ns;
    return 0;
}

static int not_found(const struct mc_test *t, const struct mc_part *p, struct weir_err *err)
{
    struct weir_str name = { 0 };

    mc_part_name(&t->meta.job, p, &name);
    weir_err_within(err, "tensor %s of '%s'", weir_str_words(&name), weir_str_text(&t->from));
    weir_str_free(&name);
    return -1;
}

/* The place of a transfer in its file, which must be open. */
static int place_move(struct weir_run *run, struct mc_test *t, struct mc_move *m, uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t off = 0;

    if (m->region != t->in_region && enter_region(run, t, m->region, clock_ns, err) < 0)
        return -1;
    if (mc_region_find(&t->meta.region[m->region], t->toc, &t->load.part[m->part], &off, err) < 0)
        return not_found(t, &t->load.part[m->part], err);
    m->off = off + m->at;
    t->read += m->len;
    return 0;
}

static int step_own(struct weir_run *run, struct mc_test *t, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_move *m = &t->load.move[i];
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->memory + m->memory, .len = m->len };
    struct weir_request *r;
    struct weir_flow flow;

    if (place_move(run, t, m, clock_ns, err) < 0)
        return -1;
    io.off = m->off;
    if (t->queue.depth == 0 || i < t->same)
        return weir_transfer(run, t->in, &io, clock_ns, err);
    flow = flow_of(t);
    r = weir_flow_next(run, &flow, clock_ns, err);
    if (!r)
        return -1;
    r->io = io;
    return weir_flow_submit(run, &flow, r, clock_ns, err);
}

/* The first of its group reads and tells the others how it went; it says why where it did not. */
static int step_same(struct weir_run *run, struct mc_test *t, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_move *m = &t->load.move[i];
    uint64_t told[2] = { 1, 0 };
    int rc = 0;

    if (t->copies.is_root) {
        rc = step_own(run, t, i, clock_ns, err);
        told[0] = rc == 0;
        told[1] = m->off;
    }
    weir_bcast(&t->copies.group, told, sizeof(told), 0);
    if (told[0])
        weir_bcast(&t->copies.group, t->memory + m->memory, m->len, 0);
    m->off = told[1];
    *clock_ns = weir_now_ns();
    return rc;
}

static int step_load(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;

    return i < t->same ? step_same(run, t, i, clock_ns, err) : step_own(run, t, i, clock_ns, err);
}

/* A rank that has failed tells the others so, or takes what they have. */
static int idle(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t told[2] = { 0, 0 };

    (void)run;
    (void)err;
    if (round < t->same) {
        weir_bcast(&t->copies.group, told, sizeof(told), 0);
        if (told[0])
            weir_bcast(&t->copies.group, t->memory + t->load.move[round].memory, t->load.move[round].len, 0);
    }
    *clock_ns = weir_now_ns();
    return 0;
}

const struct weir_phase mc_load = {
    .key = "load",
    .flags = WEIR_PHASE_BYTES | WEIR_PHASE_BARRIERS,
    .prepare = prepare_load,
    .count = count_load,
    .step = step_load,
    .idle = idle,
    .flow = flow_of,
    .close = close_in,
};

/* ---- what was read ---- */

/* The words of the first wrong byte of this rank. */
static void keep_wrong(const struct mc_test *t, const struct mc_move *m, uint64_t wrong, enum weir_damage kind,
                       struct weir_err *err)
{
    const struct mc_part *p = &t->load.part[m->part];
    const struct mc_region *r = &t->meta.region[m->region];
    struct weir_str name = { 0 }, place = { 0 };

    mc_part_name(&t->meta.job, p, &name);
    if (t->layout == MC_ARRAYS)
        weir_str_addf(&place, "tensor %s, from element %" PRIu64 ",%" PRIu64 " on", weir_str_words(&name), p->start[0],
                      p->start[1]);
    else
        weir_str_addf(&place, "at offset %" PRIu64 ": tensor %s, saved by rank %d", m->off + (wrong - m->at),
                      weir_str_words(&name), r->rank);
    weir_refuse(err, WEIR_EDATA, "wrong data in '%s/%s' %s, byte %" PRIu64 " %s %" PRIu64 ": %s", weir_str_text(&t->from), r->file,
                weir_str_words(&place), wrong, wrong < mc_part_bytes(p) ? "of" : "in the zeros after its", mc_part_bytes(p),
                weir_damage_name(kind));
    weir_str_free(&name);
    weir_str_free(&place);
}

uint64_t mc_load_verify(const struct mc_test *t, struct weir_err *err)
{
    uint64_t n = 0, wrong;
    enum weir_damage kind;

    for (size_t i = 0; i < t->load.moves; i++) {
        const struct mc_move *m = &t->load.move[i];

        if (!mc_data_check(&t->load.part[m->part], t->meta.sequence, m->at, t->memory + m->memory, m->len, &wrong, &kind) &&
            n++ == 0)
            keep_wrong(t, m, wrong, kind, err);
    }
    return n;
}
