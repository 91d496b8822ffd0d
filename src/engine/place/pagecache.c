/* SPDX-License-Identifier: BSD-3-Clause */
/* pagecache.c - the page cache before and after a phase: looked at, and dropped on request */
#include "config.h"
#include "engine/place/pagecache.h"

#include "engine/observer.h"
#include "par/agree.h"
#include "par/reduce.h"

/* Which bytes of which file this rank reads or writes in a stage, as the program tells. Where it
 * does not and its plan is one shared file: a part of that, so that all ranks together look at
 * each byte once. */
static bool find_range(struct weir_run *run, const struct weir_stage *stage, struct weir_str *path,
                       struct weir_cache_range *range)
{
    const struct weir_test *t = run->test;
    const struct weir_judged *j = t->program->judged;
    uint64_t part = t->plan.bytes / (uint64_t)run->par.size;

    if (j && j->range)
        return j->range(run, t->state, stage, path, range);
    if (!t->plan.shared || t->plan.inodes != 1 || part == 0)
        return false;
    weir_str_addf(path, "%s", t->plan.path);
    *range = (struct weir_cache_range) { (uint64_t)run->par.rank * part, part, 0, 1 };
    return true;
}

static const char *name_of(const struct weir_run *run, const struct weir_str *path)
{
    const struct weir_test *t = run->test;
    const char *text = weir_str_text(path);

    return t->n_used > 0 ? weir_system_path(t->used[0].be, text) : text;
}

void weir_pagecache_look(struct weir_run *run, const struct weir_stage *stage,
                         struct weir_cache_seen *seen, const char **why)
{
    struct weir_cache_range range;
    struct weir_str path = { 0 };

    *seen = (struct weir_cache_seen) { .looked = 0 };
    *why = "the program does not report its files";
    if (!run->test->plan.options->dry_run && find_range(run, stage, &path, &range))
        weir_cache_look(name_of(run, &path), &range, seen, why);
    weir_str_free(&path);
}

/* ---- --drop-cache ---- */

/* The file that this rank touches in such a stage. */
static void do_file(struct weir_run *run, const struct weir_stage *stage,
                    void (*what)(const char *path))
{
    struct weir_cache_range range;
    struct weir_str path = { 0 };

    if (find_range(run, stage, &path, &range))
        what(name_of(run, &path));
    weir_str_free(&path);
}

/* Dirty pages stay: all is written back before anything is dropped. A node holds pages of what its
 * tasks have written, and may hold some of what they will read. Two tasks that drop the same pages
 * at one time can keep each other from it: of a file that tasks share, one of a node does it
 * again. */
static int drop(struct weir_run *run, const struct weir_stage *reads, struct weir_err *err)
{
    struct weir_stage writes = *reads;
    int rc;

    writes.flags = WEIR_STAGE_WRITES;
    do_file(run, &writes, weir_cache_clean);
    if ((rc = weir_agree(&run->par, 0, err)) == 0)
        do_file(run, &writes, weir_cache_drop);
    if (rc == 0 && (rc = weir_agree(&run->par, 0, err)) == 0)
        do_file(run, reads, weir_cache_drop);
    if (rc == 0 && (rc = weir_agree(&run->par, 0, err)) == 0 && run->par.rank == run->par.leader)
        do_file(run, reads, weir_cache_drop);
    return rc == 0 ? weir_agree(&run->par, 0, err) : rc;
}

#define LEFT 0.05 /* of the bytes: more is a failure */

static int check_dropped(struct weir_run *run, const struct weir_stage *reads, struct weir_err *err)
{
    struct weir_cache_seen seen;
    const char *why;
    uint64_t v[3];

    weir_pagecache_look(run, reads, &seen, &why);
    v[0] = (uint64_t)seen.looked;
    v[1] = (uint64_t)seen.resident;
    v[2] = why != NULL;
    weir_allsum_u64(&run->par, v, 3);
    run->test->evicted = v[2] == 0 && (double)v[1] <= LEFT * (double)v[0];
    if (run->repetition > 0 || (v[0] == 0 && v[2] == 0) ||
        (run->test->n_used > 0 && (run->test->used[0].be->flags & WEIR_BE_NO_DATA)))
        return 0;
    if (v[2] > 0)
        return weir_warn(&run->log, err,
                         "--drop-cache: whether it worked is not known, because %s on %llu tasks",
                         "the state of the page cache cannot be read", (unsigned long long)v[2]);
    if ((double)v[1] > LEFT * (double)v[0])
        return weir_warn(&run->log, err,
                         "--drop-cache did not work: %.0f %% of the bytes to be read are still in "
                         "the page cache (is it a file system in memory?)",
                         100 * (double)v[1] / (double)v[0]);
    return 0;
}

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    const struct weir_stage *s = rec->stage;

    (void)state;
    if (run->test->plan.options->dry_run || !s || !(s->flags & WEIR_STAGE_READS) ||
        (s->flags & WEIR_STAGE_WRITES))
        return 0;
    return drop(run, s, err) < 0 ? -1 : check_dropped(run, s, err);
}

static bool is_wanted(const struct weir_test *t)
{
    return t->plan.options->drop_cache;
}

const struct weir_observer weir_dropcache = { .name = "dropcache", .wanted = is_wanted, .before = before };
