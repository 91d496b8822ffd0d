/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-test.c - one test: its repetitions, what each phase must be checked for, and the way out
 * when something failed */
#include "config.h"
#include "drivers/ior/ior.h"

#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "par/agree.h"
#include "par/reduce.h"

/* ---- set-up ---- */

static void set_timing(struct ior_test *t)
{
    const struct ior_options *o = t->o;
    bool together = (t->be->flags & WEIR_BE_COLLECTIVE_OPEN) && !o->file_per_task;

    t->timing = (struct weir_timing) {
        .deadline_s = o->run.deadline_s,
        .min_time_s = o->run.min_time_s,
        .max_steps = (uint64_t)o->run.max_steps,
        .pause_ns = (uint64_t)o->run.pause_us * 1000,
        .wear_out = o->run.wear_out,
        .barriers = o->run.barriers,
        .collective_open = together,
        .lock_step = !o->file_per_task && t->access.collective,
    };
}

/* The time of rank 0 stands in for what was not given: seeds and signatures that all ranks
 * share. */
static uint32_t shared_time(const struct weir_run *run)
{
    uint32_t now = (uint32_t)time(NULL);

    weir_bcast(&run->par, &now, sizeof(now), 0);
    return now;
}

/* The NUMA node this task runs on now: it chooses the mount of -y, once for the test, so that
 * names stay. */
static int numa_node(void)
{
    unsigned cpu = 0, node = 0;

    return getcpu(&cpu, &node) == 0 ? (int)node : 0;
}

/* Of -l signature: later runs have larger numbers. */
static uint64_t shared_run_number(const struct weir_run *run)
{
    struct timespec now;
    uint64_t number;

    clock_gettime(CLOCK_REALTIME, &now);
    number = (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
    weir_bcast(&run->par, &number, sizeof(number), 0);
    return number;
}

static int begin_test(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct ior_options *o = (struct ior_options *)(uintptr_t)t->o; /* this test's own copy */
    int rc;

    weir_packet_parse(o->packet, &t->pattern.packet);
    t->layout.tasks = t->access.tasks = run->par.size;
    t->access.nodes = run->par.nodes;
    if (o->random_offset && o->random_seed < 0)
        o->random_seed = (int)(shared_time(run) & INT32_MAX);
    t->unit.run = shared_run_number(run);
    set_timing(t);
    t->begin_ns = weir_now_ns();
    t->mount = o->dual_mount ? numa_node() : -1;
    weir_clock_estimate(&run->par, &run->clock);
    rc = ior_buffers(t, err);
    if (rc == 0)
        rc = ior_check_owner(o, &run->par, err);
    if (rc == 0)
        rc = ior_memory_take(t, err);
    if (rc == 0)
        rc = weir_session_begin(&run->session, t->be, t->be_opt, &t->access, &run->par, &run->log,
                                err);
    if (rc == 0)
        rc = ior_queue_begin(t, &run->session, err);
    if (rc == 0 && o->run.io_timeout_s > 0)
        rc =
            weir_watchdog_begin(&run->watchdog, run->par.rank, run->par.host, o->run.io_timeout_s, err);
    if (rc == 0 && o->run.io_timeout_s > 0)
        run->session.call = &run->watchdog.call;
    return weir_agree(&run->par, rc, err);
}

/* A new signature for each repetition, so that what an earlier one left behind does not pass. */
static void begin_repetition(struct weir_run *run, struct ior_test *t)
{
    uint32_t sig = (uint32_t)t->o->signature;

    if (sig == 0) {
        sig = shared_time(run);
        if (t->signature != 0 && (int32_t)(sig - t->signature) <= 0)
            sig = t->signature + 1;
    }
    t->pattern.rank = run->par.rank;
    ior_new_signature(t, sig);
    t->written = UINT64_MAX;
    t->dirty = t->wrote_short = false;
    if (run->log.verbose >= 2)
        weir_report_line(&run->report,
                         "Using Time Stamp %" PRIu32 " (0x%" PRIx32 ") for Data Signature", sig,
                         sig);
    if (run->repetition == 0)
        ior_report_head(run);
}

static void warn_existing(struct weir_run *run, struct ior_test *t, struct weir_err *err, int *rc)
{
    bool there = false;

    if (!t->o->write || run->par.rank != 0 ||
        ior_file_name(t->o, t->mount, 0, 0, &t->path, err) < 0 ||
        ior_file_exists(run, t, &there, NULL) < 0 || !there ||
        (run->session.flags & WEIR_BE_NO_DATA))
        return;
    *rc = weir_warn(&run->log, err, "The file \"%s\" exists already and will be %s", t->path.text,
                    t->o->use_existing ? "overwritten" : "deleted");
}

/* ---- after a phase ---- */

/* How far a read may go: to where the write phase of this repetition came on the rank whose data
 * we take, or to where the status file says an earlier run came. */
static int limit_reading(struct weir_run *run, struct ior_test *t, bool check_write,
                         struct weir_err *err)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    int owner;

    t->limit = UINT64_MAX;
    if (t->o->status_file && !t->o->write)
        return ior_status_read(run, t, &t->limit, err);
    if (!t->wrote_short)
        return 0;
    owner = ior_owner(t->o, &run->par, check_write, run->repetition, &ignored);
    t->limit = weir_fetch_u64(&run->par, t->written, owner < 0 ? run->par.rank : owner);
    return 0;
}

