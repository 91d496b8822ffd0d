/* SPDX-License-Identifier: BSD-3-Clause */
/* rules-data.c - the rules H01 to H14: time, size, caches, rates and data */
#include "base/node/environment.h"
#include "engine/check/rules.h"

#include <math.h>
#include <string.h>

#define COLD 0.05 /* of the bytes, at most, that memory serves or keeps */

/* ---- time, size, caches ---- */

static bool writes_or_makes(const struct weir_inputs_phase *p)
{
    return (p->moves & WEIR_MOVES_OUT) || p->makes;
}

static bool reads(const struct weir_inputs_phase *p)
{
    return p->moves & WEIR_MOVES_IN;
}

static bool only_reads(const struct weir_inputs_phase *p)
{
    return p->moves == WEIR_MOVES_IN;
}

/* IO500 has a limit for write phases only. */
static void h01(const struct weir_inputs *f, struct weir_finding *out)
{
    bool writes = out->set == WEIR_RULES_IO500;
    const struct weir_inputs_phase *p = WEIR_LEAST(f, shortest_s, writes ? writes_or_makes : NULL);

    if (p)
        weir_finding_set(out, p->shortest_s, "a %s phase %s %.3g s", p->key,
                         f->planned ? "would take" : "took", p->shortest_s);
    else if (writes && f->phases > 0)
        weir_finding_unknown(out, "no phase writes data or makes items");
}

/* Words on what can serve few data that another node wrote. */
static const char *what_may_serve(const struct weir_inputs *f)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, cached, reads);

    if (f->planned || !(f->own_node == 0) || !weir_inputs_have(f, WEIR_MOVES_IN) ||
        (p && p->cached > COLD))
        return "";
    return p ? "; another node wrote what it read, and its page cache did not have it, but a cache of "
               "the storage may"
             : "; another node wrote what it read, but a cache of the storage may have it";
}

static void h02(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, bytes, NULL);
    double node = p ? p->bytes / f->tasks * f->per_node_max : 0;

    if (node <= 0)
        weir_finding_unknown(out, WEIR_NO_DATA);
    else if (f->stores == 0)
        weir_finding_unknown(out, WEIR_NOT_STORED);
    else if (out->set == WEIR_RULES_JUPITER)
        weir_finding_set(out, node / WEIR_GIB, out->brief = "%.3g GiB of data per node",
                         node / WEIR_GIB);
    else if (f->objects)
        weir_finding_unknown(out, WEIR_OBJECTS);
    else if (f->intercepted)
        weir_finding_unknown(out, WEIR_INTERCEPTED);
    else if (!weir_inputs_have(f, WEIR_MOVES_IN) && f->durable == 1)
        weir_finding_unknown(out, "nothing is read, and writes are flushed in the measured time "
                                  "(H05 checks this)");
    else if (f->direct == 1 || f->evicted)
        weir_finding_set(out, NAN, "the page cache is not used");
    else if (!isnan(f->memory))
        weir_finding_set(out, node / f->memory, "each node's data are %.*g %% of its memory size%s",
                         node < f->memory ? 2 : 4, 100 * node / f->memory,
                         node < f->memory ? what_may_serve(f) : "");
}

/* True for a file system that is only in memory. */
static bool is_in_memory(const struct weir_inputs *f)
{
    return strcmp(f->file_system, "tmpfs") == 0 || strcmp(f->file_system, "ramfs") == 0;
}

static void h03(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, cached, reads);
    bool memory = is_in_memory(f);

    if (p)
        weir_finding_set(
            out, 100 * p->cached, "%.0f %% of the bytes read %s in this node's page cache%s%s%s",
            100 * p->cached, f->planned ? "would be" : "were", memory ? " (" : "",
            memory ? f->file_system : "", memory ? " is memory)" : "");
    else if (f->direct == 1 && weir_inputs_have(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "direct I/O bypasses the page cache (H27 checks this)");
}

/* True when nothing that is known keeps the bytes of this phase in memory. They were not there
 * before, or the system does not know the reader, or they were made durable in the time. */
