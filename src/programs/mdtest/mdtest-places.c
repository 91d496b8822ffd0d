/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-places.c - the directories around the trees, and what earlier runs left in them */
#include "programs/mdtest/mdtest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/registry.h"
#include "base/size.h"
#include "engine/about/banner.h"
#include "engine/place/cleanup.h"
#include "engine/place/usage.h"
#include "par/agree.h"

#define MODE 0775
#define LOOPS_BETWEEN 1024

/* Completes the error of a directory that was not created: names the parent directory if that is missing. */
static int name_missing_parent(const char *path, struct weir_err *err)
{
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    if (err->sys == ENOENT && len > 1)
        weir_err_add(err, " ('%.*s' does not exist: create it first, or correct -d)", (int)len - 1, path);
    return -1;
}

/* The base directory of this rank, if any. One mkdir, without missing parents: these are more likely a
 * typing error. */
static int make_base(const struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    const char *base;
    bool there;

    if (run->par.rank >= t->places.n)
        return 0;
    base = t->places.base[run->par.rank];
    if (weir_session_exists(&t->places.outer, base, &there, err) < 0)
        return -1;
    if (!there && weir_session_mkdir(&t->places.outer, base, MODE, err) < 0)
        return name_missing_parent(base, err);
    t->places.made = !there;
    return 0;
}

/* Test directories that were there already, of one task. */
struct found {
    uint64_t n, first; /* of them the loop of the first one */
};

/* Make a directory that is missing. Directories in it inherit its layout. */
static int make_test(struct mdtest_test *t, const char *path, uint64_t loop, struct found *found,
                     struct weir_err *err)
{
    bool there;

    if (weir_session_exists(&t->fs.session, path, &there, err) < 0)
        return -1;
    if (there)
        found->first = found->n++ ? found->first : loop;
    else if (weir_session_mkdir(&t->fs.session, path, MODE, err) < 0)
        return -1;
    if (!t->o->reset_layout || weir_session_reset_dir(&t->fs.session, path, err) == 0)
        return 0;
    if (!there)
        weir_session_rmdir(&t->fs.session, path, NULL);
    return -1;
}

/* Trees beside each other can be many: -n over -I. */
static int poll_signals(struct weir_run *run, uint64_t loop, struct weir_err *err)
{
    if (loop % LOOPS_BETWEEN < LOOPS_BETWEEN - 1 || !weir_interrupt_poll(&run->interrupt))
        return 0;
    return weir_refuse(err, WEIR_EINTR, "interrupted between the directories of the trees");
}

/* Collective; the same err on all ranks. */
static int warn_found(struct weir_run *run, struct mdtest_test *t, const struct found *mine,
                      struct weir_err *err)
{
    struct found all = *mine;
    int64_t who = mine->n ? -run->par.rank : INT64_MIN;
    char others[40] = "";

    weir_allmax_i64(&run->par, &who, 1);
    if (who == INT64_MIN)
        return 0;
    t->places.all_ours = false;
    if (weir_existing(&t->o->run) == WEIR_EXISTING_REUSE)
        return 0;
    weir_bcast(&run->par, &all.first, sizeof(all.first), (int)-who);
    weir_allsum_u64(&run->par, &all.n, 1);
    if (all.n > 1 && snprintf(others, sizeof(others), " (and %" PRIu64 " more)", all.n - 1) < 0)
        others[0] = '\0';
    if (t->fs.be->flags & WEIR_BE_OBJECTS)
        return weir_warn(
            &run->log, err,
            "'%s/" MDTEST_TESTS "%d-%" PRIu64
            "' exists already%s, from an earlier run: objects of equal names are "
            "replaced, and others remain until a tool of the service removes them",
            t->places.base[-who], run->repetition, all.first, others);
    return weir_warn(
        &run->log, err,
        "'%s/" MDTEST_TESTS "%d-%" PRIu64
        "' exists already%s, from an earlier run: existing items are not created again, "
        "which is faster; mdtest --cleanup %s removes them",
        t->places.base[-who], run->repetition, all.first, others, t->places.base[-who]);
}

int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    struct found found = { 0 };
    uint64_t loop = 0;
    int rc = 0;

    while (loop < mdtest_my_tests(run, t) && rc == 0)
        if ((rc = poll_signals(run, loop, err)) == 0 &&
            (rc = make_test(t, mdtest_my_test(run, t, loop), loop, &found, err)) == 0)
            loop++;
    if (weir_agree(&run->par, rc, err) < 0) {
        while (found.n == 0 && loop > 0)
            weir_session_rmdir(&t->fs.session, mdtest_my_test(run, t, --loop), NULL);
        return -1;
    }
    t->places.made_tests = true;
    return warn_found(run, t, &found, err);
}

int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (uint64_t loop = 0; loop < t->tree.loops && run->log.verbose >= 2; loop++)
        mdtest_log(run, 2, "main (at end of for j loop): Removing o.testdir of '%s'\n",
                   mdtest_name_test(&t->target, t->places.base[0], run->repetition, loop));
    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t) && rc == 0; loop++)
        if ((rc = poll_signals(run, loop, err)) == 0)
            rc = weir_session_rmdir(&t->fs.session, mdtest_my_test(run, t, loop), err);
    t->places.made_tests = false;
    return weir_agree(&run->par, rc, err);
}

