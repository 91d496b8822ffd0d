/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-offsets.c - the offsets of a phase */
#include "config.h"
#include "drivers/ior/ior.h"

static enum weir_order order_of(const struct ior_options *o)
{
    if (o->random_offset == 0)
        return WEIR_ORDER_SEQUENTIAL;
    if (o->random_offset >= 2)
        return WEIR_ORDER_RANDOM;
    return o->deal[0] == 'o' ? WEIR_ORDER_DEALT : WEIR_ORDER_SHUFFLED;
}

/* How much of the file -z -z draws from. A run draws what it wrote itself from what it was going to
 * write: the last block may never have been drawn. So does one that checks a file of such a run. */
static int find_drawn(struct weir_run *run, struct ior_test *t, uint64_t *bytes,
                      struct weir_err *err)
{
    uint64_t there;

    *bytes = t->hints.file_bytes;
    if (t->o->random_offset < 2 || t->o->write || (run->session.flags & WEIR_BE_NO_DATA))
        return 0;
    if (weir_session_size(&run->session, t->path.text, &there, err) < 0)
        return -1;
    if (there > *bytes || !t->verify)
        *bytes = there;
    return 0;
}

/* minTimeDuration repeats the pattern nobody knows how often. */
static uint64_t count_operations(const struct ior_test *t)
{
    uint64_t once = weir_offsets_count(&t->offsets);

    return t->o->min_time_s > 0 && once < WEIR_OPLOG_SOME ? WEIR_OPLOG_SOME : once;
}

int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_offset_conf c = { .layout = t->layout, .order = order_of(t->o), .task = t->owner };

    c.seed = (uint64_t)(uint32_t)t->o->random_seed;
    if (find_drawn(run, t, &c.file_bytes, err) < 0)
        return -1;
    weir_offsets_free(&t->offsets);
    t->next = t->filled = 0;
    ior_data_begin(run, t);
    weir_session_reset(&run->session);
    if (weir_offsets_init(&t->offsets, &c, err) < 0)
        return -1;
    return t->o->op_csv ? weir_oplog_reserve(&run->oplog, count_operations(t), err) : 0;
}
