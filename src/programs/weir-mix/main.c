/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - weir-mix: unlike jobs at once, each alone and all together */
#include "programs/weir-mix/mix-run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text/wholefile.h"
#include "engine/test.h"
#include "par/textfile.h"

#define O struct mix_options

static const char *const mix_ends[] = { "first", "all", "repeat", NULL };

static const struct weir_opt options[] = {
    OPT_STR('f', "plan", NULL, O, plan, NULL, "FILE",
            "Plan of groups with ranks, command lines and start (also without -f)",
            .flags = WEIR_OPT_READS | WEIR_OPT_WORD, OPT_FIRST(FILES)),
    OPT_FLAG(0, "shared-files", NULL, O, shared_files, "Same files in two groups are allowed", OPT_IN(FILES)),
    OPT_FLAG('a', "alone", NULL, O, alone, "Each group alone first, for comparison", .def = "1", OPT_FIRST(ORDER)),
    OPT_ALIAS(0, "no-alone", "alone=0", "Groups together only", OPT_FIRST(ORDER)),
    OPT_FLAG('p', "pairs", NULL, O, pairs, "Each pair of groups, too, for the matrix of slowdowns", OPT_FIRST(ORDER)),
    OPT_STR('e', "end", NULL, O, end, "all", "WHEN",
            "End: with the first group, the last, or repetitions until the last",
            .choices = mix_ends, OPT_FIRST(TIME)),
    OPT_RUN(repetitions, 'i', "repetitions", NULL, .help = "Repetitions; 6 or more give intervals", OPT_FIRST(TIME)),
    OPT_RUN(delay_s, 'd', "delay", NULL, .help = "Wait before the groups run alone, in pairs, "
                                                 "together, seconds"),
    OPT_RUN(max_minutes, 'T', "max-time-duration", NULL,
            .help = "Time after which nothing begins, minutes"),
    OPT_STR('o', "output", NULL, O, output, NULL, "DIR",
            "Directory for DIR/GROUP.txt, the text of each group",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE, .example = "--output=texts", OPT_FIRST(OUTPUT)),
    OPT_RUN(reports, 0, "report", NULL,
            .help = "Results: text:-, json:FILE, csv:FILE (a row for each operation of a group)"),
    OPT_RUN(dry_run, 'n', "dry-run", NULL, .help = "Check of the plan and its ranks, without running it"),
    OPT_RUN(anonymous, 0, "anonymous", NULL),
    OPT_RUN(verbose, 'v', "verbose", NULL),
    OPT_RUN(warnings_are_errors, 0, "warning-as-errors", NULL),
    OPT_END
};

#undef O

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "plan.txt", "each group alone, then all together" },
    { WEIR_TOPIC_NONE, "plan.txt --dry-run", "which group has which ranks" },
    { WEIR_TOPIC_NONE, "plan.txt --pairs", "which group slows which one down" },
    { WEIR_TOPIC_NONE, "plan.txt --end=repeat -i 6", "full load until the last one has ended, and intervals" },
    { WEIR_TOPIC_NONE, "plan.txt --report=text:-,json:r.json", "results for programs, too" },
    { WEIR_TOPIC_ORDER, "plan.txt --no-alone", "the groups together only" },
    { WEIR_TOPIC_TIME, "plan.txt --end=first", "the first group that ends ends the others" },
    { WEIR_TOPIC_OUTPUT, "plan.txt --output=texts", "the text of each group in a file" },
    { WEIR_TOPIC_FILES, "plan.txt --shared-files", "two groups read the same files" },
    { .args = NULL }
};

static const struct weir_operation operations[] = { { .key = NULL } };

/* ---- the plan ---- */

static int read_plan(struct weir_run *run, struct mix_test *t, struct weir_err *err)
{
    struct weir_shared_text text = { .what = "plan", .path = t->o->plan, .must_be = true };
    int rc = weir_shared_text_read(&run->world, &text, err);

    if (rc == 0)
        rc = weir_agree_check(&run->world,
                              mix_plan_read(text.text, text.len, t->o->plan, &run->arena, &t->plan, err), err);
    free(text.text);
    return rc;
}

/* Rank 0 gives all ranks their groups. */
static int assign_ranks(struct weir_run *run, struct mix_test *t, struct weir_err *err)
{
    const struct weir_par *par = &run->world;
    const int size = par->size, mine = par->node;
    int *node = weir_gather_new(par, &mine, sizeof(mine));
    int *of = weir_arena_alloc(&run->arena, sizeof(*of) * (size_t)size, err);
    int rc = of ? 0 : -1;

    if (par->rank == 0 && rc == 0)
        rc = node ? mix_ranks_assign(&t->plan, node, size, par->nodes, of, err)
                  : weir_refuse(err, WEIR_ESETUP, "no memory for the nodes of %d ranks", size);
    if (rc < 0 && of && err->code == WEIR_EUSAGE)
        weir_err_within(err, "%s", t->o->plan);
    free(node);
    if (weir_agree(par, of ? 0 : -1, err) < 0 || weir_agree_root(par, rc, err) < 0)
        return -1;
    weir_bcast(par, of, sizeof(*of) * (size_t)size, 0);
    t->group = of[par->rank];
    for (int i = size; i-- > 0;)
        if (of[i] >= 0) {
            t->leader_of[of[i]] = i;
            t->plan.group[of[i]].ranks += par->rank != 0;
        }
    return 0;
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct mix_test *t = state;
    int used = 0;

    t->o = chosen;
    t->skew_s = t->common_s = NAN;
    if (!t->o->plan)
        return weir_refuse(err, WEIR_EUSAGE, "a plan is missing: weir-mix PLAN (see weir-mix(1))");
    t->end = (enum mix_end)weir_opt_choice(mix_ends, t->o->end);
    if (read_plan(run, t, err) < 0 || assign_ranks(run, t, err) < 0 || mix_check_groups(run, t, err) < 0)
        return -1;
    for (int g = 0; g < t->plan.n; g++)
        used += t->plan.group[g].ranks;
    if (used < run->world.size)
        weir_note(&run->log, "%d of %d ranks are in no group and do nothing", run->world.size - used, run->world.size);
    if (t->o->pairs && (t->plan.n < 2 || !t->o->alone))
        return weir_refuse(err, WEIR_EUSAGE, "option --pairs needs %s",
                           t->o->alone ? "two groups at least" : "each group alone, too: leave --no-alone out");
    return 0;
}

