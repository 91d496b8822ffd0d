/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-model.c - models: the table of public ones, files that describe others, and smaller ones of the same form */
#include "programs/model_checkpoint/mc-shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/options/option.h"
#include "base/size.h"
#include "base/text/script.h"

/* Public figures, and the number of parameters that they make. */
static const struct mc_model models[] = {
    /* "The Llama 3 Herd of Models" (Meta, 2024), table 3; vocabulary and kv heads: its model cards. 8,030,261,248 */
    { .name = "llama3-8b", .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 8, .head_dim = 128, .ffn = 14336,
      .vocabulary = 128256, .vocabulary_multiple = 128, .gated = true },
    /* Figures from there, too: 70,553,706,496 parameters */
    { .name = "llama3-70b", .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .head_dim = 128, .ffn = 28672,
      .vocabulary = 128256, .vocabulary_multiple = 128, .gated = true },
    /* Figures from there, too: 405,853,388,800 parameters */
    { .name = "llama3-405b", .layers = 126, .hidden = 16384, .heads = 128, .kv_heads = 8, .head_dim = 128, .ffn = 53248,
      .vocabulary = 128256, .vocabulary_multiple = 128, .gated = true },
    /* MLPerf Storage 2.0, which counts products only: its 192 heads (32 of keys and values) do not
     * divide the width. These 48 have matrices of the same size. 1,183,194,060,048 */
    { .name = "llama3-1t", .layers = 128, .hidden = 25872, .heads = 48, .kv_heads = 8,
      .head_dim = 539, .ffn = 98304, .vocabulary = 128256, .vocabulary_multiple = 128,
      .gated = true },
    /* "Language Models are Few-Shot Learners" (OpenAI, 2020), table 2.1, context of 2048; vocabulary and biases as in GPT-2.
     * 174,604,259,328: the "175 billion" */
    { .name = "gpt3-175b", .layers = 96, .hidden = 12288, .heads = 96, .kv_heads = 96, .head_dim = 128, .ffn = 49152,
      .vocabulary = 50257, .vocabulary_multiple = 128, .positions = 2048, .tied = true, .norm_bias = true,
      .qkv_bias = true, .bias = true },
    /* "Mixtral of Experts" (Mistral AI, 2024), table 1. 46,702,792,704: the "47 billion" */
    { .name = "mixtral-8x7b", .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 8, .head_dim = 128, .ffn = 14336,
      .vocabulary = 32000, .vocabulary_multiple = 128, .experts = 8, .gated = true },
};

#define MODELS (sizeof(models) / sizeof(models[0]))

const char *const mc_model_names[MODELS + 1] = { "llama3-8b", "llama3-70b", "llama3-405b",
                                                 "llama3-1t", "gpt3-175b", "mixtral-8x7b" };

int mc_model_row(const char *name, struct mc_model *m, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    for (size_t i = 0; i < MODELS; i++) {
        if (strcasecmp(name, models[i].name) == 0) {
            *m = models[i];
            return 0;
        }
    }
    weir_refuse(err, WEIR_EUSAGE, "there is neither a model nor a file '%s'",
                weir_quote_str(name, shown));
    weir_near_ask(err, name, strlen(name), mc_model_names);
    for (size_t i = 0; i < MODELS; i++)
        weir_err_add(err, "%s%s", i == 0 ? ": use one of " : ", ", models[i].name);
    return -1;
}

/* ---- files ---- */

#define M struct mc_model
#define COUNT(field, key, least, most, help)                                                                           \
    OPT_SIZE(0, key, NULL, M, field, NULL, "N", help, .min = (least), .max = (most))
#define MOST_WIDE (INT64_C(1) << 26)

static const struct weir_opt keys[] = {
    OPT_STR(0, "name", NULL, M, name, NULL, "NAME", "Name of the model in reports"),
    COUNT(layers, "layers", 1, 1 << 16, "Layers"),
    COUNT(hidden, "hidden", 1, MOST_WIDE, "Width of the model"),
    COUNT(heads, "heads", 1, 1 << 16, "Heads of attention"),
    COUNT(kv_heads, "kv-heads", 0, 1 << 16, "Heads of keys and values; 0: as many as heads"),
    COUNT(head_dim, "head-dim", 0, MOST_WIDE, "Elements of a head; 0: hidden / heads"),
    COUNT(ffn, "ffn", 1, MOST_WIDE, "Width inside the feed-forward part"),
    COUNT(vocabulary, "vocabulary", 1, MOST_WIDE, "Words of the vocabulary"),
    OPT_SIZE(0, "vocabulary-multiple", NULL, M, vocabulary_multiple, "128", "N",
             "Rounding of the vocabulary when it is divided: multiple of N x tp",
             .min = 1, .max = MOST_WIDE),
    COUNT(positions, "positions", 0, MOST_WIDE, "Learned positions"),
    COUNT(experts, "experts", 0, 1 << 16, "Experts of each layer"),
    OPT_FLAG(0, "gated", NULL, M, gated, "Three matrices in the feed-forward part, not two", .def = "1"),
    OPT_FLAG(0, "tied", NULL, M, tied, "The output layer is the embedding"),
    OPT_FLAG(0, "norm-bias", NULL, M, norm_bias, "Norms have a bias"),
    OPT_FLAG(0, "qkv-bias", NULL, M, qkv_bias, "Queries, keys and values have a bias"),
    OPT_FLAG(0, "bias", NULL, M, bias, "The other linear layers have a bias"),
    OPT_END
};

