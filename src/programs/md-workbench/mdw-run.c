/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-run.c - the order of the phases, and where the objects are after each of them */
#include "config.h"
#include "programs/md-workbench/mdw.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/agree.h"
#include "par/reduce.h"

#define MODE 0775
#define LONGEST_NS (60ull * WEIR_NS_PER_S) /* of the removal after a failure */

/* ---- positions ---- */

/* After a phase that made or took objects. */
static void update_positions(struct weir_run *run, struct mdw_test *t,
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
    for (int d = 0; d < t->period; d++) {
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

/* A single mkdir. Whatever is wrong with it, the sets will show whether it matters. */
static int make_prefix(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->fs.ns->mkdir(&t->fs.session, t->o->prefix, MODE, &why) == 0)
        return 0;
    t->prefix_was_there = why.sys == EEXIST;
    return weir_warn(&run->log, err, "Unable to create test directory %s: %s", t->o->prefix,
                     strerror(why.sys));
}

static int remove_prefix(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->prefix_was_there ||
        t->fs.ns->rmdir(&t->fs.session, t->o->prefix, &why) == 0)
        return 0;
    return weir_warn(&run->log, err, "Unable to remove directory %s: %s", t->o->prefix,
                     strerror(why.sys));
}

/* ---- what is left ---- */

static uint64_t sweep_set(struct weir_run *run, struct mdw_test *t, int d, uint64_t from,
                          uint64_t to, uint64_t until)
{
    struct weir_err why = WEIR_ERR_INIT;

    for (; from < to && weir_now_ns() < until; from++)
        t->fs.ns->unlink(&t->fs.session, mdw_name_object(&t->own, run->par.rank, d, from), &why);
    if (weir_now_ns() >= until)
        return 1;
    return t->fs.ns->rmdir(&t->fs.session, mdw_name_dir(&t->own, run->par.rank, d), &why) < 0 &&
           why.sys != ENOENT;
}

/* Remove the sets that this run made, for at most a minute. */
static void sweep(struct weir_run *run, struct mdw_test *t)
{
    uint64_t left = 0, until = weir_now_ns() + LONGEST_NS;
    int64_t to = (int64_t)t->reached; /* others put objects into our sets */

    weir_allmax_i64(&run->par, &to, 1);
    for (int d = 0; d < t->o->sets; d++)
        if (t->made && t->made[d / 8] & 1u << d % 8)
            left += sweep_set(run, t, d, t->low, (uint64_t)to, until);
    weir_allsum_u64(&run->par, &left, 1);
    if (left > 0)
        weir_note(&run->log, "%llu data sets below '%s' could not be removed",
                  (unsigned long long)left, t->o->prefix);
    else if (!t->prefix_was_there && run->par.rank == 0)
        t->fs.ns->rmdir(&t->fs.session, t->o->prefix, &(struct weir_err)WEIR_ERR_INIT);
}

/* ---- stages ---- */

/* A benchmark with the waiting factor of the options has the index PLAIN; those of -T are counted
 * from 0 on. */
#define PLAIN (-1)

static double factor_of(const struct mdw_test *t, const struct weir_stage *s)
{
    if (s->phase != &mdw_phases[MDW_BENCHMARK] || s->index == 0)
        return 0;
    return s->index == PLAIN ? t->o->wait : ldexp(MDW_LEAST_WAIT, s->index - 1);
}

static bool wants(const void *state, const struct weir_stage *s)
{
    const struct mdw_options *o = ((const struct mdw_test *)state)->o;

    if (s->phase == &mdw_phases[MDW_PRECREATE])
        return o->precreate;
    if (s->phase == &mdw_phases[MDW_CLEANUP])
        return o->cleanup;
    return o->benchmark && o->adaptive == (s->index != PLAIN);
}

static int before_phase(struct weir_run *run, void *state, const struct weir_stage *s,
                        struct weir_err *err)
{
    struct mdw_test *t = state;

    memset(t->m, 0, sizeof(*t->m));
    t->m->phase = (enum mdw_phase)(s->phase - mdw_phases);
    t->m->iteration = run->repetition;
    t->m->lat = run->op_hist;
    t->m->wait = t->factor = factor_of(t, s);
    if (t->m->phase == MDW_PRECREATE)
        return weir_agree(&run->par, make_prefix(run, t, err), err);
    if (t->m->phase == MDW_CLEANUP) {
        t->cleaning = true;
        t->failed_before = t->failed;
        find_objects(run, t);
    }
    return 0;
}

static int after_phase(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct mdw_test *t = state;
    int rc = mdw_measure(run, t, rec, err);

    (void)s;
    if (t->m->phase != MDW_CLEANUP)
        update_positions(run, t, rec);
    else if (rc == 0 && !rec->interrupted && t->failed > t->failed_before && t->o->precreate)
        sweep(run, t); /* what could not be removed before may be removable now */
    else if (rc == 0 && !rec->interrupted)
        rc = weir_agree(&run->par, remove_prefix(run, t, err), err);
    return rc;
}

#define STAGE(p, text, f, i)                                                                       \
    {                                                                                              \
        .key = (text), .flags = WEIR_STAGE_DELAY | (f), .index = (i), .phase = &mdw_phases[p],     \
        .wanted = wants, .before = before_phase, .after = after_phase                              \
    }

const struct weir_stage mdw_stages[] = { STAGE(MDW_PRECREATE, "precreate", WEIR_STAGE_FIRST, PLAIN),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, PLAIN),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 0),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 1),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 2),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 3),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 4),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 5),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 6),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 7),
                                         STAGE(MDW_CLEANUP, "cleanup", WEIR_STAGE_LAST, PLAIN),
                                         { .key = NULL } };

/* ---- a test ---- */

int mdw_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;
    size_t len = (size_t)t->o->size;

    if (t->o->latency && (run->par.rank == 0 || t->o->latency_all))
        run->records.wanted = true;
    if (mdw_sets_init(t, run, err) < 0)
        return -1;
    return weir_small_files_begin(&t->fs, len, len, len, err);
}

void mdw_end(void *state)
{
    struct mdw_test *t = state;

    mdw_sets_free(t);
    free(t->outcome);
    weir_small_files_end(&t->fs);
}

int mdw_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;

    if (weir_small_files_start(&t->fs, run, err) < 0 || begin_positions(run, t, err) < 0)
        return -1;
    weir_small_files_learn_seed(&t->fs, run, (size_t)t->o->size, (size_t)t->o->size, t->o->verify,
                                mdw_name_read, t);
    t->ready = mdw_position_try(run, t, err) == 0;
    return t->ready ? 0 : -1;
}

void mdw_clean_up(struct weir_run *run, void *state)
{
    struct mdw_test *t = state;

    if (t->ready && t->o->precreate)
        sweep(run, t);
}

/* Counted errors do not end the run, but its status tells of them; the engine judges wrong data. */
static int judge(const struct mdw_test *t, uint64_t wrong, struct weir_err *err)
{
    if (t->failed <= wrong)
        return 0;
    return weir_refuse(err, WEIR_EIO, "%llu operations failed", (unsigned long long)t->failed);
}

int mdw_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;
    bool stays = run->test->failed ? !t->o->precreate && !t->cleaning : !t->o->cleanup;
    int rc = stays ? mdw_position_write(run, t, err) : 0;

    weir_report_int(&run->report, WEIR_FOR_DATA, "operationErrors", (int64_t)t->failed);
    weir_report_int(&run->report, WEIR_FOR_DATA, "verificationErrors", (int64_t)run->test->wrong);
    return rc < 0 || run->test->failed ? rc : judge(t, run->test->wrong, err);
}
