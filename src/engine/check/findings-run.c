/* SPDX-License-Identifier: BSD-3-Clause */
/* findings-run.c - what the rules about the machine and the use of time measure */
#include "config.h"
#include "engine/check/findings-phase.h"

#include <math.h>

/* A share of the phase with the largest one, in percent. */
static bool share(const struct weir_facts_phase *p, size_t offset, const char *none,
                  double *percent, struct weir_finding *out)
{
    if (!p) {
        weir_finding_unknown(out, "%s", none);
        return false;
    }
    *percent = 100 * *(const double *)(const void *)((const char *)p + offset);
    return true;
}

#define SHARE(p, name, none) share(p, offsetof(struct weir_facts_phase, name), none, &x, out)

/* A fact that is yes, no or unknown, with the words for each. */
static void yes_or_no(struct weir_finding *out, int fact, const char *unknown, const char *yes,
                      const char *no)
{
    if (fact < 0)
        weir_finding_unknown(out, "because %s", unknown);
    else
        weir_finding_set(out, fact, "%s", fact ? yes : no);
}

/* ---- where the time goes ---- */

MEASURE(h19)
{
    const struct weir_facts_phase *p = WORST(ANY, tail), *slow = WORST(ANY, slow);
    double x;

    if (f->tasks < 4) {
        weir_finding_unknown(out, "because there are fewer than 4 tasks");
        return;
    }
    if (SHARE(p, tail, weir_no_phase))
        weir_finding_set(out, x, "%.0f %% of a %s phase waited for the last tenth of the tasks", x,
                         p->key);
    if (slow)
        weir_finding_set(out, fmax(100 * slow->slow, p ? 100 * p->tail : 0), "%s",
                         slow->stragglers);
}

MEASURE(h20)
{
    const struct weir_facts_phase *p = WORST(ANY, ends);
    double x;

    if (SHARE(p, ends, weir_no_data))
        weir_finding_set(out, x, "open, close and sync are %.0f %% of a %s phase", x, p->key);
}

MEASURE(h21)
{
    const struct weir_facts_phase *p = WORST(ANY, cpu), *q = WORST(ANY, data);
    double x;

    if (q && (!p || q->data > p->cpu)) {
        x = 100 * q->data;
        weir_finding_set(out, x, "making and checking data is %.0f %% of a %s phase", x, q->key);
    } else if (SHARE(p, cpu, weir_no_phase)) {
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
    else if (SHARE(p, clock, weir_no_phase))
        weir_finding_set(out, x, "the clocks are uncertain by %.2g %% of a %s phase", x, p->key);
}

MEASURE(h24)
{
    if (f->nodes < 2)
        weir_finding_unknown(out, "because there is one node");
    else
        yes_or_no(out, f->apart, "the files were not looked for from another node",
                  "the nodes do not see the same files", "the nodes see the same files");
    if (f->shared != 1 && out->severity == WEIR_INVALID)
        out->severity = WEIR_SUSPECT;
}

MEASURE(h25)
{
    double x = fmax(f->full, f->full_inodes); /* leaves NaN out */

    if (isnan(x))
        weir_finding_unknown(out, "because the backend does not report it");
    else
        weir_finding_set(out, 100 * x, "the file system %s %.0f %% full",
                         f->planned ? "would be" : "is", 100 * x);
    if (f->no_room) {
        weir_finding_set(out, 100 * f->need_of_free, "it does not fit: %s", f->no_room);
        out->severity = WEIR_INVALID;
        out->unit = "% of what is free";
        out->limit = 100;
    }
}

#define OTHERS_LEAST (16e6) /* bytes: less is a log file */

MEASURE(h26)
{
    double cpu = 100 * f->others_cpu;
    double device = !(f->others <= OTHERS_LEAST) ? 100 * f->others_share : 0; /* NaN: not known */

    if (isnan(cpu) && isnan(device))
        weir_finding_unknown(out, "because the phases are too short to look at the processors, and "
                                  "the traffic of others is not known: %s", f->others_why);
    else if (isnan(cpu))
        weir_finding_set(out, device,
                         "others moved %.0f %% of the bytes of the device (the phases are too short "
                         "to look at the processors)", device);
    else if (isnan(device))
        weir_finding_set(out, cpu, "others used %.0f %% of the processors of the tasks; their "
                                   "traffic is not known, because %s", cpu, f->others_why);
    else
        weir_finding_set(out, fmax(cpu, device), "others used %.0f %% of the processors of the "
                                                 "tasks, and moved %.0f %% of the bytes of the "
                                                 "device", cpu, device);
}

MEASURE(h27)
{
    const struct weir_facts_phase *p = WORST(ANY, left);

    if (f->direct == 0)
        weir_finding_set(out, 0, "direct I/O was not asked for");
    else if (f->direct < 0)
        weir_finding_unknown(out, "because the backend does not report it");
    else if (weir_cache_is_known(f, p, weir_no_data, out))
        weir_finding_set(out, 100 * p->left,
                         "%.0f %% of a %s phase with direct I/O came into the page cache",
                         100 * p->left, p->key);
    if (f->direct == 1)
        out->more = f->cache_hides;
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
        yes_or_no(out, f->independent,
                  "the library does not report it, or decides anew for each transfer",
                  "transfers were independent although collective ones were asked for",
                  "transfers were collective");
}

MEASURE(h30)
{
    yes_or_no(out, f->other_layout, "no layout was asked for, or the library does not read it back",
              "the layout is not the one that was asked for",
              "the layout is the one that was asked for");
}

MEASURE(h31)
{
    if (!weir_facts_have(f, WEIR_MOVES_IN))
        weir_finding_unknown(out, "%s", weir_no_read);
    else
        yes_or_no(out, f->foreign, "the size of the files is not known",
                  "the files that are read have another size than the test writes",
                  "the files have the size that the test writes");
}

MEASURE(h33)
{
    if (f->lacks.n < 0)
        weir_finding_unknown(out, "because no results for programs are written");
    else
        weir_finding_set(out, f->lacks.n, "%d %s missing%s%s", f->lacks.n,
                         f->lacks.n == 1 ? "item is" : "items are", f->lacks.n ? ": " : "",
                         f->lacks.names);
}

MEASURE(h34)
{
    const struct weir_facts_phase *p = LEAST(ANY, busy_s);
    double x = p ? p->busy_s / f->resolution_s : NAN;

    if (isnan(x))
        weir_finding_unknown(out, "%s", weir_no_phase);
    else
        weir_finding_set(out, x, "a task worked %.3g times the clock's resolution", x);
}

MEASURE(h35)
{
    if (weir_facts_move_data(f) && f->own_metadata < 0)
        weir_finding_unknown(out, "because no phase looks at metadata");
    else
        yes_or_no(out, f->own_metadata, "the program does not say who made the items",
                  "nodes look at items that they made themselves",
                  "other nodes look at the items than those that made them");
}
