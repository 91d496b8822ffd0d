/* SPDX-License-Identifier: BSD-3-Clause */
/* straggler.c - ranks without which a phase would have been shorter */
#include "engine/check/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/session/session.h"
#include "engine/phase.h"

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
        if (t->longest[k - 1] - t->longest[k] > widest) {
            widest = t->longest[k - 1] - t->longest[k];
            found = k;
        }
    if (found == 0 ||
        (double)widest <
            critical(t->ranks - found + 1) * (double)(t->longest[found - 1] - t->shortest))
        return 0;
    *share = (double)(t->longest[0] - t->longest[found]) / (double)t->span;
    return *share < WEIR_STRAGGLER_SHARE ? 0 : found;
}

/* ---- of a phase ---- */

enum { OPEN, WORK, CLOSE, PARTS };
static const char *const part_names[PARTS] = { "open", "work", "close" };

/* The kinds of calls into a backend; the last: no call made it late. */
static const char *const call_names[WEIR_OPS + 1] = { [WEIR_OP_OPEN] = "open",
                                                      [WEIR_OP_XFER] = "transfer",
                                                      [WEIR_OP_SYNC] = "sync",
                                                      [WEIR_OP_CLOSE] = "close",
                                                      [WEIR_OPS] = "" };

struct stragglers {
    int n;
    double share; /* of the phase that they cost */
    struct {
        int rank;
        int part, call; /* where most of it was; its longest call of the phase */
        uint64_t call_ns;
        char host[64];
    } who[WEIR_STRAGGLERS];
};

/* The part in which this rank is furthest above the mean of all. */
static int worst_part(const uint64_t own[PARTS], const uint64_t sum[PARTS], int ranks)
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
    return worst;
}

/* A number of rounds that all ranks know: the longest time of those that were not found before. */
static void find_longest(struct weir_run *run, uint64_t mine, struct weir_straggler_times *t,
                         int who[WEIR_STRAGGLERS + 1])
{
    bool found = false;

    for (int k = 0; k <= WEIR_STRAGGLERS && k < run->par.size; k++) {
        int64_t ns = found ? -1 : (int64_t)mine;

        who[k] = weir_allmax_rank(&run->par, &ns);
        t->longest[k] = (uint64_t)ns;
        found |= who[k] == run->par.rank;
    }
}

/* The kind of call into a backend that took longest on this rank; WEIR_OPS where it is no part of
 * being late: less than half of what the phase would have been shorter. */
static int longest_call(const struct weir_run *run, double late_ns, uint64_t *ns)
{
    int longest = WEIR_OPS;

    *ns = 0;
    for (int i = 0; i < run->test->sessions; i++)
        for (int op = 0; op < WEIR_OPS; op++) {
            const struct weir_session_stats *stats = run->test->session[i]->stats;

            if (stats && stats->hist[op].max_ns > *ns) {
                *ns = stats->hist[op].max_ns;
                longest = op;
            }
        }
    return (double)*ns < late_ns / 2 ? WEIR_OPS : longest;
}

static void name_them(struct weir_run *run, const int *who, int part, uint64_t span,
                      struct stragglers *out)
{
    for (int k = 0; k < out->n; k++) {
        if (who[k] == run->par.rank) {
            out->who[k].rank = who[k];
            out->who[k].part = part;
            out->who[k].call = longest_call(run, out->share * (double)span, &out->who[k].call_ns);
            if (snprintf(out->who[k].host, sizeof(out->who[k].host), "%s", run->par.host) < 0)
                out->who[k].host[0] = '\0';
        }
        weir_bcast(&run->par, &out->who[k], sizeof(out->who[k]), who[k]);
    }
}

/* Find stragglers by each rank's time in open, work and close, without waits at barriers. With
 * collective steps all wait for all, and none is found. The result is the same on all ranks. */