/* ---- what earlier runs left (--cleanup DIR) is known by its names ---- */

/* Names of the suite, and the levels on which they stand. A rename sets an item aside as -XX, and
 * links have these names. */
static const struct weir_cleanup_form forms[] = {
    { MDTEST_TESTS "#-#", true, 0, 0, WEIR_CLEANUP_TREE },
    { "mdtest_tree.#", true, 1, INT_MAX, WEIR_CLEANUP_TREE },
    { "mdtest_tree.#.#", true, 1, INT_MAX, WEIR_CLEANUP_TREE },
    { "dir.mdtest.#.#", true, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "dir.mdtest.#.#-XX", true, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "file.mdtest.#.#", false, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "file.mdtest.shared.#", false, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "dir.mdtest.#.#-XX", false, 2, INT_MAX, WEIR_CLEANUP_LINK },
    { "file.mdtest.#.#-XX", false, 2, INT_MAX, WEIR_CLEANUP_LINK },
};

static int look_at_leftovers(struct weir_run *run, const struct mdtest_test *t, struct weir_err *err)
{
    /* Trees one beside the other; those of tasks; branches of the one tree of all tasks, for which
     * the items beside them would be read by all ranks. */
    int share_level = t->tree.loops > 1 ? 0 : t->o->leaf_only && !t->o->unique ? 2 : 1;
    bool replaces = t->o->create && weir_existing(&t->o->run) == WEIR_EXISTING_REPLACE;
    int rc = 0;

    for (int i = 0; rc == 0 && i < t->places.n; i++)
        rc = weir_cleanup_existing(run, "mdtest", t->places.base[i], replaces, t->fs.be, forms,
                                sizeof(forms) / sizeof(*forms), share_level, err);
    return rc;
}

static bool clean_instead(struct weir_run *run, const struct weir_values *values,
                          enum weir_code *code)
{
    const struct mdtest_options *o = values->given;
    const struct weir_backend *be = o->run.api ? weir_backend_find(o->run.api) : NULL;
    struct weir_err err = WEIR_ERR_INIT;

    if (!o->cleanup)
        return false;
    if (be && (be->flags & WEIR_BE_OBJECTS))
        weir_refuse(&err, WEIR_EUSAGE,
                    "--cleanup removes only directories of a file system, but %s has "
                    "objects; use a tool of the service for those below '%s'",
                    be->name, o->cleanup);
    else
        weir_cleanup(run, "mdtest", o->cleanup, forms, sizeof(forms) / sizeof(*forms), &err);
    *code = err.code != WEIR_OK ? weir_run_refuse(run, &err) : WEIR_OK;
    return true;
}

const struct weir_cli mdtest_cli = { .instead = clean_instead };

/* ---- the run ---- */

static void report_need(struct weir_run *run, const struct mdtest_test *t)
{
    struct weir_report *r = &run->report;

    weir_report_enter(r, "need", false);
    weir_report_int(r, WEIR_FOR_ALL, "tree directories", weir_signed(t->need.dirs));
    weir_report_int(r, WEIR_FOR_ALL, "items of a task", weir_signed(t->tree.total));
    weir_report_int(r, WEIR_FOR_ALL, "items", weir_signed(t->need.items));
    weir_report_size(r, "bytes", "data", weir_signed(t->plan->bytes));
    weir_report_int(r, WEIR_FOR_ALL, "inodes", weir_signed(t->plan->inodes));
    weir_report_leave(r);
}

static int report_places(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc;

    mdtest_log(run, 3, "main (before display_freespace): o.testdirpath is '%s'", t->places.base[0]);
    rc = weir_usage_report(run, &t->places.outer, t->places.base[0], 0, err);
    if (t->o->shift > 0)
        mdtest_log(run, 0, "Shifting ranks by %d for each phase.", t->shift);
    mdtest_log(run, 3, "main (after display_freespace): o.testdirpath is '%s'", t->places.base[0]);
    if (t->o->random)
        weir_report_line(&run->report, "random seed: %d", t->o->random_seed);
    if (rc == 0 && t->o->run.dry_run)
        report_need(run, t);
    weir_report_line_for(&run->report, WEIR_FOR_TEXT_33, "%s", "");
    weir_banner_nodemap(run, WEIR_FOR_TEXT_33);
    return weir_agree(&run->world, rc, err);
}

/* The base directories are made before the first test and removed after the last. */
int mdtest_enter_run(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    struct mdtest_test *t = tests[0].state;

    if (weir_run_session(run, &t->places.outer, t->fs.be, t->fs.be_opt, &t->fs.access, err) < 0 ||
        report_places(run, t, err) < 0)
        return -1;
    if (t->o->run.dry_run)
        return 0;
    return look_at_leftovers(run, t, err) < 0
               ? -1
               : weir_agree(&run->par, make_base(run, t, err), err);
}

int mdtest_leave_run(struct weir_run *run, void *state, enum weir_code code, struct weir_err *err)
{
    struct mdtest_test *t = state;
    bool good = weir_code_is_whole(code);
    int rc = 0;

    if (t->places.made && (t->o->remove || !good))
        rc = weir_session_rmdir(&t->places.outer, t->places.base[run->par.rank],
                                good ? err : NULL);
    return good ? weir_agree(&run->par, rc, err) : rc;
}
