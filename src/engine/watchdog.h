/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.h - a limit on the time of one call into a backend (--io-timeout) */
#ifndef WEIR_ENGINE_WATCHDOG_H
#define WEIR_ENGINE_WATCHDOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"

/* A thread that looks at the call this rank is in. A call that hangs cannot be ended from inside,
 * and the other ranks wait for this one: so the thread says what hangs and ends the job. Zero: not
 * running. */
struct weir_watchdog {
    struct weir_call call;
    pthread_t thread;
    uint64_t limit_ns;
    int rank;
    const char *host;
    bool running, stop;
};

/* Start to watch, after the end of an earlier watch; host must live as long. Local. -1 and err (WEIR_ESETUP). */
int weir_watchdog_begin(struct weir_watchdog *w, int rank, const char *host, int limit_s,
                        struct weir_err *err);

/* Stop and join the thread. Harmless when it is not running. */
void weir_watchdog_end(struct weir_watchdog *w);

#endif
