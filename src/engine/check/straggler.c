/* SPDX-License-Identifier: BSD-3-Clause */
/* straggler.c - ranks without which a phase would have been shorter */
#include "config.h"
#include "engine/check/straggler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/session/session.h"
#include "engine/phase.h"
#include "engine/test.h"

/* ---- who is one ---- */

/* The gap over the range that one value of n from a normal distribution exceeds in 1 of 100 cases
 * (Dixon 1950, two-sided); n from 3. Strict, for the tails of real times are longer. */
static double critical(int n)
{
    static const double gaps[] = { 0.994, 0.926, 0.821, 0.740, 0.680, 0.634, 0.598, 0.568 };
    const int known = (int)(sizeof(gaps) / sizeof(*gaps));

    return n < 3 ? 1 : gaps[n - 3 < known ? n - 3 : known - 1];
}

int weir_straggler_count(const struct weir_straggler_times *t, double *share)
{
    int most = t->ranks / 4 < WEIR_STRAGGLERS ? t->ranks / 4 : WEIR_STRAGGLERS, found = 0;
    uint64_t widest = 0;

    *share = 0;
    if (t->ranks < WEIR_STRAGGLER_RANKS || t->span == 0)
        return 0;
    for (int k = 1; k <= most; k++)
        if (t->most[k - 1] - t->most[k] > widest) {
            widest = t->most[k - 1] - t->most[k];
            found = k;
        }
    if (found == 0 ||
        (double)widest < critical(t->ranks - found + 1) * (double)(t->most[found - 1] - t->least))
        return 0;
    *share = (double)(t->most[0] - t->most[found]) / (double)t->span;
    return *share < WEIR_STRAGGLER_SHARE ? 0 : found;
}

/* ---- of a phase ---- */

enum { OPEN, WORK, CLOSE, PARTS };
static const char *const part_names[PARTS] = { "open", "work", "close" };

/* The part in which this rank is furthest above the mean of all. */
static const char *worst_part(const uint64_t own[PARTS], const uint64_t sum[PARTS], int ranks)
{
    double most = -1e300;
    int worst = WORK;

    for (int i = 0; i < PARTS; i++) {
        double above = (double)own[i] - (double)sum[i] / ranks;

        if (above > most) {
            most = above;
            worst = i;
        }
    }
    return part_names[worst];
}

/* A number of rounds that all ranks know: the longest time of those that were not found before. */
static void find_longest(struct weir_run *run, uint64_t mine, struct weir_straggler_times *t,
                         int who[WEIR_STRAGGLERS + 1])
{
    bool found = false;

    for (int k = 0; k <= WEIR_STRAGGLERS && k < run->par.size; k++) {
        int64_t ns = found ? -1 : (int64_t)mine;

        who[k] = weir_allmax_rank(&run->par, &ns);
        t->most[k] = (uint64_t)ns;
        found |= who[k] == run->par.rank;
    }
}

/* The kind of call into a backend that took longest on this rank; "" where it is no part of being
 * late: less than half of what the phase would have been shorter. */
static const char *longest_call(const struct weir_run *run, double late_ns, uint64_t *ns)
{
    static const char *const names[WEIR_OPS] = { [WEIR_OP_OPEN] = "open",
                                                 [WEIR_OP_XFER] = "transfer",
                                                 [WEIR_OP_SYNC] = "sync",
                                                 [WEIR_OP_CLOSE] = "close" };
    const char *name = "";

    *ns = 0;
    for (int i = 0; i < run->test->sessions; i++)
        for (int op = 0; op < WEIR_OPS; op++) {
            const struct weir_session_stats *stats = run->test->session[i]->stats;

            if (stats && stats->hist[op].max_ns > *ns) {
                *ns = stats->hist[op].max_ns;
                name = names[op];
            }
        }
    return (double)*ns < late_ns / 2 ? "" : name;
}

static void name_them(struct weir_run *run, const int *who, const char *part, uint64_t span,
                      struct weir_stragglers *out)
{
    for (int k = 0; k < out->n; k++) {
        out->who[k].rank = who[k];
        if (out->who[k].rank == run->par.rank) {
            const char *call = longest_call(run, out->share * (double)span, &out->who[k].call_ns);

            if (snprintf(out->who[k].host, sizeof(out->who[k].host), "%s", run->par.host) < 0 ||
                snprintf(out->who[k].part, sizeof(out->who[k].part), "%s", part) < 0 ||
                snprintf(out->who[k].call, sizeof(out->who[k].call), "%s", call) < 0)
                out->who[k].part[0] = '\0';
        }
        weir_bcast(&run->par, &out->who[k], sizeof(out->who[k]), out->who[k].rank);
    }
}

void weir_stragglers_find(struct weir_run *run, const struct weir_phase_rec *rec,
                          struct weir_stragglers *out)
{
    const uint64_t *mark = rec->mark;
    uint64_t own[PARTS] = { mark[WEIR_MARK_OPENED] - mark[WEIR_MARK_OPEN],
                            mark[WEIR_MARK_WORKED] - mark[WEIR_MARK_WORK],
                            mark[WEIR_MARK_CLOSED] - mark[WEIR_MARK_CLOSE] };
    uint64_t mine = weir_phase_own_ns(rec), sum[PARTS];
    struct weir_straggler_times t = { .ranks = run->par.size, .least = rec->own_ns_min };
    int who[WEIR_STRAGGLERS + 1];

    *out = (struct weir_stragglers) { .n = 0 };
    if (run->par.size < WEIR_STRAGGLER_RANKS)
        return;
    t.span = (uint64_t)(rec->last[WEIR_MARK_CLOSED] - rec->first[WEIR_MARK_OPEN]);
    if ((double)(rec->own_ns_max - rec->own_ns_min) < WEIR_STRAGGLER_SHARE * (double)t.span)
        return; /* nearly always: nothing is asked of the others */
    find_longest(run, mine, &t, who);
    out->n = weir_straggler_count(&t, &out->share);
    if (out->n == 0)
        return;
    memcpy(sum, own, sizeof(sum));
    weir_allsum_u64(&run->par, sum, PARTS);
    name_them(run, who, worst_part(own, sum, run->par.size), t.span, out);
}
