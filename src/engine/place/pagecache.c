/* SPDX-License-Identifier: BSD-3-Clause */
/* pagecache.c - the file of a stage in the page cache: the checks look at it, --drop-cache drops it. Neither
 * needs the other. */
#include "engine/place/pagecache.h"

#include <string.h>

#include "backends/backend.h"
#include "base/node/environment.h"
#include "engine/program.h"
#include "par/reduce.h"

/* Which bytes of which file this rank reads or writes in a stage, as the program tells. Where it
 * does not and its plan is one shared file: a part of that, so that all ranks together look at
 * each byte once. */
static bool find_range(struct weir_run *run, const struct weir_stage *stage, struct weir_str *path,
                       struct weir_cache_range *range)
{
    const struct weir_test *t = run->test;
    const struct weir_test_checks *j = t->program->checks;
    uint64_t part = t->plan.bytes / (uint64_t)run->par.size;

    if (j && j->range)
        return j->range(run, t->state, stage, path, range);
    if (!t->plan.shared || t->plan.inodes != 1 || part == 0)
        return false;
    weir_str_addf(path, "%s", t->plan.path);
    *range = (struct weir_cache_range) { (uint64_t)run->par.rank * part, part, 0, 1 };
    return true;
}

/* The name that the operating system has for the file; the path where no backend is in use. NULL: it has
 * none. */
static const char *name_of(const struct weir_run *run, const struct weir_str *path)
{
    const struct weir_test *t = run->test;
    const char *text = weir_str_text(path);

    return t->n_used > 0 ? weir_system_path(t->used[0].be, text) : text;
}

/* NULL: no memory. */
static struct weir_underlying *underlying_of(struct weir_run *run)
{
    if (!run->underlying)
        run->underlying = weir_arena_alloc(&run->arena, sizeof(*run->underlying), NULL);
    run->report.lost |= !run->underlying;
    return run->underlying;
}

/* Where memory is out nothing is kept, and the report says so. */
static const char *keep(struct weir_run *run, const struct weir_str *text)
{
    const char *copy = weir_arena_strdup(&run->arena, weir_str_text(text), NULL);

    run->report.lost |= !copy;
    return copy;
}

/* On rank 0 the mount, too. */
static void find_underlying(struct weir_run *run, const char *path)
{
    struct weir_found *f = &run->test->found;
    struct weir_mount m = { .point = { 0 } };
    struct weir_str first = { 0 };
    const char *name;

    weir_str_add(&first, path, strcspn(path, run->test->plan.between));
    name = name_of(run, &first);
    if (name && underlying_of(run))
        weir_underlying_find(name, run->underlying, &m);
    if (run->par.rank == 0 && m.point.len > 0) {
        f->mount = keep(run, &m.point);
        f->file_system = keep(run, &m.type);
        f->mount_options = keep(run, &m.options);
    }
    run->report.lost |= m.failed || first.failed;
    weir_mount_free(&m);
    weir_str_free(&first);
}

void weir_pagecache_place(struct weir_run *run, const char *path)
{
    struct weir_underlying underlying = { .known = false };

    if (weir_par_asks(&run->par))
        find_underlying(run, path);
    if (run->underlying)
        underlying = *run->underlying;
    weir_nodes_bcast(&run->par, &underlying, sizeof(underlying));
    if (underlying.known && underlying_of(run))
        *run->underlying = underlying;
}

void weir_pagecache_sample(struct weir_run *run, const struct weir_stage *stage,
                           struct weir_cache_seen *seen, const char **why)
{
    struct weir_cache_range range;
    struct weir_str path = { 0 };
    const char *name;

    *seen = (struct weir_cache_seen) { .looked = 0 };
    *why = "the program does not report its files";
    if (!run->test->plan.options->dry_run && underlying_of(run) &&
        find_range(run, stage, &path, &range)) {
        *why = "objects of a service are in no page cache";
        if (weir_environment_is_intercepted())
            *why = WEIR_INTERCEPTED;
        else if ((name = name_of(run, &path)))
            weir_cache_stat(name, &range, run->underlying, seen, why);
    }
    weir_str_free(&path);
}

void weir_pagecache_do(struct weir_run *run, const struct weir_stage *stage,
                       void (*what)(const char *path, struct weir_underlying *b))
{
    struct weir_cache_range range;
    struct weir_str path = { 0 };
    const char *name;

    if (underlying_of(run) && find_range(run, stage, &path, &range) && (name = name_of(run, &path)))
        what(name, run->underlying);
    weir_str_free(&path);
}
