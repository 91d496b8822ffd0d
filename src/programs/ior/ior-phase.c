/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-phase.c - write, check what was written, read: the steps of each phase, and the files they
 * need */
#include "config.h"
#include "programs/ior/ior.h"

#include <stdlib.h>

#include "base/clock.h"
#include "engine/transfer.h"

/* A collective call on one file of all tasks? */
static bool opens_together(const struct ior_test *t)
{
    return (t->be->flags & WEIR_BE_COLLECTIVE_OPEN) && !t->access.file_per_task;
}

void ior_free(void *state)
{
    struct ior_test *t = state;

    for (int i = 0; i < t->data.lanes; i++)
        free(t->data.buf[i]);
    t->data.lanes = 0;
    weir_queue_end(&t->queue);
    weir_offsets_free(&t->pass.offsets);
    weir_str_free(&t->use.path);
    weir_str_free(&t->use.facts);
    weir_str_free(&t->use.in_effect);
    free(t->node_of);
    t->node_of = NULL;
    ior_memory_free(t);
}

/* ---- before the clock ---- */

static int remove_old(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    if (t->o->use_existing || t->use.prefilled || (!t->o->file_per_task && run->par.rank != 0))
        return 0;
    return weir_session_remove(&t->session, t->use.path.text, err);
}

/* The directory of -u: made when it is not there, and then removed again with the file. */
static int make_unique_dir(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_str dir = { 0 };
    bool there = true;
    int rc;

    rc = ior_unique_dir(t->o, t->use.mount, run->par.rank, &dir, err);
    if (rc == 0)
        rc = weir_session_exists(&t->session, dir.text, &there, err);
    if (rc == 0 && !there) {
        rc = weir_session_mkdir(&t->session, dir.text, 0700, err);
        t->use.made_dir |= rc == 0;
    }
    weir_str_free(&dir);
    return rc;
}

static int prepare_phase(struct weir_run *run, struct ior_test *t, enum weir_dir dir,
                         struct weir_err *err)
{
    t->pass.dir = dir;
    t->data.content.pattern.rank = t->pass.owner;
    if (ior_file_name(t->o, dir == WEIR_DIR_WRITE ? t->use.mount : t->use.owner_mount,
                      t->pass.owner, run->repetition, &t->use.path, err) < 0)
        return -1;
    return weir_session_reserve(&t->session, t->use.path.text, err);
}

int ior_prepare_write(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    t->pass.owner = run->par.rank;
    t->pass.verify = false;
    t->pass.limit = UINT64_MAX;
    if (prepare_phase(run, t, WEIR_DIR_WRITE, err) < 0)
        return -1;
    if (t->o->file_per_task && t->o->unique_dir && make_unique_dir(run, t, err) < 0)
        return -1;
    if (ior_file_check(t, true, err) < 0 || remove_old(run, t, err) < 0)
        return -1;
    return ior_begin_offsets(run, t, err);
}

/* The first data are made before the clock starts. */
static int prepare_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    if (ior_prepare_write(run, t, err) < 0)
        return -1;
    if (weir_offsets_count(&t->pass.offsets) > 0)
        ior_data_ahead(t);
    return 0;
}

static int prepare_reading(struct weir_run *run, struct ior_test *t, bool check_write,
                           struct weir_err *err)
{
    t->pass.owner = ior_owner(t, &run->par, check_write, run->repetition, err);
    if (t->pass.owner < 0 || prepare_phase(run, t, WEIR_DIR_READ, err) < 0 ||
        ior_file_check(t, false, err) < 0)
        return -1;
    t->pass.verify =
        (check_write || t->o->check_read) && !t->o->run.dry_run; /* a dry run has read nothing */
    ior_new_signature(t, t->data.signature);
    return ior_begin_offsets(run, t, err);
}

static int prepare_check(struct weir_run *run, void *state, struct weir_err *err)
{
    return prepare_reading(run, state, true, err);
}

static int prepare_read(struct weir_run *run, void *state, struct weir_err *err)
{
    return prepare_reading(run, state, false, err);
}

/* ---- inside the clock ---- */

static uint64_t count_steps(struct weir_run *run, void *state)
{
    struct ior_test *t = state;
    uint64_t n = weir_offsets_count(&t->pass.offsets);

    (void)run;
    if (t->o->run.dry_run) /* takes a moment, however many there are */
        return 0;
    return t->pass.limit < n ? t->pass.limit : n;
}

/* Open the file of the phase, whose blocks are those of its owner. */
static int open_file(struct ior_test *t, unsigned flags, uint64_t transfer, struct weir_err *err)
{
    struct weir_extent extent = t->extent;

    extent.task = t->pass.owner;
    extent.transfer = transfer;
    return weir_session_open(&t->session, t->use.path.text, flags, &extent, &t->use.file, err);
}

int ior_open_write(struct ior_test *t, uint64_t transfer, struct weir_err *err)
{
    unsigned flags = WEIR_OPEN_WRITE | WEIR_OPEN_CREATE;

    /* Ranks that open a shared file each for itself must not empty it under the others; the old
     * one is gone already. */
    if (!t->o->use_existing && !t->use.prefilled && (t->o->file_per_task || opens_together(t)))
        flags |= WEIR_OPEN_TRUNC;
    t->use.created = true; /* even a failed open may leave a file */
    return open_file(t, flags, transfer, err);
}

