/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_shape.c - model_checkpoint: models, shapes of jobs, and the pieces that another shape needs */
#include "programs/model_checkpoint/mc-shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static struct mc_model model_of(const char *name)
{
    struct mc_model m;

    assert_int_equal(mc_model_row(name, &m, NULL), 0);
    return m;
}

static int read_model(const char *text, struct weir_arena *arena, struct mc_model *m, struct weir_err *err)
{
    *err = (struct weir_err) WEIR_ERR_INIT;
    return mc_model_read(text, strlen(text), "dir/my.model", 0, arena, m, err);
}

/* ---- models ---- */

static void test_the_tensors_of_a_row_have_the_published_number_of_parameters(void **state)
{
    static const struct {
        const char *name;
        uint64_t parameters;
    } published[] = {
        { "llama3-8b", 8030261248 },      { "LLAMA3-70B", 70553706496 },   { "llama3-405b", 405853388800 },
        { "llama3-1t", 1183194060048 },   { "gpt3-175b", 174604259328 },  { "mixtral-8x7b", 46702792704 },
    };
    int n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        struct mc_model m = model_of(published[i].name);
        struct mc_job job;
        struct mc_shape shape = { .tp = 1, .pp = 1, .ep = 1 };
        struct mc_sum sum;

        assert_int_equal(mc_model_parameters(&m), published[i].parameters);
        assert_int_equal(mc_job_init(&job, &m, &shape, "bf16", "adam", 1, NULL), 0);
        mc_sum_rank(&job, 0, true, &sum);
        assert_int_equal(sum.parameters, 2 * published[i].parameters);
        assert_int_equal(sum.optimizer, 12 * published[i].parameters);
        assert_int_equal(sum.tensors, 4 * mc_tensors(&m, &job.rows));
    }
    while (mc_model_names[n])
        model_of(mc_model_names[n++]);
    assert_int_equal(n, sizeof(published) / sizeof(published[0]));
}

static void test_an_unknown_model_is_refused_with_the_nearest_name(void **state)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct mc_model m;

    (void)state;
    assert_int_equal(mc_model_row("llama3-80b", &m, &err), -1);
    assert_non_null(strstr(err.text, "neither a model nor a file 'llama3-80b' (did you mean 'llama3-8b'?)"));
}

#define SMALL "layers = 2\nhidden=64 # wide\n\nheads = 4\nffn = 96\nvocabulary = 100\n"

static void test_a_file_describes_a_model_and_is_written_as_it_is_read(void **state)
{
    struct weir_arena arena = { 0 };
    struct weir_str text = { 0 }, again = { 0 };
    struct weir_err err;
    struct mc_model m, same;

    (void)state;
    assert_int_equal(read_model("# mine\n" SMALL "kv-heads = 2\r\nTIED = yes", &arena, &m, &err), 0);
    assert_string_equal(m.name, "my.model");
    assert_true(m.gated && m.tied && !m.bias && m.kv_heads == 2 && m.head_dim == 16 && m.vocabulary_multiple == 128);
    /* embedding; norms, queries, keys and values, output, three matrices; last norm */
    assert_int_equal(mc_model_parameters(&m), 100 * 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 64 * 96) + 64);
    mc_model_write(&m, &text);
    assert_int_equal(mc_model_read(text.text, text.len, "x", 0, &arena, &same, &err), 0);
    mc_model_write(&same, &again);
    assert_string_equal(text.text, again.text);
    weir_str_free(&text);
    weir_str_free(&again);
    weir_arena_free(&arena);
}

static void test_a_wrong_file_is_refused_with_its_line_and_what_would_be_right(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { "", "my.model: there is no line 'layers = N'" },
        { "layers = 2\nhiden = 4", "my.model:2: unknown option 'hiden' (did you mean 'hidden'?)" },
        { "layers", "my.model:1: 'layers' needs '=value'" },
        { "\nlayers = 0", "my.model:2: option layers" },
        { SMALL "heads = 5", "hidden = 64 is no multiple of heads = 5: give the size of a head with head-dim" },
        { SMALL "kv-heads = 3", "heads = 4 is no multiple of kv-heads = 3" },
        { SMALL "layers = 65536\nexperts = 65536\nffn = 60m", "more than 2^50 parameters" },
        { SMALL "tied = perhaps", "my.model:7: option tied" },
    };
    struct weir_arena arena = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct mc_model m;
        struct weir_err err;

        assert_int_equal(read_model(wrong[i].text, &arena, &m, &err), -1);
        if (!strstr(err.text, wrong[i].words))
            fail_msg("'%s' is not in: %s", wrong[i].words, err.text);
        assert_int_equal(err.code, WEIR_EUSAGE);
    }
    weir_arena_free(&arena);
}