#define COUNT_MAX (UINT64_C(1) << 50) /* parameters: sums of bytes of all states and ranks stay below 2^63 */

/* Rules about several lines. */
static int check_model(struct mc_model *m, struct weir_err *err)
{
    static const char *const needed[] = { "layers", "hidden", "heads", "ffn", "vocabulary" };

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (*(const int64_t *)((const char *)m + weir_opt_row_of(keys, needed[i])->offset) == 0)
            return weir_refuse(err, WEIR_EUSAGE, "there is no line '%s = N'", needed[i]);
    if (m->head_dim == 0 && m->hidden % m->heads != 0)
        return weir_refuse(err, WEIR_EUSAGE, "hidden = %" PRId64 " is no multiple of heads = %" PRId64
                           ": give the size of a head with head-dim", m->hidden, m->heads);
    m->kv_heads = m->kv_heads ? m->kv_heads : m->heads;
    m->head_dim = m->head_dim ? m->head_dim : m->hidden / m->heads;
    if (m->heads % m->kv_heads != 0)
        return weir_refuse(err, WEIR_EUSAGE, "heads = %" PRId64 " is no multiple of kv-heads = %" PRId64, m->heads,
                           m->kv_heads);
    if (mc_model_parameters(m) > COUNT_MAX)
        return weir_refuse(err, WEIR_EUSAGE, "the model has more than 2^50 parameters");
    return 0;
}

static int read_lines(struct weir_opts *opts, const char *text, size_t len, int *line, struct weir_err *err)
{
    int rc = weir_opts_defaults(opts, err);
    char *one;

    while (rc == 0 && len > 0) {
        ++*line;
        rc = weir_text_line_copy(&text, &len, opts->arena, &one, err) < 0 ? -1 : 0;
        if (rc == 0 && one[strspn(one, " \t\r")] != '#' && one[strspn(one, " \t\r")] != '\0')
            rc = weir_opts_directives(opts, one, err);
    }
    return rc;
}

int mc_model_read(const char *text, size_t len, const char *file, int before,
                  struct weir_arena *arena, struct mc_model *m, struct weir_err *err)
{
    struct weir_opts opts = { .arena = arena };
    const struct weir_optset set = { .prefix = "", .rows = keys, .values = m, .size = sizeof(*m) };
    char shown[WEIR_QUOTE_TEXT];
    int line = before;

    *m = (struct mc_model) { .name = NULL };
    weir_quote_str(file, shown);
    if (weir_opts_add(&opts, &set, err) < 0)
        return -1;
    if (read_lines(&opts, text, len, &line, err) < 0)
        return weir_err_within(err, "%s:%d", shown, line);
    if (check_model(m, err) < 0)
        return weir_err_within(err, "%s", shown);
    if (!m->name) {
        const char *slash = strrchr(file, '/');

        m->name = weir_arena_strdup(arena, slash ? slash + 1 : file, err);
    }
    return m->name ? 0 : -1;
}

void mc_model_write(const struct mc_model *m, struct weir_str *out)
{
    for (const struct weir_opt *row = keys; !weir_opt_is_end(row); row++) {
        const char *quote = row->type == WEIR_OPT_STR ? "\"" : "";

        if (*quote && strchr(m->name, '"'))
            continue; /* no line can hold it: the name of the file will do */
        weir_str_addf(out, "%s = %s", row->name, quote);
        weir_opt_show(row, m, out);
        weir_str_addf(out, "%s\n", quote);
    }
}

/* ---- smaller ones ---- */

/* The share as a number: "1/1000", "0.001". */
static bool read_share(const char *text, double *share)
{
    const char *end = weir_real_scan(text, share);
    double below = 1;

    if (end == text)
        return false;
    if (*end == '/') {
        text = end + 1;
        end = weir_real_scan(text, &below);
    }
    *share /= below;
    return end != text && *end == '\0' && *share > 0 && *share <= 1;
}

static int64_t divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : divisor(b, a % b);
}

/* A length times the factor, as a multiple of 'unit' of it, at least one. */
static int64_t shrink(int64_t len, double factor, int64_t unit)
{
    int64_t n = (int64_t)((double)(len / unit) * factor + 0.5);

    return len == 0 ? 0 : unit * (n > 0 ? n : 1);
}

int mc_model_scale(struct mc_model *m, const char *scale, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    int64_t head = m->head_dim, unit;
    double share, factor;

    if (!read_share(scale, &share))
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is not a fraction like 1/1000 or 0.001, above 0 "
                                             "and at most 1", weir_quote_str(scale, shown));
    if (sqrt(share) * (double)head < 1 - 1e-9)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is too small for %s, whose heads have %" PRId64
                           " elements: the smallest is 1/%" PRId64 " (or describe a model in a file)",
                           weir_quote_str(scale, shown), m->name, head, head * head);
    m->head_dim = shrink(head, sqrt(share), 1);
    factor = (double)m->head_dim / (double)head; /* one factor for all, so that proportions stay */
    m->hidden = m->hidden == m->heads * head ? m->heads * m->head_dim
                                             : shrink(m->hidden, factor, divisor(m->hidden, m->heads));
    unit = divisor(m->ffn, m->heads); /* what divides heads and ffn today does so afterwards */
    m->ffn = shrink(m->ffn, factor, unit);
    m->vocabulary = shrink(m->vocabulary, factor, 1);
    m->vocabulary_multiple = shrink(m->vocabulary_multiple, factor, 1);
    m->positions = shrink(m->positions, factor, 1);
    return 0;
}
