/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-check.c - are the options sound, and what follows from them */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "engine/place/items.h"
#include "par/agree.h"

/* ---- directories ---- */

static int split_dirs(struct mdtest_test *t, struct weir_run *run, struct weir_err *err)
{
    const char *list = t->o->dirs ? t->o->dirs : "";
    int n = weir_places_count(list);

    t->places.base = weir_arena_alloc(&run->arena, sizeof(*t->places.base) * (size_t)n, err);
    t->places.made = weir_arena_alloc(&run->arena, sizeof(*t->places.made) * (size_t)n, err);
    if (!t->places.base || !t->places.made)
        return -1;
    for (t->places.n = 0; t->places.n < n; t->places.n++) {
        size_t len;
        const char *at = weir_places_at(list, t->places.n, &len);

        if (len == 0)
            return weir_refuse(err, WEIR_EUSAGE, "option -d: an empty name in the list '%s'", list);
        t->places.base[t->places.n] = weir_arena_strndup(&run->arena, at, len, err);
        if (!t->places.base[t->places.n])
            return -1;
    }
    return 0;
}

/* ---- phases and kinds ---- */

static void fill_phases(struct mdtest_test *t, struct mdtest_options *o)
{
    t->all_phases = !o->create && !o->stat && !o->read && !o->remove && !o->rename;
    if (t->all_phases)
        o->create = o->stat = o->read = o->remove = o->rename = true;
    t->ledger.kind[MDTEST_DIRS] = (o->only_dirs || !o->only_files) && !o->shared;
    t->ledger.kind[MDTEST_FILES] = o->only_files || !o->only_dirs;
    if (o->random_seed > 0)
        o->random = true;
}

/* The time of rank 0 stands in for seeds that were not given; what an earlier run wrote may say
 * its own. */
static void fill_seeds(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *o)
{
    int now = -1;

    weir_metadata_seed(run, &now);
    if (o->random && o->random_seed == 0)
        o->random_seed = now;
    t->fs.seed_unknown = o->seed == -1 && o->verify_read && !o->create;
    if (o->seed == -1)
        o->seed = now;
    t->fs.data.signature = (uint32_t)o->seed;
}

/* ---- what does not go together ---- */

