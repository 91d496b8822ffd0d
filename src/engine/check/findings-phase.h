/* SPDX-License-Identifier: BSD-3-Clause */
/* findings-phase.h - what the measures of the rules have in common: the phase that a rule is
 * about, and why there is none */
#ifndef WEIR_ENGINE_CHECK_FINDINGS_PHASE_H
#define WEIR_ENGINE_CHECK_FINDINGS_PHASE_H

#include <stddef.h>

#include "engine/check/findings.h"

#define WEIR_MOVES_ANY ((enum weir_moves)(-1))

/* The phase with the largest or least known value of a field (by its offset, a double) among those
 * that move data this way; NULL: not known of any. Local. */
const struct weir_facts_phase *weir_facts_worst(const struct weir_facts *f, enum weir_moves moves,
                                                size_t offset);
const struct weir_facts_phase *weir_facts_least(const struct weir_facts *f, enum weir_moves moves,
                                                size_t offset);

#define ANY WEIR_MOVES_ANY
#define WORST(moves, name) weir_facts_worst(f, moves, offsetof(struct weir_facts_phase, name))
#define LEAST(moves, name) weir_facts_least(f, moves, offsetof(struct weir_facts_phase, name))

/* Does a phase move data? Local. */
bool weir_facts_move_data(const struct weir_facts *f);

/* Why something is not judged. */
extern const char weir_no_phase[], weir_no_data[], weir_no_read[], weir_no_write[];

/* Is there a phase of which the page cache is known? Where not, says why in out: 'none' where
 * nobody could look. Local. */
bool weir_cache_is_known(const struct weir_facts *f, const struct weir_facts_phase *p,
                         const char *none, struct weir_finding *out);

#define MEASURE(id) WEIR_MEASURE(id)

#endif
