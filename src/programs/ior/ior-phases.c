/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-phases.c - write, check what was written, read: the steps of each phase, one after the other
 * or in the queue of a backend */
#include "programs/ior/ior.h"

#include <string.h>

#include "engine/observer.h"
#include "engine/transfer.h"

/* ---- before the clock ---- */

static int prepare_phase(struct weir_run *run, struct ior_test *t, enum weir_dir dir,
                         struct weir_err *err)
{
    t->pass.dir = dir;
    t->pass.mixed = t->pass.skips = false;
    t->pass.skipped = 0;
    t->data.pattern.rank = t->pass.owner;
    if (ior_file_name(t->o, dir == WEIR_DIR_WRITE ? t->use.mount : t->use.owner_mount,
                      t->pass.owner, run->repetition, &t->use.path, err) < 0)
        return -1;
    return weir_session_reserve(&t->session, t->use.path.text, err);
}

static uint64_t count_steps(struct weir_run *run, void *state)
{
    return ((struct ior_test *)state)->pass.steps;
}

static uint64_t count_done(struct weir_run *run, const void *state, uint64_t steps)
{
    return steps - ((const struct ior_test *)state)->pass.skipped;
}

/* The first data are made before the clock starts. */
static int prepare_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    t->pass.owner = run->par.rank;
    t->pass.verify = false;
    if (prepare_phase(run, t, WEIR_DIR_WRITE, err) < 0 || ior_prepare_file(run, t, err) < 0 ||
        ior_begin_offsets(run, t, err) < 0)
        return -1;
    if (t->pass.steps > 0)
        ior_data_ahead(t);
    return 0;
}

static int prepare_read(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    t->pass.owner = ior_owner(t, &run->par, t->pass.check_write, run->repetition, err);
    if (t->pass.owner < 0 || prepare_phase(run, t, WEIR_DIR_READ, err) < 0 ||
        ior_file_check(run, t, false, err) < 0)
        return -1;
    t->pass.verify = (t->pass.check_write || t->o->check_read) &&
                     !t->o->run.dry_run; /* a dry run has read nothing */
    t->pass.skips = t->mix.weight[WEIR_DIR_DELETE] > 0;
    ior_new_signature(t, t->data.pattern.signature);
    return ior_begin_offsets(run, t, err);
}

/* Reads and writes the task's own data. */
static int prepare_mix(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    t->pass.owner = run->par.rank;
    t->pass.verify = t->o->check_read && !t->o->run.dry_run;
    if (prepare_phase(run, t, WEIR_DIR_WRITE, err) < 0 || ior_file_check(run, t, true, err) < 0 ||
        ior_file_there(run, t, err) < 0)
        return -1;
    t->pass.mixed = true;
    ior_new_signature(t, t->data.pattern.signature);
    t->mix.key = ior_mix_key(t->mix.seed, run->par.rank, run->repetition);
    return ior_begin_offsets(run, t, err);
}

/* ---- inside the clock ---- */

static unsigned open_flags(const struct ior_test *t)
{
    if (t->pass.mixed)
        return WEIR_OPEN_READ | WEIR_OPEN_WRITE;
    if (t->pass.dir == WEIR_DIR_READ)
        return WEIR_OPEN_READ;
    /* Ranks that open a shared file each for itself must not empty it under the others; the old
     * one is gone already. */
    if (t->o->use_existing || t->use.made || !(t->o->file_per_task || ior_opens_together(t)))
        return WEIR_OPEN_WRITE | WEIR_OPEN_CREATE;
    return WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC;
}

/* Open the file of the phase, whose blocks are those of its owner. */
static int open_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_extent extent = t->extent;
    unsigned flags = open_flags(t);

    t->use.created |= (flags & WEIR_OPEN_CREATE) != 0; /* even a failed open may leave a file */
    extent.task = t->pass.owner;
    if (t->prefill)
        extent.transfer = t->prefill->io.len;
    return weir_session_open(&t->session, t->use.path.text, flags, &extent, &t->use.file, err);
}

/* Facts about the file for the report, once a test. Called between open and the first transfer:
 * nothing is formatted that is not wanted. */
static void describe_file(struct weir_run *run, void *state)
{
    struct ior_test *t = state;

    if (run->repetition > 0 || run->par.rank > 0 || t->access.dry_run) /* dry: nothing is open */
        return;
    weir_observers_opened(run, &t->session, t->use.file);
    if (run->report.details && t->be->hints && !t->use.is_known)
        t->be->hints(t->use.file, &t->use.in_effect);
    if (t->be->describe && !t->use.is_known)
        t->be->describe(t->use.file, &t->use.facts);
    t->use.is_known = true;
}

static int close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_file *f = t->use.file;

    t->use.file = NULL;
    return weir_session_close(f, err);
}

/* The time that data take is theirs, not that of a transfer. */
static void fill_ahead(struct weir_run *run, struct ior_test *t, uint64_t *clock_ns)
{
    if (ior_data_ahead(t))
        weir_clock_apart(&run->counters.fill_ns, clock_ns);
}

