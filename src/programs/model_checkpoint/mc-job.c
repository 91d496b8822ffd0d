/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-job.c - which shapes a model can have on a number of ranks, and the possible ones for an error */
#include "programs/model_checkpoint/mc-shape.h"

#include <inttypes.h>

#include "base/options/option.h"
#include "base/size.h"

const char *const mc_dtype_names[] = { "bf16", "fp16", "fp32", NULL };
const char *const mc_optimizer_names[] = { "adam", "sgd", "none", NULL };

/* In the order of the names. Bytes of an element of the parameters, and of the copy in 32 bits that
 * an optimizer needs beside smaller ones. */
static const struct {
    int parameter, master;
} dtypes[] = { { 2, 4 }, { 2, 4 }, { 4, 0 } };

/* States of an optimizer: the mean of the gradients and of their squares; a momentum. */
static const struct {
    int has_master, exp_avg, exp_avg_sq;
} optimizers[] = { { 1, 4, 4 }, { 1, 4, 0 }, { 0, 0, 0 } };

static int find_name(const char *const *names, const char *what, const char *name, struct weir_err *err)
{
    int i = weir_opt_choice(names, name);

    if (i >= 0)
        return i;
    return weir_refuse(err, WEIR_EUSAGE, "%s: use %s, %s or %s", what, names[0], names[1], names[2]);
}

static int find_bytes(struct mc_job *job, const char *dtype, const char *optimizer, struct weir_err *err)
{
    int d = find_name(mc_dtype_names, "dtype", dtype, err), o = find_name(mc_optimizer_names, "optimizer", optimizer, err);

    if (d < 0 || o < 0)
        return -1;
    job->bytes[MC_PARAMETER] = dtypes[d].parameter;
    job->bytes[MC_MASTER] = optimizers[o].has_master ? dtypes[d].master : 0;
    job->bytes[MC_EXP_AVG] = optimizers[o].exp_avg;
    job->bytes[MC_EXP_AVG_SQ] = optimizers[o].exp_avg_sq;
    return 0;
}

/* ---- what would be right ---- */

typedef bool fits_fn(const struct mc_job *job, int64_t n);

/* Refuse with the words and the numbers from 1 to 'most' that fit. */
static int __attribute__((format(printf, 5, 6)))
refuse_number(const struct mc_job *job, fits_fn *fits, int64_t most, struct weir_err *err, const char *words, ...)
{
    struct weir_str text = { 0 };
    int shown = 0;
    va_list ap;

    va_start(ap, words);
    weir_str_vaddf(&text, words, ap);
    va_end(ap);
    for (int64_t n = 1; n <= most && shown < 12; n++)
        if (fits(job, n))
            weir_str_addf(&text, "%s%" PRId64, shown++ ? ", " : ": use one of ", n);
    weir_refuse(err, WEIR_EUSAGE, "%s%s", weir_str_words(&text), shown == 12 ? ", ..." : "");
    weir_str_free(&text);
    return -1;
}

static bool fits_tp(const struct mc_job *job, int64_t n)
{
    const struct mc_model *m = &job->model;

    return m->heads % n == 0 && m->ffn % n == 0 && (m->kv_heads % n == 0 || n % m->kv_heads == 0);
}

static bool fits_ep(const struct mc_job *job, int64_t n)
{
    return job->model.experts % n == 0 && job->shape.dp % n == 0;
}

static int check_tp(const struct mc_job *job, struct weir_err *err)
{
    const struct mc_model *m = &job->model;

    if (fits_tp(job, job->shape.tp))
        return 0;
    return refuse_number(job, fits_tp, m->heads, err, "%s has %" PRId64 " heads, %" PRId64 " of keys and values, and a "
                         "feed-forward width of %" PRId64 ", which tp=%" PRId64 " does not divide", m->name, m->heads,
                         m->kv_heads, m->ffn, job->shape.tp);
}

