/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-save.c - save: the copy in memory, the files until they are published, the work beside them */
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/session/session-array.h"
#include "engine/observer.h"
#include "engine/transfer.h"
#include "par/agree.h"

#define SLICE_NS 500000u /* of emulated work between two looks at a thread */

/* ---- emulated work ---- */

/* Some of it was done since begin_ns. Returns how long that was, ns. */
static uint64_t count_work(struct mc_saving *s, uint64_t begin_ns, uint64_t now_ns)
{
    uint64_t ns = mc_least(now_ns - begin_ns, s->work_left_ns);

    s->work_left_ns -= ns;
    return ns;
}

/* Sleep for some of the work that is left beside an asynchronous save, or a little while. */
static void work(struct mc_test *t)
{
    struct mc_saving *s = &t->save;
    uint64_t begin_ns = weir_now_ns();

    weir_sleep_ns(s->work_left_ns > 0 && s->work_left_ns < SLICE_NS ? s->work_left_ns : SLICE_NS);
    count_work(s, begin_ns, weir_now_ns());
}

/* The work before a checkpoint for which it waits. */
int mc_compute(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    const struct mc_test *t = state;

    return weir_phase_pause(run, (double)t->save.work_ns / WEIR_NS_PER_S, err);
}

/* ---- the state of the training in memory, and its copy ---- */

/* Make the pages here, and not in a copy or a load that is measured. The kernel does it, as in a
 * transfer: in virtual machines with shadow page tables its first access to a page is a fault, too. */
static void make_pages(const struct mc_memory *m, char *p, uint64_t bytes)
{
    int fd = m->gpu ? -1 : open("/dev/zero", O_RDONLY | O_CLOEXEC);
    uint64_t at = 0;
    ssize_t n = 1;

    for (; fd >= 0 && n > 0 && at < bytes; at += n > 0 ? (uint64_t)n : 0)
        n = read(fd, p + at, bytes - at);
    memset(p + at, 0, bytes - at);
    if (fd >= 0)
        close(fd);
}

int mc_memory_take(struct mc_memory *m, uint64_t bytes, struct weir_err *err)
{
    void *p = NULL;

    if (m->capacity >= bytes)
        return 0;
    weir_gpu_give(m->gpu, m->at);
    m->at = NULL;
    m->capacity = 0;
    if (weir_gpu_take(m->gpu, !m->is_copy, &p, WEIR_HUGE, bytes, err) < 0)
        return weir_err_within(err, "memory for the state of a rank");
    make_pages(m, p, bytes);
    m->at = p;
    m->capacity = bytes;
    return 0;
}

/* Return the place of a region in a memory of this rank. */
static char *region_at(char *memory, const struct mc_test *t, int k)
{
    return memory + (k > 0 ? t->save.region[0].bytes : 0);
}

static char *at_of(char *memory, const struct mc_test *t, const struct mc_move *m)
{
    return region_at(memory, t, m->region) + (m->off - t->save.region[m->region].at);
}

/* Fill a region: the table of contents, and the states with the data of this save. */
static int fill_region(struct weir_run *run, struct mc_test *t, int k, struct weir_err *err)
{
    const struct mc_data data = { t->pub.sequence, t->data.ratio };
    const struct mc_region *r = &t->save.region[k];
    char *memory = region_at(t->memory.at, t, k);
    struct weir_str head = { 0 };
    struct mc_walk w;
    int rc = r->head > 0 ? mc_region_head(&t->save.form, r, &head, err) : 0;

    if (rc == 0)
        memcpy(memory, weir_str_text(&head), r->head);
    weir_str_free(&head);
    mc_walk_begin(&w, &t->save.form, r);
    while (rc == 0 && mc_walk_next(&w)) {
        mc_data_fill(&w.part, &data, 0, memory + (w.off - r->at), w.bytes);
        if (weir_interrupt_poll(&run->interrupt))
            rc = weir_refuse(err, WEIR_EINTR, "interrupted while the state of a rank was made");
    }
    return rc;
}

static int fill(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    const struct mc_saving *s = &t->save;
    const uint64_t bytes = s->region[0].bytes + s->region[1].bytes;
    int rc = 0;

    if (t->layout == MC_ARRAYS && mc_arrays_reserve(t, true, err) < 0)
        return -1;
    if (mc_memory_take(&t->memory, bytes, err) < 0 || (t->async && mc_memory_take(&t->copy, bytes, err) < 0))
        return -1;
    if (s->is_shared_upload && s->region[0].bytes > 0) /* what makes the last transfer a whole one */
        memset(t->memory.at + s->region[0].bytes - t->o->transfer, 0, (size_t)t->o->transfer);
    for (int k = 0; rc == 0 && k < s->regions; k++)
        rc = s->region[k].lines > 0 ? fill_region(run, t, k, err) : 0;
    if (rc == 0)
        weir_gpu_filled(run->gpu, t->memory.at, bytes);
    return rc;
}

int mc_before_copy(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    return weir_local(run, fill, state, err);
}

static uint64_t count_moves(struct weir_run *run, void *state)
{
    return ((struct mc_test *)state)->save.plan.moves;
}

