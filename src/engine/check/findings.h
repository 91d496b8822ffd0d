/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - what makes a result unreliable: one table of rules, and the judgement of a test by
 * its facts. No I/O. */
#ifndef WEIR_ENGINE_CHECK_FINDINGS_H
#define WEIR_ENGINE_CHECK_FINDINGS_H

#include "base/err.h"
#include "engine/check/facts.h"

/* NOTE: worth knowing. SUSPECT: the number probably does not mean what it seems to. INVALID: by
 * this rule set it must not be published. */
enum weir_severity { WEIR_SOUND, WEIR_NOTE, WEIR_SUSPECT, WEIR_INVALID };

enum weir_rule_set {
    WEIR_RULES_DEFAULT,
    WEIR_RULES_JUPITER,
    WEIR_RULES_IO500,
    WEIR_RULES_SNIA,
    WEIR_RULES_NONE
};

#define WEIR_RULE_SETS WEIR_RULES_NONE /* those that have rules */

/* The names, in the order of the enum; ends with NULL. For --rules. */
extern const char *const weir_rule_sets[];

/* A rule as a rule set has it. */
struct weir_level {
    enum weir_severity severity; /* WEIR_SOUND: the set does not have it */
    double limit;
    const char *unit; /* NULL: that of the rule */
};

enum weir_judgement { WEIR_NOT_JUDGED, WEIR_FINE, WEIR_FOUND };

#define WEIR_FINDING_TEXT 200

struct weir_rule;

/* The judgement by one rule. */
struct weir_finding {
    const struct weir_rule *rule;
    enum weir_rule_set set;
    enum weir_judgement outcome;
    bool below;                  /* as in the rule */
    enum weir_severity severity; /* that it has, or would have */
    double value, limit;         /* NaN: not known */
    const char *unit;
    const char *more; /* the value may be larger, because ...: it is not fine then; NULL: it is not */
    char text[WEIR_FINDING_TEXT]; /* a clause for people; why, where it is not judged */
};

/* One row of the table. */
struct weir_rule {
    const char *id, *what, *unit, *remedy;
    bool below;     /* a finding when the value is below the limit; else when it is above */
    bool data_only; /* not in the line for people */
    struct weir_level at[WEIR_RULE_SETS];
    struct weir_level worse; /* of the default set: from here on; severity WEIR_SOUND: none */
    /* Sets value and text with weir_finding_set (NaN: the limit does not apply), or calls
     * weir_finding_unknown. May change severity and limit. */
    void (*measure)(const struct weir_facts *f, struct weir_finding *out);
};

/* The table; ends with a row without id. */
extern const struct weir_rule weir_rules[];

#define WEIR_RULES 34

/* Limits that a user has changed, in the order of the table; NaN: as in the rule set. */
struct weir_limits {
    double limit[WEIR_RULES];
};

/* Parse "H01:30,H15:5" or "H01:30+H15:5" (NULL or "": nothing is changed). Local. -1 and err
 * (WEIR_EUSAGE). */
int weir_limits_parse(struct weir_limits *l, const char *text, struct weir_err *err);

/* The rule set with this name, or -1. Local. */
int weir_rule_set_find(const char *name);

/* Judge by every rule of the set; those that the set does not have are left out. limits may be
 * NULL. Local. Returns the number of entries in out. */
int weir_findings_judge(const struct weir_facts *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_finding out[WEIR_RULES]);

/* The worst severity that was found, for people: SOUND, SUSPECT or INVALID (a NOTE is sound). */
enum weir_severity weir_findings_worst(const struct weir_finding *list, int n);
const char *weir_severity_name(enum weir_severity severity);
const char *weir_verdict_name(enum weir_severity worst);

/* For the measures of the table. Local. */
void weir_finding_set(struct weir_finding *out, double value, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void weir_finding_unknown(struct weir_finding *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* findings-data.c, findings-run.c, findings-series.c: the measures, one for each rule. */
#define WEIR_MEASURE(id)                                                                           \
    void weir_measure_##id(const struct weir_facts *f, struct weir_finding *out)
WEIR_MEASURE(h01);
WEIR_MEASURE(h02);
WEIR_MEASURE(h03);
WEIR_MEASURE(h04);
WEIR_MEASURE(h05);
WEIR_MEASURE(h06);
WEIR_MEASURE(h07);
WEIR_MEASURE(h08);
WEIR_MEASURE(h09);
WEIR_MEASURE(h10);
WEIR_MEASURE(h11);
WEIR_MEASURE(h12);
WEIR_MEASURE(h13);
WEIR_MEASURE(h14);
WEIR_MEASURE(h15);
WEIR_MEASURE(h16);
WEIR_MEASURE(h17);
WEIR_MEASURE(h18);
WEIR_MEASURE(h19);
WEIR_MEASURE(h20);
WEIR_MEASURE(h21);
WEIR_MEASURE(h22);
WEIR_MEASURE(h23);
WEIR_MEASURE(h24);
WEIR_MEASURE(h25);
WEIR_MEASURE(h26);
WEIR_MEASURE(h27);
WEIR_MEASURE(h28);
WEIR_MEASURE(h29);
WEIR_MEASURE(h30);
WEIR_MEASURE(h31);
WEIR_MEASURE(h33);
WEIR_MEASURE(h34);
WEIR_MEASURE(h35);

/* findings-series.c, for their tests. sorted: n > 0 ascending values.
 * The nonparametric 95 % interval of the median, false where n is too small for one. */
bool weir_series_interval(const double *sorted, int n, double *low, double *high);
/* The median of all slopes between two values, a step (Theil and Sen). n >= 2. */
double weir_series_slope(const double *v, int n);

/* How unsteady is a phase that ended after 'end' seconds? moved: bytes or operations in n
 * intervals of 'width' seconds, the last one up to the end. Of the last five of ten windows, the
 * larger of the range and twice the fit's change, over the mean (limits 20 % and 10 % of SNIA);
 * NaN: too few intervals. */
#define WEIR_SERIES_WINDOWS 10
#define WEIR_SERIES_LAST 5
double weir_series_unsteady(const uint64_t *moved, unsigned n, double width, double end);

#endif