static bool is_cold(const struct weir_inputs *f, const struct weir_inputs_phase *p)
{
    bool read = p->cached <= COLD || (isnan(p->cached) && p->unseen);
    bool written = f->durable == 1 && !(p->dirty > COLD);

    if (f->direct == 1)
        return !(p->left > COLD);
    return (read || !(p->moves & WEIR_MOVES_IN)) && (written || !(p->moves & WEIR_MOVES_OUT));
}

/* Return the phase with the smallest fraction of bytes that reached a device. out: only phases
 * that write; cold: only those whose bytes ought to have reached one. */
static const struct weir_inputs_phase *least_reached(const struct weir_inputs *f, bool out, bool cold)
{
    const struct weir_inputs_phase *p = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_inputs_phase *q = &f->phase[i];

        if (q->asked > 0 && (!out || q->moves == WEIR_MOVES_OUT) && (!cold || is_cold(f, q)) &&
            (!p || q->reached * p->asked < p->reached * q->asked))
            p = q;
    }
    return p;
}

static bool is_less_than_half(const struct weir_inputs_phase *p)
{
    return p && 2 * p->reached < p->asked;
}

/* Return why the bytes should have reached the device. */
static const char *why_all(const struct weir_inputs *f, const struct weir_inputs_phase *p)
{
    if (f->direct == 1)
        return ", though direct I/O was asked for";
    if (p->moves == WEIR_MOVES_OUT)
        return ", though it made them durable";
    if (p->moves == WEIR_MOVES_BOTH && !p->unseen)
        return ", though the page cache did not have those that it read, and it made the others durable";
    return p->unseen ? ", and this user cannot see whether the page cache had the rest"
                     : ", though the page cache did not have them";
}

static void h04(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *cold = least_reached(f, false, true);
    bool gone = is_less_than_half(cold);
    const struct weir_inputs_phase *p = gone ? cold : least_reached(f, false, false);

    if (gone)
        weir_finding_suspect(out);
    if (!p && f->repeated)
        weir_finding_unknown(out, "the page cache serves repeated passes over the files");
    if (p)
        weir_finding_set(out, fmax(0, 100 * (1 - p->reached / p->asked)),
                         "a block device moved %.0f %% of the bytes of a %s phase%s%s",
                         100 * p->reached / p->asked, p->key, gone ? why_all(f, p) : "",
                         gone && f->image ? " (the files are in an image)" : "");
}

/* In memory no page is ever dirty. */
static void h05(const struct weir_inputs *f, struct weir_finding *out)
{
    if (!WEIR_MOST(f, dirty, NULL) || !is_in_memory(f))
        return;
    weir_finding_set(out, 100, "all written data are in memory only: %s is a file system in memory",
                     f->file_system);
    if (f->durable == 1)
        out->brief = "written to memory only";
}

/* A service answers a write when the data are durable. */
static void h06(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->objects)
        weir_finding_set(out, 0, "the service has confirmed each write, so the data are durable");
}

/* On one node there is no other way, and the rules of JUPITER order runs on one node, too; of several that are one kernel
 * MPI says that there is. */
static void h07(const struct weir_inputs *f, struct weir_finding *out)
{
    if (f->objects && out->set == WEIR_RULES_DEFAULT)
        weir_finding_unknown(out, WEIR_OBJECTS);
    else if (f->nodes < 2 && f->mpi_nodes < 2 && (out->set == WEIR_RULES_DEFAULT || out->set == WEIR_RULES_JUPITER))
        weir_finding_unknown(out, WEIR_ONE_NODE);
}

static void h09(const struct weir_inputs *f, struct weir_finding *out)
{
    bool here = f->distance == 0 && f->nodes > 1; /* a -Q that is a multiple of the nodes */

    if (here && !(f->own_node < 1)) {
        weir_finding_set(out, 1, "-Q is a multiple of the nodes: tasks read what their own node wrote");
        out->brief = "-Q leads to the same node";
    } else if (here && !f->uneven) { /* see ior_shift */
        weir_finding_set(out, 1, "-Q shifts by tasks, not by nodes: %.0f %% of the tasks read what "
                                 "their own node wrote", 100 * f->own_node);
        out->brief = "-Q shifts by tasks";
        if (f->own_node == 0) /* as it was meant */
            out->severity = WEIR_NOTE;
    } else {
        weir_finding_set(out, f->uneven, "nodes have %s of tasks",
                         f->uneven ? "different numbers" : "the same number");
    }
}

