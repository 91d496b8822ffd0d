/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.h - what processes of this node have used of its processors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All of this is local. Times are seconds since the system or the process started, in steps of a
 * tick of the kernel (10 ms). */

/* In user mode, and in all, with that in the kernel. */
struct weir_processor_time {
    double user, all;
};

/* Sum the time of all processes on the processors of a mask of 'words' words, a bit each. It
 * includes the time of other machines of the host (steal), but no interrupts. False: not known. */
bool weir_processors_busy(const uint64_t *mask, int words, struct weir_processor_time *out);

/* A process, as the kernel shows it. */
struct weir_process {
    long parent;    /* 0: it is not there */
    char name[64];  /* the kernel cuts it */
    char state;     /* a letter, as in proc(5) */
    bool is_kernel; /* a thread of the kernel */
    struct weir_processor_time own, children; /* of these, those that it has waited for */
};

/* Read /proc/PID; pid is a name in /proc. False, and all is 0: not known. */
bool weir_process_read(const char *pid, struct weir_process *p);
bool weir_process_find(long pid, struct weir_process *p); /* the same by its number */

/* Sum the time of n processes with the children that they have waited for, and of the processes
 * that started this one: launchers and their daemons. False: one is not known. */
bool weir_processes_had(const uint64_t *pid, int n, struct weir_processor_time *out);

/* Time of the threads of the kernel. NaN: a container shows none. */
double weir_process_kernel(void);

/* A number for the name space of process numbers that this process is in; 0: not known. */
uint64_t weir_process_space(void);
