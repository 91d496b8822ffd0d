/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-pass.c - the names of the phase in progress, and what is around its steps: commands of the
 * user */
#include "programs/mdtest/mdtest.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- commands of the user ---- */

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

/* The output of the command goes where the run's text goes: to standard error, where a document for
 * programs is on standard output. */
static int start(struct weir_run *run, const char *command, bool own_group, pid_t *child)
{
    char *const words[] = { (char[]) { "sh" }, (char[]) { "-c" }, strdup(command), NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int sys = words[2] ? posix_spawnattr_init(&attr) : ENOMEM;

    if (sys == 0) {
        sys = describe_child(&run->interrupt, own_group, &attr);
        if (sys == 0)
            sys = posix_spawn_file_actions_init(&files);
        if (sys == 0) {
            if (run->report.is_data)
                sys = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
            if (sys == 0)
                sys = posix_spawn(child, "/bin/sh", &files, &attr, words, environ);
            posix_spawn_file_actions_destroy(&files);
        }
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

/* Run 'command' with /bin/sh and wait for its end; 'what' names it in messages. The command gets
 * the signal mask and actions that this process had at its start. A signal that ends the run
 * meanwhile is sent to the command and to all that it has started (in the foreground of a terminal only
 * to the shell). Processes that remain 5 s later are killed. The watchdog watches the command like a
 * call of a backend, and kills the same processes when it ends the job. Returns 0 when its
 * exit status is 0, else -1 and err: it could not be started, its exit status or its signal
 * (WEIR_ESETUP), or the run was interrupted (WEIR_EINTR). */
static int run_shell(struct weir_run *run, const char *what, const char *command,
                     struct weir_err *err)
{
    bool interrupted, was_over = weir_interrupt_poll(&run->interrupt);
    char cause[WEIR_INTERRUPT_TEXT];
    bool own_group = has_own_group();
    pid_t child;
    int status, sys = start(run, command, own_group, &child);

    if (sys != 0)
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' cannot be started: %s", what,
                           command, strerror(sys));
    if (own_group)
        child = -child;
    weir_observers_command(run, command, child);
    status = await(&run->interrupt, child, was_over, &interrupted);
    weir_observers_command(run, NULL, 0);
    if (status < 0)
        return weir_fail(err, WEIR_ESETUP, "%s: wait for the command '%s'", what, command);
    if (interrupted)
        return weir_refuse(err, WEIR_EINTR, "interrupted by %s in the command '%s' (%s)",
                           weir_interrupt_cause(&run->interrupt, cause), command, what);
    if (WIFSIGNALED(status))
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' was ended by signal %d (%s)",
                           what, command, WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return weir_refuse(err, WEIR_ESETUP, "%s: the command '%s' failed with exit status %d%s",
                           what, command, WEXITSTATUS(status),
                           WEXITSTATUS(status) == 127 ? ": it was not found" : "");
    return 0;
}

/* Run a command of the user, on every rank. */
static int run_command(struct weir_run *run, const char *what, const char *command,
                       struct weir_err *err)
{
    if (!command || !*command)
        return 0;
    mdtest_log(run, 0, "calling %s: \"%s\"", what, command);
    weir_report_flush(&run->report);
    return run_shell(run, what, command, err);
}

/* ---- names of the phase in progress ---- */

static void rewind_names(struct mdtest_test *t)
{
    t->pass.low = t->pass.high = 0;
    t->names.known = t->target.known = false;
}

void mdtest_locate_step(struct mdtest_test *t, uint64_t step)
{
    const struct weir_dirtree *tree = &t->tree;
    uint64_t nth = t->pass.shuffled ? weir_perm_at(&t->pass.perm, step) : step;
    uint64_t in_loop = nth % tree->per_loop, item, back;

    item = t->pass.made_order ? weir_dirtree_made(tree, in_loop)
                              : weir_dirtree_linear(tree, in_loop);
    back = item % tree->per_dir;
    t->pass.loop = nth / tree->per_loop;
    if (t->pass.shuffled)
        back = 0;
    t->pass.item = item - back;
    t->pass.low = step - back;
    t->pass.high = t->pass.shuffled ? step + 1 : t->pass.low + tree->per_dir;
}

const char *mdtest_name_created(struct mdtest_test *t, const struct weir_run *run,
                                struct mdtest_names *n, enum mdtest_kind kind, int owner,
                                uint64_t nth)
{
    uint64_t item = weir_dirtree_made(&t->tree, nth % t->tree.per_loop);
    int whose = mdtest_tree_of(t, run, owner);

    return mdtest_name_item(n, mdtest_base_of(&t->places, whose), run->repetition,
                            nth / t->tree.per_loop, whose, weir_dirtree_dir_of(&t->tree, item),
                            kind, owner, item);
}

bool mdtest_name_read(struct weir_run *run, void *state, uint64_t n, struct weir_small_file *file)
{
    struct mdtest_test *t = state;

    if (n >= t->ledger.count[MDTEST_FILES])
        return false;
    if (n == 0)
        rewind_names(t);
    file->rank = t->pass.owner == MDTEST_SHARED ? 0 : t->pass.owner;
    file->path = mdtest_name_step(run, t, t->pass.owner, n, &file->item);
    return true;
}

int mdtest_each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     mdtest_branch_act *act, void *arg, uint64_t *clock_ns, struct weir_err *err)
{
    int last = t->o->unique && t->o->collective ? run->par.size - 1 : 0;

    for (int k = 0; k <= last; k++) {
        int whose = t->o->unique ? (t->o->collective ? k : run->par.rank) : MDTEST_SHARED_TREE;

        mdtest_name_dir(&t->names, mdtest_base_of(&t->places, whose), run->repetition, loop, whose,
                        dir);
        mdtest_enter(t, t->names.path);
        if (weir_session_leave(&t->fs.session, act(run, arg, dir, clock_ns, err)) < 0)
            return -1;
    }
    return 0;
}

/* ---- the end of an operation ---- */

#define BATCH_NS 20000u /* without single times, the clock is read this often ... */
#define BATCH_MAX 32   /* ... but not after more operations than this */

/* Read the clock, and estimate how many operations can follow without reading it. */
static void look_at_clock(struct mdtest_pass *p, uint64_t *clock_ns)
{
    uint64_t now = weir_now_ns();
    uint64_t n = BATCH_NS / ((now - *clock_ns) / p->ops + 1);

    p->ops = n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (unsigned)n;
    p->skip = p->ops - 1;
    *clock_ns = now;
}

int mdtest_finish_op(struct weir_run *run, struct mdtest_test *t, int rc, uint64_t item,
                     uint64_t bytes, uint64_t begin, uint64_t *clock_ns,
                     const struct weir_err *err)
{
    if (__builtin_expect(weir_session_leave(&t->fs.session, rc) < 0, 0)) {
        weir_records_add_failed(&run->records, (int)t->pass.op, begin, weir_now_ns(), item, err);
        return -1;
    }
    if (t->pass.fine) {
        *clock_ns = weir_now_ns();
        weir_operation_add(run, (int)t->pass.op, begin, *clock_ns, item, bytes);
    } else if (t->pass.skip > 0) {
        t->pass.skip--;
    } else {
        look_at_clock(&t->pass, clock_ns);
    }
    return 0;
}

/* ---- before and after the steps ---- */

int mdtest_prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    rewind_names(t);
    t->pass.ops = 1;
    t->pass.skip = 0;
    t->pass.worked_ns = 0;
    if (mdtest_facts[t->pass.op].is_tree || t->pass.own || t->pass.subset)
        return 0; /* the command has run before the files were made */
    return run_command(run, "prologue", t->o->before, err);
}

int mdtest_finish(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    int rc = 0;

    t->pass.worked_ns = weir_now_ns();
    if (mdtest_facts[t->pass.op].is_tree || t->pass.again)
        return 0;
    if (t->o->sync_phase)
        rc = weir_session_syncfs(&t->fs.session, mdtest_base_of(&t->places, run->par.rank), err);
    return rc < 0 || t->pass.subset ? rc : run_command(run, "epilogue", t->o->after, err);
}