/* ---- rates and data ---- */

static const char *what_binds(const struct weir_inputs *f)
{
    if (f->on_network && isnan(f->link_rate))
        return "memory can do (the speed of the links is not known)";
    return f->link_rate < f->memcpy_rate / 2 ? "the links of the nodes can do" : "memory can do";
}

static void h10(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, rate, NULL);
    double bound = fmin(f->memcpy_rate / 2, f->link_rate) * f->nodes; /* fmin leaves NaN out */

    if (!p) {
        weir_finding_unknown(out, "no rate was measured");
    } else if (f->peak > 0 && p->rate > f->peak) {
        weir_finding_set(out, p->rate / f->peak, "the rate of %s is %.2g times --peak", p->key,
                         p->rate / f->peak);
        out->brief = "rate %.2g x --peak";
        out->severity = WEIR_INVALID;
    } else if (!isnan(bound)) {
        weir_finding_set(out, p->rate / bound, "the rate of %s is %.2g times what %s", p->key,
                         p->rate / bound, what_binds(f));
    }
}

static void h11(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = WEIR_MOST(f, rate, only_reads);

    if (f->random != 1 || !p)
        weir_finding_unknown(out, "no phase reads at random offsets");
    else if (!isnan(f->sequential_rate))
        weir_finding_set(out, p->rate / f->sequential_rate,
                         "random reads are %.2g times as fast as sequential ones",
                         p->rate / f->sequential_rate);
}

static bool is_filtered(const struct weir_inputs *f)
{
    return f->filtered < 1 - COLD;
}

/* True when a library, the file system or the device stores less than it is given. In words. */
static bool is_reduced(const struct weir_inputs *f, struct weir_finding *out)
{
    const struct weir_inputs_phase *p = least_reached(f, true, true);

    if (is_filtered(f))
        weir_finding_set(out, 1,
                         "filters of HDF5 left %.3g %% of the bytes: the rate is not that of the "
                         "storage",
                         100 * f->filtered);
    else if (f->compressed > COLD)
        weir_finding_set(out, 1, "%.0f %% of the bytes are compressed on the device",
                         100 * f->compressed);
    else if (f->compresses && weir_inputs_have(f, WEIR_MOVES_OUT))
        weir_finding_set(out, 1, "the file system is mounted with %s", f->compresses);
    else if (is_less_than_half(p))
        weir_finding_set(out, 1, "a device moved only %.0f %% of the bytes of a %s phase",
                         100 * p->reached / p->asked, p->key);
    else
        return false;
    return true;
}

