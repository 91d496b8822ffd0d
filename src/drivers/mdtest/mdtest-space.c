/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-space.c - what the trees need, and whether there is room for it */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>

#include "par/agree.h"

/* What one iteration has at its fullest, over all tasks. */
struct need {
    uint64_t dirs, items, bytes, inodes;
};

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t n;

    return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

/* Directory items are gone before files are made when they are removed at all. */
static struct need what_is_needed(const struct mdtest_test *t)
{
    const struct mdtest_options *o = t->o;
    uint64_t tasks = (uint64_t)o->last, items = t->tree.total;
    uint64_t files = t->kind[MDTEST_FILES] ? times(items, o->shared ? 1 : tasks) : 0;
    uint64_t dirs = t->kind[MDTEST_DIRS] ? times(items, tasks) : 0;
    uint64_t iterations = o->remove ? 1 : (uint64_t)o->run.repetitions;
    struct need n = { .dirs = times(t->tree.dirs * t->tree.loops, o->unique ? tasks : 1),
                      .bytes = times(files, (uint64_t)o->write_bytes) };

    n.items = o->remove ? (files > dirs ? files : dirs) : files + dirs;
    n.inodes = times(n.items + n.dirs + t->tree.loops, iterations);
    n.bytes = times(n.bytes, iterations);
    return n;
}

static void report_need(struct weir_run *run, const struct mdtest_test *t, const struct need *n)
{
    struct weir_report *r = &run->report;

    weir_report_enter(r, "need", false);
    weir_report_int(r, WEIR_FOR_ALL, "tree directories", (int64_t)n->dirs);
    weir_report_int(r, WEIR_FOR_ALL, "items of a task", (int64_t)t->tree.total);
    weir_report_int(r, WEIR_FOR_ALL, "items", (int64_t)n->items);
    weir_report_int(r, WEIR_FOR_ALL, "bytes", (int64_t)n->bytes);
    weir_report_int(r, WEIR_FOR_ALL, "inodes", (int64_t)n->inodes);
    weir_report_leave(r);
}

static int compare(const struct mdtest_test *t, const struct need *n, const struct weir_fs_usage *u,
                   struct weir_err *err)
{
    if (u->inodes > 1 && n->inodes > u->free_inodes)
        return weir_refuse(err, WEIR_ESETUP,
                           "the test needs %" PRIu64 " inodes in '%s', and %" PRIu64 " are free",
                           n->inodes, t->base[0], u->free_inodes);
    if (u->total_bytes > 1 && n->bytes > u->avail_bytes)
        return weir_refuse(err, WEIR_ESETUP,
                           "the test needs %" PRIu64 " bytes in '%s', and %" PRIu64 " are free",
                           n->bytes, t->base[0], u->avail_bytes);
    return 0;
}

/* Too little room ends a dry run with an error; a run that is meant is only warned, since it may
 * stop before. */
int mdtest_space_check(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    struct need n = what_is_needed(t);
    struct weir_fs_usage u = { 0 };
    struct weir_err why = WEIR_ERR_INIT;
    int rc = 0;

    if (t->o->run.dry_run)
        report_need(run, t, &n);
    if (run->world.rank == 0 && t->o->create &&
        weir_session_usage(&t->outer, t->base[0], &u, &why) == 0)
        rc = compare(t, &n, &u, &why);
    if (rc < 0 && t->o->run.dry_run)
        *err = why;
    else if (rc < 0)
        rc = weir_warn(&run->log, err, "%s", why.text);
    return weir_agree(&run->world, rc, err);
}
