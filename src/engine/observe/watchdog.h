/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.h - calls into a backend that do not return, and ranks that stand still
 * (--io-timeout) */
#ifndef WEIR_ENGINE_OBSERVE_WATCHDOG_H
#define WEIR_ENGINE_OBSERVE_WATCHDOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/backend.h"
#include "engine/observe/stall.h"
#include "engine/report/report.h"

#define WEIR_WARN_SECONDS 60

/* What a watchdog needs; all of it must live as long. */
struct weir_watchdog_ground {
    const struct weir_board *board;
    struct weir_report *report; /* its documents are written when the job ends here */
    const char *host;
    int rank;
    int fd; /* for warnings, -1: none. The words of the end of the job go to standard error */
};

/* A thread that looks at the call this rank is in, and at what the other ranks of the node show. A
 * call that hangs cannot be ended from inside, a process that is stopped says nothing, and the
 * other ranks wait for it: so the thread of another rank says who does not move, first in warnings,
 * and after the limit it ends the job. A rank that is alone on its node is watched by nobody: the
 * batch system does that. Zero: not running. */
struct weir_watchdog {
    struct weir_call call;
    struct weir_stall stall;
    pthread_t thread;
    uint64_t limit_ns; /* 0: none */
    uint64_t warn_ns, next_warning_ns;
    uint64_t look_ns;  /* from look to look */
    uint64_t still_ns; /* no heartbeat for so long is named beside a call */
    struct weir_watchdog_ground on;
    char said[1500]; /* why the job ends */
    bool rescued;    /* documents are written */
    uint32_t stop; /* a futex: for the thread */
    bool running;
};

/* Start to watch, after the end of an earlier watch. limit_s is 0 or the limit of a call. Warnings
 * come every WEIR_WARN_SECONDS, or as many seconds as WEIR_WATCH_SECONDS says in the environment
 * (0: none). Local. -1 and err (WEIR_ESETUP) when there is a limit that cannot be kept; without
 * one, nothing is watched then. */
int weir_watchdog_begin(struct weir_watchdog *w, const struct weir_watchdog_ground *on, int limit_s,
                        struct weir_err *err);

/* Stop and join the thread. Harmless when it is not running. */
void weir_watchdog_end(struct weir_watchdog *w);

/* This rank waits for a command of the user, which is watched like a call and dies with the job;
 * child: as in kill(2). And it has ended: does not return where the watchdog has ended it, with the
 * job. Local. */
void weir_watchdog_command(struct weir_watchdog *w, const char *command, pid_t child);
void weir_watchdog_command_end(struct weir_watchdog *w);

#endif
