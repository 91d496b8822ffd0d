/* SPDX-License-Identifier: BSD-3-Clause */
/* findings-phase.c - the phase that a rule is about */
#include "config.h"
#include "engine/check/findings-phase.h"

#include <math.h>

const char weir_no_phase[] = "because no phase was measured";
const char weir_no_data[] = "because no phase moves data alone";
const char weir_no_read[] = "because no phase reads data";
const char weir_no_write[] = "because no phase writes data";

static double field(const struct weir_facts_phase *p, size_t offset)
{
    return *(const double *)(const void *)((const char *)p + offset);
}

/* sign: 1 the largest, -1 the least. */
static const struct weir_facts_phase *extreme(const struct weir_facts *f, enum weir_moves moves,
                                              size_t offset, double sign)
{
    const struct weir_facts_phase *found = NULL;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_facts_phase *p = &f->phase[i];

        if ((moves == ANY || p->moves == moves) && !isnan(field(p, offset)) &&
            (!found || sign * field(p, offset) > sign * field(found, offset)))
            found = p;
    }
    return found;
}

const struct weir_facts_phase *weir_facts_worst(const struct weir_facts *f, enum weir_moves moves,
                                                size_t offset)
{
    return extreme(f, moves, offset, 1);
}

const struct weir_facts_phase *weir_facts_least(const struct weir_facts *f, enum weir_moves moves,
                                                size_t offset)
{
    return extreme(f, moves, offset, -1);
}

bool weir_facts_move_data(const struct weir_facts *f)
{
    return weir_facts_have(f, WEIR_MOVES_IN) || weir_facts_have(f, WEIR_MOVES_OUT);
}

bool weir_cache_is_known(const struct weir_facts *f, const struct weir_facts_phase *p,
                         const char *none, struct weir_finding *out)
{
    if (p)
        return true;
    weir_finding_unknown(out, "%s%s", f->cache_why && weir_facts_move_data(f) ? "because " : "",
                         f->cache_why && weir_facts_move_data(f) ? f->cache_why : none);
    return false;
}
