/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c - would jobs that run at once use the same files? */
#include "library/library.h"

#include <stdlib.h>

#include "engine/command.h"
#include "engine/files.h"

/* The files of one job, also of the tests of its script. The run keeps their names. */
static int add_job(struct weir_run *run, const struct weir_inside *in, struct weir_files *files,
                   struct weir_err *err)
{
    struct weir_command c;

    if (weir_program_options(run, &c, in->program, in->shown_argc, in->shown, err) < 0 ||
        weir_command_settings(&c, &run->world, &run->log, err) < 0 ||
        weir_command_tests(&c, &run->world, err) < 0)
        return -1;
    return weir_command_add_files(&c, files, err);
}

/* Find a clash with an array of runs: one for each job, zeroed, and one more. */
static int find_clash(struct weir_run *run, const struct weir_inside *in, const int *tasks, int n,
                      const char *const *own, int *other, struct weir_err *err)
{
    struct weir_files files = { .arena = &run[n].arena, .at_once = true, .job = -1 };
    struct weir_str place = { 0 };
    int job[2] = { -1, -1 };

    for (; own && *own; own++)
        if (weir_files_add(&files, "", *own, WEIR_FILE_WRITE, err) < 0)
            return *other = 0;
    for (int i = 0; i < n; i++) {
        files.job = i;
        files.tasks = tasks[i];
        if (in[i].program && add_job(&run[i], &in[i], &files, err) < 0)
            return *other = i;
    }
    if (weir_files_meet(&files, job, &place))
        weir_refuse(err, WEIR_EUSAGE, "%s", weir_str_text(&place));
    weir_str_free(&place);
    *other = job[0];
    return job[1];
}

int weir_inside_clash(const struct weir_inside *in, const int *tasks, int n, const char *const *own,
                      int *other, struct weir_err *err)
{
    struct weir_run *run = calloc((size_t)n + 1, sizeof(*run));
    int found = *other = 0;

    for (int i = 0; run && i <= n; i++) {
        weir_program_begin(&run[i], 1); /* not the rank that speaks */
        weir_par_single(&run[i].world);
    }
    if (run)
        found = find_clash(run, in, tasks, n, own, other, err);
    else
        weir_refuse(err, WEIR_ESETUP, "no memory for the files of %d jobs", n);
    for (int i = 0; run && i <= n; i++)
        weir_program_end(&run[i]);
    free(run);
    return found;
}