static void test_a_smaller_model_has_the_same_tensors_and_can_be_divided_alike(void **state)
{
    (void)state;
    for (int i = 0; mc_model_names[i]; i++) {
        struct mc_model whole = model_of(mc_model_names[i]), m = whole;
        struct mc_rows rows;

        assert_int_equal(mc_model_scale(&m, "1/1000", NULL), 0);
        mc_rows_of(&m, &rows);
        assert_int_equal(mc_tensors(&m, &rows), mc_tensors(&whole, &rows));
        assert_true(m.heads == whole.heads && m.hidden == m.heads * m.head_dim && m.ffn % m.heads == 0);
        assert_in_range(mc_model_parameters(&m), mc_model_parameters(&whole) / 1100, mc_model_parameters(&whole) / 900);
        m = whole;
        assert_int_equal(mc_model_scale(&m, "1", NULL), 0);
        assert_int_equal(mc_model_parameters(&m), mc_model_parameters(&whole));
    }
}

static void test_a_wrong_scale_is_refused(void **state)
{
    static const char *const wrong[] = { "", "0", "2", "-1/2", "1/0", "1/", "1/2x", "nan", "1/1000000" };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct mc_model m = model_of("llama3-8b");
        struct weir_err err = WEIR_ERR_INIT;

        if (mc_model_scale(&m, wrong[i], &err) == 0)
            fail_msg("'%s' is accepted", wrong[i]);
        assert_non_null(strstr(err.text, i + 1 < sizeof(wrong) / sizeof(wrong[0]) ? "like 1/1000" : "smallest is 1/16384"));
    }
}

/* ---- shapes ---- */

static struct mc_job job_of(const struct mc_model *m, struct mc_shape shape, int ranks)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct mc_job job;

    shape.ep = shape.ep ? shape.ep : 1;
    if (mc_job_init(&job, m, &shape, "bf16", "adam", ranks, &err) < 0)
        fail_msg("%s", err.text);
    return job;
}

static void test_a_shape_that_cannot_be_is_refused_with_what_would_be_right(void **state)
{
    static const struct {
        const char *model;
        struct mc_shape shape;
        int ranks;
        const char *words;
    } wrong[] = {
        { "llama3-8b", { .tp = 4, .pp = 2, .ep = 1 }, 6, "need a multiple of 8 ranks, and there are 6: use 8 ranks" },
        { "llama3-8b", { .tp = 2, .pp = 2, .dp = 4, .ep = 1 }, 8, "need 16 ranks, and there are 8: use dp=2, or 16 ranks" },
        { "llama3-8b", { .tp = 2, .pp = 2, .dp = 1, .ep = 1 }, 7, "need 4 ranks, and there are 7: use 4 ranks" },
        { "llama3-8b", { .tp = 3, .pp = 1, .ep = 1 }, 3, "tp=3 does not divide: use one of 1, 2, 4, 8, 16, 32" },
        { "llama3-8b", { .tp = 1, .pp = 33, .ep = 1 }, 33, "pp=33 is more than the layers of llama3-8b: use at most 32" },
        { "llama3-8b", { .tp = 1, .pp = 1, .ep = 2 }, 2, "llama3-8b has no experts: leave ep out" },
        { "mixtral-8x7b", { .tp = 1, .pp = 1, .ep = 4 }, 6, "experts of mixtral-8x7b and dp=6: use one of 1, 2" },
        { "llama3-8b", { .tp = 1, .pp = 1, .ep = 1, .zero = 4 }, 1, "zero=4: it must be from 0 to 3" },
        { "llama3-8b", { .tp = 0, .pp = 1, .ep = 1 }, 1, "tp=0: it must be from 1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct mc_model m = model_of(wrong[i].model);
        struct weir_err err = WEIR_ERR_INIT;
        struct mc_job job;

        assert_int_equal(mc_job_init(&job, &m, &wrong[i].shape, "bf16", "adam", wrong[i].ranks, &err), -1);
        if (!strstr(err.text, wrong[i].words))
            fail_msg("'%s' is not in: %s", wrong[i].words, err.text);
    }
}

static void test_dtype_and_optimizer_say_the_bytes_of_a_parameter(void **state)
{
    static const struct {
        const char *dtype, *optimizer;
        int bytes[MC_STATES];
    } rows[] = { { "bf16", "adam", { 2, 4, 4, 4 } }, { "fp16", "sgd", { 2, 4, 4, 0 } }, { "fp32", "adam", { 4, 0, 4, 4 } },
                 { "BF16", "none", { 2, 0, 0, 0 } } };
    struct mc_model m = model_of("llama3-8b");
    struct mc_shape shape = { .tp = 1, .pp = 1, .ep = 1 };
    struct mc_job job;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(mc_job_init(&job, &m, &shape, rows[i].dtype, rows[i].optimizer, 1, NULL), 0);
        assert_memory_equal(job.bytes, rows[i].bytes, sizeof(job.bytes));
    }
    assert_int_equal(mc_job_init(&job, &m, &shape, "fp8", "adam", 1, NULL), -1);
    assert_int_equal(mc_job_init(&job, &m, &shape, "bf16", "lion", 1, NULL), -1);
}

