/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.h - what a result is worth: inputs of a test, gathered outside the measured time and
 * judged once at its end; people see one line, programs all of it */
#ifndef WEIR_ENGINE_CHECK_CHECKS_H
#define WEIR_ENGINE_CHECK_CHECKS_H

#include "engine/check/findings.h"

struct weir_run;
struct weir_session;
struct weir_file;

/* A row of the table "findings" for programs. */
struct weir_finding_row {
    const char *id, *outcome, *severity, *unit, *text, *remedy;
    double value, limit;
    int test;
};

extern const struct weir_table weir_findings_table;

/* Note how far requests were applied to rank 0's open file (applied in struct weir_backend). For a
 * program, outside the time of its transfers. Local. */
void weir_checks_applied(struct weir_run *run, struct weir_session *s, struct weir_file *f);

#endif