static void remember_write(struct ior_test *t, const struct weir_phase_rec *rec)
{
    uint64_t whole = weir_offsets_count(&t->offsets);

    t->written = rec->steps;
    t->wrote_short = rec->steps_min != rec->steps_max || rec->steps < whole;
    ior_status_note(t, rec->steps_max);
    if (rec->repetition > 0)
        return;
    t->first_steps = rec->steps_max;
    t->wore_out = rec->stonewall.known;
}

/* -T: rank 0's clock decides for all, so that nobody enters a phase alone. */
static bool time_is_up(struct weir_run *run, const struct ior_test *t)
{
    int64_t up = run->par.rank == 0 &&
                 weir_now_ns() - t->begin_ns > (uint64_t)t->o->run.max_minutes * 60 * WEIR_NS_PER_S;

    if (t->o->run.max_minutes <= 0)
        return false;
    weir_bcast(&run->par, &up, sizeof(up), 0);
    return up != 0;
}

/* ---- phases ---- */

/* -d, on all ranks, so that a signal to any of them ends it. */
static int wait_before(struct weir_run *run, const struct ior_test *t, struct weir_err *err)
{
    if (t->o->run.delay_s <= 0)
        return 0;
    if (run->log.verbose >= 1)
        weir_report_line(&run->report, "delaying %d seconds . . .", t->o->run.delay_s);
    weir_report_flush(&run->report);
    return weir_phase_pause(run, t->o->run.delay_s, err);
}

static int run_write(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_phase_rec rec;

    if (wait_before(run, t, err) < 0)
        return -1;
    t->prefilled = false;
    if (t->o->prefill > 0 && ior_prefill(run, t, err) < 0)
        return -1;
    ior_trace_file(run, t, "writing", run->par.rank);
    ior_trace_commence(run, WEIR_DIR_WRITE);
    if (weir_phase_run(run, &ior_write_phase, t, &t->timing, &rec, err) < 0)
        return -1;
    ior_trace_phase(run, t, &rec);
    remember_write(t, &rec);
    ior_note_repeats(run, t);
    ior_report_facts(run, t);
    if (ior_check_size(run, t, &rec, err) < 0)
        return -1;
    ior_report_phase(run, t, &rec, &t->write);
    if (ior_ranks_phase(run, t, &rec, err) < 0)
        return -1;
    return rec.interrupted
               ? weir_refuse(err, WEIR_EINTR, "interrupted in the write phase of repetition %d",
                             run->repetition)
               : 0;
}

/* Whose file will be read, and with -y on which mount it lies. Collective. */
static void find_owner(struct weir_run *run, struct ior_test *t, bool check_write)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    int owner = ior_owner(t->o, &run->par, check_write, run->repetition, &ignored);

    t->owner_mount = t->mount;
    if (t->o->dual_mount)
        t->owner_mount =
            (int)weir_fetch_u64(&run->par, (uint64_t)t->mount, owner < 0 ? run->par.rank : owner);
    ior_trace_file(run, t, "reading", owner);
}

static int run_check(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_timing timing = t->timing;
    struct weir_phase_rec rec;
    char now[32];
    int rc;

    if (run->log.verbose >= 1) {
        weir_report_line(&run->report, "Verifying contents of the file(s) just written.");
        weir_report_line(&run->report, "%s\n", ior_now_text(now));
    }
    if (limit_reading(run, t, true, err) < 0)
        return -1;
    timing.wear_out = timing.barriers = false;
    timing.pause_ns = 0;
    find_owner(run, t, true);
    rc = weir_phase_run(run, &ior_check_phase, t, &timing, &rec, err);
    if (rc < 0)
        return -1;
    rc = ior_data_report(run, t, &rec, "write", err);
    ior_report_detail(run, t, &rec);
    if (rc < 0)
        return -1;
    return rec.interrupted
               ? weir_refuse(err, WEIR_EINTR, "interrupted while checking repetition %d",
                             run->repetition)
               : 0;
}

