/* SPDX-License-Identifier: BSD-3-Clause */
/* shift.c - whose data a task reads */
#include "base/shape/shift.h"
#include "config.h"

#include <stdlib.h>

#include "base/rng.h"

int weir_shift_fixed(int rank, int tasks, long long shift)
{
    long long p = (rank + shift % tasks) % tasks;

    return (int)(p < 0 ? p + tasks : p);
}

int weir_shift_random(int rank, int tasks, int per_node, int nodes, int distance, unsigned seed,
                      struct weir_err *err)
{
    long long apart = distance < nodes - 1 ? distance : nodes - 1;
    struct weir_glibc_random g;
    int shift;

    apart *= per_node;
    if (apart >= tasks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "no task is %lld tasks away from rank %d: there are %d tasks", apart,
                           rank, tasks);
    weir_glibc_srandom(&g, (unsigned)rank + seed);
    do {
        shift = weir_glibc_random(&g) % tasks;
    } while (shift < apart);
    return weir_shift_fixed(rank, tasks, shift);
}

int weir_shift_permuted(int rank, int tasks, unsigned seed, struct weir_err *err)
{
    int *perm = malloc((size_t)tasks * sizeof(*perm));
    struct weir_glibc_random g;
    int p;

    if (!perm)
        return weir_fail(err, WEIR_ESETUP, "allocate a permutation of %d tasks", tasks);
    for (int i = 0; i < tasks; i++)
        perm[i] = i;
    weir_glibc_srandom(&g, seed);
    for (int i = 0; i < tasks; i++) {
        int j = i + weir_glibc_random(&g) % (tasks - i);
        int kept = perm[i];

        perm[i] = perm[j];
        perm[j] = kept;
    }
    p = perm[rank];
    free(perm);
    return p;
}

unsigned weir_shift_seed(int x, int rep)
{
    return x >= 0 ? (unsigned)x : 0u - (unsigned)x + (unsigned)rep;
}
