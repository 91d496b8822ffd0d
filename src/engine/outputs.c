/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c - the outputs of a run: opened before it, closed after it */
#include "config.h"
#include "engine/outputs.h"

#include <strings.h>

#include "par/agree.h"

int weir_outputs_open(struct weir_run *run, const char *list, const char *format, const char *path,
                      struct weir_err *err)
{
    int rc = 0;

    run->details |= list || strcasecmp(format, "JSON") == 0;
    if (run->world.rank == 0)
        rc = list ? weir_report_add_list(&run->report, list, &run->arena, err)
                  : weir_report_add(&run->report, format, path, err);
    return weir_agree(&run->world, rc, err);
}

enum weir_code weir_run_refuse(struct weir_run *run, const struct weir_err *err)
{
    if (run->world.rank == 0)
        weir_report_error(&run->log, err);
    return err->code;
}

/* Say that an output is not what it should be; this is the status when nothing else went wrong. */
static enum weir_code blame_output(struct weir_run *run, enum weir_code code,
                                   const struct weir_err *err)
{
    weir_report_error(&run->log, err);
    return code == WEIR_OK ? err->code : code;
}

static void report_status(struct weir_run *run, enum weir_code code)
{
    weir_report_leave_all(&run->report);
    weir_report_int(&run->report, WEIR_FOR_DATA, "status", code);
    weir_report_str(&run->report, WEIR_FOR_DATA, "error", run->first_error.text);
}

enum weir_code weir_outputs_close(struct weir_run *run, enum weir_code code)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t last;

    code = weir_timeline_end(run, code);
    if (weir_report_end_rows(&run->report, &err) < 0)
        code = blame_output(run, code, &err);
    report_status(run, code);
    if (weir_report_end(&run->report, &err) < 0)
        code = blame_output(run, code, &err);
    last = code;
    weir_allmax_i64(&run->world, &last, 1);
    return (enum weir_code)last;
}
