/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.c - calls into a backend that do not return, and ranks that stand still
 * (--io-timeout) */
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "base/thread.h"
#include "engine/observe/all.h"
#include "engine/observe/stall.h"
#include "par/sharedstatus.h"

/* Seconds between warnings; WEIR_WATCH_SECONDS in the environment overrides them (0: none). */
#define WARN_SECONDS 60
#define POLL_NS (100 * 1000000u)
#define GRACE_S 3 /* for MPI_Abort; then the process ends itself */
#define WORDS 1400
#define SUFFIX " (--io-timeout)"
#define RESCUE_S 2 /* limit for the documents: their file system may be the one that hangs */

/* A thread that polls the call of this rank, and the state that the other ranks of the node
 * publish. A call that hangs cannot be ended from inside, a process that is stopped prints
 * nothing, and the other ranks wait for it. So the thread of another rank names the one that
 * makes no progress, first in warnings; after the limit it ends the job. A rank that is alone
 * on its node is left to the batch system. Zero: not running. */
struct watchdog {
    struct weir_run *run;
    struct weir_call call;
    struct weir_stall stall;
    pthread_t thread;
    uint64_t limit_ns; /* 0: none */
    uint64_t warn_ns, next_warning_ns;
    uint64_t poll_ns; /* from poll to poll */
    char cause[1500]; /* why the job ends */
    bool rescued;    /* documents are written */
    uint32_t stop;   /* a futex: for the thread */
    bool running;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A warning, or the error of a process that ends here. */
static void report(const struct watchdog *w, bool ends, const char *words)
{
    const struct weir_log log = { .fd = ends ? STDERR_FILENO : w->run->log.fd, .rank = 0 };
    struct weir_err err = WEIR_ERR_INIT;

    if (!ends) {
        weir_warn(&log, NULL, "%s", words);
        return;
    }
    weir_refuse(&err, WEIR_EIO, "%s" SUFFIX, words);
    weir_report_error(&log, &err);
}

/* Reports a rank. The first text is kept as the cause of the end. */
static void describe(struct watchdog *w, int slot, bool still, bool ends)
{
    char words[WORDS];

    weir_stall_describe(&w->stall, slot, still, w->run->par.host, words, sizeof(words));
    if (!w->cause[0] && snprintf(w->cause, sizeof(w->cause), "%s" SUFFIX, words) < 0)
        w->cause[0] = '\0';
    report(w, ends, words);
}

/* The rank that stands still before those that wait for it in a call. */
static void report_worst(struct watchdog *w, const struct weir_stall_worst *worst, uint64_t from_ns,
                         bool ends)
{
    w->cause[0] = '\0';
    if (worst->still >= 0)
        describe(w, worst->still, true, ends);
    if (worst->call >= 0 && worst->call_ns >= from_ns)
        describe(w, worst->call, false, ends);
}

static void *rescue(void *arg)
{
    struct watchdog *w = arg;

    weir_locale_plain();
    weir_report_rescue(&w->run->report, WEIR_EIO, w->cause);
    __atomic_store_n(&w->rescued, true, __ATOMIC_RELEASE);
    return NULL;
}

/* Write the documents, in a thread that may hang. */
static void save_results(struct watchdog *w)
{
    pthread_t thread;

    if (w->run->report.n == 0 || pthread_create(&thread, NULL, rescue, w) != 0)
        return;
    for (uint64_t t = 0; t < RESCUE_S * (uint64_t)WEIR_NS_PER_S; t += POLL_NS / 10) {
        if (__atomic_load_n(&w->rescued, __ATOMIC_ACQUIRE))
            break;
        weir_sleep_ns(POLL_NS / 10);
    }
}

/* The end of all ranks, and of the commands that they wait for. MPI_Abort itself may hang like the
 * call that does; the alarm does not. */
static void give_up(struct watchdog *w, const struct weir_stall_worst *worst)
{
    weir_stall_end_job(&w->stall);
    report_worst(w, worst, w->limit_ns / 2, true);
    signal(SIGALRM, SIG_DFL);
    alarm(RESCUE_S + GRACE_S);
    save_results(w);
    weir_mpi_abort(WEIR_EIO);
}

/* True when a warning is due: once in each interval of a stall. */
static bool is_due(struct watchdog *w, uint64_t worst_ns)
{
    if (worst_ns < w->warn_ns) {
        w->next_warning_ns = w->warn_ns;
        return false;
    }
    if (w->warn_ns == 0 || worst_ns < w->next_warning_ns)
        return false;
    w->next_warning_ns = (worst_ns / w->warn_ns + 1) * w->warn_ns;
    return true;
}

static void poll_node(struct watchdog *w)
{
    struct weir_stall_worst worst;
    uint64_t worst_ns;

    if (!weir_stall_poll(&w->stall, &w->call, &worst))
        return;
    worst_ns = larger(worst.still_ns, worst.call_ns);
    if (w->limit_ns && worst_ns > w->limit_ns)
        give_up(w, &worst);
    else if (is_due(w, worst_ns))
        report_worst(w, &worst, w->warn_ns / 2, false);
}

/* Until the next poll, or the end. The time is relative: clocks may be set during the wait. */
static bool wait_for_poll(struct watchdog *w)
{
    const struct timespec most = { (time_t)(w->poll_ns / WEIR_NS_PER_S),
                                   (long)(w->poll_ns % WEIR_NS_PER_S) };

    syscall(SYS_futex, &w->stop, FUTEX_WAIT_PRIVATE, 0, &most, NULL, 0);
    return __atomic_load_n(&w->stop, __ATOMIC_ACQUIRE) != 0;
}

static void *watch(void *arg)
{
    struct watchdog *w = arg;

    weir_locale_plain();
    do {
        poll_node(w);
    } while (!wait_for_poll(w));
    return NULL;
}

static int64_t warning_seconds(void)
{
    const char *text = getenv("WEIR_WATCH_SECONDS");
    int64_t seconds;

    if (!text || weir_size_parse(text, 0, INT32_MAX, &seconds, NULL) < 0)
        return WARN_SECONDS;
    return seconds;
}

/* Stop and join the thread. */
static void stop_watching(struct watchdog *w)
{
    if (!w->running)
        return;
    __atomic_store_n(&w->stop, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &w->stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(w->thread, NULL);
    weir_stall_end(&w->stall);
    w->running = false;
}

/* Start the thread. Fails when a limit cannot be kept; without a limit nothing is watched then. */
static int watch_calls(struct watchdog *w, struct weir_run *run,
                       const struct weir_shared_status *shared, struct weir_err *err)
{
    int limit_s = run->test->plan.options->io_timeout_s;
    uint64_t still_ns;
    int sys;

    memset(w, 0, sizeof(*w));
    w->run = run;
    w->limit_ns = (uint64_t)limit_s * WEIR_NS_PER_S;
    w->warn_ns = w->next_warning_ns = (uint64_t)warning_seconds() * WEIR_NS_PER_S;
    if (w->limit_ns == 0 && w->warn_ns == 0)
        return 0;
    still_ns = w->limit_ns ? w->limit_ns / 2 : w->warn_ns / 2;
    if (w->warn_ns && w->warn_ns / 2 < still_ns)
        still_ns = w->warn_ns / 2;
    still_ns = larger(WEIR_STALL_NS, still_ns);
    w->poll_ns = w->limit_ns || w->warn_ns < 10 * WEIR_STALL_NS ? POLL_NS : WEIR_STALL_NS;
    if (weir_stall_begin(&w->stall, shared, run->par.named, w->poll_ns, still_ns) < 0)
        return limit_s ? weir_fail(err, WEIR_ESETUP, "memory for --io-timeout") : 0;
    sys = weir_thread_start(&w->thread, watch, w);
    w->running = sys == 0;
    if (w->running)
        return 0;
    weir_stall_end(&w->stall);
    if (limit_s == 0)
        return 0;
    return weir_refuse(err, WEIR_ESETUP, "start the thread of --io-timeout: %s", strerror(sys));
}

/* ---- the row ---- */

struct state {
    struct weir_shared_status shared; /* where the ranks of a node see each other */
    struct watchdog dog;     /* of the test that runs */
};

static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    weir_shared_status_begin(&((struct state *)state)->shared, &run->world,
                             sizeof(struct weir_stall_slot));
    return 0;
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *s = state;

    if (watch_calls(&s->dog, run, &s->shared, err) < 0)
        return -1;
    run->call = s->dog.running ? &s->dog.call : NULL;
    return 0;
}

static void test_free(struct weir_run *run, void *state)
{
    stop_watching(&((struct state *)state)->dog);
    run->call = NULL;
}

/* A command is watched like a call, and dies with the job: where the watchdog has ended it, its end
 * does not return. */
static void command(struct weir_run *run, void *state, const char *line, pid_t child)
{
    struct watchdog *w = &((struct state *)state)->dog;

    weir_stall_child(&w->stall, child);
    if (line)
        weir_call_name(&w->call, "execution", line);
    else
        weir_call_end(&w->call);
}

/* The thread runs only after an error that ended a run early. */
static void release(struct weir_run *run, void *state)
{
    struct state *s = state;

    stop_watching(&s->dog);
    weir_shared_status_end(&s->shared);
}

const struct weir_observer weir_watchdog = {
    .name = "watchdog",
    .state_size = sizeof(struct state),
    .run_begin = run_begin,
    .release = release,
    .test_begin = test_begin,
    .test_free = test_free,
    .command = command,
};
