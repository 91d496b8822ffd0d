/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-arrays.c - the layout of one file of arrays: each tensor is an array of HDF5, netCDF or another backend that has
 * them, of which a rank writes its box, and reads the box that it needs in any shape */
#include "config.h"
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <stdlib.h>
#include <string.h>

#include "backends/session/session-array.h"
#include "engine/observer.h"
#include "engine/transfer.h"

/* ---- boxes ---- */

/* Elements of two bytes are pairs of bytes: there is no other type for them. */
static struct weir_array_spec spec_of(const struct mc_part *whole)
{
    struct weir_array_spec s = { .type = { .elem = whole->elem == 4 ? WEIR_ELEM_FLOAT32 : WEIR_ELEM_BYTE } };
    int last = whole->dims - 1;

    s.shape.rank = whole->dims;
    memcpy(s.shape.len, whole->len, sizeof(whole->len));
    if (whole->elem != 4)
        s.shape.len[last] *= (uint64_t)whole->elem;
    return s;
}

/* The boxes of a part in elements of its array, each with its bytes. Returns their number. */
static int boxes_of(const struct mc_part *p, struct weir_slab box[3], uint64_t bytes[3])
{
    int n = mc_part_boxes(p, box), last = p->dims - 1;

    for (int i = 0; i < n; i++) {
        uint64_t elements = 1, wide = p->elem == 4 ? 1 : (uint64_t)p->elem;

        for (int d = 0; d < p->dims; d++)
            elements *= box[i].count[d] * box[i].block[d];
        bytes[i] = elements * (uint64_t)p->elem;
        if (wide > 1) { /* blocks or counts of 1, whichever the box has */
            box[i].start[last] *= wide;
            box[i].block[last] *= box[i].count[last] * wide;
            box[i].count[last] = 1;
            box[i].stride[last] = box[i].block[last];
        }
    }
    return n;
}

int mc_arrays_plan(struct mc_plan *p, const struct mc_part *part, uint64_t *memory, struct weir_err *err)
{
    struct weir_slab box[3];
    uint64_t bytes[3], at = 0;
    int n = boxes_of(part, box, bytes);

    if (mc_plan_part(p, part, err) < 0)
        return -1;
    for (int i = 0; i < n; at += bytes[i++]) {
        if (mc_plan_moves(p, 0, (uint32_t)p->parts - 1, at, at + bytes[i], 0, bytes[i], err) < 0)
            return -1;
        p->move[p->moves - 1].memory = p->move[p->moves - 1].off = *memory + at;
    }
    *memory += mc_aligned(at, 64);
    return 0;
}

/* ---- the file ---- */

static size_t index_of(const struct mc_job *job, enum mc_state state, uint64_t tensor)
{
    return (size_t)((uint64_t)state * mc_tensors(&job->model, &job->rows) + tensor);
}

/* All arrays that the job has; loading: those of the states that are loaded. */
static int open_arrays(struct mc_test *t, const struct mc_job *job, unsigned states, bool makes, struct weir_err *err)
{
    uint64_t n = mc_tensors(&job->model, &job->rows);
    struct weir_str name = { 0 };
    struct mc_part whole;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < n * MC_STATES; i++) {
        enum mc_state state = (enum mc_state)(i / n);
        struct weir_array_spec spec;

        if (!(states & 1u << state) || !mc_job_whole(job, state, i % n, &whole))
            continue;
        spec = spec_of(&whole);
        weir_str_clear(&name);
        mc_part_name(job, &whole, &name);
        rc = makes ? weir_array_make(t->arrays, weir_str_text(&name), &spec, &t->array[i], err)
                   : weir_array_open(t->arrays, weir_str_text(&name), &spec, &t->array[i], err);
    }
    weir_str_free(&name);
    return rc < 0 || !makes ? rc : weir_arrays_commit(t->arrays, err);
}

static int open_file(struct mc_test *t, const struct mc_job *job, unsigned states, const char *dir, unsigned flags,
                     struct weir_err *err)
{
    weir_str_clear(&t->in_name);
    weir_str_addf(&t->in_name, "%s/%s", dir, MC_ARRAYS_FILE);
    if (weir_arrays_open(&t->session, weir_str_text(&t->in_name), flags, &t->arrays, err) < 0)
        return -1;
    if (open_arrays(t, job, states, (flags & WEIR_OPEN_CREATE) != 0, err) == 0)
        return 0;
    weir_arrays_close(t->arrays, NULL);
    t->arrays = NULL;
    return -1;
}

