/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-test.c - the stages of a test, and what each phase must be checked for */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/about/banner.h"
#include "engine/observe/gather.h"
#include "engine/observer.h"
#include "engine/place/status.h"
#include "par/reduce.h"

/* ---- what -v -v -v adds ---- */

/* levels of -v */
#define TRACE_LEVEL 3
#define MORE_LEVEL 4

void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner)
{
    struct weir_str line = { 0 }, name = { 0 };

    if (run->log.verbose < TRACE_LEVEL)
        return;
    if (owner >= 0 &&
        ior_file_name(t->o, t->use.mount, owner, run->repetition, &name, NULL) == 0)
        weir_str_addf(&line, "task %d %s %s\n", run->par.rank, doing, weir_str_text(&name));
    weir_ranks_lines(run, &line);
    weir_str_free(&line);
    weir_str_free(&name);
}

static void trace_commence(struct weir_run *run, const struct weir_stage *s)
{
    char now[32];

    if (run->log.verbose < TRACE_LEVEL)
        return;
    weir_report_line(&run->report, "Commencing %s performance test: %s%s", s->key,
                     weir_banner_now(now, WEIR_BANNER_CTIME),
                     s->flags & WEIR_STAGE_READS ? "\n" : "");
    weir_report_flush(&run->report);
}

static void trace_phase(struct weir_run *run, const struct ior_test *t,
                     const struct weir_phase_rec *rec)
{
    static const char *const labels[WEIR_MARKS] = {
        [WEIR_MARK_OPEN] = "open start",   [WEIR_MARK_OPENED] = "open stop",
        [WEIR_MARK_WORK] = "start",        [WEIR_MARK_WORKED] = "stop",
        [WEIR_MARK_CLOSE] = "close start", [WEIR_MARK_CLOSED] = "close stop",
    };
    struct weir_str lines = { 0 };
    int64_t day_ns;

    if (run->log.verbose < TRACE_LEVEL)
        return;
    day_ns = weir_clock_to_day_ns(&run->par);
    if (run->log.verbose >= MORE_LEVEL)
        weir_str_addf(&lines, "* data moved = %" PRIu64 "\n", run->counters.bytes);
    for (int m = 0; m < WEIR_MARKS; m++)
        weir_str_addf(&lines, "Test %d: Iter=%d, Task=%d, Time=%f, %s %s\n", t->id, rec->repetition,
                      run->par.rank,
                      (double)(day_ns + weir_clock_common(&run->clock, rec->mark[m])) /
                          WEIR_NS_PER_S,
                      rec->phase->key, labels[m]);
    weir_ranks_lines(run, &lines);
    weir_str_free(&lines);
}

/* ---- blocks and tasks that are taken with repetition ---- */

/* -z -z draws blocks with repetition: of k draws from m blocks 1 - m/k (1 - (1 - 1/m)^k) are
 * expected to repeat one. */
static void note_repeats(struct weir_run *run, const struct ior_test *t)
{
    double m = (double)(t->pass.offsets.conf.file_bytes / t->layout.block);
    double k = (double)t->layout.segments * (t->layout.shared ? run->par.size : 1);

    if (t->o->random_offset < 2 || run->repetition > 0 || m < 1 || k < 1)
        return;
    weir_note(
        &run->log,
        "-z -z draws %.0f blocks of %.0f with repetition: about %.0f%% of the draws repeat a block",
        k, m, 100.0 * (1.0 - m / k * -expm1(k * log1p(-1.0 / m))));
}

static void note_distance(const struct weir_run *run, const struct ior_options *o)
{
    if (run->repetition == 0 && o->node_offset > 1 && o->node_offset >= run->par.cache.nodes)
        weir_note(&run->log, "-Q %d is not less than the number of nodes, %d: -Z reads data that "
                             "are at least %d nodes away", o->node_offset, run->par.cache.nodes,
                             run->par.cache.nodes - 1);
}

/* -Z draws with repetition: report how many files are read how often, and how many never. */
static void note_unread(struct weir_run *run, const struct ior_test *t)
{
    struct weir_str line = { 0 };
    int64_t hits, most, missing;
    uint64_t *often; /* number of files that are read i times */
    int owner;

    if (t->o->reorder_random != 1)
        return;
    note_distance(run, t->o);
    owner = ior_owner(t, &run->par, false, run->repetition, NULL);
    hits = most = weir_askers(&run->par, owner < 0 ? run->par.rank : owner);
    weir_allmax_i64(&run->par, &most, 1);
    often = calloc((size_t)most + 1, sizeof(*often));
    missing = !often;
    weir_allmax_i64(&run->par, &missing, 1);
    if (!missing) {
        often[hits]++;
        weir_sum_u64(&run->par, often, (size_t)most + 1);
        weir_str_addf(&line, "#File Hits Dist:");
        for (int64_t i = 0; i <= most; i++)
            weir_str_addf(&line, " %" PRIu64, often[i]);
        if (run->log.verbose >= 2)
            weir_report_line(&run->report, "%s", weir_str_text(&line));
    }
    if (!missing && run->par.rank == 0 && often[0] > 0)
        weir_note(
            &run->log,
            "-Z draws with repetition: the data of %" PRIu64 " of %d tasks are not read in repetition %d",
            often[0], run->par.size, run->repetition);
    weir_report_free(&run->report, &line);
    free(often);
}