/* The part with this name. */
static bool find_part(const struct mc_job *job, int rank, const char *name, struct mc_part *out)
{
    struct weir_str text = { 0 };
    struct mc_parts it;
    bool found = false;

    mc_parts_begin(&it, job, rank, MC_ALL_STATES, false);
    while (!found && mc_parts_next(&it, out)) {
        weir_str_clear(&text);
        mc_part_name(job, out, &text);
        found = strcmp(text.text, name) == 0;
    }
    weir_str_free(&text);
    return found;
}

static void expect_box(const struct mc_job *job, int rank, const char *name, const uint64_t box[4], bool writes)
{
    struct mc_part p;

    if (!find_part(job, rank, name, &p))
        fail_msg("rank %d has no %s", rank, name);
    assert_true(p.start[0] == box[0] && p.start[1] == box[1] && p.count[0] == box[2] && p.count[1] == box[3]);
    assert_true(p.from == 0 && p.to == box[2] * box[3]);
    assert_int_equal(p.writes, writes);
}

#define BOX(...) ((const uint64_t[4]) { __VA_ARGS__ })
#define L0 "model.layers.0."

static void test_tensor_parallel_ranks_have_the_slices_of_megatron(void **state)
{
    struct mc_model m = model_of("llama3-8b");
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 16, .pp = 1 }, 32);
    struct mc_part p;

    (void)state;
    expect_box(&job, 3, L0 "self_attn.q_proj.weight", BOX(768, 0, 256, 4096), true);
    expect_box(&job, 3, L0 "self_attn.o_proj.weight", BOX(0, 768, 4096, 256), true);
    expect_box(&job, 3, L0 "mlp.up_proj.weight", BOX(3 * 896, 0, 896, 4096), true);
    expect_box(&job, 3, L0 "mlp.down_proj.weight", BOX(0, 3 * 896, 4096, 896), true);
    expect_box(&job, 0, L0 "input_layernorm.weight", BOX(0, 0, 4096, 1), true);
    expect_box(&job, 3, L0 "input_layernorm.weight", BOX(0, 0, 4096, 1), false);
    /* 8 heads of keys for 16 ranks: two ranks have the same, the first writes it */
    expect_box(&job, 2, L0 "self_attn.k_proj.weight", BOX(128, 0, 128, 4096), true);
    expect_box(&job, 3, L0 "self_attn.k_proj.weight", BOX(128, 0, 128, 4096), false);
    /* 128256 words are divided as 129024, and 128 x 16 x 63 is that */
    expect_box(&job, 15, "model.embed_tokens.weight", BOX(15 * 8064, 0, 128256 - 15 * 8064, 4096), true);
    expect_box(&job, 16 + 2, L0 "self_attn.q_proj.weight", BOX(512, 0, 256, 4096), false); /* dp 1 */
    assert_true(find_part(&job, 1, "optimizer.state.exp_avg_sq.lm_head.weight", &p) && p.elem == 4);
}

