/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-phases.c - the write phase and the read phase */
#include "config.h"
#include "drivers/mib/mib.h"

#include <inttypes.h>

#include "base/owned.h"
#include "base/rng.h"

/* ---- before the clock starts ---- */

static void begin_phase(struct mib_test *t)
{
    t->short_calls = t->wrong_at = t->unlink_ns = t->fsync_ns = 0;
    t->file = NULL;
}

/* With -n the file of an earlier run goes. */
static int prepare_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->own);
    uint64_t begin_ns;
    bool there = false;

    (void)run;
    begin_phase(t);
    t->planned = (uint64_t)t->o->call_limit;
    weir_owned_fill(t->task, 0, t->buf, (size_t)t->o->call_size);
    if (!t->o->fresh)
        return 0;
    if (weir_session_exists(&t->session, path, &there, err) < 0)
        return -1;
    begin_ns = weir_now_ns();
    if (there && weir_session_unlink(&t->session, path, err) < 0)
        return -1;
    t->unlink_ns = there ? weir_now_ns() - begin_ns : 0;
    return 0;
}

/* From a multiple of the granularity on a whole call must fit into the file. */
static int plan_random(struct mib_test *t, int repetition, struct weir_err *err)
{
    const char *path = weir_str_text(&t->peer);

    if (t->read_bytes < t->granularity)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' has %" PRIu64 " bytes, too few for the granularity of %" PRIu64
                           " (-b)",
                           path, t->read_bytes, t->granularity);
    if (t->read_bytes < (uint64_t)t->o->call_size)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' has %" PRIu64 " bytes, too few for a random read of %" PRId64
                           " (-s)",
                           path, t->read_bytes, t->o->call_size);
    t->places = (t->read_bytes - (uint64_t)t->o->call_size) / t->granularity + 1;
    t->key = weir_rng_at((uint64_t)t->task + 1, (uint64_t)repetition);
    return 0;
}

/* How much there is to read. What stores nothing, or more than the data, has all that was asked for. */
static int find_peer(struct mib_test *t, struct weir_err *err)
{
    const char *path = weir_str_text(&t->peer);
    bool there = false;

    t->read_bytes = t->extent.file_bytes;
    if (t->session.flags & WEIR_BE_NO_DATA)
        return 0;
    if (weir_session_exists(&t->session, path, &there, err) < 0)
        return -1;
    if (!there)
        return weir_refuse(err, WEIR_EIO,
                           "No file: '%s', which another task must have written before (-W)", path);
    if (t->session.flags & WEIR_BE_CONTAINER)
        return 0;
    return weir_session_size(&t->session, path, &t->read_bytes, err);
}

static int prepare_read(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    uint64_t call = (uint64_t)t->o->call_size;

    begin_phase(t);
    if (find_peer(t, err) < 0)
        return -1;
    t->planned = (uint64_t)t->o->call_limit;
    if (t->granularity)
        return plan_random(t, run->repetition, err);
    if (t->read_bytes / call + (t->read_bytes % call > 0) < t->planned)
        t->planned = t->read_bytes / call + (t->read_bytes % call > 0);
    return 0;
}

static uint64_t count_calls(struct weir_run *run, void *state)
{
    (void)run;
    return ((struct mib_test *)state)->planned;
}

/* ---- timed ---- */

static int open_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    (void)run;
    return weir_session_open(&t->session, weir_str_text(&t->own),
                             WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &t->extent, &t->file, err);
}

static int open_peer(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    (void)run;
    return weir_session_open(&t->session, weir_str_text(&t->peer), WEIR_OPEN_READ, &t->extent,
                             &t->file, err);
}

/* One call, recorded. *clock_ns: its beginning, and then its end. */
static int move(struct weir_run *run, struct mib_test *t, const struct weir_io *io,
                uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t begin_ns = *clock_ns;

    if (weir_session_xfer(t->file, io, clock_ns, err) < 0) {
        weir_records_add_failed(&run->records, (int)io->dir, begin_ns, *clock_ns, io->off, err);
        return -1;
    }
    weir_records_add(&run->records, (int)io->dir, begin_ns, *clock_ns, io->off, io->len);
    run->counters.bytes += io->len;
    return 0;
}