/* ---- after a phase ---- */

/* Read the end of an earlier run from the status file. */
static int read_status(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    bool there;

    if (weir_status_read(run, t->o->status_file, "transfers", &there, &t->pass.limit, err) < 0)
        return -1;
    if (there)
        return 0;
    return weir_warn(&run->log, err,
                     "Could not read back the stonewalling status from the file '%s'!",
                     t->o->status_file);
}

/* Limit reading to the end of the write phase of this repetition on the rank whose data we
 * take, or to that of an earlier run by the status file. Blocks of -z -z are drawn from the
 * files, and may be of another size: the transfers of a writer do not limit them. */
static int limit_reading(struct weir_run *run, struct ior_test *t, bool check_write,
                         struct weir_err *err)
{
    int64_t any_short = t->results.wrote_short; /* a rank with nothing to write was not short */
    int owner;

    t->pass.limit = UINT64_MAX;
    if (t->o->status_file && !t->o->write)
        return t->o->random_offset >= 2 ? 0 : read_status(run, t, err);
    weir_allmax_i64(&run->par, &any_short, 1);
    if (!any_short)
        return 0;
    owner = ior_owner(t, &run->par, check_write, run->repetition, NULL);
    t->pass.limit =
        weir_fetch_u64(&run->par, t->results.written, owner < 0 ? run->par.rank : owner);
    return 0;
}

/* The status file holds what is true for the files that are left. With -m every repetition leaves
 * its own, and the least count is true for all. */
static void remember_write(struct ior_test *t, const struct weir_phase_rec *rec)
{
    uint64_t whole = weir_offsets_count(&t->pass.offsets);

    t->results.written = rec->steps;
    t->results.wrote_short = rec->min.steps != rec->max.steps || rec->steps < whole;
    if (!t->results.knows_status || !t->o->multi_file || rec->max.steps < t->results.status_steps)
        t->results.status_steps = rec->max.steps;
    t->results.knows_status = true;
    if (rec->repetition > 0)
        return;
    t->results.first_steps = rec->max.steps;
    t->results.wore_out = rec->stonewall.known;
}

/* ---- stages ---- */

static bool wants(const void *state, const struct weir_stage *s)
{
    const struct ior_options *o = ((const struct ior_test *)state)->o;

    return s->phase == &ior_write_phase   ? o->write
           : s->phase == &ior_check_phase ? o->check_write
           : s->phase == &ior_mix_phase   ? o->mix != NULL
                                          : ior_wants_read(o);
}

static void time_together(const void *state, const struct weir_stage *s, struct weir_timing *timing)
{
    const struct ior_test *t = state;
    const struct ior_options *o = t->o;
    bool together = ior_opens_together(t);

    timing->collective_open = together;
    timing->collective_flush = together && o->sync_end;
    timing->collective_steps = !o->file_per_task && t->access.collective;
    timing->op_bytes = t->extent.transfer;
}

static int before_write(struct weir_run *run, void *state, const struct weir_stage *s,
                        struct weir_err *err)
{
    struct ior_test *t = state;

    if (t->o->status_file && !t->o->run.dry_run && run->repetition == 0 &&
        weir_status_forget(run, t->o->status_file, err) < 0)
        return -1;
    t->use.made = false;
    t->pass.limit = UINT64_MAX;
    if (t->o->prefill > 0 && ior_prefill(run, t, s, err) < 0)
        return -1;
    ior_trace_file(run, t, "writing", run->par.rank);
    trace_commence(run, s);
    return 0;
}

static int after_write(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct ior_test *t = state;

    trace_phase(run, t, rec);
    remember_write(t, rec);
    note_repeats(run, t);
    weir_banner_facts(run, &t->use.facts); /* hints in effect, once a test */
    if (ior_check_size(run, t, rec, err) < 0)
        return -1;
    ior_report_phase(run, t, rec, &t->results.write);
    return 0;
}

/* Find the task whose file will be read, and with -y the mount on which it lies. Collective. */
static void find_owner(struct weir_run *run, struct ior_test *t, bool check_write)
{
    int owner = ior_owner(t, &run->par, check_write, run->repetition, NULL);

    t->pass.check_write = check_write;
    t->use.owner_mount = t->use.mount;
    if (t->o->dual_mount)
        t->use.owner_mount = (int)weir_fetch_u64(&run->par, (uint64_t)t->use.mount,
                                                 owner < 0 ? run->par.rank : owner);
    ior_trace_file(run, t, "reading", owner);
    ior_mix_expect(run, t, owner < 0 ? run->par.rank : owner);
}

