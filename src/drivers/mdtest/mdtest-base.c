/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-base.c - the directories around the trees: base directories for the run, test directories
 * for an iteration */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include "par/agree.h"

#define MODE 0775

/* Each base has one task that makes and removes it. */
static bool is_mine(const struct weir_run *run, const struct mdtest_test *t, int i)
{
    return run->par.rank == i && i < t->bases;
}

/* One mkdir: a missing parent is more likely a mistyped name than a wish. */
static int make_base(struct mdtest_test *t, int i, struct weir_err *err)
{
    bool there;

    if (weir_session_exists(&t->outer, t->base[i], &there, err) < 0)
        return -1;
    if (there)
        return 0;
    if (weir_session_mkdir(&t->outer, t->base[i], MODE, err) < 0)
        return -1;
    t->made_base[i] = true;
    return 0;
}

int mdtest_make_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < t->bases && rc == 0; i++)
        if (is_mine(run, t, i))
            rc = make_base(t, i, err);
    return weir_agree(&run->par, rc, err);
}

int mdtest_remove_bases(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; i < t->bases && rc == 0; i++)
        if (is_mine(run, t, i) && t->made_base[i] && (t->o->remove || !err))
            rc = weir_session_rmdir(&t->outer, t->base[i], err);
    return err ? weir_agree(&run->par, rc, err) : rc;
}

/* Made where it is missing; is everything of our own making? What is made in it later inherits its
 * layout. */
static int make_test(struct mdtest_test *t, const char *path, bool *ours, struct weir_err *err)
{
    bool there;

    if (weir_session_exists(&t->session, path, &there, err) < 0)
        return -1;
    if (there)
        *ours = false;
    else if (weir_session_mkdir(&t->session, path, MODE, err) < 0)
        return -1;
    if (!t->o->reset_layout || weir_session_reset_dir(&t->session, path, err) == 0)
        return 0;
    if (!there)
        weir_session_rmdir(&t->session, path, NULL);
    return -1;
}

uint64_t mdtest_my_tests(const struct weir_run *run, const struct mdtest_test *t)
{
    return run->par.rank < t->bases ? t->tree.loops : 0;
}

const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop)
{
    return mdtest_name_test(&t->names, t->base[run->par.rank], run->repetition, loop);
}

int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    uint64_t loop = 0;
    bool ours = true;
    int64_t found;
    int rc = 0;

    while (loop < mdtest_my_tests(run, t) && rc == 0)
        if ((rc = make_test(t, mdtest_my_test(run, t, loop), &ours, err)) == 0)
            loop++;
    if (weir_agree(&run->par, rc, err) < 0) {
        while (ours && loop > 0)
            weir_session_rmdir(&t->session, mdtest_my_test(run, t, --loop), NULL);
        return -1;
    }
    found = !ours;
    weir_allmax_i64(&run->par, &found, 1);
    t->made_tests = true;
    if (!found)
        return 0;
    t->all_ours = false;
    return weir_warn(&run->log, err,
                     "'%s/test-dir.%d-0' was there already, from an earlier run: what exists is "
                     "not created, and that is "
                     "faster; mdtest --cleanup %s removes it",
                     t->base[0], run->repetition, t->base[0]);
}

int mdtest_remove_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int rc = 0;

    for (uint64_t loop = 0; loop < mdtest_my_tests(run, t) && rc == 0; loop++)
        rc = weir_session_rmdir(&t->session, mdtest_my_test(run, t, loop), err);
    t->made_tests = false;
    return weir_agree(&run->par, rc, err);
}
