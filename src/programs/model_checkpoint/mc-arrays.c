/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-arrays.c - the layout of one file of arrays. Each tensor is an array of HDF5, of which a
 * rank writes its box. It reads the box that it needs in any shape */
#include "programs/model_checkpoint/mc.h"

#include <stdlib.h>

#include "backends/session/session-array.h"
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
    *memory += mc_aligned(at, MC_ARRAYS_ALIGN);
    return 0;
}

/* ---- the file ---- */

static size_t index_of(const struct mc_job *job, enum mc_state state, uint64_t tensor)
{
    return (size_t)((uint64_t)state * mc_tensors(&job->model, &job->rows) + tensor);
}

static const struct mc_job *job_of(const struct mc_test *t, bool saves)
{
    return saves ? &t->job : &t->load.meta.job;
}

/* All arrays that the job has; loading: those of the states that are loaded. */
static int open_all(struct mc_test *t, bool saves, struct weir_err *err)
{
    const struct mc_job *job = job_of(t, saves);
    uint64_t n = mc_tensors(&job->model, &job->rows);
    unsigned states = saves ? MC_ALL_STATES : t->load.states;
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
        rc = weir_array_open(t->arrays.file, weir_str_text(&name), saves, &spec,
                             &t->arrays.array[i], err);
    }
    weir_str_free(&name);
    return rc < 0 || !saves ? rc : weir_arrays_commit(t->arrays.file, err);
}

int mc_arrays_reserve(struct mc_test *t, bool saves, struct weir_err *err)
{
    free(t->arrays.array);
    t->arrays.array = calloc(index_of(job_of(t, saves), MC_STATES, 0), sizeof(struct weir_array *));
    return t->arrays.array ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for the arrays of a checkpoint");
}

int mc_arrays_open(struct mc_test *t, bool saves, struct weir_err *err)
{
    const unsigned make = WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC;
    const char *path = mc_path(t, weir_str_text(saves ? &t->pub.staged : &t->load.from), MC_ARRAYS_FILE, err);

    if (!path || weir_arrays_open(&t->session, path, saves ? make : WEIR_OPEN_READ, &t->arrays.file, err) < 0)
        return -1;
    if (open_all(t, saves, err) == 0)
        return 0;
    mc_arrays_close(t, NULL);
    return -1;
}

int mc_arrays_close(struct mc_test *t, struct weir_err *err)
{
    struct weir_array_file *file = t->arrays.file;

    t->arrays.file = NULL;
    return file ? weir_arrays_close(file, err) : 0;
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

int mc_arrays_move(struct weir_run *run, struct mc_test *t, bool saves, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    const struct mc_plan *plan = saves ? &t->save.plan : &t->load.plan;
    const struct mc_move *m = &plan->move[i];
    const struct mc_part *p = &plan->part[m->part];
    struct weir_array *a = t->arrays.array[index_of(job_of(t, saves), p->state, p->tensor)];
    struct weir_slab box = box_at(p, m->at);
    char *memory = t->memory.at + m->memory;
    enum mc_operation op = saves ? MC_WRITE : MC_READ;
    uint64_t begin_ns = *clock_ns;
    int rc = weir_array_move(a, saves ? WEIR_DIR_WRITE : WEIR_DIR_READ, &box, NULL, memory, err);

    *clock_ns = weir_now_ns();
    if (rc < 0) {
        weir_operation_add_failed(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, err);
        return -1;
    }
    run->counters.bytes += m->len;
    weir_operation_add(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, m->len);
    return 0;
}
