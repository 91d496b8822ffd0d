/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.c - a limit on the time of one call into a backend */
#include "config.h"
#include "engine/watchdog.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define LOOK_NS (100 * 1000000u)
#define GRACE_S 3 /* for MPI_Abort; then the process ends itself */

/* One line, and the end of all ranks. MPI_Abort itself may hang like the call that does; the
 * alarm does not. */
static void give_up(const struct weir_watchdog *w, uint64_t since_ns)
{
    const struct weir_log log = { .fd = STDERR_FILENO, .rank = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    double seconds = (double)(weir_now_ns() - since_ns) / WEIR_NS_PER_S;

    if (w->call.len)
        weir_refuse(&err, WEIR_EIO,
                    "rank %d on %s: %s of %" PRIu64 " bytes at offset %" PRIu64
                    " of '%s' has not returned for %.1f seconds (--io-timeout)",
                    w->rank, w->host, w->call.what, w->call.len, w->call.off, w->call.path,
                    seconds);
    else
        weir_refuse(&err, WEIR_EIO,
                    "rank %d on %s: %s of '%s' has not returned for %.1f seconds (--io-timeout)",
                    w->rank, w->host, w->call.what, w->call.path, seconds);
    weir_report_error(&log, &err);
    signal(SIGALRM, SIG_DFL);
    alarm(GRACE_S);
    weir_mpi_abort(WEIR_EIO);
}

static void *watch(void *arg)
{
    struct weir_watchdog *w = arg;

    while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
        uint64_t since = __atomic_load_n(&w->call.begin_ns, __ATOMIC_ACQUIRE), now = weir_now_ns();

        if (since != 0 && now > since && now - since > w->limit_ns)
            give_up(w, since);
        weir_sleep_ns(LOOK_NS);
    }
    return NULL;
}

int weir_watchdog_begin(struct weir_watchdog *w, int rank, const char *host, int limit_s,
                        struct weir_err *err)
{
    int sys;

    weir_watchdog_end(w);
    memset(w, 0, sizeof(*w));
    w->rank = rank;
    w->host = host;
    w->limit_ns = (uint64_t)limit_s * WEIR_NS_PER_S;
    sys = pthread_create(&w->thread, NULL, watch, w);
    if (sys != 0)
        return weir_refuse(err, WEIR_ESETUP, "start the thread of --io-timeout: %s", strerror(sys));
    w->running = true;
    return 0;
}

void weir_watchdog_end(struct weir_watchdog *w)
{
    if (!w->running)
        return;
    __atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
    pthread_join(w->thread, NULL);
    w->running = false;
}
