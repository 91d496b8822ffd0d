/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-saved.c - before a load: whether a checkpoint is what the options describe, and the shape that loads it */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <strings.h>

/* A file of arrays is loaded by HDF5, with which the test has begun, and no other file is. */
static int check_layout(const struct weir_values *given, const struct mc_test *t,
                        struct weir_err *err)
{
    enum mc_layout saved = (enum mc_layout)t->load.meta.layout;
    bool typed = weir_values_typed(given, "layout");

    if (typed ? saved == t->layout : saved != MC_ARRAYS)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "'%s' was saved with --layout=%s%s%s: %s",
                       weir_str_text(&t->load.from), mc_layout_names[saved],
                       typed ? ", not --layout=" : "", typed ? mc_layout_names[t->layout] : "",
                       saved == MC_ARRAYS ? "load it with --layout=arrays -a HDF5"
                                          : "leave it out");
}

/* True when both models have the same figures and the same name. */
static bool is_same_model(const struct mc_model *a, const struct mc_model *b)
{
    struct weir_str one = { 0 }, other = { 0 };
    bool same;

    mc_model_write(a, &one);
    mc_model_write(b, &other);
    same = strcmp(weir_str_text(&one), weir_str_text(&other)) == 0;
    weir_str_free(&one);
    weir_str_free(&other);
    return same;
}

/* The options describe the model of the checkpoint: the rate of another one would stand under its name. */
static int check_model(const struct mc_test *t, struct weir_err *err)
{
    const struct mc_model *given = &t->job.model, *m = &t->load.meta.job.model;

    if ((given->layers == 0 || is_same_model(given, m)) &&
        strcasecmp(t->o->dtype ? t->o->dtype : t->load.meta.dtype, t->load.meta.dtype) == 0 &&
        strcasecmp(t->o->optimizer ? t->o->optimizer : t->load.meta.optimizer, t->load.meta.optimizer) == 0)
        return 0;
    return weir_refuse(
        err, WEIR_EUSAGE,
        "'%s' is a checkpoint of %s with %" PRIu64
        " parameters, --dtype=%s and --optimizer=%s, and not "
        "what --model, --scale, --dtype and --optimizer describe: leave these options out",
        weir_str_text(&t->load.from), m->name, mc_model_parameters(m), t->load.meta.dtype, t->load.meta.optimizer);
}

/* Options that say how the checkpoint was saved are those of the checkpoint, or are not given. */
static int check_shape(const struct weir_values *given, const struct mc_test *t,
                       struct weir_err *err)
{
    const struct mc_options *o = t->o;
    const struct mc_shape *x = &t->load.meta.job.shape;
    static const char other[] =
        " (--load-tp, --load-pp, --load-dp and --load-ep are the shape that loads)";
    static const char preset[] = ", or name the model of --preset (--model)";
    const struct {
        const char *option;
        int64_t asked, saved;
        const char *more;
        bool preset; /* --preset sets it */
    } rows[] = {
        { "tp", o->tp, x->tp, other, true },
        { "pp", o->pp, x->pp, other, true },
        { "dp", o->dp ? o->dp : x->dp, x->dp, other, true },
        { "ep", o->ep, x->ep, other, false },
        { "zero", o->zero, x->zero, "", true },
        { "align", o->align, t->load.meta.align, "", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if ((weir_values_typed(given, rows[i].option) || (o->preset && rows[i].preset)) &&
            rows[i].asked != rows[i].saved)
            return weir_refuse(err, WEIR_EUSAGE,
                               "'%s' was saved with --%s=%" PRId64 ", not --%s=%" PRId64
                               ": leave it out%s",
                               weir_str_text(&t->load.from), rows[i].option, rows[i].saved,
                               rows[i].option, rows[i].asked,
                               weir_values_typed(given, rows[i].option) ? rows[i].more : preset);
    return 0;
}

/* Check that the checkpoint has the files of the ranks that load, which are all without --play. */
static int check_ranks(const struct mc_test *t, struct weir_err *err)
{
    const struct mc_meta *m = &t->load.meta;
    int64_t first = t->play.first, end = t->play.tasks > 0 ? first + t->play.tasks : m->ranks;

    if (m->first <= first && end - 1 <= m->last)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "'%s' has the files of ranks %" PRId64 " to %" PRId64 ", and those of all "
                       "other ranks of %" PRId64 " are missing: load it with --play=%" PRId64
                       "-%" PRId64,
                       weir_str_text(&t->load.from), m->first, m->last, m->ranks, m->first,
                       m->last);
}

int mc_check_saved(const struct weir_values *given, const struct mc_test *t, struct weir_err *err)
{
    return check_layout(given, t, err) < 0 || check_model(t, err) < 0 ||
                   check_shape(given, t, err) < 0 || check_ranks(t, err) < 0
               ? -1
               : 0;
}

int mc_load_shape(struct mc_test *t, const struct mc_job *saved, const char *dtype, const char *optimizer, int size,
                  struct weir_err *err)
{
    const struct mc_options *o = t->o;
    struct mc_shape x = saved->shape;
    int64_t ranks;

    t->load.states = strcasecmp(o->load, "parameters") == 0 ? MC_ONLY_PARAMETERS : MC_ALL_STATES;
    x.tp = o->load_tp > 0 ? o->load_tp : x.tp;
    x.pp = o->load_pp > 0 ? o->load_pp : x.pp;
    x.ep = o->load_ep > 0 ? o->load_ep : x.ep;
    x.dp = o->load_dp;
    ranks = x.dp > 0 ? x.tp * x.pp * x.dp : size;
    if (ranks > size)
        return weir_refuse(err, WEIR_EUSAGE, "--load-tp, --load-pp and --load-dp need %" PRId64 " ranks, there %s %d", ranks,
                           size == 1 ? "is" : "are", size);
    if (mc_job_init(&t->load.job, &saved->model, &x, dtype, optimizer, (int)ranks, err) < 0)
        return weir_err_within(err, "the shape that loads");
    t->load.ranks = (int)ranks;
    return 0;
}
