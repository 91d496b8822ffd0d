/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.h - lists of numbers as people type and read them: "0-15,32-62:2,70" */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* first, first + step ... up to last; first -1: it is wrong. */
struct weir_range {
    int64_t first, last, step;
};

/* Return the next range of a list and move *at after it; false: there is none. Numbers are at most INT32_MAX. */
bool weir_range_next(const char **at, struct weir_range *r);

/* True when the whole list is right, and not empty. */
bool weir_ranges_check(const char *list);

/* True when a list that is right has this number. */
bool weir_ranges_have(const char *list, int64_t number);

/* The highest number of a list that is right. */
int64_t weir_ranges_last(const char *list);
