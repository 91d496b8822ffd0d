/* SPDX-License-Identifier: BSD-3-Clause */
/* interrupt.h - SIGINT and SIGTERM as a question that is asked now and then, without a handler or
 * a global */
#ifndef WEIR_ENGINE_INTERRUPT_H
#define WEIR_ENGINE_INTERRUPT_H

#include <stdbool.h>

/* The signal that ended the run early, 0 until then. Kept in struct weir_run. */
struct weir_interrupt {
    int signal;
};

/* Block SIGINT and SIGTERM in this process so that they stay pending until asked for; SIGPIPE and
 * SIGXFSZ are ignored: writing to a closed pipe or beyond the limit on file sizes is then an error
 * like any other. Call before MPI_Init: its threads inherit the mask. Local. */
void weir_interrupt_block(void);

/* Has a signal come? One system call while none has, none afterwards. Local. */
bool weir_interrupt_poll(struct weir_interrupt *i);

#endif
