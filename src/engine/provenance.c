/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - where and with what a number was measured */
#include "config.h"
#include "engine/provenance.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mount.h"
#include "par/comm.h"

const char *weir_placement_name(enum weir_placement placement)
{
    static const char *const names[] = {
        [WEIR_PLACED_BLOCK] = "block",
        [WEIR_PLACED_CYCLIC] = "cyclic",
        [WEIR_PLACED_OTHER] = "other",
    };

    return names[placement];
}

/* Names of the nodes in the order of the ranks, each once where its ranks follow each other. */
static void report_hosts(struct weir_run *run)
{
    struct weir_str all = { 0 };

    weir_par_hosts(&run->world, &all);
    weir_report_str(&run->report, WEIR_FOR_DATA, "hosts", weir_str_text(&all));
    weir_str_free(&all);
}

void weir_provenance_run(struct weir_run *run)
{
    struct weir_report *r = &run->report;
    struct weir_str mpi = { 0 };

    weir_mpi_library(&mpi);
    weir_report_enter(r, "provenance", false);
    weir_report_str(r, WEIR_FOR_DATA, "weir", PACKAGE_VERSION);
    weir_report_str(r, WEIR_FOR_DATA, "mpi", weir_str_text(&mpi));
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->world.size);
    weir_report_int(r, WEIR_FOR_DATA, "nodes", run->world.nodes);
    weir_report_str(r, WEIR_FOR_DATA, "placement", weir_placement_name(run->world.placement));
    report_hosts(run);
    weir_report_leave(r);
    weir_str_free(&mpi);
}

void weir_provenance_test(struct weir_run *run, const struct weir_backend *be, const char *path)
{
    struct weir_report *r = &run->report;
    uint64_t error_ns = weir_clock_worst(&run->par, &run->clock);
    struct weir_str point = { 0 }, type = { 0 };

    if (r->n == 0)
        return;
    weir_mount_find(path, &point, &type);
    weir_report_enter(r, "provenance", false);
    weir_report_str(r, WEIR_FOR_DATA, "mount", weir_str_text(&point));
    weir_report_str(r, WEIR_FOR_DATA, "fileSystem", weir_str_text(&type));
    weir_report_str(r, WEIR_FOR_DATA, "backend", be->name);
    weir_report_str(r, WEIR_FOR_DATA, "backendVersion", be->version ? be->version() : "");
    weir_report_real(r, WEIR_FOR_DATA, "clockError", (double)error_ns / WEIR_NS_PER_S);
    weir_report_leave(r);
    weir_str_free(&point);
    weir_str_free(&type);
}
