/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - threads of ours beside those of a program and its libraries; the C locale for numbers,
 * dates and words of a thread */
#pragma once

#include <locale.h>
#include <pthread.h>
#include <signal.h>

/* pthread_create for a thread that takes no signal, lest handlers of a library run in it. It begins
 * with the locale of the process. Local. Returns 0, or the error number. */
static inline int weir_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, present;
    int sys;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &present);
    sys = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &present, NULL);
    return sys;
}

/* Give this thread the C locale. Returns the one it had, for uselocale. The C locale is a constant
 * of the C library and is not freed. A new thread begins with the locale of the process. Local. */
static inline locale_t weir_locale_plain(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}
