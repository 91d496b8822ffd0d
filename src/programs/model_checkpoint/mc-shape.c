/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-shape.c - the ranks of a training job: which tensors each has, and which part of them */
#include "programs/model_checkpoint/mc-shape.h"

static uint64_t divide_up(uint64_t n, uint64_t by)
{
    return (n + by - 1) / by;
}

struct mc_place mc_job_place(const struct mc_job *job, int rank)
{
    const struct mc_shape *s = &job->shape;
    int64_t dp = rank / s->tp % s->dp;

    return (struct mc_place) { .tp = rank % s->tp, .dp = dp, .pp = rank / (s->tp * s->dp), .ep = dp % s->ep };
}

/* ---- stages of the pipeline ---- */

/* The first layer of a stage; of one past the last stage: the number of layers. Those in the middle
 * have one more, as the first and the last one have the embedding and the output, too. */
static int64_t first_layer(const struct mc_job *job, int64_t stage)
{
    const int64_t pp = job->shape.pp, all = job->model.layers / pp, more = job->model.layers % pp;
    const int64_t from = (pp - more) / 2, before = stage > from ? stage - from : 0;

    return stage * all + (before < more ? before : more);
}

int64_t mc_job_stage(const struct mc_job *job, const struct mc_tensor *t)
{
    int64_t stage = 0, end = job->shape.pp;

    if (t->section == MC_LAST)
        return end - 1;
    while (end - stage > 1) {
        int64_t middle = stage + (end - stage) / 2;

        *(first_layer(job, middle) <= t->layer ? &stage : &end) = middle;
    }
    return stage;
}

/* The number of the first tensor of a stage; of one past the last stage: the number of tensors. */
static uint64_t first_tensor(const struct mc_job *job, int64_t stage)
{
    struct mc_tensor t;

    if (stage == 0 || stage == job->shape.pp)
        return stage == 0 ? 0 : mc_tensors(&job->model, &job->rows);
    mc_tensor_get(&job->model, &job->rows, MC_LAYER, first_layer(job, stage), 0, 0, &t);
    return t.number;
}

/* ---- slices of a tensor-parallel group ---- */

static void find_slices(const struct mc_job *job, const struct mc_tensor *t, struct mc_share *out)
{
    const struct mc_model *m = &job->model;
    const int64_t tp = job->shape.tp;
    uint64_t unit;

    out->dim = t->split == MC_COLUMNS;
    out->repeat = 1;
    out->step = t->len[out->dim] / (uint64_t)tp;
    if (t->split == MC_WHOLE) {
        out->step = t->len[0];
        out->repeat = tp;
    } else if (t->split == MC_KV && tp > m->kv_heads) {
        out->step = (uint64_t)m->head_dim;
        out->repeat = tp / m->kv_heads;
    } else if (t->split == MC_VOCABULARY) {
        unit = (uint64_t)(m->vocabulary_multiple * tp);
        out->step = divide_up(t->len[0], unit) * unit / (uint64_t)tp;
    }
}

/* The box of a tensor-parallel rank, and its elements. */
static uint64_t slice(const struct mc_tensor *t, const struct mc_share *share, int64_t tp, struct mc_part *out)
{
    const int d = share->dim;
    uint64_t at = (uint64_t)(tp / share->repeat) * share->step;

    for (int i = 0; i < 2; i++) {
        out->len[i] = out->count[i] = t->len[i];
        out->start[i] = 0;
    }
    out->start[d] = mc_least(at, t->len[d]);
    out->count[d] = mc_least(at + share->step, t->len[d]) - out->start[d];
    return out->count[0] * out->count[1];
}

/* ---- what is divided over data-parallel ranks: all elements of a stage, one tensor after the other ---- */

