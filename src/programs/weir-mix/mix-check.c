/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-check.c - the command lines of a plan before anything starts: are they right, and do two groups use the
 * same files? */
#include "config.h"
#include "programs/weir-mix/mix-run.h"

#include <string.h>

#include "par/agree.h"

#define OWN (MIX_GROUPS + WEIR_SINKS + 1) /* files of weir-mix itself */

const char *mix_program_of(const struct mix_group *g)
{
    const char *slash = strrchr(g->argv[0], '/');

    return slash ? slash + 1 : g->argv[0];
}

static int refuse_program(const char *name, struct weir_err *err)
{
    const char *names[MIX_GROUPS] = { NULL };
    struct weir_str all = { 0 };
    char shown[WEIR_QUOTE_TEXT];

    for (int i = 0; i < MIX_GROUPS - 1 && (names[i] = weir_benchmark_name(i)); i++)
        weir_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
    weir_near_ask(name, names, &all);
    weir_refuse(err, WEIR_EUSAGE, "'%s' is no program of the suite: there are %s", weir_quote_str(name, shown),
                weir_str_words(&all));
    weir_str_free(&all);
    return -1;
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

int mix_check_share(const struct weir_par *par, int rc, struct weir_err *err)
{
    weir_bcast(par, &rc, sizeof(rc), 0);
    if (rc < 0)
        weir_bcast(par, err, sizeof(*err), 0);
    return rc;
}

/* The files of weir-mix itself. */
static int list_own(struct weir_run *run, const struct mix_test *t, const char *own[OWN + 1], struct weir_err *err)
{
    const char *list = t->o->run.reports ? t->o->run.reports : "";
    struct weir_str path = { 0 };
    int n = 0;

    own[n++] = t->o->plan;
    for (int g = 0; t->o->output && g < t->plan.n && own[n - 1]; g++) {
        weir_str_clear(&path);
        weir_str_addf(&path, "%s/%s.txt", t->o->output, t->plan.group[g].name);
        own[n++] = weir_arena_strdup(&run->arena, weir_str_text(&path), err);
    }
    for (; *list && n < OWN && own[n - 1]; list += strcspn(list, ","), list += *list == ',') {
        list += strcspn(list, ":,");
        own[n++] = weir_arena_strndup(&run->arena, list + 1, *list == ':' ? strcspn(list + 1, ",") : 0, err);
    }
    weir_str_free(&path);
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
        weir_refuse(err, WEIR_EUSAGE,
                    "%s%s%s and group '%s' would both use '%s': give each its own, or say --shared-files where this is meant",
                    other < 0 ? "weir-mix itself" : "group '", other < 0 ? "" : group[other].name, other < 0 ? "" : "'",
                    group[found].name, weir_job_error(job[found]));
    return weir_err_within(err, "%s:%lu", t->o->plan, group[found].line);
}

int mix_check_groups(struct weir_run *run, const struct mix_test *t, struct weir_err *err)
{
    struct weir_job *job[MIX_GROUPS] = { NULL };
    int rc = 0;

    for (int g = 0; g < t->plan.n && rc == 0; g++) {
        job[g] = make_job(&t->plan.group[g], &run->world.comm, err);
        if (!job[g])
            rc = weir_err_within(err, "%s:%lu", t->o->plan, t->plan.group[g].line);
    }
    rc = weir_agree_check(&run->world, rc, err);
    if (rc == 0 && !t->o->shared_files)
        rc = mix_check_share(&run->world, run->world.rank == 0 ? check_files(run, t, job, err) : 0, err);
    for (int g = 0; g < t->plan.n; g++)
        weir_job_free(job[g]);
    return rc;
}