/* ---- a test ---- */

static bool keeps_texts(const struct mix_test *t)
{
    return t->o->output && !t->o->run.dry_run;
}

/* The job of our group, and the file for its text. Local. */
static int make_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mix_test *t = state;
    struct mix_group *g = t->group >= 0 ? &t->plan.group[t->group] : NULL;

    if (!g)
        return 0;
    t->job = weir_job_new(mix_program_of(g), &t->leaders.group.comm);
    if (!t->job || weir_job_words(t->job, g->argc, g->argv) != 0)
        return weir_refuse(err, WEIR_ESETUP, "group '%s': %s", g->name, weir_job_error(t->job));
    if (!keeps_texts(t) || !t->leaders.is_leader)
        return 0;
    weir_str_addf(&t->path, "%s/%s.txt", t->o->output, g->name);
    t->text = weir_open_now(weir_str_text(&t->path), "w");
    return t->text ? 0 : weir_fail(err, WEIR_ESETUP, "create '%s' (option --output)", weir_str_text(&t->path));
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mix_test *t = state;
    int rc = 0;

    if (weir_test_leaders(run, &t->leaders, t->group >= 0 ? t->group : t->plan.n, err) < 0)
        return -1;
    /* by rank 0, for the leaders of all groups */
    if (keeps_texts(t) && run->par.rank == 0 && mkdir(t->o->output, 0777) < 0 && errno != EEXIST)
        rc = weir_fail(err, WEIR_ESETUP, "create directory '%s' (option --output)", t->o->output);
    if (keeps_texts(t) && weir_agree(&run->par, rc, err) < 0)
        return -1;
    return weir_local(run, make_own, t, err);
}

static void end(void *state)
{
    struct mix_test *t = state;

    weir_job_free(t->job);
    if (t->text)
        fclose(t->text);
    weir_str_free(&t->path);
    free(t->rates.rate);
    weir_set_free(&t->reported);
}

/* ---- stages ---- */

static int run_alone(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_err *err)
{
    struct mix_test *t = state;

    for (int g = 0; g < t->plan.n; g++) {
        bool in[MIX_GROUPS] = { false };

        in[g] = true;
        if (mix_set_run(run, t, in, MIX_ALONE, err) < 0)
            return -1;
    }
    return 0;
}

/* For each of the two the other one is what it ran with. */
static int run_pairs(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_err *err)
{
    struct mix_test *t = state;

    for (int a = 0; a < t->plan.n; a++)
        for (int b = a + 1; b < t->plan.n; b++) {
            bool in[MIX_GROUPS] = { false };

            in[a] = in[b] = true;
            if (mix_set_run(run, t, in, a + b, err) < 0)
                return -1;
        }
    return 0;
}

static int run_together(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    bool in[MIX_GROUPS];

    for (int g = 0; g < MIX_GROUPS; g++)
        in[g] = g < ((struct mix_test *)state)->plan.n;
    return mix_set_run(run, state, in, MIX_ALL, err);
}

enum { ALONE, PAIRS, TOGETHER };

static bool wanted(const void *state, const struct weir_stage *stage)
{
    const struct mix_options *o = ((const struct mix_test *)state)->o;
    const bool is_wanted[] = { [ALONE] = o->alone, [PAIRS] = o->pairs, [TOGETHER] = true };

    return is_wanted[stage->index] && !o->run.dry_run;
}

static const struct weir_stage stages[] = {
    { "alone", WEIR_STAGE_DELAY, ALONE, .wanted = wanted, .before = run_alone },
    { "pairs", WEIR_STAGE_DELAY, PAIRS, .wanted = wanted, .before = run_pairs },
    { "together", WEIR_STAGE_DELAY, TOGETHER, .wanted = wanted, .before = run_together },
    { .key = NULL }
};

/* All of it must have reached its file. Local. */
static int close_text(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mix_test *t = state;
    bool written = weir_close_written(t->text);

    t->text = NULL;
    if (written)
        return 0;
    return weir_fail(err, WEIR_ESETUP, "write '%s' (option --output)", weir_str_text(&t->path));
}

static int conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mix_test *t = state;

    if (!t->o->run.dry_run)
        mix_report_all(run, t, run->test->failed ? run->repetition : run->test->max_repetitions);
    return weir_local(run, close_text, t, err);
}

static const struct weir_output output = { .report = mix_report_plan };

static const struct weir_cli cli = { .minimal = true, .usage = "weir-mix [OPTION...] PLAN" };

static const struct weir_program weir_mix = {
    .name = "weir-mix",
    .brief = "run jobs alone and together, and report how much they slow each other down",
    .examples = examples,
    .opts = options,
    .opt_size = sizeof(struct mix_options),
    .state_size = sizeof(struct mix_test),
    .operations = operations,
    .cli = &cli,
    .output = &output,
    .plan = plan,
    .end = end,
    .start = start,
    .stages = stages,
    .conclude = conclude,
};

int main(int argc, char **argv)
{
    return weir_main(&weir_mix, argc, argv);
}
