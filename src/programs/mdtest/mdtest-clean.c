/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-clean.c - after a failure or a signal: what this run made is removed, name by name and in
 * bounded time */
#include "programs/mdtest/mdtest.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LONGEST_NS (UINT64_C(60) * WEIR_NS_PER_S) /* for the items, as long for the directories */

/* One clean-up on this rank. */
struct sweep {
    struct mdtest_test *t;
    uint64_t items[MDTEST_KINDS]; /* that any task may have made */
    uint64_t trees;               /* directories of a tree that any task may have made */
    bool links;                   /* beside items, instead of these */
    uint64_t left;                /* names that could not be removed */
    struct weir_err first;        /* why the first of them could not */
};

/* A name that is not there is as good as removed. On a read-only file system the call fails for
 * any name. */
static void note_failure(struct sweep *s, int rc, const char *path, const struct weir_err *why)
{
    struct weir_session *session = &s->t->fs.session;
    struct weir_err unused = WEIR_ERR_INIT;
    bool there;

    if (rc == 0 || why->sys == ENOENT || why->sys == ENOTDIR ||
        (why->sys == EROFS && s->t->fs.ns->exists(session, path, &there, &unused) == 0 && !there))
        return;
    if (s->left++ == 0)
        s->first = *why;
}

/* Names of a task: its directories, the one that a rename has set aside, its files; or its links. */
static uint64_t count_names(const struct weir_run *run, const struct sweep *s)
{
    if (run->par.rank > 0 && s->t->o->collective)
        return 0;
    if (s->links)
        return s->t->ledger.count[s->t->pass.of];
    return s->items[MDTEST_DIRS] + 1 + s->items[MDTEST_FILES];
}

static void remove_name(struct weir_run *run, struct sweep *s, int owner, uint64_t i)
{
    struct mdtest_test *t = s->t;
    struct weir_err why = WEIR_ERR_INIT;
    const char *path = NULL;
    int rc = 0;

    if (s->links) {
        path = mdtest_name_created(t, run, &t->names, t->pass.of, owner, i);
        memcpy(t->names.path + strlen(path), "-XX", 4);
        rc = t->fs.ns->unlink(&t->fs.session, path, &why);
    } else if (i <= s->items[MDTEST_DIRS]) {
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
    note_failure(s, rc, path, &why);
}

static void remove_names(struct weir_run *run, struct sweep *s, uint64_t i)
{
    if (!s->t->o->collective)
        remove_name(run, s, run->par.rank, i);
    for (int k = 0; s->t->o->collective && k < run->par.size; k++)
        remove_name(run, s, k, i);
}

static uint64_t count_dirs(const struct weir_run *run, const struct sweep *s)
{
    bool works = run->par.rank == 0 || (s->t->o->unique && !s->t->o->collective);

    return works && s->trees > 0 ? s->t->tree.dirs * s->t->tree.loops : 0;
}

static int remove_branch(struct weir_run *run, void *state, uint64_t dir, uint64_t *clock_ns,
                         struct weir_err *err)
{
    struct sweep *s = state;
    struct mdtest_test *t = s->t;
    struct weir_err why = WEIR_ERR_INIT;

    note_failure(s, t->fs.ns->rmdir(&t->fs.session, t->names.path, &why), t->names.path, &why);
    return 0;
}

static void remove_dir(struct weir_run *run, struct sweep *s, uint64_t i)
{
    uint64_t dirs = s->t->tree.dirs, now_ns = 0;
    uint64_t dir = weir_dirtree_postorder(&s->t->tree, i % dirs);

    mdtest_each_tree(run, s->t, i / dirs, dir, remove_branch, s, &now_ns, NULL);
}

/* Remove n names or directories of this rank. Collective; false when a rank did not finish. */
static bool sweep(struct weir_run *run, struct sweep *s, uint64_t n,
                  void (*remove)(struct weir_run *, struct sweep *, uint64_t i))
{
    uint64_t until_ns = weir_now_ns() + LONGEST_NS;
    int64_t short_of = 0;

    for (uint64_t i = 0; i < n && !short_of; i++) {
        short_of = weir_now_ns() > until_ns || weir_interrupt_poll(&run->interrupt);
        if (!short_of)
            remove(run, s, i);
    }
    weir_allmax_i64(&run->par, &short_of, 1);
    return !short_of;
}

/* The names that an iteration may have left; of one before the present one: everything. */
static void size_up(struct weir_run *run, struct sweep *s, bool whole)
{
    struct mdtest_test *t = s->t;
    int64_t most[MDTEST_KINDS + 1] = { (int64_t)t->ledger.started[MDTEST_DIRS],
                                       (int64_t)t->ledger.started[MDTEST_FILES],
                                       (int64_t)t->ledger.trees_started };

    weir_allmax_i64(&run->par, most, MDTEST_KINDS + 1);
    for (int k = 0; k < MDTEST_KINDS; k++)
        s->items[k] = !t->ledger.kind[k] ? 0 : whole ? t->ledger.planned : (uint64_t)most[k];
    s->trees = whole ? t->tree.dirs : (uint64_t)most[MDTEST_KINDS];
}

static void remove_tests(struct weir_run *run, struct sweep *s)
{
    struct mdtest_test *t = s->t;

    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t); loop++) {
        const char *path = mdtest_my_test(run, t, loop);
        struct weir_err why = WEIR_ERR_INIT;

        note_failure(s, t->fs.ns->rmdir(&t->fs.session, path, &why), path, &why);
    }
}

