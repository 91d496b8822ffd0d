/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-offsets.c - the offsets of a phase, and what random ones leave out or do twice */
#include "config.h"
#include "programs/ior/ior.h"

#include <math.h>
#include <stdlib.h>

#include "base/shape/shift.h"
#include "par/agree.h"

static enum weir_order order_of(const struct ior_options *o)
{
    if (o->random_offset == 0)
        return WEIR_ORDER_SEQUENTIAL;
    if (o->random_offset >= 2)
        return WEIR_ORDER_RANDOM;
    return o->distribution[0] == 'o' ? WEIR_ORDER_DISTRIBUTED : WEIR_ORDER_SHUFFLED;
}

/* The part of the file from which -z -z takes its blocks. A run that writes takes what it was
 * going to write: the last block may never have been written. So does one that checks a file of
 * such a run. */
static int find_file_bytes(struct ior_test *t, uint64_t *bytes, struct weir_err *err)
{
    uint64_t there;

    *bytes = t->extent.file_bytes;
    if (t->o->random_offset < 2 || t->o->write || (t->session.flags & WEIR_BE_NO_DATA))
        return 0;
    if (weir_session_size(&t->session, t->use.path.text, &there, err) < 0)
        return -1;
    if (there > *bytes || !t->pass.verify)
        *bytes = there;
    return 0;
}

int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_offset_conf c = { .layout = t->layout,
                                  .order = order_of(t->o),
                                  .task = t->pass.owner };

    c.seed = (uint64_t)(uint32_t)t->o->random_seed;
    if (find_file_bytes(t, &c.file_bytes, err) < 0)
        return -1;
    weir_offsets_free(&t->pass.offsets);
    t->data.next = t->data.filled = 0;
    ior_data_begin(run, t);
    weir_session_reset(&t->session);
    return weir_offsets_init(&t->pass.offsets, &c, err);
}

/* ---- blocks and tasks that are taken with repetition ---- */

/* -z -z draws blocks with repetition: of k draws from m blocks 1 - m/k (1 - (1 - 1/m)^k) are
 * expected to repeat one. */
void ior_note_repeats(struct weir_run *run, const struct ior_test *t)
{
    double m = (double)(t->pass.offsets.conf.file_bytes / t->layout.block);
    double k = (double)t->layout.segments * (t->layout.shared ? run->par.size : 1);

    if (t->o->random_offset < 2 || run->repetition > 0 || m < 1 || k < 1)
        return;
    weir_note(
        &run->log,
        "-z -z draws %.0f blocks of %.0f with repetition: about %.0f%% of the draws repeat a block",
        k, m, 100.0 * (1.0 - m / k * -expm1(k * log1p(-1.0 / m))));
}

static void note_distance(const struct weir_run *run, const struct ior_options *o)
{
    if (run->repetition == 0 && o->node_offset > 1 && o->node_offset >= run->par.nodes)
        weir_note(
            &run->log,
            "-Q %d is not less than the number of nodes, %d: -Z takes data that are at least %d "
            "nodes away",
            o->node_offset, run->par.nodes, run->par.nodes - 1);
}

/* -Z draws with repetition: say how many files are read how often, and how many never. */
void ior_note_unread(struct weir_run *run, const struct ior_test *t)
{
    struct weir_err ignored = WEIR_ERR_INIT;
    struct weir_str line = { 0 };
    int owner, *owners, unread;

    if (t->o->reorder_random != 1)
        return;
    note_distance(run, t->o);
    owner = ior_owner(t, &run->par, false, run->repetition, &ignored);
    owners = weir_gather_new(&run->par, &owner, sizeof(owner));
    if (!owners)
        return;
    weir_str_addf(&line, "#File Hits Dist:");
    unread = weir_shift_hits(owners, run->par.size, &line);
    if (run->log.verbose >= 2)
        weir_report_line(&run->report, "%s", weir_str_text(&line));
    if (unread > 0)
        weir_note(
            &run->log,
            "-Z draws with repetition: the data of %d of %d tasks are not read in repetition %d",
            unread, run->par.size, run->repetition);
    weir_report_free(&run->report, &line);
    free(owners);
}
