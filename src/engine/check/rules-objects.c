/* SPDX-License-Identifier: BSD-3-Clause */
/* rules-objects.c - the rules H39 to H44: files that are objects of a service, buffers on a GPU */
#include "engine/check/rules.h"

#include <math.h>

/* True when the objects do not fit into the memory of the servers. */
static bool is_larger_than_servers(const struct weir_inputs *f)
{
    return f->service.working_set > f->service.memory;
}

static void h39(const struct weir_inputs *f, struct weir_finding *out)
{
    double times = f->service.reread;

    if (isnan(times))
        return;
    if (is_larger_than_servers(f) && out->severity > WEIR_NOTE)
        out->severity = WEIR_NOTE;
    weir_finding_set(out, times, "the bytes of an object %s read %.2g times since it was written%s",
                     f->planned ? "would be" : "were", times,
                     is_larger_than_servers(f) ? ", of data that are larger than the memory of the servers" : "");
}

static void h40(const struct weir_inputs *f, struct weir_finding *out)
{
    double x = f->service.working_set / f->service.memory;

    if (!isnan(x))
        weir_finding_set(out, x, "the data that are read are %.2g times the memory of the servers", x);
    else if (isnan(f->service.memory) && f->service.memory_option) {
        weir_finding_set(out, NAN, "because the memory size of the servers is not known; give %s",
                         f->service.memory_option);
        out->outcome = WEIR_NOT_JUDGED;
    }
}

static void h41(const struct weir_inputs *f, struct weir_finding *out)
{
    int n = f->service.endpoints;

    if (n == 1)
        weir_finding_set(out, f->tasks, f->tasks == 1 ? "one task uses one endpoint"
                                                      : "%d tasks on %d %s use one endpoint",
                         f->tasks, f->nodes, f->nodes == 1 ? "node" : "nodes");
    else if (n > 1)
        weir_finding_set(out, 0, "%d tasks use %d endpoints", f->tasks, n);
}

static void h42(const struct weir_inputs *f, struct weir_finding *out)
{
    int n = f->service.connections, depth = f->service.depth;

    if (n > 0 && depth > 0)
        weir_finding_set(out, (double)depth / n, "a task has %d %s for %d %s in flight", n,
                         n == 1 ? "connection" : "connections", depth, depth == 1 ? "transfer" : "transfers");
}

static void h43(const struct weir_inputs *f, struct weir_finding *out)
{
    double wrong = f->service.stale;

    if (wrong > 0)
        weir_finding_set(out, wrong, "%.0f transfers did not return the data that other tasks had "
                                     "just written", wrong);
    else if (!isnan(wrong))
        weir_finding_set(out, 0, "all reads returned the data that other tasks had just written");
}

const struct weir_rule weir_rules_objects[] = {
    { WEIR_RULE("H39", 24, "how often the bytes of an object are read since it was written",
                "times"),
      .brief = "objects read %.2g times",
      WEIR_RULE_AT5(1, SUSPECT, SUSPECT, INVALID, SUSPECT, NOTE),
      .measure = h39, .needs = WEIR_NEEDS_OBJECTS | WEIR_NEEDS_READS,
      .unknown = "the program does not report the size of the objects",
      .means = "later reads of an object can come from memory of the servers",
      .remedy = "write new objects for each repetition, or more data than the memory of the "
                "servers" },
    { WEIR_RULE("H40", 26, "data that are read from a service against the memory of its servers",
                "x memory"),
      .brief = "data are %.2g x server memory", .below = true,
      WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h40, .needs = WEIR_NEEDS_OBJECTS | WEIR_NEEDS_READS,
      .unknown = "the memory of the servers is not known",
      .means = "the servers can have the data in memory",
      .remedy = "make the data larger than the memory of all servers, or report a cached rate" },
    { WEIR_RULE("H41", 0, "tasks that use the only endpoint of a service", "tasks"),
      .brief = "tasks on one endpoint: %.0f", WEIR_RULE_AT(1, NOTE, NOTE, NOTE, NOTE),
      .measure = h41, .needs = WEIR_NEEDS_OBJECTS,
      .unknown = "the backend does not report the number of endpoints",
      .means = "one endpoint can limit the rate",
      .remedy = "give all endpoints, so that tasks share them" },
    { WEIR_RULE("H42", 0, "transfers in flight for each connection of a task to a service",
                "transfers"),
      .brief = "%.2g transfers a connection", WEIR_RULE_AT(1, NOTE, NOTE, NOTE, NOTE),
      .measure = h42, .needs = WEIR_NEEDS_OBJECTS,
      .unknown = "the backend does not report the number of connections of a task",
      .means = "with HTTP/1.1 a transfer waits for a free connection",
      .remedy = "allow as many connections as --depth has transfers" },
    { WEIR_RULE("H43", 38,
                "transfers of objects that did not have what other tasks had just written",
                "transfers"),
      .brief = "transfers with old data: %.0f",
      WEIR_RULE_AT5(0, SUSPECT, INVALID, INVALID, SUSPECT, INVALID),
      .measure = h43, .needs = WEIR_NEEDS_OBJECTS | WEIR_NEEDS_READS,
      .unknown = "no phase checks data (-R) that other tasks wrote in this test",
      .means = "data of a confirmed write cannot be read at once",
      .remedy = "ask the operator of the service, or wait before the read phase" },
    { WEIR_RULE("H44", 34, "GPUDirect that goes through memory of the host", "cases"),
      .brief = "GPUDirect is not direct", WEIR_RULE_AT(0, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      WEIR_RULE_VALUE(WEIR_VALUE_IS, indirect),
      .text = "the kernel module for direct transfers is not loaded, so its library copies through "
              "memory of the host",
      .text_not = "the kernel module for direct transfers is loaded",
      .unknown = "no direct transfers with a GPU, or (AMD) no report of how they are done",
      .means = "the rate is that of staged transfers",
      .remedy = "load the kernel module (nvidia_fs)" },
    { .id = NULL }
};
WEIR_RULES_FIT(weir_rules_objects);
