/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-judge.c - why a phase or the whole of it is invalid, or worth a doubt */
#include "programs/weir-io500/io500-run.h"

#include <inttypes.h>

#include "base/mem.h"

/* A finding that came with an earlier phase, too, is not said again: --report has it for each. */
static bool was_reported(const struct io500 *t, const struct io500_reason *reason)
{
    for (int i = 0; reason->rule[0] && i < t->reasons; i++)
        if (strcmp(t->reason[i].rule, reason->rule) == 0 && strcmp(t->reason[i].kind, reason->kind) == 0)
            return true;
    return false;
}

static void print_reason(struct weir_run *run, struct io500 *t, const struct io500_reason *r)
{
    if (strcmp(r->kind, "NOTE") == 0 || was_reported(t, r))
        return;
    io500_print(run, t, "%s (%s) %s%s%s%s%s%s%s",
                io500_reason_counts(r) ? "ERROR INVALID" : "WARNING", r->where, r->rule,
                *r->rule ? " " : "", *r->rule ? r->kind : "", *r->rule ? ": " : "", r->text,
                *r->remedy ? "; " : "", r->remedy);
}

int io500_reason_add(struct weir_run *run, struct io500 *t, const struct io500_reason *reason, struct weir_err *err)
{
    if (!weir_mem_reserve(&t->reason, (size_t)t->reasons, &t->reasons_capacity, sizeof(*t->reason)))
        return weir_refuse(err, WEIR_ESETUP, "no memory for the findings");
    t->reason[t->reasons] = *reason;
    t->reason[t->reasons].where =
        reason->phase < 0 ? "configuration" : io500_phases[reason->phase].name;
    if (run)
        print_reason(run, t, &t->reason[t->reasons]);
    t->reasons++;
    if (reason->phase >= 0 && io500_reason_counts(reason))
        t->done[reason->phase].valid = false;
    return 0;
}

/* text, remedy: in the arena of the run; NULL: memory was out. */
static int add(struct weir_run *run, struct io500 *t, int phase, const char *kind,
               const char *remedy, struct weir_err *err, const char *text)
{
    struct io500_reason reason = { phase, NULL, kind, "", text, remedy };

    return text && remedy ? io500_reason_add(run, t, &reason, err) : -1;
}

#define INVALID(phase, remedy, ...)                                                                \
    add(run, t, phase, "INVALID", remedy, err, weir_arena_textf(&run->arena, err, __VA_ARGS__))

/* ---- before ---- */

int io500_judge_begin(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    double wanted = io500_minimum(t);
    int nodes = run->par.kernels > 0 ? run->par.kernels : run->par.nodes;
    int rc = 0;

    if (t->place.stonewall_s != wanted)
        rc = INVALID(-1, "", "stonewall-time %gs != %gs", t->place.stonewall_s, wanted);
    if (rc == 0 && nodes == 1)
        rc = add(run, t, -1, "WARNING", "a submission says how many there were, and the list of 10 nodes has 10", err, "there is one client node");
    for (int i = 0; io500_phases[i].name && rc == 0; i++)
        if ((t->extended || io500_phases[i].standard) && !io500_phase_wanted(&t->config, &io500_phases[i], t->extended))
            rc = INVALID(-1, "", "phase %s is not run (run = FALSE): a score has all phases",
                         io500_phases[i].name);
    return rc;
}

/* ---- a phase ---- */

static const char *remedy_of(struct weir_run *run, const struct io500 *t, const struct io500_phase *p, struct weir_err *err)
{
    const struct io500_family_row *f = &io500_families[p->family];

    return weir_arena_textf(&run->arena, err,
                            "raise [%s] %s, which is %s (--forecast says how far)", f->section,
                            f->limit, io500_text(&t->config, f->section, f->limit));
}

/* Judge whether a phase wrote until the stonewall, and long enough. */
static int judge_time(struct weir_run *run, struct io500 *t, int phase, struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    const struct io500_done *d = &t->done[phase];
    double wall = t->place.stonewall_s, minimum = io500_minimum(t);
    int rc = 0;

    if (d->measured < wall)
        rc = INVALID(phase, remedy_of(run, t, p, err),
                     "Write phase needed %fs instead of stonewall %gs: there was no more to do",
                     d->measured, wall);
    if (rc == 0 && d->seconds < wall)
        rc = INVALID(phase, "", "Runtime of phase (%f) is below stonewall time", d->seconds);
    if (rc == 0 && d->seconds < minimum)
        rc = INVALID(phase, "", "Runtime is smaller than expected minimum runtime of %gs",
                     minimum);
    return rc;
}

int io500_judge_phase(struct weir_run *run, struct io500 *t, int phase, struct weir_err *err)
{
    const struct io500_done *d = &t->done[phase];
    int rc = 0;

    if (d->wrong)
        rc = INVALID(phase, "", "wrong data in %" PRIu64 " place%s", d->wrong,
                     d->wrong == 1 ? "" : "s");
    if (rc == 0 && io500_phases[phase].verify && !t->o->forecast)
        rc = judge_time(run, t, phase, err);
    if (rc == 0 && d->errors)
        rc = INVALID(phase, "", "%" PRIu64 " director%s or files could not be read: %s",
                     d->errors, d->errors == 1 ? "y" : "ies", d->problem);
    if (rc == 0 && io500_phases[phase].group != IO500_NONE && !(d->score > 0))
        rc = INVALID(phase, "", "no rate was measured");
    return rc;
}

bool io500_judge_all(const struct io500 *t)
{
    for (int i = 0; i < t->reasons; i++)
        if (io500_reason_counts(&t->reason[i]))
            return false;
    return t->whole;
}

/* Return the number of phases in which the rule of a reason has found something; 0 after the first. */
static int count_phases(const struct io500 *t, int first)
{
    int n = 0;

    for (int i = 0; i < t->reasons; i++)
        if (strcmp(t->reason[i].rule, t->reason[first].rule) == 0 && strcmp(t->reason[i].kind, t->reason[first].kind) == 0) {
            if (i < first)
                return 0;
            n++;
        }
    return n;
}

void io500_judge_sum_up(struct weir_run *run, struct io500 *t)
{
    struct weir_str line = { 0 };

    for (int i = 0; i < t->reasons; i++) {
        int n = t->reason[i].rule[0] && strcmp(t->reason[i].kind, "NOTE") != 0 ? count_phases(t, i) : 0;

        if (n)
            weir_str_addf(&line, "%s %s %s (%d phase%s)", line.len ? "," : "", t->reason[i].rule, t->reason[i].kind, n, n == 1 ? "" : "s");
    }
    io500_print(run, t, "Findings by the io500 rules:%s", line.len ? weir_str_words(&line) : " none");
    weir_str_free(&line);
}