static int run_read(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_phase_rec rec;
    int rc;

    if (limit_reading(run, t, false, err) < 0 || wait_before(run, t, err) < 0)
        return -1;
    ior_note_unread(run, t);
    find_owner(run, t, false);
    ior_trace_commence(run, WEIR_DIR_READ);
    if (weir_phase_run(run, &ior_read_phase, t, &t->timing, &rec, err) < 0)
        return -1;
    ior_trace_phase(run, t, &rec);
    if (ior_check_size(run, t, &rec, err) < 0)
        return -1;
    if (!t->o->write)
        ior_note_repeats(run, t);
    ior_report_facts(run, t);
    rc = ior_data_report(run, t, &rec, "read", err);
    ior_report_phase(run, t, &rec, &t->read);
    if (rc < 0 || ior_ranks_phase(run, t, &rec, err) < 0)
        return -1;
    return rec.interrupted
               ? weir_refuse(err, WEIR_EINTR, "interrupted in the read phase of repetition %d",
                             run->repetition)
               : 0;
}

/* Files go after each repetition, also after a failed one, but for -k, and for -K where data were
 * wrong. Every phase ends with a reduction, so nobody still has them open. */
static int end_repetition(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    bool mine = t->created && (t->o->file_per_task || run->par.rank == 0);
    uint64_t begin;

    if (!t->o->write || t->o->keep || (t->o->keep_with_error && t->dirty))
        return 0;
    ior_trace_file(run, t, "removing", mine ? run->par.rank : -1);
    begin = weir_now_ns();
    if (weir_agree(&run->par, ior_remove(run, t, err), err) < 0)
        return -1;
    ior_report_remove(run, (double)(weir_now_ns() - begin) / WEIR_NS_PER_S);
    return 0;
}

/* The stages of a repetition, in order. */
static const struct {
    const char *access; /* the row that stands for a skipped stage, NULL: none */
    bool (*wanted)(const struct ior_options *);
    int (*run)(struct weir_run *, struct ior_test *, struct weir_err *);
} stages[] = {
    { "write", ior_wants_write, run_write },
    { NULL, ior_wants_check, run_check },
    { "read", ior_wants_read, run_read },
};

static int run_repetition(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_err second = WEIR_ERR_INIT;
    int rc = 0;

    begin_repetition(run, t);
    rc = ior_ranks_repetition(run, t, err);
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages) && rc == 0; i++) {
        if (!stages[i].wanted(t->o))
            continue;
        if (!time_is_up(run, t))
            rc = stages[i].run(run, t, err);
        else if (stages[i].access)
            ior_report_skipped(run, t, stages[i].access);
    }
    if (end_repetition(run, t, rc < 0 ? &second : err) < 0)
        rc = -1; /* the first error wins */
    return rc;
}

/* Leave the test: what was taken is given back, and the first error stays. */
static int end_test(struct weir_run *run, struct ior_test *t, int rc, struct weir_err *err)
{
    struct weir_err second = WEIR_ERR_INIT;

    if (rc == 0 && t->o->status_file && t->o->write && !t->o->run.dry_run)
        rc = ior_status_write(run, t, err);
    if (weir_agree(&run->par, weir_session_end(&run->session, &second), &second) < 0 && rc == 0) {
        *err = second;
        rc = -1;
    }
    weir_watchdog_end(&run->watchdog);
    weir_oplog_free(&run->oplog);
    ior_free(t);
    return rc;
}

enum weir_code ior_run_test(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    bool wrong = false;
    int rc = begin_test(run, t, err);

    if (rc < 0) {
        ior_free(t);
        return err->code;
    }
    rc = ior_report_test(run, t, err);
    if (rc == 0)
        warn_existing(run, t, err, &rc);
    rc = weir_agree(&run->par, rc, err);
    ior_report_results(run);
    for (run->repetition = 0; rc == 0 && run->repetition < t->o->run.repetitions; run->repetition++) {
        rc = run_repetition(run, t, err);
        wrong |= t->dirty;
    }
    if (rc == 0 && !t->o->write && !t->o->keep)
        weir_note(&run->log, "the files were kept: a run that does not write never removes them");
    if (t->wore_out && !t->o->status_file)
        weir_report_line(&run->report, "Pairs deadlineForStonewallingaccessed: %" PRIu64,
                         t->first_steps);
    ior_report_hints(run, t);
    ior_report_max(run, t); /* the last of the test */
    rc = end_test(run, t, rc, err);
    if (rc < 0)
        return err->code;
    return wrong ? WEIR_EDATA : WEIR_OK;
}
