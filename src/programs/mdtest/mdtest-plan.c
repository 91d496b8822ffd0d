/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-plan.c - the checks of the options, and what follows from them */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>

#include "base/size.h"
#include "par/agree.h"

/* ---- directories ---- */

static int split_dirs(struct mdtest_test *t, struct weir_run *run, struct weir_err *err)
{
    const char *list = t->o->dirs;
    int n = weir_places_count(list);

    t->places.base = weir_arena_alloc(&run->arena, sizeof(*t->places.base) * (size_t)n, err);
    if (!t->places.base)
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
    o->xattrs = o->xattr > 0;
}

/* The time of rank 0 stands in for seeds that were not given; files of an earlier run may have
 * another one. */
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

/* ---- options that exclude each other ---- */

static int check_rules(const struct mdtest_test *t, const struct weir_run *run,
                       struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_conflict rules[] = {
        { weir_run_options_bound(&o->run) > 0 && o->branch > 1,
          "a stonewall (-W, --until=steady) needs a tree with branching factor 1 (-b)" },
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
        { o->verify_read && !o->read && !o->chmod,
          "checking data (-X) needs the read phase; give -E" },
        { o->verify_read && o->read_bytes == 0 &&
              (!o->chmod || (o->read && t->ledger.kind[MDTEST_FILES])),
          "checking data (-X) needs bytes to read; give -e" },
        { o->write_bytes < 0 || o->read_bytes < 0,
          "bytes of a file (-w, -e) must not be negative" },
        { o->write_bytes > INT64_MAX / 4 || o->read_bytes > INT64_MAX / 4,
          "bytes of a file (-w, -e) are more than a file can hold" },
        { o->verify_write && o->write_bytes == 0,
          "checking what was written (--verify-write) needs bytes to write; give -w" },
        { o->create && o->read && t->ledger.kind[MDTEST_FILES] && o->read_bytes > o->write_bytes,
          "the read phase cannot read more (-e) than the create phase writes (-w)" },
        { o->move && t->tree.dirs * t->tree.loops < 2,
          "items can be moved (--move) between several directories only; give a tree with -z" },
        { o->link && o->only_dirs && !o->only_files,
          "hard links (--link) need files; leave -D out" },
        { o->shared && (o->move || o->link || o->symlink),
          "shared files (-S) cannot be moved or linked (--move, --link, --symlink): all tasks "
          "would use one name" },
        { o->no_barriers && o->list,
          "lists of directories (--readdir) are compared with the items of all tasks, which needs "
          "barriers; leave -B out" },
        { o->mknod && o->xattrs,
          "files made with mknod (-k) are read-only: an attribute (--xattr) cannot be set" },
        { o->first > o->last, "the first number of tasks (-f) is more than the last (-l)" },
        { o->last > run->world.size, "the last number of tasks (-l) is more than there are tasks" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* ---- the backend ---- */

/* Refuses operations that the backend lacks, but for a rename. */
static int check_names(struct mdtest_test *t, const struct mdtest_options *o, struct weir_err *err)
{
    static const struct weir_ns none;
    const struct weir_ns *ns = t->fs.ns = t->fs.be->ns ? t->fs.be->ns : &none;
    const struct {
        bool wanted, there;
        const char *what;
    } needs[] = {
        { true, ns->mkdir && ns->rmdir && ns->exists, "create and remove directories" },
        { t->ledger.kind[MDTEST_FILES] && o->remove, ns->unlink, "remove files (-r)" },
        { o->stat, ns->stat, "stat (-T)" },
        { o->mknod, ns->mknod, "mknod (-k)" },
        { o->sync_phase, ns->syncfs, "sync a file system (-Y)" },
        { o->list, ns->call, "list directories (--readdir)" },
        { o->move, ns->call, "rename across directories (--move)" },
        { o->link || o->symlink, ns->call, "create links (--link, --symlink)" },
        { o->xattrs, ns->call, "set extended attributes (--xattr)" },
        { o->chmod, ns->call, "change modes (--chmod)" },
        { o->reset_layout, t->fs.be->reset_dir,
          "reset the layout of directories (-g), which needs -a POSIX in a build with Lustre "
          "(lustreapi)" },
        { o->sync_file && o->write_bytes > 0, t->fs.be->sync, "sync files (-y)" },
        { o->shared && t->ledger.kind[MDTEST_FILES], !(t->fs.be->flags & WEIR_BE_COLLECTIVE_OPEN),
          "share files between tasks that open them one by one (-S)" },
    };

    t->fs.access.directories = t->ledger.kind[MDTEST_DIRS];
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (needs[i].wanted && !needs[i].there)
            return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s", t->fs.be->name, needs[i].what);
    return 0;
}

/* ---- all of it ---- */

/* Warnings come behind all that is refused. */
static int warn_odd(const struct mdtest_test *t, const struct weir_run *run, bool renames_not,
                    struct weir_err *err)
{
    const struct mdtest_options *o = t->o;

    if (renames_not &&
        weir_warn(&run->log, err, "%s cannot rename: the rename phase is left out", t->fs.be->name) < 0)
        return -1;
    if (o->read && o->read_bytes == 0 &&
        weir_warn(&run->log, err,
                  "Read bytes is 0, thus, a read test will actually just open/close") < 0)
        return -1;
    if (o->items > 0 && t->tree.total == 0)
        weir_note(&run->log, "%" PRId64 " items (-n) in %" PRIu64 " directories: 0 items per "
                             "directory, so no item is created; use more items (-n), or a smaller "
                             "tree (-z, -b)", o->items, t->tree.dirs - t->tree.first);
    if (o->no_barriers)
        return weir_warn(&run->log, err,
                         "without barriers (-B) a phase can need items that another task has not "
                         "created yet; tasks still exchange errors between phases");
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
    if (o->symlink)
        t->need.items = weir_sum(t->need.items, files > dirs ? files : dirs);
    t->plan = plan;
    plan->inodes = weir_sum(weir_sum(t->need.items, t->need.dirs), t->tree.loops);
    plan->inodes = weir_product(plan->inodes, iterations);
    plan->bytes = weir_product(weir_product(files, (uint64_t)o->write_bytes), iterations);
}

int mdtest_plan_tree(struct mdtest_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdtest_options *o = t->o;
    const struct weir_dirtree_shape shape = { o->items, o->per_dir, o->branch, o->depth,
                                              o->leaf_only };
    int64_t shift = o->shift;

    if (mdtest_tree_init(&t->tree, &shape, o->unique, err) < 0)
        return -1;
    if (t->tree.total > INT64_MAX / (uint64_t)o->last)
        return weir_refuse(err, WEIR_EUSAGE,
                           "%" PRIu64 " items for each of %d tasks are more than can be counted, "
                           "2^63",
                           t->tree.total, o->last);
    if (run->par.cache.nodes > 1)
        shift *= weir_par_node_stride(&run->par);
    t->shift = (int)(shift % run->par.size);
    t->ledger.planned = t->tree.total;
    for (int k = 0; k < MDTEST_KINDS; k++)
        t->ledger.count[k] = t->tree.total;
    return 0;
}

/* All checks. Ranks may differ in memory and in the check of the backend. */
static int check_all(struct mdtest_test *t, struct weir_run *run, struct mdtest_options *o,
                     struct weir_err *err)
{
    int64_t bytes = o->write_bytes > o->read_bytes ? o->write_bytes : o->read_bytes;
    bool renames_not;

    if (o->last == 0)
        o->first = o->last = run->world.size;
    run->par = run->world;
    fill_phases(t, o);
    if (split_dirs(t, run, err) < 0 ||
        weir_metadata_packet(o->packet, &t->fs.data, err) < 0 ||
        mdtest_plan_tree(t, run, err) < 0 || check_rules(t, run, err) < 0 ||
        check_names(t, o, err) < 0 ||
        weir_small_files_check(&t->fs, run, (uint64_t)bytes, "mdtest", err) < 0)
        return -1;
    renames_not = t->ledger.kind[MDTEST_DIRS] && o->rename && !t->fs.ns->rename;
    o->rename = o->rename && !renames_not;
    plan_need(t, &run->test->plan);
    return run->test->variant == 0 ? warn_odd(t, run, renames_not, err) : 0;
}

int mdtest_plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct weir_test *test = run->test;
    struct mdtest_options *own = chosen;
    struct mdtest_test *t = state;

    *t = (struct mdtest_test) { .o = own, .places.all_ours = true };
    if (weir_values_backend(test->values, t->o->run.api, &run->world, &t->fs.be, &t->fs.be_opt,
                            err) < 0 ||
        weir_agree_check(&run->world, check_all(t, run, own, err), err) < 0)
        return -1;
    fill_seeds(t, run, own);
    if (t->fs.be_opt.refused)
        own->run.api = t->fs.be->name;
    own->run.wear_out = true; /* after a deadline all tasks make as many items as the fastest */
    test->plan.tasks = t->o->first + test->variant * t->o->step;
    test->plan.is_run = !t->o->run.dry_run;
    test->plan.path = t->o->dirs;
    test->plan.between[0] = '@';
    test->plan.writes = t->o->create;
    test->plan.shared = !t->o->unique || t->o->shift != 0;
    return 0;
}
