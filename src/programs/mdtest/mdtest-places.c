/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-places.c - the directories around the trees, and the removal of what this run made or earlier
 * ones left */
#include "config.h"
#include "programs/mdtest/mdtest-step.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/place/cleanup.h"
#include "par/agree.h"

#define MODE 0775
#define LOOPS_BETWEEN 1024
#define LONGEST_S 60 /* of a clean-up: for the items, and as long for the directories */

/* Each base has one task that makes and removes it. */
static bool is_mine(const struct weir_run *run, const struct mdtest_test *t, int i)
{
    return run->par.rank == i && i < t->places.n;
}

/* One mkdir, without missing parents: these are more likely a typing error. */
static int make_base(struct mdtest_test *t, int i, struct weir_err *err)
{
    bool there;

    if (weir_session_exists(&t->places.outer, t->places.base[i], &there, err) < 0)
        return -1;
    if (there)
        return 0;
    if (weir_session_mkdir(&t->places.outer, t->places.base[i], MODE, err) < 0)
        return -1;
    t->places.made[i] = true;
    return 0;
}

int mdtest_make_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < t->places.n && rc == 0; i++)
        if (is_mine(run, t, i))
            rc = make_base(t, i, err);
    return weir_agree(&run->par, rc, err);
}

int mdtest_remove_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < t->places.n && rc == 0; i++)
        if (is_mine(run, t, i) && t->places.made[i] && (t->o->remove || !err))
            rc = weir_session_rmdir(&t->places.outer, t->places.base[i], err);
    return err ? weir_agree(&run->par, rc, err) : rc;
}

/* Test directories that were there already, of one task. */
struct found {
    uint64_t n, first; /* of them the loop of the first one */
};

/* Made where it is missing. What is made in it later inherits its layout. */
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

uint64_t mdtest_my_tests(const struct weir_run *run, const struct mdtest_test *t)
{
    return run->par.rank < t->places.n ? t->tree.loops : 0;
}

static const char *my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop)
{
    return mdtest_name_test(&t->names, t->places.base[run->par.rank], run->repetition, loop);
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
    if (all.n > 1 && snprintf(others, sizeof(others), ", and %" PRIu64 " more like it", all.n - 1) < 0)
        others[0] = '\0';
    return weir_warn(&run->log, err,
                     "'%s/test-dir.%d-%" PRIu64 "' was there already%s, from an earlier run: what "
                     "exists is not created, and that is "
                     "faster; mdtest --cleanup %s removes it",
                     t->places.base[-who], run->repetition, all.first, others,
                     t->places.base[-who]);
}

int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    struct found found = { 0 };
    uint64_t loop = 0;
    int rc = 0;

    while (loop < mdtest_my_tests(run, t) && rc == 0)
        if ((rc = poll_signals(run, loop, err)) == 0 &&
            (rc = make_test(t, my_test(run, t, loop), loop, &found, err)) == 0)
            loop++;
    if (weir_agree(&run->par, rc, err) < 0) {
        while (found.n == 0 && loop > 0)
            weir_session_rmdir(&t->fs.session, my_test(run, t, --loop), NULL);
        return -1;
    }
    t->places.made_tests = true;
    return warn_found(run, t, &found, err);
}

int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t) && rc == 0; loop++)
        if ((rc = poll_signals(run, loop, err)) == 0)
            rc = weir_session_rmdir(&t->fs.session, my_test(run, t, loop), err);
    t->places.made_tests = false;
    return weir_agree(&run->par, rc, err);
}

/* ---- after a failure or a signal: remove what this run made, name by name and in bounded time ---- */

/* One clean-up on this rank. */
struct sweep {
    struct mdtest_test *t;
    uint64_t items[MDTEST_KINDS]; /* that any task may have made */
    uint64_t trees;               /* directories of a tree that any task may have made */
    uint64_t left;                /* names that could not be removed */
    struct weir_err first;        /* why the first of them could not */
};

/* A name that is not there is as good as removed. */
static void note_failure(struct sweep *s, int rc, const struct weir_err *why)
{
    if (rc == 0 || why->sys == ENOENT || why->sys == ENOTDIR)
        return;
    if (s->left++ == 0)
        s->first = *why;
}

