/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-phases.c - a trial: create or open, then gather and write or read and scatter step by step,
 * close */
#include "programs/checkpoint/ckpt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/about/banner.h"
#include "engine/transfer.h"

/* Operations that are recorded; in the order of the tables in ckpt.c. */
enum { OP_GATHER, OP_MOVE };

static uint64_t count_steps(struct weir_run *run, void *state)
{
    const struct ckpt *t = state;

    return t->steps * (uint64_t)t->o->arrays;
}

static uint64_t count_operations(struct weir_run *run, void *state)
{
    return 2 * count_steps(run, state);
}

/* Ranks of a group take collective steps, and all where all meet: in barriers or in collective
 * transfers. */
static void set_timing(const void *state, const struct weir_stage *stage,
                       struct weir_timing *timing)
{
    const struct ckpt *t = state;

    timing->collective_steps = timing->collective_open = timing->collective_flush = true;
    timing->steps_par = t->o->barrier || t->access.collective ? NULL : &t->ranks.group;
}

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;
    const uint64_t begin[3] = { 0, t->o->split ? 0 : t->block.y, 0 };
    const uint64_t count[3] = { t->levels, t->block.ny, t->layout.im };

    weir_report_line(&run->report, " Trial %12d", run->repetition + 1);
    weir_report_flush(&run->report);
    memset(t->ns, 0, sizeof(t->ns));
    weir_slab_box(&t->slab, 3, begin, count);
    if (!t->moves || !t->ranks.is_leader || (!t->o->split && !weir_par_asks(&t->ranks.peers)))
        return 0;
    return weir_session_admit(&t->session, weir_str_text(&t->name),
                              t->reads ? WEIR_INTENT_READ : WEIR_INTENT_REPLACE, err);
}

/* ---- the file ---- */

static int open_arrays(struct ckpt *t, struct weir_err *err)
{
    char name[16];
    int rc = 0;

    for (int v = 0; v < t->o->arrays && rc == 0; v++) {
        snprintf(name, sizeof(name), "VAR%03d", v + 1);
        rc = weir_array_open(t->file, name, !t->reads, &t->spec, &t->array[v], err);
    }
    if (rc < 0 || t->reads)
        return rc;
    return ckpt_put_mark(t, err) < 0 ? -1 : weir_arrays_commit(t->file, err);
}

static int open_file(struct weir_run *run, void *state, struct weir_err *err)
{
    const unsigned make = WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC;
    struct ckpt *t = state;

    if (!t->moves || !t->ranks.is_leader)
        return 0;
    if (weir_arrays_open(&t->session, weir_str_text(&t->name), t->reads ? WEIR_OPEN_READ : make,
                         &t->file, err) < 0)
        return -1;
    t->removes = !t->reads;
    if (open_arrays(t, err) == 0)
        return 0;
    weir_arrays_close(t->file, NULL);
    t->file = NULL;
    return -1;
}

/* The hints in effect, where they were asked for: once a test. All ranks have opened the file. */
static void look_at_file(struct weir_run *run, void *state)
{
    struct ckpt *t = state;

    if (t->file && run->repetition == 0)
        weir_banner_array_facts(run, t->file);
    if (t->reads)
        ckpt_scan(run, t);
}

static int flush_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;
    uint64_t clock_ns = weir_now_ns();
    int rc = 0;

    if (t->o->sync && t->file) {
        rc = weir_arrays_sync(t->file, err);
        weir_clock_apart(&t->ns[CKPT_FLUSH], &clock_ns);
    }
    return rc;
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;
    struct weir_array_file *file = t->file;

    t->file = NULL;
    return file ? weir_arrays_close(file, err) : 0;
}

/* ---- a step: one level of a variable, or all of it ---- */

/* A step has new buffers, as in the originals: the time to make and touch them is a part of their
 * rates. Without memory for them the step takes those of the test, because other ranks wait. */
static int make_buffers(struct ckpt *t, struct weir_err *err)
{
    const uint64_t n = t->step_bytes / sizeof(float);
    float *p[2] = { NULL, NULL };
    int rc;

    if (t->o->keep_buffers || !t->ranks.is_leader)
        return 0;
    if (ckpt_take(&p[0], n, false, NULL) < 0 || ckpt_take(&p[1], n, false, NULL) < 0) {
        rc = weir_fail(err, WEIR_ESETUP, "memory for two buffers of %" PRIu64 " bytes", t->step_bytes);
        free(p[0]);
        return rc;
    }
    t->gathered = p[0];
    t->field = p[1];
    if (t->reads && !t->moves)
        for (uint64_t i = 0; i < n; i++)
            t->field[i] = (float)t->ranks.group.named;
    return 0;
}

static void drop_buffers(struct ckpt *t, uint64_t *clock_ns)
{
    if (t->gathered == t->kept[0])
        return;
    free(t->gathered);
    free(t->field);
    t->gathered = t->kept[0];
    t->field = t->kept[1];
    weir_clock_apart(&t->ns[CKPT_REORDER], clock_ns);
}

