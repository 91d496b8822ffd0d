/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-run.c - the order of the phases, and where the objects are after each of them */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/agree.h"
#include "par/reduce.h"

#define MODE 0775
#define PAGE 4096
#define LONGEST_NS (60ull * WEIR_NS_PER_S) /* of the removal after a failure */

/* ---- positions ---- */

/* After a phase that made or took objects. */
static void settle_positions(struct weir_run *run, struct mdw_test *t,
                             const struct weir_phase_rec *rec)
{
    const uint64_t *failed = t->m->failed;
    uint64_t missing =
        failed[MDW_STAT] + failed[MDW_DELETE] + failed[MDW_CREATE] + failed[MDW_SET_CREATE];
    int64_t v[2];

    weir_allsum_u64(&run->par, &missing, 1);
    if (missing > 0)
        t->lost = true; /* t->low stays below all that may be there */
    if (t->m->phase == MDW_BENCHMARK && !t->o->read_only)
        t->pos += rec->steps;
    v[0] = -(int64_t)t->pos;
    v[1] = (int64_t)t->pos;
    weir_allmax_i64(&run->par, v, 2);
    if (!t->lost)
        t->low = (uint64_t)-v[0];
    if ((uint64_t)v[1] + (uint64_t)t->o->population > t->high)
        t->high = (uint64_t)v[1] + (uint64_t)t->o->population;
    t->ragged = t->lost || -v[0] != v[1];
}

/* What cleanup will find in our sets: what the reader has left there, and what the writer has
 * added. */
static void find_objects(struct weir_run *run, struct mdw_test *t)
{
    for (int d = 0; d < t->o->sets; d++) {
        struct mdw_set *s = &t->set[d];

        s->low = t->low;
        s->high = t->high;
        if (t->ragged && !t->lost) {
            s->low = weir_fetch_u64(&run->par, t->pos, s->reader);
            s->high = weir_fetch_u64(&run->par, t->pos, s->writer) + (uint64_t)t->o->population;
        }
    }
}

static int begin_positions(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    const struct mdw_options *o = t->o;

    if (!o->precreate && o->start == 0)
        return mdw_position_read(run, t, err);
    t->first = t->pos = t->low = (uint64_t)o->start;
    t->high = t->low + (uint64_t)o->population;
    return 0;
}

/* ---- phases ---- */

static int run_phase(struct weir_run *run, struct mdw_test *t, enum mdw_phase phase, int iteration,
                     double factor, struct weir_err *err)
{
    struct weir_phase_rec rec;
    int rc;

    memset(t->m, 0, sizeof(*t->m));
    t->m->phase = phase;
    t->m->iteration = iteration;
    t->m->wait = t->factor = factor;
    run->repetition = iteration;
    if (weir_phase_run(run, &mdw_phases[phase], t, &t->timing, &rec, err) < 0)
        return -1;
    rc = mdw_measure(run, t, &rec, err);
    if (phase != MDW_CLEANUP)
        settle_positions(run, t, &rec);
    if (rc == 0 && rec.interrupted)
        rc = weir_refuse(err, WEIR_EINTR, "interrupted in phase %s", rec.phase->key);
    return rc;
}

static int run_iteration(struct weir_run *run, struct mdw_test *t, int i, struct weir_err *err)
{
    int rc;

    if (!t->o->adaptive)
        return run_phase(run, t, MDW_BENCHMARK, i, t->wait, err);
    rc = run_phase(run, t, MDW_BENCHMARK, i, 0, err);
    for (double factor = MDW_LEAST_WAIT; rc == 0 && factor <= MDW_MOST_WAIT; factor *= 2)
        rc = run_phase(run, t, MDW_BENCHMARK, i, factor, err);
    return rc;
}

/* A single mkdir. Whatever is wrong with it, the sets will show whether it matters. */
static void make_prefix(struct weir_run *run, struct mdw_test *t)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->ns->mkdir(&run->session, t->o->prefix, MODE, &why) == 0)
        return;
    t->prefix_was_there = why.sys == EEXIST;
    weir_warn(&run->log, NULL, "Unable to create test directory %s: %s", t->o->prefix,
              strerror(why.sys));
}

static void remove_prefix(struct weir_run *run, const struct mdw_test *t)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->prefix_was_there ||
        t->ns->rmdir(&run->session, t->o->prefix, &why) == 0)
        return;
    weir_warn(&run->log, NULL, "Unable to remove directory %s: %s", t->o->prefix,
              strerror(why.sys));
}

