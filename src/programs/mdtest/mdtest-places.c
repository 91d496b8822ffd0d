/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-places.c - the directories around the trees */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/place/preflight.h"
#include "par/agree.h"

#define MODE 0775
#define LOOPS_BETWEEN 1024

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

const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop)
{
    return mdtest_name_test(&t->names, t->places.base[run->par.rank], run->repetition, loop);
}

/* Trees beside each other can be many: -n over -I. */
static int hear_signals(struct weir_run *run, uint64_t loop, struct weir_err *err)
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
        if ((rc = hear_signals(run, loop, err)) == 0 &&
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

    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t) && rc == 0; loop++)
        if ((rc = hear_signals(run, loop, err)) == 0)
            rc = weir_session_rmdir(&t->fs.session, mdtest_my_test(run, t, loop), err);
    t->places.made_tests = false;
    return weir_agree(&run->par, rc, err);
}
