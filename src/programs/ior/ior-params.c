/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-params.c - the values of all options: the block "Parameters" and one by option
 * name */
#include "config.h"
#include "programs/ior/ior.h"

#include <string.h>

#include "base/node/machine.h"
#include "base/options/option.h"
#include "engine/about/banner.h"

/* What old readers find, in their order. Most are keys of options; report_special tells the
 * rest. */
static const char *const parameters[] = {
    "testID", "refnum", "api", "platform", "testFileName", "deadlineForStonewall",
    "stoneWallingWearOut", "maxTimeDuration", "outlierThreshold", "options", "dryRun", "nodes",
    "memoryPerTask", "memoryPerNode", "tasksPerNode", "repetitions", "multiFile", "interTestDelay",
    "fsync", "fsyncperwrite", "useExistingTestFile", "uniqueDir", "singleXferAttempt", "readFile",
    "writeFile", "filePerProc", "reorderTasks", "reorderTasksRandom", "reorderTasksRandomSeed",
    "randomOffset", "checkWrite", "checkRead", "dataPacketType", "keepFile", "keepFileWithError",
    "warningAsErrors", "verbose", "data packet type", "setTimeStampSignature/incompressibleSeed",
    "collective", "segmentCount", "transferSize", "blockSize"
};

/* Options that they know by another name. */
static const char *const renamed[][2] = {
    { "testFileName", "testFile" },
    { "deadlineForStonewall", "deadlineForStonewalling" },
    { "setTimeStampSignature/incompressibleSeed", "setTimeStampSignature" },
};

static const struct weir_opt *row_of(const struct weir_run *run, const char *name)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
        if (strcmp(renamed[i][0], name) == 0)
            name = renamed[i][1];
    return weir_opt_row_of(run->test->values->rows, name);
}

static void report_platform(struct weir_report *r, unsigned readers, const struct ior_options *o)
{
    struct weir_str text = { 0 };

    if (o->platform)
        weir_str_addf(&text, "%s", o->platform);
    else if (!weir_machine_name(&text))
        return;
    weir_report_str(r, readers, "platform", weir_str_text(&text));
    weir_report_free(r, &text);
}

/* What has no option of its own, or another form than its option; false: this has. */
static bool report_special(struct weir_run *run, const struct ior_test *t, unsigned readers,
                           const char *name)
{
    static const char letters[] = { [WEIR_PACKET_TIMESTAMP] = 't',
                                    [WEIR_PACKET_OFFSET] = 'o',
                                    [WEIR_PACKET_INCOMPRESSIBLE] = 'i',
                                    [WEIR_PACKET_RANDOM] = 'r',
                                    [WEIR_PACKET_SIGNATURE] = 's' };
    const char letter[2] = { letters[t->data.content.pattern.packet], '\0' };
    struct weir_report *r = &run->report;

    if (strcmp(name, "testID") == 0)
        weir_report_int(r, readers, name, run->test->id);
    else if (strcmp(name, "platform") == 0)
        report_platform(r, readers, t->o);
    else if (strcmp(name, "options") == 0)
        weir_report_str(r, readers, name, "");
    else if (strcmp(name, "nodes") == 0)
        weir_report_int(r, readers, name, run->par.nodes);
    else if (strcmp(name, "tasksPerNode") == 0)
        weir_report_int(r, readers, name, run->par.per_node_max);
    else if (strcmp(name, "memoryPerNode") == 0)
        weir_report_int(r, readers, name,
                        t->o->memory_per_node ? t->memory.bytes * run->par.per_node_max : 0);
    else if (strcmp(name, "dataPacketType") == 0)
        weir_report_int(r, readers, name, t->data.content.pattern.packet);
    else if (strcmp(name, "data packet type") == 0)
        weir_report_str(r, readers, name, letter);
    else
        return false;
    return true;
}

static void report_known(struct weir_run *run, const struct ior_test *t, unsigned readers)
{
    struct weir_report *r = &run->report;

    weir_report_enter(r, "Parameters", false);
    if (readers & WEIR_FOR_TEXT)
        weir_report_line(r, "\nParameters: ");
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
        if (!report_special(run, t, readers, parameters[i]))
            weir_banner_option(run, readers, parameters[i], row_of(run, parameters[i]), t->o);
    weir_report_leave(r);
}

void ior_report_parameters(struct weir_run *run, const struct ior_test *t)
{
    report_known(run, t, run->log.verbose >= 3 ? WEIR_FOR_ALL : WEIR_FOR_DATA);
    weir_banner_values(run);
}
