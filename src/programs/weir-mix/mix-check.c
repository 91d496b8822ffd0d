/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-check.c - the command lines of a plan before anything starts: are they right, and do two groups use the
 * same files? */
#include "config.h"
#include "programs/weir-mix/mix-run.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/path.h"
#include "par/agree.h"

#define PATHS 16 /* of a command line */

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

/* The same text for all names of a file, also of one that is not there yet. The caller frees it; NULL: not known. */
static char *resolve(const char *path)
{
    char *real = weir_path_real(path), *parent, *slash;
    struct weir_str out = { 0 };

    if (real)
        return real;
    parent = strdup(path);
    slash = parent ? strrchr(parent, '/') : NULL;
    if (slash)
        *slash = '\0';
    real = parent ? weir_path_real(slash ? (*parent ? parent : "/") : ".") : NULL;
    if (real)
        weir_str_addf(&out, "%s/%s", real, slash ? slash + 1 : path);
    else
        weir_str_addf(&out, "%s", path);
    free(real);
    free(parent);
    return out.text;
}

/* The files of a group, NULL for standard output and devices; returns how many. */
static int list_paths(struct weir_job *job, char *path[PATHS])
{
    const char *next;
    int n = 0;

    while (n < PATHS && (next = weir_job_path(job, n))) {
        path[n] = strcmp(next, "-") == 0 || strncmp(next, "/dev/", 5) == 0 ? NULL : resolve(next);
        n++;
    }
    return n;
}

static int compare(const struct mix_group *a, char *const *of_a, int n, const struct mix_group *b,
                   char *const *of_b, int m, struct weir_err *err)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            if (of_a[i] && of_b[k] && strcmp(of_a[i], of_b[k]) == 0)
                return weir_refuse(err, WEIR_EUSAGE,
                                   "group '%s' and group '%s' would both use '%s': give each its own, or say --shared-files "
                                   "where this is meant",
                                   a->name, b->name, of_a[i]);
    return 0;
}

int mix_check_share(const struct weir_par *par, int rc, struct weir_err *err)
{
    weir_bcast(par, &rc, sizeof(rc), 0);
    if (rc < 0)
        weir_bcast(par, err, sizeof(*err), 0);
    return rc;
}

/* Rank 0 looks at the file system. Local. */
static int check_paths(const struct mix_test *t, struct weir_job *const *job, struct weir_err *err)
{
    char *path[MIX_GROUPS][PATHS] = { { NULL } };
    int n[MIX_GROUPS], rc = 0;

    for (int g = 0; g < t->plan.n; g++)
        n[g] = list_paths(job[g], path[g]);
    for (int b = 1; b < t->plan.n && rc == 0; b++)
        for (int a = 0; a < b && rc == 0; a++)
            if (compare(&t->plan.group[a], path[a], n[a], &t->plan.group[b], path[b], n[b], err) < 0)
                rc = weir_err_within(err, "%s:%lu", t->o->plan, t->plan.group[b].line);
    for (int g = 0; g < t->plan.n; g++)
        for (int i = 0; i < n[g]; i++)
            free(path[g][i]);
    return rc;
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
        rc = mix_check_share(&run->world, run->world.rank == 0 ? check_paths(t, job, err) : 0, err);
    for (int g = 0; g < t->plan.n; g++)
        weir_job_free(job[g]);
    return rc;
}
