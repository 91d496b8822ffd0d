/* SPDX-License-Identifier: BSD-3-Clause */
/* bar.c - a bar of stars that grows in the results for people while a phase runs */
#include "config.h"
#include "engine/bar.h"

static uint64_t by_steps(const struct weir_bar *b, uint64_t steps)
{
    return b->steps ? (uint64_t)((double)b->width * (double)steps / (double)b->steps) : 0;
}

static double by_time(const struct weir_bar *b, double seconds)
{
    return b->seconds > 0 ? b->width * seconds / b->seconds : 0;
}

int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds)
{
    const uint64_t end = (uint64_t)b->width - 1;
    uint64_t last = b->steps ? (end * b->steps - 1) / (uint64_t)b->width : 0;
    uint64_t stars = by_steps(b, steps < last ? steps : last);
    double timed = by_time(b, seconds);

    if (timed >= (double)end)
        return b->width - 2;
    return (int)(timed > (double)stars ? (uint64_t)timed : stars);
}

static void show(struct weir_report *r, struct weir_bar *b, int stars)
{
    for (; b->shown < stars; b->shown++)
        weir_report_piece(r, "*");
}

void weir_bar_grow(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds)
{
    if (by_steps(b, steps) < (uint64_t)b->width - 1 && by_time(b, seconds) < b->width - 1)
        show(r, b, weir_bar_stars(b, steps, seconds));
}

void weir_bar_end(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds)
{
    show(r, b, weir_bar_stars(b, steps, seconds));
    weir_report_line(r, "%s", "");
}
