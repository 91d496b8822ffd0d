/* SPDX-License-Identifier: BSD-3-Clause */
/* others.c - use of devices and processors by other programs during the phases: of the block
 * device under the files, and of the processors of a node's tasks (H26). Includes the bytes of
 * this run that reached the device (H04).
 *
 * The first rank of each node reads the load of its tasks' processors, before and after a
 * phase. It subtracts the time of all tasks (those in MPI are busy, too). */
#include "engine/check/parts.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "par/reduce.h"

/* ---- the device ---- */

/* Operations of less than SMALL bytes and syncs come with journal and metadata, which the kernel
 * counts for no process: so much is ours for each. */
#define SMALL 65536

static void begin_device(struct weir_run *run, struct weir_others_device *d, struct weir_inputs *f)
{
    struct weir_devices before = d->on;

    if (!d->begun) /* once a run: pages of a test may be written during the next one */
        weir_machine_use(&d->own_before, true);
    d->begun = true;
    if (run->par.rank != 0)
        return;
    d->on = (struct weir_devices) { .n = 0 };
    if (run->underlying && f->path && f->stores == 1 && !f->objects)
        d->on = run->underlying->devices;
    run->report.lost |= d->on.failed;
    f->image = d->on.image[0];
    if (!d->known || memcmp(before.name, d->on.name, sizeof(before.name)) != 0) {
        d->slack = d->others = 0;
        d->moved = (struct weir_traffic) { .read = 0 };
        d->known = f->nodes == 1 && weir_devices_moved(&d->on, &d->phase);
    }
    d->asked = d->in_test = 0;
    d->others_before = d->others;
    f->others_why = f->nodes > 1 ? "the tasks are on several nodes"
                    : d->known   ? "no phase moved data that the kernel counts"
                                 : "no block device is found";
}

void weir_others_add(const struct weir_run *run, struct weir_others *o,
                     const struct weir_machine_use *now, enum weir_moves moves,
                     struct weir_checks_sums *s)
{
    struct weir_others_device *d = &o->device;
    const struct weir_machine_use *was = &d->own_before;
    struct weir_traffic moved;

    if (run->par.rank == 0 && d->known && weir_devices_moved(&d->on, &moved)) {
        uint64_t read = moved.read - d->phase.read, written = moved.written - d->phase.written;

        d->reached = (moves & WEIR_MOVES_IN ? read : 0) + (moves & WEIR_MOVES_OUT ? written : 0);
        d->requests = moved.writes - d->phase.writes;
        d->moved.read += read;
        d->moved.written += written;
        d->in_test += (double)(read + written);
    }
    if (!now->io_known || !was->io_known)
        return;
    s->all_read = now->read - was->read;
    s->all_written = now->written - was->written;
}

static double beyond(uint64_t device, double own)
{
    return fmax(0, (double)device - own);
}

/* A task's own counts are the bytes that it gave to the block layer. The device may have got
 * less (it compresses, or an image has pages of its own), but not more of ours. */
static void note_reached(const struct weir_others_device *d, const struct weir_phase_rec *rec,
                         struct weir_inputs_phase *p)
{
    double given = (double)((const struct weir_checks_sums *)rec->sums)->reached;

    if (d->on.n == 0)
        return;
    p->asked += (double)rec->sum.bytes;
    p->reached += d->known ? fmin(given, (double)d->reached) : given;
}

/* Writes that the page cache has joined come to the device as one request. */
static void note_requests(const struct weir_others_device *d, const struct weir_phase_rec *rec,
                          struct weir_inputs_phase *p)
{
    uint64_t mixed = rec->sum.by_dir[WEIR_DIR_WRITE].ops;
    uint64_t writes = p->moves == WEIR_MOVES_BOTH ? mixed : rec->sum.steps;

    if (d->known && (p->moves & WEIR_MOVES_OUT) && d->requests > 0)
        p->joined = fmax(p->joined, (double)writes / (double)d->requests);
}

static void note_device(struct weir_others_device *d, const struct weir_phase_rec *rec,
                        struct weir_inputs *f, struct weir_inputs_phase *p)
{
    const struct weir_checks_sums *s = (const struct weir_checks_sums *)rec->sums;
    double small = rec->sum.bytes < SMALL * rec->sum.steps ? (double)rec->sum.steps : 0;

    d->asked += (double)rec->sum.bytes;
    d->slack += SMALL * (small + (double)s->syncs);
    note_requests(d, rec, p);
    if (s->io_unknown > 0)
        return;
    if (f->direct != 1 && weir_checks_repeats(rec, f))
        f->repeated = true;
    else if (p->moves != WEIR_MOVES_NOTHING)
        note_reached(d, rec, p);
    if (!d->known || p->moves == WEIR_MOVES_NOTHING)
        return;
    d->others = beyond(d->moved.read, (double)s->all_read) +
                beyond(d->moved.written, (double)s->all_written + d->slack);
    f->others = fmax(0, d->others - d->others_before);
    f->others_share = f->others / fmax(fmax(d->asked, d->in_test), 1);
}