static void test_the_largest_model_of_the_rules_has_matrices_of_their_size_on_its_1024_ranks(void **state)
{
    struct mc_model m = model_of("llama3-1t");
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 8, .pp = 64, .zero = 1 }, 1024);

    (void)state;
    expect_box(&job, 1, L0 "self_attn.q_proj.weight", BOX(3234, 0, 3234, 25872), true);
    expect_box(&job, 7, L0 "self_attn.v_proj.weight", BOX(7 * 539, 0, 539, 25872), true); /* 25872 * 32 / 192 / 8 rows */
    expect_box(&job, 2, L0 "mlp.down_proj.weight", BOX(0, 2 * 12288, 25872, 12288), true);
}

static void test_the_stages_in_the_middle_have_the_layers_that_are_left(void **state)
{
    struct mc_model m = model_of("llama3-405b"); /* 126 layers on 16 stages: 7, 14 times 8, 7, as Meta did */
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 1, .pp = 16 }, 16);
    struct mc_part p;

    (void)state;
    assert_true(find_part(&job, 0, "model.layers.6.input_layernorm.weight", &p));
    assert_true(find_part(&job, 1, "model.layers.7.input_layernorm.weight", &p));
    assert_true(find_part(&job, 1, "model.layers.14.input_layernorm.weight", &p));
    assert_true(find_part(&job, 14, "model.layers.118.input_layernorm.weight", &p));
    assert_true(find_part(&job, 15, "model.layers.119.input_layernorm.weight", &p));
    assert_true(find_part(&job, 0, "model.embed_tokens.weight", &p) && find_part(&job, 15, "lm_head.weight", &p));
    assert_false(find_part(&job, 15, "model.embed_tokens.weight", &p));
    m = model_of("gpt3-175b"); /* tied: the last stage has the embedding, too */
    job = job_of(&m, (struct mc_shape) { .tp = 1, .pp = 4 }, 4);
    assert_true(find_part(&job, 3, "model.embed_tokens.weight", &p) && !p.writes);
    assert_false(find_part(&job, 3, "lm_head.weight", &p));
}

static void test_zero_divides_what_it_says_over_data_parallel_ranks(void **state)
{
    struct mc_model m = model_of("llama3-8b");
    const int64_t all = 8030261248;

    (void)state;
    for (int zero = 0; zero <= 3; zero++) {
        struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 1, .pp = 1, .zero = zero }, 8);
        struct mc_sum sum, need;

        mc_sum_rank(&job, 5, true, &sum);
        mc_sum_rank(&job, 5, false, &need);
        assert_int_equal(sum.parameters, zero == 3 ? 2 * all / 8 : 0);
        assert_int_equal(sum.optimizer, zero > 0 ? 12 * all / 8 : 0);
        assert_int_equal(need.parameters, zero == 3 ? 2 * all / 8 : 2 * all);
        assert_int_equal(need.optimizer, zero > 0 ? 12 * all / 8 : 12 * all);
    }
}

static void test_replicas_write_about_as_much_each_where_writing_is_spread(void **state)
{
    struct mc_model m = model_of("llama3-8b");
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 1, .pp = 1, .spread = true }, 8);
    int64_t all = 0;

    (void)state;
    for (int rank = 0; rank < 8; rank++) {
        struct mc_sum sum;

        mc_sum_rank(&job, rank, true, &sum);
        assert_in_range(sum.bytes, 14 * INT64_C(8030261248) / 8 * 3 / 4, 14 * INT64_C(8030261248) / 8 * 5 / 4);
        all += sum.bytes;
    }
    assert_int_equal(all, 14 * INT64_C(8030261248));
}

/* ---- resharding, against one element at a time ---- */

#define MOST_RANKS 64
#define MOST_ELEMENTS 20000

struct world {
    struct mc_job job;
    int ranks;
    uint64_t base[4096]; /* the number of the first element of each tensor */
    uint64_t elements;
    int seen[MC_STATES][MOST_ELEMENTS]; /* how often each element was written */
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
    return weir_rng_at(7, (*state)++) % below;
}

