/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-elsewhere.c - who reads whose data, so that no node sees the same data twice
 *
 * The tasks stand in a circle, those of a node side by side. Two tasks that are at least m places
 * apart in both directions, m being the most tasks of a node, are on different nodes. In round k
 * everybody reads what the task (k + 1) * m places further on wrote: the data of a task are then
 * touched by tasks that are m or more places apart from each other. */
#include "config.h"
#include "programs/ior/ior-elsewhere.h"

#include <stdlib.h>

struct place {
    int node, task;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->node != y->node ? (x->node > y->node) - (x->node < y->node)
                              : (x->task > y->task) - (x->task < y->task);
}

/* The circle; *most: tasks of the fullest node. free() it. NULL and err. */
static struct place *stand(const int *node, int tasks, int *most, struct weir_err *err)
{
    struct place *p = malloc((size_t)tasks * sizeof(*p));
    int same = 0;

    if (!p) {
        weir_fail(err, WEIR_ESETUP, "allocate the places of %d tasks", tasks);
        return NULL;
    }
    for (int i = 0; i < tasks; i++)
        p[i] = (struct place) { node[i], i };
    qsort(p, (size_t)tasks, sizeof(*p), compare);
    *most = 0;
    for (int i = 0; i < tasks; i++) {
        same = i > 0 && p[i].node == p[i - 1].node ? same + 1 : 1;
        *most = same > *most ? same : *most;
    }
    return p;
}

int weir_elsewhere_check(const int *node, int tasks, int rounds, struct weir_err *err)
{
    int most;
    struct place *p = stand(node, tasks, &most, err);

    if (!p)
        return -1;
    free(p);
    if (most == tasks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "all tasks are on one node; at least two nodes are needed");
    if (2LL * most > tasks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "one node has %d of the %d tasks; it may have half of them at most",
                           most, tasks);
    if ((rounds + 1LL) * most > tasks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "the data are read %d times, and a node with %d of %d tasks would see "
                           "some of them twice",
                           rounds, most, tasks);
    return 0;
}

int weir_elsewhere_owner(const int *node, int tasks, int rank, int round, struct weir_err *err)
{
    int most, at = 0, owner;
    struct place *p = stand(node, tasks, &most, err);

    if (!p)
        return -1;
    while (p[at].task != rank)
        at++;
    owner = p[(at + (round + 1LL) * most) % tasks].task;
    free(p);
    return owner;
}
