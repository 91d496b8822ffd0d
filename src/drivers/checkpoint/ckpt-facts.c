/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-facts.c - what the options say about the worth of the numbers */
#include "config.h"
#include "drivers/checkpoint/ckpt.h"

void ckpt_facts(struct weir_run *run, void *state, struct weir_facts *f)
{
    const struct ckpt *t = state;
    const struct ckpt_options *o = t->o;

    (void)run;
    f->path = t->moves ? o->path : NULL;
    f->planned_bytes = (double)t->bytes;
    f->transfer = (double)t->bytes / t->number / (double)(t->steps * (uint64_t)o->arrays);
    f->stores &= t->moves;
    f->durable = o->sync || f->direct == 1;
    f->shared = !o->split && t->number > 1;
    f->random = 0;
    f->collective = t->access.collective;
    f->unread = 0;
    f->data_kind = o->random && !o->constant ? WEIR_DATA_RANDOM : WEIR_DATA_REPEATED;
}
