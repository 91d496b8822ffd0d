/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - facts of which nothing is known yet */
#include "config.h"
#include "engine/facts.h"

#include <math.h>
#include <string.h>

void weir_facts_init(struct weir_facts *f)
{
    memset(f, 0, sizeof(*f));
    f->file_system = "";
    f->memory = f->tasks_per_core = f->cores = f->load = f->full = f->full_inodes = NAN;
    f->memcpy_rate = f->link_rate = f->resolution_s = NAN;
    f->durable = f->direct = f->shared = f->random = f->own_metadata = -1;
    f->collective = f->independent = f->other_layout = f->foreign = f->apart = -1;
    f->distance = f->missing = -1;
    f->planned_bytes = f->file_bytes = f->transfer = f->own_node = f->unread = f->repeats = NAN;
    f->allocated = f->retries = f->others = f->sequential_rate = NAN;
}

struct weir_facts_phase *weir_facts_phase_of(struct weir_facts *f, const char *key)
{
    struct weir_facts_phase *p;

    for (int i = 0; i < f->phases; i++)
        if (strcmp(f->phase[i].key, key) == 0)
            return &f->phase[i];
    if (f->phases == WEIR_FACTS_PHASES)
        return NULL;
    p = &f->phase[f->phases++];
    memset(p, 0, sizeof(*p));
    p->key = key;
    p->shortest_s = p->bytes = p->rate = p->cached = p->dirty = p->left = NAN;
    p->slow = p->tail = p->ends = p->cpu = p->data = p->clock = p->unsteady = p->busy_s = NAN;
    return p;
}