static void draw_any_model(uint64_t *state, struct mc_model *m)
{
    *m = (struct mc_model) { .name = "small", .layers = 1 + (int64_t)draw(state, 5), .head_dim = 1 + (int64_t)draw(state, 3) };
    m->kv_heads = 1 << draw(state, 3);
    m->heads = m->kv_heads << draw(state, 3);
    m->hidden = m->heads * m->head_dim;
    m->ffn = m->heads * (1 + (int64_t)draw(state, 2));
    m->vocabulary = 1 + (int64_t)draw(state, 40);
    m->vocabulary_multiple = 1 + (int64_t)draw(state, 4);
    m->positions = (int64_t)draw(state, 3);
    m->experts = draw(state, 2) ? 1 << draw(state, 3) : 0;
    m->gated = draw(state, 2);
    m->tied = draw(state, 2);
    m->norm_bias = draw(state, 2);
    m->qkv_bias = draw(state, 2);
    m->bias = draw(state, 2);
}

static void draw_model(uint64_t *state, struct mc_model *m)
{
    do
        draw_any_model(state, m);
    while (mc_model_parameters(m) > MOST_ELEMENTS);
}

/* A shape that the model can have. */
static void draw_job(uint64_t *state, const struct mc_model *m, struct world *w)
{
    for (;;) {
        struct mc_shape s = { .tp = 1 << draw(state, 4), .pp = 1 + (int64_t)draw(state, 4), .dp = 1 + (int64_t)draw(state, 5),
                              .ep = 1 << draw(state, 3), .zero = (int64_t)draw(state, 4), .spread = draw(state, 2) };

        w->ranks = (int)(s.tp * s.pp * s.dp);
        if (w->ranks <= MOST_RANKS && mc_job_init(&w->job, m, &s, "bf16", "adam", w->ranks, NULL) == 0)
            break;
    }
    w->elements = 0;
    for (uint64_t t = 0; t < mc_tensors(m, &w->job.rows); t++) {
        struct mc_part whole;

        assert_true(t < 4096 && mc_job_whole(&w->job, MC_PARAMETER, t, &whole));
        w->base[t] = w->elements;
        w->elements += whole.len[0] * whole.len[1];
    }
    assert_int_equal(w->elements, mc_model_parameters(m));
    memset(w->seen, 0, sizeof(w->seen));
}

/* The number of element i of a part, in the model. */
static uint64_t number(const struct world *w, const struct mc_part *p, uint64_t i)
{
    uint64_t at = p->from + i;

    return w->base[p->tensor] + (p->start[0] + at / p->count[1]) * p->len[1] + p->start[1] + at % p->count[1];
}

static void expect_each_element_is_written_once(struct world *w)
{
    for (int rank = 0; rank < w->ranks; rank++) {
        struct mc_parts it;
        struct mc_part p;

        mc_parts_begin(&it, &w->job, rank, MC_ALL_STATES, true);
        while (mc_parts_next(&it, &p))
            for (uint64_t i = 0; i < p.to - p.from; i++)
                w->seen[p.state][number(w, &p, i)]++;
    }
    for (int s = 0; s < MC_STATES; s++)
        for (uint64_t i = 0; i < w->elements; i++)
            assert_int_equal(w->seen[s][i], 1);
}

/* Is this a part that the rank writes? */
static bool writes(const struct mc_job *job, int rank, const struct mc_part *part)
{
    struct mc_parts it;
    struct mc_part p;

    mc_parts_begin(&it, job, rank, 1u << part->state, true);
    while (mc_parts_next(&it, &p))
        if (p.tensor == part->tensor)
            return p.from == part->from && p.to == part->to && memcmp(p.start, part->start, sizeof(p.start)) == 0 &&
                   memcmp(p.count, part->count, sizeof(p.count)) == 0 && part->writes;
    return false;
}

