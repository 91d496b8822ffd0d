/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.c - the table of the rules, and the judgement by them */
#include "config.h"
#include "engine/check/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"

#define NONE WEIR_SOUND
#define NOTE WEIR_NOTE
#define SUSPECT WEIR_SUSPECT
#define INVALID WEIR_INVALID

/* The severities of default, jupiter, io500 and snia, with one limit. */
#define AT(limit, d, j, i, s)                                                                      \
    .at = { { d, limit, NULL }, { j, limit, NULL }, { i, limit, NULL }, { s, limit, NULL } }
#define RULE(n, h, w, u) .id = (n), .measure = weir_measure_##h, .what = (w), .unit = (u)

const char *const weir_rule_sets[] = { "default", "jupiter", "io500", "snia", "none", NULL };

const struct weir_rule weir_rules[] = {
    { RULE("H01", h01, "shortest timed phase", "s"),
      .below = true,
      .at = { { NOTE, 1, NULL }, { INVALID, 60, NULL }, { INVALID, 300, NULL }, { NONE, 0, NULL } },
      .worse = { SUSPECT, 0.1, NULL },
      .remedy = "move more data or items, or repeat until a time has passed (minTimeDuration)" },
    { RULE("H02", h02, "data of a node against its memory", "x memory"),
      .below = true,
      .at = { { SUSPECT, 1, NULL },
              { INVALID, 128, "GiB a node" },
              { NONE, 0, NULL },
              { NONE, 0, NULL } },
      .remedy = "make the data of a node larger than its memory, or use direct I/O, or drop the "
                "files from the cache before the read phase" },
    { RULE("H03", h03, "read from the page cache of the reader's node", "%"),
      AT(5, SUSPECT, INVALID, INVALID, SUSPECT),
      .remedy = "read data that another node wrote (-C with several nodes), use direct I/O, or drop "
                "the files from the cache before the read phase" },
    { RULE("H04", h04, "bytes asked for that no block device moved", "%"),
      AT(5, NOTE, NOTE, NOTE, NOTE),
      .remedy = "compare with the rate of the device; the rest was served by memory, or never "
                "stored (holes, compression)" },
    { RULE("H05", h05, "not on storage at the end of the write time", "%"),
      AT(5, SUSPECT, INVALID, INVALID, SUSPECT),
      .remedy = "flush inside the time (ior -e, -Y), or use direct I/O" },
    { RULE("H06", h06, "write phases with nothing that makes data durable", "phases"),
      AT(0, SUSPECT, SUSPECT, INVALID, SUSPECT),
      .remedy = "flush inside the time (ior -e, -Y; mdtest -y, -Y), or use direct I/O" },
    { RULE("H07", h07, "tasks that read what their own node wrote", "%"),
      AT(0, SUSPECT, INVALID, INVALID, NONE),
      .remedy = "let another node read it: -C, with a -Q that is no multiple of the nodes" },
    { RULE("H08", h08, "data that no task reads, because other data are read twice", "%"),
      AT(0, NOTE, SUSPECT, INVALID, NONE),
      .remedy = "use -Z twice, which is a permutation, or -C" },
    { RULE("H09", h09, "placement that is uneven, or a -Q that leads to the same node",
           "cases"),
      AT(0, SUSPECT, INVALID, INVALID, NONE),
      .remedy = "place the same number of tasks on each node; -Q counts nodes, not tasks" },
    { RULE("H10", h10, "best rate against what the hardware can do", "x bound"),
      AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "look for a cache: such a rate cannot come from storage" },
    { RULE("H11", h11, "random reads against sequential ones of the same files", "x sequential"),
      AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "look for a cache, on clients or servers: make the data larger, or drop the caches" },
    { RULE("H12", h12, "random blocks that are drawn again", "%"),
      AT(5, NOTE, SUSPECT, INVALID, SUSPECT),
      .remedy = "use -z once, which visits every block once, or more blocks than transfers" },
    { RULE("H13", h13, "data that can be, or are, compressed or deduplicated", "kinds"),
      AT(0, NOTE, NOTE, INVALID, SUSPECT),
      .remedy = "write random data (-l random, or -l signature), to a file system that does not "
                "compress" },
    { RULE("H14", h14, "allocated or written bytes of the files against their size", "%"),
      .below = true,
      AT(95, SUSPECT, SUSPECT, INVALID, SUSPECT),
      .remedy = "the file system compresses, delays or leaves out blocks: write random data, flush, "
                "and read what was written before" },
    { RULE("H15", h15, "repetitions, and how far they differ", "repetitions"),
      .below = true,
      AT(3, NOTE, INVALID, NONE, NONE),
      .remedy = "repeat the test (-i) until the interval of the median is narrow; what differs "
                "between runs, repetitions of one run do not show" },
    { RULE("H16", h16, "drift of the repetitions, or a gap between two groups, of their range", "%"),
      AT(70, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "do not use one number for it: find what changes with time, or tells the groups "
                "apart" },
    { RULE("H17", h17, "change of the rate inside a phase", "%"),
      AT(20, NOTE, NOTE, NOTE, INVALID),
      .remedy = "run longer, and leave out the time before the steady state" },
    { RULE("H18", h18, "first repetition against the others", "interquartile ranges"),
      AT(3, NOTE, NOTE, NOTE, NOTE),
      .remedy = "leave the first repetition out, or make all repetitions cold" },
    { RULE("H19", h19, "time that was spent waiting for the last tenth of the tasks", "%"),
      AT(20, SUSPECT, SUSPECT, NOTE, SUSPECT),
      .remedy = "find the slow tasks in the file of the ranks" },
    { RULE("H20", h20, "open, close and sync", "% of the time"),
      AT(20, NOTE, NOTE, NOTE, NOTE),
      .remedy = "move more data for each file, or state that the rate includes them" },
    { RULE("H21", h21, "user time, or time to make and check data", "% of the time"),
      AT(70, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "the processor is the limit: use more nodes, or larger transfers" },
    { RULE("H22", h22, "tasks for each core that they may use", "tasks"),
      AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "use fewer tasks on a node, or bind them to more cores" },
    { RULE("H23", h23, "uncertainty of the common clock", "% of a phase"),
      AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "make the phases longer" },
    { RULE("H24", h24, "file system that is local to each node", "cases"),
      AT(0, INVALID, INVALID, INVALID, NONE),
      .remedy = "use a directory of a file system that all nodes share" },
    { RULE("H25", h25, "use of the file system or of its inodes", "%"),
      AT(90, NOTE, NOTE, NOTE, NOTE),
      .remedy = "make room: file systems slow down when they are nearly full" },
    { RULE("H26", h26, "bytes of the device that others moved, or processors that they used", "%"),
      AT(100 * WEIR_OTHERS_SHARE, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .remedy = "use nodes that are not shared with other jobs" },
    { RULE("H27", h27, "in the page cache although direct I/O was asked for", "%"),
      AT(5, SUSPECT, INVALID, SUSPECT, INVALID),
      .remedy = "the file system takes direct I/O for buffered I/O: use another one, or larger "
                "aligned transfers" },
    { RULE("H28", h28, "short transfers, and calls that were tried again", "calls"),
      AT(0, NOTE, NOTE, NOTE, NOTE),
      .remedy = "look for a full or interrupted file system" },
    { RULE("H29", h29, "independent transfers where collective ones were asked for", "cases"),
      AT(0, SUSPECT, SUSPECT, SUSPECT, NONE),
      .remedy = "look at the hints in effect (romio_cb_read, romio_cb_write)" },
    { RULE("H30", h30, "layout that is not what was asked for", "cases"),
      AT(0, SUSPECT, SUSPECT, SUSPECT, NONE),
      .remedy = "remove the old files: a layout is chosen when a file is made" },
    { RULE("H31", h31, "files that were written with other parameters", "cases"),
      AT(0, NOTE, SUSPECT, INVALID, NONE),
      .remedy = "read what the same options wrote, best in the same run" },
    { RULE("H33", h33, "items that a reader needs and the results do not have", "items"),
      .data_only = true,
      AT(0, NOTE, NOTE, NOTE, NOTE),
      .remedy = "say in words: kernel, mount options, layout and binding of the tasks" },
    { RULE("H34", h34, "time that a task worked against the resolution of the clock",
           "x resolution"),
      .below = true,
      AT(1000, NOTE, NOTE, NOTE, NOTE),
      .remedy = "do more operations for each task" },
    { RULE("H35", h35, "phases in which a node looks at what it made itself", "phases"),
      AT(0, SUSPECT, SUSPECT, INVALID, NONE),
      .remedy = "let another node look at it (mdtest -N with the tasks of a node, on several "
                "nodes)" },
    { .id = NULL },
};

_Static_assert(sizeof(weir_rules) / sizeof(*weir_rules) == WEIR_RULES + 1, "WEIR_RULES");

/* ---- names ---- */

int weir_rule_set_find(const char *name)
{
    for (int i = 0; weir_rule_sets[i]; i++)
        if (strcasecmp(name, weir_rule_sets[i]) == 0)
            return i;
    return -1;
}

const char *weir_severity_name(enum weir_severity severity)
{
    static const char *const names[] = { "none", "NOTE", "SUSPECT", "INVALID" };

    return names[severity];
}

const char *weir_verdict_name(enum weir_severity worst)
{
    return worst < WEIR_SUSPECT ? "SOUND" : weir_severity_name(worst);
}

/* ---- limits ---- */

static int find_rule(const char *id, size_t len)
{
    for (int i = 0; weir_rules[i].id; i++)
        if (strlen(weir_rules[i].id) == len && strncasecmp(weir_rules[i].id, id, len) == 0)
            return i;
    return -1;
}

static int parse_limit(struct weir_limits *l, const char *word, size_t len, struct weir_err *err)
{
    size_t id = strcspn(word, ":,+");
    int i = find_rule(word, id);
    const char *end = word;
    double value = NAN;

    if (i < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --limit: '%.*s' names no rule; rules are H01 to H35", (int)len,
                           word);
    if (word[id] == ':')
        end = weir_real_scan(word + id + 1, &value);
    if (end == word + id + 1 || end != word + len || !isfinite(value) || value < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --limit: '%.*s' is not ID:NUMBER, like H01:30 (unit: %s)",
                           (int)len, word, weir_rules[i].unit);
    l->limit[i] = value;
    return 0;
}

int weir_limits_parse(struct weir_limits *l, const char *text, struct weir_err *err)
{
    for (int i = 0; i < WEIR_RULES; i++)
        l->limit[i] = NAN;
    for (bool more = text && *text; more;) {
        size_t len = strcspn(text, ",+"); /* a script has other plans with commas */

        if (parse_limit(l, text, len, err) < 0)
            return -1;
        more = text[len] != '\0';
        text += len + more;
    }
    return 0;
}

/* ---- judgement ---- */

void weir_finding_set(struct weir_finding *out, double value, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(out->text, sizeof(out->text), fmt, ap);
    va_end(ap);
    out->value = value;
    out->outcome = WEIR_FINE; /* until it is compared */
}

void weir_finding_unknown(struct weir_finding *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(out->text, sizeof(out->text), fmt, ap);
    va_end(ap);
    out->value = NAN;
    out->outcome = WEIR_NOT_JUDGED;
}

static bool is_beyond(const struct weir_finding *f, double limit)
{
    return f->below ? f->value < limit : f->value > limit;
}

static void judge(const struct weir_facts *f, const struct weir_rule *r, enum weir_rule_set set,
                  double own_limit, struct weir_finding *out)
{
    const struct weir_level *at = &r->at[set];

    *out = (struct weir_finding) { .rule = r,
                                   .set = set,
                                   .below = r->below,
                                   .severity = at->severity,
                                   .limit = isnan(own_limit) ? at->limit : own_limit,
                                   .unit = at->unit ? at->unit : r->unit };
    r->measure(f, out);
    if (out->outcome == WEIR_NOT_JUDGED)
        return;
    if (is_beyond(out, out->limit))
        out->outcome = WEIR_FOUND;
    if (out->outcome == WEIR_FOUND && set == WEIR_RULES_DEFAULT && r->worse.severity != NONE &&
        is_beyond(out, r->worse.limit)) {
        out->severity = r->worse.severity;
        out->limit = isnan(own_limit) ? r->worse.limit : own_limit;
    }
    if (out->outcome == WEIR_FINE && out->more)
        weir_finding_unknown(out, "because %s", out->more);
}

int weir_findings_judge(const struct weir_facts *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_finding out[WEIR_RULES])
{
    int n = 0;

    if (set >= WEIR_RULES_NONE)
        return 0;
    for (int i = 0; weir_rules[i].id; i++)
        if (weir_rules[i].at[set].severity != NONE)
            judge(f, &weir_rules[i], set, limits ? limits->limit[i] : NAN, &out[n++]);
    return n;
}

enum weir_severity weir_findings_worst(const struct weir_finding *list, int n)
{
    enum weir_severity worst = WEIR_SOUND;

    for (int i = 0; i < n; i++)
        if (list[i].outcome == WEIR_FOUND && list[i].severity > worst)
            worst = list[i].severity;
    return worst;
}
