/* SPDX-License-Identifier: BSD-3-Clause */
/* trust-report.c - the findings of a test, for programs and for people */
#include "config.h"
#include "engine/trust.h"

#include <string.h>

#include "base/clock.h"
#include "engine/driver.h"

/* ---- for programs ---- */

static const struct weir_col cols[] = {
    COL_STR(struct weir_finding_row, id, "id", "The rule: H01 to H35"),
    COL_STR(struct weir_finding_row, outcome, "outcome", "found, fine or not judged"),
    COL_STR(struct weir_finding_row, severity, "severity", "NOTE, SUSPECT or INVALID where it is found"),
    COL_REAL(struct weir_finding_row, value, "value", "What was measured, in the unit"),
    COL_REAL(struct weir_finding_row, limit, "limit", "Where a finding begins, in the unit"),
    COL_STR(struct weir_finding_row, unit, "unit", "Of value and limit"),
    COL_STR(struct weir_finding_row, text, "text", "What was measured, in words; why, where it is not judged"),
    COL_STR(struct weir_finding_row, remedy, "remedy", "What to do about what was found, else empty"),
    WEIR_COL_END
};

const struct weir_table weir_findings_table = { .key = "findings",
                                                .cols = cols,
                                                .readers = WEIR_FOR_DATA };

static const char *const outcomes[] = { "not judged", "fine", "found" };

static void tell_programs(struct weir_run *run, const char *rules, const struct weir_finding *list,
                          int n)
{
    struct weir_report *r = &run->report;

    weir_report_str(r, WEIR_FOR_DATA, "rules", rules);
    weir_report_str(r, WEIR_FOR_DATA, "verdict", weir_verdict_name(weir_findings_worst(list, n)));
    weir_report_real(r, WEIR_FOR_DATA, "factsTime",
                     (double)(run->trust.spent_ns + weir_now_ns() - run->trust.end_ns) /
                         WEIR_NS_PER_S);
    weir_report_head(r, &weir_findings_table);
    for (int i = 0; i < n; i++) {
        const struct weir_finding *f = &list[i];
        struct weir_finding_row row = { .id = f->rule->id,
                           .outcome = outcomes[f->outcome],
                           .severity = weir_severity_name(f->severity),
                           .unit = f->unit,
                           .text = f->text,
                           .remedy = f->outcome == WEIR_FOUND ? f->rule->remedy : "",
                           .value = f->value,
                           .limit = f->limit,
                           .test = run->test->id };

        weir_report_row(r, &weir_findings_table, &row);
    }
}

/* A reader of many documents finds the same keys in each. SOUND would be a guess. */
static void tell_programs_nothing(struct weir_run *run, const char *rules)
{
    struct weir_report *r = &run->report;

    weir_report_str(r, WEIR_FOR_DATA, "rules", rules);
    weir_report_str(r, WEIR_FOR_DATA, "verdict", NULL);
    weir_report_str(r, WEIR_FOR_DATA, "verdictReason", "no phase was measured");
    weir_report_head(r, &weir_findings_table);
}

/* ---- for people ---- */

/* Those that were found, the worst first. */
static int collect(const struct weir_finding *list, int n, const struct weir_finding **out)
{
    int m = 0;

    for (enum weir_severity s = WEIR_INVALID; s > WEIR_SOUND; s--)
        for (int i = 0; i < n; i++)
            if (list[i].outcome == WEIR_FOUND && list[i].severity == s && !list[i].rule->data_only)
                out[m++] = &list[i];
    return m;
}

#define SHOWN 3 /* in the line */

static void write_line(const struct weir_run *run, const char *rules,
                       const struct weir_finding *const *found, int n, struct weir_str *out)
{
    if (run->test->id > 0)
        weir_str_addf(out, "test %d: ", run->test->id);
    if (found[0]->severity > WEIR_NOTE)
        weir_str_addf(out, "%s by the rules %s, ", weir_severity_name(found[0]->severity), rules);
    weir_str_addf(out, "%d finding%s: ", n, n > 1 ? "s" : "");
    for (int i = 0; i < n && i < SHOWN; i++)
        weir_str_addf(out, "%s%s %s", i > 0 ? ", " : "", found[i]->rule->id, found[i]->text);
    if (n > SHOWN)
        weir_str_addf(out, ", and %d more", n - SHOWN);
    weir_str_addf(out, "; --findings lists them with remedies");
}

