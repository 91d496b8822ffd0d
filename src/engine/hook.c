/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c - commands of the user around a phase */
#include "config.h"
#include "engine/hook.h"

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

extern char **environ;

/* Signals as they were before weir_interrupt_begin; in a process that is not ours as they are. */
static int describe_child(const struct weir_interrupt *i, posix_spawnattr_t *attr)
{
    int sys = posix_spawnattr_setsigmask(attr, &i->mask);

    if (sys == 0)
        sys = posix_spawnattr_setsigdefault(attr, &i->defaults);
    if (sys == 0)
        sys = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return sys;
}

static int start(const struct weir_interrupt *i, const char *command, pid_t *child)
{
    char *const words[] = { (char[]) { "sh" }, (char[]) { "-c" }, strdup(command), NULL };
    posix_spawnattr_t attr;
    int sys = words[2] ? posix_spawnattr_init(&attr) : ENOMEM;

    if (sys == 0) {
        sys = i->begun ? describe_child(i, &attr) : 0;
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

/* Wait for the child, and hand it the signal that ends the run, unless the run was over before the
 * child was started. -1 and errno. */
static int await(struct weir_interrupt *i, pid_t child, bool was_over, bool *interrupted)
{
    uint64_t begin_ns = weir_now_ns();
    int status = 0;
    pid_t got;

    for (*interrupted = false;;) {
        got = waitpid(child, &status, WNOHANG);
        if (got == child)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        if (!was_over && !*interrupted && weir_interrupt_poll(i)) {
            *interrupted = true;
            kill(child, i->signal);
        }
        weir_sleep_ns(nap(begin_ns));
    }
}

int weir_hook_run(struct weir_run *run, const char *what, const char *command, struct weir_err *err)
{
    bool interrupted, was_over = weir_interrupt_poll(&run->interrupt);
    pid_t child;
    int status, sys = start(&run->interrupt, command, &child);

    if (sys != 0)
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' cannot be started: %s", what,
                           command, strerror(sys));
    status = await(&run->interrupt, child, was_over, &interrupted);
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