static int step_copy(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    const struct mc_move *m = &t->save.plan.move[i];
    char *from = at_of(t->memory.at, t, m), *to = at_of(t->copy.at, t, m);
    uint64_t begin_ns = *clock_ns;

    if (!run->gpu)
        memcpy(to, from, m->len);
    else if (weir_gpu_copy(run->gpu, from, to, m->len, false, err) < 0)
        return -1;
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

    t->row.copy = weir_phase_span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    t->save.work_left_ns = t->save.work_ns > 0 ? t->save.work_ns : UINT64_MAX;
    weir_observers_measured(run, &none, rec);
    return 0;
}

/* ---- the transfers of a save, and a thread that writes them ---- */

static struct weir_io save_io(const struct mc_test *t, const struct mc_move *m)
{
    return (struct weir_io) {
        .dir = WEIR_DIR_WRITE, .buf = at_of(t->async ? t->copy.at : t->memory.at, t, m), .len = m->len, .off = m->off
    };
}

/* The thread writes one transfer after the other while the work goes on, and until end_writer only
 * it uses the session. It calls no MPI: the backends that do have a queue (mc.c). */
struct mc_writer {
    pthread_t thread;
    const struct mc_test *t;
    struct weir_err err; /* of the transfer that failed */
    size_t done;         /* transfers that were written; set by the thread */
    bool failed;         /* set by the thread, before it ends */
    bool stop;           /* for the thread */
    struct {
        uint64_t begin_ns, end_ns;
    } time[]; /* of each transfer */
};