static void verify(struct weir_run *run, struct ior_test *t, const struct weir_io *io,
                   uint64_t *clock_ns)
{
    weir_gpu_wanted(t->gpu, io->buf, io->len);
    if (!ior_data_check(t, io))
        run->counters.wrong++;
    weir_clock_apart(&run->counters.verify_ns, clock_ns);
}

/* The data of the last read must not pass. */
static inline void invalidate(struct weir_run *run, struct ior_test *t, void *buf,
                              uint64_t *clock_ns)
{
    *(unsigned char *)buf ^= 0xff;
    if (__builtin_expect(t->gpu != NULL, 0)) {
        weir_gpu_filled(t->gpu, buf, 1);
        weir_clock_apart(&run->counters.verify_ns, clock_ns);
    }
}

/* A second pass (minTimeDuration) begins again before the end where only a part was written. */
static void begin_pass(struct ior_test *t, uint64_t i)
{
    uint64_t limit = t->pass.limit;

    if (limit > 0 && i % limit == 0 && limit < weir_offsets_count(&t->pass.offsets)) {
        weir_offsets_rewind(&t->pass.offsets);
        t->data.next = t->data.filled = 0;
    }
}

static inline uint64_t next_offset(struct weir_run *run, struct ior_test *t, uint64_t i,
                                   uint64_t *clock_ns)
{
    if (t->pass.limit != UINT64_MAX && i > 0)
        begin_pass(t, i);
    if (t->data.next == t->data.filled)
        fill_ahead(run, t, clock_ns);
    return t->data.off[t->data.next++];
}

/* Data of a mix, made now. */
static __attribute__((noinline)) void *mixed_data(struct weir_run *run, struct ior_test *t,
                                                  const struct weir_io *io, uint64_t *clock_ns)
{
    if (ior_data_make(t, io))
        weir_clock_apart(&run->counters.fill_ns, clock_ns);
    return t->data.buf[0];
}

/* The data of a write. */
static inline void *data_of(struct weir_run *run, struct ior_test *t, const struct weir_io *io,
                            uint64_t *clock_ns)
{
    if (__builtin_expect(t->pass.mixed, 0))
        return mixed_data(run, t, io, clock_ns);
    return t->data.buf[t->data.next <= t->data.lanes ? t->data.next - 1 : 0];
}

/* ---- the queue of a backend that has one ---- */

/* Check the data of a read. */
static void look_at(struct weir_run *run, void *state, const struct weir_io *io, uint64_t *clock_ns)
{
    if (((struct ior_test *)state)->pass.verify && io->dir == WEIR_DIR_READ)
        verify(run, state, io, clock_ns);
}

static struct weir_flow flow_of(void *state)
{
    struct ior_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->use.file, .ended = look_at, .state = t };
}

static void *write_from(struct weir_run *run, struct ior_test *t, struct weir_request *r,
                        uint64_t *clock_ns)
{
    void *buf, *data = data_of(run, t, &r->io, clock_ns);
    bool alike = !ior_data_varies(&t->data);

    if (alike && !t->gpu) /* else each request has a copy */
        return data;
    buf = weir_queue_buffer(&t->queue, r);
    if (alike && !t->pass.mixed && r->holds == t->data.made)
        return buf;
    r->holds = t->data.made;
    memcpy(buf, data, t->extent.transfer);
    weir_gpu_filled(t->gpu, buf, t->extent.transfer);
    weir_clock_apart(&run->counters.fill_ns, clock_ns);
    return buf;
}

static void *read_into(struct weir_run *run, struct ior_test *t, const struct weir_request *r,
                       uint64_t *clock_ns)
{
    void *buf = weir_queue_buffer(&t->queue, r);

    if (t->pass.verify)
        invalidate(run, t, buf, clock_ns);
    return buf;
}

/* True when transfers of this phase overlap. A sync belongs to the write before it. */
static bool is_queued(const struct ior_test *t)
{
    return t->queue.depth > 0 && !t->prefill &&
           !(t->pass.dir == WEIR_DIR_WRITE && t->access.sync_each);
}

static int queue_step(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    const struct weir_flow flow = flow_of(t);
    struct weir_request *r = weir_flow_next(run, &flow, clock_ns, err);
    bool moves = t->pass.dir <= WEIR_DIR_READ; /* data */

    if (!r && t->access.collective) /* the others begin a transfer now */
        weir_flow_idle(run, &flow, &(struct weir_io) { .dir = t->pass.dir, .tag = i }, clock_ns, NULL);
    if (!r)
        return -1;
    r->io = (struct weir_io) { .dir = t->pass.dir, .tag = i };
    r->io.off = next_offset(run, t, i, clock_ns);
    r->io.len = moves ? t->extent.transfer : 0;
    if (moves)
        r->io.buf = t->pass.dir == WEIR_DIR_WRITE ? write_from(run, t, r, clock_ns)
                                                  : read_into(run, t, r, clock_ns);
    return weir_flow_submit(run, &flow, r, clock_ns, err);
}

