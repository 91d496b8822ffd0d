/* SPDX-License-Identifier: BSD-3-Clause */
/* processors.c - what others had of the processors of a node's tasks during the phases
 *
 * The first rank of each node reads, before and after a phase, how busy the processors were that
 * its tasks may use, and what the tasks themselves had of them: all tasks of the run, for those
 * that wait in MPI are busy, too. The rest is that of others. */
#include "config.h"
#include "engine/check/trust.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/run.h"
#include "par/nodes.h"

#define LEAST_S 0.1    /* of a phase: the kernel counts in ticks of 10 ms */
#define LEAST_ALL_S 0.5 /* of all phases of a test */
#define PPM 1e6

/* The processes of this node's tasks, and where they are seen from. */
static void gather_tasks(struct weir_run *run, struct weir_trust_processors *p)
{
    const struct weir_par *par = &run->world;
    const uint64_t mine[2] = { (uint64_t)getpid(), weir_process_space() };
    size_t n = par->rank == par->leader ? (size_t)par->followers + 1 : 0;
    uint64_t *all = n > 0 ? weir_arena_alloc(&run->arena, 2 * n * sizeof(*all), NULL) : NULL;

    weir_nodes_gather(par, mine, 2, all); /* without memory nothing is kept */
    p->task = all;
    p->tasks = all ? (int)n : 0;
    for (size_t i = 0; all && i < n; i++) {
        if (all[2 * i + 1] != mine[1])
            p->tasks = 0; /* in containers of their own */
        all[i] = all[2 * i];
    }
}

void weir_trust_processors_find(struct weir_run *run)
{
    struct weir_trust_processors *p = &run->trust.processors;

    for (int i = 0; i < WEIR_MACHINE_CORE_WORDS; i++)
        p->n += __builtin_popcountll(p->mask[i]);
    gather_tasks(run, p);
    p->kernel = p->tasks > 0 ? weir_process_kernel() : NAN;
    p->sees_kernel = !isnan(p->kernel);
}

/* What all had of the processors, and what is ours of it. */
static bool read_now(const struct weir_trust_processors *p, struct weir_processor_use *u)
{
    *u = (struct weir_processor_use) { .at_ns = weir_now_ns() };
    for (int i = 0; i < p->tasks; i++)
        if (!weir_process_add((long)p->task[i], &u->own))
            return false;
    weir_process_add_parents(&u->own);
    return p->tasks > 0 && weir_processors_busy(p->mask, WEIR_MACHINE_CORE_WORDS, &u->busy);
}

void weir_trust_processors_begin(struct weir_run *run)
{
    struct weir_trust_processors *p = &run->trust.processors;

    p->others = p->room = 0;
    p->share = INT64_MIN;
}

void weir_trust_processors_before(struct weir_run *run)
{
    struct weir_trust_processors *p = &run->trust.processors;

    p->reads = p->tasks > 0 && read_now(p, &p->before);
}

/* Of the time of others, which may be that of threads of the kernel that work for us: write back,
 * encrypt, send. They are looked for only where it matters, for it takes a while. */
static double without_kernel(struct weir_trust_processors *p, double others)
{
    double now;

    if (!p->sees_kernel || others <= WEIR_OTHERS_SHARE / 2 * p->room)
        return others;
    now = weir_process_kernel();
    return isnan(now) ? others : fmax(0, others - (now - p->kernel));
}

void weir_trust_processors_after(struct weir_run *run)
{
    struct weir_trust_processors *p = &run->trust.processors;
    struct weir_processor_use now;
    double span, busy, own;

    if (!p->reads || !read_now(p, &now))
        return;
    span = (double)(now.at_ns - p->before.at_ns) / WEIR_NS_PER_S;
    if (span < LEAST_S)
        return;
    busy = p->sees_kernel ? now.busy.all - p->before.busy.all : now.busy.user - p->before.busy.user;
    own = p->sees_kernel ? now.own.all - p->before.own.all : now.own.user - p->before.own.user;
    p->others += fmax(0, busy - own);
    p->room += span * p->n;
    if (p->room >= LEAST_ALL_S * p->n)
        p->share = (int64_t)(PPM * without_kernel(p, p->others) / p->room);
}

void weir_trust_processors_note(const struct weir_run *run, struct weir_facts *f)
{
    int64_t most = run->trust.processors.most;

    f->others_cpu = most >= 0 ? (double)most / PPM : NAN;
}
