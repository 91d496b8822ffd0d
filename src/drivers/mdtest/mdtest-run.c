/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-run.c - one number of tasks: its iterations, the order of the phases, and the ledger of
 * what is there */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/agree.h"

/* ---- phases ---- */

/* What each operation is about: how far the tasks have shifted, and who works on what. */
static const struct {
    enum mdtest_kind of;
    int shifts;
    bool makes, removes;
} facts[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = { MDTEST_DIRS, 0, true, false },
    [MDTEST_DIR_STAT] = { MDTEST_DIRS, 1, false, false },
    [MDTEST_DIR_READ] = { MDTEST_DIRS, 2, false, false },
    [MDTEST_DIR_RENAME] = { MDTEST_DIRS, 1, false, false },
    [MDTEST_DIR_REMOVE] = { MDTEST_DIRS, 3, false, true },
    [MDTEST_FILE_CREATE] = { MDTEST_FILES, 0, true, false },
    [MDTEST_FILE_STAT] = { MDTEST_FILES, 1, false, false },
    [MDTEST_FILE_READ] = { MDTEST_FILES, 2, false, false },
    [MDTEST_FILE_REMOVE] = { MDTEST_FILES, 3, false, true },
    [MDTEST_TREE_CREATE] = { MDTEST_DIRS, 0, false, false },
    [MDTEST_TREE_REMOVE] = { MDTEST_DIRS, 0, false, false },
};

static void begin_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op)
{
    int64_t shifts = (int64_t)facts[op].shifts * t->shift;
    bool visits = op == MDTEST_DIR_STAT || op == MDTEST_FILE_STAT || op == MDTEST_FILE_READ;

    t->op = op;
    t->of = facts[op].of;
    t->phase = &mdtest_phases[op];
    t->owner = t->o->shared && t->of == MDTEST_FILES
                   ? MDTEST_SHARED
                   : (int)((run->par.rank + shifts) % run->par.size);
    /* Short of a whole tree, what is there is what was made first. */
    t->made_order = !visits || t->count[t->of] != t->tree.total;
    t->shuffled = visits && t->o->random && t->count[t->of] > 1;
    if (t->shuffled)
        weir_perm_init(&t->perm, t->count[t->of],
                       (uint64_t)t->o->random_seed + (uint64_t)run->par.rank);
}

/* Ranks that work in a phase over items. */
static uint64_t workers(const struct weir_run *run, const struct mdtest_test *t, enum mdtest_op op)
{
    bool alone = ((facts[op].makes || facts[op].removes) && t->o->collective) ||
                 (facts[op].removes && t->o->shared);

    return alone && t->phase != &mdtest_write_phase ? 1 : (uint64_t)run->par.size;
}

/* The ledger: a phase has done what is there, no more and no less. */
static int check_ledger(const struct weir_run *run, const struct mdtest_test *t,
                        const struct weir_phase_rec *rec, struct weir_err *err)
{
    uint64_t each =
        facts[t->op].makes && t->phase != &mdtest_write_phase ? rec->steps_max : t->count[t->of];
    uint64_t expected = each * workers(run, t, t->op);

    if (t->op == MDTEST_TREE_CREATE || t->op == MDTEST_TREE_REMOVE)
        expected =
            rec->steps_max * (t->o->unique && !t->o->collective ? (uint64_t)run->par.size : 1);
    if (t->op == MDTEST_DIR_RENAME && each < 2)
        expected = 0;
    if (rec->interrupted || rec->steps_sum == expected)
        return 0;
    return weir_refuse(err, WEIR_EIO,
                       "%s worked on %" PRIu64 " items where %" PRIu64 " are expected",
                       rec->phase->key, rec->steps_sum, expected);
}

static int interrupted(const struct weir_run *run, const struct weir_phase_rec *rec,
                       struct weir_err *err)
{
    return rec->interrupted
               ? weir_refuse(err, WEIR_EINTR, "interrupted in phase %s of iteration %d",
                             rec->phase->key, run->repetition)
               : 0;
}