static void *write_all(void *arg)
{
    struct mc_writer *w = arg;
    const struct mc_plan *plan = &w->t->save.plan;

    for (size_t i = 0; i < plan->moves && !__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE); i++) {
        const struct weir_io io = save_io(w->t, &plan->move[i]);
        struct weir_file *file = w->t->save.file[plan->move[i].region];

        w->time[i].end_ns = w->time[i].begin_ns = weir_now_ns();
        if (weir_session_xfer(file, &io, &w->time[i].end_ns, &w->err) < 0) {
            __atomic_store_n(&w->failed, true, __ATOMIC_RELEASE);
            break;
        }
        __atomic_store_n(&w->done, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static int begin_writer(struct mc_test *t, struct weir_err *err)
{
    size_t moves = t->save.plan.moves;
    struct mc_writer *w = calloc(1, sizeof(*w) + moves * sizeof(w->time[0]));
    int sys;

    if (!w)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the times of %zu transfers", moves);
    w->t = t;
    w->err = (struct weir_err) WEIR_ERR_INIT;
    sys = pthread_create(&w->thread, NULL, write_all, w);
    if (sys != 0) {
        free(w);
        errno = sys;
        return weir_fail(err, WEIR_ESETUP, "start a thread that writes in the background");
    }
    t->save.writer = w;
    return 0;
}

static int wait_for_writer(struct weir_run *run, struct mc_test *t, uint64_t i, uint64_t *clock_ns,
                           struct weir_err *err)
{
    struct mc_writer *w = t->save.writer;
    const struct weir_io io = save_io(t, &t->save.plan.move[i]);
    bool failed = false;

    while (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) <= i && !(failed = __atomic_load_n(&w->failed, __ATOMIC_ACQUIRE)))
        work(t);
    *clock_ns = weir_now_ns();
    /* it may have written this one before it failed */
    if (failed && __atomic_load_n(&w->done, __ATOMIC_ACQUIRE) <= i) {
        *err = w->err;
        weir_records_add_failed(&run->records, MC_WRITE, w->time[i].begin_ns, w->time[i].end_ns, io.off, err);
        return -1;
    }
    weir_transfer_count(run, &io, w->time[i].begin_ns, w->time[i].end_ns);
    return 0;
}

static void end_writer(struct mc_test *t)
{
    if (!t->save.writer)
        return;
    __atomic_store_n(&t->save.writer->stop, true, __ATOMIC_RELEASE);
    pthread_join(t->save.writer->thread, NULL);
    free(t->save.writer);
    t->save.writer = NULL;
}

/* ---- files ---- */

/* Rank 0 makes the place, which is a part of the save. */
static int make_staged(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();

    weir_str_clear(&t->pub.staged);
    weir_str_clear(&t->pub.place);
    mc_place_name(t, MC_STAGED, t->pub.step, &t->pub.staged);
    mc_place_name(t, MC_PUBLISHED, t->pub.step, &t->pub.place);
    if (t->pub.staged.failed || t->pub.place.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of directories");
    if (run->par.rank > 0 || !t->is_stored)
        return 0;
    if (t->store->make && t->store->make(t, err) < 0)
        return -1;
    t->pub.is_staged = true;
    t->save.make_ns = weir_now_ns() - begin_ns;
    return 0;
}

int mc_before_save(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;

    if (!t->async && weir_local(run, fill, t, err) < 0)
        return -1;
    return weir_local(run, make_staged, t, err);
}

/* An upload becomes an object here, and the work stands still. */
static int close_files(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = mc_arrays_close(t, err);

    end_writer(t);
    for (int k = 0; k < t->save.regions; k++) {
        if (weir_session_close(t->save.file[k], rc < 0 ? NULL : err) < 0)
            rc = -1;
        t->save.file[k] = NULL;
    }
    if (t->is_objects && t->save.work_left_ns > 0)
        t->save.blocked_ns += weir_now_ns() - begin_ns;
    return rc;
}

/* To open the file that an upload of several ranks makes is collective over them. */
static int open_file(struct mc_test *t, int k, struct weir_err *err)
{
    const struct mc_region *r = &t->save.region[k];
    const struct weir_extent extent = mc_region_extent(t, k);
    const char *path;
    int rc;

    if (r->lines == 0 && !extent.sharers)
        return 0;
    path = mc_path(t, weir_str_text(t->is_stored ? &t->pub.staged : &t->pub.place), r->file, err);
    rc = path ? 0 : -1;
    if (extent.sharers)
        rc = weir_agree(extent.sharers, path ? weir_session_reserve(&t->session, path, err) : rc, err);
    if (rc < 0)
        return -1;
    return weir_session_open(&t->session, path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &extent, &t->save.file[k], err);
}

/* All that share an upload give it up together. */
static int open_files(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = 0;

    if (t->layout == MC_ARRAYS)
        return mc_arrays_open(t, true, err);
    for (int k = 0; rc == 0 && k < t->save.regions; k++)
        rc = open_file(t, k, err);
    if (rc == 0 && t->async && t->queue.depth == 0)
        rc = begin_writer(t, err);
    if (t->save.is_shared_upload)
        rc = weir_agree(&t->save.sharers.group, rc, err);
    if (rc < 0)
        close_files(run, t, NULL);
    return rc;
}

/* The transfers of all files of the save, of which the first stands for all. */
static struct weir_flow flow_of(void *state)
{
    struct mc_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->save.file[0] ? t->save.file[0] : t->save.file[1] };
}

/* Go on with the work while 'in_flight' transfers are in flight. It takes no processor time, so
 * the rank waits for the next of them: one that sleeps would find small ones ended long ago. */
static int work_while(struct weir_run *run, struct mc_test *t, int in_flight, uint64_t *worked_ns, uint64_t *clock_ns,
                      struct weir_err *err)
{
    const struct weir_flow flow = flow_of(t);

    while (t->save.work_left_ns > 0 && weir_queue_in_flight(&t->queue) >= in_flight) {
        uint64_t begin_ns = *clock_ns;

        if (weir_flow_reap(run, &flow, 1, clock_ns, err) < 0)
            return -1;
        *worked_ns += count_work(&t->save, begin_ns, *clock_ns);
    }
    return 0;
}

int mc_transfer(struct weir_run *run, struct mc_test *t, struct weir_file *f, const struct weir_io *io, uint64_t *clock_ns,
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
    const struct mc_move *m = &t->save.plan.move[i];
    const struct weir_io io = save_io(t, m);
    uint64_t begin_ns = *clock_ns, worked_ns = 0;
    bool works = t->save.work_left_ns > 0;

    if (t->arrays.file)
        return mc_arrays_move(run, t, true, i, clock_ns, err);
    if (t->save.writer)
        return wait_for_writer(run, t, i, clock_ns, err);
    if (works && work_while(run, t, t->queue.depth, &worked_ns, clock_ns, err) < 0)
        return -1;
    if (mc_transfer(run, t, t->save.file[m->region], &io, clock_ns, err) < 0)
        return -1;
    if (works)
        t->save.blocked_ns += *clock_ns - begin_ns - worked_ns;
    return i + 1 < t->save.plan.moves ? 0 : work_while(run, t, 1, &worked_ns, clock_ns, err);
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

    for (int k = 0; f->rc == 0 && k < f->t->save.regions; k++)
        if (f->t->save.file[k])
            f->rc = weir_session_sync(f->t->save.file[k], f->err);
    __atomic_store_n(&f->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* A thread flushes the files of an asynchronous save, as its writer does in training, so that the work goes on. */
static int flush(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct flush f = { .t = t, .err = err };
    pthread_t thread;

    if (t->arrays.file)
        return weir_arrays_sync(t->arrays.file, err);
    end_writer(t);
    if (t->save.work_left_ns == 0 || (t->session.flags & WEIR_BE_NEEDS_MPI) ||
        pthread_create(&thread, NULL, flush_files, &f) != 0) {
        uint64_t begin_ns = weir_now_ns();

        flush_files(&f);
        if (t->save.work_left_ns > 0)
            t->save.blocked_ns += weir_now_ns() - begin_ns;
        return f.rc;
    }
    while (t->save.work_left_ns > 0 && !__atomic_load_n(&f.done, __ATOMIC_ACQUIRE))
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

    t->row.write = weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    t->row.slowest = (double)rec->max.own_ns / WEIR_NS_PER_S;
    t->row.slowest_rate = rec->min.rate < INT64_MAX ? (double)rec->min.rate : NAN;
    weir_observers_measured(run, &t->session, rec);
    return 0;
}
