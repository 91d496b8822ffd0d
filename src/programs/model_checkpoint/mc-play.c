/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-play.c - --play: the tasks of a run are some ranks of a larger job, with their own files */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/quote.h"
#include "base/text/ranges.h"

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

int mc_play_read(const struct weir_par *world, struct mc_test *t, struct weir_err *err)
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
    t->play.first = (int)r.first;
    t->play.tasks = world->size;
    return 0;
}

static int check_ranks(const struct mc_test *t, int64_t ranks, struct weir_err *err)
{
    if (t->play.first + (int64_t)t->play.tasks <= ranks)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--play=%s: the job has %" PRId64 " ranks, 0 to %" PRId64, t->o->play, ranks,
                       ranks - 1);
}

int mc_play_check_save(const struct mc_test *t, struct weir_err *err)
{
    if (t->play.tasks == 0)
        return 0;
    if (check_ranks(t, mc_job_ranks(&t->job), err) < 0)
        return -1;
    if (!mc_region_is_shared(t))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--play: with --layout=%s ranks share files, and some of them are not here; "
                       "use --layout=torch, or --layout=deepspeed with --zero=3",
                       mc_layout_names[t->layout]);
}

/* Append the ranks from first to last, if there are any. */
static void add_ranks(int64_t first, int64_t last, struct weir_str *out)
{
    const char *before = out->len > 0 ? ", " : "";

    if (first == last)
        weir_str_addf(out, "%s%" PRId64, before, first);
    else if (first < last)
        weir_str_addf(out, "%s%" PRId64 " to %" PRId64, before, first, last);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int mc_play_check_load(const struct mc_test *t, struct weir_err *err)
{
    const struct mc_meta *m = &t->load.meta;
    int64_t first = t->play.first, last = first + t->play.tasks - 1;
    struct weir_str missing = { 0 };

    if (check_ranks(t, m->ranks, err) < 0)
        return -1;
    if (t->play.tasks == 0)
        last = m->ranks - 1;
    if (m->first <= first && last <= m->last)
        return 0;
    add_ranks(first, least(last, m->first - 1), &missing);
    add_ranks(most(first, m->last + 1), last, &missing);
    weir_refuse(err, WEIR_EUSAGE,
                "'%s' has the files of ranks %" PRId64 " to %" PRId64 " of a job of %" PRId64
                ", those of %s are missing: load it with --play=%" PRId64 "-%" PRId64,
                weir_str_text(&t->load.from), m->first, m->last, m->ranks, weir_str_words(&missing),
                m->first, m->last);
    weir_str_free(&missing);
    return -1;
}
