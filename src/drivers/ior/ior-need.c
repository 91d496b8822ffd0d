/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-need.c - what a test would need: a dry run says it, and does nothing */
#include "config.h"
#include "drivers/ior/ior.h"

#include <inttypes.h>

#include "base/mount.h"

/* Numbers are real: a dry run may ask for more than there is anywhere. */
struct need {
    double bytes, files, memory;
};

static struct need what_is_needed(const struct ior_test *t, const struct weir_par *par)
{
    const struct ior_options *o = t->o;
    double times = o->multi_file && o->keep ? o->run.repetitions : 1;
    double tasks = par->size;

    return (struct need) {
        .bytes = (double)o->block * (double)o->segments * tasks * times,
        .files = (o->file_per_task ? tasks : 1) * times,
        .memory =
            ((double)o->transfer * t->data.lanes + (double)t->memory.bytes) * par->per_node_max,
    };
}

double ior_planned_bytes(const struct ior_options *o, const struct weir_par *par)
{
    return (double)o->block * (double)o->segments * par->size;
}

static int64_t whole(double count)
{
    return count < 0x1p62 ? (int64_t)count : INT64_MAX;
}

int ior_report_need(struct weir_run *run, const struct ior_test *t, struct weir_err *err)
{
    struct need n = what_is_needed(t, &run->par);
    struct weir_report *r = &run->report;
    uint64_t free = 0;
    bool known;

    if (!t->o->run.dry_run || run->par.rank != 0)
        return 0;
    known = weir_mount_space(weir_str_text(&t->use.path), &free);
    weir_report_enter(r, "need", false);
    weir_report_line(r, "\nNeed: ");
    weir_report_int(r, WEIR_FOR_ALL, "bytes", whole(n.bytes));
    weir_report_int(r, WEIR_FOR_ALL, "files", whole(n.files));
    weir_report_int(r, WEIR_FOR_ALL, "memory of a node", whole(n.memory));
    if (known)
        weir_report_int(r, WEIR_FOR_ALL, "free bytes", (int64_t)free);
    weir_report_leave(r);
    if (!known || !t->o->write || n.bytes <= (double)free)
        return 0;
    return weir_warn(&run->log, err, "the test needs %.0f bytes for '%s', and %" PRIu64 " are free",
                     n.bytes, weir_str_text(&t->use.path), free);
}
