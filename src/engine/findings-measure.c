/* SPDX-License-Identifier: BSD-3-Clause */
/* findings-measure.c - what each rule measures; those of series are in findings-series.c */
#include "config.h"
#include "engine/findings.h"

#include <math.h>
#include <stddef.h>

#define GIB 1073741824.0
#define MEASURE(id) void weir_measure_##id(const struct weir_facts *f, struct weir_finding *out)

/* ---- phases ---- */

#define ANY ((enum weir_moves)(-1))

static const double *field(const struct weir_facts_phase *p, size_t offset)
{
    return (const double *)(const void *)((const char *)p + offset);
}

/* The phase with the largest known value of a field among those that move data this way; NULL: not
 * known of any. */
static const struct weir_facts_phase *worst(const struct weir_facts *f, enum weir_moves moves,
                                            size_t offset)
{
    const struct weir_facts_phase *found = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];

        if ((moves == ANY || p->moves == moves) && !isnan(*field(p, offset)) &&
            (!found || *field(p, offset) > *field(found, offset)))
            found = p;
    }
    return found;
}

#define WORST(moves, name) worst(f, moves, offsetof(struct weir_facts_phase, name))

static const struct weir_facts_phase *least_of(const struct weir_facts *f, enum weir_moves moves,
                                               size_t offset)
{
    const struct weir_facts_phase *found = NULL;

    for (int i = 0; i < f->phases; i++)
        if ((moves == ANY || f->phase[i].moves == moves) && !isnan(*field(&f->phase[i], offset)) &&
            (!found || *field(&f->phase[i], offset) < *field(found, offset)))
            found = &f->phase[i];
    return found;
}

#define LEAST(moves, name) least_of(f, moves, offsetof(struct weir_facts_phase, name))

static bool moves_data(const struct weir_facts *f)
{
    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves != WEIR_MOVES_NOTHING)
            return true;
    return false;
}

static bool has(const struct weir_facts *f, enum weir_moves moves)
{
    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves == moves)
            return true;
    return false;
}

static const char no_phase[] = "because no phase was measured";
static const char no_data[] = "because no phase moves data alone";
static const char no_read[] = "because no phase reads data";
static const char no_write[] = "because no phase writes data";

/* A share of the phase with the largest one, in percent. */
static bool share(const struct weir_facts_phase *p, size_t offset, const char *none, double *percent,
                  struct weir_finding *out)
{
    if (!p) {
        weir_finding_unknown(out, "%s", none);
        return false;
    }
    *percent = 100 * *field(p, offset);
    return true;
}

#define SHARE(p, name, none) share(p, offsetof(struct weir_facts_phase, name), none, &x, out)

/* A fact that is yes, no or unknown. */
static void yes_or_no(struct weir_finding *out, int fact, const char *unknown, const char *text)
{
    if (fact < 0)
        weir_finding_unknown(out, "because %s", unknown);
    else
        weir_finding_set(out, fact, "%s", text);
}

/* ---- time, size, caches ---- */

/* IO500 has a limit for write phases only. */
MEASURE(h01)
{
    const struct weir_facts_phase *p =
        LEAST(out->set == WEIR_RULES_IO500 ? WEIR_MOVES_OUT : ANY, shortest_s);

    if (p)
        weir_finding_set(out, p->shortest_s, "a %s phase took %.3g s", p->key, p->shortest_s);
    else
        weir_finding_unknown(out, "%s", no_phase);
}

MEASURE(h02)
{
    const struct weir_facts_phase *p = WORST(ANY, bytes);
    double node = p ? p->bytes / f->tasks * f->per_node_max : 0;

    if (!moves_data(f) || node <= 0)
        weir_finding_unknown(out, "%s", no_data);
    else if (out->set == WEIR_RULES_JUPITER)
        weir_finding_set(out, node / GIB, "%.3g GiB of data a node", node / GIB);
    else if (f->direct == 1 || f->evicted)
        weir_finding_set(out, NAN, "the page cache is not used");
    else if (isnan(f->memory))
        weir_finding_unknown(out, "because the memory of the nodes is not known");
    else
        weir_finding_set(out, node / f->memory, "the data of a node are %.2g times its memory",
                         node / f->memory);
}

static bool cache_is_known(const struct weir_facts *f, const struct weir_facts_phase *p,
                           const char *none, struct weir_finding *out)
{
    if (p)
        return true;
    weir_finding_unknown(out, "%s%s", f->cache_why && moves_data(f) ? "because " : "",
                         f->cache_why && moves_data(f) ? f->cache_why : none);
    return false;
}