/* The elements of the first n rows of a section that a tensor-parallel rank has. */
static uint64_t section_elements(const struct mc_job *job, enum mc_section section, int n, int64_t tp)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++) {
        struct mc_tensor t;
        struct mc_share share;
        struct mc_part box;

        mc_tensor_get(&job->model, &job->rows, section, 0, 0, i, &t);
        find_slices(job, &t, &share);
        sum += slice(&t, &share, tp, &box);
    }
    return sum;
}

static bool copies_embedding(const struct mc_job *job, int64_t stage)
{
    return job->model.tied && job->shape.pp > 1 && stage == job->shape.pp - 1;
}

/* Elements of experts that a rank has, and those before the tensor. */
static uint64_t expert_elements(const struct mc_job *job, const struct mc_tensor *t, int64_t stage, int64_t tp,
                                uint64_t *before)
{
    const int64_t mine = job->model.experts / job->shape.ep, begin = first_layer(job, stage);
    const uint64_t one = section_elements(job, MC_EXPERT, job->rows.n[MC_EXPERT], tp);

    *before = (uint64_t)((t->layer - begin) * mine + t->expert % mine) * one +
              section_elements(job, MC_EXPERT, t->row, tp);
    return (uint64_t)((first_layer(job, stage + 1) - begin) * mine) * one;
}

/* As expert_elements, for what all data-parallel ranks have. */
static uint64_t common_elements(const struct mc_job *job, const struct mc_tensor *t, int64_t stage, int64_t tp,
                                uint64_t *before)
{
    const int *n = job->rows.n;
    const int64_t begin = first_layer(job, stage), end = first_layer(job, stage + 1);
    uint64_t sum[MC_SECTIONS] = { 0 }, layer = section_elements(job, MC_LAYER, n[MC_LAYER], tp), all;

    sum[MC_FIRST] = stage == 0 ? section_elements(job, MC_FIRST, n[MC_FIRST], tp) : 0;
    sum[MC_LAYER] = (uint64_t)(end - begin) * layer;
    sum[MC_LAST] = stage == job->shape.pp - 1 ? section_elements(job, MC_LAST, n[MC_LAST], tp) : 0;
    all = sum[MC_FIRST] + sum[MC_LAYER] + sum[MC_LAST];
    *before = section_elements(job, t->section, t->row, tp);
    if (t->section == MC_LAYER)
        *before += sum[MC_FIRST] + (uint64_t)(t->layer - begin) * layer;
    if (t->section == MC_LAST)
        *before += sum[MC_FIRST] + sum[MC_LAYER];
    if (copies_embedding(job, stage)) {
        *before = t->section == MC_FIRST ? all : *before;
        all += section_elements(job, MC_FIRST, 1, tp);
    }
    return all;
}

void mc_job_share(const struct mc_job *job, const struct mc_tensor *t, enum mc_state state, int64_t stage, int64_t tp,
                  struct mc_share *out)
{
    const struct mc_shape *s = &job->shape;
    const bool is_expert = t->section == MC_EXPERT;
    struct mc_part box;
    uint64_t n, all;

    *out = (struct mc_share) { .copies = is_expert ? s->dp / s->ep : s->dp };
    find_slices(job, t, out);
    n = slice(t, out, tp, &box);
    out->divided = s->zero == 3 || (s->zero > 0 && state != MC_PARAMETER);
    if (s->zero == 3) {
        out->chunk = divide_up(n, (uint64_t)out->copies);
    } else if (out->divided || s->spread) {
        all = is_expert ? expert_elements(job, t, stage, tp, &out->before) : common_elements(job, t, stage, tp, &out->before);
        out->chunk = divide_up(all, (uint64_t)out->copies);
        if (!out->divided && out->chunk > 0) /* where the middle of the tensor is */
            out->writer = (int64_t)((out->before + n / 2) / out->chunk);
    }
    if (out->writer >= out->copies)
        out->writer = out->copies - 1;
}

/* ---- parts ---- */