/* Fill the needed part from its sources. */
static void expect_sources_fill(const struct world *saved, const struct mc_part *need)
{
    static char have[1 << 20];
    struct mc_sources it;
    struct mc_source source;
    uint64_t all = 0;

    memset(have, 0, need->to - need->from);
    mc_sources_begin(&it, &saved->job, need);
    while (mc_sources_next(&it, &source)) {
        struct mc_pieces pieces;
        uint64_t from, to, len, bytes = 0, end = 0, elem = (uint64_t)need->elem;

        assert_true(writes(&saved->job, source.rank, &source.part));
        mc_pieces_begin(&pieces, &source.part, need);
        while (mc_pieces_next(&pieces, &from, &to, &len)) {
            assert_true(from >= end && from + len <= mc_part_bytes(&source.part) && to + len <= mc_part_bytes(need));
            assert_int_equal(len % elem, 0);
            for (uint64_t i = 0; i < len / elem; i++) {
                assert_int_equal(number(saved, &source.part, from / elem + i), number(saved, need, to / elem + i));
                have[to / elem + i]++;
            }
            end = from + len;
            bytes += len;
        }
        assert_true(bytes > 0 && bytes == source.bytes);
        all += bytes;
    }
    assert_int_equal(all, mc_part_bytes(need));
    for (uint64_t i = 0; i < need->to - need->from; i++)
        assert_int_equal(have[i], 1);
}

static void expect_boxes(const struct world *w, const struct mc_part *p)
{
    struct weir_slab box[3];
    struct weir_shape shape = { .rank = p->dims, .len = { p->len[0], p->len[1] } };
    uint64_t i = 0;
    int n = mc_part_boxes(p, box);

    assert_in_range(n, 1, 3);
    for (int b = 0; b < n; b++) {
        struct weir_runs r;
        uint64_t elements, at;

        assert_int_equal(weir_slab_check(&box[b], &shape, &elements, NULL), 0);
        weir_runs_begin(&r, &box[b], &shape);
        while (weir_runs_next(&r, &at))
            for (uint64_t k = 0; k < r.run; k++)
                assert_int_equal(w->base[p->tensor] + at + k, number(w, p, i++));
    }
    assert_int_equal(i, p->to - p->from);
}

static void test_every_byte_of_another_shape_comes_once_from_what_was_written(void **state)
{
    struct world *saved = malloc(sizeof(*saved)), *other = malloc(sizeof(*other));
    uint64_t at = 0;

    (void)state;
    assert_true(saved && other);
    for (int trial = 0; trial < 60; trial++) {
        struct mc_model m;

        draw_model(&at, &m);
        draw_job(&at, &m, saved);
        expect_each_element_is_written_once(saved);
        draw_job(&at, &m, other);
        for (int rank = 0; rank < other->ranks; rank++) {
            struct mc_parts it;
            struct mc_part need;

            mc_parts_begin(&it, &other->job, rank, MC_ONLY_PARAMETERS | 1u << MC_EXP_AVG, false);
            while (mc_parts_next(&it, &need)) {
                expect_boxes(other, &need);
                expect_sources_fill(saved, &need);
            }
        }
    }
    free(saved);
    free(other);
}

/* Elements that a rank has of the tensors of experts, or of the others. */
static uint64_t held(const struct mc_job *job, int rank, bool experts)
{
    struct mc_parts it;
    struct mc_part p;
    uint64_t n = 0;

    mc_parts_begin(&it, job, rank, 1u << MC_EXP_AVG, false);
    while (mc_parts_next(&it, &p)) {
        struct mc_tensor t;

        mc_tensor_at(&job->model, &job->rows, p.tensor, &t);
        n += (t.section == MC_EXPERT) == experts ? p.to - p.from : 0;
    }
    return n;
}

/* The ranks at so many places from the first on, one after the other, have equal shares, and the last ones what is left. */
static void expect_equal_shares(const struct mc_job *job, int first, int64_t places, int64_t distance, bool experts)
{
    uint64_t sum = 0, share, done = 0;

    for (int64_t i = 0; i < places; i++)
        sum += held(job, first + (int)(i * distance), experts);
    share = (sum + (uint64_t)places - 1) / (uint64_t)places;
    for (int64_t i = 0; i < places; i++) {
        uint64_t n = held(job, first + (int)(i * distance), experts);

        assert_int_equal(n, mc_least(share, sum - done));
        done += n;
    }
}

static void test_zero_1_and_2_give_data_parallel_ranks_equal_shares_of_a_stage(void **state)
{
    struct world *w = malloc(sizeof(*w));
    uint64_t at = 5;

    (void)state;
    assert_true(w != NULL);
    for (int trial = 0; trial < 150; trial++) {
        const struct mc_shape *s = &w->job.shape;
        struct mc_model m;

        draw_model(&at, &m);
        draw_job(&at, &m, w);
        if (s->zero != 1 && s->zero != 2)
            continue;
        for (int64_t group = 0; group < s->pp * s->tp; group++) {
            int first = (int)(group / s->tp * s->tp * s->dp + group % s->tp);

            expect_equal_shares(&w->job, first, s->dp, s->tp, false);
            for (int64_t ep = 0; ep < s->ep; ep++)
                expect_equal_shares(&w->job, first + (int)(ep * s->tp), s->dp / s->ep, s->tp * s->ep, true);
        }
    }
    free(w);
}

