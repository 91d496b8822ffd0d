/* SPDX-License-Identifier: BSD-3-Clause */
/* inputs.c - inputs of which nothing is known yet, and what several programs know in the same way */
#include "config.h"
#include "engine/check/inputs.h"

#include <math.h>
#include <string.h>

#include "par/reduce.h"

void weir_inputs_init(struct weir_inputs *f)
{
    memset(f, 0, sizeof(*f));
    f->file_system = "";
    f->others_why = "nobody looked";
    f->memory = f->tasks_per_core = f->cores = f->full = f->full_inodes = NAN;
    f->memcpy_rate = f->link_rate = f->resolution_s = NAN;
    f->stores = f->durable = f->direct = f->shared = f->random = f->own_metadata = -1;
    f->collective = f->independent = f->other_layout = f->foreign = f->apart = f->indirect = -1;
    f->distance = f->missing.n = -1;
    f->planned_bytes = f->file_bytes = f->transfer = f->own_node = f->unread = f->repeats = NAN;
    f->service.reread = f->service.stale = f->service.memory = f->service.working_set = NAN;
    f->service.of_others = -1;
    f->allocated = f->written = f->retries = f->others_cpu = f->others = f->others_share = f->sequential_rate = NAN;
}

double weir_inputs_own_node(const struct weir_par *par, int whom)
{
    uint64_t node = (uint64_t)par->cache.node, own;

    if (par->cache.nodes == 1)
        return 1;
    own = weir_fetch_u64(par, node, whom) == node;
    weir_allsum_u64(par, &own, 1);
    return (double)own / par->size;
}

struct weir_inputs_phase *weir_inputs_phase_of(struct weir_inputs *f, const char *key)
{
    struct weir_inputs_phase *p;

    for (int i = 0; i < f->phases; i++)
        if (strcmp(f->phase[i].key, key) == 0)
            return &f->phase[i];
    if (f->phases == WEIR_INPUTS_PHASES)
        return NULL;
    p = &f->phase[f->phases++];
    memset(p, 0, sizeof(*p));
    p->key = key;
    p->shortest_s = p->bytes = p->rate = p->cached = p->dirty = p->left = NAN;
    p->slow = p->tail = p->ends = p->cpu = p->data = p->clock = p->unsteady = p->busy_s = NAN;
    p->past_steady = p->rate_missed = p->joined = NAN;
    return p;
}

bool weir_inputs_have(const struct weir_inputs *f, enum weir_moves moves)
{
    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves & moves)
            return true;
    return false;
}

bool weir_inputs_move_data(const struct weir_inputs *f)
{
    return weir_inputs_have(f, WEIR_MOVES_IN) || weir_inputs_have(f, WEIR_MOVES_OUT);
}
