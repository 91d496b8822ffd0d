/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-phases.c - the steps of each phase. An operation that fails is counted, and the work goes on.
 * With -v -v rank 0 shows each operation */
#include "programs/md-workbench/mdw.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/transfer.h"

#define MODE 0775
#define SETS_BETWEEN 1024 /* polls for signals within a round */
#define SPIN_NS 10000000u /* shorter waits are spent spinning */
#define NAP_NS 50000000u  /* longer ones in naps, so that a signal ends them */

const struct weir_operation mdw_operations[MDW_OPS + 1] = {
    [MDW_READ] = { "read", "Read", "objects", true },
    [MDW_STAT] = { "stat", "Stat", "objects", false },
    [MDW_CREATE] = { "create", "Create", "objects", true },
    [MDW_DELETE] = { "delete", "Delete", "objects", false },
};

/* ---- around an operation ---- */

static void wait_ns(struct weir_run *run, uint64_t ns)
{
    uint64_t now = weir_now_ns(), until = now + ns;

    for (; ns >= SPIN_NS && now < until; now = weir_now_ns()) {
        if (weir_interrupt_poll(&run->interrupt))
            return;
        weir_sleep_ns(until - now < NAP_NS ? until - now : NAP_NS);
    }
    while (now < until)
        now = weir_now_ns();
}

/* Count a failure; the reason of the first one is kept. */
static void note_failure(struct mdw_test *t, int count, const struct weir_err *why)
{
    t->m->failed[count]++;
    if (t->first_err.code == WEIR_OK)
        t->first_err = *why;
}

/* An operation on an object is over: count and time it, and wait in proportion. Returns rc. */
static int finish_op(struct weir_run *run, struct mdw_test *t, enum mdw_op op, uint64_t begin,
                     uint64_t *clock_ns, int rc, const struct weir_err *why)
{
    *clock_ns = weir_now_ns();
    if (weir_session_leave(&t->fs.session, rc) == 0) {
        weir_operation_add(run, (int)op, begin, *clock_ns, 0,
                           op == MDW_CREATE || op == MDW_READ ? (uint64_t)t->o->size : 0);
        t->m->done[op]++;
    } else {
        weir_operation_add_failed(run, (int)op, begin, *clock_ns, 0, why);
        note_failure(t, (int)op, why);
    }
    if (t->factor > 0) {
        wait_ns(run, (uint64_t)((double)(*clock_ns - begin) * t->factor));
        *clock_ns = weir_now_ns();
    }
    return rc;
}

/* ---- operations ---- */

static uint64_t item_of(const struct mdw_test *t, int set, uint64_t object)
{
    return object * (uint64_t)t->o->sets + (uint64_t)set;
}

/* Open an object, move its content, close it. The first error wins. */
static int move_object(struct weir_run *run, struct mdw_test *t, const char *path, unsigned flags,
                       const struct weir_io *io, uint64_t clock_ns, struct weir_err *why)
{
    int rc = 0;

    if (weir_session_open_slot(&t->fs.session, t->fs.file, path, flags, &t->fs.extent, why) < 0)
        return -1;
    if (io->len > 0)
        rc = weir_session_xfer(t->fs.file, io, &clock_ns, why);
    if (weir_session_close_slot(t->fs.file, rc < 0 ? NULL : why) < 0)
        rc = -1;
    if (rc == 0)
        run->counters.bytes += io->len;
    return rc;
}

static int create_object(struct weir_run *run, struct mdw_test *t, const char *path, int rank,
                         uint64_t item, uint64_t *clock_ns, struct weir_err *why)
{
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = t->fs.out, .len = (size_t)t->o->size };
    uint64_t begin;
    int rc;

    weir_small_files_fill(&t->fs, run, rank, item, (size_t)t->o->size);
    begin = weir_now_ns();
    weir_ratelimit_wait(run->ratelimit, &begin);
    rc = move_object(run, t, path, WEIR_OPEN_CREATE | WEIR_OPEN_WRITE, &io, begin, why);
    return finish_op(run, t, MDW_CREATE, begin, clock_ns, rc, why);
}

