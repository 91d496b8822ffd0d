/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - the findings of a test, for programs and for people */
#include "config.h"
#include "engine/check/checks.h"

#include <string.h>

#include "base/clock.h"
#include "base/options/help.h"
#include "engine/check/rules.h"
#include "engine/program.h"

/* ---- the judgement ---- */

struct judged {
    const char *rules;
    enum weir_severity worst;
    struct weir_finding list[WEIR_RULES];
    int n;
    const struct weir_finding *found[WEIR_RULES]; /* for people, the worst first, notes last */
    int found_n, notes;
};

/* The finding that says most about a number comes first: that it is not one of the storage at all,
 * then how sure it is. The others follow in the order of the table. */
static int importance(const struct weir_finding *f)
{
    static const char order[] = "H24 H36 H37 H43 H03 H05 H06 H04 H27 H40 H39 H02 H01 H10 H11 H07 H35 H26 H38 H15 H16 H14";
    const char *at = strstr(order, f->rule->id);

    return at ? (int)(at - order) : (int)sizeof(order);
}

/* Is a to be read before b? Those of one importance stay as they are. */
static bool is_before(const struct weir_finding *a, const struct weir_finding *b)
{
    return a->severity != b->severity ? a->severity > b->severity : importance(a) < importance(b);
}

/* Sorts the findings into the order in which people read them. */
static void sort_found(struct judged *v)
{
    for (int i = 0; i < v->n; i++) {
        const struct weir_finding *f = &v->list[i];
        int at = v->found_n;

        if (f->outcome != WEIR_FOUND || f->rule->data_only)
            continue;
        for (; at > 0 && is_before(f, v->found[at - 1]); at--)
            v->found[at] = v->found[at - 1];
        v->found[at] = f;
        v->found_n++;
        v->notes += f->severity == WEIR_NOTE;
    }
}

/* By what is known until now. */
static void judge(const struct weir_run *run, struct judged *v)
{
    enum weir_rule_set set = weir_checks_rules(run, run->test->plan.options);

    if (run->report.details) /* else nobody reads them */
        weir_checks_of(run)->inputs->missing = run->test->missing;
    v->rules = weir_rule_sets[set];
    v->n = weir_findings_judge(weir_checks_of(run)->inputs, set, &weir_checks_of(run)->limits, v->list);
    v->worst = weir_findings_worst(v->list, v->n);
    v->found_n = v->notes = 0;
    sort_found(v);
}

/* ---- for programs ---- */

#define F struct weir_finding_row

/* The text table has the words of a finding below its line. */
static const struct weir_col cols[] = {
    COL_STR(F, id, "id", "The rule: H01 to H43", .head = "ID", .width = -4, .gap = 1),
    COL_STR(F, outcome, "outcome", "found, fine or not judged"),
    COL_STR(F, severity, "severity", "NOTE, SUSPECT or INVALID where it is found",
            .head = "Severity", .width = -8, .gap = 1),
    COL_REAL(F, value, "value", "What was measured, in the unit", .head = "Value", .width = 12,
             .digits = 4, .gap = 1),
    COL_REAL(F, limit, "limit", "Where a finding begins, in the unit", .head = "Limit", .width = 12,
             .digits = 4, .gap = 2),
    COL_STR(F, unit, "unit", "Of value and limit", .head = "Unit"),
    COL_STR(F, text, "text", "What was measured, in words; why, where it is not judged"),
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
                                       .remedy = f->outcome == WEIR_FOUND ? f->rule->remedy : "",
                                       .value = f->value,
                                       .limit = f->limit };
}

/* A reader of many documents finds the same keys in each. SOUND would be a guess where no phase was
 * measured. */
