/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-need.c - the memory that the states of ranks take, compared with that of their nodes */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <stdlib.h>
#include <strings.h>

#include "base/node/machine.h"
#include "base/size.h"
#include "par/agree.h"
#include "par/reduce.h"

unsigned mc_load_states(const struct mc_options *o)
{
    return strcasecmp(o->load, "parameters") == 0 ? MC_ONLY_PARAMETERS : MC_ALL_STATES;
}

static uint64_t written_bytes(const struct mc_test *t, int rank)
{
    if (t->save.bytes == 0)
        return 0;
    return mc_parts_bytes(&t->job, rank, MC_ALL_STATES, true, (uint64_t)t->o->align);
}

/* Saves and loads use the same memory, and an asynchronous save a copy. Tables of contents are not
 * counted. */
uint64_t mc_need_memory(const struct mc_test *t, int rank)
{
    uint64_t written = written_bytes(t, rank), loaded = 0;

    if (rank < t->load.ranks)
        loaded = mc_parts_bytes(&t->load.job, rank, mc_load_states(t->o), t->play.tasks > 0, 1);
    return (loaded > written ? loaded : written) + (t->async ? written : 0);
}

enum { MEMORY, WRITTEN, NEEDS };

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

/* The states are in memory of the host, and it has less. */
static int compare(const struct weir_run *run, uint64_t bytes, struct weir_err *err)
{
    double memory = weir_machine_memory();
    char needed[WEIR_SIZE_TEXT], there[WEIR_SIZE_TEXT];

    if (run->test->plan.options->gpu_memory || !((double)bytes > memory))
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "the ranks of a node need %s of memory for their states, and the node has "
                       "%s: use more nodes, --play for some ranks, or a smaller model (--scale)",
                       weir_size_show(weir_signed(bytes), needed),
                       weir_size_show((int64_t)memory, there));
}

int mc_need_check(struct weir_run *run, const struct weir_par *par, struct mc_test *t,
                  struct weir_err *err)
{
    const int rank = t->play.first + par->rank;
    const uint64_t mine[NEEDS] = { mc_need_memory(t, rank), written_bytes(t, rank) };
    uint64_t node[NEEDS] = { 0 };
    int64_t most[2 * NEEDS];
    int rc = sum_node(par, mine, node, err);

    if (rc == 0)
        rc = compare(run, node[MEMORY], err);
    for (int i = 0; i < NEEDS; i++) {
        most[i] = weir_signed(mine[i]);
        most[NEEDS + i] = weir_signed(node[i]);
    }
    weir_allmax_i64(par, most, 2 * NEEDS);
    t->need = (struct mc_need) { .rank_memory = most[MEMORY], .rank_written = most[WRITTEN],
                                 .node_memory = most[NEEDS + MEMORY],
                                 .node_written = most[NEEDS + WRITTEN] };
    return weir_agree(par, rc, err);
}

void mc_need_report(struct weir_report *r, const struct mc_need *need)
{
    char text[4][WEIR_SIZE_TEXT];

    weir_report_int(r, WEIR_FOR_DATA, "rankMemoryBytes", need->rank_memory);
    weir_report_int(r, WEIR_FOR_DATA, "rankWriteBytes", need->rank_written);
    weir_report_int(r, WEIR_FOR_DATA, "nodeMemoryBytes", need->node_memory);
    weir_report_int(r, WEIR_FOR_DATA, "nodeWriteBytes", need->node_written);
    weir_report_line(r, "a rank needs up to %s of memory and writes up to %s, a node %s and %s",
                     weir_size_show(need->rank_memory, text[0]),
                     weir_size_show(need->rank_written, text[1]),
                     weir_size_show(need->node_memory, text[2]),
                     weir_size_show(need->node_written, text[3]));
}
