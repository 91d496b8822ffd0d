/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-reshard.c - from where a rank of one shape gets its parts when another shape was saved */
#include "programs/model_checkpoint/mc-shape.h"

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- pieces ---- */

/* The rows of the tensor in which a part has elements: from *row up to *rows. */
static void limit_rows(const struct mc_part *p, uint64_t *row, uint64_t *rows)
{
    if (p->to <= p->from) {
        *rows = *row;
        return;
    }
    *row = most(*row, p->start[0] + p->from / p->count[1]);
    *rows = mc_least(*rows, p->start[0] + (p->to - 1) / p->count[1] + 1);
}

void mc_pieces_begin(struct mc_pieces *it, const struct mc_part *have, const struct mc_part *need)
{
    uint64_t end = mc_least(have->start[1] + have->count[1], need->start[1] + need->count[1]);

    *it = (struct mc_pieces) { .have = have, .need = need, .rows = UINT64_MAX };
    limit_rows(have, &it->row, &it->rows);
    limit_rows(need, &it->row, &it->rows);
    it->column = most(have->start[1], need->start[1]);
    it->width = end > it->column ? end - it->column : 0;
    if (it->width == 0)
        it->rows = it->row;
}

/* Return the place of the coming run of 'len' elements in a part, cut to the elements that the
 * part has. Both *at and *end are relative to the begin of the run. */
static uint64_t place(const struct mc_part *p, const struct mc_pieces *it, uint64_t len, uint64_t *at, uint64_t *end)
{
    uint64_t begin = (it->row - p->start[0]) * p->count[1] + it->column - p->start[1];

    *at = most(*at, p->from > begin ? p->from - begin : 0);
    *end = mc_least(*end, p->to > begin ? mc_least(p->to - begin, len) : 0);
    return begin - p->from; /* may be below 0, until *at is added */
}

bool mc_pieces_next(struct mc_pieces *it, uint64_t *at_have, uint64_t *at_need, uint64_t *len)
{
    const uint64_t elem = (uint64_t)it->need->elem;

    while (it->row < it->rows) {
        /* Rows that are whole in both lie together */
        bool is_whole = it->width == it->have->count[1] && it->width == it->need->count[1];
        uint64_t rows = is_whole ? it->rows - it->row : 1, at = 0, end = rows * it->width, have, need;

        have = place(it->have, it, rows * it->width, &at, &end);
        need = place(it->need, it, rows * it->width, &at, &end);
        it->row += rows;
        if (at >= end)
            continue;
        *at_have = (have + at) * elem;
        *at_need = (need + at) * elem;
        *len = (end - at) * elem;
        return true;
    }
    return false;
}

int mc_part_boxes(const struct mc_part *p, struct weir_slab out[3])
{
    const uint64_t width = p->count[1];
    uint64_t at = p->from;
    int n = 0;

    while (at < p->to) {
        uint64_t column = at % width, len = p->to - at;
        uint64_t rows = column > 0 || len < width ? 1 : len / width;
        uint64_t columns = rows > 1 || len >= width - column ? width - column : len;
        const uint64_t start[2] = { p->start[0] + at / width, p->start[1] + column }, count[2] = { rows, columns };

        weir_slab_box(&out[n++], p->dims, start, count);
        at += rows * columns;
    }
    return n;
}

/* ---- sources ---- */

void mc_sources_begin(struct mc_sources *it, const struct mc_job *saved, const struct mc_part *need)
{
    struct mc_share share;

    *it = (struct mc_sources) { .saved = saved, .need = *need };
    mc_tensor_at(&saved->model, &saved->rows, need->tensor, &it->tensor);
    it->stage = mc_job_stage(saved, &it->tensor);
    mc_job_share(saved, &it->tensor, need->state, it->stage, 0, &share);
    it->repeat = share.repeat;
    it->slice = need->start[share.dim] / share.step;
    it->slices = (need->start[share.dim] + need->count[share.dim] - 1) / share.step + 1;
    if (need->to <= need->from)
        it->slices = it->slice;
}

/* The data-parallel ranks that may have something of the need in the slice: those between the first and the last element. */
static void find_copies(struct mc_sources *it, const struct mc_share *share, const struct mc_part *slice)
{
    struct mc_part all = *slice;
    struct mc_pieces pieces;
    uint64_t begin, end;

    it->copy = (uint64_t)share->writer;
    it->copies = it->copy + 1;
    if (!share->divided)
        return;
    all.from = 0;
    all.to = all.count[0] * all.count[1];
    mc_pieces_begin(&pieces, &all, &it->need);
    it->copies = it->copy;
    if (pieces.row >= pieces.rows)
        return;
    begin = (pieces.row - all.start[0]) * all.count[1] + pieces.column - all.start[1];
    end = (pieces.rows - 1 - all.start[0]) * all.count[1] + pieces.column - all.start[1] + pieces.width;
    it->copy = (share->before + begin) / share->chunk;
    it->copies = (share->before + end - 1) / share->chunk + 1;
}

/* Count the needed bytes of the part. false: none is needed. */
static bool measure(const struct mc_part *need, struct mc_source *out)
{
    struct mc_pieces pieces;
    uint64_t at, to, len;

    out->bytes = 0;
    mc_pieces_begin(&pieces, &out->part, need);
    while (mc_pieces_next(&pieces, &at, &to, &len))
        out->bytes += len;
    return out->bytes > 0;
}

bool mc_sources_next(struct mc_sources *it, struct mc_source *out)
{
    const struct mc_job *job = it->saved;

    while (it->slice < it->slices) {
        int64_t tp = (int64_t)it->slice * it->repeat, dp;
        struct mc_share share;

        mc_job_share(job, &it->tensor, it->need.state, it->stage, tp, &share);
        mc_job_part(job, &it->tensor, it->need.state, &share, it->stage, tp, 0, &out->part);
        if (it->copies == 0)
            find_copies(it, &share, &out->part);
        if (it->copy >= it->copies) {
            it->copies = 0;
            it->slice++;
            continue;
        }
        mc_job_part(job, &it->tensor, it->need.state, &share, it->stage, tp, (int64_t)it->copy, &out->part);
        dp = (int64_t)it->copy++;
        if (it->tensor.section == MC_EXPERT)
            dp = dp * job->shape.ep + it->tensor.expert / (job->model.experts / job->shape.ep);
        out->rank = (int)(tp + job->shape.tp * (dp + job->shape.dp * it->stage));
        if (measure(&it->need, out))
            return true;
    }
    return false;
}
