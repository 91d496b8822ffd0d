/* SPDX-License-Identifier: BSD-3-Clause */
/* rules-run.c - the rules H19 to H38: where the time goes, the machine, and what was applied of what
 * was asked for */
#include "engine/check/rules.h"

#include <math.h>

static void h19(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, tail, NULL), *slow = WEIR_MOST(f, slow, NULL);
    double tail = p ? 100 * p->tail : 0;

    if (f->tasks < 4)
        weir_finding_unknown(out, "there are fewer than 4 tasks");
    else if (slow)
        weir_finding_set(out, fmax(100 * slow->slow, tail), "%s", slow->stragglers);
    else if (p)
        weir_finding_set(out, tail, "%.0f %% of a %s phase waited for the last tenth of the tasks",
                         tail, p->key);
}

static void h21(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *user = WEIR_MOST(f, cpu, NULL), *data = WEIR_MOST(f, data, NULL);

    if (data && (!user || data->data > user->cpu))
        weir_finding_set(out, 100 * data->data, "generating and checking data takes %.0f %% of a "
                                                "%s phase", 100 * data->data, data->key);
}

static void h23(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->nodes < 2 && f->tasks < 2)
        weir_finding_set(out, 0, "one task has one clock");
}

static void h24(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->objects)
        weir_finding_set(out, 0, "all nodes use the same service");
    else if (f->nodes < 2)
        weir_finding_unknown(out, WEIR_ONE_NODE);
    if (f->shared != 1 && out->severity == WEIR_INVALID)
        out->severity = WEIR_SUSPECT;
}

static void h25(const struct weir_inputs *f, struct weir_finding *out)
{
    double x = fmax(f->found.full, f->found.full_inodes); /* leaves NaN out */

    if (f->found.excess) {
        weir_finding_set(out, 100 * f->found.need_of_free, "it does not fit: %s", f->found.excess);
        out->brief = "does not fit";
        out->severity = WEIR_INVALID;
        out->unit = "% of what is free";
        out->limit = 100;
    } else if (!isnan(x)) {
        weir_finding_set(out, 100 * x, "the file system %s %.0f %% full",
                         f->planned ? "would be" : "is", 100 * x);
    }
}

#define OTHERS_MIN (16e6) /* bytes: less is a log file */

static void h26(const struct weir_inputs *f, struct weir_finding *out)
{
    double cpu = 100 * f->others_cpu;
    double device = !(f->others <= OTHERS_MIN) ? 100 * f->others_share : 0; /* NaN: not known */

    if (isnan(cpu) && isnan(device)) {
        weir_finding_set(out, NAN, "because the phases are too short to measure CPU use, and the "
                                   "traffic of other processes is not known: %s", f->others_why);
        out->outcome = WEIR_NOT_JUDGED;
    } else if (isnan(cpu)) {
        weir_finding_set(out, device, "other processes moved %.0f %% of the bytes of the device "
                                      "(the phases are too short to measure CPU use)", device);
    } else if (isnan(device)) {
        weir_finding_set(out, cpu, "other processes used %.0f %% of the CPU time of this run's "
                                   "cores; their traffic is not known, because %s",
                                   cpu, f->others_why);
    } else {
        weir_finding_set(out, fmax(cpu, device), "other processes used %.0f %% of the CPU time of "
                                                 "this run's cores, and moved %.0f %% of the bytes "
                                                 "of the device", cpu, device);
    }
}

static void h27(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->direct == 0)
        weir_finding_set(out, 0, "direct I/O was not asked for");
    else if (f->direct < 0)
        weir_finding_unknown(out, "the backend does not report it");
    if (f->direct != 1)
        out->more = NULL;
}

#define MANY 1.0 /* percent of the requests */

static void h28(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_service *v = &f->service;
    double again = v->refused + v->lost, share = 100 * again / v->sent;

    if (!(v->sent > 0) || f->retries > 0)
        return;
    if (share > MANY)
        weir_finding_suspect(out);
    out->unit = "% of the requests";
    out->brief = "%.2g %% of requests tried again";
    weir_finding_set(out, share, "%.0f of %.0f requests (%.2g %%) were retried: the service asked "
                                 "for %.0f retries, and %.0f requests lost their connection or "
                                 "timed out", again, v->sent, share, v->refused, v->lost);
}