static void report_left(struct weir_run *run, struct sweep *s, bool complete)
{
    uint64_t left = s->left;

    weir_allsum_u64(&run->par, &left, 1);
    if (complete && left == 0)
        return;
    run->report.last.is_printed = false; /* a note comes after it */
    if (left > 0 && s->left > 0)
        weir_note(&run->log,
                  "%" PRIu64
                  " names could not be removed, first %s; mdtest --cleanup %s removes the rest",
                  left, s->first.text, s->t->places.base[0]);
    else
        weir_note(&run->log, "the clean-up did not finish; mdtest --cleanup %s removes the rest",
                             s->t->places.base[0]);
}

/* Take back what a phase of --move or of links has begun, also with items of an earlier run. */
static bool take_back(struct weir_run *run, struct sweep *s)
{
    struct mdtest_test *t = s->t;
    enum weir_name_op call = mdtest_facts[t->pass.op].call;
    struct weir_err why = WEIR_ERR_INIT;
    bool complete;

    if (t->moved)
        note_failure(s, t->fs.ns->rename(&t->fs.session, t->target.path, t->names.path, &why),
                     t->target.path, &why);
    t->names.known = false;
    s->links = call && call <= WEIR_NAME_UNLINK;
    complete = !s->links || sweep(run, s, count_names(run, s), remove_names);
    s->links = false;
    return complete;
}

static void clean(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    struct sweep s = { .t = t, .first = WEIR_ERR_INIT };
    bool ours = t->o->create && t->places.made_tests, complete;
    int signal, present = run->repetition;

    if (!t->ready || (!ours && !mdtest_facts[t->pass.op].call))
        return;
    if (ours && !t->places.all_ours) {
        run->report.last.is_printed = false; /* a note comes after it */
        weir_note(&run->log,
                  "nothing was removed, since '%s' has files or directories of an earlier run; "
                  "mdtest --cleanup %s removes all of it",
                  t->places.base[0], t->places.base[0]);
        ours = false;
    }
    weir_interrupt_hold(&run->interrupt); /* also before the first phase */
    signal = weir_interrupt_set_aside(&run->interrupt);
    complete = take_back(run, &s);
    for (run->repetition = t->o->remove ? present : 0;
         ours && complete && run->repetition <= present; run->repetition++) {
        size_up(run, &s, run->repetition < present);
        t->names.known = false;
        complete = sweep(run, &s, count_names(run, &s), remove_names) &&
                   sweep(run, &s, count_dirs(run, &s), remove_dir);
        if (complete)
            remove_tests(run, &s);
    }
    run->repetition = present;
    report_left(run, &s, complete);
    weir_interrupt_put_back(&run->interrupt, signal);
}

/* Each directory of trees, by the task that makes it: what is in them goes with it. The first of each
 * iteration come before the others. */
static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct mdtest_test *t = state;
    int n = t->o->run.repetitions;

    if ((uint64_t)(i / n) >= mdtest_my_tests(run, t))
        return false;
    weir_str_addf(path, "%s/" MDTEST_TESTS "%d-%d", t->places.base[run->par.rank], i % n, i / n);
    return true;
}

/* Add the files, the same for all tasks, in each of the places. */
static int add_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const char *list = ((const struct mdtest_options *)opt)->dirs;
    const struct weir_file_names tests = { .n = 1, .trees = true };
    int rc = 0;

    (void)tasks;
    for (int i = 0; i < weir_places_count(list) && rc == 0; i++) {
        size_t len;
        const char *at = weir_places_at(list, i, &len);
        char *dir = weir_arena_strndup(files->arena, at, len, err);

        rc = dir ? weir_files_add_inside(files, "", dir, MDTEST_TESTS, tests, err)
                 : -1;
    }
    return rc;
}

const struct weir_test_files mdtest_files_made = {
    .add = add_files,
    .target = target,
    .existing =
        WEIR_EXISTING_REPLACE | WEIR_EXISTING_REUSE | WEIR_EXISTING_FAIL | WEIR_EXISTING_REPORTED,
    .clean = clean,
};
