/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - a line on the terminal while a phase takes long */
#include "config.h"
#include "engine/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_NS (3 * (uint64_t)WEIR_NS_PER_S)
#define EVERY_NS ((uint64_t)WEIR_NS_PER_S)

void weir_progress_begin(struct weir_progress *p, const struct weir_run *run, const char *key,
                         const char *unit)
{
    p->key = key;
    p->unit = unit;
    p->shown = false;
    p->wanted = run->par.rank == 0 && isatty(STDERR_FILENO);
    p->begin_ns = weir_now_ns();
    p->last_ns = p->begin_ns;
}

void weir_progress_show(struct weir_progress *p, uint64_t done, uint64_t target, uint64_t now_ns)
{
    if (!p->wanted || now_ns - p->begin_ns < FIRST_NS || now_ns - p->last_ns < EVERY_NS)
        return;
    p->last_ns = now_ns;
    p->shown = true;
    fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " %s, %.0f s   ", p->key, done, target, p->unit,
            (double)(now_ns - p->begin_ns) / WEIR_NS_PER_S);
}

void weir_progress_end(struct weir_progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%70s\r", "");
}