static int check_ep(const struct mc_job *job, struct weir_err *err)
{
    if (job->shape.ep > 1 && job->model.experts == 0)
        return weir_refuse(err, WEIR_EUSAGE, "ep=%" PRId64 ", but %s has no experts: leave ep out, or use a model that has some "
                           "(mixtral-8x7b)", job->shape.ep, job->model.name);
    if (fits_ep(job, job->shape.ep))
        return 0;
    return refuse_number(job, fits_ep, job->shape.dp, err, "ep=%" PRId64 " must divide the %" PRId64 " experts of %s and dp=%"
                         PRId64, job->shape.ep, job->model.experts, job->model.name, job->shape.dp);
}

/* tp * pp * dp are the ranks. */
static int check_ranks(struct mc_shape *s, int ranks, struct weir_err *err)
{
    const int64_t copy = s->tp * s->pp;

    if (s->dp == 0 && ranks % copy != 0)
        return weir_refuse(err, WEIR_EUSAGE, "tp=%" PRId64 " and pp=%" PRId64 " need a multiple of %" PRId64
                           " ranks, and there are %d: use %" PRId64 " ranks, or a tp * pp that divides %d", s->tp, s->pp,
                           copy, ranks, (ranks / copy + 1) * copy, ranks);
    if (s->dp == 0)
        s->dp = ranks / copy;
    if (copy * s->dp == ranks)
        return 0;
    if (ranks % copy == 0)
        return weir_refuse(err, WEIR_EUSAGE, "tp=%" PRId64 ", pp=%" PRId64 " and dp=%" PRId64 " need %" PRId64
                           " ranks, and there are %d: use dp=%" PRId64 ", or %" PRId64 " ranks", s->tp, s->pp, s->dp,
                           copy * s->dp, ranks, ranks / copy, copy * s->dp);
    return weir_refuse(err, WEIR_EUSAGE, "tp=%" PRId64 ", pp=%" PRId64 " and dp=%" PRId64 " need %" PRId64
                       " ranks, and there are %d: use %" PRId64 " ranks", s->tp, s->pp, s->dp, copy * s->dp, ranks,
                       copy * s->dp);
}

static int check_range(const struct mc_shape *s, struct weir_err *err)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } all[] = { { "tp", s->tp, 1, INT16_MAX }, { "pp", s->pp, 1, INT16_MAX }, { "dp", s->dp, 0, INT32_MAX },
                { "ep", s->ep, 1, INT32_MAX }, { "zero", s->zero, 0, 3 } };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].value < all[i].min || all[i].value > all[i].max)
            return weir_refuse(err, WEIR_EUSAGE, "%s=%" PRId64 ": it must be from %" PRId64 " to %" PRId64, all[i].name,
                               all[i].value, all[i].min, all[i].max);
    return 0;
}

int mc_job_init(struct mc_job *job, const struct mc_model *m, const struct mc_shape *shape, const char *dtype,
                const char *optimizer, int ranks, struct weir_err *err)
{
    *job = (struct mc_job) { .model = *m, .shape = *shape };
    mc_rows_of(m, &job->rows);
    if (find_bytes(job, dtype, optimizer, err) < 0 || check_range(shape, err) < 0 || check_tp(job, err) < 0)
        return -1;
    if (shape->pp > m->layers)
        return weir_refuse(err, WEIR_EUSAGE, "pp=%" PRId64 " is more than the layers of %s: use at most %" PRId64, shape->pp,
                           m->name, m->layers);
    return check_ranks(&job->shape, ranks, err) < 0 || check_ep(job, err) < 0 ? -1 : 0;
}

uint64_t mc_job_bytes(const struct mc_job *job)
{
    uint64_t parameters = mc_model_parameters(&job->model), bytes = 0;

    for (int s = 0; s < MC_STATES; s++)
        bytes = weir_sum(bytes, weir_product(parameters, (uint64_t)job->bytes[s]));
    return bytes;
}