/* Checking is no part of the operation. */
static int read_object(struct weir_run *run, struct mdw_test *t, const char *path, int rank,
                       uint64_t item, uint64_t *clock_ns, struct weir_err *why)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->fs.in, .len = (size_t)t->o->size };
    uint64_t begin;
    bool checks = t->o->verify && io.len > 0 && !(t->fs.session.flags & WEIR_BE_NO_DATA);
    const void *want;
    int rc;

    if (checks)
        weir_small_files_invalidate(&t->fs);
    weir_ratelimit_wait(run->ratelimit, clock_ns);
    begin = *clock_ns;
    rc = move_object(run, t, path, WEIR_OPEN_READ, &io, begin, why);
    if (finish_op(run, t, MDW_READ, begin, clock_ns, rc, why) < 0 || !checks)
        return rc;
    want = weir_small_files_expect(&t->fs, rank, item, io.len);
    if (!weir_small_files_right(&t->fs, run, "object", path, want, io.len, why)) {
        rc = -1;
        t->m->done[MDW_READ]--;
        note_failure(t, MDW_READ, why);
    }
    weir_clock_apart(&run->counters.verify_ns, clock_ns);
    return rc;
}

/* A call that takes nothing but a name. */
static int visit_object(struct weir_run *run, struct mdw_test *t, enum mdw_op op,
                        int (*call)(struct weir_session *, const char *, struct weir_err *),
                        const char *path, uint64_t *clock_ns, struct weir_err *why)
{
    uint64_t begin;

    weir_ratelimit_wait(run->ratelimit, clock_ns);
    begin = *clock_ns;
    weir_session_enter(&t->fs.session, mdw_operations[op].key, path);
    return finish_op(run, t, op, begin, clock_ns, call(&t->fs.session, path, why), why);
}

static void note_outcome(struct mdw_test *t, uint64_t i, enum mdw_op op, int rc)
{
    if (t->outcome && rc < 0)
        t->outcome[i] |= (unsigned char)(1u << op);
}

/* ---- precreate ---- */

/* Memory for the outcomes that rank 0 shows after the phase with -v -v. */
static int prepare_trace(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    uint64_t rounds =
        (uint64_t)(t->m->phase == MDW_PRECREATE ? (int64_t)t->o->population + 1 : t->o->steps);

    free(t->outcome);
    t->outcome = NULL;
    if (t->m->phase == MDW_CLEANUP || run->log.verbose < 2 || run->par.rank > 0)
        return 0;
    t->outcome = calloc((size_t)(rounds * (uint64_t)t->o->sets + 1), 1);
    return t->outcome ? 0 : weir_fail(err, WEIR_ESETUP, "memory for the trace of a phase");
}

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;

    t->fs.out_rank = t->fs.want_rank = -1;
    t->first_err.code = WEIR_OK;
    t->at_set = 0;
    t->at_object = mdw_set_of(t, 0)->low;
    return prepare_trace(run, t, err);
}

static int make_set(struct weir_run *run, struct mdw_test *t, int d, uint64_t *clock_ns,
                    struct weir_err *why)
{
    const char *path = mdw_name_dir(&t->own, run->par.rank, d);
    int rc = weir_session_mkdir(&t->fs.session, path, MODE, why);

    *clock_ns = weir_now_ns();
    if (rc < 0) {
        note_failure(t, MDW_SET_CREATE, why);
        return rc;
    }
    t->m->done[MDW_SET_CREATE]++;
    t->made[d / 8] |= (unsigned char)(1u << d % 8);
    return 0;
}

static int step_precreate(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                          struct weir_err *err)
{
    struct mdw_test *t = state;
    struct weir_err why = WEIR_ERR_INIT;
    uint64_t sets = (uint64_t)t->o->sets, object;
    int d = (int)(i % sets), rc;

    if (i < sets) {
        rc = make_set(run, t, d, clock_ns, &why);
    } else {
        object = t->first + i / sets - 1;
        t->reached = object + 1;
        rc = create_object(run, t, mdw_name_object(&t->own, run->par.rank, d, object),
                           run->par.rank, item_of(t, d, object), clock_ns, &why);
        note_outcome(t, i, MDW_CREATE, rc);
    }
    if (rc == 0 || t->o->ignore_errors)
        return 0;
    *err = why;
    return -1;
}