static int check_rules(const struct mdtest_test *t, const struct weir_run *run,
                       struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_conflict rules[] = {
        { o->run.deadline_s > 0 && o->branch > 1,
          "a stonewall (-W) needs a tree with branching factor 1 (-b)" },
        { o->no_barriers && o->shift != 0, "shifting tasks (-N) needs barriers; leave -B out" },
        { o->shared && o->collective,
          "shared files (-S) and collective creates (-c) exclude each other; choose one" },
        { t->places.n > 1 && o->collective,
          "collective creates (-c) work in one directory (-d) only" },
        { o->no_barriers && o->collective, "collective creates (-c) need barriers; leave -B out" },
        { o->unique && o->shared,
          "a directory for each task (-u) and shared files (-S) exclude each other; choose one" },
        { t->places.n > 1 && o->shift > 0,
          "several directories (-d) and shifting tasks (-N) exclude each other; choose one" },
        { t->places.n > 1 && !o->unique,
          "several directories (-d) need a tree for each task; give -u" },
        { t->places.n > o->first, "there are more directories (-d) than tasks" },
        { o->mknod && o->write_bytes > 0, "files made with mknod (-k) cannot be written (-w)" },
        { o->mknod && o->shared, "files made with mknod (-k) cannot be shared (-S)" },
        { o->verify_read && !o->read, "checking data (-X) needs the read phase; give -E" },
        { o->verify_read && o->read_bytes == 0, "checking data (-X) needs bytes to read; give -e" },
        { o->write_bytes < 0 || o->read_bytes < 0,
          "bytes of a file (-w, -e) must not be negative" },
        { o->write_bytes > INT64_MAX / 4 || o->read_bytes > INT64_MAX / 4,
          "bytes of a file (-w, -e) are more than a file can hold" },
        { o->verify_write && o->write_bytes == 0,
          "checking what was written (--verify-write) needs bytes to write; give -w" },
        { o->create && o->read && t->ledger.kind[MDTEST_FILES] && o->read_bytes > o->write_bytes,
          "the read phase cannot read more (-e) than the create phase writes (-w)" },
        { o->first > o->last, "the first number of tasks (-f) is more than the last (-l)" },
        { o->last > run->world.size, "the last number of tasks (-l) is more than there are tasks" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* ---- the backend ---- */

/* What the test asks for and the backend cannot. A missing rename is left out with a warning. */
static int check_names(struct mdtest_test *t, const struct weir_run *run, struct mdtest_options *o,
                       struct weir_err *err)
{
    static const struct weir_ns none;
    const struct weir_ns *ns = t->fs.ns = t->fs.be->ns ? t->fs.be->ns : &none;
    const struct {
        bool wanted, there;
        const char *what;
    } needs[] = {
        { true, ns->mkdir && ns->rmdir && ns->exists, "make and remove directories" },
        { t->ledger.kind[MDTEST_FILES] && o->remove, ns->unlink, "remove files (-r)" },
        { o->stat, ns->stat, "stat (-T)" },
        { o->mknod, ns->mknod, "mknod (-k)" },
        { o->sync_phase, ns->syncfs, "sync a file system (-Y)" },
        { o->reset_layout, t->fs.be->reset_dir,
          "reset the layout of directories (-g): that takes POSIX in a build with Lustre "
          "(lustreapi)" },
        { o->sync_file && o->write_bytes > 0, t->fs.be->sync, "sync files (-y)" },
        { o->shared && t->ledger.kind[MDTEST_FILES], !(t->fs.be->flags & WEIR_BE_COLLECTIVE_OPEN),
          "share files between tasks that open them one by one (-S)" },
    };

    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (needs[i].wanted && !needs[i].there)
            return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s", t->fs.be->name, needs[i].what);
    if (!t->ledger.kind[MDTEST_DIRS] || !o->rename || ns->rename)
        return 0;
    o->rename = false;
    if (run->test->variant > 0)
        return 0;
    return weir_warn(&run->log, err, "%s cannot rename: the rename phase is left out",
                     t->fs.be->name);
}

/* ---- all of it ---- */

static int warn_odd(const struct mdtest_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;

    if (o->read && o->read_bytes == 0 &&
        weir_warn(&run->log, err,
                  "Read bytes is 0, thus, a read test will actually just open/close") < 0)
        return -1;
    if (o->items > 0 && t->tree.total == 0)
        weir_note(&run->log,
                  "%" PRId64 " items (-n) over %" PRIu64 " directories are none in each: no item "
                  "is made; take more of them, or a smaller tree (-z, -b)",
                  o->items, t->tree.dirs - t->tree.first);
    if (o->no_barriers)
        return weir_warn(&run->log, err,
                         "without barriers (-B) a phase may meet items that another task has not "
                         "made yet; tasks still "
                         "agree on errors between phases");
    return 0;
}

/* Directory items are gone before files are made when they are removed at all. */
static void plan_need(struct mdtest_test *t, struct weir_plan *plan)
{
    const struct mdtest_options *o = t->o;
    uint64_t tasks = (uint64_t)o->last, items = t->tree.total;
    uint64_t files = t->ledger.kind[MDTEST_FILES] ? weir_product(items, o->shared ? 1 : tasks) : 0;
    uint64_t dirs = t->ledger.kind[MDTEST_DIRS] ? weir_product(items, tasks) : 0;
    uint64_t iterations = o->remove ? 1 : (uint64_t)o->run.repetitions;

    t->need.dirs = weir_product(weir_product(t->tree.dirs, t->tree.loops), o->unique ? tasks : 1);
    t->need.items = !o->remove ? weir_sum(files, dirs) : files > dirs ? files : dirs;
    t->plan = plan;
    plan->inodes = weir_sum(weir_sum(t->need.items, t->need.dirs), t->tree.loops);
    plan->inodes = weir_product(plan->inodes, iterations);
    plan->bytes = weir_product(weir_product(files, (uint64_t)o->write_bytes), iterations);
}

int mdtest_plan(struct mdtest_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_dirtree_shape shape = { o->items, o->per_dir, o->branch, o->depth,
                                              o->leaf_only };
    int64_t shift = o->shift;

    if (mdtest_tree_init(&t->tree, &shape, o->unique, err) < 0)
        return -1;
    if (run->par.nodes > 1)
        shift *= weir_par_node_stride(&run->par);
    t->shift = (int)(shift % run->par.size);
    for (int k = 0; k < MDTEST_KINDS; k++)
        t->ledger.planned[k] = t->ledger.count[k] = t->tree.total;
    return 0;
}

/* What this rank finds: memory and the backend's own check may differ. */
static int check_all(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *o,
                     struct weir_err *err)
{
    int64_t bytes = o->write_bytes > o->read_bytes ? o->write_bytes : o->read_bytes;

    if (o->last == 0)
        o->first = o->last = run->world.size;
    run->par = run->world;
    fill_phases(t, o);
    if (split_dirs(t, run, err) < 0 ||
        weir_metadata_packet(o->packet, &t->fs.data.packet, err) < 0 ||
        mdtest_plan(t, run, err) < 0 || check_rules(t, run, err) < 0 ||
        check_names(t, run, o, err) < 0 ||
        weir_small_files_check(&t->fs, run, (uint64_t)bytes, "mdtest", err) < 0)
        return -1;
    plan_need(t, &run->test->plan);
    return run->test->variant == 0 ? warn_odd(t, run, err) : 0;
}

int mdtest_check(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *own,
                 struct weir_err *err)
{
    if (weir_agree_check(&run->world, check_all(t, run, own, err), err) < 0)
        return -1;
    fill_seeds(t, run, own);
    return 0;
}
