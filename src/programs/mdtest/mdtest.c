/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest.c - the metadata benchmark: the run over all numbers of tasks, and what one number takes */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/steady.h"
#include "engine/check/inputs.h"
#include "engine/ratelimit.h"
#include "engine/place/status.h"

/* The numbers of tasks from the first to the last. */
static int count_variants(const void *opt, const struct weir_par *world)
{
    const struct mdtest_options *o = opt;

    if (o->last <= o->first || o->last > world->size) /* one, or a mistake */
        return 1;
    return (o->last - o->first) / o->step + 1;
}

/* ---- before the first phase ---- */

static size_t larger(int64_t a, int64_t b)
{
    return (size_t)(a > b ? a : b);
}

static int take_memory(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    size_t in = larger(o->read_bytes, o->verify_write ? o->write_bytes : 0);
    size_t want = o->verify_read ? larger(o->read_bytes, o->write_bytes) : 0, longest = 0;

    t->out_len = (size_t)o->write_bytes;
    t->in_len = (size_t)o->read_bytes;
    for (int i = 0; i < t->places.n; i++)
        longest = strlen(t->places.base[i]) > longest ? strlen(t->places.base[i]) : longest;
    if (mdtest_names_init(&t->names, &t->tree, longest, err) < 0 ||
        mdtest_names_init(&t->target, &t->tree, longest, err) < 0 ||
        weir_small_files_begin(&t->fs, run->gpu, t->out_len, in, want, err) < 0)
        return -1;
    weir_small_files_fill(&t->fs, run, o->shared ? 0 : run->par.rank, 0, t->out_len);
    if (mdtest_asks_more(o) && !(t->value = calloc(2, MDTEST_XATTR_MAX)))
        return weir_fail(err, WEIR_ESETUP, "memory for attributes");
    if (o->latency && run->par.rank == 0 &&
        !(t->results.sum = calloc(MDTEST_OPS * WEIR_CALLS, sizeof(*t->results.sum))))
        return weir_fail(err, WEIR_ESETUP, "memory for latencies");
    return 0;
}

static void end(void *state)
{
    struct mdtest_test *t = state;

    mdtest_names_free(&t->names);
    mdtest_names_free(&t->target);
    weir_small_files_end(&t->fs);
    free(t->results.mine);
    free(t->results.sum);
    free(t->value);
}

/* The number of an earlier run. More items than the tree holds can only be in a single
 * directory. */
static int take_status(struct weir_run *run, struct mdtest_test *t, struct weir_err *err)
{
    enum mdtest_kind kind = t->ledger.kind[MDTEST_FILES] ? MDTEST_FILES : MDTEST_DIRS;
    uint64_t items = t->ledger.planned;
    bool there;

    if (!t->o->status_file || t->o->create)
        return 0;
    if (weir_status_read(run, t->o->status_file, "items", &there, &items, err) < 0 ||
        (!there && weir_warn(&run->log, err,
                             "Could not read stonewall status file '%s': using the planned number "
                             "of items",
                             t->o->status_file) < 0))
        return -1;
    mdtest_log(run, 1, "Read stonewall status; items: %" PRIu64 "\n", items);
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

static int begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->tasks = run->par.size;
    t->pass.parts = run->report.details || t->o->latency;
    t->pass.fine = t->pass.parts || run->records.wanted || run->records.sampled ||
                   run->records.intervals || weir_ratelimit_wanted(&t->o->run) ||
                   weir_steady_asked(t->o->run.until);
    return mdtest_plan_tree(t, run, err) < 0 ? -1 : take_memory(run, t, err);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    if (weir_small_files_start(&t->fs, run, err) < 0)
        return -1;
    t->ready = take_status(run, t, err) == 0;
    return t->ready ? 0 : -1;
}

static int begin_iteration(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    struct mdtest_results *r = &t->results;
    size_t last = t->o->all_procs ? (size_t)run->repetition : 0;

    r->iterations = run->repetition + 1;
    if (!weir_mem_reserve(&r->mine, last, &r->capacity, MDTEST_OPS * sizeof(*r->mine)))
        return weir_fail(err, WEIR_ESETUP, "memory for the results of %zu iterations", last + 1);
    memset(mdtest_mine_of(run, t), 0, sizeof(*r->mine) * MDTEST_OPS);
    t->ledger.started[MDTEST_DIRS] = t->ledger.started[MDTEST_FILES] = t->ledger.trees_started = 0;
    for (int k = 0; t->o->create && k < MDTEST_KINDS; k++)
        t->ledger.count[k] = t->ledger.planned;
    mdtest_log(run, 1, "main: * iteration %d *", run->repetition + 1);
    return 0;
}

/* All phases of a test are judged. */
_Static_assert((int)MDTEST_OPS <= WEIR_INPUTS_PHASES, "mdtest has more phases than are judged");

/* Declare whether a node accesses what it made itself, and the ratio of the data. */
static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct mdtest_test *t = state;
    bool looks = t->o->stat || t->o->read || mdtest_asks_more(t->o);

    f->own_metadata = looks && weir_par_same_node(&run->par, t->shift) > 0;
    f->ratio = t->fs.data.ratio;
}

/* ---- the program ---- */

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 1000 -u -N 1",
      "files, in a directory for each task; other nodes stat them" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 1000 -w 3901 -e 3901", "small files with data" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -n 1000 -i 3",
      "directories and files in one place, three repetitions" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -I 10 -b 4 -z 3",
      "10 items in each directory of a tree with 85" },
    { WEIR_TOPIC_NONE, "-d /scratch/d -F -n 100000 -W 60",
      "create for 60 s, then reach the count of the fastest" },
    { WEIR_TOPIC_FILES, "-d /scratch/d -F -I 10 -b 4 -z 3 -L",
      "files only in the lowest directories of a tree" },
    { WEIR_TOPIC_ORDER, "-d /scratch/d -F -n 1000 -C -T -r -N 1 -R",
      "create, stat in random order what another node made, remove" },
    { WEIR_TOPIC_DATA, "-d /scratch/d -F -n 1000 -w 4k -e 4k -y -X",
      "4 KiB in each file, flushed, and checked when it is read" },
    { WEIR_TOPIC_TIME, "-d /scratch/d -F -n 100000 -W 60 -i 3",
      "stop creating after 60 s, three repetitions" },
    { .args = NULL }
};

static const struct weir_test_checks checks = { .inputs = inputs_of };

const struct weir_program weir_mdtest = {
    .name = "mdtest",
    .examples = examples,
    .brief = "measure metadata operations of parallel file systems",
    .opts = mdtest_opts,
    .opt_size = sizeof(struct mdtest_options),
    .state_size = sizeof(struct mdtest_test),
    .operations = mdtest_operations,
    .output = &mdtest_output,
    .cli = &mdtest_cli,
    .variants = count_variants,
    .plan = mdtest_plan,
    .enter = mdtest_enter_run,
    .leave = mdtest_leave_run,
    .begin = begin,
    .files = &mdtest_files_made,
    .end = end,
    .start = start,
    .checks = &checks,
    .repetition = begin_iteration,
    .stages = mdtest_stages,
    .conclude = mdtest_summary,
};

WEIR_PROGRAM("mdtest", weir_mdtest);
