/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - where and with what a number was measured */
#include "engine/about/provenance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/node/environment.h"
#include "base/node/machine.h"
#include "engine/program.h"
#include "par/hosts.h"

const char *weir_placement_name(enum weir_placement placement)
{
    static const char *const names[] = {
        [WEIR_PLACED_BLOCK] = "block",
        [WEIR_PLACED_CYCLIC] = "cyclic",
        [WEIR_PLACED_OTHER] = "other",
    };

    return names[placement];
}

static void add_missing(struct weir_missing *missing, const char *key)
{
    size_t len = strlen(missing->names);

    if (snprintf(missing->names + len, sizeof(missing->names) - len, "%s%s", missing->n ? ", " : "",
                 key) > 0)
        missing->n++;
}

/* True when the text is unknown, or --anonymous changes it. */
static bool is_hidden(const struct weir_run *run, const char *key, const char *text)
{
    struct weir_str buffer = { 0 };
    bool hidden = !*text || strcmp(weir_report_shown(&run->report, key, text, &buffer), text) != 0;

    weir_str_free(&buffer);
    return hidden;
}

/* A value that a reader needs, and misses where it is hidden. missing NULL: no reader needs it. */
static void report_needed(struct weir_run *run, struct weir_missing *missing, const char *key,
                          const char *text)
{
    weir_report_str(&run->report, WEIR_FOR_DATA, key, text);
    if (missing && is_hidden(run, key, text))
        add_missing(missing, key);
}

static const struct weir_table hosts_table = { .key = "hosts",
                                               .cols = weir_host_cols,
                                               .readers = WEIR_FOR_DATA,
                                               .in_line = 64 };

/* The hosts of a run on their way to rank 0. */
struct hosts {
    struct weir_run *run;
    int shown; /* with their names */
};

static void report_host(void *hosts, const struct weir_host *host)
{
    struct hosts *h = hosts;

    weir_report_row(&h->run->report, &hosts_table, host);
    h->shown += !is_hidden(h->run, NULL, host->name);
}

static void report_hosts(struct weir_run *run)
{
    struct hosts h = { .run = run };

    run->report.lost |= weir_hosts(&run->world, report_host, &h) < 0;
    if (h.shown == 0)
        add_missing(&run->report.missing, "hosts");
}

static void report_text(struct weir_run *run, struct weir_missing *missing, const char *key,
                        void (*put)(struct weir_str *out))
{
    struct weir_str text = { 0 };

    if (run->report.n == 0)
        return;
    put(&text);
    report_needed(run, missing, key, weir_str_text(&text));
    weir_report_free(&run->report, &text);
}

static void put_limit(double limit, const char *format, struct weir_str *out)
{
    if (isfinite(limit))
        weir_str_addf(out, format, limit);
    else if (isinf(limit))
        weir_str_addf(out, "max");
}

static void emit_memory_limit(struct weir_str *out)
{
    put_limit(weir_cgroup_limit(WEIR_CGROUP_MEMORY), "%.0f", out);
}

static void emit_cpu_limit(struct weir_str *out)
{
    put_limit(weir_cgroup_limit(WEIR_CGROUP_PROCESSORS), "%g", out);
}

/* The processors of rank 0; fewest and most that a task may use. Collective. */
static void report_bound(struct weir_run *run)
{
    struct weir_str text = { 0 };
    int n = weir_environment_binding(&text);
    int64_t most[2] = { n, -n };

    if (run->report.n > 0)
        report_needed(run, &run->report.missing, "binding", weir_str_text(&text));
    weir_allmax_i64(&run->world, most, 2);
    weir_report_int(&run->report, WEIR_FOR_DATA, "processorsOfTaskMin", -most[1]);
    weir_report_int(&run->report, WEIR_FOR_DATA, "processorsOfTaskMax", most[0]);
    weir_report_free(&run->report, &text);
}

static void report_variables(struct weir_run *run)
{
    struct weir_str name = { 0 };
    const char *value;

    weir_report_enter(&run->report, "variables", false);
    for (int i = 0; (value = weir_environment_variable(i, &name)); i++)
        weir_report_str(&run->report, WEIR_FOR_DATA, weir_str_text(&name), value);
    weir_report_leave(&run->report);
    weir_report_free(&run->report, &name);
}

/* Report the node of rank 0. Collective. */
static void report_environment(struct weir_run *run)
{
    weir_report_enter(&run->report, "environment", false);
    report_text(run, &run->report.missing, "kernel", weir_environment_kernel);
    report_text(run, NULL, "processor", weir_environment_processor);
    report_text(run, NULL, "governor", weir_environment_governor);
    report_text(run, NULL, "memoryLimit", emit_memory_limit);
    report_text(run, NULL, "processorLimit", emit_cpu_limit);
    report_bound(run);
    report_text(run, NULL, "mpiIo", weir_mpi_io);
    report_text(run, NULL, "interception", weir_environment_interception);
    weir_report_str(&run->report, WEIR_FOR_DATA, "clock", weir_clock_source.trusted ? "tsc" : "monotonic");
    weir_report_str(&run->report, WEIR_FOR_DATA, "compiler", __VERSION__);
    report_variables(run);
    weir_report_leave(&run->report);
}

