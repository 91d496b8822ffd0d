/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - what this node is: memory, processors */
#ifndef WEIR_BASE_NODE_MACHINE_H
#define WEIR_BASE_NODE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* All of this is local. Unknown is NaN. */

/* Append a name for the whole machine, not for this node: the name of the host without the digits
 * at its end, and in parentheses that of the operating system. False, and nothing is appended: not
 * known. */
bool weir_machine_name(struct weir_str *out);

/* Bytes of memory, or what the control group of this process allows when that is less. */
double weir_machine_memory(void);

/* Bytes a second that a processor copies in memory, measured for about a millisecond. */
double weir_machine_copy(void);

/* The smallest step of the clock, in seconds. */
double weir_machine_clock_step(void);

/* The processors that this process may use, a bit each. */
#define WEIR_MACHINE_CORE_WORDS 16
void weir_machine_cores(uint64_t mask[WEIR_MACHINE_CORE_WORDS]);

/* Traffic of this process: bytes from and to block devices (/proc/self/io; io_known: they
 * could be read), and its time in user mode in ns. */
struct weir_machine_use {
    uint64_t read, written, user_ns;
    bool io_known;
};

/* Ask for struct weir_machine_use. with_io: with the bytes, which takes about 20 microseconds. */
void weir_machine_use(struct weir_machine_use *u, bool with_io);

#endif
