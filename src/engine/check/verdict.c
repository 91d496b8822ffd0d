/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - the findings of a test, for programs and for people */
#include "engine/check/parts.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/options/help.h"
#include "engine/check/rules.h"
#include "engine/program.h"

/* ---- the judgement ---- */

/* True when people should read a before b. Those of one weight stay as they are. */
static bool is_before(const struct weir_finding *a, const struct weir_finding *b)
{
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->rule->weight > b->rule->weight;
}

/* Finds the worst severity, and sorts the findings into the order in which people read them. */
static void sort_found(struct weir_judged_test *v)
{
    for (int i = 0; i < v->n; i++) {
        const struct weir_finding *f = &v->list[i];
        int at = v->found_n;

        if (f->outcome != WEIR_FOUND)
            continue;
        v->worst = f->severity > v->worst ? f->severity : v->worst;
        if (f->rule->data_only)
            continue;
        for (; at > 0 && is_before(f, v->found[at - 1]); at--)
            v->found[at] = v->found[at - 1];
        v->found[at] = f;
        v->found_n++;
        v->notes += f->severity == WEIR_NOTE;
    }
}

void weir_verdict_judge(const struct weir_inputs *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_judged_test *v)
{
    v->rules = weir_rule_sets[set];
    v->n = weir_findings_judge(f, set, limits, v->list);
    v->worst = WEIR_SOUND;
    v->found_n = v->notes = 0;
    sort_found(v);
}

/* ---- for programs ---- */

#define F struct weir_finding_row

/* The text table has the texts of a finding below its line. */
static const struct weir_col cols[] = {
    COL_STR(F, id, "id", "The rule, like H01", .head = "ID", .width = -4, .gap = 1),
    COL_STR(F, outcome, "outcome", "found, fine or not judged"),
    COL_STR(F, severity, "severity", "NOTE, SUSPECT or INVALID where it is found",
            .head = "Severity", .width = -8, .gap = 1),
    COL_REAL(F, value, "value", "What was measured, in the unit", .head = "Value", .width = 12,
             .digits = 4, .gap = 1),
    COL_REAL(F, limit, "limit", "Where a finding begins, in the unit", .head = "Limit", .width = 12,
             .digits = 4, .gap = 2),
    COL_STR(F, unit, "unit", "Of value and limit", .head = "Unit"),
    COL_STR(F, text, "text", "What was measured, in words, or why it is not judged"),
    COL_STR(F, means, "means", "What that means for the rate, where it is found, else empty"),
    COL_STR(F, remedy, "remedy", "What to do about what was found, else empty"),
    WEIR_COL_END
};

const struct weir_table weir_findings_table = { .key = "findings",
                                                .cols = cols,
                                                .readers = WEIR_FOR_DATA };

static struct weir_finding_row row_of(const struct weir_finding *f)
{
    static const char *const outcomes[] = { "not judged", "fine", "found" };

    return (struct weir_finding_row) { .id = f->rule->id,
                                       .outcome = outcomes[f->outcome],
                                       .severity = weir_severity_name(f->severity),
                                       .unit = f->unit,
                                       .text = f->text,
                                       .means = f->outcome == WEIR_FOUND ? f->rule->means : "",
                                       .remedy = f->outcome == WEIR_FOUND ? f->rule->remedy : "",
                                       .value = f->value,
                                       .limit = f->limit };
}

/* SOUND would be a guess where no phase was measured. */
void weir_verdict_report(struct weir_run *run, const struct weir_judged_test *v, bool measured,
                         uint64_t spent_ns)
{
    struct weir_report *r = &run->report;

    weir_report_str(r, WEIR_FOR_DATA, "rules", v->rules);
    weir_report_str(r, WEIR_FOR_DATA, "verdict", measured ? weir_verdict_name(v->worst) : NULL);
    if (measured)
        weir_report_real(r, WEIR_FOR_DATA, "factsTime", (double)spent_ns / WEIR_NS_PER_S);
    else
        weir_report_str(r, WEIR_FOR_DATA, "verdictReason", WEIR_NO_PHASE);
    weir_report_head(r, &weir_findings_table);
    for (int i = 0; measured && i < v->n; i++) {
        struct weir_finding_row row = row_of(&v->list[i]);

        row.test = run->test->id;
        weir_report_row(r, &weir_findings_table, &row);
    }
}

/* ---- for people ---- */

#define SHOWN 2 /* in the line */

/* Findings that always come together are one, and what the default data bring along is none. */
static bool is_counted(const struct weir_judged_test *v, const struct weir_finding *f)
{
    bool is_counted = !f->is_usual || f->severity > WEIR_NOTE;

    for (int i = 0; f->rule->with && i < v->found_n; i++)
        is_counted &= strcmp(v->found[i]->rule->id, f->rule->with) != 0;
    return is_counted;
}

