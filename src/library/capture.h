/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.h - results of a run for the program that called it: phases, findings, messages */
#pragma once

#include "base/thread.h"
#include "engine/report/report.h"
#include "weir.h"

/* Functions of the caller, and results (rank 0). Lives as long as the report; zero-initialise. */
struct weir_capture {
    void (*each)(void *arg, const struct weir_result *result); /* may be NULL */
    void (*message)(void *arg, const char *kind, const char *text);
    void *arg;
    locale_t locale; /* for these functions: the caller's, set by weir_inside_run */
    bool keep; /* results and remarks */
    struct weir_result *result;
    struct weir_remark *remark;
    int results, remarks;
    int worst;   /* enum weir_severity, -1: nothing was judged */
    bool failed; /* no memory for all of it */
};

/* Add a sink that hands on and keeps. Local. -1 and err (WEIR_EUSAGE). */
int weir_capture_add(struct weir_report *r, struct weir_capture *c, struct weir_err *err);

/* Forget results and remarks. Local. */
void weir_capture_clear(struct weir_capture *c);