static void test_the_same_shape_needs_one_piece_of_its_own_for_each_part(void **state)
{
    struct mc_model m = model_of("mixtral-8x7b");
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 2, .pp = 2, .ep = 2, .zero = 1 }, 16);

    (void)state;
    for (int rank = 0; rank < 16; rank++) {
        struct mc_parts it;
        struct mc_part need;

        mc_parts_begin(&it, &job, rank, MC_ALL_STATES, true);
        while (mc_parts_next(&it, &need)) {
            struct mc_sources sources;
            struct mc_source source;
            struct mc_pieces pieces;
            uint64_t from, to, len;

            mc_sources_begin(&sources, &job, &need);
            assert_true(mc_sources_next(&sources, &source) && source.rank == rank);
            mc_pieces_begin(&pieces, &source.part, &need);
            assert_true(mc_pieces_next(&pieces, &from, &to, &len) && from == 0 && to == 0 && len == mc_part_bytes(&need));
            assert_false(mc_pieces_next(&pieces, &from, &to, &len));
            assert_false(mc_sources_next(&sources, &source));
        }
    }
}

static char *list_of(const struct mc_job *job, bool details)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    assert_non_null(f);
    assert_true(mc_list(job, details, f));
    fclose(f);
    return text;
}

static void test_the_list_names_each_rank_and_the_sum(void **state)
{
    struct mc_model m = model_of("llama3-8b");
    struct mc_job job = job_of(&m, (struct mc_shape) { .tp = 2, .pp = 2 }, 8);
    FILE *full = fopen("/dev/full", "w");
    char *text = NULL;

    (void)state;
    assert_non_null(full);
    assert_false(mc_list(&job, false, full));
    fclose(full);
    text = list_of(&job, false);
    assert_non_null(strstr(text, "all ranks: 112423657472 bytes of 8030261248 parameters"));
    assert_null(strstr(text, "q_proj"));
    free(text);
    text = list_of(&job, true);
    assert_non_null(strstr(text, "    " L0 "self_attn.o_proj.weight [4096,4096] from [0,2048] count [4096,2048] x 2 = "
                                 "16777216 bytes\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tensors_of_a_row_have_the_published_number_of_parameters),
        cmocka_unit_test(test_an_unknown_model_is_refused_with_the_nearest_name),
        cmocka_unit_test(test_a_file_describes_a_model_and_is_written_as_it_is_read),
        cmocka_unit_test(test_a_wrong_file_is_refused_with_its_line_and_what_would_be_right),
        cmocka_unit_test(test_a_smaller_model_has_the_same_tensors_and_can_be_divided_alike),
        cmocka_unit_test(test_a_wrong_scale_is_refused),
        cmocka_unit_test(test_a_shape_that_cannot_be_is_refused_with_what_would_be_right),
        cmocka_unit_test(test_dtype_and_optimizer_say_the_bytes_of_a_parameter),
        cmocka_unit_test(test_tensor_parallel_ranks_have_the_slices_of_megatron),
        cmocka_unit_test(test_the_largest_model_of_the_rules_has_matrices_of_their_size_on_its_1024_ranks),
        cmocka_unit_test(test_the_stages_in_the_middle_have_the_layers_that_are_left),
        cmocka_unit_test(test_zero_divides_what_it_says_over_data_parallel_ranks),
        cmocka_unit_test(test_replicas_write_about_as_much_each_where_writing_is_spread),
        cmocka_unit_test(test_every_byte_of_another_shape_comes_once_from_what_was_written),
        cmocka_unit_test(test_zero_1_and_2_give_data_parallel_ranks_equal_shares_of_a_stage),
        cmocka_unit_test(test_the_same_shape_needs_one_piece_of_its_own_for_each_part),
        cmocka_unit_test(test_the_list_names_each_rank_and_the_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