static void report_wall(struct weir_run *run, struct mdtest_test *t,
                        const struct weir_phase_rec *rec)
{
    uint64_t n = workers(run, t, t->op);
    uint64_t min = n == 1 ? rec->stonewall.steps_max : rec->stonewall.steps_min;

    t->wall_s = 0;
    if (!rec->stonewall.known || rec->stonewall.steps_sum == t->planned[t->of] * n)
        return;
    t->wall_items = (double)rec->stonewall.steps_sum;
    t->wall_s = (double)rec->stonewall.time_ns / WEIR_NS_PER_S;
    weir_report_line(&run->report,
                     "Continue stonewall hit min: %" PRIu64 " max: %" PRIu64 " avg: %.1f \n", min,
                     rec->stonewall.steps_max, (double)rec->stonewall.steps_sum / (double)n);
    mdtest_say(run, 1, "stonewall hit with %" PRIu64 " items", rec->stonewall.steps);
    if (run->log.verbose >= 1)
        mdtest_say(run, 1, "stonewall: %" PRIu64 " of %" PRIu64, rec->stonewall.steps,
                   rec->stonewall.steps_max);
}

/* Wrong data are counted, told once by the lowest rank that saw them, and end in the exit
 * status. */
static void settle_data(struct weir_run *run, struct mdtest_test *t,
                        const struct weir_phase_rec *rec)
{
    struct weir_err words = WEIR_ERR_INIT;
    int rc = 0;

    t->wrong += rec->wrong_sum;
    if (rec->wrong_sum == 0)
        return;
    if (t->has_bad)
        rc = weir_refuse(&words, WEIR_EDATA,
                         "verification error in file '%s', byte %zu: expected 0x%02x, found 0x%02x",
                         t->bad_path ? t->bad_path : "?", t->bad_at, t->bad_want, t->bad_got);
    if (weir_agree(&run->par, rc, &words) < 0)
        weir_note(&run->log, "%s", words.text);
    free(t->bad_path);
    t->bad_path = NULL;
    t->has_bad = false;
}

static int run_rows(struct weir_run *run, struct mdtest_test *t, const struct weir_phase *row,
                    struct weir_phase_rec *rec, struct weir_err *err)
{
    t->phase = row;
    if (weir_phase_run(run, row, t, &t->timing, rec, err) < 0 || check_ledger(run, t, rec, err) < 0)
        return -1;
    if (rec->wrong_sum > 0)
        settle_data(run, t, rec);
    return 0;
}

/* After a create phase: what is there from now on. */
static int settle_create(struct weir_run *run, struct mdtest_test *t,
                         const struct weir_phase_rec *rec, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;

    report_wall(run, t, rec);
    t->count[t->of] = rec->steps_max;
    if (!o->status_file || o->run.deadline_s == 0 || rec->interrupted ||
        (t->of == MDTEST_DIRS && t->kind[MDTEST_FILES]))
        return 0;
    return mdtest_status_write(run, t, rec->steps_max, err);
}

/* -c: the second pass over the files. Its time is part of the creation. */
static int write_own(struct weir_run *run, struct mdtest_test *t, double *seconds,
                     struct weir_err *err)
{
    struct weir_phase_rec rec;
    struct weir_detail detail;

    if (run_rows(run, t, &mdtest_write_phase, &rec, err) < 0 || interrupted(run, &rec, err) < 0)
        return -1;
    *seconds = weir_phase_span(&rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    if (run->details) {
        weir_detail_gather(run, &run->session, &rec, t->id, &detail);
        weir_report_row(&run->report, &weir_detail_table, &detail);
    }
    return 0;
}

static int run_phase(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                     struct weir_err *err)
{
    struct mdtest_measure m;
    struct weir_phase_rec rec;
    double extra_s = 0;

    begin_phase(run, t, op);
    if (run_rows(run, t, &mdtest_phases[op], &rec, err) < 0)
        return -1;
    mdtest_trace_phase(run, t, op, rec.steps);
    if (facts[op].makes && settle_create(run, t, &rec, err) < 0)
        return -1;
    mdtest_latency(run, t, &rec);
    if (mdtest_ranks_operations(run, t, &rec, err) < 0)
        return -1;
    if (op == MDTEST_FILE_CREATE && t->o->collective && !t->o->mknod && !rec.interrupted &&
        write_own(run, t, &extra_s, err) < 0)
        return -1;
    mdtest_measure(run, t, &rec, extra_s, &m);
    mdtest_report_measure(run, t, &m);
    return interrupted(run, &rec, err);
}

/* ---- an iteration ---- */

/* -p, on all ranks, so that a signal to any of them ends it. */
static int wait_before(struct weir_run *run, const struct mdtest_test *t, struct weir_err *err)
{
    if (t->o->run.delay_s == 0)
        return 0;
    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "delaying %d seconds . . .", t->o->run.delay_s);
    weir_report_flush(&run->report);
    return weir_phase_pause(run, t->o->run.delay_s, err);
}