void mc_job_part(const struct mc_job *job, const struct mc_tensor *t, enum mc_state state, const struct mc_share *share,
                 int64_t stage, int64_t tp, int64_t copy, struct mc_part *out)
{
    uint64_t n, at = (uint64_t)copy * share->chunk;

    out->state = state;
    out->tensor = t->number;
    out->elem = job->bytes[state];
    out->dims = t->dims;
    n = slice(t, share, tp, out);
    out->from = 0;
    out->to = n;
    if (share->divided) {
        out->from = mc_least(at > share->before ? at - share->before : 0, n);
        out->to = mc_least(at + share->chunk > share->before ? at + share->chunk - share->before : 0, n);
    }
    out->writes = (share->divided || copy == share->writer) && tp % share->repeat == 0 && stage == mc_job_stage(job, t);
}

bool mc_job_whole(const struct mc_job *job, enum mc_state state, uint64_t tensor, struct mc_part *out)
{
    static const struct mc_share whole = { .step = UINT64_MAX, .repeat = 1 };
    struct mc_tensor t;

    if (job->bytes[state] == 0 || tensor >= mc_tensors(&job->model, &job->rows))
        return false;
    mc_tensor_at(&job->model, &job->rows, tensor, &t);
    mc_job_part(job, &t, state, &whole, mc_job_stage(job, &t), 0, 0, out);
    return true;
}

void mc_part_name(const struct mc_job *job, const struct mc_part *p, struct weir_str *out)
{
    static const char *const before[MC_STATES] = { "", "optimizer.state.fp32_param.", "optimizer.state.exp_avg.",
                                                   "optimizer.state.exp_avg_sq." };
    struct mc_tensor t;

    mc_tensor_at(&job->model, &job->rows, p->tensor, &t);
    weir_str_addf(out, "%s", before[p->state]);
    mc_tensor_name(&job->rows, &t, out);
}

/* Take the coming tensor of the stage, of which the copy of the embedding is the last. False: it is
 * an expert of other ranks. */
static bool take(struct mc_parts *it, struct mc_tensor *out)
{
    const struct mc_job *job = it->job;
    uint64_t number = it->at++;

    mc_tensor_at(&job->model, &job->rows, number < it->end ? number : 0, out);
    return out->section != MC_EXPERT ||
           out->expert / (job->model.experts / job->shape.ep) == it->place.ep;
}

void mc_parts_begin(struct mc_parts *it, const struct mc_job *job, int rank, unsigned states, bool only_written)
{
    const struct mc_place p = mc_job_place(job, rank);
    const uint64_t begin = first_tensor(job, p.pp), end = first_tensor(job, p.pp + 1);

    *it = (struct mc_parts) { job, p, states, only_written, 0, begin, begin, end };
}

bool mc_parts_next(struct mc_parts *it, struct mc_part *out)
{
    const struct mc_place *p = &it->place;
    const uint64_t end = it->end + copies_embedding(it->job, p->pp);

    for (; it->state < MC_STATES; it->state++, it->at = it->begin) {
        if (!(it->states & 1u << it->state) || it->job->bytes[it->state] == 0)
            continue;
        while (it->at < end) {
            struct mc_tensor t;
            struct mc_share share;

            if (!take(it, &t))
                continue;
            mc_job_share(it->job, &t, (enum mc_state)it->state, p->pp, p->tp, &share);
            mc_job_part(it->job, &t, (enum mc_state)it->state, &share, p->pp, p->tp,
                        t.section == MC_EXPERT ? p->dp / it->job->shape.ep : p->dp, out);
            if (out->to > out->from && (out->writes || !it->only_written))
                return true;
        }
    }
    return false;
}

uint64_t mc_parts_bytes(const struct mc_job *job, int rank, unsigned states, bool only_written,
                        uint64_t align)
{
    uint64_t bytes = 0;
    struct mc_parts it;
    struct mc_part p;

    mc_parts_begin(&it, job, rank, states, only_written);
    while (mc_parts_next(&it, &p))
        bytes += mc_aligned(mc_part_bytes(&p), align);
    return bytes;
}
