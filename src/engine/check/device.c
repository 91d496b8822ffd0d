/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - what the block device under the files moved beyond what this run did */
#include "config.h"
#include "engine/check/trust.h"

#include <math.h>
#include <string.h>

#include "base/node/device.h"
#include "engine/driver.h"

/* Operations of less than SMALL bytes and syncs come with journal and metadata, which the kernel
 * counts for no process: so much is ours for each. */
#define SMALL 65536

void weir_trust_device_begin(struct weir_run *run, struct weir_facts *f)
{
    struct weir_trust_device *d = &run->trust.device;
    struct weir_devices before = d->on;

    if (!d->begun) /* once a run: pages of a test may be written during the next one */
        weir_machine_use(&d->own_before, true);
    d->begun = true;
    if (run->par.rank != 0)
        return;
    d->on = (struct weir_devices) { .n = 0 };
    if (f->path && f->stores == 1)
        weir_devices_find(f->path, &d->on);
    run->report.lost |= d->on.failed;
    f->image = d->on.image[0];
    if (!d->known || memcmp(before.name, d->on.name, sizeof(before.name)) != 0) {
        d->slack = d->others = 0;
        d->moved = (struct weir_traffic) { 0, 0 };
        d->known = f->nodes == 1 && weir_devices_moved(&d->on, &d->phase);
    }
    d->asked = d->in_test = 0;
    d->others_before = d->others;
    f->others_why = f->nodes > 1 ? "the tasks are on several nodes"
                    : d->known   ? "no phase moved data that the kernel counts"
                                 : "no block device is found";
}

void weir_trust_device_phase(struct weir_run *run)
{
    struct weir_trust_device *d = &run->trust.device;

    if (run->par.rank == 0 && d->known)
        weir_devices_moved(&d->on, &d->phase);
}

/* What the device moved in a phase that ends now. */
static void add_traffic(struct weir_trust_device *d, const struct weir_traffic *now)
{
    uint64_t read = now->read - d->phase.read, written = now->written - d->phase.written;

    d->moved.read += read;
    d->moved.written += written;
    d->in_test += (double)(read + written);
}

void weir_trust_device_own(struct weir_run *run, const struct weir_machine_use *now, bool reads,
                           struct weir_trust_sums *s)
{
    struct weir_trust_device *d = &run->trust.device;
    const struct weir_machine_use *was = &d->own_before;
    struct weir_traffic moved;

    if (run->par.rank == 0 && d->known && weir_devices_moved(&d->on, &moved)) {
        d->reached = reads ? moved.read - d->phase.read : moved.written - d->phase.written;
        add_traffic(d, &moved);
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

/* A task's own counts say what it gave to the block layer; less may have come to the device (it
 * compresses, or an image has pages of its own), but not more of ours. */
static void note_reached(const struct weir_run *run, const struct weir_phase_rec *rec,
                         struct weir_facts_phase *p)
{
    const struct weir_trust_device *d = &run->trust.device;
    double given = (double)run->trust.sums.reached;

    if (d->on.n == 0)
        return;
    p->asked += (double)rec->bytes_sum;
    p->reached += d->known ? fmin(given, (double)d->reached) : given;
}

void weir_trust_device_note(struct weir_run *run, const struct weir_phase_rec *rec,
                            struct weir_facts *f, struct weir_facts_phase *p)
{
    struct weir_trust_device *d = &run->trust.device;
    const struct weir_trust_sums *s = &run->trust.sums;
    double small = rec->bytes_sum < SMALL * rec->steps_sum ? (double)rec->steps_sum : 0;

    d->asked += (double)rec->bytes_sum;
    d->slack += SMALL * (small + (double)s->syncs);
    if (s->io_unknown > 0)
        return;
    if (p->moves != WEIR_MOVES_NOTHING)
        note_reached(run, rec, p);
    if (!d->known || p->moves == WEIR_MOVES_NOTHING)
        return;
    d->others = beyond(d->moved.read, (double)s->all_read) +
                beyond(d->moved.written, (double)s->all_written + d->slack);
    f->others = fmax(0, d->others - d->others_before);
    f->others_share = f->others / fmax(fmax(d->asked, d->in_test), 1);
}
