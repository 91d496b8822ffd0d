/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-check.c - the command lines of a plan before anything starts: are they right, and do two groups use the
 * same files? */
#include "programs/weir-mix/mix-run.h"

#include <string.h>

#define PHASES 64                         /* of a job, at most; more than any program has */
#define OWN (MIX_GROUPS + WEIR_SINKS + 1) /* files of weir-mix itself */

const char *mix_program_of(const struct mix_group *g)
{
    const char *slash = strrchr(g->argv[0], '/');

    return slash ? slash + 1 : g->argv[0];
}

static int refuse_program(const char *name, struct weir_err *err)
{
    const char *names[MIX_GROUPS] = { NULL };
    char shown[WEIR_QUOTE_TEXT];

    weir_refuse(err, WEIR_EUSAGE, "'%s' is not a program of the suite; the programs are ",
                weir_quote_str(name, shown));
    for (int i = 0; i < MIX_GROUPS - 1 && (names[i] = weir_benchmark_name(i)); i++)
        weir_err_add(err, "%s%s", i ? ", " : "", names[i]);
    return weir_near_ask(err, name, strlen(name), names);
}

/* The job of a command line on some ranks; NULL and err: the words are wrong. Local. */
static struct weir_job *make_job(const struct mix_group *g, const MPI_Comm *comm, struct weir_err *err)
{
    struct weir_job *job = weir_job_new(mix_program_of(g), comm);

    if (!job) {
        refuse_program(mix_program_of(g), err);
    } else if (weir_job_words(job, g->argc, g->argv) != 0) {
        weir_refuse(err, WEIR_EUSAGE, "%s: %s", mix_program_of(g), weir_job_error(job));
        weir_job_free(job);
        job = NULL;
    }
    if (!job)
        weir_err_within(err, "group '%s'", g->name);
    return job;
}

/* The files of weir-mix itself. */
static int list_own(struct weir_run *run, const struct mix_test *t, const char *own[OWN + 1], struct weir_err *err)
{
    const char *list = t->o->run.reports ? t->o->run.reports : "";
    int n = 0;

    own[n++] = t->o->plan;
    for (int g = 0; t->o->output && g < t->plan.n && own[n - 1]; g++)
        own[n++] = weir_arena_textf(&run->arena, err, "%s/%s.txt", t->o->output,
                                    t->plan.group[g].name);
    for (; *list && n < OWN && own[n - 1]; list += strcspn(list, ","), list += *list == ',') {
        list += strcspn(list, ":,");
        own[n++] = weir_arena_strndup(&run->arena, list + 1, *list == ':' ? strcspn(list + 1, ",") : 0, err);
    }
    return own[n - 1] ? 0 : -1;
}

/* Rank 0 looks at the file system. Local. */
static int check_files(struct weir_run *run, const struct mix_test *t, struct weir_job *const *job,
                       struct weir_err *err)
{
    const struct mix_group *group = t->plan.group;
    const char *own[OWN + 1] = { NULL };
    int tasks[MIX_GROUPS], other, found;

    for (int g = 0; g < t->plan.n; g++)
        tasks[g] = group[g].ranks;
    if (list_own(run, t, own, err) < 0)
        return -1;
    found = weir_jobs_clash(job, tasks, t->plan.n, own, &other);
    if (found < 0)
        return 0;
    if (other == found)
        weir_refuse(err, WEIR_EUSAGE, "group '%s': %s: %s", group[found].name, mix_program_of(&group[found]),
                    weir_job_error(job[found]));
    else
        weir_refuse(err, WEIR_EUSAGE, "%s%s%s and group '%s' would both use '%s': give each its "
                                      "own path, or give --shared-files if this is intended",
                    other < 0 ? "weir-mix itself" : "group '", other < 0 ? "" : group[other].name, other < 0 ? "" : "'",
                    group[found].name, weir_job_error(job[found]));
    return weir_err_within(err, "%s:%lu", t->o->plan, group[found].line);
}

/* The phases of a job, each once; the names are constants of its program. */
struct phases {
    const char *name[PHASES + 1];
    int n;
};

static bool has_phase(const struct phases *all, const char *phase)
{
    int i = 0;

    while (i < all->n && strcmp(all->name[i], phase) != 0)
        i++;
    return i < all->n;
}