/* Over what the write phase has left, or the file that is there: as far as data go. */
static int before_mix(struct weir_run *run, void *state, const struct weir_stage *s,
                      struct weir_err *err)
{
    struct ior_test *t = state;

    t->pass.limit = UINT64_MAX;
    if (t->o->status_file && !t->o->write) {
        if (read_status(run, t, err) < 0)
            return -1;
    } else if (t->results.wrote_short) {
        t->pass.limit = t->results.written;
    }
    ior_trace_file(run, t, "mixing", run->par.rank);
    trace_commence(run, s);
    return 0;
}

static int after_mix(struct weir_run *run, void *state, const struct weir_stage *s,
                     struct weir_phase_rec *rec, struct weir_err *err)
{
    struct ior_test *t = state;
    int rc;

    trace_phase(run, t, rec);
    t->results.mixed = rec->steps;
    weir_banner_facts(run, &t->use.facts); /* hints in effect, once a test */
    rc = ior_data_report(run, t, rec, rec->phase->key, err);
    ior_report_mix(run, t, rec);
    ior_mix_report(run, t, rec);
    return rc;
}

static int before_check(struct weir_run *run, void *state, const struct weir_stage *s,
                        struct weir_err *err)
{
    char now[32];

    if (run->log.verbose >= 1) {
        weir_report_line(&run->report, "Verifying contents of the file(s) just written.");
        weir_report_line(&run->report, "%s\n", weir_banner_now(now, WEIR_BANNER_CTIME));
    }
    if (limit_reading(run, state, true, err) < 0)
        return -1;
    find_owner(run, state, true);
    return 0;
}

static int after_check(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    int rc = ior_data_report(run, state, rec, "write", err);

    weir_observers_measured(run, &((struct ior_test *)state)->session, rec);
    ior_mix_report(run, state, rec);
    return rc;
}

static int before_read(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_err *err)
{
    if (limit_reading(run, state, false, err) < 0)
        return -1;
    note_unread(run, state);
    find_owner(run, state, false);
    trace_commence(run, s);
    return 0;
}

static int after_read(struct weir_run *run, void *state, const struct weir_stage *s,
                      struct weir_phase_rec *rec, struct weir_err *err)
{
    struct ior_test *t = state;
    int rc;

    trace_phase(run, t, rec);
    if (ior_check_size(run, t, rec, err) < 0)
        return -1;
    if (!t->o->write)
        note_repeats(run, t);
    weir_banner_facts(run, &t->use.facts); /* hints in effect, once a test */
    rc = ior_data_report(run, t, rec, "read", err);
    ior_report_phase(run, t, rec, &t->results.read);
    ior_mix_report(run, t, rec);
    return rc;
}

/* ---- some ranks alone (--sweep): over the data of the phase of all ranks, and no further ---- */

static int before_subset_write(struct weir_run *run, void *state, const struct weir_stage *s,
                               struct weir_err *err)
{
    struct ior_test *t = state;

    t->use.made = true;
    t->data.pattern.rank = run->par.rank;
    ior_new_signature(t, t->data.pattern.signature); /* a read has used the buffers */
    t->pass.limit = t->results.written;
    return 0;
}

static int before_subset_read(struct weir_run *run, void *state, const struct weir_stage *s,
                              struct weir_err *err)
{
    if (limit_reading(run, state, false, err) < 0)
        return -1;
    find_owner(run, state, false);
    return 0;
}

static int after_subset_read(struct weir_run *run, void *state, const struct weir_stage *s,
                             struct weir_phase_rec *rec, struct weir_err *err)
{
    return ior_data_report(run, state, rec, "read", err);
}

static const struct weir_subset subset_write = { .before = before_subset_write };
static const struct weir_subset subset_read = { .before = before_subset_read,
                                                .after = after_subset_read };

/* ---- rows ---- */

#define STAGE(k, name, f, ...)                                                                     \
    {                                                                                              \
        .key = (k), .flags = (f), .phase = &ior_##name##_phase, .wanted = wants,                   \
        .timing = time_together, .before = before_##name, .after = after_##name, __VA_ARGS__       \
    }

/* Data that were just written are checked outside any measured time. */
const struct weir_stage ior_stages[] = {
    STAGE("write", write, WEIR_STAGE_DELAY | WEIR_STAGE_WRITES, .subset = &subset_write,
          .skipped = ior_report_skipped),
    STAGE("mix", mix, WEIR_STAGE_DELAY | WEIR_STAGE_WRITES | WEIR_STAGE_READS,
          .skipped = ior_report_skipped),
    STAGE("check write", check, WEIR_STAGE_UNTIMED | WEIR_STAGE_CHECKS, ),
    STAGE("read", read, WEIR_STAGE_DELAY | WEIR_STAGE_READS, .subset = &subset_read,
          .skipped = ior_report_skipped),
    { .key = "sweep", .flags = WEIR_STAGE_EXTRA },
    { .key = NULL }
};

#undef STAGE