/* ---- benchmark ---- */

static void exchange(struct weir_run *run, struct mdw_test *t, int d, uint64_t object, uint64_t log,
                     uint64_t *clock_ns)
{
    const struct mdw_set *s = mdw_set_of(t, (uint64_t)d);
    struct weir_err why = WEIR_ERR_INIT;
    const char *path = mdw_name_object(&t->from, s->from_rank, d, object);
    uint64_t next = object + (uint64_t)t->o->population;
    int rc = visit_object(run, t, MDW_STAT, t->fs.ns->stat, path, clock_ns, &why);

    note_outcome(t, log, MDW_STAT, rc);
    if (rc < 0)
        return; /* nothing is there */
    note_outcome(t, log, MDW_READ,
                 read_object(run, t, path, s->from_rank, item_of(t, d, object), clock_ns, &why));
    if (t->o->read_only)
        return;
    note_outcome(t, log, MDW_DELETE,
                 visit_object(run, t, MDW_DELETE, t->fs.ns->unlink, path, clock_ns, &why));
    path = mdw_name_object(&t->to, s->to_rank, d, next);
    t->reached = next + 1;
    note_outcome(t, log, MDW_CREATE,
                 create_object(run, t, path, s->to_rank, item_of(t, d, next), clock_ns, &why));
}

bool mdw_name_read(struct weir_run *run, void *state, uint64_t n, struct weir_small_file *file)
{
    struct mdw_test *t = state;
    int d = (int)(n % (uint64_t)t->o->sets);
    uint64_t round = n / (uint64_t)t->o->sets;

    if (round >= (uint64_t)t->o->steps)
        return false;
    file->rank = mdw_set_of(t, (uint64_t)d)->from_rank;
    file->item = item_of(t, d, t->pos + round);
    file->path = mdw_name_object(&t->from, file->rank, d, t->pos + round);
    return true;
}

/* A round over the sets: the stonewall is looked for between rounds. A signal ends a long one,
 * which leaves the sets at different objects. */
static int step_benchmark(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                          struct weir_err *err)
{
    struct mdw_test *t = state;

    for (int d = 0; d < t->o->sets; d++) {
        if (d % SETS_BETWEEN == SETS_BETWEEN - 1 && weir_interrupt_poll(&run->interrupt))
            return weir_refuse(err, WEIR_EINTR, "interrupted in phase %s",
                               mdw_phases[MDW_BENCHMARK].key);
        exchange(run, t, d, t->pos + i, i * (uint64_t)t->o->sets + (uint64_t)d, clock_ns);
    }
    return 0;
}

/* ---- cleanup ---- */

static void remove_set(struct weir_run *run, struct mdw_test *t, int d, uint64_t *clock_ns)
{
    const char *path = mdw_name_dir(&t->own, run->par.rank, d);
    struct weir_err why = WEIR_ERR_INIT;

    if (weir_session_rmdir(&t->fs.session, path, &why) == 0)
        t->m->done[MDW_SET_DELETE]++;
    else
        note_failure(t, MDW_SET_DELETE, &why);
    *clock_ns = weir_now_ns();
}

/* An object that is not there is no error when objects may be missing. */
static void remove_object(struct weir_run *run, struct mdw_test *t, const char *path,
                          uint64_t *clock_ns)
{
    struct weir_err why = WEIR_ERR_INIT;
    uint64_t begin = *clock_ns;
    int rc;

    weir_session_enter(&t->fs.session, "delete", path);
    rc = weir_session_leave(&t->fs.session, t->fs.ns->unlink(&t->fs.session, path, &why));
    if (rc < 0 && t->lost && why.sys == ENOENT)
        *clock_ns = weir_now_ns();
    else
        finish_op(run, t, MDW_DELETE, begin, clock_ns, rc, &why);
}

static int step_cleanup(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                        struct weir_err *err)
{
    struct mdw_test *t = state;
    int d = (int)t->at_set;

    if (t->at_object < mdw_set_of(t, t->at_set)->high) {
        remove_object(run, t, mdw_name_object(&t->own, run->par.rank, d, t->at_object++), clock_ns);
        return 0;
    }
    remove_set(run, t, d, clock_ns);
    if (++t->at_set < (uint64_t)t->o->sets)
        t->at_object = mdw_set_of(t, t->at_set)->low;
    return 0;
}

