/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.c - signals that end a run: the first in an orderly way, the second at once */
#include "engine/interrupt.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define SAME_NS (WEIR_NS_PER_S / 4) /* a signal that comes so soon after the first counts as the
                                     * same */

static bool has_action(int number, void (*action)(int))
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == action;
}

static void name_watched(sigset_t *set)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU };

    sigemptyset(set);
    for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
        if (has_action(numbers[k], SIG_DFL)) /* else of nohup, a shell, a preloaded library */
            sigaddset(set, numbers[k]);
}

/* 0: the set is empty. */
static int first_of(const sigset_t *set)
{
    for (int number = 1; number < NSIG; number++)
        if (sigismember(set, number) == 1)
            return number;
    return 0;
}

static void ignore(struct weir_interrupt *i, int number)
{
    if (has_action(number, SIG_IGN))
        return;
    sigaddset(&i->defaults, number);
    signal(number, SIG_IGN);
}

/* End the process by this signal, so that whoever waits for it sees which. In the thread. */
static void obey(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* The signal that weir_interrupt_end sends; the C library shows SI_TKILL as SI_USER. */
static bool is_end(const struct weir_interrupt *i, const siginfo_t *info)
{
    return __atomic_load_n(&i->stop, __ATOMIC_ACQUIRE) && info->si_code <= SI_USER &&
           info->si_pid == getpid();
}

static void *wait_for_signals(void *arg)
{
    struct weir_interrupt *i = arg;
    uint64_t first_ns = 0;
    siginfo_t info;
    int got;

    for (;;) {
        got = sigwaitinfo(&i->watched, &info);
        if (got < 0)
            continue;
        if (is_end(i, &info))
            return NULL;
        if (!__atomic_load_n(&i->held, __ATOMIC_ACQUIRE)) {
            obey(got);
        } else if (first_ns == 0) {
            first_ns = weir_now_ns();
            __atomic_store_n(&i->signal, got, __ATOMIC_RELEASE);
        } else if (weir_now_ns() - first_ns > SAME_NS &&
                   !(got == SIGXCPU && info.si_code == SI_KERNEL)) {
            obey(got);
        }
    }
}

void weir_interrupt_begin(struct weir_interrupt *i)
{
    memset(i, 0, sizeof(*i));
    sigemptyset(&i->defaults);
    ignore(i, SIGPIPE);
    ignore(i, SIGXFSZ);
    if (has_action(SIGCHLD, SIG_IGN)) /* else the status of a command is lost (programs/mdtest/mdtest-pass.c) */
        signal(SIGCHLD, SIG_DFL);
    name_watched(&i->watched);
    pthread_sigmask(SIG_BLOCK, &i->watched, &i->mask);
    i->begun = true;
    i->running = first_of(&i->watched) > 0 &&
                 weir_thread_start(&i->thread, wait_for_signals, i) == 0;
    if (!i->running)
        pthread_sigmask(SIG_SETMASK, &i->mask, NULL);
}

void weir_interrupt_hold(struct weir_interrupt *i)
{
    __atomic_store_n(&i->held, true, __ATOMIC_RELEASE);
}

void weir_interrupt_release(struct weir_interrupt *i)
{
    __atomic_store_n(&i->held, false, __ATOMIC_RELEASE);
}

/* In a process that is not ours, whose owner has blocked the signals in question. */
static int take_pending(void)
{
    const struct timespec now = { 0 };
    sigset_t set;
    int got;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    got = sigtimedwait(&set, NULL, &now);
    return got > 0 ? got : 0;
}

/* Once it has said yes, it is not asked again: what comes then is the clean-up. */
static int ask(struct weir_interrupt *i)
{
    if (!i->asks(i->arg))
        return 0;
    i->asks = NULL;
    return WEIR_INTERRUPT_ASKED;
}

bool weir_interrupt_poll(struct weir_interrupt *i)
{
    int got;

    if (__atomic_load_n(&i->signal, __ATOMIC_ACQUIRE))
        return true;
    if (i->begun)
        return false;
    got = i->asks ? ask(i) : take_pending();
    if (got)
        i->signal = got;
    return got != 0;
}

const char *weir_interrupt_cause(const struct weir_interrupt *i, char out[WEIR_INTERRUPT_TEXT])
{
    if (i->signal == WEIR_INTERRUPT_ASKED)
        snprintf(out, WEIR_INTERRUPT_TEXT, "the program that runs it");
    else
        snprintf(out, WEIR_INTERRUPT_TEXT, "signal %d", i->signal);
    return out;
}

int weir_interrupt_set_aside(struct weir_interrupt *i)
{
    return __atomic_exchange_n(&i->signal, 0, __ATOMIC_ACQ_REL);
}

void weir_interrupt_put_back(struct weir_interrupt *i, int number)
{
    if (number)
        __atomic_store_n(&i->signal, number, __ATOMIC_RELEASE);
}

void weir_interrupt_end(struct weir_interrupt *i)
{
    if (i->running) {
        __atomic_store_n(&i->stop, true, __ATOMIC_RELEASE);
        weir_interrupt_release(i);
        pthread_kill(i->thread, first_of(&i->watched));
        pthread_join(i->thread, NULL);
        pthread_sigmask(SIG_SETMASK, &i->mask, NULL);
    }
    i->running = false;
}
