/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-phases.c - the write phase and the read phase */
#include "engine/phase.h"
#include "programs/mib/mib.h"

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "engine/transfer.h"

/* ---- the bar of -P ---- */

static uint64_t by_steps(const struct weir_bar *b, uint64_t steps)
{
    return b->steps ? (uint64_t)((double)b->width * (double)steps / (double)b->steps) : 0;
}

static double by_time(const struct weir_bar *b, double seconds)
{
    return b->seconds > 0 ? b->width * seconds / b->seconds : 0;
}

int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds)
{
    const uint64_t end = (uint64_t)b->width - 1;
    uint64_t last = b->steps ? (end * b->steps - 1) / (uint64_t)b->width : 0;
    uint64_t stars = by_steps(b, steps < last ? steps : last);
    double timed = by_time(b, seconds);

    if (timed >= (double)end)
        return b->width - 2;
    return (int)(timed > (double)stars ? (uint64_t)timed : stars);
}

static void begin_bar(struct weir_run *run, struct mib_test *t)
{
    t->bar = (struct weir_bar) { .width = 50,
                                 .steps = (uint64_t)t->o->call_limit,
                                 .seconds = t->o->run.deadline_s };
    if (t->o->progress)
        weir_report_line(&run->report,
                         "\n%s phase\nshould last about this long---------------------->",
                         run->stage->key);
    weir_report_flush(&run->report);
}

static void show_stars(struct weir_run *run, struct weir_bar *b, int stars)
{
    for (; b->shown < stars; b->shown++)
        weir_report_piece(&run->report, "*");
}

/* A step that jumps over the end adds no star. */
static void grow_bar(struct weir_run *run, void *state, uint64_t calls, double seconds)
{
    struct mib_test *t = state;
    struct weir_bar *b = &t->bar;

    if (t->o->progress && by_steps(b, calls) < (uint64_t)b->width - 1 &&
        by_time(b, seconds) < b->width - 1)
        show_stars(run, b, weir_bar_stars(b, calls, seconds));
}

/* All stars that were earned, and a newline. */
static void end_bar(struct weir_run *run, struct mib_test *t, const struct weir_phase_rec *rec)
{
    double seconds = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);

    if (!t->o->progress)
        return;
    show_stars(run, &t->bar, weir_bar_stars(&t->bar, rec->steps, seconds));
    weir_report_line(&run->report, "%s", "");
}

/* ---- data: words that name their owner ---- */

#define NUMBER_BITS 44 /* of the word in its file */

static uint64_t word_at(int owner, uint64_t index)
{
    return ((uint64_t)(unsigned)owner + 1) << NUMBER_BITS |
           (index & ((UINT64_C(1) << NUMBER_BITS) - 1));
}

/* The bytes of one block or word from the offset on, at most len; how many there are. */
static size_t take_piece(const struct weir_pattern *p, int owner, uint64_t offset, size_t len,
                         unsigned char out[WEIR_RATIO_BLOCK])
{
    size_t size = p->packet == WEIR_PACKET_RATIO ? WEIR_RATIO_BLOCK : 8, skip = offset % size;
    size_t n = size - skip < len ? size - skip : len;
    struct weir_pattern own = *p;
    uint64_t word = word_at(owner, offset / 8);

    own.rank = owner;
    if (p->packet == WEIR_PACKET_RATIO)
        weir_pattern_stamp(&own, out, n, offset);
    else
        memcpy(out, (const unsigned char *)&word + skip, n);
    return n;
}

void mib_data_fill(const struct weir_pattern *p, int owner, uint64_t offset, void *buf, size_t len)
{
    unsigned char *at = buf;
    unsigned char piece[WEIR_RATIO_BLOCK];

    for (size_t n; len > 0; at += n, offset += n, len -= n) {
        n = take_piece(p, owner, offset, len, piece);
        memcpy(at, piece, n);
    }
}

size_t mib_data_right(const struct weir_pattern *p, int owner, uint64_t offset, const void *buf,
                      size_t len)
{
    const unsigned char *at = buf;
    unsigned char piece[WEIR_RATIO_BLOCK];
    size_t done = 0, same;

    for (size_t n; done < len; done += n) {
        n = take_piece(p, owner, offset + done, len - done, piece);
        for (same = 0; same < n && at[done + same] == piece[same]; same++)
            ;
        if (same < n)
            return done + same;
    }
    return len;
}

/* ---- before the clock starts ---- */

static void begin_phase(struct mib_test *t)
{
    t->short_calls = t->wrong_at = t->unlink_ns = 0;
    t->file = NULL;
}

