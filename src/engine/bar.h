/* SPDX-License-Identifier: BSD-3-Clause */
/* bar.h - a bar of stars that grows in the results for people while a phase runs */
#ifndef WEIR_ENGINE_BAR_H
#define WEIR_ENGINE_BAR_H

#include <stdint.h>

#include "engine/report.h"

/* How long the bar is when the steps or the time of a phase are used up; 0: no such limit. The end of
 * the phase is not part of it: at most width - 2 stars are shown. */
struct weir_bar {
    int width;
    uint64_t steps;
    double seconds;
    int shown; /* stars, so far */
};

/* The stars after so many steps and seconds, where the limit that is nearer counts; those of the last
 * step before the end where there were more. Local. */
int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds);

/* While it runs: a step that jumps over the end adds no star. And its end, with all stars that were
 * earned and a newline. Local. */
void weir_bar_grow(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds);
void weir_bar_end(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds);

#endif
