/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-hook.c - commands of the user around a phase */
#include "config.h"
#include "programs/mdtest/mdtest-hook.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define NAP_LEAST_NS 50000u
#define NAP_MOST_NS 5000000u
#define GRACE_NS (UINT64_C(5) * WEIR_NS_PER_S) /* for a command to end after the signal */

extern char **environ;

/* A process group of its own, so that a signal reaches all that the command has started. Not in the
 * foreground of a terminal: a group in its background could not ask for a password there, and what
 * is typed reaches all processes of ours. */
static bool has_own_group(void)
{
    return tcgetpgrp(STDIN_FILENO) != getpgrp();
}

/* Signals as they were before weir_interrupt_begin; in a process that is not ours as they are. */
static int describe_child(const struct weir_interrupt *i, bool own_group, posix_spawnattr_t *attr)
{
    short flags = own_group ? POSIX_SPAWN_SETPGROUP : 0;
    int sys = 0;

    if (i->begun) {
        flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        sys = posix_spawnattr_setsigmask(attr, &i->mask);
        if (sys == 0)
            sys = posix_spawnattr_setsigdefault(attr, &i->defaults);
    }
    return sys == 0 ? posix_spawnattr_setflags(attr, flags) : sys; /* group 0: one of its own */
}

static int start(const struct weir_interrupt *i, const char *command, bool own_group, pid_t *child)
{
    char *const words[] = { (char[]) { "sh" }, (char[]) { "-c" }, strdup(command), NULL };
    posix_spawnattr_t attr;
    int sys = words[2] ? posix_spawnattr_init(&attr) : ENOMEM;

    if (sys == 0) {
        sys = describe_child(i, own_group, &attr);
        if (sys == 0)
            sys = posix_spawn(child, "/bin/sh", NULL, &attr, words, environ);
        posix_spawnattr_destroy(&attr);
    }
    free(words[2]);
    return sys;
}

/* Look often at first, then at a small part of the time that has passed: it is measured. */
static uint64_t nap(uint64_t begin_ns)
{
    uint64_t part = (weir_now_ns() - begin_ns) / 64;

    return part < NAP_LEAST_NS ? NAP_LEAST_NS : part > NAP_MOST_NS ? NAP_MOST_NS : part;
}

/* Wait for the child. -1 and errno. The signal that ends the run, unless the run was over before the
 * child was started, goes to the target (as in kill(2)), which has GRACE_NS to end. */
static int await(struct weir_interrupt *i, pid_t target, bool was_over, bool *interrupted)
{
    pid_t child = target < 0 ? -target : target;
    uint64_t begin_ns = weir_now_ns(), last_ns = UINT64_MAX;
    bool done = false;
    int status = 0;

    for (*interrupted = false;;) {
        pid_t got = done ? 0 : waitpid(child, &status, WNOHANG);

        if (got < 0 && errno != EINTR)
            return -1;
        done |= got == child;
        if (done && (!*interrupted || kill(target, 0) < 0))
            return status;
        if (!was_over && !*interrupted && weir_interrupt_poll(i)) {
            *interrupted = true;
            last_ns = weir_now_ns() + GRACE_NS;
            kill(target, i->signal);
        } else if (weir_now_ns() > last_ns) {
            kill(target, SIGKILL);
            if (done)
                return status;
        }
        weir_sleep_ns(nap(begin_ns));
    }
}

int weir_hook_run(struct weir_run *run, const char *what, const char *command, struct weir_err *err)
{
    bool interrupted, was_over = weir_interrupt_poll(&run->interrupt);
    bool own_group = has_own_group();
    pid_t child;
    int status, sys = start(&run->interrupt, command, own_group, &child);

    if (sys != 0)
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' cannot be started: %s", what,
                           command, strerror(sys));
    if (own_group)
        child = -child;
    weir_watchdog_command(&run->watchdog, command, child);
    status = await(&run->interrupt, child, was_over, &interrupted);
    weir_watchdog_command_end(&run->watchdog);
    if (status < 0)
        return weir_fail(err, WEIR_ESETUP, "%s: wait for the command '%s'", what, command);
    if (interrupted)
        return weir_refuse(err, WEIR_EINTR, "interrupted by signal %d in the command '%s' (%s)",
                           run->interrupt.signal, command, what);
    if (WIFSIGNALED(status))
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' was ended by signal %d (%s)",
                           what, command, WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' failed with exit status %d%s",
                           what, command, WEXITSTATUS(status),
                           WEXITSTATUS(status) == 127 ? ": it was not found" : "");
    return 0;
}
