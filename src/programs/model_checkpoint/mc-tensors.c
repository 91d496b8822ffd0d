/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-tensors.c - the tensors of a model: names, shapes, order */
#include "programs/model_checkpoint/mc-shape.h"

#include <inttypes.h>

#include "base/size.h"

/* Lengths of dimensions. */
enum dim { ONE, HIDDEN, QUERIES, KEYS, FFN, VOCABULARY, POSITIONS, EXPERTS };

/* Traits of models; a tensor is there where the model has all of its traits. */
enum { ALWAYS, WITH_POSITIONS = 1 << 0, NORM_BIAS = 1 << 1, QKV_BIAS = 1 << 2, BIAS = 1 << 3, DENSE = 1 << 4, SPARSE = 1 << 5,
       GATED = 1 << 6, UNTIED = 1 << 7 };

struct row {
    const char *name;
    unsigned need;
    enum dim len[2];
    enum mc_split split;
};

/* Names are those of Llama and Mixtral at Hugging Face, as far as they have such a tensor; matrices are outputs x inputs. */
static const struct row first[] = {
    { "model.embed_tokens.weight", ALWAYS, { VOCABULARY, HIDDEN }, MC_VOCABULARY },
    { "model.embed_positions.weight", WITH_POSITIONS, { POSITIONS, HIDDEN }, MC_WHOLE },
};

static const struct row layer[] = {
    { "input_layernorm.weight", ALWAYS, { HIDDEN, ONE }, MC_WHOLE },
    { "input_layernorm.bias", NORM_BIAS, { HIDDEN, ONE }, MC_WHOLE },
    { "self_attn.q_proj.weight", ALWAYS, { QUERIES, HIDDEN }, MC_ROWS },
    { "self_attn.q_proj.bias", QKV_BIAS, { QUERIES, ONE }, MC_ROWS },
    { "self_attn.k_proj.weight", ALWAYS, { KEYS, HIDDEN }, MC_KV },
    { "self_attn.k_proj.bias", QKV_BIAS, { KEYS, ONE }, MC_KV },
    { "self_attn.v_proj.weight", ALWAYS, { KEYS, HIDDEN }, MC_KV },
    { "self_attn.v_proj.bias", QKV_BIAS, { KEYS, ONE }, MC_KV },
    { "self_attn.o_proj.weight", ALWAYS, { HIDDEN, QUERIES }, MC_COLUMNS },
    { "self_attn.o_proj.bias", BIAS, { HIDDEN, ONE }, MC_WHOLE },
    { "post_attention_layernorm.weight", ALWAYS, { HIDDEN, ONE }, MC_WHOLE },
    { "post_attention_layernorm.bias", NORM_BIAS, { HIDDEN, ONE }, MC_WHOLE },
    { "mlp.gate_proj.weight", DENSE | GATED, { FFN, HIDDEN }, MC_ROWS },
    { "mlp.gate_proj.bias", DENSE | GATED | BIAS, { FFN, ONE }, MC_ROWS },
    { "mlp.up_proj.weight", DENSE, { FFN, HIDDEN }, MC_ROWS },
    { "mlp.up_proj.bias", DENSE | BIAS, { FFN, ONE }, MC_ROWS },
    { "mlp.down_proj.weight", DENSE, { HIDDEN, FFN }, MC_COLUMNS },
    { "mlp.down_proj.bias", DENSE | BIAS, { HIDDEN, ONE }, MC_WHOLE },
    { "block_sparse_moe.gate.weight", SPARSE, { EXPERTS, HIDDEN }, MC_WHOLE },
};

static const struct row expert[] = {
    { "w1.weight", SPARSE | GATED, { FFN, HIDDEN }, MC_ROWS },
    { "w2.weight", SPARSE, { HIDDEN, FFN }, MC_COLUMNS },
    { "w3.weight", SPARSE, { FFN, HIDDEN }, MC_ROWS },
};

static const struct row last[] = {
    { "model.norm.weight", ALWAYS, { HIDDEN, ONE }, MC_WHOLE },
    { "model.norm.bias", NORM_BIAS, { HIDDEN, ONE }, MC_WHOLE },
    { "lm_head.weight", UNTIED, { VOCABULARY, HIDDEN }, MC_VOCABULARY },
};

#define COUNT(r) (sizeof(r) / sizeof((r)[0]))
#define ROWS(r) { (r), COUNT(r) }

static const struct {
    const struct row *row;
    size_t n;
} sections[MC_SECTIONS] = { ROWS(first), ROWS(layer), ROWS(expert), ROWS(last) };

_Static_assert(COUNT(first) <= MC_ROWS_MAX && COUNT(layer) <= MC_ROWS_MAX, "mc-shape.h");
_Static_assert(COUNT(expert) <= MC_ROWS_MAX && COUNT(last) <= MC_ROWS_MAX, "mc-shape.h");

static uint64_t length(const struct mc_model *m, enum dim dim)
{
    const int64_t len[] = { [ONE] = 1, [HIDDEN] = m->hidden, [QUERIES] = m->heads * m->head_dim,
                            [KEYS] = m->kv_heads * m->head_dim, [FFN] = m->ffn, [VOCABULARY] = m->vocabulary,
                            [POSITIONS] = m->positions, [EXPERTS] = m->experts };

    return (uint64_t)len[dim];
}