/* Memory for the arrays, before anything is opened. */
static int reserve(struct mc_test *t, const struct mc_job *job, struct weir_err *err)
{
    free(t->array);
    t->array = calloc(index_of(job, MC_STATES, 0), sizeof(struct weir_array *));
    return t->array ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for the arrays of a checkpoint");
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct weir_array_file *file = t->arrays;

    (void)run;
    t->arrays = NULL;
    return file ? weir_arrays_close(file, err) : 0;
}

void mc_arrays_timing(const void *state, const struct weir_stage *stage, struct weir_timing *timing)
{
    (void)state;
    (void)stage;
    timing->collective_open = timing->collective_flush = true;
}

/* ---- transfers ---- */

/* The box of a transfer: the one that begins at its place in the part. */
static struct weir_slab box_at(const struct mc_part *p, uint64_t at)
{
    struct weir_slab box[3];
    uint64_t bytes[3], sum = 0;
    int n = boxes_of(p, box, bytes), i = 0;

    while (i < n - 1 && sum < at)
        sum += bytes[i++];
    return box[i];
}

static int move(struct weir_run *run, struct mc_test *t, const struct mc_job *job, const struct mc_plan *plan, uint64_t i,
                char *memory,
                enum mc_operation op, uint64_t *clock_ns, struct weir_err *err)
{
    const struct mc_move *m = &plan->move[i];
    const struct mc_part *p = &plan->part[m->part];
    struct weir_array *a = t->array[index_of(job, p->state, p->tensor)];
    struct weir_slab box = box_at(p, m->at);
    uint64_t begin_ns = *clock_ns;
    int rc = op == MC_WRITE ? weir_array_put(a, &box, NULL, memory + m->memory, err) : weir_array_get(a, &box, NULL,
        memory + m->memory, err);

    *clock_ns = weir_now_ns();
    if (rc < 0) {
        weir_operation_add_failed(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, err);
        return -1;
    }
    run->counters.bytes += m->len;
    weir_operation_add(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, m->len);
    return 0;
}

/* ---- save ---- */

static int prepare_save(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)run;
    return reserve(t, &t->job, err);
}

static uint64_t count_save(struct weir_run *run, void *state)
{
    (void)run;
    return ((struct mc_test *)state)->save.moves;
}

static int open_save(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)run;
    return open_file(t, &t->job, MC_ALL_STATES, weir_str_text(&t->staged),
                     WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, err);
}

/* Nothing is in flight: while a transfer is on its way, the work stands still. */
static int step_save(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = *clock_ns;
    int rc = move(run, t, &t->job, &t->save, i, t->async ? t->copy : t->memory, MC_WRITE, clock_ns, err);

    if (t->work_left_ns > 0)
        t->times.own_ns[MC_BLOCKED] += *clock_ns - begin_ns;
    return rc;
}

static int flush_save(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = weir_arrays_sync(t->arrays, err);

    (void)run;
    if (t->work_left_ns > 0)
        t->times.own_ns[MC_BLOCKED] += weir_now_ns() - begin_ns;
    return rc;
}

const struct weir_phase mc_save_arrays = {
    .key = "save",
    .flags = WEIR_PHASE_BYTES | WEIR_PHASE_BARRIERS,
    .prepare = prepare_save,
    .count = count_save,
    .open = open_save,
    .step = step_save,
    .flush = flush_save,
    .close = close_file,
};

/* ---- load ---- */

static int prepare_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    mc_load_prepare(t);
    (void)run;
    return reserve(t, &t->meta.job, err);
}

static uint64_t count_load(struct weir_run *run, void *state)
{
    (void)run;
    return ((struct mc_test *)state)->load.moves;
}

static int open_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = open_file(t, &t->meta.job, t->states, weir_str_text(&t->from), WEIR_OPEN_READ, err);

    (void)run;
    t->opens++;
    t->metadata_ns += weir_now_ns() - begin_ns;
    return rc;
}

static int step_load(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;

    t->read += t->load.move[i].len;
    return move(run, t, &t->meta.job, &t->load, i, t->memory, MC_READ, clock_ns, err);
}

const struct weir_phase mc_load_arrays = {
    .key = "load",
    .flags = WEIR_PHASE_BYTES | WEIR_PHASE_BARRIERS,
    .prepare = prepare_load,
    .count = count_load,
    .open = open_load,
    .step = step_load,
    .close = close_file,
};