static void write_finding(const struct weir_finding *f, struct weir_str *out)
{
    weir_str_addf(out, "%-4s %-8s %12.4g %12.4g  %s\n", f->rule->id,
                  weir_severity_name(f->severity), f->value, f->limit, f->unit);
    weir_str_addf(out, "              %s\n", f->text);
    weir_str_addf(out, "              remedy: %s\n", f->rule->remedy);
}

static void write_table(const struct weir_run *run, const char *rules,
                        const struct weir_finding *const *found, int n, enum weir_severity worst,
                        struct weir_str *out)
{
    weir_str_addf(out, "\nFindings of test %d by the rules %s: %s\n", run->test->id, rules,
                  weir_verdict_name(worst));
    if (n == 0)
        weir_str_addf(out, "none\n");
    else
        weir_str_addf(out, "%-4s %-8s %12s %12s  %s\n", "ID", "Severity", "Value", "Limit", "Unit");
    for (int i = 0; i < n; i++)
        write_finding(found[i], out);
    weir_until_write(run, out);
    if (out->len > 0)
        out->text[--out->len] = '\0'; /* a line has its own break */
}

static void keep_table(struct weir_run *run, const char *text)
{
    struct weir_trust *t = &run->trust;
    struct weir_trust_table *table = weir_arena_alloc(&run->arena, sizeof(*table), NULL);

    if (!table || !(table->text = weir_arena_strdup(&run->arena, text, NULL))) {
        run->report.lost = true;
        return;
    }
    table->next = NULL;
    if (t->last)
        t->last->next = table;
    else
        t->first = table;
    t->last = table;
}

static void tell_people_later(struct weir_run *run, const char *rules,
                              const struct weir_finding *list, int n)
{
    const struct weir_run_options *o = run->test->plan.options;
    const struct weir_finding *found[WEIR_RULES];
    struct weir_str table = { 0 };
    int m = collect(list, n, found);

    if (o->verbose >= 0 && m > 0) {
        write_line(run, rules, found, m, &run->trust.lines);
        weir_str_addf(&run->trust.lines, "\n");
        run->report.lost |= run->trust.lines.failed;
    }
    if (o->findings) {
        write_table(run, rules, found, m, weir_findings_worst(list, n), &table);
        if (table.len > 0 && !table.failed)
            keep_table(run, table.text);
    }
    weir_report_free(&run->report, &table);
}

enum weir_severity weir_trust_report(struct weir_run *run)
{
    const struct weir_run_options *o = run->test->plan.options;
    enum weir_rule_set set = (enum weir_rule_set)weir_rule_set_find(o->rules);
    struct weir_finding list[WEIR_RULES];
    struct weir_limits limits;
    int n;

    if (weir_limits_parse(&limits, o->limits, NULL) < 0)
        return WEIR_SOUND;
    if (run->trust.facts->phases == 0) {
        tell_programs_nothing(run, weir_rule_sets[set]);
        return WEIR_SOUND;
    }
    n = weir_findings_judge(run->trust.facts, set, &limits, list);
    tell_programs(run, weir_rule_sets[set], list, n);
    if (!run->test->failed)
        tell_people_later(run, weir_rule_sets[set], list, n);
    return weir_findings_worst(list, n);
}

void weir_trust_tables(struct weir_run *run)
{
    for (const struct weir_trust_table *t = run->trust.first; t; t = t->next)
        weir_report_line(&run->report, "%s", t->text);
}

/* Not messages of the run: programs have the findings. */
void weir_trust_lines(struct weir_run *run)
{
    struct weir_str *lines = &run->trust.lines;
    struct weir_log log = run->log;
    char *next = lines->text, *line;

    log.observer = NULL;
    while (next && (line = strsep(&next, "\n")) && next)
        weir_note(&log, "%s", line);
    weir_str_free(lines);
}
