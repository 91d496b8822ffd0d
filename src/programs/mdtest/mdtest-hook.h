/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-hook.h - commands of the user around a phase */
#ifndef WEIR_PROGRAMS_MDTEST_MDTEST_HOOK_H
#define WEIR_PROGRAMS_MDTEST_MDTEST_HOOK_H

#include "engine/run.h"

/* Run 'command' with /bin/sh and wait for its end; 'what' names it in messages. The command gets
 * the signal mask and actions that this process had at its start. A signal that ends the run while
 * the command runs is sent to it, too, and to all that it has started (not in the foreground of a
 * terminal, where only the shell gets it); what has not ended 5 s later is killed. The watchdog
 * watches it like a call of a backend, and kills as much when it ends the job. Returns 0 when its
 * exit status is 0, else -1 and err: it could not be started, its exit status or its signal
 * (WEIR_ESETUP), or the run was interrupted (WEIR_EINTR). Local. */
int weir_hook_run(struct weir_run *run, const char *what, const char *command,
                  struct weir_err *err);

#endif