/* Names of a task: its directories, the one that a rename has set aside, its files. */
static uint64_t count_names(struct weir_run *run, void *state)
{
    const struct sweep *s = state;

    if (run->par.rank > 0 && s->t->o->collective)
        return 0;
    return s->items[MDTEST_DIRS] + 1 + s->items[MDTEST_FILES];
}

static void remove_name(struct weir_run *run, struct sweep *s, int owner, uint64_t i)
{
    struct mdtest_test *t = s->t;
    struct weir_err why = WEIR_ERR_INIT;
    const char *path;
    int rc = 0;

    if (i <= s->items[MDTEST_DIRS]) {
        bool aside = i == s->items[MDTEST_DIRS];

        if (t->ledger.kind[MDTEST_DIRS] && t->tree.total > 0) {
            path = mdtest_name_created(t, run, &t->names, MDTEST_DIRS, owner, aside ? 0 : i);
            if (aside)
                memcpy(t->names.path + strlen(path), "-XX", 4);
            rc = t->fs.ns->rmdir(&t->fs.session, path, &why);
        }
    } else if (!t->o->shared || run->par.rank == 0) {
        path = mdtest_name_created(t, run, &t->names, MDTEST_FILES,
                                   t->o->shared ? MDTEST_SHARED : owner,
                                   i - s->items[MDTEST_DIRS] - 1);
        rc = t->fs.ns->unlink(&t->fs.session, path, &why);
    }
    note_failure(s, rc, &why);
}

static int step_name(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct sweep *s = state;

    (void)err;
    if (!s->t->o->collective)
        remove_name(run, s, run->par.rank, i);
    for (int k = 0; s->t->o->collective && k < run->par.size; k++)
        remove_name(run, s, k, i);
    *clock_ns = weir_now_ns();
    return 0;
}

static uint64_t count_dirs(struct weir_run *run, void *state)
{
    const struct sweep *s = state;
    bool works = run->par.rank == 0 || (s->t->o->unique && !s->t->o->collective);

    return works && s->trees > 0 ? s->t->tree.dirs * s->t->tree.loops : 0;
}

static int remove_branch(struct weir_run *run, void *state, uint64_t dir, uint64_t *clock_ns,
                         struct weir_err *err)
{
    struct sweep *s = state;
    struct mdtest_test *t = s->t;
    struct weir_err why = WEIR_ERR_INIT;

    (void)run;
    (void)dir;
    (void)err;
    note_failure(s, t->fs.ns->rmdir(&t->fs.session, t->names.path, &why), &why);
    *clock_ns = weir_now_ns();
    return 0;
}

static int step_dir(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                    struct weir_err *err)
{
    struct sweep *s = state;
    uint64_t dirs = s->t->tree.dirs, dir = weir_dirtree_postorder(&s->t->tree, i % dirs);

    return mdtest_each_tree(run, s->t, i / dirs, dir, remove_branch, s, clock_ns, err);
}

static const struct weir_phase names_phase = { .key = "clean-up",
                                               .unit = "names",
                                               .flags = WEIR_PHASE_STONEWALL,
                                               .count = count_names,
                                               .step = step_name };
static const struct weir_phase dirs_phase = { .key = "clean-up",
                                              .unit = "names",
                                              .flags = WEIR_PHASE_STONEWALL,
                                              .count = count_dirs,
                                              .step = step_dir };

/* Run one of the two; false when it did not come to its end. */
static bool sweep(struct weir_run *run, struct sweep *s, const struct weir_phase *row)
{
    const struct weir_timing timing = { .deadline_s = LONGEST_S };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_phase_rec rec;
    int64_t short_of;

    if (weir_phase_extra(run, row, s, &timing, &rec, &err) < 0)
        return false;
    short_of = rec.steps < row->count(run, s);
    weir_allmax_i64(&run->par, &short_of, 1);
    return !short_of;
}

