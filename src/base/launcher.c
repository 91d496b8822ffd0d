/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - what launchers tell a process through its environment, before MPI is there to ask */
#include "config.h"
#include "base/launcher.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Slurm sets SLURM_PROCID and SLURM_NTASKS in a batch script, too, which is one process;
 * SLURM_STEP_NUM_TASKS is only there in what srun has started. */
static const struct {
    const char *rank, *size;
} launchers[WEIR_LAUNCHERS] = {
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
    { "PMIX_RANK", NULL },
    { "PMI_RANK", "PMI_SIZE" },
    { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
    { "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
};

/* A number of tasks or a rank; -1 where there is none. */
static int number_of(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;
    long n;

    if (!text || !*text)
        return -1;
    n = strtol(text, &end, 10);
    return *end || n < 0 || n > INT32_MAX ? -1 : (int)n;
}

void weir_launch_read(struct weir_launch *l)
{
    memset(l, 0, sizeof(*l));
    for (int i = 0; i < WEIR_LAUNCHERS; i++) {
        int rank = number_of(launchers[i].rank), size = number_of(launchers[i].size);

        if (rank >= 0 && !l->is_launched) {
            l->is_launched = true;
            l->rank = rank;
        }
        l->size[i] = rank >= 0 && size > 0 ? size : 0;
    }
}

int weir_launch_check(const struct weir_launch *l, int tasks, const char *mpi, struct weir_err *err)
{
    int larger = -1;

    for (int i = 0; i < WEIR_LAUNCHERS; i++) {
        if (l->size[i] == tasks)
            return 0;
        if (l->size[i] > tasks && larger < 0)
            larger = i;
    }
    if (larger < 0)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "the launcher started %d tasks (%s), but MPI has %d: each would run alone, "
                       "on the same files. Use the launcher of this MPI library (%s; for srun see "
                       "srun --mpi=list), or unset %s for a run of its own",
                       l->size[larger], launchers[larger].size, tasks, mpi, launchers[larger].size);
}
