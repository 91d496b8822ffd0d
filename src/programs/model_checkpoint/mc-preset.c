/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-preset.c - jobs that are larger than a run: --preset, the models of MLPerf Storage as its rules
 * divide them; --play, the ranks of a job that the tasks are */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <strings.h>

#include "base/text/quote.h"
#include "base/text/ranges.h"

#define GB 1e9

/* The rows of the rules of version 2.0, CLOSED. gigabytes: of a checkpoint, as they print it. */
static const struct preset {
    const char *model;
    int tp, pp, dp, zero;
    double gigabytes;
} presets[] = {
    { "llama3-8b", 1, 1, 8, 3, 105 },
    { "llama3-70b", 8, 1, 8, 3, 912 },
    { "llama3-405b", 8, 32, 2, 1, 5290 },
    { "llama3-1t", 8, 64, 2, 1, 18000 },
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

/* The row of the model; NULL: there is none, or no preset was asked for. */
static const struct preset *preset_of(const struct mc_options *o)
{
    const char *model = o->model ? o->model : MC_MODEL;

    for (size_t i = 0; o->preset && i < PRESETS; i++)
        if (strcasecmp(presets[i].model, model) == 0)
            return &presets[i];
    return NULL;
}

static int refuse_model(const struct mc_options *o, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    return weir_refuse(err, WEIR_EUSAGE,
                       "--preset=%s has no model '%s': use one of %s, %s, %s, %s, or leave "
                       "--preset out", o->preset, weir_quote_str(o->model, shown),
                       presets[0].model, presets[1].model, presets[2].model, presets[3].model);
}

int mc_preset_take(const struct weir_values *given, struct mc_options *o, struct weir_err *err)
{
    const struct preset *p = preset_of(o);

    if (!o->preset)
        return 0;
    if (!p)
        return refuse_model(o, err);
    o->tp = weir_values_typed(given, "tp") ? o->tp : p->tp;
    o->pp = weir_values_typed(given, "pp") ? o->pp : p->pp;
    o->dp = weir_values_typed(given, "dp") ? o->dp : p->dp;
    o->zero = weir_values_typed(given, "zero") ? o->zero : p->zero;
    o->dtype = o->dtype ? o->dtype : "fp16";
    o->optimizer = o->optimizer ? o->optimizer : "adam";
    return 0;
}

/* Three digits of a size. */
static void add_size(double gigabytes, struct weir_str *out)
{
    bool large = gigabytes >= 1000;

    weir_str_addf(out, "%.3g %s", large ? gigabytes / 1000 : gigabytes, large ? "TB" : "GB");
}

/* The sizes of all models but the largest fit within 1 % if the rules count 2^30 bytes as a GB. */
void mc_preset_words(const struct mc_options *o, const struct mc_job *job, struct weir_str *out)
{
    const struct preset *p = preset_of(o);
    struct mc_job whole = *job;
    double bytes;

    if (!p || mc_model_row(p->model, &whole.model, NULL) < 0)
        return;
    bytes = (double)mc_job_bytes(&whole);
    weir_str_addf(out, "MLPerf Storage: %s%s has ", p->model, o->scale ? " without --scale" : "");
    add_size(bytes / GB, out);
    weir_str_addf(out, " here and ");
    add_size(p->gigabytes, out);
    weir_str_addf(out, " in the rules, a difference of %+.3g %% (%+.3g %% if a GB there is a GiB)",
                  100 * (bytes / (p->gigabytes * GB) - 1),
                  100 * (bytes / (p->gigabytes * WEIR_GIB) - 1));
}

/* ---- --play ---- */

/* Read "0-7", "12", or "node:3" of nodes with per_node ranks. */
static bool read_ranks(const char *text, int per_node, struct weir_range *r)
{
    bool is_node = strncmp(text, "node:", 5) == 0;

    text += is_node ? 5 : 0;
    if (!weir_ranges_check(text) || strchr(text, ',') || !weir_range_next(&text, r) || r->step != 1)
        return false;
    if (!is_node)
        return true;
    if (r->first != r->last)
        return false;
    r->first *= per_node;
    r->last = r->first + per_node - 1;
    return r->last <= INT32_MAX;
}

int mc_play_read(const struct weir_par *world, struct mc_test *t, int64_t ranks,
                 struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    struct weir_range r;

    if (!t->o->play)
        return 0;
    weir_quote_str(t->o->play, shown);
    if (!read_ranks(t->o->play, world->per_node, &r))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--play=%s: write ranks of the job (0-7) or one of its nodes (node:3)",
                           shown);
    if (r.last - r.first + 1 != world->size)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--play=%s: ranks %" PRId64 " to %" PRId64 " need %" PRId64
                           " tasks, and there are %d",
                           shown, r.first, r.last, r.last - r.first + 1, world->size);
    if (r.last >= ranks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--play=%s: the job has %" PRId64 " ranks, 0 to %" PRId64, shown, ranks,
                           ranks - 1);
    t->play.first = (int)r.first;
    t->play.tasks = world->size;
    return 0;
}
