/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-save.c - save: the copy to memory, and the files, which are not published yet, with the emulated work of the training
 * that goes on beside */
#include "config.h"
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/observer.h"
#include "engine/transfer.h"
#include "par/agree.h"

#define SLICE_NS 500000u /* of emulated work between two looks at the queue */

/* ---- emulated work ---- */

/* Some of the work that is left. Returns how long that was. */
static uint64_t work(struct mc_test *t)
{
    uint64_t begin_ns = weir_now_ns(), ns;

    weir_sleep_ns(t->work_left_ns < SLICE_NS ? t->work_left_ns : SLICE_NS);
    ns = weir_now_ns() - begin_ns;
    t->work_left_ns -= ns < t->work_left_ns ? ns : t->work_left_ns;
    return ns;
}

/* The work before a checkpoint for which it waits. */
int mc_compute(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    const struct mc_test *t = state;

    (void)stage;
    return weir_phase_pause(run, (double)t->work_ns / WEIR_NS_PER_S, err);
}

/* ---- the state of the training in memory, and its copy ---- */

static char *at_of(char *memory, const struct mc_test *t, const struct mc_move *m)
{
    return memory + t->base[m->region] + (m->off - t->region[m->region].at);
}

int mc_memory(char **memory, uint64_t *room, uint64_t bytes, struct weir_err *err)
{
    void *p = NULL;

    if (*room >= bytes)
        return 0;
    free(*memory);
    *memory = NULL;
    *room = 0;
    if (weir_mem_aligned(&p, WEIR_HUGE, bytes, err) < 0)
        return weir_err_within(err, "memory for the state of a rank");
    *memory = p;
    *room = bytes;
    return 0;
}

/* All of it, as this save has it. */
static int fill(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t bytes = 0;

    (void)run;
    for (int k = 0; k < t->regions; k++) {
        t->base[k] = bytes;
        bytes += t->region[k].bytes;
    }
    if (mc_memory(&t->memory, &t->memory_room, bytes, err) < 0 || (t->async && mc_memory(&t->copy, &t->copy_room, bytes, err) < 0))
        return -1;
    if (t->is_shared_upload && t->region[0].bytes > 0) /* what makes the last transfer a whole one */
        memset(t->memory + t->region[0].bytes - t->o->transfer, 0, (size_t)t->o->transfer);
    for (size_t i = 0; i < t->save.moves; i++) {
        const struct mc_move *m = &t->save.move[i];

        if (m->part == MC_HEAD)
            memcpy(at_of(t->memory, t, m), t->head[m->region].text + m->at, m->len);
        else
            mc_data_fill(&t->save.part[m->part], t->sequence, m->at, at_of(t->memory, t, m), m->len);
    }
    return 0;
}

int mc_before_copy(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    (void)stage;
    return weir_local(run, fill, state, err);
}

/* The transfers, as they are copied and written. */
static const struct mc_plan *transfers(const struct mc_test *t)
{
    return t->is_objects ? &t->cut : &t->save;
}

static uint64_t count_moves(struct weir_run *run, void *state)
{
    (void)run;
    return transfers(state)->moves;
}

static int step_copy(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    const struct mc_move *m = &transfers(t)->move[i];
    uint64_t begin_ns = *clock_ns;

    (void)err;
    memcpy(at_of(t->copy, t, m), at_of(t->memory, t, m), m->len);
    *clock_ns = weir_now_ns();
    run->counters.bytes += m->len;
    weir_operation_add(run, MC_COPY, begin_ns, *clock_ns, m->off, m->len);
    return 0;
}

const struct weir_phase mc_copy = {
    .key = "copy", .unit = "copies", .flags = WEIR_PHASE_BYTES, .count = count_moves, .step = step_copy
};

int mc_after_copy(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct weir_session none = { .be = NULL };
    struct mc_test *t = state;

    (void)stage;
    (void)err;
    t->times.copy_s = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    t->work_left_ns = t->work_ns;
    weir_observers_measured(run, &none, rec);
    return 0;
}

/* ---- files ---- */

/* Rank 0 makes the place, which is a part of the save. */
static int make_staged(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();

    weir_str_clear(&t->staged);
    weir_str_clear(&t->place);
    mc_place_name(t->o->path, t->store->written, t->step, &t->staged);
    mc_place_name(t->o->path, MC_PUBLISHED, t->step, &t->place);
    if (t->staged.failed || t->place.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of directories");
    if (run->par.rank > 0 || !t->is_stored)
        return 0;
    if (t->store->make && t->store->make(t, err) < 0)
        return -1;
    t->is_staged = true;
    t->times.own_ns[MC_MAKE] = weir_now_ns() - begin_ns;
    return 0;
}

int mc_before_save(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)stage;
    if (!t->async && weir_local(run, fill, t, err) < 0)
        return -1;
    return weir_local(run, make_staged, t, err);
}

/* An upload becomes an object here, and the work stands still. */
static int close_files(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = 0;

    (void)run;
    for (int k = 0; k < t->regions; k++) {
        if (weir_session_close(t->file[k], rc < 0 ? NULL : err) < 0)
            rc = -1;
        t->file[k] = NULL;
    }
    if (t->is_objects && t->work_left_ns > 0)
        t->times.own_ns[MC_BLOCKED] += weir_now_ns() - begin_ns;
    return rc;
}

