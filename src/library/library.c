/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - the benchmarks by name, and a run of one inside another program */
#include "config.h"
#include "library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/program.h"
#include "par/agree.h"
#include "weir.h"

/* ---- the benchmarks, by name ---- */

extern const struct weir_driver weir_ior, weir_mdtest, weir_mdw, weir_mib, h5ex_driver,
    ckpt_checkpoint, ckpt_restart, parts_raw, parts_gatherv, parts_combo;

static const struct weir_driver *const all[] = {
    &weir_ior,        &weir_mdtest,  &weir_mdw,  &weir_mib,      &h5ex_driver,
    &ckpt_checkpoint, &ckpt_restart, &parts_raw, &parts_gatherv, &parts_combo
};

#define ALL ((int)(sizeof(all) / sizeof(*all)))

const char *weir_version(void)
{
    return PACKAGE_VERSION;
}

const char *weir_benchmark_name(int i)
{
    return i >= 0 && i < ALL ? all[i]->name : NULL;
}

const struct weir_driver *weir_benchmark_find(const char *name)
{
    for (int i = 0; name && i < ALL; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

/* ---- a run ---- */

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
    int rc = weir_program_options(run, &command, d, argc, argv, err);

    if (weir_agree_check(par, rc, err) < 0)
        return report_error(run, err);
    if (command.common.help || command.common.version || command.common.dump) {
        if (par->rank == 0)
            weir_command_answer(&command, &status);
        return (enum weir_code)status;
    }
    return weir_program_run(run, &command, par->comm, argc, argv, err);
}

/* What rank 0 has kept, for all. */
static int share_list(const struct weir_par *par, void **list, int *n, size_t size)
{
    size_t bytes;

    weir_bcast(par, n, sizeof(*n), 0);
    bytes = (size_t)*n * size;
    if (par->rank != 0 && bytes > 0 && !(*list = calloc((size_t)*n, size)))
        return -1;
    return 0;
}

static void share_capture(const struct weir_par *par, struct weir_capture *c)
{
    int64_t failed;

    weir_bcast(par, &c->worst, sizeof(c->worst), 0);
    failed = share_list(par, (void **)&c->result, &c->results, sizeof(*c->result)) < 0;
    failed |= share_list(par, (void **)&c->remark, &c->remarks, sizeof(*c->remark)) < 0;
    failed |= c->failed;
    weir_allmax_i64(par, &failed, 1);
    c->failed = failed;
    if (failed)
        return;
    weir_bcast(par, c->result, sizeof(*c->result) * (size_t)c->results, 0);
    weir_bcast(par, c->remark, sizeof(*c->remark) * (size_t)c->remarks, 0);
}

/* Who is called before a phase, in which locale. */
struct caller {
    const struct weir_hooks *hooks;
    locale_t locale;
};

static void call_before(void *arg, const char *phase)
{
    const struct caller *c = arg;
    locale_t own = uselocale(c->locale);

    c->hooks->before(c->hooks->arg, phase);
    uselocale(own);
}

static void run_inside(const struct weir_inside *in, const struct weir_hooks *hooks,
                       struct weir_outcome *out)
{
    struct weir_run run = { .details = in->capture != NULL, .hooks = hooks };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;
    enum weir_code code;
    int there;

    memset(out, 0, sizeof(*out));
    MPI_Initialized(&there);
    if (!there) {
        out->status = WEIR_EUSAGE;
        snprintf(out->error, sizeof(out->error), "MPI is not initialised: call MPI_Init first");
        return;
    }
    if (weir_par_init(&par, in->comm, &err) < 0) { /* the same words on all ranks */
        out->status = err.code;
        snprintf(out->error, sizeof(out->error), "%s", err.text);
        return;
    }
    weir_program_begin(&run, par.rank);
    if (in->quiet)
        run.log.fd = -1;
    if (in->capture && par.rank == 0)
        weir_capture_add(&run.report, in->capture, NULL); /* the first has room */
    code = answer_or_run(&run, in->driver, in->argc, in->argv, &par, &err);
    weir_program_end(&run);
    weir_trust_lines(&run);
    if (in->capture && in->capture->keep)
        share_capture(&par, in->capture);
    if (in->capture && in->capture->failed && code == WEIR_OK) {
        weir_refuse(&err, WEIR_ESETUP, "no memory for all results");
        code = err.code;
    }
    share_outcome(&par, code, &err, out);
    weir_par_free(&par);
}

int weir_inside_run(const struct weir_inside *in, struct weir_outcome *out)
{
    struct caller caller = { .hooks = in->hooks, .locale = weir_locale_plain() };
    const struct weir_hooks before = { .before = call_before, .arg = &caller };

    if (in->capture)
        in->capture->locale = caller.locale;
    run_inside(in, in->hooks && in->hooks->before ? &before : NULL, out);
    uselocale(caller.locale);
    return out->status;
}

int weir_measure(const char *benchmark, int argc, char *const *argv, const MPI_Comm *comm,
                 void (*each)(void *arg, const struct weir_result *result), void *arg,
                 struct weir_outcome *out)
{
    struct weir_capture capture = { .each = each, .arg = arg };
    struct weir_inside in = { .driver = weir_benchmark_find(benchmark),
                              .comm = comm ? *comm : MPI_COMM_WORLD,
                              .argc = argc,
                              .argv = argv,
                              .capture = each ? &capture : NULL };

    if (in.driver && argc > 0 && argv && argv[0])
        return weir_inside_run(&in, out);
    *out = (struct weir_outcome) { .status = WEIR_EUSAGE };
    if (in.driver) {
        snprintf(out->error, sizeof(out->error), "argv[0] is missing: it is the name of a program");
        return out->status;
    }
    snprintf(out->error, sizeof(out->error), "there is no benchmark '%s'",
             benchmark ? benchmark : "");
    return out->status;
}
