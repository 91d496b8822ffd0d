/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-need.c - the memory that the states of ranks take, compared with that of their nodes */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/node/machine.h"
#include "base/size.h"
#include "par/agree.h"
#include "par/reduce.h"

static uint64_t written_bytes(const struct mc_test *t, int rank)
{
    if (t->save.bytes == 0)
        return 0;
    return mc_parts_bytes(&t->job, rank, MC_ALL_STATES, true, (uint64_t)t->o->align);
}

/* Saves and loads use the same memory, and an asynchronous save a copy. Tables of contents are not
 * counted. */
static uint64_t memory_bytes(const struct mc_test *t, int rank)
{
    uint64_t written = written_bytes(t, rank), loaded = 0;

    if (rank < t->load.ranks)
        loaded = mc_parts_bytes(&t->load.job, rank, t->load.states, t->play.tasks > 0, 1);
    return (loaded > written ? loaded : written) + (t->async ? written : 0);
}

enum { MEMORY, WRITTEN, NEEDS }; /* of a rank, or summed over those of a node */

/* Sum the needs of the ranks of this node, on its leader. */
static int sum_node(const struct weir_par *par, const uint64_t mine[NEEDS], uint64_t sum[NEEDS],
                    struct weir_err *err)
{
    size_t ranks = (size_t)par->followers + 1;
    bool leads = par->rank == par->leader;
    uint64_t *all = leads ? calloc(ranks, NEEDS * sizeof(*all)) : NULL;
    bool known = all || !leads;

    weir_nodes_gather(par, mine, NEEDS, all);
    for (size_t i = 0; all && i < ranks * NEEDS; i++)
        sum[i % NEEDS] += all[i];
    free(all);
    return known ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for a list of %zu ranks",
                                   ranks);
}

int mc_need_check(struct weir_run *run, const struct weir_par *par, struct mc_test *t,
                  struct weir_err *err)
{
    const int rank = t->play.first + par->rank;
    const uint64_t mine[NEEDS] = { memory_bytes(t, rank), written_bytes(t, rank) };
    char needed[WEIR_SIZE_TEXT], there[WEIR_SIZE_TEXT];
    double memory = weir_machine_memory(); /* of the host */
    uint64_t node[NEEDS] = { 0 };
    int rc = sum_node(par, mine, node, err);

    if (rc == 0 && !run->test->plan.options->gpu_memory && (double)node[MEMORY] > memory)
        rc = weir_refuse(err, WEIR_ESETUP,
                         "the ranks of a node need %s of memory for their states, and the node has "
                         "%s: use more nodes, --play for some ranks, or a smaller model (--scale)",
                         weir_size_show(weir_signed(node[MEMORY]), needed),
                         weir_size_show((int64_t)memory, there));
    for (int i = 0; i < NEEDS; i++) {
        t->need[MC_RANK_MEMORY + i] = weir_signed(mine[i]);
        t->need[MC_NODE_MEMORY + i] = weir_signed(node[i]);
    }
    weir_allmax_i64(par, t->need, MC_NEEDS);
    return weir_agree(par, rc, err);
}

bool mc_need_list(const struct mc_test *t, int ranks, FILE *to)
{
    struct weir_str words = { 0 };
    uint64_t most = 0;
    bool done;

    for (int rank = 0; rank < ranks; rank++) {
        uint64_t need = memory_bytes(t, rank);

        most = need > most ? need : most;
    }
    weir_str_addf(&words, "a rank needs up to %" PRIu64 " bytes of memory\n", most);
    mc_preset_words(t->o, &t->job, &words);
    if (t->o->preset)
        weir_str_addc(&words, '\n');
    done = weir_str_print(&words, to);
    weir_str_free(&words);
    return done;
}
