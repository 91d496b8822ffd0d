/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-owner.c - whose data a task reads: its own, -C, -Z, or what no node has seen yet */
#include "programs/ior/ior.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/shape/shift.h"
#include "par/agree.h"
#include "par/group.h"

/* On one node a shift by nodes comes back to the rank itself and would read its own cache: there
 * it counts tasks. */
int ior_shift(const struct ior_options *o, const struct weir_par *par, bool check_write)
{
    long long nodes = (long long)o->node_offset + (check_write ? 1 : 0);
    int shift = weir_shift_fixed(0, par->size, nodes * weir_par_node_stride(par));

    if (shift == 0)
        shift = weir_shift_fixed(0, par->size, nodes);
    return shift == 0 && par->size > 1 ? 1 : shift;
}

/* ---- -Z and -Z -Z ---- */

/* Every rank draws for itself, at least min(distance, nodes - 1) nodes away. */
static int shift_random(const struct weir_par *par, int distance, unsigned seed, struct weir_err *err)
{
    const int nodes = par->cache.nodes;
    long long apart = distance < nodes - 1 ? distance : nodes - 1;
    struct weir_glibc_random g;
    int shift;

    apart *= par->cache.per_node;
    if (apart >= par->size)
        return weir_refuse(err, WEIR_EUSAGE,
                           "no task is %lld tasks away from rank %d: there are %d tasks", apart,
                           par->rank, par->size);
    weir_glibc_srandom(&g, (unsigned)par->rank + seed);
    do {
        shift = weir_glibc_random(&g) % par->size;
    } while (shift < apart);
    return weir_shift_fixed(par->rank, par->size, shift);
}

/* Draw a permutation, the same on every rank; O(tasks) time and scratch memory. */
static int shift_permuted(int rank, int tasks, unsigned seed, struct weir_err *err)
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

/* ---- --read-back=elsewhere ---- */

/* True when each repetition writes data that no node has read. */
static bool is_new_each_time(const struct ior_options *o)
{
    return o->write || o->multi_file;
}

static int rounds_of_repetition(const struct ior_options *o)
{
    return o->check_write + ior_wants_read(o);
}

static int round_of(const struct ior_options *o, bool check_write, int repetition)
{
    int in_repetition = o->check_write && !check_write;

    return in_repetition + (is_new_each_time(o) ? 0 : repetition * rounds_of_repetition(o));
}

bool ior_reads_of_others(const struct ior_options *o)
{
    return (o->reorder_constant || o->reorder_random || ior_reads_elsewhere(o)) &&
           rounds_of_repetition(o) > 0;
}

bool ior_reads_elsewhere(const struct ior_options *o)
{
    return strcmp(o->read_back, "elsewhere") == 0 && rounds_of_repetition(o) > 0;
}

int ior_find_elsewhere(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    int rounds = rounds_of_repetition(t->o) * (is_new_each_time(t->o) ? 1 : t->o->run.repetitions);
    int most, rc;

    if (!ior_reads_elsewhere(t->o))
        return 0;
    most = weir_circle_most(&run->par);
    rc = weir_elsewhere_check(most, run->par.size, rounds, err);
    if (rc < 0)
        weir_err_within(err, "option --read-back=elsewhere");
    else if (!(t->owner_of = malloc((size_t)rounds * sizeof(*t->owner_of))))
        rc = weir_fail(err, WEIR_ESETUP, "allocate the owners of %d rounds", rounds);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_circle_ranks(&run->par, most, rounds, t->owner_of);
    return 0;
}

/* ---- all ways ---- */

int ior_owner(const struct ior_test *t, const struct weir_par *par, bool check_write,
              int repetition, struct weir_err *err)
{
    const struct ior_options *o = t->o;
    unsigned seed = o->seed >= 0 ? (unsigned)o->seed : 0u - (unsigned)o->seed + (unsigned)repetition;

    if (t->owner_of)
        return t->owner_of[round_of(o, check_write, repetition)];
    if (o->reorder_constant)
        return weir_shift_fixed(par->rank, par->size, ior_shift(o, par, check_write));
    if (check_write || o->reorder_random == 0)
        return par->rank;
    return o->reorder_random == 1 ? shift_random(par, o->node_offset, seed, err)
                                  : shift_permuted(par->rank, par->size, seed, err);
}
