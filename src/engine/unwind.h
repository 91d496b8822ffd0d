/* SPDX-License-Identifier: BSD-3-Clause */
/* unwind.h - the stack of what a test has taken: given back in reverse order, however the test
 * ends */
#ifndef WEIR_ENGINE_UNWIND_H
#define WEIR_ENGINE_UNWIND_H

#include <stdbool.h>

#include "par/comm.h"

#define WEIR_UNWIND_MOST 32

/* How one thing is given back. Returns 0, or -1 and err. */
typedef int weir_release_fn(void *what, struct weir_err *err);

/* The stack of what was taken and not yet given back. Zero: nothing. */
struct weir_unwind {
    struct {
        weir_release_fn *release;
        void *what;
        bool together;
    } item[WEIR_UNWIND_MOST];
    int n;
};

/* Note that 'what' was taken; 'release' gives it back. 'what' must live until then. Local. Returns
 * 0; -1 and err (WEIR_EBUG) when the stack is full: then 'what' was released at once. */
int weir_unwind_push(struct weir_unwind *u, weir_release_fn *release, void *what,
                     struct weir_err *err);

/* The same for something whose release is collective. All ranks push it, after the agreement that
 * all of them have it, so that the releases meet. Collective in this sense. */
int weir_unwind_push_together(struct weir_unwind *u, weir_release_fn *release, void *what,
                              struct weir_err *err);

/* Give everything back, the last thing first. rc is the result until now: the first error wins
 * and err keeps its words. Collective over par->comm: the outcome of each collective release is
 * agreed, so the returned value, 0 or -1 with err, is the same on all ranks when rc was. */
int weir_unwind_all(struct weir_unwind *u, const struct weir_par *par, int rc,
                    struct weir_err *err);

#endif
