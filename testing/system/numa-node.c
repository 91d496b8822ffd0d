/* SPDX-License-Identifier: BSD-3-Clause */
/* numa-node.c - for LD_PRELOAD: odd ranks run on NUMA node 1, the others on 0; with FLIP_NODE every
 * question after the first has the other answer, as for a task that is moved */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

static unsigned rank_of_launcher(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return (unsigned)strtoul(getenv(names[i]), NULL, 10);
    return 0;
}

int getcpu(unsigned *cpu, unsigned *node)
{
    static unsigned asked;

    if (cpu)
        *cpu = 0;
    if (node)
        *node = (rank_of_launcher() + (getenv("FLIP_NODE") ? asked++ : 0)) & 1;
    return 0;
}