void mc_rows_of(const struct mc_model *m, struct mc_rows *rows)
{
    const unsigned is = (m->positions ? WITH_POSITIONS : 0) | (m->norm_bias ? NORM_BIAS : 0) |
                        (m->qkv_bias ? QKV_BIAS : 0) | (m->bias ? BIAS : 0) |
                        (m->experts ? SPARSE : DENSE) | (m->gated ? GATED : 0) | (m->tied ? 0 : UNTIED);

    for (int s = 0; s < MC_SECTIONS; s++) {
        rows->n[s] = 0;
        for (size_t i = 0; i < sections[s].n; i++)
            if (!(sections[s].row[i].need & ~is))
                rows->row[s][rows->n[s]++] = (unsigned char)i;
    }
}

static const struct row *row_of(const struct mc_rows *rows, const struct mc_tensor *t)
{
    return &sections[t->section].row[rows->row[t->section][t->row]];
}

/* ---- numbers: the first section, each layer with its experts, the last section ---- */

static uint64_t per_layer(const struct mc_model *m, const struct mc_rows *rows)
{
    return (uint64_t)rows->n[MC_LAYER] + (uint64_t)m->experts * (uint64_t)rows->n[MC_EXPERT];
}

uint64_t mc_tensors(const struct mc_model *m, const struct mc_rows *rows)
{
    return (uint64_t)(rows->n[MC_FIRST] + rows->n[MC_LAST]) + (uint64_t)m->layers * per_layer(m, rows);
}

void mc_tensor_get(const struct mc_model *m, const struct mc_rows *rows, enum mc_section section, int64_t layer_of,
                   int64_t expert_of, int row, struct mc_tensor *out)
{
    uint64_t number = (uint64_t)row;
    const struct row *r;

    *out = (struct mc_tensor) { .section = section, .row = row, .layer = layer_of, .expert = expert_of };
    r = row_of(rows, out);
    out->split = r->split;
    out->dims = r->len[1] == ONE ? 1 : 2;
    for (int d = 0; d < 2; d++)
        out->len[d] = length(m, r->len[d]);
    if (section != MC_FIRST)
        number += (uint64_t)rows->n[MC_FIRST];
    if (section == MC_LAST)
        number += (uint64_t)m->layers * per_layer(m, rows);
    if (section == MC_LAYER || section == MC_EXPERT)
        number += (uint64_t)layer_of * per_layer(m, rows);
    if (section == MC_EXPERT)
        number += (uint64_t)rows->n[MC_LAYER] + (uint64_t)expert_of * (uint64_t)rows->n[MC_EXPERT];
    out->number = number;
}

void mc_tensor_at(const struct mc_model *m, const struct mc_rows *rows, uint64_t number, struct mc_tensor *out)
{
    const uint64_t first_n = (uint64_t)rows->n[MC_FIRST], layer_n = (uint64_t)rows->n[MC_LAYER], all = per_layer(m, rows);
    const uint64_t past_first = number - first_n, of_layer = past_first % all, of_expert = of_layer - layer_n;
    const int64_t layer_of = (int64_t)(past_first / all);

    if (number < first_n)
        mc_tensor_get(m, rows, MC_FIRST, 0, 0, (int)number, out);
    else if (layer_of >= m->layers)
        mc_tensor_get(m, rows, MC_LAST, 0, 0, (int)(past_first - (uint64_t)m->layers * all), out);
    else if (of_layer < layer_n)
        mc_tensor_get(m, rows, MC_LAYER, layer_of, 0, (int)of_layer, out);
    else
        mc_tensor_get(m, rows, MC_EXPERT, layer_of, (int64_t)(of_expert / (uint64_t)rows->n[MC_EXPERT]),
                      (int)(of_expert % (uint64_t)rows->n[MC_EXPERT]), out);
}

void mc_tensor_name(const struct mc_rows *rows, const struct mc_tensor *t, struct weir_str *out)
{
    if (t->section == MC_LAYER || t->section == MC_EXPERT)
        weir_str_addf(out, "model.layers.%" PRId64 ".", t->layer);
    if (t->section == MC_EXPERT)
        weir_str_addf(out, "block_sparse_moe.experts.%" PRId64 ".", t->expert);
    weir_str_addf(out, "%s", row_of(rows, t)->name);
}

uint64_t mc_model_parameters(const struct mc_model *m)
{
    struct mc_rows rows;
    uint64_t sum = 0;

    mc_rows_of(m, &rows);
    for (int s = 0; s < MC_SECTIONS; s++) {
        uint64_t times = s == MC_LAYER || s == MC_EXPERT ? (uint64_t)m->layers : 1;

        if (s == MC_EXPERT)
            times *= (uint64_t)m->experts;
        for (int i = 0; i < rows.n[s]; i++) {
            struct mc_tensor t;

            mc_tensor_get(m, &rows, s, 0, 0, i, &t);
            sum = weir_sum(sum, weir_product(times, weir_product(t.len[0], t.len[1])));
        }
    }
    return sum;
}
