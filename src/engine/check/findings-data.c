/* SPDX-License-Identifier: BSD-3-Clause */
/* findings-data.c - what the rules about time, caches, rates and data measure */
#include "config.h"
#include "engine/check/findings-phase.h"

#include <math.h>
#include <string.h>

#define GIB 1073741824.0

static const char nothing_stored[] = "because nothing is stored";

/* ---- time, size, caches ---- */

/* The shortest phase that writes data or makes items. */
static const struct weir_facts_phase *shortest_write(const struct weir_facts *f)
{
    const struct weir_facts_phase *found = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];

        if ((p->moves == WEIR_MOVES_OUT || p->makes) && !isnan(p->shortest_s) &&
            (!found || p->shortest_s < found->shortest_s))
            found = p;
    }
    return found;
}

/* IO500 has a limit for write phases only. */
MEASURE(h01)
{
    bool writes = out->set == WEIR_RULES_IO500;
    const struct weir_facts_phase *p = writes ? shortest_write(f) : LEAST(ANY, shortest_s);

    if (!p && writes && f->phases > 0)
        weir_finding_unknown(out, "because no phase writes data or makes items");
    else if (p)
        weir_finding_set(out, p->shortest_s, "a %s phase %s %.3g s", p->key,
                         f->planned ? "would take" : "took", p->shortest_s);
    else
        weir_finding_unknown(out, "%s", weir_no_phase);
}

MEASURE(h02)
{
    const struct weir_facts_phase *p = WORST(ANY, bytes);
    double node = p ? p->bytes / f->tasks * f->per_node_max : 0;

    if (!weir_facts_move_data(f) || node <= 0)
        weir_finding_unknown(out, "%s", weir_no_data);
    else if (f->stores == 0)
        weir_finding_unknown(out, "%s", nothing_stored);
    else if (out->set == WEIR_RULES_JUPITER)
        weir_finding_set(out, node / GIB, "%.3g GiB of data a node", node / GIB);
    else if (!weir_facts_have(f, WEIR_MOVES_IN) && f->durable == 1)
        weir_finding_unknown(out, "because nothing is read, and what is written is flushed in the "
                                  "measured time (H05 has what was not)");
    else if (f->direct == 1 || f->evicted)
        weir_finding_set(out, NAN, "the page cache is not used");
    else if (isnan(f->memory))
        weir_finding_unknown(out, "because the memory of the nodes is not known");
    else
        weir_finding_set(out, node / f->memory, "the data of a node are %.2g times its memory",
                         node / f->memory);
}

/* Its pages are the only place of the data. */
static bool is_in_memory(const struct weir_facts *f)
{
    return strcmp(f->file_system, "tmpfs") == 0 || strcmp(f->file_system, "ramfs") == 0;
}

MEASURE(h03)
{
    const struct weir_facts_phase *p = WORST(WEIR_MOVES_IN, cached);

    if (f->direct == 1 && !p && weir_facts_have(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "because direct I/O reads past the page cache (H27 says whether "
                                  "it does)");
    else if (weir_cache_is_known(f, p, weir_no_read, out))
        weir_finding_set(
            out, 100 * p->cached, "%.0f %% of the bytes read %s in this node's page cache%s%s%s",
            100 * p->cached, f->planned ? "would be" : "were", is_in_memory(f) ? " (" : "",
            is_in_memory(f) ? f->file_system : "", is_in_memory(f) ? " is memory)" : "");
    out->more = f->cache_hides;
}

#define COLD 0.05 /* of the bytes, at most, that memory serves or keeps */

/* Nothing that is known lets the bytes of this phase stay in memory: they were not there before, or
 * the system does not tell who asks, or they were made durable in the time. */
static bool is_cold(const struct weir_facts *f, const struct weir_facts_phase *p)
{
    if (f->direct == 1)
        return !(p->left > COLD);
    if (p->moves == WEIR_MOVES_IN)
        return p->cached <= COLD || (isnan(p->cached) && p->unseen);
    return f->durable == 1 && !(p->dirty > COLD);
}

/* Of those phases of which the bytes ought to have reached a device, or of all. */
static const struct weir_facts_phase *least_reached(const struct weir_facts *f,
                                                    enum weir_moves moves, bool cold)
{
    const struct weir_facts_phase *p = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *q = &f->phase[i];

        if (q->asked > 0 && (moves == ANY || q->moves == moves) && (!cold || is_cold(f, q)) &&
            (!p || q->reached * p->asked < p->reached * q->asked))
            p = q;
    }
    return p;
}