static void h29(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->collective == 0)
        weir_finding_set(out, 0, "collective transfers were not asked for");
}

/* A flush writes the pages of a file in its order, so the device never sees random writes. */
static void h32(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, joined, NULL);

    if (p && f->random == 1 && f->direct == 0 && f->durable == 1)
        weir_finding_set(out, p->joined, "the page cache joined %.3g random writes of a %s phase to "
                                         "each request that a device completed",
                         p->joined, p->key);
}

static void h33(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->missing.n >= 0)
        weir_finding_set(out, f->missing.n, "%d %s missing%s%s", f->missing.n,
                         f->missing.n == 1 ? "item is" : "items are", f->missing.n ? ": " : "",
                         f->missing.names);
}

static void h34(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_LEAST(f, busy_s, NULL);
    double x = p ? p->busy_s / f->resolution_s : NAN;

    if (!isnan(x))
        weir_finding_set(out, x, "the shortest work time of a task is %.3g times the clock's "
                                 "resolution", x);
}

static void h35(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->objects && out->set == WEIR_RULES_DEFAULT)
        weir_finding_unknown(out, WEIR_OBJECTS);
    else if (weir_inputs_have(f, WEIR_MOVES_BOTH) && f->own_metadata < 0)
        weir_finding_unknown(out, "no phase looks at metadata");
}

/* The user's own numbers are believed. */
static void h36(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->kernels > 0)
        weir_finding_set(out, f->differs && !f->given,
                         "nodes %s: %d; kernels that the tasks run on: %d",
                         f->given ? "given by the user" : "reported by MPI", f->mpi_nodes,
                         f->kernels);
}

static void h37(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, rate_missed, NULL);

    if (p)
        weir_finding_set(out, 100 * p->rate_missed,
                         "a %s phase reached %.4g of the %.4g %s that were asked for (%.1f %% less), and "
                         "%.1f %% of its operations began more than 0.1 ms late",
                         p->key, (1 - p->rate_missed) * p->at.asked, p->at.asked,
                         p->at.bytes ? "bytes/s" : "ops/s", 100 * p->rate_missed, 100 * p->at.late_share);
}

static void h38(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, past_steady, NULL);

    if (p)
        weir_finding_set(out, 100 * p->past_steady, "a %s phase was %s: %s", p->key,
                         p->past_steady > 1 ? "never steady" : "steady", p->steadiness);
}