/* ---- the processors ---- */

#define LEAST_S 0.1    /* of a phase: the kernel counts in ticks of 10 ms */
#define LEAST_ALL_S 0.5 /* of all phases of a test */
#define PPM 1e6

/* The processes of this node's tasks, and where they are seen from. */
static void gather_tasks(struct weir_run *run, struct weir_others_processors *p)
{
    const struct weir_par *par = &run->world;
    const uint64_t mine[2] = { (uint64_t)getpid(), weir_process_space() };
    size_t n = par->rank == par->leader ? (size_t)par->followers + 1 : 0;
    uint64_t *all = n > 0 ? weir_arena_alloc(&run->arena, 2 * n * sizeof(*all), NULL) : NULL;

    weir_nodes_gather(par, mine, 2, all); /* without memory nothing is kept */
    p->task = all;
    p->tasks = all ? (int)n : 0;
    for (size_t i = 0; all && i < n; i++) {
        if (all[2 * i + 1] != mine[1])
            p->tasks = 0; /* in containers of their own */
        all[i] = all[2 * i];
    }
}

int weir_others_find(struct weir_run *run, struct weir_others *o)
{
    struct weir_others_processors *p = &o->processors;

    weir_machine_cores(p->mask);
    weir_nodes_or(&run->world, p->mask, WEIR_MACHINE_CORE_WORDS);
    for (int i = 0; i < WEIR_MACHINE_CORE_WORDS; i++)
        p->n += __builtin_popcountll(p->mask[i]);
    gather_tasks(run, p);
    p->kernel = p->tasks > 0 ? weir_process_kernel() : NAN;
    p->sees_kernel = !isnan(p->kernel);
    return run->world.rank == run->world.leader ? p->n : INT_MAX;
}

/* Reads the processor time of all processes, and our share of it. */
static bool read_now(const struct weir_others_processors *p, struct weir_processor_use *u)
{
    u->at_ns = weir_now_ns();
    return p->tasks > 0 && weir_processes_had(p->task, p->tasks, &u->own) &&
           weir_processors_busy(p->mask, WEIR_MACHINE_CORE_WORDS, &u->busy);
}

/* Subtract threads of the kernel that may work for us (write back, encrypt, send) from the time
 * of others. They are read only where it matters, because that takes a while. */
static double without_kernel(struct weir_others_processors *p, double others)
{
    double now;

    if (!p->sees_kernel || others <= WEIR_OTHERS_SHARE / 2 * p->available)
        return others;
    now = weir_process_kernel();
    return isnan(now) ? others : fmax(0, others - (now - p->kernel));
}

void weir_others_end(struct weir_others *o)
{
    struct weir_others_processors *p = &o->processors;
    struct weir_processor_use now;
    double span, busy, own;

    if (!p->reads || !read_now(p, &now))
        return;
    span = (double)(now.at_ns - p->before.at_ns) / WEIR_NS_PER_S;
    if (span < LEAST_S)
        return;
    busy = p->sees_kernel ? now.busy.all - p->before.busy.all : now.busy.user - p->before.busy.user;
    own = p->sees_kernel ? now.own.all - p->before.own.all : now.own.user - p->before.own.user;
    p->others += fmax(0, busy - own);
    p->available += span * p->n;
    if (p->available >= LEAST_ALL_S * p->n)
        p->share = (int64_t)(PPM * without_kernel(p, p->others) / p->available);
}

/* ---- both ---- */

void weir_others_begin(struct weir_run *run, struct weir_others *o, struct weir_inputs *f)
{
    begin_device(run, &o->device, f);
    o->processors.others = o->processors.available = 0;
    o->processors.share = INT64_MIN;
}

void weir_others_before(const struct weir_run *run, struct weir_others *o)
{
    struct weir_others_device *d = &o->device;
    struct weir_others_processors *p = &o->processors;

    if (run->par.rank == 0 && d->known)
        weir_devices_moved(&d->on, &d->phase);
    p->reads = p->tasks > 0 && read_now(p, &p->before);
}

void weir_others_note(struct weir_others *o, const struct weir_phase_rec *rec,
                      struct weir_inputs *f, struct weir_inputs_phase *p)
{
    int64_t most = *rec->maxima;

    f->others_cpu = most >= 0 ? (double)most / PPM : NAN;
    note_device(&o->device, rec, f, p);
}
