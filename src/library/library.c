/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - the benchmarks by name, and a run of one inside another program */
#include "library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/observer.h"
#include "engine/command.h"
#include "par/agree.h"
#include "weir.h"

/* ---- the benchmarks, by name ---- */

const char *weir_version(void)
{
    return PACKAGE_VERSION;
}

const char *weir_benchmark_name(int i)
{
    for (int n = 0; weir_benchmarks[n]; n++)
        if (n == i)
            return weir_benchmarks[n]->name;
    return NULL;
}

const struct weir_program *weir_benchmark_find(const char *name)
{
    for (const struct weir_program *const *all = weir_benchmarks; name && *all; all++)
        if (strcmp((*all)->name, name) == 0)
            return *all;
    return NULL;
}

/* ---- a run ---- */

_Static_assert(WEIR_OUTCOME_TEXT >= WEIR_ERR_TEXT, "an error fits into the outcome");

/* Send the error text of rank 0 to all ranks. */
static void share_outcome(const struct weir_par *par, enum weir_code code,
                          const struct weir_err *err, struct weir_outcome *out)
{
    *out = (struct weir_outcome) { .size = sizeof(*out), .status = code };
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

/* The caller, whose functions run in the caller's locale. */
struct caller {
    const struct weir_inside *in;
    locale_t locale;
    const struct weir_run *run;
    const char *phase; /* the one that runs; NULL: none */
};

static void call_with_name(void *arg, const char *phase)
{
    const struct caller *c = arg;
    locale_t own = uselocale(c->locale);

    if (c->in->hooks && c->in->hooks->before)
        c->in->hooks->before(c->in->hooks->arg, phase);
    uselocale(own);
}

static int call_before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                       struct weir_err *err)
{
    struct caller *c = state;

    call_with_name(c, rec->phase->key);
    c->phase = rec->phase->key;
    return 0;
}

static int forget_phase(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                        struct weir_err *err)
{
    ((struct caller *)state)->phase = NULL;
    return 0;
}

/* The row of a caller that is informed of phases. */
static const struct weir_observer informed = {
    .name = "caller", .before = call_before, .after = forget_phase
};

/* For weir_interrupt_poll. */
static bool ask_caller(void *arg)
{
    const struct caller *c = arg;
    const struct weir_progress now = { .size = sizeof(now),
                                       .phase = c->phase,
                                       .bytes = c->phase ? c->run->counters.bytes : 0,
                                       .operations = c->phase ? c->run->counters.done : 0 };
    locale_t own = uselocale(c->locale);
    int stop = c->in->hooks->stop(c->in->hooks->stop_arg, &now);

    uselocale(own);
    return stop != 0;
}

static void inform_caller(struct weir_run *run, struct caller *caller)
{
    const struct weir_hooks *hooks = caller->in->hooks;

    caller->run = run;
    if (hooks && (hooks->before || hooks->stop))
        weir_observers_hand_in(run, &informed, caller);
    if (hooks && hooks->stop) {
        run->interrupt.asks = ask_caller;
        run->interrupt.arg = caller;
    }
}

static ssize_t write_text(void *cookie, const char *bytes, size_t len)
{
    const struct caller *c = cookie;
    locale_t own = uselocale(c->locale);

    c->in->text(c->in->text_arg, bytes, len);
    uselocale(own);
    return (ssize_t)len;
}

/* Adds the readers of the results on rank 0. *made: a stream to close after the run. */
static int add_readers(struct weir_run *run, const struct caller *caller, FILE **made,
                       struct weir_err *err)
{
    const struct weir_inside *in = caller->in;
    const cookie_io_functions_t functions = { .write = write_text };

    if (run->log.rank != 0)
        return 0;
    if (in->capture && weir_capture_add(&run->report, in->capture, err) < 0)
        return -1;
    if (in->stream && weir_report_add_stream(&run->report, in->stream, err) < 0)
        return -1;
    if (!in->text)
        return 0;
    *made = fopencookie((void *)(uintptr_t)caller, "w", functions);
    if (!*made)
        return weir_fail(err, WEIR_ESETUP, "create a stream for the text");
    return weir_report_add_stream(&run->report, *made, err);
}

/* Readers and options, and then either an answer to --help or the run. */
static enum weir_code answer_or_run(struct weir_run *run, const struct caller *caller, FILE **made,
                                    const struct weir_par *par, struct weir_err *err)
{
    const struct weir_inside *in = caller->in;
    struct weir_command command;
    int status = WEIR_OK;
    int rc = add_readers(run, caller, made, err);

    if (rc == 0)
        rc = weir_program_options(run, &command, in->program, in->argc, in->argv, err);
    if (weir_agree_check(par, rc, err) < 0)
        return report_error(run, err);
    if (command.common.help || command.common.version || command.common.dump) {
        if (par->rank == 0)
            weir_command_answer(&command, &status);
        return (enum weir_code)status;
    }
    return weir_program_run(run, &command, par->comm, in->shown_argc, in->shown, err);
}

/* Allocates memory on all ranks for a list that rank 0 has kept. */
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
    if (failed) {
        weir_capture_clear(c);
        c->failed = true;
        return;
    }
    weir_bcast(par, c->result, sizeof(*c->result) * (size_t)c->results, 0);
    weir_bcast(par, c->remark, sizeof(*c->remark) * (size_t)c->remarks, 0);
}

