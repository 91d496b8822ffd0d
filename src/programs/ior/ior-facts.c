/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-facts.c - what the options say about the reliability of the results, and about what a test
 * needs */
#include "config.h"
#include "programs/ior/ior.h"

#include <math.h>

#include "engine/place/usage.h"
#include "par/reduce.h"

/* Nodes between a task and the one whose data it reads; -1 where nobody asked for a distance. */
static int distance_of(const struct ior_options *o, const struct weir_par *par)
{
    if (!o->reorder_constant || par->nodes < 2)
        return -1;
    return weir_par_same_node(par, ior_shift(o, par, false)) == par->size
               ? 0
               : o->node_offset % par->nodes;
}

/* Whose data does each task read? The share of tasks that read what their own node wrote, and of
 * the data that nobody reads. */
static void look_at_owners(struct weir_run *run, const struct ior_test *t, struct weir_facts *f)
{
    const struct ior_options *o = t->o;
    struct weir_err ignored = WEIR_ERR_INIT;
    int owner = ior_owner(t, &run->par, false, 0, &ignored);
    double own = weir_facts_own_node(&run->par, owner < 0 ? run->par.rank : owner);
    double tasks = run->par.size;

    f->own_node = o->write ? own : NAN;
    /* of n draws out of n with repetition */
    f->unread = o->reorder_random == 1 && !t->node_of ? pow(1 - 1 / tasks, tasks) : 0;
}

/* -z -z: as many draws as there are blocks. */
static double share_repeated(const struct ior_options *o, const struct weir_par *par)
{
    double m = (double)o->segments * (o->file_per_task ? 1 : par->size);

    return o->random_offset < 2 || m < 1 ? NAN : pow(1 - 1 / m, m);
}

void ior_facts(struct weir_run *run, void *state, struct weir_facts *f)
{
    struct ior_test *t = state;
    const struct ior_options *o = t->o;
    enum weir_packet packet = t->data.content.pattern.packet;

    f->path = o->test_file;
    f->planned_bytes = (double)o->block * (double)o->segments * run->par.size;
    if (!(t->session.flags & (WEIR_BE_CONTAINER | WEIR_BE_NO_DATA)) && o->run.deadline_s == 0)
        f->file_bytes = (double)t->extent.file_bytes;
    f->durable = o->sync_end || o->sync_each || f->direct == 1;
    f->shared = !o->file_per_task;
    f->random = o->random_offset > 0;
    f->collective = o->collective;
    f->own_metadata = -1;
    f->transfer = (double)o->transfer;
    f->distance = distance_of(o, &run->par);
    f->repeats = share_repeated(o, &run->par);
    f->data_kind = packet == WEIR_PACKET_RANDOM || packet == WEIR_PACKET_SIGNATURE ||
                           packet == WEIR_PACKET_INCOMPRESSIBLE
                       ? WEIR_DATA_RANDOM
                       : WEIR_DATA_REPEATED;
    if (ior_wants_read(o))
        look_at_owners(run, t, f);
}

bool ior_range(struct weir_run *run, void *state, const struct weir_stage *stage,
               struct weir_str *path, struct weir_cache_range *range)
{
    const struct ior_test *t = state;
    const struct ior_options *o = t->o;
    struct weir_err ignored = WEIR_ERR_INIT;
    bool reads = (stage->flags & WEIR_STAGE_READS) != 0;
    bool check = stage->phase == &ior_check_phase;
    int owner = reads ? ior_owner(t, &run->par, check, run->repetition, &ignored) : run->par.rank;
    uint64_t block = (uint64_t)o->block, tasks = (uint64_t)run->par.size;

    if (owner < 0 || (t->session.flags & WEIR_BE_NO_DATA) ||
        ior_file_name(o, reads ? t->use.owner_mount : t->use.mount, owner, run->repetition, path,
                      &ignored) < 0)
        return false;
    if (o->file_per_task)
        *range = (struct weir_cache_range) { 0, block * (uint64_t)o->segments, 0, 1 };
    else
        *range = (struct weir_cache_range) { (uint64_t)owner * block, block, block * tasks,
                                             (uint64_t)o->segments };
    return true;
}

void ior_report_need(struct weir_run *run, const struct ior_test *t)
{
    double of_task = (double)t->o->transfer * t->data.lanes + (double)t->memory.bytes;

    weir_usage_need(run, weir_str_text(&t->use.path), of_task * run->par.per_node_max);
}
