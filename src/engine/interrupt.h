/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.h - signals that end a run: the first in an orderly way, the second at once */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU, but those that are ignored or handled
 * when the process starts. They are blocked in all threads, and one thread waits for them. So
 * no call into a file system is interrupted, there is no handler and nothing global, and a
 * process whose main thread hangs can still be ended. Kept in struct weir_run. Zero: not begun,
 * because the process is not weir's. */
struct weir_interrupt {
    pthread_t thread;
    sigset_t watched;  /* what the thread waits for */
    sigset_t mask;     /* of the process at its start */
    sigset_t defaults; /* ignored by us, but not at the start of the process */
    int signal;        /* that ended the run early, 0 until then */
    bool begun;        /* mask and defaults are known */
    bool running;      /* the thread is there */
    bool held;         /* the first signal is noted and not obeyed */
    bool stop;         /* for the thread */
    /* For a process that is not weir's: asked by weir_interrupt_poll instead of its signals
     * whether the run is to end, until it says so. NULL: there is none. */
    bool (*asks)(void *arg);
    void *arg;
};

/* In 'signal': no signal, but the function above has ended the run. */
#define WEIR_INTERRUPT_ASKED (-1)

/* Handle the signals of this process from now on; until weir_interrupt_hold the first one still
 * ends it at once. SIGPIPE and SIGXFSZ are ignored: writing to a closed pipe or beyond the limit
 * on file sizes is then an error like any other. Call it before MPI_Init: the threads of a library
 * inherit the mask. Where no thread can be started, signals end the process as if this was not
 * called. The struct must not move until weir_interrupt_end. Local. */
void weir_interrupt_begin(struct weir_interrupt *i);

/* Hold signals: from here on the first signal is noted for weir_interrupt_poll, and the second has its
 * default action, which ends the process. Lasts until the end of a run that fails or is interrupted: the
 * same signal may reach another rank later. Signals that come within a quarter of a second after the first
 * are the same: a terminal and a launcher, or timeout(1), send theirs twice. So are those of the kernel
 * about processor time, which it repeats every second. Local, cheap; may be repeated. */
void weir_interrupt_hold(struct weir_interrupt *i);

/* The first signal has its default action again. Local. */
void weir_interrupt_release(struct weir_interrupt *i);

/* True after a signal. Reads one variable. In a process that is not ours (libweir): whether its
 * function says so, or without one whether SIGINT or SIGTERM is pending, which takes one system
 * call while none is. Local. */
bool weir_interrupt_poll(struct weir_interrupt *i);

#define WEIR_INTERRUPT_TEXT 32
/* The cause of the end of the run, for messages: "signal 15". Returns out. Local. */
const char *weir_interrupt_cause(const struct weir_interrupt *i, char out[WEIR_INTERRUPT_TEXT]);

/* Go on after a signal, to clean up: weir_interrupt_poll no longer reports it. Returns it, 0: none
 * has come. A further one is still the second. Local. */
int weir_interrupt_set_aside(struct weir_interrupt *i);

/* The clean-up is over: weir_interrupt_poll reports that signal again, when it is not 0. Local. */
void weir_interrupt_put_back(struct weir_interrupt *i, int signal);

/* End the thread, and restore the mask of signals. Harmless when not begun, or twice. Local. */
void weir_interrupt_end(struct weir_interrupt *i);