/* Write or read the block of the group; with 'skips' only take part. */
static int move_block(struct ckpt *t, struct weir_run *run, uint64_t i, bool skips,
                      uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_array *a = t->array[i / t->steps];
    uint64_t begin = *clock_ns, len = t->block.nx * t->block.ny * t->levels * sizeof(float);
    struct weir_slab none;
    int rc;

    if (!t->file || (skips && !t->access.collective))
        return 0;
    weir_slab_none(&none, 3);
    t->slab.start[0] = i % t->steps * t->levels;
    rc = weir_array_move(a, t->reads ? WEIR_DIR_READ : WEIR_DIR_WRITE, skips ? &none : &t->slab,
                         NULL, t->field, err);
    weir_clock_apart(&t->ns[CKPT_MOVE], clock_ns);
    if (rc < 0 || skips)
        return rc;
    weir_records_add(&run->records, OP_MOVE, begin, *clock_ns, i * len, len);
    run->counters.bytes += len;
    return 0;
}

static void reorder(struct ckpt *t, bool to_block)
{
    if (t->ranks.is_leader && t->field != t->gathered)
        weir_cube_reorder(&t->layout, t->ranks.peers.rank, t->levels, t->gathered, t->field,
                          to_block);
}

/* Gather the data of a step, or scatter what was read. */
static void exchange(struct ckpt *t, struct weir_run *run, uint64_t i, uint64_t *clock_ns)
{
    uint64_t begin = *clock_ns;

    if (t->reads)
        weir_patches_scatter(&t->patches, t->gathered, t->got);
    else
        weir_patches_gather(&t->patches, ckpt_patch(t, i), t->gathered);
    weir_clock_apart(&t->ns[CKPT_GATHER], clock_ns);
    weir_records_add(&run->records, OP_GATHER, begin, *clock_ns, WEIR_NO_OFFSET,
                     t->mine.nx * t->mine.ny * t->levels * sizeof(float));
}

static int write_round(struct ckpt *t, struct weir_run *run, uint64_t i, bool skips,
                       uint64_t *clock_ns, struct weir_err *err)
{
    int rc;

    exchange(t, run, i, clock_ns);
    if (t->o->barrier) {
        weir_barrier(&run->par); /* of the pattern */
        *clock_ns = weir_now_ns();
    }
    if (!t->ranks.is_leader)
        return 0;
    reorder(t, true);
    weir_clock_apart(&t->ns[CKPT_REORDER], clock_ns);
    rc = move_block(t, run, i, skips, clock_ns, err);
    drop_buffers(t, clock_ns);
    return rc;
}

static int read_round(struct ckpt *t, struct weir_run *run, uint64_t i, bool skips,
                      uint64_t *clock_ns, struct weir_err *err)
{
    int rc = 0;

    if (t->ranks.is_leader)
        rc = move_block(t, run, i, skips, clock_ns, err);
    reorder(t, false);
    weir_clock_apart(&t->ns[CKPT_REORDER], clock_ns);
    exchange(t, run, i, clock_ns);
    drop_buffers(t, clock_ns);
    if (t->o->barrier) {
        weir_barrier(&run->par); /* of the pattern */
        *clock_ns = weir_now_ns();
    }
    if (t->moves && rc == 0 && !skips) {
        ckpt_verify(t, run, i);
        weir_clock_apart(&t->ns[CKPT_VERIFY], clock_ns);
    }
    return rc;
}

/* ---- the phases ---- */

static int take_round(struct weir_run *run, struct ckpt *t, uint64_t round, bool idle,
                      uint64_t *clock_ns, struct weir_err *err)
{
    int made, rc;

    *clock_ns = weir_now_ns(); /* an agreement before the round is in no stage */
    made = make_buffers(t, err);
    weir_clock_apart(&t->ns[CKPT_REORDER], clock_ns);
    rc = (t->reads ? read_round : write_round)(t, run, round, idle || made < 0, clock_ns, err);
    return made < 0 ? made : rc;
}

static int step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                struct weir_err *err)
{
    const struct ckpt *t = state;
    int rc = take_round(run, state, i, false, clock_ns, err);

    if (rc == 0 && t->look.code != WEIR_OK) {
        *err = t->look;
        return -1;
    }
    return rc;
}

/* A rank that has failed still has its part in the messages of its group. */
static int idle(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns,
                struct weir_err *err)
{
    return take_round(run, state, round, true, clock_ns, err);
}

#define PHASE(k, ...)                                                                              \
    {                                                                                              \
        .key = (k), .unit = "steps", .flags = WEIR_PHASE_BYTES, .prepare = prepare,                \
        .count = count_steps, .operations = count_operations, .open = open_file,                   \
        .opened = look_at_file, .step = step, .idle = idle, .close = close_file, __VA_ARGS__       \
    }
#define STAGE(k, f, p)                                                                             \
    {                                                                                              \
        .key = (k), .flags = WEIR_STAGE_DELAY | (f), .phase = (p), .timing = set_timing,           \
        .after = ckpt_report_trial                                                                 \
    }

static const struct weir_phase write_phase = PHASE("write", .flush = flush_file);
static const struct weir_phase read_phase = PHASE("read", );

const struct weir_stage ckpt_write_stages[] = { STAGE("write", WEIR_STAGE_WRITES, &write_phase),
                                                { .key = NULL } };
const struct weir_stage ckpt_read_stages[] = { STAGE("read", WEIR_STAGE_READS, &read_phase),
                                               { .key = NULL } };