static void report_to_programs(struct weir_run *run, const struct judged *v, bool measured)
{
    struct weir_report *r = &run->report;
    uint64_t spent_ns = weir_checks_of(run)->spent_ns + weir_now_ns() - weir_checks_of(run)->end_ns;

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

#define SHOWN 3 /* in the line */

static void write_count(int n, const char *what, struct weir_str *out)
{
    weir_str_addf(out, "%d %s%s", n, what, n == 1 ? "" : "s");
}

/* The verdict, and why. Where there is more than notes, these are counted only. */
static void write_line(const struct weir_run *run, const struct judged *v, struct weir_str *out)
{
    int n = v->found_n, shown = n > v->notes ? n - v->notes : n;

    if (run->test->id > 0)
        weir_str_addf(out, "test %d: ", run->test->id);
    weir_str_addf(out, "%s by the %s rules", weir_verdict_name(v->worst), v->rules);
    if (n > 0) {
        weir_str_addf(out, ", ");
        write_count(shown, n > v->notes ? "finding" : "note", out);
    }
    for (int i = 0; i < shown && i < SHOWN; i++)
        weir_str_addf(out, "%s %s %s", i > 0 ? "," : ":", v->found[i]->rule->id, v->found[i]->text);
    if (shown > SHOWN)
        weir_str_addf(out, ", and %d more", shown - SHOWN);
    if (n > shown) {
        weir_str_addf(out, "; ");
        write_count(v->notes, "note", out);
    }
    weir_str_addf(out, n > 0 ? "; --findings lists them with remedies\n" : "\n");
}

static void write_table(const struct weir_run *run, const struct judged *v, struct weir_str *out)
{
    weir_str_addf(out, "\nFindings of test %d by the %s rules: %s\n", run->test->id, v->rules,
                  weir_verdict_name(v->worst));
    if (v->found_n == 0)
        weir_str_addf(out, "none");
    else
        weir_col_heading(out, cols);
    for (int i = 0; i < v->found_n; i++) {
        struct weir_finding_row row = row_of(v->found[i]);

        weir_str_addc(out, '\n');
        weir_col_text(out, cols, &row);
        weir_str_addf(out, "\n%14s%s\n%14sremedy: %s", "", row.text, "", row.remedy);
    }
    weir_str_addf(out, "\n%s", run->test->rates ? run->test->rates : "");
}

static void keep_for_people(struct weir_run *run, const struct judged *v)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_checks *t = weir_checks_of(run);

    if (o->verbose >= 0 && !run->report.is_data)
        write_line(run, v, &run->report.last.notes);
    if (o->findings)
        write_table(run, v, &t->tables);
    run->report.lost |= run->report.last.notes.failed || t->tables.failed;
}

/* ---- help ---- */

static void help_rule(const struct weir_rule *r, struct weir_str *out)
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
    weir_str_addf(out, "  %s  ", r->id);
    weir_help_wrap(out, 7, 7, weir_str_text(&text));
    out->failed |= text.failed;
    weir_str_free(&text);
}

void weir_checks_help(enum weir_topic topic, struct weir_str *out)
{
    const struct weir_rule *r;

    if (topic != WEIR_TOPIC_TRUST)
        return;
    weir_str_addf(out, "\nEach test ends with a line that has its verdict. INVALID: by the rules it must\n"
                       "not be published. SUSPECT: it probably does not mean what it seems to. SOUND:\n"
                       "there are notes at most. The default rules:\n");
    for (int i = 0; (r = weir_rule_at(i)); i++)
        help_rule(r, out);
}

enum weir_severity weir_verdict_report(struct weir_run *run)
{
    const struct weir_inputs *f = weir_checks_of(run)->inputs;
    bool measured = f->phases > 0 || f->no_room;
    struct judged v;

    judge(run, &v);
    report_to_programs(run, &v, measured);
    if (measured && !run->test->failed)
        keep_for_people(run, &v);
    return measured ? v.worst : WEIR_SOUND;
}

void weir_verdict_for_rows(struct weir_run *run)
{
    struct weir_str ids = { 0 };
    struct judged v;

    if (!run->report.has_csv)
        return;
    judge(run, &v);
    for (int i = 0; i < v.found_n - v.notes; i++)
        weir_str_addf(&ids, "%s%s", i > 0 ? " " : "", v.found[i]->rule->id);
    weir_report_verdict(&run->report, weir_verdict_name(v.worst), weir_str_text(&ids));
    weir_report_free(&run->report, &ids);
}
