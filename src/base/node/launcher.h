/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - what launchers tell a process through its environment, before MPI is there to ask */
#pragma once

#include "base/err.h"

#define WEIR_LAUNCHERS 5

struct weir_launch {
    bool is_launched;
    int rank;                 /* 0 without a launcher */
    int size[WEIR_LAUNCHERS]; /* tasks, by each kind of launcher; 0: it says nothing */
};

/* Read the environment. Before MPI_Init, which may change it. Local. */
void weir_launch_read(struct weir_launch *l);

/* Check that MPI has as many tasks as the launcher started. Launchers may be nested, so one
 * that agrees is enough. Where MPI has fewer than any of them says, each of those tasks would
 * run alone, on the same files. Local. Returns 0, or -1 and err (WEIR_ESETUP) with the
 * variable, both numbers, the library ('mpi') and the remedy. */
int weir_launch_check(const struct weir_launch *l, int tasks, const char *mpi,
                      struct weir_err *err);

/* Open the terminal that the standard error of this process reaches through its launcher, which
 * must run on this host. Returns a descriptor, which the caller closes. -1: there is none, or
 * the launcher is elsewhere or unknown. Local. */
int weir_launch_terminal(void);

/* True when standard output and standard error leave this process on two ways, and may be
 * merged by its launcher. Reads /proc of the launcher where that runs on this host. Local. */
bool weir_launch_merges(void);

/* Wait until the launcher has read what was written to fd, standard output or standard error.
 * That is when a pipe or socket is empty, after 200 ms at most, or after 20 ms for a terminal,
 * which does not report it. Launchers keep the order of what they have read. Local. */
void weir_launch_pass(int fd);