/* ": 100 % read from page cache (H03)": the worst ones; notes only where there is nothing else. */
static void write_worst(const struct weir_judged_test *v, bool notes, struct weir_str *out)
{
    for (int i = 0, shown = 0; i < v->found_n && shown < SHOWN; i++) {
        const struct weir_finding *f = v->found[i];

        if (!is_counted(v, f) || (f->severity == WEIR_NOTE) != notes)
            continue;
        weir_str_addf(out, shown++ == 0 ? ": " : "; ");
        weir_str_addf(out, f->brief, f->value);
        weir_str_addf(out, " (%s)", f->rule->id);
    }
}

static void write_count(int n, const char *what, struct weir_str *out)
{
    if (n > 0)
        weir_str_addf(out, "%d %s%s", n, what, n == 1 ? "" : "s");
}

/* "SUSPECT (2 findings, 1 note; --findings): not flushed (H05)": 154 characters at most. */
static void write_line(const struct weir_run *run, const struct weir_judged_test *v,
                       struct weir_str *out)
{
    int findings = 0, notes = 0;

    for (int i = 0; i < v->found_n; i++)
        if (is_counted(v, v->found[i]))
            *(v->found[i]->severity == WEIR_NOTE ? &notes : &findings) += 1;
    if (run->test->id > 0)
        weir_str_addf(out, "test %d: ", run->test->id);
    weir_str_addf(out, "%s", weir_verdict_name(v->worst));
    if (strcmp(v->rules, weir_rule_sets[WEIR_RULES_DEFAULT]) != 0)
        weir_str_addf(out, " by %s rules", v->rules);
    if (findings + notes > 0) {
        weir_str_addf(out, " (");
        write_count(findings, "finding", out);
        weir_str_addf(out, findings > 0 && notes > 0 ? ", " : "");
        write_count(notes, "note", out);
        weir_str_addf(out, "; --findings)");
        write_worst(v, findings == 0, out);
    }
    weir_str_addc(out, '\n');
}

/* The findings that count, the worst first, or all. */
static void write_table(const struct weir_run *run, const struct weir_judged_test *v, int most,
                        struct weir_str *out)
{
    int shown = 0;

    weir_str_addf(out, "\nFindings of test %d by the %s rules: %s\n", run->test->id, v->rules,
                  weir_verdict_name(v->worst));
    if (v->found_n == 0)
        weir_str_addf(out, "none");
    else
        weir_col_heading(out, cols);
    for (int i = 0; i < v->found_n; i++)
        if (most == WEIR_RULES || (shown < most && is_counted(v, v->found[i]))) {
            const struct weir_finding_row row = row_of(v->found[i]);

            weir_str_addc(out, '\n');
            weir_col_text(out, cols, &row);
            weir_str_addf(out, "\n%14s%s\n%14smeans: %s\n%14sremedy: %s", "", row.text, "",
                          row.means, "", row.remedy);
            shown++;
        }
    if (shown < v->found_n)
        weir_str_addf(out, "\n%d more: --findings=all", v->found_n - shown);
    weir_str_addf(out, "\n%s", run->test->rates ? run->test->rates : "");
}

void weir_verdict_keep(struct weir_run *run, const struct weir_judged_test *v,
                       struct weir_str *tables)
{
    const struct weir_run_options *o = run->test->plan.options;

    if (o->verbose >= 0 && !run->report.is_data)
        write_line(run, v, &run->report.last.notes);
    if (weir_findings_shown(o->findings) > 0)
        write_table(run, v, weir_findings_shown(o->findings), tables);
    run->report.lost |= run->report.last.notes.failed || tables->failed;
}

/* ---- help ---- */

/* whole: also what a finding means, and its remedy. */
static void help_rule(const struct weir_rule *r, bool whole, struct weir_str *out)
{
    const struct weir_level *at = &r->at[WEIR_RULES_DEFAULT];
    struct weir_str text = { 0 };

    if (at->severity == WEIR_SOUND)
        return;
    weir_str_addf(&text, "%s %s %g %s", weir_severity_name(at->severity),
                  r->below ? "below" : "above", at->limit, r->unit);
    if (r->worse.severity != WEIR_SOUND)
        weir_str_addf(&text, ", %s %s %g", weir_severity_name(r->worse.severity),
                      r->below ? "below" : "above", r->worse.limit);
    weir_str_addf(&text, ": %s", r->what);
    if (whole)
        weir_str_addf(&text, "; means: %s; remedy: %s", r->means, r->remedy);
    weir_str_addf(out, "  %s  ", r->id);
    weir_help_wrap(out, 7, 7, weir_str_text(&text));
    out->failed |= text.failed;
    weir_str_free(&text);
}

void weir_verdict_help(const char *what, struct weir_str *out)
{
    const bool all = strcasecmp(what, weir_topic_names[WEIR_TOPIC_TRUST - 1]) == 0;
    const struct weir_rule *r;

    if (all)
        weir_str_addf(
            out, "\nA NOTE on standard error, before the summary, has the verdict of a test.\n"
                 "INVALID: by the rules it must not be published. SUSPECT: it probably does not\n"
                 "mean what it seems to. SOUND: notes at most. Default rules (one: --help=H01):\n");
    for (int i = 0; (r = weir_rule_at(i)); i++)
        if (all || strcasecmp(r->id, what) == 0)
            help_rule(r, !all, out);
}