static void h13(const struct weir_inputs *f, struct weir_finding *out)
{
    bool repeated = f->data_kind == WEIR_DATA_REPEATED;
    bool declared = f->ratio.compress > WEIR_RATIO_ONE || f->ratio.dedupe > WEIR_RATIO_ONE;

    out->is_usual = repeated;
    if (declared && !is_filtered(f) && weir_inputs_have(f, WEIR_MOVES_OUT)) {
        weir_finding_set(out, 1,
                         "the data written compress by %.4g and have each block %.4g times, as was "
                         "asked for",
                         (double)f->ratio.compress / WEIR_RATIO_ONE,
                         (double)f->ratio.dedupe / WEIR_RATIO_ONE);
        out->brief = "data made to compress";
    } else if (f->stores != 0 && is_reduced(f, out)) {
        weir_finding_suspect(out);
        out->brief = "data are compressed";
    } else if (!weir_inputs_have(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, WEIR_NO_WRITE);
    else if (f->data_kind != WEIR_DATA_UNKNOWN)
        weir_finding_set(out, repeated, "the data written %s be compressed or deduplicated%s",
                         repeated ? "can" : "cannot",
                         repeated && f->objects ? ", which a service does unseen" : "");
}

static void h14(const struct weir_inputs *f, struct weir_finding *out)
{
    if (isnan(f->written) || f->allocated < f->written)
        return;
    weir_finding_set(out, 100 * f->written, "%.0f %% of the bytes of the files were written%s",
                     100 * f->written, f->written < 1 ? ", the rest are holes" : "");
    out->brief = "files %.0f %% written";
}

const struct weir_rule weir_rules_data[] = {
    { WEIR_RULE("H01", 20, "shortest timed phase", "s"),
      .brief = "shortest phase %.3g s", .below = true,
      .at = { { WEIR_NOTE, 1, NULL },
              { WEIR_INVALID, 60, NULL },
              { WEIR_INVALID, 300, NULL },
              { WEIR_SOUND, 0, NULL },
              { WEIR_NOTE, 1, NULL } },
      .worse = { WEIR_SUSPECT, 0.1, NULL },
      .measure = h01, .unknown = WEIR_NO_PHASE,
      .means = "the phase is short: buffers and start-up weigh in its rate",
      .remedy = "move more data or items, or repeat for a time (ior -O minTimeDuration=SECONDS)" },
    { WEIR_RULE("H02", 22, "data of a node against its memory", "x memory"),
      .brief = "data are %.2g x memory", .below = true,
      .at = { { WEIR_SUSPECT, 1, NULL },
              { WEIR_INVALID, 128, "GiB a node" },
              { WEIR_SOUND, 0, NULL },
              { WEIR_SOUND, 0, NULL },
              { WEIR_INVALID, 3, NULL } },
      .measure = h02, .needs = WEIR_NEEDS_DATA,
      .unknown = "the memory of the nodes is not known",
      .means = "the memory of a node can hold much of its data, so reads may come from there",
      .remedy = "make the data of a node larger than its memory, use direct I/O, or drop the page "
                "cache before reading" },
    { WEIR_RULE("H03", 36, "read from the page cache of the reader's node", "%"),
      .brief = "%.0f %% read from page cache",
      WEIR_RULE_AT5(5, SUSPECT, INVALID, INVALID, SUSPECT, INVALID),
      .measure = h03, .cached = true, .unknown = WEIR_NO_READ,
      .means = "the read rate is partly that of memory",
      .remedy = "read data that another node wrote (-C with several nodes), use direct I/O, or drop "
                "the page cache before reading" },
    { WEIR_RULE("H04", 30, "bytes asked for that no block device moved", "%"),
      .brief = "%.0f %% reached no device", WEIR_RULE_AT(5, NOTE, NOTE, NOTE, NOTE), .measure = h04,
      .unknown = "it is known of local block file systems only",
      .means = "memory served the rest, or it was never stored (holes, compression)",
      .remedy = "compare with the rate of the device" },
    { WEIR_RULE("H05", 34, "not on storage at the end of the write time", "%"),
      .brief = "not flushed", WEIR_RULE_AT5(5, SUSPECT, INVALID, INVALID, SUSPECT, INVALID),
      .measure = h05, .needs = WEIR_NEEDS_WRITES, WEIR_RULE_PHASE(dirty), .cached = true,
      .text = "%.0f %% of the written data were only in memory at the end of the measured time",
      .unknown = "the kernel does not report which pages are dirty",
      .means = "the write rate is partly that of memory",
      .remedy = "flush inside the time (ior -e, -Y), or use direct I/O" },
    { WEIR_RULE("H06", 32, "write phases with nothing that makes data durable", "phases"),
      .brief = "not flushed", .with = "H05",
      WEIR_RULE_AT5(0, SUSPECT, SUSPECT, INVALID, SUSPECT, INVALID),
      .measure = h06, .needs = WEIR_NEEDS_WRITES | WEIR_NEEDS_STORED,
      WEIR_RULE_VALUE(WEIR_VALUE_IS_NOT, durable),
      .text = "nothing in the write time makes the data durable",
      .text_not = "something in the write time makes the data durable",
      .unknown = "the program does not report whether it flushes",
      .means = "the write rate can be that of memory",
      .remedy = "flush inside the time (ior -e, -Y; mdtest -y, -Y), or use direct I/O" },
    { WEIR_RULE("H07", 14, "tasks that read what their own node wrote", "%"),
      .brief = "%.0f %% read by node that wrote",
      WEIR_RULE_AT5(0, SUSPECT, INVALID, INVALID, SOUND, SOUND),
      .measure = h07, .needs = WEIR_NEEDS_READS, WEIR_RULE_VALUE(WEIR_VALUE_SHARE, own_node),
      .text = "%.0f %% of the tasks read what their own node wrote",
      .unknown = "the program does not report which task wrote the data",
      .means = "such reads can come from memory",
      .remedy = "let another node read the data: -C, with a -Q that is no multiple of the nodes" },
    { WEIR_RULE("H08", 0, "data that no task reads, because other data are read twice", "%"),
      .brief = "%.0f %% of data never read", WEIR_RULE_AT(0, NOTE, SUSPECT, INVALID, SOUND),
      .needs = WEIR_NEEDS_READS, WEIR_RULE_VALUE(WEIR_VALUE_SHARE, unread),
      .text = "%.0f %% of the data are never read, other data are read twice",
      .unknown = "the program does not count what is read twice",
      .means = "what is read twice can come from a cache",
      .remedy = "use -Z twice, which is a permutation, or -C" },
    { WEIR_RULE("H09", 0, "placement that is uneven, or a -Q that leads to the same node", "cases"),
      .brief = "uneven placement", WEIR_RULE_AT(0, SUSPECT, INVALID, INVALID, SOUND),
      .measure = h09,
      .means = "some nodes have more work than others, or read their own data",
      .remedy = "place the same number of tasks on each node; -Q counts nodes, not tasks" },
    { WEIR_RULE("H10", 18, "best rate against what the hardware can do", "x bound"),
      .brief = "rate %.2g x hardware's bound", WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h10, .needs = WEIR_NEEDS_DATA,
      .unknown = "no bound is known",
      .means = "such a rate cannot come from storage",
      .remedy = "look for a cache, on clients or servers" },
    { WEIR_RULE("H11", 16, "random reads against sequential ones of the same files",
                "x sequential"),
      .brief = "random reads %.2g x sequential",
      WEIR_RULE_AT(1, SUSPECT, SUSPECT, SUSPECT, SUSPECT),
      .measure = h11,
      .unknown = "no earlier test reads the same files in order",
      .means = "random reads are rarely faster than sequential ones: a cache served them",
      .remedy = "make the data larger, or drop the caches of clients and servers" },
    { WEIR_RULE("H12", 0, "random blocks that are drawn again", "%"),
      .brief = "%.0f %% of blocks drawn again", WEIR_RULE_AT(5, NOTE, SUSPECT, INVALID, SUSPECT),
      WEIR_RULE_VALUE(WEIR_VALUE_SHARE, repeats),
      .text = "%.0f %% of the random blocks are repeats",
      .unknown = "no blocks are drawn at random",
      .means = "repeated blocks can come from a cache",
      .remedy = "use -z once, which visits every block once, or more blocks than transfers" },
    { WEIR_RULE("H13", 0, "data that can be, or are, compressed or deduplicated", "kinds"),
      .brief = "data can be compressed", WEIR_RULE_AT(0, NOTE, NOTE, INVALID, SUSPECT),
      .measure = h13,
      .unknown = "the program does not report what data it writes",
      .means = "the devices may store fewer bytes than were counted",
      .remedy = "write random data (-l random, or -l signature), to a file system that does not "
                "compress" },
    { WEIR_RULE("H14", 2, "allocated or written bytes of the files against their size", "%"),
      .brief = "files %.0f %% allocated", .below = true,
      WEIR_RULE_AT(95, SUSPECT, SUSPECT, INVALID, SUSPECT),
      .measure = h14, .needs = WEIR_NEEDS_DATA, WEIR_RULE_VALUE(WEIR_VALUE_SHARE, allocated),
      .text = "%.0f %% of the size of the files is allocated",
      .unknown = "the blocks of the files are not known",
      .means = "the file system compresses, delays or leaves out blocks",
      .remedy = "write random data, flush, and read what was written before" },
    { .id = NULL }
};
WEIR_RULES_FIT(weir_rules_data);
