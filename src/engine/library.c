/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - weir_measure: a run inside another program */
#include "config.h"
#include "weir.h"

#include <stdio.h>
#include <string.h>

#include "engine/program.h"
#include "engine/sink-call.h"

_Static_assert(WEIR_OUTCOME_TEXT >= WEIR_ERR_TEXT, "an error fits into the outcome");

/* The words of rank 0 for all. */
static void share_outcome(const struct weir_par *par, enum weir_code code,
                          const struct weir_err *err, struct weir_outcome *out)
{
    memset(out, 0, sizeof(*out));
    out->status = code;
    if (par->rank == 0 && snprintf(out->error, sizeof(out->error), "%s", err->text) < 0)
        out->error[0] = '\0';
    weir_bcast(par, out, sizeof(*out), 0);
}

static enum weir_code report_error(const struct weir_run *run, const struct weir_err *err)
{
    if (run->log.rank == 0)
        weir_report_error(&run->log, err);
    return err->code;
}

/* Options, and then either an answer to --help or the run. */
static enum weir_code answer_or_run(struct weir_run *run, const struct weir_driver *d, int argc,
                                    char *const *argv, const struct weir_par *par,
                                    struct weir_err *err)
{
    struct weir_command command;
    int status = WEIR_OK;
    int64_t failed = weir_program_options(run, &command, d, argc, argv, err) < 0;

    weir_allmax_i64(par, &failed, 1);
    if (failed && err->code == WEIR_OK)
        weir_refuse(err, WEIR_EUSAGE, "another rank does not understand its command line");
    if (failed)
        return report_error(run, err);
    if (command.common.help || command.common.version || command.common.dump) {
        if (par->rank == 0)
            weir_command_answer(&command, &status);
        return (enum weir_code)status;
    }
    return weir_program_run(run, &command, par->comm, argc, argv, err);
}

int weir_measure(const struct weir_driver *benchmark, int argc, char *const *argv, MPI_Comm comm,
                 void (*each)(void *arg, const struct weir_result *result), void *arg,
                 struct weir_outcome *out)
{
    struct weir_run run = { .details = each != NULL };
    struct weir_sink_call call = { .each = each, .arg = arg };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;
    enum weir_code code;

    memset(out, 0, sizeof(*out));
    if (weir_par_init(&par, comm, &err) < 0) { /* the same words on all ranks */
        out->status = err.code;
        snprintf(out->error, sizeof(out->error), "%s", err.text);
        return out->status;
    }
    weir_program_begin(&run, par.rank);
    if (each && par.rank == 0)
        weir_report_add_call(&run.report, &call, NULL); /* the first has room */
    code = answer_or_run(&run, benchmark, argc, argv, &par, &err);
    weir_program_end(&run);
    share_outcome(&par, code, &err, out);
    weir_par_free(&par);
    return out->status;
}