static bool is_wanted(const struct mdtest_test *t, enum mdtest_op op)
{
    const struct mdtest_options *o = t->o;
    const bool wanted[MDTEST_OPS] = {
        [MDTEST_DIR_CREATE] = o->create,  [MDTEST_DIR_STAT] = o->stat,
        [MDTEST_DIR_RENAME] = o->rename,  [MDTEST_DIR_REMOVE] = o->remove,
        [MDTEST_FILE_CREATE] = o->create, [MDTEST_FILE_STAT] = o->stat,
        [MDTEST_FILE_READ] = o->read,     [MDTEST_FILE_REMOVE] = o->remove,
        [MDTEST_TREE_CREATE] = o->create, [MDTEST_TREE_REMOVE] = o->remove,
    };

    return wanted[op];
}

static int run_kind(struct weir_run *run, struct mdtest_test *t, enum mdtest_kind kind,
                    struct weir_err *err)
{
    enum mdtest_op op = kind == MDTEST_DIRS ? MDTEST_DIR_CREATE : MDTEST_FILE_CREATE;
    enum mdtest_op last = kind == MDTEST_DIRS ? MDTEST_DIR_REMOVE : MDTEST_FILE_REMOVE;
    int rc = 0;

    if (!t->kind[kind])
        return 0;
    if (wait_before(run, t, err) < 0)
        return -1;
    mdtest_trace_kind(run, t, kind, true);
    for (; op <= last && rc == 0; op++) {
        if (op == MDTEST_DIR_READ && t->o->read)
            mdtest_trace_phase(run, t, op, 0); /* there is nothing to read in a directory */
        else if (is_wanted(t, op))
            rc = run_phase(run, t, op, err);
    }
    mdtest_trace_kind(run, t, kind, false);
    return rc;
}

static int run_tree(struct weir_run *run, struct mdtest_test *t, enum mdtest_op op,
                    struct weir_err *err)
{
    if (!is_wanted(t, op))
        return 0;
    if (op == MDTEST_TREE_CREATE && mdtest_make_tests(run, t, err) < 0)
        return -1;
    if (run_phase(run, t, op, err) < 0)
        return -1;
    if (op == MDTEST_TREE_CREATE)
        return 0;
    mdtest_trace_removed(run, t);
    return mdtest_remove_tests(run, t, err);
}

static void begin_iteration(struct weir_run *run, struct mdtest_test *t)
{
    int room = t->o->all_procs ? run->repetition : 0;

    memset(t->mine + room * MDTEST_OPS, 0, sizeof(*t->mine) * MDTEST_OPS);
    t->started[MDTEST_DIRS] = t->started[MDTEST_FILES] = t->trees_started = 0;
    if (t->o->create)
        memcpy(t->count, t->planned, sizeof(t->count));
}

static int run_iteration(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    int room = t->o->all_procs ? run->repetition : 0;

    begin_iteration(run, t);
    mdtest_trace_iteration(run, t, true);
    if (run_tree(run, t, MDTEST_TREE_CREATE, err) < 0)
        return -1;
    mdtest_trace_iteration(run, t, false);
    if (run_kind(run, t, MDTEST_DIRS, err) < 0 || run_kind(run, t, MDTEST_FILES, err) < 0)
        return -1;
    if (!t->o->unique)
        mdtest_say(run, 3, "main: Using o.testdir, '%s'",
                   mdtest_name_test(&t->names, t->base[0], run->repetition, t->tree.loops - 1));
    if (run_tree(run, t, MDTEST_TREE_REMOVE, err) < 0)
        return -1;
    return mdtest_ranks_iteration(run, t, t->mine + room * MDTEST_OPS, err);
}

/* ---- a test ---- */

/* Said before the clean-up, which can take a while. */
static enum weir_code fail_test(struct weir_run *run, struct mdtest_test *t,
                                const struct weir_err *err)
{
    if (run->par.rank == 0)
        weir_report_error(&run->log, err);
    if (t->names.path)
        mdtest_clean(run, t);
    return err->code;
}

enum weir_code mdtest_run_test(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    enum weir_code code = WEIR_OK;
    int rc = mdtest_begin(run, t, err);

    if (rc < 0) {
        code = fail_test(run, t, err);
        mdtest_end(run, t);
        return code;
    }
    mdtest_report_test(run, t);
    for (; rc == 0 && run->repetition < t->o->run.repetitions; run->repetition += rc == 0)
        rc = run_iteration(run, t, err);
    if (rc < 0)
        code = fail_test(run, t, err);
    else if (t->wrong)
        code = WEIR_EDATA;
    mdtest_summary(run, t);
    mdtest_end(run, t);
    return code;
}
