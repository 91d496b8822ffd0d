/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.c - how large and how full the file system is, and what a test needs of it */
#include "engine/place/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/text/path.h"
#include "par/agree.h"

/* A number with one decimal and its unit. */
static void report_short(struct weir_report *r, const char *key, double value, const char *unit)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "%.1f%s", value, unit);
    weir_report_str(r, WEIR_FOR_DATA, key, weir_str_text(&text));
    weir_report_free(r, &text);
}

static double percent_used(uint64_t free, uint64_t all)
{
    return all ? 100.0 * (1.0 - (double)free / (double)all) : 0.0;
}

/* The directory of a file as 3.3 shows it: without links, as far as it is there. */
static void report_path(struct weir_report *r, const char *path, const struct weir_backend *be, int width_33)
{
    const char *slash = strrchr(path, '/');
    struct weir_str dir = { 0 };
    unsigned readers = 0;
    char *real;

    weir_report_str(r, WEIR_FOR_ALL_BUT_33, "Path", path);
    for (int i = 0; i < r->n; i++)
        readers |= r->sink[i].ops->reader;
    if (!(readers & WEIR_FOR_TEXT_33))
        return;
    weir_str_add(&dir, slash ? path : ".", slash == path ? 1 : slash ? (size_t)(slash - path) : 1);
    real = weir_system_path(be, path) ? weir_path_real(weir_str_text(&dir)) : NULL;
    weir_report_line_for(r, WEIR_FOR_TEXT_33, "%-*s: %s", width_33, "Path",
                         real ? real : weir_str_text(&dir));
    free(real);
    weir_report_free(r, &dir);
}

int weir_usage_report(struct weir_run *run, struct weir_session *s, const char *path, int width_33,
                      struct weir_err *err)
{
    struct weir_report *r = &run->report;
    struct weir_str text = { 0 };
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_fs_usage u;
    double size, used, used_inodes;
    bool large;

    if (r->n == 0)
        return 0;
    report_path(r, path, s->be, width_33);
    if (!weir_system_path(s->be, path)) /* a service does not tell */
        return 0;
    if (weir_session_usage(s, path, &u, &why) < 0 || u.total_bytes == 0) {
        r->lost |= why.code == WEIR_ESETUP; /* no memory to ask */
        if (s->access.dry_run) /* of files that are not ordinary ones */
            return 0;
        return weir_warn(&run->log, err, "Backend returned error during statfs");
    }
    size = (double)u.total_bytes / WEIR_GIB;
    large = size > 1024;
    size = large ? size / 1024 : size;
    used = percent_used(u.free_bytes, u.total_bytes);
    used_inodes = percent_used(u.free_inodes, u.inodes);
    weir_str_addf(&text, "%.1f %s   Used FS: %2.1f%%   Inodes: %.1f Mi   Used Inodes: %2.1f%%",
                  size, large ? "TiB" : "GiB", used, (double)u.inodes / WEIR_MIB, used_inodes);
    weir_report_line_for(r, WEIR_FOR_TEXT_4, "%-20s: %s", "FS", weir_str_text(&text));
    weir_report_line_for(r, WEIR_FOR_TEXT_33, "%-*s: %s", width_33, "FS", weir_str_text(&text));
    weir_report_free(r, &text);
    report_short(r, "Capacity", size, large ? " TiB" : " GiB");
    report_short(r, "Used Capacity", used, "%");
    report_short(r, "Inodes", (double)u.inodes / WEIR_MIB, " Mi");
    report_short(r, "Used Inodes", used_inodes, "%");
    weir_report_int(r, WEIR_FOR_DATA, "capacityBytes", (int64_t)u.total_bytes);
    weir_report_int(r, WEIR_FOR_DATA, "freeBytes", (int64_t)u.avail_bytes);
    weir_report_int(r, WEIR_FOR_DATA, "freeInodes", (int64_t)u.free_inodes);
    return 0;
}

#define SIZE_TEXT 80

/* "3 MiB", or "3.50 MiB (3670017 bytes)" where the unit does not say it exactly. */
static const char *show_size(uint64_t bytes, char out[SIZE_TEXT])
{
    char size[WEIR_SIZE_TEXT];

    if (strchr(weir_size_show(weir_signed(bytes), size), '.'))
        (void)snprintf(out, SIZE_TEXT, "%s (%" PRIu64 " bytes)", size, bytes);
    else
        (void)snprintf(out, SIZE_TEXT, "%s", size);
    return out;
}

static int compare(const char *path, const struct weir_plan *plan, const struct weir_fs_usage *u,
                   struct weir_err *err)
{
    char needed[SIZE_TEXT], avail[SIZE_TEXT];

    if (u->inodes > 1 && plan->inodes > u->free_inodes)
        return weir_refuse(err, WEIR_ESETUP,
                           "the test needs %" PRIu64 " inodes in '%s', and %" PRIu64 " are free",
                           plan->inodes, path, u->free_inodes);
    if (u->total_bytes > 1 && plan->bytes > u->avail_bytes)
        return weir_refuse(err, WEIR_ESETUP, "the test needs %s in '%s', and %s are free",
                           show_size(plan->bytes, needed), path, show_size(u->avail_bytes, avail));
    return 0;
}

int weir_usage_judge(const struct weir_run *run, const char *path, const struct weir_plan *plan,
                     const struct weir_fs_usage *u, struct weir_err *err)
{
    const struct weir_run_options *o = plan->options;
    struct weir_err why = WEIR_ERR_INIT;

    if (o->max_steps > 0 && !o->dry_run) /* which moves less */
        return 0;
    if (compare(path, plan, u, &why) == 0)
        return 0;
    if (!o->dry_run && (o->no_space_check || weir_run_options_bound(o) > 0))
        return weir_warn(&run->log, err, "%s", why.text);
    return weir_refuse(err, why.code, "%s%s", why.text,
                       o->dry_run ? "" : "; --no-space-check continues anyway");
}

int weir_usage_check(struct weir_run *run, struct weir_session *s, const char *path,
                     const struct weir_plan *plan, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_fs_usage u = { 0 };
    int rc = 0;

    if (!weir_system_path(s->be, path))
        return 0;
    if (run->world.rank == 0 && weir_session_usage(s, path, &u, &why) == 0)
        rc = weir_usage_judge(run, path, plan, &u, err);
    else if (why.code == WEIR_ESETUP) /* no memory to ask */
        rc = weir_refuse(err, why.code, "%s", why.text);
    return weir_agree(&run->world, rc, err);
}

/* A dry run may ask for more than there is anywhere. */
static int64_t whole(double count)
{
    return count < 0x1p62 ? (int64_t)count : INT64_MAX;
}

void weir_usage_need(struct weir_run *run, const char *path, double memory)
{
    const struct weir_plan *plan = &run->test->plan;
    struct weir_report *r = &run->report;
    uint64_t free;

    if (!plan->options->dry_run || run->par.rank != 0)
        return;
    weir_report_enter(r, "need", false);
    weir_report_line(r, "\nNeed: ");
    weir_report_size(r, "bytes", "data", whole((double)plan->bytes));
    weir_report_int(r, WEIR_FOR_ALL, "files", whole((double)plan->inodes));
    weir_report_size(r, "memory of a node", "buffers of a node", whole(memory));
    path = run->test->n_used > 0 ? weir_system_path(run->test->used[0].be, path) : path;
    if (path && weir_mount_space(path, &free, &r->lost))
        weir_report_size(r, "free bytes", "free", (int64_t)free);
    weir_report_leave(r);
}