/* To open the file that an upload of several ranks makes is collective over them. */
static int open_file(struct mc_test *t, int k, struct weir_err *err)
{
    const struct mc_region *r = &t->region[k];
    const struct weir_extent extent = mc_region_extent(t, k);
    struct weir_str path = { 0 };
    int rc = 0;

    if (r->lines == 0 && !extent.sharers)
        return 0;
    weir_str_addf(&path, "%s/%s", weir_str_text(t->is_stored ? &t->staged : &t->place), r->file);
    if (path.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the name of a file");
    if (extent.sharers)
        rc = weir_agree(extent.sharers, rc < 0 ? rc : weir_session_reserve(&t->session, weir_str_text(&path), err), err);
    if (rc == 0)
        rc = weir_session_open(&t->session, weir_str_text(&path), WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &extent, &t->file[k], err);
    weir_str_free(&path);
    return rc;
}

/* All that share an upload give it up together. */
static int open_files(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = 0;

    for (int k = 0; rc == 0 && k < t->regions; k++)
        rc = open_file(t, k, err);
    if (t->is_shared_upload)
        rc = weir_agree(&t->sharers.group, rc, err);
    if (rc < 0)
        close_files(run, t, NULL);
    return rc;
}

/* The transfers of all files of the save, of which the first stands for all. */
static struct weir_flow flow_of(void *state)
{
    struct mc_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->file[0] ? t->file[0] : t->file[1] };
}

/* The work goes on while so many transfers are in flight. */
static int work_while(struct weir_run *run, struct mc_test *t, int in_flight, uint64_t *worked_ns, uint64_t *clock_ns,
                      struct weir_err *err)
{
    const struct weir_flow flow = flow_of(t);

    while (t->work_left_ns > 0 && weir_queue_in_flight(&t->queue) >= in_flight) {
        *worked_ns += work(t);
        *clock_ns = weir_now_ns();
        if (weir_flow_reap(run, &flow, clock_ns, err) < 0)
            return -1;
    }
    return 0;
}

static int move(struct weir_run *run, struct mc_test *t, struct weir_file *f, const struct weir_io *io, uint64_t *clock_ns,
                struct weir_err *err)
{
    const struct weir_flow flow = { .queue = &t->queue, .file = f };
    struct weir_request *r;

    if (t->queue.depth == 0)
        return weir_transfer(run, f, io, clock_ns, err);
    r = weir_flow_next(run, &flow, clock_ns, err);
    if (!r)
        return -1;
    r->io = *io;
    return weir_flow_submit(run, &flow, r, clock_ns, err);
}

/* The time that a step takes away from the work counts as a stall. */
static int step_save(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    const struct mc_move *m = &transfers(t)->move[i];
    const struct weir_io io = {
        .dir = WEIR_DIR_WRITE, .buf = at_of(t->async ? t->copy : t->memory, t, m), .len = m->len, .off = m->off
    };
    uint64_t begin_ns = *clock_ns, worked_ns = 0;
    bool works = t->work_left_ns > 0;

    if (works && t->queue.depth > 0 && work_while(run, t, t->queue.depth, &worked_ns, clock_ns, err) < 0)
        return -1;
    if (move(run, t, t->file[m->region], &io, clock_ns, err) < 0)
        return -1;
    if (works)
        t->times.own_ns[MC_BLOCKED] += *clock_ns - begin_ns - worked_ns;
    return i + 1 < transfers(t)->moves ? 0 : work_while(run, t, 1, &worked_ns, clock_ns, err);
}

/* ---- fsync ---- */

struct flush {
    struct mc_test *t;
    struct weir_err *err;
    int rc;
    bool done; /* set by the thread */
};

static void *flush_files(void *arg)
{
    struct flush *f = arg;

    for (int k = 0; f->rc == 0 && k < f->t->regions; k++)
        if (f->t->file[k])
            f->rc = weir_session_sync(f->t->file[k], f->err);
    __atomic_store_n(&f->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* A thread flushes the files of an asynchronous save, as its writer does in training, so that the work goes on. */
static int flush(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct flush f = { .t = t, .err = err };
    pthread_t thread;

    (void)run;
    if (t->work_left_ns == 0 || (t->session.flags & WEIR_BE_NEEDS_MPI) || pthread_create(&thread, NULL, flush_files, &f) != 0) {
        uint64_t begin_ns = weir_now_ns(), ns;

        flush_files(&f);
        ns = weir_now_ns() - begin_ns;
        if (t->work_left_ns > 0)
            t->times.own_ns[MC_BLOCKED] += ns;
        return f.rc;
    }
    while (t->work_left_ns > 0 && !__atomic_load_n(&f.done, __ATOMIC_ACQUIRE))
        work(t);
    pthread_join(thread, NULL);
    return f.rc;
}

const struct weir_phase mc_save = {
    .key = "save",
    .flags = WEIR_PHASE_BYTES | WEIR_PHASE_BARRIERS,
    .count = count_moves,
    .open = open_files,
    .step = step_save,
    .flow = flow_of,
    .flush = flush,
    .close = close_files,
};

int mc_after_save(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct mc_test *t = state;

    (void)stage;
    (void)err;
    t->times.write_s = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    weir_observers_measured(run, &t->session, rec);
    return 0;
}
