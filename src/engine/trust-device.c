/* SPDX-License-Identifier: BSD-3-Clause */
/* trust-device.c - what the block device under the files moved beyond what this run did */
#include "config.h"
#include "engine/trust.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/surroundings.h"
#include "engine/driver.h"

/* Operations of less than SMALL bytes and syncs come with journal and metadata, which the kernel
 * counts for no process: so much is ours for each. */
#define SMALL 65536

void weir_trust_device_begin(struct weir_run *run, struct weir_facts *f)
{
    struct weir_trust_device *d = &run->trust.device;
    struct weir_str name = { 0 };

    if (!d->begun) /* once a run: pages of a test may be written during the next one */
        weir_machine_use(&d->own_before, true);
    d->begun = true;
    if (run->par.rank != 0)
        return;
    f->others_why = f->nodes > 1 ? "the tasks are on several nodes" : "no block device is found";
    if (f->path && f->stores == 1 && f->nodes == 1)
        weir_surroundings_device(f->path, &name);
    if (name.len > 0 && (!d->name || strcmp(d->name, name.text) != 0)) {
        d->name = weir_arena_strdup(&run->arena, name.text, NULL);
        d->slack = d->asked = 0;
        if (d->name && !weir_machine_device(d->name, &d->before))
            d->name = NULL;
    } else if (name.len == 0) {
        d->name = NULL;
    }
    if (d->name)
        f->others_why = "no phase moved data that the kernel counts";
    weir_str_free(&name);
}

void weir_trust_device_own(const struct weir_run *run, const struct weir_machine_use *now,
                           struct weir_trust_sums *s)
{
    const struct weir_machine_use *was = &run->trust.device.own_before;

    if (!now->io_known || !was->io_known)
        return;
    s->all_read = now->read - was->read;
    s->all_written = now->written - was->written;
}

static double beyond(uint64_t device, uint64_t before, double own)
{
    return fmax(0, (double)(device - before) - own);
}

void weir_trust_device_note(struct weir_run *run, const struct weir_phase_rec *rec,
                            struct weir_facts *f)
{
    struct weir_trust_device *d = &run->trust.device;
    const struct weir_trust_sums *s = &run->trust.sums;
    struct weir_machine_traffic now;
    double small = rec->bytes_sum < SMALL * rec->steps_sum ? (double)rec->steps_sum : 0;

    d->asked += (double)rec->bytes_sum;
    d->slack += SMALL * (small + (double)s->syncs);
    if (s->io_unknown > 0 || !d->name || !weir_machine_device(d->name, &now))
        return;
    f->others = beyond(now.read, d->before.read, (double)s->all_read) +
                beyond(now.written, d->before.written, (double)s->all_written + d->slack);
    f->others_share = f->others / fmax(d->asked, (double)(s->all_read + s->all_written));
}
