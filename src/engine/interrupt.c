/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.c - SIGINT and SIGTERM as a question that is asked now and then */
#include "config.h"
#include "engine/interrupt.h"

#include <signal.h>
#include <time.h>

static void name_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

void weir_interrupt_block(void)
{
    sigset_t set;

    name_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool weir_interrupt_poll(struct weir_interrupt *i)
{
    const struct timespec now = { 0 };
    sigset_t set;
    int got;

    if (i->signal)
        return true;
    name_signals(&set);
    got = sigtimedwait(&set, NULL, &now);
    if (got > 0)
        i->signal = got;
    return got > 0;
}
