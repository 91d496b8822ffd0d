/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - how far the whole job is while a phase takes long: a line on the terminal, or lines
 * where standard error goes (--progress); and a bar of stars in the results */
#ifndef WEIR_ENGINE_OBSERVE_PROGRESS_H
#define WEIR_ENGINE_OBSERVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "engine/report/report.h"
#include "engine/run.h"

/* What all ranks together have done until now, as far as this rank has heard. */
struct weir_progress_news {
    uint64_t steps, bytes, target; /* target: steps to do */
    int done, tasks;               /* tasks that have no more to do, and all */
};

/* What a phase is bound by besides its steps, ns; 0: not. */
struct weir_progress_limits {
    uint64_t most_ns, least_ns; /* no longer than; at least as long as */
};

struct weir_progress {
    const char *key, *unit; /* of the phase; unit: what is counted, in the plural */
    struct weir_progress_limits limits;
    bool wanted, shown;  /* is a line to come? Was there one? */
    bool placed;         /* is it known where it goes? */
    int terminal;        /* a descriptor of the terminal, -1: lines */
    uint64_t lines_ns;   /* from line to line where it is no terminal; 0: none */
    uint64_t begin_ns, next_ns;
    uint64_t before_ns; /* the line before: when, and what had been done */
    uint64_t steps_before, bytes_before;
    uint64_t first_ns; /* when the first task was seen to be done; 0: none yet */
    int width;         /* of the line on the terminal */
};

/* No line comes before this time of a phase. */
#define WEIR_PROGRESS_FIRST_NS (3 * (uint64_t)WEIR_NS_PER_S)

/* Begin. Local. Only rank 0 shows anything, first after three seconds: once a second on a terminal, its
 * own or that of its launcher. Elsewhere lines, every 30 seconds, or every ten with --progress=always; none
 * beside JSON or CSV on standard output, which batch systems merge with standard error. */
void weir_progress_begin(struct weir_progress *p, const struct weir_run *run, const char *key,
                         const char *unit, const struct weir_progress_limits *limits);
void weir_progress_show(struct weir_progress *p, const struct weir_progress_news *news,
                        uint64_t now_ns);

/* Wipe the line on the terminal, or say in a file that the phase is over, where it was shown. */
void weir_progress_end(struct weir_progress *p, const struct weir_progress_news *news);

/* ---- a bar of stars that grows in the results for people while a phase runs ---- */

/* How long the bar is when the steps or the time of a phase are used up; 0: no such limit. The end
 * of the phase is not part of it: at most width - 2 stars are shown. */
struct weir_bar {
    int width;
    uint64_t steps;
    double seconds;
    int shown; /* stars, so far */
};

/* The stars after so many steps and seconds, where the limit that is nearer counts; those of the
 * last step before the end where there were more. Local. */
int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds);

/* While it runs: a step that jumps over the end adds no star. And its end, with all stars that were
 * earned and a newline. Local. */
void weir_bar_grow(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds);
void weir_bar_end(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds);

#endif