/* The data of the next write are made before it is due. */
static void make_ready(struct weir_run *run, void *state, uint64_t *clock_ns)
{
    struct ior_test *t = state;

    if (t->data.next == t->data.filled && t->pass.limit == UINT64_MAX)
        fill_ahead(run, t, clock_ns);
}

/* ---- steps ---- */

static int write_step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_io io;

    if (is_queued(t))
        return queue_step(run, t, i, clock_ns, err);
    io = (struct weir_io) { .dir = WEIR_DIR_WRITE, .len = t->extent.transfer, .tag = i };
    io.off = next_offset(run, t, i, clock_ns);
    io.buf = data_of(run, t, &io, clock_ns);
    return weir_transfer(run, t->use.file, &io, clock_ns, err);
}

/* buf: where there is no queue. Writes alone have a prefill, and syncs. */
static inline __attribute__((always_inline)) int
read_into_buffer(struct weir_run *run, struct ior_test *t, void *buf, uint64_t i,
                 uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io;

    if (t->queue.depth > 0)
        return queue_step(run, t, i, clock_ns, err);
    io = (struct weir_io) { .dir = WEIR_DIR_READ, .len = t->extent.transfer, .tag = i };
    io.buf = buf;
    io.off = next_offset(run, t, i, clock_ns);
    if (t->pass.verify)
        invalidate(run, t, io.buf, clock_ns);
    if (weir_transfer(run, t->use.file, &io, clock_ns, err) < 0)
        return -1;
    if (t->pass.verify)
        verify(run, t, &io, clock_ns);
    return 0;
}

/* A place without an object has its step, and no operation. The clock goes on all the same: limits
 * of time hold also where all objects are gone, and the time of the look is in no latency. */
static __attribute__((noinline)) bool skip(struct weir_run *run, struct ior_test *t, uint64_t i,
                                           uint64_t *clock_ns)
{
    bool gone = ior_mix_version(&t->mix, i, t->mix.steps) == IOR_MIX_GONE;

    if (gone) {
        next_offset(run, t, i, clock_ns);
        t->pass.skipped++;
    }
    *clock_ns = weir_now_ns();
    return gone;
}

static int read_step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct ior_test *t = state;

    if (__builtin_expect(t->pass.skips, 0) && skip(run, t, i, clock_ns))
        return 0;
    return read_into_buffer(run, t, t->data.buf[0], i, clock_ns, err);
}

/* A request for the object of a transfer, without data. */
static int object_step(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct weir_io io = { .dir = t->pass.dir, .tag = i };

    if (t->queue.depth > 0)
        return queue_step(run, t, i, clock_ns, err);
    io.off = next_offset(run, t, i, clock_ns);
    return weir_transfer(run, t->use.file, &io, clock_ns, err);
}

/* Nothing is in flight when a pass ends, so that no two transfers of a place ever are. */
static int mix_step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                    struct weir_err *err)
{
    struct ior_test *t = state;
    const struct weir_flow flow = flow_of(t);

    if (i > 0 && i % t->pass.steps == 0 && weir_flow_drain(run, &flow, clock_ns, err) < 0)
        return -1;
    t->pass.dir = ior_mix_draw(&t->mix, i);
    if (t->pass.dir > WEIR_DIR_READ)
        return object_step(run, t, i, clock_ns, err);
    return t->pass.dir == WEIR_DIR_WRITE ? write_step(run, t, i, clock_ns, err)
                                         : read_into_buffer(run, t, t->mix.buf, i, clock_ns, err);
}

/* The others take a round; we have failed or have less to do. After a failure we go on through our
 * offsets: a library may look at where a transfer of nothing is. */
static int idle_step(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_io io = { .dir = t->pass.dir, .buf = t->data.buf[0], .tag = round };
    const struct weir_flow flow = flow_of(t);

    if (!t->use.file)
        return 0;
    if (!err && count_steps(run, t) > 0)
        io.off = next_offset(run, t, round, clock_ns);
    return is_queued(t) ? weir_flow_idle(run, &flow, &io, clock_ns, err)
                        : weir_session_xfer(t->use.file, &io, clock_ns, err);
}

static int flush_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    return t->o->sync_end ? weir_session_sync(t->use.file, err) : 0;
}

#define ROW(name, k, f, way, ...)                                                                  \
    const struct weir_phase ior_##name##_phase = { .key = (k),                                     \
                                                   .flags = (f),                                   \
                                                   .prepare = prepare_##way,                       \
                                                   .count = count_steps,                           \
                                                   .open = open_file,                              \
                                                   .opened = describe_file,                        \
                                                   .step = way##_step,                             \
                                                   .idle = idle_step,                          \
                                                   .flow = flow_of,                            \
                                                   .ready = make_ready,                        \
                                                   .close = close_file,                        \
                                                   __VA_ARGS__ }

#define TIMED (WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS | WEIR_PHASE_REPEATS)

ROW(write, "write", TIMED, write, .flush = flush_write);
ROW(mix, "mix", TIMED, mix, .flush = flush_write,
    .mixed = IOR_MIX);
ROW(check, "check write", 0, read, .done = count_done);
ROW(read, "read", TIMED, read, .done = count_done);