/* One run at a time is a rule of the process, whoever calls: so the thread that runs (0: none) is known
 * to the process. The only variable of its kind; testing/lint/globals.sh knows it. */
static pid_t busy;

static int refuse(struct weir_outcome *out, const char *words, const char *name)
{
    *out = (struct weir_outcome) { .size = sizeof(*out), .status = WEIR_EUSAGE };
    snprintf(out->error, sizeof(out->error), "%s%.*s", words, WEIR_NAME_TEXT, name);
    return -1;
}

const char *weir_inside_no_mpi(void)
{
    int begun, over;

    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return over     ? "MPI is finalised: nothing can run after MPI_Finalize"
           : !begun ? "MPI is not initialised: call MPI_Init first"
                    : NULL;
}

/* Checks the arguments that need no other rank. */
static int check_call(const struct weir_inside *in, struct weir_outcome *out)
{
    const char *no_mpi = weir_inside_no_mpi();
    int inter;

    if (no_mpi)
        return refuse(out, no_mpi, "");
    if (in->comm == MPI_COMM_NULL)
        return refuse(out, "the communicator is MPI_COMM_NULL", "");
    MPI_Comm_test_inter(in->comm, &inter);
    if (inter)
        return refuse(out, "an intercommunicator is not possible: MPI_Intercomm_merge makes an intracommunicator", "");
    if (in->argc < 1 || !in->argv || !in->argv[0])
        return refuse(out, "argv[0] is missing: it is the name of a program", "");
    for (int i = 1; i < in->argc; i++)
        if (!in->argv[i])
            return refuse(out, "an argument of the command line is NULL", "");
    return 0;
}

/* Make the ranks of the run, and check on all of them that none has another run, whose thread is
 * 'runs' (0: none). A thread that runs itself has been called on some ranks only; and only where MPI
 * allows calls of several threads can the other ranks be asked. */
static int begin_alone(const struct weir_inside *in, pid_t runs, struct weir_par *par,
                       struct weir_outcome *out)
{
    static const char words[] = "another run of this library goes on in the process";
    struct weir_err err = WEIR_ERR_INIT;
    int64_t other = runs != 0;
    int level;

    MPI_Query_thread(&level);
    if (runs == gettid() || (runs && level < MPI_THREAD_MULTIPLE))
        return refuse(out, words, "");
    if (weir_par_init(par, in->comm, &err) < 0) { /* the same words on all ranks */
        *out = (struct weir_outcome) { .size = sizeof(*out), .status = err.code };
        snprintf(out->error, sizeof(out->error), "%s", err.text);
        return -1;
    }
    weir_allmax_i64(par, &other, 1);
    if (!other)
        return 0;
    weir_par_free(par);
    return refuse(out, words, "");
}

static void run_alone(struct caller *caller, struct weir_par *par, struct weir_outcome *out)
{
    const struct weir_inside *in = caller->in;
    const struct weir_planned planned = { call_with_name, caller };
    struct weir_run run = { .report.details = in->capture != NULL,
                            .plans_only = in->plans_only ? &planned : NULL };
    struct weir_err err = WEIR_ERR_INIT;
    FILE *made = NULL;
    enum weir_code code;

    weir_program_begin(&run, par->rank);
    inform_caller(&run, caller);
    if (in->quiet)
        run.log.fd = -1;
    code = answer_or_run(&run, caller, &made, par, &err);
    weir_program_end(&run);
    weir_run_last_lines(&run, 0);
    if (made)
        fclose(made);
    if (in->capture && in->capture->keep)
        share_capture(par, in->capture);
    if (in->capture && in->capture->failed && code == WEIR_OK) {
        weir_refuse(&err, WEIR_ESETUP, "no memory for all results");
        code = err.code;
    }
    share_outcome(par, code, &err, out);
}

int weir_inside_run(const struct weir_inside *in, struct weir_outcome *out)
{
    struct caller caller = { .in = in };
    struct weir_par par;
    pid_t runs = 0;

    if (check_call(in, out) < 0)
        return out->status;
    __atomic_compare_exchange_n(&busy, &runs, gettid(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (begin_alone(in, runs, &par, out) == 0) {
        caller.locale = weir_locale_plain();
        if (in->capture) {
            weir_capture_clear(in->capture);
            in->capture->locale = caller.locale;
        }
        run_alone(&caller, &par, out);
        uselocale(caller.locale);
        weir_par_free(&par);
    }
    if (!runs)
        __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return out->status;
}

int weir_measure(const char *benchmark, int argc, char *const *argv, const MPI_Comm *comm,
                 void (*each)(void *arg, const struct weir_result *result), void *arg,
                 struct weir_outcome *out)
{
    struct weir_capture capture = { .each = each, .arg = arg };
    struct weir_inside in = { .program = weir_benchmark_find(benchmark),
                              .comm = comm ? *comm : MPI_COMM_WORLD,
                              .argc = argc,
                              .argv = argv,
                              .shown_argc = argc,
                              .shown = argv,
                              .capture = each ? &capture : NULL };
    struct weir_outcome found;
    uint64_t size = out ? out->size : 0;

    if (!out)
        return WEIR_EUSAGE;
    if (in.program)
        weir_inside_run(&in, &found);
    else
        refuse(&found, "there is no benchmark of this name (weir_benchmark_name lists them): ",
               benchmark ? benchmark : "NULL");
    memcpy(out, &found, size < sizeof(found) ? size : sizeof(found));
    out->size = size;
    return found.status;
}
