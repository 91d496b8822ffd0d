/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-setup.c - what a test needs before its first phase: plan, memory, what an earlier run left, and the
 * directories around the trees */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/latency.h"
#include "engine/status.h"
#include "par/agree.h"

static size_t larger(int64_t a, int64_t b)
{
    return (size_t)(a > b ? a : b);
}

static int take_buffers(struct mdtest_test *t, struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    size_t in = larger(o->read_bytes, o->verify_write ? o->write_bytes : 0);

    t->out_len = (size_t)o->write_bytes;
    t->in_len = (size_t)o->read_bytes;
    t->want_len = o->verify_read ? larger(o->read_bytes, o->write_bytes) : 0;
    if (weir_small_files_begin(&t->fs, t->out_len, in, t->want_len, err) < 0)
        return -1;
    weir_small_files_fill(&t->fs, run, o->shared ? 0 : run->par.rank, 0, t->out_len);
    return 0;
}

static int take_memory(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    size_t longest = 0;
    size_t rooms = t->o->all_procs ? (size_t)t->o->run.repetitions : 1;

    for (int i = 0; i < t->bases; i++)
        longest = strlen(t->base[i]) > longest ? strlen(t->base[i]) : longest;
    if (mdtest_names_init(&t->names, &t->tree, longest, err) < 0 ||
        mdtest_names_init(&t->target, &t->tree, longest, err) < 0 || take_buffers(t, run, err) < 0)
        return -1;
    t->mine = calloc(rooms * MDTEST_OPS, sizeof(*t->mine));
    if (!t->mine)
        return weir_fail(err, WEIR_ESETUP, "memory for the results of %zu iterations", rooms);
    if (t->o->latency && run->par.rank == 0 &&
        !(t->sum = calloc(MDTEST_OPS * WEIR_CALLS, sizeof(*t->sum))))
        return weir_fail(err, WEIR_ESETUP, "memory for latencies");
    return 0;
}

void mdtest_end(void *state)
{
    struct mdtest_test *t = state;

    mdtest_names_free(&t->names);
    mdtest_names_free(&t->target);
    weir_small_files_end(&t->fs);
    free(t->mine);
    free(t->sum);
    free(t->bad_path);
}

/* The number of an earlier run. More items than the tree has room for can only be in a single
 * directory. */
static int take_status(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    enum mdtest_kind kind = t->kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS;
    uint64_t items = t->planned[kind];
    bool there;

    if (!t->o->status_file || t->o->create)
        return 0;
    if (weir_status_read(run, t->o->status_file, "items", &there, &items, err) < 0 ||
        (!there && weir_warn(&run->log, err,
                             "Could not read stonewall status file '%s': the planned number of "
                             "items is taken",
                             t->o->status_file) < 0))
        return -1;
    mdtest_say(run, 1, "Read stonewall status; items: %" PRIu64 "\n", items);
    if (items > t->tree.total && t->tree.dirs > 1)
        return weir_refuse(err, WEIR_EUSAGE,
                           "status file '%s' counts %" PRIu64
                           " items, and this tree holds only %" PRIu64
                           "; give -n, -I, -b, -z as in the run that wrote it",
                           t->o->status_file, items, t->tree.total);
    if (items > t->tree.total) {
        t->tree.per_dir = t->tree.per_loop = t->tree.total = items;
        t->tree.loops = 1;
    }
    t->count[kind] = items;
    return 0;
}

int mdtest_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->tasks = run->par.size;
    t->fine = run->details || t->o->latency || weir_records_are_read(&run->records);
    return mdtest_plan(t, run, err) < 0 ? -1 : take_memory(run, t, err);
}

int mdtest_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    if (weir_small_files_start(&t->fs, run, err) < 0)
        return -1;
    t->ready = take_status(run, t, err) == 0;
    return t->ready ? 0 : -1;
}

/* ---- directories around the trees ---- */

#define MODE 0775
#define LOOPS_BETWEEN 1024

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

    if (weir_session_exists(&t->fs.session, path, &there, err) < 0)
        return -1;
    if (there)
        *ours = false;
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
    return run->par.rank < t->bases ? t->tree.loops : 0;
}

const char *mdtest_my_test(const struct weir_run *run, struct mdtest_test *t, uint64_t loop)
{
    return mdtest_name_test(&t->names, t->base[run->par.rank], run->repetition, loop);
}

/* Trees beside each other can be many: -n over -I. */
static int hear_signals(struct weir_run *run, uint64_t loop, struct weir_err *err)
{
    if (loop % LOOPS_BETWEEN < LOOPS_BETWEEN - 1 || !weir_interrupt_poll(&run->interrupt))
        return 0;
    return weir_refuse(err, WEIR_EINTR, "interrupted between the directories of the trees");
}

int mdtest_make_tests(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    uint64_t loop = 0;
    bool ours = true;
    int64_t found;
    int rc = 0;

    while (loop < mdtest_my_tests(run, t) && rc == 0)
        if ((rc = hear_signals(run, loop, err)) == 0 &&
            (rc = make_test(t, mdtest_my_test(run, t, loop), &ours, err)) == 0)
            loop++;
    if (weir_agree(&run->par, rc, err) < 0) {
        while (ours && loop > 0)
            weir_session_rmdir(&t->fs.session, mdtest_my_test(run, t, --loop), NULL);
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
        if ((rc = hear_signals(run, loop, err)) == 0)
            rc = weir_session_rmdir(&t->fs.session, mdtest_my_test(run, t, loop), err);
    t->made_tests = false;
    return weir_agree(&run->par, rc, err);
}
