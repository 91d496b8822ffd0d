/* SPDX-License-Identifier: BSD-3-Clause */
/* tap.h - one line for each claim, from rank 0, true when it holds on every rank */
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct tap {
    int rank;
    int failed;
    char about[160]; /* put in front of every sentence */
};

/* Collective over MPI_COMM_WORLD. err (may be NULL): why it does not hold on this rank. Returns
 * what all agreed on. */
static __attribute__((format(printf, 4, 5), unused)) bool
tap_ok(struct tap *t, bool good, const struct weir_err *err, const char *fmt, ...)
{
    int mine = good, all = 0;
    va_list ap;

    if (!good)
        fprintf(stderr, "# rank %d: %s\n", t->rank,
                err && err->text[0] ? err->text : "the claim is false here");
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
        t->failed++;
    if (t->rank == 0) {
        printf("%s - %s", all ? "ok" : "not ok", t->about);
        va_start(ap, fmt);
        vprintf(fmt, ap);
        va_end(ap);
        printf("\n");
        fflush(stdout);
    }
    return all;
}