static bool is_less_than_half(const struct weir_facts_phase *p)
{
    return p && 2 * p->reached < p->asked;
}

/* Why they ought to have reached it. */
static const char *why_all(const struct weir_facts *f, const struct weir_facts_phase *p)
{
    if (f->direct == 1)
        return ", though direct I/O was asked for";
    if (p->moves == WEIR_MOVES_OUT)
        return ", though it made them durable";
    return p->unseen ? ", and this user cannot see whether the page cache had the rest"
                     : ", though the page cache did not have them";
}

static void suspect_at_least(struct weir_finding *out)
{
    out->severity = out->severity > WEIR_SUSPECT ? out->severity : WEIR_SUSPECT;
}

MEASURE(h04)
{
    const struct weir_facts_phase *cold = least_reached(f, ANY, true);
    const struct weir_facts_phase *p = least_reached(f, ANY, false);
    bool gone = is_less_than_half(cold);

    if (gone) {
        p = cold;
        suspect_at_least(out);
    }
    if (!p)
        weir_finding_unknown(out, "because it is known of local block file systems only");
    else
        weir_finding_set(out, fmax(0, 100 * (1 - p->reached / p->asked)),
                         "a block device moved %.0f %% of the bytes of a %s phase%s%s",
                         100 * p->reached / p->asked, p->key, gone ? why_all(f, p) : "",
                         gone && f->image ? " (the files are in an image)" : "");
}

