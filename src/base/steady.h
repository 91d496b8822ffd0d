/* SPDX-License-Identifier: BSD-3-Clause */
/* steady.h - is a series steady in a window of rounds, in the sense of SNIA's Performance Test
 * Specification 2.0; and the arguments of --until=steady */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The change of the values of a window. */
struct weir_steady_fit {
    double mean;
    double excursion; /* the largest less the smallest value, over the mean */
    double slope;     /* change of the line of least squares from the first value to the last, over the mean */
};

/* Fit n values. All NaN for fewer than 2, where one is not finite, and where the mean is not
 * above 0. Pure. */
struct weir_steady_fit weir_steady_fit_of(const double *y, int n);

#define WEIR_STEADY_WINDOW_MAX 100

/* The arguments of --until=steady,WORD=VALUE... */
struct weir_steady_choice {
    double round_s;    /* width of a round */
    double max_s;     /* maximum of a phase; 0: not given */
    int64_t window;    /* rounds */
    double excursion, slope; /* their limits, of 1 */
    bool rate, p99;    /* which of the series must be steady */
};

/* True when the value of --until asks for a steady state. NULL: no. */
bool weir_steady_asked(const char *value);

/* Read steady[,round=SECONDS][,window=N][,most=SECONDS][,excursion=P%][,slope=P%][,of=rate|p99|both],
 * in scripts joined by +. Local. Returns 0, or -1 and err (WEIR_EUSAGE). */
int weir_steady_read(const char *value, struct weir_steady_choice *out, struct weir_err *err);

/* Return the longest duration of a phase with a deadline of deadline_s seconds, 0: none. Pure. */
double weir_steady_bound(const struct weir_steady_choice *c, double deadline_s);

/* The series of rounds, and for each of them two criteria. */
enum weir_steady_series { WEIR_STEADY_RATE, WEIR_STEADY_P99, WEIR_STEADY_SERIES };

/* The last rounds of a phase. Zero, but for choice: there was none. */
struct weir_steady {
    struct weir_steady_choice choice;
    double y[WEIR_STEADY_SERIES][WEIR_STEADY_WINDOW_MAX]; /* the window, or what there is of it */
    int64_t rounds;                                        /* of the phase until now */
};

/* Add the values of a round; NaN: there is none. Local. */
void weir_steady_add(struct weir_steady *s, double rate, double p99);

/* The judgement of the last window. */
struct weir_steady_verdict {
    bool steady, whole; /* whole: there were as many rounds as a window has */
    int64_t rounds, window;
    struct weir_steady_fit fit[WEIR_STEADY_SERIES]; /* NaN when the window is not complete */
    const char *worst; /* the criterion with the highest share of its limit: "slope of p99"; NULL: not whole, or a round had no value */
    double value, limit; /* of this criterion, of 1; above the limit a series is not steady */
};

/* Judge the rounds so far. The texts in *out are static. Local. */
void weir_steady_judge(const struct weir_steady *s, struct weir_steady_verdict *out);

#define WEIR_STEADY_TEXT 160

/* The worst criterion, or why there is none, in words. Local. Returns out. */
const char *weir_steady_why(const struct weir_steady_verdict *v, char out[WEIR_STEADY_TEXT]);
