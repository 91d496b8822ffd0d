/* SPDX-License-Identifier: BSD-3-Clause */
/* assume.h - the rates that a dry run takes for granted (--assume-rate) */
#ifndef WEIR_ENGINE_ASSUME_H
#define WEIR_ENGINE_ASSUME_H

#include "base/err.h"

#define WEIR_ASSUMED_KINDS 16
#define WEIR_ASSUMED_KEY 32

/* Bytes a second. */
struct weir_assumed {
    double any; /* of every phase; 0: none was given */
    struct {
        char key[WEIR_ASSUMED_KEY]; /* "write" */
        double rate;
    } of[WEIR_ASSUMED_KINDS];
    int n;
};

/* Take the median rates of a result in JSON ("rates" of its tests); of several tests the last one
 * that has the kind of phase, since results are in the order of time. Local. -1 and err
 * (WEIR_EUSAGE) when it is not JSON or has no such rate. */
int weir_assumed_scan(struct weir_assumed *a, const char *json, struct weir_err *err);

/* Set from the value of the option: a size, or the name of a file that rank 0 reads; NULL: none.
 * Only a dry run looks at it; a note says so in others.
 * Collective over run->world. Returns 0, or -1 and the same err (WEIR_EUSAGE, WEIR_ESETUP) on all
 * ranks. */
struct weir_run;
int weir_assumed_read(struct weir_run *run, const char *value, struct weir_assumed *a,
                      struct weir_err *err);

/* Of phases of this kind; NaN: not known. Local. */
double weir_assumed_rate(const struct weir_assumed *a, const char *key);

#endif