static void add_phase(void *arg, const char *phase)
{
    struct phases *all = arg;

    if (!has_phase(all, phase) && all->n < PHASES)
        all->name[all->n++] = phase;
}

static void refuse_start(const struct mix_group *waits, const struct phases *all,
                         struct weir_err *err)
{
    weir_refuse(err, WEIR_EUSAGE,
                "group '%s' starts after the phase '%s' of '%s', which has no phase of this name",
                waits->name, waits->phase, waits->after_name);
    weir_near_ask(err, waits->phase, strlen(waits->phase), all->name);
    for (int i = 0; i < all->n; i++)
        weir_err_add(err, "%s'%s'", i ? ", " : "; its phases are ", all->name[i]);
}

/* Check that the phase for which a group waits will exist. Collective over run->world, the same on
 * all ranks. own: of our group. */
static int check_starts(struct weir_run *run, const struct mix_test *t, const struct phases *own,
                        struct weir_err *err)
{
    const struct mix_group *group = t->plan.group;
    int64_t missing[MIX_GROUPS] = { 0 };

    for (int g = 0; g < t->plan.n; g++)
        missing[g] = group[g].start == MIX_AFTER_PHASE && group[g].after == t->group &&
                     !has_phase(own, group[g].phase);
    weir_allmax_i64(&run->world, missing, t->plan.n);
    for (int g = 0; g < t->plan.n; g++) {
        if (!missing[g])
            continue;
        if (group[g].after == t->group)
            refuse_start(&group[g], own, err);
        weir_bcast(&run->world, err, sizeof(*err), t->leader_of[group[g].after]);
        return weir_err_within(err, "%s:%lu", t->o->plan, group[g].start_line);
    }
    return 0;
}

/* Check the options of each group together, on the ranks of that group. Collective over
 * run->world, the same on all ranks. */
static int check_options(struct weir_run *run, const struct mix_test *t, struct weir_job *job,
                         struct weir_err *err)
{
    const struct mix_group *group = t->plan.group;
    int64_t status[MIX_GROUPS] = { 0 };
    struct phases own = { .n = 0 };

    weir_job_before(job, add_phase, &own);
    if (job)
        status[t->group] = weir_job_check(job);
    weir_allmax_i64(&run->world, status, t->plan.n);
    for (int g = 0; g < t->plan.n; g++) {
        if (!status[g])
            continue;
        if (t->group == g)
            weir_refuse(err, (enum weir_code)status[g], "group '%s': %s: %s", group[g].name,
                        mix_program_of(&group[g]), weir_job_error(job));
        weir_bcast(&run->world, err, sizeof(*err), t->leader_of[g]);
        return weir_err_within(err, "%s:%lu", t->o->plan, group[g].line);
    }
    return check_starts(run, t, &own, err);
}

static int check_all(struct weir_run *run, const struct mix_test *t, struct weir_job **job,
                     MPI_Comm own, struct weir_err *err)
{
    int rc = 0;

    for (int g = 0; g < t->plan.n && rc == 0; g++) {
        job[g] = make_job(&t->plan.group[g], g == t->group ? &own : &run->world.comm, err);
        if (!job[g])
            rc = weir_err_within(err, "%s:%lu", t->o->plan, t->plan.group[g].line);
    }
    rc = weir_agree_check(&run->world, rc, err);
    if (rc == 0)
        rc = check_options(run, t, t->group >= 0 ? job[t->group] : NULL, err);
    if (rc == 0 && !t->o->shared_files)
        rc = weir_agree_root(&run->world, run->world.rank == 0 ? check_files(run, t, job, err) : 0, err);
    return rc;
}

int mix_check_groups(struct weir_run *run, const struct mix_test *t, struct weir_err *err)
{
    struct weir_job *job[MIX_GROUPS] = { NULL };
    struct weir_leaders leaders = { .is_leader = false };
    int rc = weir_leaders_split(&run->world, t->group >= 0 ? t->group : t->plan.n, &leaders, err);

    if (rc == 0)
        rc = check_all(run, t, job, leaders.group.comm, err);
    for (int g = 0; g < t->plan.n; g++)
        weir_job_free(job[g]);
    weir_leaders_free(&leaders);
    return rc;
}