static void find(struct weir_run *run, const struct weir_phase_rec *rec, struct stragglers *out)
{
    const uint64_t *mark = rec->mark;
    uint64_t own[PARTS] = { mark[WEIR_MARK_OPENED] - mark[WEIR_MARK_OPEN],
                            mark[WEIR_MARK_WORKED] - mark[WEIR_MARK_WORK],
                            mark[WEIR_MARK_CLOSED] - mark[WEIR_MARK_CLOSE] };
    uint64_t mine = weir_phase_own_ns(rec), sum[PARTS];
    struct weir_straggler_times t = { .ranks = run->par.size, .shortest = rec->min.own_ns };
    int who[WEIR_STRAGGLERS + 1];

    *out = (struct stragglers) { .n = 0 };
    if (run->par.size < WEIR_STRAGGLER_RANKS)
        return;
    t.span = (uint64_t)(rec->last[WEIR_MARK_CLOSED] - rec->first[WEIR_MARK_OPEN]);
    if ((double)(rec->max.own_ns - rec->min.own_ns) < WEIR_STRAGGLER_SHARE * (double)t.span)
        return; /* nearly always: nothing is asked of the others */
    find_longest(run, mine, &t, who);
    out->n = weir_straggler_count(&t, &out->share);
    if (out->n == 0)
        return;
    memcpy(sum, own, sizeof(sum));
    weir_allsum_u64(&run->par, sum, PARTS);
    name_them(run, who, worst_part(own, sum, run->par.size), t.span, out);
}

/* ---- reported ---- */

struct straggler {
    const char *operation, *host, *part, *call;
    int64_t repetition, rank;
    double share, call_s;
};

static const struct weir_col straggler_cols[] = {
    COL_STR(struct straggler, operation, "operation", "The kind of phase"),
    COL_INT(struct straggler, repetition, "iter", "Repetition, from 0"),
    COL_INT(struct straggler, rank, "rank", "That ended late"),
    COL_STR(struct straggler, host, "host", "Where it ran"),
    COL_STR(struct straggler, part, "part", "In which it was late: open, work or close"),
    COL_STR(struct straggler, call, "call",
            "The kind of its longest call where that made it late: open, transfer, sync or close; "
            "else empty"),
    COL_REAL(struct straggler, call_s, "callTime", "Of that call, in seconds"),
    COL_REAL(struct straggler, share, "share", "Of the phase that it cost with those below it"),
    WEIR_COL_END
};

static const struct weir_table stragglers = { .key = "stragglers",
                                              .cols = straggler_cols,
                                              .readers = WEIR_FOR_DATA,
                                              .in_line = 64 };

static void report_stragglers(struct weir_run *run, const char *key, const struct stragglers *s)
{
    weir_report_head(&run->report, &stragglers);
    for (int i = 0; i < s->n; i++) {
        struct straggler row = { .operation = key,
                                 .repetition = run->repetition,
                                 .rank = s->who[i].rank,
                                 .host = s->who[i].host,
                                 .part = part_names[s->who[i].part],
                                 .call = call_names[s->who[i].call],
                                 .call_s = s->who[i].call < WEIR_OPS
                                               ? (double)s->who[i].call_ns / WEIR_NS_PER_S
                                               : NAN,
                                 .share = s->share };

        weir_report_row(&run->report, &stragglers, &row);
    }
}

static void write_words(const struct stragglers *s, const char *key,
                        char words[WEIR_STRAGGLER_TEXT])
{
    char others[32] = "", call[48] = "";

    if (s->n > 1 && snprintf(others, sizeof(others), " and %d more", s->n - 1) < 0)
        others[0] = '\0';
    if (s->who[0].call < WEIR_OPS &&
        snprintf(call, sizeof(call), ", in one %s of %.3g s", call_names[s->who[0].call],
                 (double)s->who[0].call_ns / WEIR_NS_PER_S) < 0)
        call[0] = '\0';
    if (snprintf(words, WEIR_STRAGGLER_TEXT,
                 "without rank %d (host %s)%s the %s phase would have been %.0f %% shorter: late "
                 "in %s%s",
                 s->who[0].rank, s->who[0].host, others, key, 100 * s->share,
                 part_names[s->who[0].part], call) < 0)
        words[0] = '\0';
}

double weir_stragglers_report(struct weir_run *run, const struct weir_phase_rec *rec,
                              char words[WEIR_STRAGGLER_TEXT])
{
    struct stragglers s;

    find(run, rec, &s);
    if (run->par.rank != 0 || s.n == 0)
        return 0;
    report_stragglers(run, rec->stage->key, &s);
    write_words(&s, rec->stage->key, words);
    return s.share;
}