/* ---- what is left ---- */

static uint64_t sweep_set(struct weir_run *run, struct mdw_test *t, struct mdw_set *s,
                          uint64_t from, uint64_t to, uint64_t until)
{
    struct weir_err why = WEIR_ERR_INIT;

    for (; from < to && weir_now_ns() < until; from++)
        t->ns->unlink(&run->session, mdw_name_object(&s->own, from), &why);
    return t->ns->rmdir(&run->session, mdw_name_dir(&s->own), &why) < 0 && why.sys != ENOENT;
}

/* Remove the sets that this run made, for at most a minute. */
static void sweep(struct weir_run *run, struct mdw_test *t)
{
    uint64_t left = 0, until = weir_now_ns() + LONGEST_NS;
    int64_t to = (int64_t)t->reached; /* others put objects into our sets */

    weir_allmax_i64(&run->par, &to, 1);
    for (int d = 0; d < t->o->sets; d++)
        if (t->set[d].made)
            left += sweep_set(run, t, &t->set[d], t->low, (uint64_t)to, until);
    weir_allsum_u64(&run->par, &left, 1);
    if (left > 0)
        weir_note(&run->log, "%llu data sets below '%s' could not be removed",
                  (unsigned long long)left, t->o->prefix);
    else if (!t->prefix_was_there && run->par.rank == 0)
        t->ns->rmdir(&run->session, t->o->prefix, &(struct weir_err)WEIR_ERR_INIT);
}

/* ---- the order of the phases ---- */

static int run_cleanup(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    uint64_t failed = t->failed;

    find_objects(run, t);
    if (run_phase(run, t, MDW_CLEANUP, o->benchmark ? o->run.repetitions : 0, 0, err) < 0)
        return -1;
    if (t->failed > failed && o->precreate)
        sweep(run, t); /* what resisted once may give way */
    else
        remove_prefix(run, t);
    return 0;
}

static int run_wanted(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    struct weir_err other = WEIR_ERR_INIT;
    int rc = 0;

    if (o->precreate) {
        make_prefix(run, t);
        rc = run_phase(run, t, MDW_PRECREATE, 0, 0, err);
    }
    for (int i = 0; o->benchmark && rc == 0 && i < o->run.repetitions; i++)
        rc = run_iteration(run, t, i, err);
    if (rc == 0 && o->cleanup) {
        rc = run_cleanup(run, t, err);
    } else if (rc == 0 || !o->precreate) {
        if (mdw_position_write(run, t, &other) < 0 && rc == 0) {
            *err = other;
            rc = -1;
        }
    }
    return rc;
}

/* ---- a run ---- */

static int take_memory(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    size_t len = (size_t)t->o->size;

    t->m = calloc(1, sizeof(*t->m));
    t->sum = calloc(1, sizeof(*t->sum));
    if (!t->m || !t->sum)
        return weir_fail(err, WEIR_ESETUP, "memory for results");
    t->file = weir_session_slot(&run->session, err);
    if (!t->file || mdw_sets_init(t, run, err) < 0)
        return -1;
    if (len > 0 && (weir_mem_aligned(&t->out, PAGE, len, err) < 0 ||
                    weir_mem_aligned(&t->in, PAGE, len, err) < 0 ||
                    weir_mem_aligned(&t->want, PAGE, len, err) < 0))
        return -1;
    return 0;
}

static void give_memory(struct mdw_test *t)
{
    mdw_sets_free(t);
    for (int op = 0; op < MDW_OPS; op++)
        weir_oplog_free(&t->log[op]);
    free(t->outcome);
    free(t->file);
    free(t->out);
    free(t->in);
    free(t->want);
    free(t->m);
    free(t->sum);
}

int mdw_run_phases(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    int rc;

    t->timing = (struct weir_timing) { .deadline_s = t->o->run.deadline_s,
                                       .wear_out = t->o->run.wear_out && t->o->run.deadline_s > 0 };
    weir_clock_estimate(&run->par, &run->clock);
    rc = weir_agree(&run->par, take_memory(run, t, err), err);
    if (rc == 0)
        rc = begin_positions(run, t, err);
    if (rc == 0)
        rc = mdw_position_try(run, t, err);
    if (rc == 0) {
        rc = run_wanted(run, t, err);
        if (rc < 0 && t->o->precreate)
            sweep(run, t);
    }
    give_memory(t);
    return rc;
}
