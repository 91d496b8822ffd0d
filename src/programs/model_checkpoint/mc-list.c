/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-list.c - what each rank has of a model, as a table */
#include "programs/model_checkpoint/mc-shape.h"

#include <inttypes.h>

#include "base/text/columns.h"

#define S struct mc_sum

static const struct weir_col sum_columns[] = {
    COL_INT(S, rank, "rank", "Rank of the job", .head = "rank", .width = 8, .gap = 1),
    COL_INT(S, tp, "tp", "Its place in the tensor-parallel group", .head = "tp", .width = 4, .gap = 1),
    COL_INT(S, pp, "pp", "Its stage of the pipeline", .head = "pp", .width = 4, .gap = 1),
    COL_INT(S, dp, "dp", "Its place in the data-parallel group", .head = "dp", .width = 5, .gap = 1),
    COL_INT(S, ep, "ep", "Its share of the experts", .head = "ep", .width = 4, .gap = 1),
    COL_INT(S, tensors, "tensors", "Tensors that it writes, or parts of them", .head = "tensors", .width = 8, .gap = 1),
    COL_INT(S, parameters, "parameterBytes", "Bytes of parameters", .head = "params", .width = 16, .gap = 1),
    COL_INT(S, optimizer, "optimizerBytes", "Bytes of the state of the optimizer", .head = "optimizer", .width = 16,
            .gap = 1),
    COL_INT(S, bytes, "bytes", "Both", .head = "bytes", .width = 16, .gap = 1),
    COL_INT(S, largest, "largestPart", "Bytes of the largest part", .head = "largest", .width = 14),
    WEIR_COL_END
};

void mc_sum_rank(const struct mc_job *job, int rank, bool only_written, struct mc_sum *out)
{
    struct mc_place p = mc_job_place(job, rank);
    struct mc_parts it;
    struct mc_part part;

    *out = (struct mc_sum) { .rank = rank, .tp = p.tp, .pp = p.pp, .dp = p.dp, .ep = p.ep };
    mc_parts_begin(&it, job, rank, MC_ALL_STATES, only_written);
    while (mc_parts_next(&it, &part)) {
        int64_t bytes = (int64_t)mc_part_bytes(&part);

        out->tensors++;
        *(part.state == MC_PARAMETER ? &out->parameters : &out->optimizer) += bytes;
        out->largest = bytes > out->largest ? bytes : out->largest;
    }
    out->bytes = out->parameters + out->optimizer;
}

/* "[4096,14336]" */
static void add_pair(const char *title, const uint64_t v[2], int dims, struct weir_str *out)
{
    weir_str_addf(out, "%s[%" PRIu64, title, v[0]);
    if (dims > 1)
        weir_str_addf(out, ",%" PRIu64, v[1]);
    weir_str_addc(out, ']');
}

static void list_parts(const struct mc_job *job, int rank, struct weir_str *out)
{
    struct mc_parts it;
    struct mc_part p;

    mc_parts_begin(&it, job, rank, MC_ALL_STATES, true);
    while (mc_parts_next(&it, &p)) {
        weir_str_addf(out, "    ");
        mc_part_name(job, &p, out);
        add_pair(" ", p.len, p.dims, out);
        add_pair(" from ", p.start, p.dims, out);
        add_pair(" count ", p.count, p.dims, out);
        if (p.from > 0 || p.to < p.count[0] * p.count[1])
            weir_str_addf(out, " elements %" PRIu64 "-%" PRIu64, p.from, p.to - 1);
        weir_str_addf(out, " x %d = %" PRIu64 " bytes\n", p.elem, mc_part_bytes(&p));
    }
}

/* Write it and begin again. */
static bool put(struct weir_str *s, FILE *to)
{
    bool good = !s->failed && fwrite(s->text, 1, s->len, to) == s->len;

    weir_str_clear(s);
    return good;
}

bool mc_list(const struct mc_job *job, bool details, FILE *to)
{
    const struct mc_shape *s = &job->shape;
    const int64_t ranks = s->tp * s->pp * s->dp;
    int64_t bytes = 0, least = INT64_MAX, most = 0;
    struct weir_str out = { 0 };
    bool good;

    weir_col_heading(&out, sum_columns);
    weir_str_addc(&out, '\n');
    good = put(&out, to);
    for (int rank = 0; good && rank < ranks; rank++) {
        struct mc_sum sum;

        mc_sum_rank(job, rank, true, &sum);
        weir_col_text(&out, sum_columns, &sum);
        weir_str_addc(&out, '\n');
        if (details)
            list_parts(job, rank, &out);
        good = put(&out, to);
        bytes += sum.bytes;
        least = sum.bytes < least ? sum.bytes : least;
        most = sum.bytes > most ? sum.bytes : most;
    }
    weir_str_addf(&out, "all ranks: %" PRId64 " bytes of %" PRIu64 " parameters; a rank writes %" PRId64 " to %" PRId64 "\n",
                  bytes, mc_model_parameters(&job->model), least, most);
    good = good && put(&out, to) && fflush(to) == 0;
    weir_str_free(&out);
    return good;
}