static int open_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    (void)run;
    return ior_open_write(t, t->extent.transfer, err);
}

static int open_read(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    (void)run;
    return open_file(t, WEIR_OPEN_READ, t->extent.transfer, err);
}

/* Facts about the file for the report, once a test. */
static void describe_file(struct weir_run *run, void *state)
{
    struct ior_test *t = state;

    if (run->repetition == 0 && run->par.rank == 0)
        ior_gather_facts(run, t);
}

int ior_close_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_file *f = t->use.file;

    (void)run;
    t->use.file = NULL;
    weir_queue_drain(&t->queue, f); /* nothing is left unless a transfer has failed */
    return weir_session_close(f, err);
}

/* The time that data take is theirs, not that of a transfer. */
static void fill_ahead(struct weir_run *run, struct ior_test *t, uint64_t *clock_ns)
{
    if (ior_data_ahead(t))
        weir_clock_apart(&run->counters.fill_ns, clock_ns);
}

static int write_step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .len = t->extent.transfer, .tag = i };

    if (t->queue.depth > 0 && !t->access.sync_each)
        return ior_queue_step(run, t, i, clock_ns, err);
    if (t->data.next == t->data.filled)
        fill_ahead(run, t, clock_ns);
    io.buf = t->data.buf[t->data.next < t->data.lanes ? t->data.next : 0];
    io.off = t->data.off[t->data.next++];
    return weir_transfer(run, t->use.file, &io, clock_ns, err);
}

void ior_verify(struct weir_run *run, struct ior_test *t, const struct weir_io *io,
                uint64_t *clock_ns)
{
    if (!ior_data_check(t, io->buf, io->off))
        run->counters.wrong++;
    weir_clock_apart(&run->counters.verify_ns, clock_ns);
}

/* Where only a part was written, a second pass (minTimeDuration) begins again before the end. */
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

uint64_t ior_next_offset(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns)
{
    return next_offset(run, t, i, clock_ns);
}

static int read_step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_io io = {
        .dir = WEIR_DIR_READ, .buf = t->data.buf[0], .len = t->extent.transfer, .tag = i
    };

    if (t->queue.depth > 0)
        return ior_queue_step(run, t, i, clock_ns, err);
    io.off = next_offset(run, t, i, clock_ns);
    if (t->pass.verify)
        *(unsigned char *)io.buf ^= 0xff; /* what is left of the last read must not pass */
    if (weir_transfer(run, t->use.file, &io, clock_ns, err) < 0)
        return -1;
    if (t->pass.verify)
        ior_verify(run, t, &io, clock_ns);
    return 0;
}

/* The others take a round; we have failed or have less to do. After a failure we go on through our
 * offsets: a library may look at where a transfer of nothing is. */
int ior_idle_step(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns,
                  struct weir_err *err)
{
    struct ior_test *t = state;
    struct weir_io io = { .dir = t->pass.dir, .buf = t->data.buf[0], .tag = round };

    if (!t->use.file)
        return 0;
    if (!err && count_steps(run, t) > 0)
        io.off = next_offset(run, t, round, clock_ns);
    return weir_session_xfer(t->use.file, &io, clock_ns, err);
}

static int flush_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;

    (void)run;
    return t->o->sync_end ? weir_session_sync(t->use.file, err) : 0;
}

/* ---- afterwards ---- */

static int remove_unique_dir(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_str dir = { 0 };
    int rc = ior_unique_dir(t->o, t->use.mount, run->par.rank, &dir, err);

    if (rc == 0)
        rc = weir_session_rmdir(&t->session, dir.text, err);
    weir_str_free(&dir);
    t->use.made_dir = false;
    return rc;
}

int ior_remove(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    int rc = 0;

    t->use.removed = t->use.created && (t->o->file_per_task || run->par.rank == 0);
    if (t->use.removed) {
        rc = ior_file_name(t->o, t->use.mount, run->par.rank, run->repetition, &t->use.path, err);
        if (rc == 0)
            rc = weir_session_remove(&t->session, t->use.path.text, err);
    }
    t->use.created = false;
    if (t->use.made_dir && remove_unique_dir(run, t, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

#define ROW(name, k, f, way, ...)                                                                  \
    const struct weir_phase ior_##name##_phase = { .key = (k),                                     \
                                                   .flags = (f),                                   \
                                                   .prepare = prepare_##name,                      \
                                                   .count = count_steps,                           \
                                                   .open = open_##way,                             \
                                                   .opened = describe_file,                        \
                                                   .step = way##_step,                             \
                                                   .idle = ior_idle_step,                          \
                                                   .drain = ior_queue_drain,                       \
                                                   .close = ior_close_file,                        \
                                                   __VA_ARGS__ }

ROW(write, "write", WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS, write, .flush = flush_write);
ROW(check, "check write", 0, read, );
ROW(read, "read", WEIR_PHASE_STONEWALL | WEIR_PHASE_BARRIERS, read, );
