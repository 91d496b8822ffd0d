/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - what makes a result unreliable: one table of rules, and the judgement of a test by
 * its inputs. No I/O. */
#pragma once

#include "base/err.h"
#include "engine/check/inputs.h"

/* NOTE: worth knowing. SUSPECT: the number probably does not mean what it seems to. INVALID: by
 * this rule set it must not be published. */
enum weir_severity { WEIR_SOUND, WEIR_NOTE, WEIR_SUSPECT, WEIR_INVALID };

enum weir_rule_set {
    WEIR_RULES_DEFAULT,
    WEIR_RULES_JUPITER,
    WEIR_RULES_IO500,
    WEIR_RULES_SNIA,
    WEIR_RULES_MLPERF,
    WEIR_RULES_NONE
};

#define WEIR_RULE_SETS WEIR_RULES_NONE /* those that have rules */

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
    const char *unit, *brief;    /* as in the rule */
    bool is_usual; /* what the default options write: people get it where it is more than a note */
    const char *more; /* the value may be larger, because ...: it is not fine then; NULL: it is not */
    char text[WEIR_FINDING_TEXT]; /* a clause for people; the reason, when it is not judged */
};

enum { WEIR_RULES_FILES = 4, WEIR_RULES_FILE = 24 }; /* of rules, and how many one has at most */
#define WEIR_RULES (WEIR_RULES_FILES * WEIR_RULES_FILE)

/* Limits that a user has changed, in the order of weir_rule_at; NaN: as in the rule set. */
struct weir_limits {
    double limit[WEIR_RULES];
};

/* Parse "H01:30,H15:5" or "H01:30+H15:5" (NULL or "": nothing is changed). Local. -1 and err
 * (WEIR_EUSAGE). */
int weir_limits_parse(struct weir_limits *l, const char *text, struct weir_err *err);

/* Judge by every rule of the set; those that the set does not have are left out. limits may be
 * NULL. Local. Returns the number of entries in out. */
int weir_findings_judge(const struct weir_inputs *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_finding out[WEIR_RULES]);

/* Return the number of findings of a test that this value of --findings shows to people; NULL,
 * as when it was not given: 0. Local. -1: not a value. */
int weir_findings_shown(const char *value);
const char *weir_severity_name(enum weir_severity severity);
/* The verdict by the worst finding, for people: SOUND, SUSPECT or INVALID (a NOTE is sound). */
const char *weir_verdict_name(enum weir_severity worst);

/* A row of the table "findings" for programs. */
struct weir_finding_row {
    const char *id, *outcome, *severity, *unit, *text, *means, *remedy;
    double value, limit;
    int test;
};

extern const struct weir_table weir_findings_table;