MEASURE(h03)
{
    const struct weir_facts_phase *p = WORST(WEIR_MOVES_IN, cached);

    if (cache_is_known(f, p, no_read, out))
        weir_finding_set(out, 100 * p->cached,
                         "%.0f %% of the bytes read were in this node's page cache",
                         100 * p->cached);
}

MEASURE(h04)
{
    const struct weir_facts_phase *p = WORST(ANY, asked);

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *q = &f->phase[i];

        if (p && q->asked > 0 && q->reached * p->asked < p->reached * q->asked)
            p = q;
    }
    if (!moves_data(f) || !p || p->asked <= 0)
        weir_finding_unknown(out, "because it is known of local block file systems only");
    else
        weir_finding_set(out, fmax(0, 100 * (1 - p->reached / p->asked)),
                         "a block device moved %.0f %% of the bytes of a %s phase",
                         100 * p->reached / p->asked, p->key);
}

MEASURE(h05)
{
    const struct weir_facts_phase *p = WORST(WEIR_MOVES_OUT, dirty);

    if (cache_is_known(f, p, no_write, out))
        weir_finding_set(out, 100 * p->dirty,
                         "%.0f %% of what was written was in memory only at the end of the time",
                         100 * p->dirty);
}

MEASURE(h06)
{
    if (!has(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", no_write);
    else if (f->durable < 0)
        weir_finding_unknown(out, "because the program does not say whether it flushes");
    else
        weir_finding_set(out, !f->durable, "nothing in the write time makes the data durable");
}

MEASURE(h07)
{
    bool one = f->nodes < 2 && out->set == WEIR_RULES_DEFAULT; /* where it cannot be otherwise */

    if (!has(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", no_read);
    else if (isnan(f->own_node))
        weir_finding_unknown(out, "because the program does not say who wrote the data");
    else
        weir_finding_set(out, one ? 0 : 100 * f->own_node,
                         "%.0f %% of the tasks read what their own node wrote", 100 * f->own_node);
}

MEASURE(h08)
{
    if (!has(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", no_read);
    else if (isnan(f->unread))
        weir_finding_unknown(out, "because the program does not count what is read twice");
    else
        weir_finding_set(out, 100 * f->unread, "%.0f %% of the data are never read, others twice",
                         100 * f->unread);
}

MEASURE(h09)
{
    if (f->distance == 0 && f->nodes > 1)
        weir_finding_set(out, 1, "the distance of reader and writer comes to 0 nodes");
    else
        weir_finding_set(out, f->uneven, "nodes have different numbers of tasks");
}

/* ---- rates and data ---- */

MEASURE(h10)
{
    const struct weir_facts_phase *p = WORST(ANY, rate);
    double bound = fmin(f->memcpy_rate / 2, f->link_rate) * f->nodes; /* fmin leaves NaN out */

    if (!moves_data(f)) {
        weir_finding_unknown(out, "%s", no_data);
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
                         "the rate of %s is %.2g times what memory or links can do", p->key,
                         p->rate / bound);
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

MEASURE(h13)
{
    if (!has(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", no_write);
    else if (f->data_kind == WEIR_DATA_UNKNOWN)
        weir_finding_unknown(out, "because the program does not say what it writes");
    else
        weir_finding_set(out, f->data_kind == WEIR_DATA_REPEATED,
                         "the data written can be compressed or deduplicated");
}

MEASURE(h14)
{
    if (!has(f, WEIR_MOVES_OUT))
        weir_finding_unknown(out, "%s", no_write);
    else if (isnan(f->allocated))
        weir_finding_unknown(out, "because the blocks of the files are not known");
    else
        weir_finding_set(out, 100 * f->allocated, "%.0f %% of the size of the files is allocated",
                         100 * f->allocated);
}

/* ---- where the time goes ---- */

MEASURE(h19)
{
    const struct weir_facts_phase *p = WORST(ANY, tail);
    double x;

    if (f->tasks < 4)
        weir_finding_unknown(out, "because there are fewer than 4 tasks");
    else if (SHARE(p, tail, no_phase))
        weir_finding_set(out, x, "%.0f %% of a %s phase waited for the last tenth of the tasks", x,
                         p->key);
}

MEASURE(h20)
{
    const struct weir_facts_phase *p = WORST(ANY, ends);
    double x;

    if (SHARE(p, ends, no_data))
        weir_finding_set(out, x, "open, close and sync are %.0f %% of a %s phase", x, p->key);
}

MEASURE(h21)
{
    const struct weir_facts_phase *p = WORST(ANY, cpu), *q = WORST(ANY, data);
    double x;

    if (p && q && q->data > p->cpu) {
        x = 100 * q->data;
        weir_finding_set(out, x, "making and checking data is %.0f %% of a %s phase", x, q->key);
    } else if (SHARE(p, cpu, no_phase)) {
        weir_finding_set(out, x, "user time is %.0f %% of a %s phase", x, p->key);
    }
}

MEASURE(h22)
{
    if (isnan(f->tasks_per_core))
        weir_finding_unknown(out, "because the cores of the tasks are not known");
    else
        weir_finding_set(out, f->tasks_per_core, "%.3g tasks for each core", f->tasks_per_core);
}

MEASURE(h23)
{
    const struct weir_facts_phase *p = WORST(ANY, clock);
    double x;

    if (f->nodes < 2 && f->tasks < 2)
        weir_finding_set(out, 0, "one clock");
    else if (SHARE(p, clock, no_phase))
        weir_finding_set(out, x, "the clocks are uncertain by %.2g %% of a %s phase", x, p->key);
}

MEASURE(h24)
{
    if (f->nodes < 2)
        weir_finding_unknown(out, "because there is one node");
    else
        yes_or_no(out, f->apart, "nobody looked for the files from another node",
                  "the nodes do not see the same files");
    if (f->shared != 1 && out->severity == WEIR_INVALID)
        out->severity = WEIR_SUSPECT;
}

MEASURE(h25)
{
    double x = fmax(f->full, f->full_inodes); /* leaves NaN out */

    if (isnan(x))
        weir_finding_unknown(out, "because the backend does not tell");
    else
        weir_finding_set(out, 100 * x, "the file system is %.0f %% full", 100 * x);
}

MEASURE(h26)
{
    if (isnan(f->load))
        weir_finding_unknown(out, "because the load is not known");
    else
        weir_finding_set(out, f->load, "a load of %.2g before the test", f->load);
}

MEASURE(h27)
{
    const struct weir_facts_phase *p = WORST(ANY, left);

    if (f->direct == 0)
        weir_finding_set(out, 0, "direct I/O was not asked for");
    else if (f->direct < 0)
        weir_finding_unknown(out, "because the backend does not tell");
    else if (cache_is_known(f, p, no_data, out))
        weir_finding_set(out, 100 * p->left,
                         "%.0f %% of a %s phase with direct I/O are in the page cache",
                         100 * p->left, p->key);
}

MEASURE(h28)
{
    if (isnan(f->retries))
        weir_finding_unknown(out, "because the program has no session that counts them");
    else
        weir_finding_set(out, f->retries, "%.0f short transfers or calls tried again", f->retries);
}

MEASURE(h29)
{
    if (f->collective == 0)
        weir_finding_set(out, 0, "collective transfers were not asked for");
    else
        yes_or_no(out, f->independent, "the library does not tell",
                  "transfers were independent although collective ones were asked for");
}

MEASURE(h30)
{
    yes_or_no(out, f->other_layout, "the layout in use is not read back",
              "the layout is not the one that was asked for");
}

MEASURE(h31)
{
    if (!has(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", no_read);
    else
        yes_or_no(out, f->foreign, "the data do not name their run (-l signature)",
                  "the files were written by another run");
}

MEASURE(h33)
{
    if (f->missing < 0)
        weir_finding_unknown(out, "because no results for programs are written");
    else
        weir_finding_set(out, f->missing, "%d items are missing", f->missing);
}

MEASURE(h34)
{
    const struct weir_facts_phase *p = LEAST(ANY, busy_s);
    double x = p ? p->busy_s / f->resolution_s : NAN;

    if (isnan(x))
        weir_finding_unknown(out, "%s", no_phase);
    else
        weir_finding_set(out, x, "a task worked %.3g times the clock's resolution", x);
}

MEASURE(h35)
{
    if (moves_data(f) && f->own_metadata < 0)
        weir_finding_unknown(out, "because no phase looks at metadata");
    else
        yes_or_no(out, f->own_metadata, "the program does not say who made the items",
                  "nodes look at items that they made themselves");
}