/* Removes the file of an earlier run with -n. */
static int prepare_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->own);
    uint64_t begin_ns;

    begin_phase(t);
    t->planned = UINT64_MAX;
    mib_data_fill(&t->data, t->task, 0, t->buf, (size_t)t->o->call_size);
    weir_gpu_filled(t->gpu, t->buf, (size_t)t->o->call_size);
    if (!t->o->fresh)
        return weir_session_admit(&t->session, path, WEIR_INTENT_REPLACE, err);
    begin_ns = weir_now_ns();
    if (weir_session_clear(&t->session, path, err) < 0)
        return -1;
    t->unlink_ns = weir_now_ns() - begin_ns;
    return 0;
}

/* From a multiple of the granularity on a whole call must fit into the file. */
static int plan_random(struct mib_test *t, int repetition, struct weir_err *err)
{
    const uint64_t least[] = { (uint64_t)t->o->granularity, (uint64_t)t->o->call_size };
    static const char *const what[] = { "the granularity (-b)", "a random read (-s)" };

    for (int i = 0; i < 2; i++)
        if (t->read_bytes < least[i])
            return weir_refuse(err, WEIR_EUSAGE,
                               "'%s' has %" PRIu64 " bytes, too few for %s of %" PRIu64 " bytes",
                               weir_str_text(&t->peer), t->read_bytes, what[i], least[i]);
    t->places = (t->read_bytes - least[1]) / least[0] + 1;
    t->key = weir_rng_at((uint64_t)t->task + 1, (uint64_t)repetition);
    t->planned = UINT64_MAX;
    return 0;
}

/* Finds the file of the other task and its size. A backend that stores nothing, or more than the
 * data, has all bytes that were asked for. */
static int find_peer(struct mib_test *t, struct weir_err *err)
{
    const char *path = weir_str_text(&t->peer);
    bool there = false;

    t->read_bytes = t->extent.file_bytes;
    if (t->session.flags & WEIR_BE_NO_DATA)
        return 0;
    if (weir_session_admit(&t->session, path, WEIR_INTENT_READ, err) < 0 ||
        weir_session_exists(&t->session, path, &there, err) < 0)
        return -1;
    if (!there)
        return weir_refuse(err, WEIR_EIO, "No file: '%s', which %s", path,
                           t->o->read_only ? "another task must have written before (-W)"
                                           : "this run has written: another process removed it");
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
    t->planned = t->read_bytes / call + (t->read_bytes % call > 0);
    return t->o->granularity ? plan_random(t, run->repetition, err) : 0;
}

/* The call limit is the engine's matter: set_timing. */
static uint64_t count_calls(struct weir_run *run, void *state)
{
    return ((struct mib_test *)state)->planned;
}

/* ---- timed ---- */

static int open_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    return weir_session_open(&t->session, weir_str_text(&t->own),
                             WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &t->extent, &t->file, err);
}

static int open_peer(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    return weir_session_open(&t->session, weir_str_text(&t->peer), WEIR_OPEN_READ, &t->extent,
                             &t->file, err);
}

/* Set place and size of the i-th read of a phase; after the end of the file it begins again. */
static void place_read(const struct mib_test *t, uint64_t i, struct weir_io *io)
{
    if (t->o->granularity) {
        io->off = (uint64_t)t->o->granularity * weir_rng_below(t->key, i, t->places);
        return;
    }
    if (i >= t->planned)
        io->off = i % t->planned * io->len;
    if (t->read_bytes - io->off < io->len)
        io->len = t->read_bytes - io->off;
}

/* A call is over: check what a read has moved. */
static void look_at(struct weir_run *run, void *state, const struct weir_io *io, uint64_t *clock_ns)
{
    struct mib_test *t = state;
    size_t right;

    if (io->dir == WEIR_DIR_WRITE)
        return;
    t->short_calls += io->len < t->extent.transfer;
    if (!t->o->verify)
        return;
    weir_gpu_wanted(t->gpu, io->buf, io->len);
    right = mib_data_right(&t->data, t->source, io->off, io->buf, io->len);
    if (right < io->len && run->counters.wrong++ == 0)
        t->wrong_at = io->off + right;
    weir_clock_apart(&run->counters.verify_ns, clock_ns);
}

/* Set offset and length of a call, and the data of a write. */
static void prepare_call(struct weir_run *run, const struct mib_test *t, uint64_t i,
                         struct weir_io *io, uint64_t *clock_ns)
{
    io->len = t->extent.transfer;
    io->off = i * io->len;
    if (io->dir == WEIR_DIR_READ) {
        place_read(t, i, io);
    } else if (t->varies) {
        mib_data_fill(&t->data, t->task, io->off, io->buf, io->len);
        weir_gpu_filled(t->gpu, io->buf, io->len);
        weir_clock_apart(&run->counters.fill_ns, clock_ns);
    }
}