static int step_write(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    struct mib_test *t = state;
    struct weir_io io = { .dir = WEIR_DIR_WRITE,
                          .buf = t->buf,
                          .len = t->extent.transfer,
                          .off = i * t->extent.transfer };
    uint64_t begin_ns = *clock_ns;

    if (t->o->verify) {
        weir_owned_fill(t->task, io.off, t->buf, io.len);
        *clock_ns = weir_now_ns();
        run->counters.fill_ns += *clock_ns - begin_ns;
    }
    return move(run, t, &io, clock_ns, err);
}

static void verify(struct weir_run *run, struct mib_test *t, const struct weir_io *io,
                   uint64_t *clock_ns)
{
    uint64_t begin_ns = *clock_ns;
    size_t right = weir_owned_right(t->source, io->off, io->buf, io->len);

    if (right < io->len && run->counters.wrong++ == 0)
        t->wrong_at = io->off + right;
    *clock_ns = weir_now_ns();
    run->counters.verify_ns += *clock_ns - begin_ns;
}

static int step_read(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mib_test *t = state;
    uint64_t call = t->extent.transfer;
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->buf, .len = call, .off = i * call };

    if (t->granularity)
        io.off = t->granularity * weir_rng_below(t->key, i, t->places);
    else if (t->read_bytes - io.off < call)
        io.len = t->read_bytes - io.off;
    if (move(run, t, &io, clock_ns, err) < 0)
        return -1;
    t->short_calls += io.len < call;
    if (t->o->verify)
        verify(run, t, &io, clock_ns);
    return 0;
}

static int flush_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = weir_session_sync(t->file, err);

    (void)run;
    t->fsync_ns = weir_now_ns() - begin_ns;
    return rc;
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    (void)run;
    return weir_session_close(((struct mib_test *)state)->file, err);
}

static const struct weir_phase write_phase = {
    .key = "write",
    .unit = "calls",
    .flags = WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS,
    .prepare = prepare_write,
    .count = count_calls,
    .open = open_own,
    .step = step_write,
    .look = mib_progress,
    .flush = flush_file,
    .close = close_file,
};

static const struct weir_phase read_phase = {
    .key = "read",
    .unit = "calls",
    .flags = WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS,
    .prepare = prepare_read,
    .count = count_calls,
    .open = open_peer,
    .step = step_read,
    .look = mib_progress,
    .close = close_file,
};

/* ---- stages ---- */

static bool is_wanted(const void *state, const struct weir_stage *stage)
{
    const struct mib_options *o = ((const struct mib_test *)state)->o;
    const bool alone[] = { o->write_only, o->read_only }; /* both or none: both phases */

    return o->write_only == o->read_only || alone[stage->index];
}

/* The engine takes a deadline of 0 for none; here it is one that every call misses but the first. */
static void set_timing(const void *state, const struct weir_stage *stage,
                       struct weir_timing *timing)
{
    (void)stage;
    timing->barriers = true;
    timing->deadline_s = ((const struct mib_test *)state)->o->run.deadline_s;
    if (timing->deadline_s == 0)
        timing->max_steps = 1;
}

static int before_phase(struct weir_run *run, void *state, const struct weir_stage *stage,
                        struct weir_err *err)
{
    struct mib_test *t = state;

    (void)err;
    if (stage->index == WEIR_DIR_WRITE) {
        t->made = true;
        t->rate[WEIR_DIR_WRITE] = t->rate[WEIR_DIR_READ] = 0;
    }
    mib_progress_begin(run, t);
    return 0;
}

static int after_phase(struct weir_run *run, void *state, const struct weir_stage *stage,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct mib_test *t = state;

    t->made |= stage->index == WEIR_DIR_READ; /* what is not read is not removed */
    t->untold = true;
    return mib_report_phase(run, t, rec, err);
}

static int show_result(struct weir_run *run, void *state, const struct weir_stage *stage,
                       struct weir_err *err)
{
    (void)stage;
    (void)err;
    mib_report_result(run, state);
    return 0;
}

const struct weir_stage mib_stages[] = {
    { .key = "write",
      .index = WEIR_DIR_WRITE,
      .flags = WEIR_STAGE_DELAY | WEIR_STAGE_WRITES,
      .phase = &write_phase,
      .wanted = is_wanted,
      .timing = set_timing,
      .before = before_phase,
      .after = after_phase },
    { .key = "read",
      .index = WEIR_DIR_READ,
      .flags = WEIR_STAGE_DELAY | WEIR_STAGE_READS,
      .phase = &read_phase,
      .wanted = is_wanted,
      .timing = set_timing,
      .before = before_phase,
      .after = after_phase },
    { .key = "result", .before = show_result },
    { .key = NULL },
};
