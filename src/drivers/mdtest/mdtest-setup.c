/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-setup.c - what a test needs before its first phase: plan, memory, what an earlier run left */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/latency.h"
#include "engine/status.h"
#include "par/agree.h"

static size_t larger(int64_t a, int64_t b)
{
    return (size_t)(a > b ? a : b);
}

static int take_buffers(struct mdtest_test *t, struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    size_t in = larger(o->read_bytes, o->verify_write ? o->write_bytes : 0);
    size_t want = o->verify_read ? larger(o->read_bytes, o->write_bytes) : 0;

    t->out_len = (size_t)o->write_bytes;
    t->in_len = (size_t)o->read_bytes;
    if (weir_small_files_begin(&t->fs, t->out_len, in, want, err) < 0)
        return -1;
    weir_small_files_fill(&t->fs, run, o->shared ? 0 : run->par.rank, 0, t->out_len);
    return 0;
}

static int take_memory(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    size_t longest = 0;
    size_t rooms = t->o->all_procs ? (size_t)t->o->run.repetitions : 1;

    for (int i = 0; i < t->places.n; i++)
        longest = strlen(t->places.base[i]) > longest ? strlen(t->places.base[i]) : longest;
    if (mdtest_names_init(&t->names, &t->tree, longest, err) < 0 ||
        mdtest_names_init(&t->target, &t->tree, longest, err) < 0 || take_buffers(t, run, err) < 0)
        return -1;
    t->results.mine = calloc(rooms * MDTEST_OPS, sizeof(*t->results.mine));
    if (!t->results.mine)
        return weir_fail(err, WEIR_ESETUP, "memory for the results of %zu iterations", rooms);
    if (t->o->latency && run->par.rank == 0 &&
        !(t->results.sum = calloc(MDTEST_OPS * WEIR_CALLS, sizeof(*t->results.sum))))
        return weir_fail(err, WEIR_ESETUP, "memory for latencies");
    return 0;
}

void mdtest_end(void *state)
{
    struct mdtest_test *t = state;

    mdtest_names_free(&t->names);
    mdtest_names_free(&t->target);
    weir_small_files_end(&t->fs);
    free(t->results.mine);
    free(t->results.sum);
    free(t->damage.path);
}

/* The number of an earlier run. More items than the tree has room for can only be in a single
 * directory. */
static int take_status(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    enum mdtest_kind kind = t->ledger.kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS;
    uint64_t items = t->ledger.planned[kind];
    bool there;

    if (!t->o->status_file || t->o->create)
        return 0;
    if (weir_status_read(run, t->o->status_file, "items", &there, &items, err) < 0 ||
        (!there && weir_warn(&run->log, err,
                             "Could not read stonewall status file '%s': the planned number of "
                             "items is taken",
                             t->o->status_file) < 0))
        return -1;
    mdtest_say(run, 1, "Read stonewall status; items: %" PRIu64 "\n", items);
    if (items > t->tree.total && t->tree.dirs > 1)
        return weir_refuse(err, WEIR_EUSAGE,
                           "status file '%s' counts %" PRIu64
                           " items, and this tree holds only %" PRIu64
                           "; give -n, -I, -b, -z as in the run that wrote it",
                           t->o->status_file, items, t->tree.total);
    if (items > t->tree.total) {
        t->tree.per_dir = t->tree.per_loop = t->tree.total = items;
        t->tree.loops = 1;
    }
    t->ledger.count[kind] = items;
    return 0;
}

int mdtest_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->tasks = run->par.size;
    t->pass.fine = run->details || t->o->latency || weir_records_are_read(&run->records);
    return mdtest_plan(t, run, err) < 0 ? -1 : take_memory(run, t, err);
}

int mdtest_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    if (weir_small_files_start(&t->fs, run, err) < 0)
        return -1;
    t->ready = take_status(run, t, err) == 0;
    return t->ready ? 0 : -1;
}
