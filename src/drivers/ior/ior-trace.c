/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-trace.c - what -v -v -v adds: environment, files, and the time stamps of every task
 * (ior.md 7.7). Texts of all ranks go to the results of rank 0, whole and in order. */
#include "config.h"
#include "drivers/ior/ior.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/ranks.h"

#define TRACE_LEVEL 3
#define MORE_LEVEL 4

static bool traces(const struct weir_run *run)
{
    return run->log.verbose >= TRACE_LEVEL;
}

void ior_trace_begin(struct weir_run *run)
{
    if (!traces(run) || run->report.n == 0)
        return;
    weir_report_line(&run->report, "STARTING ENVIRON LOOP");
    for (char **name = environ; *name; name++)
        weir_report_line(&run->report, "%s", *name);
    weir_report_line(&run->report, "ENDING ENVIRON LOOP");
}

void ior_trace_memory(struct weir_run *run, const struct ior_test *t)
{
    if (!traces(run) || t->hog_bytes <= 0)
        return;
    if (t->o->memory_per_node)
        weir_report_line(&run->report, "This node hogging %" PRId64 " bytes of memory",
                         t->hog_bytes * run->par.per_node);
    else
        weir_report_line(&run->report, "This task hogging %" PRId64 " bytes of memory",
                         t->hog_bytes);
}

void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    struct weir_str line = { 0 }, name = { 0 };

    if (!traces(run))
        return;
    if (owner >= 0 && ior_file_name(t->o, t->mount, owner, run->repetition, &name, &ignored) == 0)
        weir_str_addf(&line, "task %d %s %s\n", run->par.rank, doing, weir_str_text(&name));
    weir_ranks_lines(run, &line);
    weir_str_free(&line);
    weir_str_free(&name);
}

void ior_trace_commence(struct weir_run *run, enum weir_dir dir)
{
    bool reads = dir == WEIR_DIR_READ;
    char now[32];

    if (!traces(run))
        return;
    weir_report_line(&run->report, "Commencing %s performance test: %s%s", reads ? "read" : "write",
                     ior_now_text(now), reads ? "\n" : "");
    weir_report_flush(&run->report);
}

/* What to add to rank 0's clock to have the time of day. */
static int64_t time_of_day_ns(const struct weir_run *run)
{
    struct timespec now;
    int64_t ns;

    clock_gettime(CLOCK_REALTIME, &now);
    ns = (int64_t)now.tv_sec * WEIR_NS_PER_S + now.tv_nsec - (int64_t)weir_now_ns();
    weir_bcast(&run->par, &ns, sizeof(ns), 0);
    return ns;
}

void ior_trace_phase(struct weir_run *run, const struct ior_test *t,
                     const struct weir_phase_rec *rec)
{
    static const char *const labels[WEIR_MARKS] = {
        [WEIR_MARK_OPEN] = "open start",   [WEIR_MARK_OPENED] = "open stop",
        [WEIR_MARK_WORK] = "start",        [WEIR_MARK_WORKED] = "stop",
        [WEIR_MARK_CLOSE] = "close start", [WEIR_MARK_CLOSED] = "close stop",
    };
    struct weir_str lines = { 0 };
    int64_t day_ns;

    if (!traces(run))
        return;
    day_ns = time_of_day_ns(run);
    if (run->log.verbose >= MORE_LEVEL)
        weir_str_addf(&lines, "* data moved = %" PRIu64 "\n", run->counters.bytes);
    for (int m = 0; m < WEIR_MARKS; m++)
        weir_str_addf(&lines, "Test %d: Iter=%d, Task=%d, Time=%f, %s %s\n", t->id, rec->repetition,
                      run->par.rank,
                      (double)(day_ns + weir_clock_common(&run->clock, rec->mark[m])) /
                          WEIR_NS_PER_S,
                      rec->phase->key, labels[m]);
    weir_ranks_lines(run, &lines);
    weir_str_free(&lines);
}