MEASURE(h05)
{
    const struct weir_facts_phase *p = WORST(WEIR_MOVES_OUT, dirty);

    if (p && is_in_memory(f)) /* where no page is ever dirty */
        weir_finding_set(out, 100, "all that was written is in memory only: %s is memory",
                         f->file_system);
    else if (!weir_facts_have(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", weir_no_write);
    else if (!p && !f->cache_why)
        weir_finding_unknown(out, "because the kernel does not tell which pages are dirty");
    else if (weir_cache_is_known(f, p, weir_no_write, out))
        weir_finding_set(out, 100 * p->dirty,
                         "%.0f %% of what was written was in memory only at the end of the time",
                         100 * p->dirty);
    out->more = f->cache_hides;
}

MEASURE(h06)
{
    if (!weir_facts_have(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", weir_no_write);
    else if (f->stores == 0)
        weir_finding_unknown(out, "%s", nothing_stored);
    else if (f->durable < 0)
        weir_finding_unknown(out, "because the program does not say whether it flushes");
    else
        weir_finding_set(out, !f->durable, "%s in the write time makes the data durable",
                         f->durable ? "something" : "nothing");
}

MEASURE(h07)
{
    if (!weir_facts_have(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", weir_no_read);
    else if (f->nodes < 2 && out->set == WEIR_RULES_DEFAULT) /* where there is no other way */
        weir_finding_unknown(out, "because there is one node");
    else if (isnan(f->own_node))
        weir_finding_unknown(out, "because the program does not say who wrote the data");
    else
        weir_finding_set(out, 100 * f->own_node,
                         "%.0f %% of the tasks read what their own node wrote", 100 * f->own_node);
}

MEASURE(h08)
{
    if (!weir_facts_have(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", weir_no_read);
    else if (isnan(f->unread))
        weir_finding_unknown(out, "because the program does not count what is read twice");
    else
        weir_finding_set(out, 100 * f->unread, "%.0f %% of the data are never read, others twice",
                         100 * f->unread);
}

MEASURE(h09)
{
    bool here = f->distance == 0 && f->nodes > 1; /* a -Q that is a multiple of the nodes */

    if (here && !(f->own_node < 1)) {
        weir_finding_set(out, 1, "the distance of reader and writer is 0 nodes");
    } else if (here && !f->uneven) { /* see ior_shift */
        weir_finding_set(out, 1,
                         "-Q comes to 0 nodes and shifts by tasks: %.0f %% of them read what "
                         "their own node wrote",
                         100 * f->own_node);
        if (f->own_node == 0) /* as it was meant */
            out->severity = WEIR_NOTE;
    } else {
        weir_finding_set(out, f->uneven, "nodes have %s of tasks",
                         f->uneven ? "different numbers" : "the same number");
    }
}

/* ---- rates and data ---- */

static const char *what_binds(const struct weir_facts *f)
{
    if (f->on_network && isnan(f->link_rate))
        return "memory can do (the speed of the links is not known)";
    return f->link_rate < f->memcpy_rate / 2 ? "the links of the nodes can do" : "memory can do";
}

MEASURE(h10)
{
    const struct weir_facts_phase *p = WORST(ANY, rate);
    double bound = fmin(f->memcpy_rate / 2, f->link_rate) * f->nodes; /* fmin leaves NaN out */

    if (!weir_facts_move_data(f)) {
        weir_finding_unknown(out, "%s", weir_no_data);
    } else if (!p) {
        weir_finding_unknown(out, "because no rate was measured");
    } else if (f->peak > 0 && p->rate > f->peak) {
        weir_finding_set(out, p->rate / f->peak, "the rate of %s is %.2g times --peak", p->key,
                         p->rate / f->peak);
        out->severity = WEIR_INVALID;
    } else if (isnan(bound)) {
        weir_finding_unknown(out, "because no bound is known");
    } else {
        weir_finding_set(out, p->rate / bound,
                         "the rate of %s is %.2g times what %s", p->key, p->rate / bound,
                         what_binds(f));
    }
}

MEASURE(h11)
{
    const struct weir_facts_phase *p = WORST(WEIR_MOVES_IN, rate);

    if (f->random != 1 || !p)
        weir_finding_unknown(out, "because no phase reads at random offsets");
    else if (isnan(f->sequential_rate))
        weir_finding_unknown(out, "because no earlier test reads the same files in order");
    else
        weir_finding_set(out, p->rate / f->sequential_rate,
                         "random reads are %.2g times as fast as sequential ones",
                         p->rate / f->sequential_rate);
}

MEASURE(h12)
{
    if (isnan(f->repeats))
        weir_finding_unknown(out, "because no blocks are drawn at random");
    else
        weir_finding_set(out, 100 * f->repeats, "%.0f %% of the random blocks are repeats",
                         100 * f->repeats);
}

/* Does the file system, or the device, store less than it is given? In words. */
static bool is_reduced(const struct weir_facts *f, struct weir_finding *out)
{
    const struct weir_facts_phase *p = least_reached(f, WEIR_MOVES_OUT, true);

    if (f->compressed > COLD)
        weir_finding_set(out, 1, "%.0f %% of the bytes are compressed on the device",
                         100 * f->compressed);
    else if (f->compresses && weir_facts_have(f, WEIR_MOVES_OUT))
        weir_finding_set(out, 1, "the file system is mounted with %s", f->compresses);
    else if (is_less_than_half(p))
        weir_finding_set(out, 1, "a device moved only %.0f %% of the bytes of a %s phase",
                         100 * p->reached / p->asked, p->key);
    else
        return false;
    return true;
}

MEASURE(h13)
{
    if (f->stores != 0 && is_reduced(f, out))
        suspect_at_least(out);
    else if (!weir_facts_have(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", weir_no_write);
    else if (f->data_kind == WEIR_DATA_UNKNOWN)
        weir_finding_unknown(out, "because the program does not say what it writes");
    else
        weir_finding_set(out, f->data_kind == WEIR_DATA_REPEATED,
                         "the data written %s be compressed or deduplicated",
                         f->data_kind == WEIR_DATA_REPEATED ? "can" : "cannot");
}

MEASURE(h14)
{
    if (!weir_facts_move_data(f))
        weir_finding_unknown(out, "%s", weir_no_data);
    else if (!isnan(f->written) && !(f->allocated < f->written))
        weir_finding_set(out, 100 * f->written, "%.0f %% of the bytes of the files were written%s",
                         100 * f->written, f->written < 1 ? ", the rest are holes" : "");
    else if (isnan(f->allocated))
        weir_finding_unknown(out, "because the blocks of the files are not known");
    else
        weir_finding_set(out, 100 * f->allocated, "%.0f %% of the size of the files is allocated",
                         100 * f->allocated);
}