static struct weir_flow flow_of(void *state)
{
    struct mib_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->file, .ended = look_at, .state = t };
}

/* Writes whose data do not differ share a buffer. */
static int step_queued(struct weir_run *run, struct mib_test *t, enum weir_dir dir, uint64_t i,
                       uint64_t *clock_ns, struct weir_err *err)
{
    const struct weir_flow flow = flow_of(t);
    struct weir_request *r = weir_flow_next(run, &flow, clock_ns, err);

    if (!r)
        return -1;
    r->io = (struct weir_io) { .dir = dir, .buf = t->buf };
    if (dir == WEIR_DIR_READ || t->varies)
        r->io.buf = weir_queue_buffer(&t->queue, r);
    prepare_call(run, t, i, &r->io, clock_ns);
    return weir_flow_submit(run, &flow, r, clock_ns, err);
}

static int step(struct weir_run *run, struct mib_test *t, enum weir_dir dir, uint64_t i,
                uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = dir, .buf = t->buf };

    if (t->queue.depth > 0)
        return step_queued(run, t, dir, i, clock_ns, err);
    prepare_call(run, t, i, &io, clock_ns);
    if (weir_transfer(run, t->file, &io, clock_ns, err) < 0)
        return -1;
    look_at(run, t, &io, clock_ns);
    return 0;
}

static int step_write(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    return step(run, state, WEIR_DIR_WRITE, i, clock_ns, err);
}

static int step_read(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    return step(run, state, WEIR_DIR_READ, i, clock_ns, err);
}

static int flush_file(struct weir_run *run, void *state, struct weir_err *err)
{
    return weir_session_sync(((struct mib_test *)state)->file, err);
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    return weir_session_close(t->file, err);
}

#define PHASE(k, before, begin, one, ...)                                                          \
    {                                                                                              \
        .key = (k), .unit = "calls",                                                               \
        .flags = WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS | WEIR_PHASE_BYTES | WEIR_PHASE_REPEATS, \
        .prepare = (before), .count = count_calls, .open = (begin), .step = (one),                 \
        .poll = grow_bar, .flow = flow_of, .close = close_file, __VA_ARGS__                        \
    }

static const struct weir_phase phases[] = {
    [WEIR_DIR_WRITE] = PHASE("write", prepare_write, open_own, step_write, .flush = flush_file),
    [WEIR_DIR_READ] = PHASE("read", prepare_read, open_peer, step_read),
};

/* ---- stages ---- */

static bool is_wanted(const void *state, const struct weir_stage *stage)
{
    const struct mib_options *o = ((const struct mib_test *)state)->o;

    return stage->index == WEIR_DIR_WRITE ? !o->read_only : !o->write_only;
}

/* The engine takes a deadline of 0 for none; here every call but the first misses it. */
static void set_timing(const void *state, const struct weir_stage *stage,
                       struct weir_timing *timing)
{
    const struct mib_options *o = ((const struct mib_test *)state)->o;

    timing->barriers = true;
    timing->max_steps = (uint64_t)o->call_limit;
    timing->op_bytes = (uint64_t)o->call_size;
    if (o->run.deadline_s == 0)
        timing->deadline_s = 1e-9;
}

static int before_phase(struct weir_run *run, void *state, const struct weir_stage *stage,
                        struct weir_err *err)
{
    struct mib_test *t = state;

    if (t->unreported && (stage->index == WEIR_DIR_WRITE || t->o->read_only))
        mib_report_result(run, t); /* of the repetition before */
    if (stage->index == WEIR_DIR_WRITE) {
        t->made = true;
        t->rate[WEIR_DIR_WRITE] = t->rate[WEIR_DIR_READ] = 0;
    }
    begin_bar(run, t);
    return 0;
}

static int after_phase(struct weir_run *run, void *state, const struct weir_stage *stage,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct mib_test *t = state;
    int rc = mib_profile_phase(run, t, rec, err);

    t->made |= stage->index == WEIR_DIR_READ; /* what is not read is not removed */
    t->unreported = true;
    end_bar(run, t, rec);
    mib_report_phase(run, t, rec);
    return rc;
}

#define STAGE(k, i, moves)                                                                         \
    {                                                                                              \
        .key = (k), .index = (i), .flags = WEIR_STAGE_DELAY | (moves), .phase = &phases[i],        \
        .wanted = is_wanted, .timing = set_timing, .before = before_phase, .after = after_phase    \
    }

const struct weir_stage mib_stages[] = {
    STAGE("write", WEIR_DIR_WRITE, WEIR_STAGE_WRITES),
    STAGE("read", WEIR_DIR_READ, WEIR_STAGE_READS),
    { .key = NULL },
};
