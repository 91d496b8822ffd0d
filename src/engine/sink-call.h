/* SPDX-License-Identifier: BSD-3-Clause */
/* sink-call.h - the phases handed to a function of another program */
#ifndef WEIR_ENGINE_SINK_CALL_H
#define WEIR_ENGINE_SINK_CALL_H

#include "engine/report.h"
#include "weir.h"

/* Who is called. Lives as long as the report. */
struct weir_sink_call {
    void (*each)(void *arg, const struct weir_result *result);
    void *arg;
};

/* Add a sink that calls for each phase. Local. -1 and err (WEIR_EUSAGE). */
int weir_report_add_call(struct weir_report *r, struct weir_sink_call *call, struct weir_err *err);

#endif