const struct weir_rule weir_rules_run[] = {
    { WEIR_RULE("H19", 0, "time that was spent waiting for the last tenth of the tasks", "%"),
      .brief = "stragglers cost %.0f %%", WEIR_RULE_AT(20, SUSPECT, SUSPECT, NOTE, SUSPECT),
      .measure = h19, .unknown = WEIR_NO_PHASE,
      .means = "the rate is that of the slowest tasks",
      .remedy = "find the slow tasks in the file of the ranks" },
    { WEIR_RULE("H20", 0, "open, close and sync", "% of the time"),
      .brief = "open, close, sync took %.0f %%", WEIR_RULE_AT(20, NOTE, NOTE, NOTE, NOTE),
      WEIR_RULE_PHASE(ends),
      .text = "open, close and sync are %.0f %% of a %s phase",
      .unknown = WEIR_NO_DATA,
      .means = "the rate includes much time without transfers",
      .remedy = "move more data for each file, or state that the rate includes them" },
    { WEIR_RULE("H21", 0, "user CPU time, or time to generate and check data", "% of the time"),
      .brief = "processor busy %.0f %%", WEIR_RULE_AT(70, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h21, WEIR_RULE_PHASE(cpu),
      .text = "user CPU time is %.0f %% of a %s phase",
      .unknown = WEIR_NO_PHASE,
      .means = "the processors limit the rate, not the storage",
      .remedy = "use more nodes, or larger transfers" },
    { WEIR_RULE("H22", 0, "tasks for each core that they may use", "tasks"),
      .brief = "%.3g tasks for a core", WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      WEIR_RULE_VALUE(WEIR_VALUE_TEST, tasks_per_core),
      .text = "%.3g tasks for each core",
      .unknown = "the cores of the tasks are not known",
      .means = "tasks wait for cores, so the rate is too low",
      .remedy = "use fewer tasks on a node, or bind them to more cores" },
    { WEIR_RULE("H23", 0, "uncertainty of the common clock", "% of a phase"),
      .brief = "clocks uncertain", WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h23, WEIR_RULE_PHASE(clock),
      .text = "the clocks are uncertain by %.2g %% of a %s phase",
      .unknown = WEIR_NO_PHASE,
      .means = "the rate of the phase is as uncertain",
      .remedy = "make the phases longer" },
    { WEIR_RULE("H24", 44, "file system that is local to each node", "cases"),
      .brief = "file system is local to nodes", WEIR_RULE_AT(0, INVALID, INVALID, INVALID, SOUND),
      .measure = h24, WEIR_RULE_VALUE(WEIR_VALUE_IS, found.apart),
      .text = "the nodes do not see the same files",
      .text_not = "the nodes see the same files",
      .unknown = "no other node checked whether it sees the files",
      .means = "the rate is that of several file systems, one for each node",
      .remedy = "use a directory of a file system that all nodes share" },
    { WEIR_RULE("H25", 0, "use of the file system or of its inodes", "%"),
      .brief = "file system %.0f %% full", WEIR_RULE_AT(90, NOTE, NOTE, NOTE, NOTE), .measure = h25,
      .unknown = "the backend does not report it",
      .means = "file systems slow down when they are nearly full",
      .remedy = "free space" },
    { WEIR_RULE("H26", 10, "bytes of the device that other processes moved, or CPU time they used",
                "%"),
      .brief = "others used %.0f %% of the node",
      WEIR_RULE_AT(100 * WEIR_OTHERS_SHARE, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h26,
      .means = "the rate is too low, because others used the same hardware",
      .remedy = "use nodes that are not shared with other jobs" },
    { WEIR_RULE("H27", 28, "in the page cache although direct I/O was asked for", "%"),
      .brief = "%.0f %% of direct I/O cached", WEIR_RULE_AT(5, SUSPECT, INVALID, SUSPECT, INVALID),
      .measure = h27, WEIR_RULE_PHASE(left), .cached = true,
      .text = "%.0f %% of the bytes of a %s phase with direct I/O are in the page cache",
      .unknown = WEIR_NO_DATA,
      .means = "the file system treats direct I/O as buffered I/O",
      .remedy = "use another file system, or larger aligned transfers" },
    { WEIR_RULE("H28", 0, "short transfers, and retried calls or requests (more than 1 % of the "
                          "requests to a service: SUSPECT)", "calls"),
      .brief = "calls tried again: %.0f", WEIR_RULE_AT(0, NOTE, NOTE, NOTE, NOTE),
      .measure = h28, WEIR_RULE_VALUE(WEIR_VALUE_TEST, retries),
      .text = "%.0f short transfers or retried calls",
      .unknown = "the program has no session that counts them",
      .means = "the rate includes the time of repeated calls",
      .remedy = "check for a full file system or an overloaded service, and send fewer requests at "
                "a time" },
    { WEIR_RULE("H29", 0, "independent transfers where collective ones were asked for", "cases"),
      .brief = "transfers not collective", WEIR_RULE_AT(0, SUSPECT, SUSPECT, SUSPECT, SOUND),
      .measure = h29, WEIR_RULE_VALUE(WEIR_VALUE_IS, independent),
      .text = "transfers were independent although collective ones were asked for",
      .text_not = "transfers were collective",
      .unknown = "the library does not report it, or decides anew for each transfer",
      .means = "the rate is not that of collective I/O",
      .remedy = "look at the hints in effect (romio_cb_read, romio_cb_write)" },
    { WEIR_RULE("H30", 0, "layout that is not what was asked for", "cases"),
      .brief = "other layout than asked", WEIR_RULE_AT(0, SUSPECT, SUSPECT, SUSPECT, SOUND),
      WEIR_RULE_VALUE(WEIR_VALUE_IS, other_layout),
      .text = "the layout is not the one that was asked for",
      .text_not = "the layout is the one that was asked for",
      .unknown = "no layout was asked for, or the library does not read it back",
      .means = "the rate is that of another layout",
      .remedy = "remove the old files: a layout is fixed when a file is created" },
    { WEIR_RULE("H31", 0, "files that were written with other parameters", "cases"),
      .brief = "files of other parameters", WEIR_RULE_AT(0, NOTE, SUSPECT, INVALID, SOUND),
      .needs = WEIR_NEEDS_READS, WEIR_RULE_VALUE(WEIR_VALUE_IS, foreign),
      .text = "the files that are read have a different size than this test writes",
      .text_not = "the files have the size that the test writes",
      .unknown = "the size of the files is not known",
      .means = "the rate is that of other files than the parameters describe",
      .remedy = "read files that the same options wrote, best in the same run" },
    { WEIR_RULE("H32", 33, "random writes for each request that a device completed until the flush",
                "writes"),
      .brief = "%.0f writes a device request", WEIR_RULE_AT(4, SUSPECT, SUSPECT, NOTE, SUSPECT),
      .measure = h32, .needs = WEIR_NEEDS_WRITES,
      .unknown = "it is known of buffered random writes that are flushed to a local block file system",
      .means = "the rate is that of the page cache: the device had large sequential writes",
      .remedy = "use direct I/O" },
    { WEIR_RULE("H33", 0, "items that a reader needs and the results do not have", "items"),
      .data_only = true,
      WEIR_RULE_AT(0, NOTE, NOTE, NOTE, NOTE),
      .measure = h33,
      .unknown = "no results for programs are written",
      .means = "a reader cannot repeat the measurement",
      .remedy = "describe in words: kernel, mount options, layout and binding of the tasks" },
    { WEIR_RULE("H34", 0, "time that a task worked against the resolution of the clock",
                  "x resolution"),
      .brief = "too short for the clock", .below = true, WEIR_RULE_AT(1000, NOTE, NOTE, NOTE, NOTE),
      .measure = h34, .unknown = WEIR_NO_PHASE,
      .means = "the time of the phase is inexact",
      .remedy = "do more operations for each task" },
    { WEIR_RULE("H35", 12, "phases in which a node accesses items that it created", "phases"),
      .brief = "nodes look at their own items", WEIR_RULE_AT(0, SUSPECT, SUSPECT, INVALID, SOUND),
      .measure = h35, WEIR_RULE_VALUE(WEIR_VALUE_IS, own_metadata),
      .text = "nodes access items that they created themselves",
      .text_not = "items are accessed by other nodes than those that created them",
      .unknown = "the program does not report which task created the items",
      .means = "such accesses can come from caches of the node",
      .remedy = "let another node access the items (mdtest -N with the tasks of a node, on several "
                "nodes)" },
    { WEIR_RULE("H36", 42, "nodes of MPI that are not the kernels of the tasks", "cases"),
      .brief = "nodes of MPI are wrong", WEIR_RULE_AT(0, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h36,
      .unknown = "the kernels are not known",
      .means = "results about nodes and their caches may be wrong",
      .remedy = "repair the MPI library or its launcher; if the kernels are wrong, set "
                "IOR_FAKE_NODES and IOR_FAKE_TASK_PER_NODES" },
    { WEIR_RULE("H37", 40, "rate that was asked for and not reached", "%"),
      .brief = "rate missed by %.1f %%", WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h37,
      .unknown = "no rate was asked for",
      .means = "the response times are those of a lower load",
      .remedy = "use a lower rate (--rate), more transfers in flight (--depth), or more tasks" },
    { WEIR_RULE("H38", 8, "phases that --until=steady found not to be steady", "% of its limit"),
      .brief = "phases never steady", WEIR_RULE_AT(100, SUSPECT, SUSPECT, NOTE, INVALID),
      .measure = h38,
      .unknown = "--until=steady was not asked for",
      .means = "the rate still changed when the phase ended",
      .remedy = "make the phases longer (most=SECONDS, -D), or find what changes with time" },
    { .id = NULL }
};
WEIR_RULES_FIT(weir_rules_run);