/* ---- each operation of rank 0, with -v -v ---- */

static int outcome(const struct mdw_test *t, uint64_t i, enum mdw_op op)
{
    return t->outcome[i] & (1u << op) ? -1 : 0;
}

static void trace_precreate(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = sets; i < rec->steps; i++) {
        const char *last = mdw_name_dir(&t->to, 0, (int)sets - 1); /* stands in front of all */
        const char *path = mdw_name_object(&t->own, 0, (int)(i % sets), t->first + i / sets - 1);

        weir_report_line(&run->report, "0: write %s:%s (%d) pretend: 0", last, path,
                         outcome(t, i, MDW_CREATE));
    }
}

static void trace_benchmark(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    struct weir_report *r = &run->report;
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = 0; i < rec->steps * sets; i++) {
        const struct mdw_set *s = mdw_set_of(t, i % sets);
        uint64_t object = t->pos + i / sets;
        int d = (int)(i % sets);
        const char *path = mdw_name_object(&t->from, s->from_rank, d, object);

        weir_report_line(r, "0: stat %s (%d)", path, outcome(t, i, MDW_STAT));
        if (outcome(t, i, MDW_STAT) < 0)
            continue;
        weir_report_line(r, "0: read %s pretend: %d", path, s->from_rank);
        if (t->o->read_only)
            continue;
        weir_report_line(r, "0: delete %s", path);
        weir_report_line(
            r, "0: write %s (%d) pretend: %d",
            mdw_name_object(&t->to, s->to_rank, d, object + (uint64_t)t->o->population),
            outcome(t, i, MDW_CREATE), s->to_rank);
    }
}

static void trace_cleanup(struct weir_run *run, struct mdw_test *t)
{
    for (uint64_t d = 0; d < (uint64_t)t->o->sets && d <= t->at_set; d++) {
        const struct mdw_set *s = mdw_set_of(t, d);
        uint64_t end = d == t->at_set ? t->at_object : s->high;

        for (uint64_t i = s->low; i < end; i++)
            weir_report_line(&run->report, "0: delete %s", mdw_name_object(&t->own, 0, (int)d, i));
        if (d < t->at_set)
            weir_report_line(&run->report, "0: delete dset %s", mdw_name_dir(&t->own, 0, (int)d));
    }
}

void mdw_trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec)
{
    if (run->log.verbose < 2 || run->par.rank > 0)
        return;
    if (t->m->phase == MDW_PRECREATE)
        trace_precreate(run, t, rec);
    else if (t->m->phase == MDW_BENCHMARK)
        trace_benchmark(run, t, rec);
    else
        trace_cleanup(run, t);
}

/* ---- rows ---- */

static uint64_t count_steps(struct weir_run *run, void *state)
{
    const struct mdw_test *t = state;
    uint64_t sets = (uint64_t)t->o->sets;

    if (t->m->phase == MDW_BENCHMARK)
        return (uint64_t)t->o->steps;
    return sets + (t->m->phase == MDW_CLEANUP ? mdw_sets_objects(t)
                                              : sets * (uint64_t)t->o->population);
}

/* Operations of all kinds that the phase has. */
static uint64_t count_done(struct weir_run *run, const void *state, uint64_t steps)
{
    const struct mdw_test *t = state;
    uint64_t n = 0;

    for (int c = 0; c < MDW_COUNTS; c++)
        n += t->m->done[c];
    return n;
}

#define ROW(name, what, f)                                                                         \
    {                                                                                              \
        .key = #name, .unit = (what), .flags = (f), .prepare = prepare, .count = count_steps,      \
        .done = count_done, .operations = mdw_count_operations, .step = step_##name                \
    }

const struct weir_phase mdw_phases[MDW_PHASES] = {
    [MDW_PRECREATE] = ROW(precreate, "objects and sets", 0),
    [MDW_BENCHMARK] = ROW(benchmark, "rounds", WEIR_PHASE_STONEWALL),
    [MDW_CLEANUP] = ROW(cleanup, "objects and sets", 0),
};