static void report_queue(struct weir_run *run, const char *device)
{
    static const char *const settings[] = {
        "scheduler",   "nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational",
        "write_cache", NULL
    };
    struct weir_str text = { 0 };

    weir_report_enter(&run->report, "queue", false);
    for (int i = 0; settings[i]; i++) {
        weir_environment_queue(device, settings[i], &text);
        if (text.len > 0)
            weir_report_str(&run->report, WEIR_FOR_DATA, settings[i], weir_str_text(&text));
    }
    weir_report_leave(&run->report);
    weir_report_free(&run->report, &text);
}

/* Find the layout of path, or of the directory above it in which it will be made. */
static void find_layout(const char *path, struct weir_str *text)
{
    struct weir_str dir = { 0 };

    weir_str_addf(&dir, "%s", path);
    weir_environment_layout(weir_str_text(&dir), text);
    while (text->len == 0 && dir.text && strrchr(dir.text, '/')) {
        *strrchr(dir.text, '/') = '\0';
        weir_environment_layout(*dir.text ? dir.text : "/", text);
    }
    if (text->len == 0 && path[0] != '/')
        weir_environment_layout(".", text);
    text->failed |= dir.failed;
    weir_str_free(&dir);
}

static const char *known(const char *text)
{
    return text ? text : "";
}

/* Below the mount: how it was mounted, what it stands on, and how it is laid out. path NULL: it is no name
 * of the system. */
static void report_place(struct weir_run *run, const char *path, struct weir_missing *missing)
{
    static const struct weir_devices none;
    const struct weir_devices *devices = run->underlying ? &run->underlying->devices : &none;
    struct weir_str text = { 0 };

    report_needed(run, missing, "mountOptions", known(run->test->found.mount_options));
    if (path)
        find_layout(path, &text);
    report_needed(run, missing, "layout", weir_str_text(&text));
    weir_report_str(&run->report, WEIR_FOR_DATA, "device", devices->top);
    weir_str_clear(&text);
    for (int i = 0; i < devices->n; i++) /* below an image others than the file system's own */
        weir_str_addf(&text, "%s%s", i ? "," : "", devices->name[i]);
    weir_report_str(&run->report, WEIR_FOR_DATA, "movingDevices", weir_str_text(&text));
    report_queue(run, devices->top);
    run->report.lost |= devices->failed;
    weir_report_free(&run->report, &text);
}

void weir_provenance_run(struct weir_run *run)
{
    struct weir_report *r = &run->report;
    struct weir_str mpi = { 0 };

    weir_mpi_library(&mpi);
    weir_report_enter(r, "provenance", false);
    weir_report_str(r, WEIR_FOR_DATA, "weir", PACKAGE_VERSION);
    report_needed(run, &run->report.missing, "mpi", weir_str_text(&mpi));
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->world.size);
    weir_report_int(r, WEIR_FOR_DATA, "nodes", run->world.nodes);
    weir_report_int(r, WEIR_FOR_DATA, "kernels", run->world.kernels);
    weir_report_str(r, WEIR_FOR_DATA, "placement", weir_placement_name(run->world.placement));
    report_hosts(run);
    report_environment(run);
    weir_report_leave(r);
    weir_report_free(&run->report, &mpi);
}

void weir_provenance_test(struct weir_run *run, const struct weir_backend *be, const char *path)
{
    struct weir_report *r = &run->report;
    uint64_t error_ns = weir_clock_worst(&run->par, &run->clock);
    const struct weir_found *found = &run->test->found;
    struct weir_missing *missing =
        be->flags & (WEIR_BE_NO_DATA | WEIR_BE_OBJECTS) ? NULL : &run->test->missing;

    if (r->n == 0)
        return;
    weir_report_enter(r, "provenance", false);
    weir_report_str(r, WEIR_FOR_DATA, "mount", known(found->mount));
    report_needed(run, missing, "fileSystem", known(found->file_system));
    weir_report_str(r, WEIR_FOR_DATA, "backend", be->name);
    weir_report_str(r, WEIR_FOR_DATA, "backendVersion", be->version ? be->version() : "");
    if (run->test->used[0].opt.refused)
        weir_report_str(r, WEIR_FOR_DATA, "backendRefused", run->test->used[0].opt.refused->name);
    report_place(run, weir_system_path(be, path), missing);
    weir_report_real(r, WEIR_FOR_DATA, "clockError", (double)error_ns / WEIR_NS_PER_S);
    weir_report_leave(r);
}
