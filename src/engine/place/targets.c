/* SPDX-License-Identifier: BSD-3-Clause */
/* targets.c - the files that a test will make, and are there before it */
#include "engine/place/targets.h"

#include <string.h>
#include <sys/stat.h>

#include "backends/session/session.h"
#include "base/size.h"
#include "engine/program.h"

#define MOST_TARGETS 4096

/* True when an earlier test of this run had the file, on this rank. Remembered from now on. */
static bool is_ours(struct weir_set *made, const char *path)
{
    size_t before = made->n;

    return weir_set_add(made, path, strlen(path)) >= 0 && made->n == before;
}

/* The i-th file that this rank will make. */
static bool name_target(struct weir_run *run, void *state, int i, struct weir_str *path)
{
    const struct weir_program *p = run->test->program;
    struct weir_cache_range ignored;

    weir_str_clear(path);
    if (p->files && p->files->target)
        return p->files->target(run, state, i, path);
    if (i > 0)
        return false;
    if (p->checks && p->checks->range)
        return p->checks->range(run, state, NULL, path, &ignored);
    weir_str_addf(path, "%s", run->test->plan.path);
    return run->par.rank == 0;
}

static void count_target(const struct weir_plan *plan, const struct stat *st, bool ours, struct weir_targets *there)
{
    uint64_t lost = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;

    if (st->st_mode && !S_ISREG(st->st_mode)) /* has no contents that are lost */
        return;
    if (plan->over_bytes > 0 && lost > plan->over_bytes)
        lost = plan->over_bytes;
    if (S_ISREG(st->st_mode))
        there->bytes += (uint64_t)st->st_blocks * 512;
    there->foreign += !ours;
    there->lost += ours ? 0 : lost;
}

/* True when an object of this name exists, or one below it: st is of a file, or with mode 0. Sends
 * a request for each, so not in a dry run. */
static int find_object(struct weir_run *run, const char *path, struct stat *st, bool *yes, struct weir_err *err)
{
    struct weir_session *s = run->test->sessions > 0 ? run->test->session[0] : NULL;
    uint64_t bytes;

    *yes = false;
    *st = (struct stat) { .st_mode = 0 };
    if (!s || !s->be || s->access.dry_run)
        return 0;
    if (weir_session_exists(s, path, yes, err) < 0)
        return -1;
    if (!*yes || weir_session_size(s, path, &bytes, NULL) < 0)
        return 0;
    *st = (struct stat) { .st_mode = S_IFREG, .st_size = (off_t)bytes, .st_blocks = (blkcnt_t)((bytes + 511) / 512) };
    return 0;
}

/* True when the run depends on existing files. For a service each look is a request. */
static bool looks_for_targets(const struct weir_run *run)
{
    const struct weir_run_options *o = run->test->plan.options;
    const struct weir_test_files *files = run->test->program->files;
    unsigned knows = files ? files->existing : 0;

    if (knows == 0 || !(run->test->used[0].be->flags & WEIR_BE_OBJECTS))
        return knows != 0;
    return !o->dry_run && (weir_existing(o) == WEIR_EXISTING_FAIL || !(knows & WEIR_EXISTING_REPORTED));
}

int weir_targets_check(struct weir_run *run, struct weir_set *made, struct weir_targets *there,
                       struct weir_err *err)
{
    struct weir_str path = { 0 };
    bool looks = looks_for_targets(run), yes;
    bool dry = run->test->plan.options->dry_run; /* which makes and replaces nothing */
    struct stat st;
    int rc = 0;

    for (int i = 0; rc == 0 && looks && i < MOST_TARGETS && name_target(run, run->test->state, i, &path);
         i++) {
        const char *system = weir_system_path(run->test->used[0].be, weir_str_text(&path));
        const char *name = system ? system : weir_str_text(&path);
        bool ours = dry || is_ours(made, name);

        if (system)
            yes = stat(system, &st) == 0;
        else
            rc = find_object(run, name, &st, &yes, err);
        if (rc < 0 || !yes)
            continue;
        count_target(&run->test->plan, &st, ours, there);
        if (!ours && weir_existing(run->test->plan.options) == WEIR_EXISTING_FAIL)
            rc = weir_refuse(err, WEIR_ESETUP,
                             "'%s' exists, and --existing=fail; remove it, or give another name",
                             name);
    }
    weir_str_free(&path);
    return rc;
}

void weir_targets_note(struct weir_run *run, const struct weir_targets *there)
{
    const struct weir_test_files *files = run->test->program->files;
    unsigned knows = files ? files->existing : 0;
    bool stays = run->test->plan.over_bytes > 0;
    char size[WEIR_SIZE_TEXT];

    if (there->foreign == 0 || !(knows & WEIR_EXISTING_REPLACE) || (knows & WEIR_EXISTING_REPORTED))
        return;
    weir_note(&run->log,
              "files that this run did not create %s: %llu, %s %s "
              "(--existing=fail would keep them)",
              stays ? "are overwritten" : "lose their contents",
              (unsigned long long)there->foreign, stays ? "up to" : "of",
              weir_size_show(weir_signed(there->lost), size));
}
