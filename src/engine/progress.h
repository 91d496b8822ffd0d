/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - a line on the terminal while a phase takes long; nothing in a file */
#ifndef WEIR_ENGINE_PROGRESS_H
#define WEIR_ENGINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

struct weir_progress {
    const char *key, *unit; /* of the phase; unit: what is counted, in the plural */
    bool shown, wanted;
    uint64_t begin_ns, last_ns;
};

/* Local. Only rank 0 with a terminal on stderr shows anything, first after three seconds and then
 * once a second. */
void weir_progress_begin(struct weir_progress *p, const struct weir_run *run, const char *key,
                         const char *unit);
void weir_progress_show(struct weir_progress *p, uint64_t done, uint64_t target, uint64_t now_ns);
void weir_progress_end(struct weir_progress *p); /* wipes the line */

#endif
