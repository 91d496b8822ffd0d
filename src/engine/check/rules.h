/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.h - the rules: what each finding means, where it begins, and how its value is measured. A
 * rule is a function and a row in rules-data.c (H01 to H14), rules-series.c (H15 to H18),
 * rules-run.c (H19 to H38) or rules-objects.c (H39 to H44). */
#pragma once

#include <stddef.h>

#include "engine/check/findings.h"

/* A rule as a rule set has it. */
struct weir_level {
    enum weir_severity severity; /* WEIR_SOUND: the set does not have it */
    double limit;
    const char *unit; /* NULL: that of the rule */
};

/* The phases that a test must have done, else the rule is not judged. */
enum weir_needs {
    WEIR_NEEDS_READS = 1,
    WEIR_NEEDS_WRITES = 2,
    WEIR_NEEDS_DATA = 4,
    WEIR_NEEDS_STORED = 8,
    WEIR_NEEDS_OBJECTS = 16 /* its files are objects of a service */
};

/* The member from which the value is read, where the measure writes no text. */
enum weir_value {
    WEIR_VALUE_NONE,
    WEIR_VALUE_TEST,  /* a double of the test, in the unit of the rule */
    WEIR_VALUE_SHARE, /* a double of the test, of 1: in percent */
    WEIR_VALUE_PHASE, /* a double of the phase with the largest, of 1: in percent */
    WEIR_VALUE_IS,    /* an int of the test, -1 unknown: 1 when it is not 0 */
    WEIR_VALUE_IS_NOT /* 1 when it is 0 */
};

/* One row of the table. */
struct weir_rule {
    const char *id, *what, *unit;
    const char *means, *remedy; /* of a finding: what it means for the rate; what to do */
    int weight;        /* of two findings of one severity the heavier one is shown first */
    const char *brief; /* a format of the value for the line, 32 characters: "not flushed" */
    const char *with;  /* a rule: where both are found, they are one for people; NULL: none */
    bool below;     /* a finding when the value is below the limit; else when it is above */
    bool data_only; /* not in the line for people */
    struct weir_level at[WEIR_RULE_SETS];
    struct weir_level worse; /* of the default set: from here on; severity WEIR_SOUND: none */
    unsigned needs;          /* enum weir_needs */
    /* Sets value and text, or says why not, or writes no text. May change severity, limit and unit.
     * NULL: none. */
    void (*measure)(const struct weir_inputs *f, struct weir_finding *out);
    enum weir_value from; /* where the measure writes no text */
    size_t member;        /* its offset */
    const char *text;     /* a format of the value and the key of its phase; without one: of "is" */
    const char *text_not; /* of "is not" */
    const char *unknown;  /* why there is no value: "no phase reads data" */
    bool cached;          /* of a page cache: inputs may say why it is not known, or may be more */
};

/* The rows of each file, which end with one without an id. */
extern const struct weir_rule weir_rules_data[], weir_rules_series[], weir_rules_run[],
    weir_rules_objects[];
#define WEIR_RULES_FIT(rows)                                                                       \
    _Static_assert(sizeof(rows) / sizeof(*(rows)) <= WEIR_RULES_FILE + 1, "see findings.h")

/* Return rule i of all, in the order of the files; NULL: there are fewer. Local. */
const struct weir_rule *weir_rule_at(int i);

/* ---- for the rows ---- */

#define WEIR_RULE(number, heavy, heading, of)                                                      \
    .id = (number), .weight = (heavy), .what = (heading), .unit = (of)
/* The severities of default, jupiter, io500, snia and mlperf, with one limit; without mlperf that of default. */
#define WEIR_RULE_AT5(limit, d, j, i, s, m)                                                        \
    .at = { { WEIR_##d, limit, NULL },                                                             \
            { WEIR_##j, limit, NULL },                                                             \
            { WEIR_##i, limit, NULL },                                                             \
            { WEIR_##s, limit, NULL },                                                             \
            { WEIR_##m, limit, NULL } }
#define WEIR_RULE_AT(limit, d, j, i, s) WEIR_RULE_AT5(limit, d, j, i, s, d)
#define WEIR_RULE_VALUE(kind, name) .from = (kind), .member = offsetof(struct weir_inputs, name)
#define WEIR_RULE_PHASE(name)                                                                      \
    .from = WEIR_VALUE_PHASE, .member = offsetof(struct weir_inputs_phase, name)

#define WEIR_NO_PHASE "no phase was measured"
#define WEIR_NO_DATA "no phase moves data alone"
#define WEIR_NO_READ "no phase reads data"
#define WEIR_NO_WRITE "no phase writes data"
#define WEIR_NOT_STORED "nothing is stored"
#define WEIR_ONE_NODE "there is one node"
#define WEIR_NO_OBJECTS "the files are no objects of a service"
#define WEIR_OBJECTS "objects are on a service, and in no cache of a node"

/* ---- for the measures ---- */

/* The phase with the largest (sign 1) or least (-1) known value of a member, a double, by its
 * offset; of those that 'only' is true of (NULL: of all). NULL: not known of any. Local. */
const struct weir_inputs_phase *weir_rule_extreme(const struct weir_inputs *f, size_t member,
                                                  int sign, bool (*only)(const struct weir_inputs_phase *));

#define WEIR_MOST(f, name, only)                                                                   \
    weir_rule_extreme(f, offsetof(struct weir_inputs_phase, name), 1, only)
#define WEIR_LEAST(f, name, only)                                                                  \
    weir_rule_extreme(f, offsetof(struct weir_inputs_phase, name), -1, only)

/* The member at this offset. */
#define WEIR_RULE_MEMBER(type, of, offset)                                                        \
    (*(const type *)(const void *)((const char *)(of) + (offset)))

/* The value, and a clause about it for people. NaN: the limit does not apply. Local. */
void weir_finding_set(struct weir_finding *out, double value, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Make a finding SUSPECT, where it would be less. Local. */
void weir_finding_suspect(struct weir_finding *out);

/* Make a finding unknown, because of 'why', a clause. Local. */
void weir_finding_unknown(struct weir_finding *out, const char *why);
