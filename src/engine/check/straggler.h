/* SPDX-License-Identifier: BSD-3-Clause */
/* straggler.h - ranks without which a phase would have been shorter */
#ifndef WEIR_ENGINE_CHECK_STRAGGLER_H
#define WEIR_ENGINE_CHECK_STRAGGLER_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_STRAGGLERS 3         /* are named at most */
#define WEIR_STRAGGLER_RANKS 4    /* fewer cannot be told apart */
#define WEIR_STRAGGLER_SHARE 0.05 /* of a phase: less is not reported */

/* How long single ranks took. */
struct weir_straggler_times {
    int ranks;                          /* all */
    uint64_t most[WEIR_STRAGGLERS + 1]; /* ns, the longest first */
    uint64_t least;                     /* ns */
    uint64_t span;                      /* of the phase, ns */
};

/* How many of the ranks that took longest are stragglers (0: nobody), and what share of the phase
 * they cost. They are a quarter of the ranks at most; the gap to the next rank is large against
 * the spread of all others (Dixon's test at 1 %), and WEIR_STRAGGLER_SHARE of the phase. Pure. */
int weir_straggler_count(const struct weir_straggler_times *t, double *share);

struct weir_run;
struct weir_phase_rec;

/* Report the stragglers of a phase with this key, and note their share of it in weir_checks_of(run)->inputs.
 * Collective over run->par. */
void weir_stragglers_note(struct weir_run *run, const struct weir_phase_rec *rec, const char *key);

#endif
