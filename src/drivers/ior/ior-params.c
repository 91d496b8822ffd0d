/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-params.c - the values of all options: the block "Parameters" (ior.md 7.2) and one by option
 * name */
#include "config.h"
#include "drivers/ior/ior.h"

#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/opt.h"
#include "engine/banner.h"

static const struct weir_opt *find_row(const struct weir_opt *rows, const char *key)
{
    for (; rows->name || rows->key || rows->letter; rows++)
        if ((rows->key && strcasecmp(rows->key, key) == 0) ||
            (rows->key2 && strcasecmp(rows->key2, key) == 0))
            return rows;
    return NULL;
}

/* What old readers find, in their order. Most are keys of options; report_special tells the rest. */
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

static const struct weir_opt *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
        if (strcmp(renamed[i][0], name) == 0)
            name = renamed[i][1];
    return find_row(weir_ior.opts, name);
}

/* The host's name without trailing digits and the system's: the machine, not the node. */
static void report_platform(struct weir_report *r, unsigned readers, const struct ior_options *o)
{
    struct weir_str text = { 0 };
    struct utsname u;
    size_t len;

    if (o->platform) {
        weir_report_str(r, readers, "platform", o->platform);
        return;
    }
    if (uname(&u) < 0)
        return;
    len = strlen(u.nodename);
    while (len > 0 && u.nodename[len - 1] >= '0' && u.nodename[len - 1] <= '9')
        len--;
    weir_str_add(&text, u.nodename, len);
    weir_str_addf(&text, "(%s)", u.sysname);
    weir_report_str(r, readers, "platform", weir_str_text(&text));
    weir_str_free(&text);
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
            weir_banner_option(run, readers, parameters[i], row_of(parameters[i]), t->o);
    weir_report_leave(r);
}

static void report_table(struct weir_run *run, const char *prefix, const struct weir_opt *rows,
                         const void *values)
{
    struct weir_str name = { 0 };

    for (; rows && (rows->name || rows->key || rows->letter); rows++) {
        if (rows->type > WEIR_OPT_STR)
            continue;
        weir_str_clear(&name);
        weir_str_addf(&name, "%s%s", prefix, rows->name ? rows->name : rows->key);
        weir_banner_option(run, WEIR_FOR_DATA, weir_str_text(&name), rows, values);
    }
    weir_str_free(&name);
}

void ior_report_parameters(struct weir_run *run, const struct ior_test *t)
{
    report_known(run, t, run->log.verbose >= 3 ? WEIR_FOR_ALL : WEIR_FOR_DATA);
    weir_report_enter(&run->report, "optionValues", false);
    report_table(run, "", weir_ior.opts, t->o);
    report_table(run, t->be->prefix, t->be->opts, t->be_opt.own);
    if (t->be->base)
        report_table(run, t->be->base->prefix, t->be->base->opts, t->be_opt.base);
    weir_report_leave(&run->report);
}