/* The names that an iteration may have left; of one before the present one: everything. */
static void size_up(struct weir_run *run, struct sweep *s, bool whole)
{
    struct mdtest_test *t = s->t;
    int64_t most[3] = { (int64_t)t->ledger.started[MDTEST_DIRS],
                        (int64_t)t->ledger.started[MDTEST_FILES],
                        (int64_t)t->ledger.trees_started };

    weir_allmax_i64(&run->par, most, 3);
    s->items[MDTEST_DIRS] = whole ? t->ledger.planned[MDTEST_DIRS] : (uint64_t)most[0];
    s->items[MDTEST_FILES] = whole ? t->ledger.planned[MDTEST_FILES] : (uint64_t)most[1];
    s->trees = whole ? t->tree.dirs : (uint64_t)most[2];
    for (int k = 0; k < MDTEST_KINDS; k++)
        if (!t->ledger.kind[k])
            s->items[k] = 0;
}

static void remove_tests(struct weir_run *run, struct sweep *s)
{
    struct mdtest_test *t = s->t;

    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t); loop++) {
        struct weir_err why = WEIR_ERR_INIT;

        note_failure(s, t->fs.ns->rmdir(&t->fs.session, my_test(run, t, loop), &why), &why);
    }
}

static void report_left(struct weir_run *run, struct sweep *s, bool complete)
{
    uint64_t left = s->left;

    weir_allsum_u64(&run->par, &left, 1);
    if (complete && left == 0)
        return;
    run->report.last.is_said = false; /* a note comes after it */
    if (left > 0 && s->left > 0)
        weir_note(&run->log,
                  "%" PRIu64
                  " names could not be removed, first %s; mdtest --cleanup %s removes the rest",
                  left, s->first.text, s->t->places.base[0]);
    else
        weir_note(&run->log,
                  "the clean-up has not come to its end; mdtest --cleanup %s removes the rest",
                  s->t->places.base[0]);
}

void mdtest_clean(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    struct sweep s = { .t = t, .first = WEIR_ERR_INIT };
    int present = run->repetition;
    bool complete = true;
    int signal;

    if (!t->ready || !t->o->create || !t->places.made_tests)
        return;
    if (!t->places.all_ours) {
        run->report.last.is_said = false; /* a note comes after it */
        weir_note(&run->log,
                  "nothing was removed, since '%s' has files or directories of an earlier run; "
                  "mdtest --cleanup "
                  "%s removes all of it",
                  t->places.base[0], t->places.base[0]);
        return;
    }
    signal = weir_interrupt_set_aside(&run->interrupt);
    for (run->repetition = t->o->remove ? present : 0; complete && run->repetition <= present;
         run->repetition++) {
        size_up(run, &s, run->repetition < present);
        t->names.known = false;
        complete = sweep(run, &s, &names_phase) && sweep(run, &s, &dirs_phase);
        if (complete)
            remove_tests(run, &s);
    }
    run->repetition = present;
    report_left(run, &s, complete);
    weir_interrupt_put_back(&run->interrupt, signal);
}

/* ---- what earlier runs left (--cleanup DIR) is known by its names ---- */

/* Names of the suite, and the levels on which they stand. A rename sets a directory aside as
 * -XX. */
static const struct weir_cleanup_form forms[] = {
    { "test-dir.#-#", true, 0, 0, WEIR_CLEANUP_TREE },
    { "mdtest_tree.#", true, 1, INT_MAX, WEIR_CLEANUP_TREE },
    { "mdtest_tree.#.#", true, 1, INT_MAX, WEIR_CLEANUP_TREE },
    { "dir.mdtest.#.#", true, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "dir.mdtest.#.#-XX", true, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "file.mdtest.#.#", false, 2, INT_MAX, WEIR_CLEANUP_OURS },
    { "file.mdtest.shared.#", false, 2, INT_MAX, WEIR_CLEANUP_OURS },
};

int mdtest_look_at_leftovers(struct weir_run *run, const struct mdtest_test *t, struct weir_err *err)
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

int mdtest_remove_leftovers(struct weir_run *run, const char *dir, struct weir_err *err)
{
    return weir_cleanup(run, "mdtest", dir, forms, sizeof(forms) / sizeof(*forms), err);
}
