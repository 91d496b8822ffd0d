/* SPDX-License-Identifier: BSD-3-Clause */
/* until.h - the rates of repetitions: median, interval and harmonic mean; and repetitions until the
 * interval is narrow (--until) */
#ifndef WEIR_ENGINE_OBSERVE_UNTIL_H
#define WEIR_ENGINE_OBSERVE_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "base/str.h"

#define WEIR_UNTIL_LEAST 5  /* repetitions */
#define WEIR_UNTIL_KINDS 32 /* of phases */

/* The rates of one kind of phase, in the order of the repetitions. */
struct weir_until_series {
    const void *kind;
    const char *key;
    bool moves_bytes;         /* bytes a second; else operations */
    struct weir_series rates; /* one value each */
};

/* Of the test that runs. The series are those of rank 0; the rest is the same on all ranks. */
struct weir_until {
    struct weir_until_series series[WEIR_UNTIL_KINDS];
    int kinds;
    const char *ended; /* why no further repetition came; NULL: all that were asked for */
};

/* What a series says of the rate. */
struct weir_until_center {
    double median, low, high; /* and its nonparametric 95 % interval: NaN for fewer than 6 values */
    double harmonic; /* mean: all work over all time, where each repetition does the same */
};

/* ---- arithmetic ---- */

/* Of n > 0 rates. Local. False when memory is out. */
bool weir_until_center(const double *rate, int n, struct weir_until_center *out);

/* Half of the interval over the median, in percent; NaN without an interval. */
double weir_until_width(const struct weir_until_center *c);

/* Is it time to look at the interval after n repetitions? A look after each one would end the test
 * when the interval is narrow by chance, which would miss the median too often: so looks are at 6,
 * 9, 14, 21, ... repetitions, each half as many again. */
bool weir_until_looks(int n);

/* ---- a test ---- */

struct weir_run;
struct weir_run_options;
struct weir_stage;
struct weir_phase_rec;

/* Check --until and its limits. Local, the same on all ranks. -1 and err (WEIR_EUSAGE). */
int weir_until_check(const struct weir_run_options *o, struct weir_err *err);

/* Keep the rate of a phase of the repetitions. Local. */
void weir_until_note(struct weir_run *run, const struct weir_stage *stage,
                     const struct weir_phase_rec *rec);

/* Was the last repetition the last one? The same on all ranks. Collective over run->par. */
bool weir_until_over(struct weir_run *run);

/* Tell people how the repetitions ended, and programs what each series says. Rank 0, nothing
 * elsewhere. */
void weir_until_report(struct weir_run *run);

/* The same as a table for people, below the findings. Rank 0. */
void weir_until_write(const struct weir_run *run, struct weir_str *out);

/* Forget the test. Local. */
void weir_until_clear(struct weir_until *u);

#endif
