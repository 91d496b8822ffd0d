/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-ranks.c - which rank is in which group */
#include "programs/weir-mix/mix.h"

#include "base/text/ranges.h"

/* All ranks of a run. */
struct ranks {
    const struct mix_plan *plan;
    const int *node;
    int size, nodes, *of;
};

static void take(struct ranks *r, int rank, int g, struct mix_group *group)
{
    r->of[rank] = g;
    group->ranks++;
}

static int take_list(struct ranks *r, int g, struct mix_group *group, struct weir_err *err)
{
    if (weir_ranges_last(group->list) >= r->size)
        return weir_refuse(err, WEIR_EUSAGE,
                           "group '%s': there is no rank %d: %d ranks were started, the last one is %d", group->name,
                           (int)weir_ranges_last(group->list), r->size, r->size - 1);
    for (int i = 0; i < r->size; i++) {
        if (!weir_ranges_have(group->list, i))
            continue;
        if (r->of[i] >= 0)
            return weir_refuse(err, WEIR_EUSAGE, "rank %d is in group '%s' and in group '%s'", i,
                               r->plan->group[r->of[i]].name, group->name);
        take(r, i, g, group);
    }
    return 0;
}

/* At most 'most' free ranks of a node; returns how many. */
static int take_node(struct ranks *r, int node, int most, int g, struct mix_group *group)
{
    int n = 0;

    for (int i = 0; i < r->size && n < most; i++)
        if (r->node[i] == node && r->of[i] < 0) {
            take(r, i, g, group);
            n++;
        }
    return n;
}

static int take_nodes(struct ranks *r, int g, struct mix_group *group, struct weir_err *err)
{
    const bool all = group->by == MIX_NODES;

    if (group->list && weir_ranges_last(group->list) >= r->nodes)
        return weir_refuse(err, WEIR_EUSAGE,
                           "group '%s': there is no node %d: the ranks are on %d node%s, the last one is %d",
                           group->name, (int)weir_ranges_last(group->list), r->nodes,
                           r->nodes == 1 ? "" : "s", r->nodes - 1);
    for (int node = 0; node < r->nodes; node++) {
        int most = all ? r->size : group->count, n;

        if (group->list && !weir_ranges_have(group->list, node))
            continue;
        n = take_node(r, node, most, g, group);
        if (n == 0 || (!all && n < most))
            return weir_refuse(err, WEIR_EUSAGE, "group '%s' needs %d rank%s of node %d, and %d %s free", group->name,
                               all ? 1 : most, all || most == 1 ? "" : "s", node, n, n == 1 ? "is" : "are");
    }
    return 0;
}

static int take_count(struct ranks *r, int g, struct mix_group *group, struct weir_err *err)
{
    int there = 0, wanted;

    for (int i = 0; i < r->size; i++)
        there += r->of[i] < 0;
    wanted = group->by == MIX_REST ? there : group->count;
    if (wanted > there || wanted == 0)
        return weir_refuse(err, WEIR_EUSAGE, "group '%s' needs %d rank%s, and %d of the %d that were started %s free", group->name,
                           wanted ? wanted : 1, wanted > 1 ? "s" : "", there, r->size, there == 1 ? "is" : "are");
    for (int i = 0; i < r->size && wanted > 0; i++)
        if (r->of[i] < 0) {
            take(r, i, g, group);
            wanted--;
        }
    return 0;
}

int mix_ranks_assign(struct mix_plan *plan, const int *node, int size, int nodes, int *of,
                     struct weir_err *err)
{
    struct ranks r = { .plan = plan, .node = node, .size = size, .nodes = nodes, .of = of };

    for (int i = 0; i < size; i++)
        of[i] = -1;
    for (int by = MIX_LIST; by <= MIX_REST; by++)
        for (int g = 0; g < plan->n; g++) {
            struct mix_group *group = &plan->group[g];
            int rc;

            if ((int)group->by != by)
                continue;
            group->ranks = 0;
            rc = by == MIX_LIST                           ? take_list(&r, g, group, err)
                 : by == MIX_NODES || by == MIX_PER_NODE ? take_nodes(&r, g, group, err)
                                                          : take_count(&r, g, group, err);
            if (rc < 0)
                return -1;
        }
    return 0;
}
