/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-items.c - the steps of each phase, how many there are, and the rows of the phases */
#include "config.h"
#include "programs/mdtest/mdtest.h"

#include <errno.h>
#include <string.h>

#include "engine/transfer.h"

#define MODE 0775

/* ---- the clock ---- */

#define BATCH_NS 20000u /* without single times, the clock is read this often ... */
#define BATCH_MOST 32   /* ... but not after more operations than this */

/* Read the clock, and estimate how many operations can follow without reading it. */
static void look_at_clock(struct mdtest_test *t, uint64_t *clock_ns)
{
    uint64_t now = weir_now_ns();
    uint64_t each = (now - *clock_ns) / t->pass.ops + 1;
    uint64_t n = BATCH_NS / each;

    t->pass.ops = n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : (unsigned)n;
    t->pass.skip = t->pass.ops - 1;
    *clock_ns = now;
}

/* Record an operation that has failed. -1. */
static int fail_op(struct weir_run *run, const struct mdtest_test *t, uint64_t item, uint64_t begin,
                   const struct weir_err *err)
{
    weir_records_add_failed(&run->records, (int)t->pass.op, begin, weir_now_ns(), item, err);
    return -1;
}

/* An operation is over: rc is what its calls returned, and is returned. Reading the clock can take
 * a fifth of the time of a stat, so without need it is not read for each. */
static inline int finish_op(struct weir_run *run, struct mdtest_test *t, int rc, uint64_t item,
                            uint64_t bytes, uint64_t begin, uint64_t *clock_ns,
                            const struct weir_err *err)
{
    if (__builtin_expect(weir_session_leave(&t->fs.session, rc) < 0, 0))
        return fail_op(run, t, item, begin, err);
    if (t->pass.fine) {
        *clock_ns = weir_now_ns();
        weir_operation_add(run, (int)t->pass.op, begin, *clock_ns, item, bytes);
        return 0;
    }
    if (t->pass.skip > 0)
        t->pass.skip--;
    else
        look_at_clock(t, clock_ns);
    return 0;
}

/* A part of an operation is over. */
static inline void finish_part(struct mdtest_test *t, enum weir_op part, uint64_t *clock_ns)
{
    uint64_t now;

    if (!t->pass.parts)
        return;
    now = weir_now_ns();
    weir_hist_add(&t->fs.session.stats->hist[part], now - *clock_ns);
    *clock_ns = now;
}

/* ---- owners ---- */

/* One item of one owner. */
typedef int act_fn(struct weir_run *, struct mdtest_test *, int owner, uint64_t step,
                   uint64_t *clock_ns, struct weir_err *);

/* With -c one step is the same item of all tasks: so they all have the same number when the
 * stonewall comes. */
static inline int each_owner(struct weir_run *run, struct mdtest_test *t, uint64_t step,
                             uint64_t *clock_ns, act_fn *act, struct weir_err *err)
{
    if (!t->o->collective)
        return act(run, t, t->pass.owner, step, clock_ns, err);
    for (int k = 0; k < run->par.size; k++) {
        weir_pace_wait(run->pace, clock_ns);
        if (act(run, t, k, step, clock_ns, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- steps ---- */

/* A call that takes nothing but a name, on the item of a step. */
static inline int visit(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                        int (*call)(struct weir_session *, const char *, struct weir_err *),
                        uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    mdtest_enter(t, path);
    return finish_op(run, t, call(&t->fs.session, path, err), item, 0, begin, clock_ns, err);
}

static int make_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                    uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    mdtest_enter(t, path);
    return finish_op(run, t, t->fs.ns->mkdir(&t->fs.session, path, MODE, err), item, 0, begin,
                     clock_ns, err);
}

static int remove_item(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                       uint64_t *clock_ns, struct weir_err *err)
{
    return visit(run, t, owner, step,
                 t->pass.of == MDTEST_FILES ? t->fs.ns->unlink : t->fs.ns->rmdir, clock_ns, err);
}

static int step_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    return each_owner(run, state, i, clock_ns, remove_item, err);
}

static int step_stat(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;

    return visit(run, t, t->pass.owner, i, t->fs.ns->stat, clock_ns, err);
}

/* Rename in a chain that ends with the names it began with. The first gets another name, each
 * other one moves up, and the first goes to the last place but one. The last never moves. */
static int step_rename(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t n = t->ledger.count[MDTEST_DIRS], begin = *clock_ns;
    bool first = i == 0, last = i == n - 1;
    const char *from, *to;

    from = mdtest_name_created(t, run, &t->names, MDTEST_DIRS, t->pass.owner, last ? 0 : i);
    to = mdtest_name_created(t, run, &t->target, MDTEST_DIRS, t->pass.owner,
                             first  ? 0
                             : last ? n - 2
                                    : i - 1);
    if (first)
        memcpy(t->target.path + strlen(to), "-XX", 4);
    if (last)
        memcpy(t->names.path + strlen(from), "-XX", 4);
    mdtest_enter(t, from);
    return finish_op(run, t, t->fs.ns->rename(&t->fs.session, from, to, err), i, 0, begin,
                     clock_ns, err);
}

/* ---- files: create, write, read, and check the data ---- */

/* The bytes that a file must hold: as long as it was written, whatever part of it was read. */
static const void *expected(struct mdtest_test *t, int owner, uint64_t item)
{
    return weir_small_files_expect(&t->fs, owner == MDTEST_SHARED ? 0 : owner, item,
                                   t->out_len ? t->out_len : t->in_len);
}

static int read_back(struct weir_run *run, struct mdtest_test *t, const char *path,
                     uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->fs.in, .len = t->out_len };
    uint64_t begin = weir_now_ns();

    *(unsigned char *)t->fs.in = (unsigned char)~*(unsigned char *)t->fs.out;
    weir_gpu_filled(t->fs.gpu, t->fs.in, 1);
    if (weir_session_xfer(t->fs.file, &io, clock_ns, err) < 0)
        return -1;
    weir_small_files_right(&t->fs, run, "file", path, t->fs.out, t->out_len, &t->damage);
    *clock_ns = weir_now_ns();
    run->counters.verify_ns += *clock_ns - begin;
    return 0;
}

static int write_file(struct weir_run *run, struct mdtest_test *t, const char *path,
                      uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = t->fs.out, .len = t->out_len };

    if (weir_session_xfer(t->fs.file, &io, clock_ns, err) < 0)
        return -1;
    run->counters.bytes += io.len;
    if (t->o->sync_file) {
        if (weir_session_sync(t->fs.file, err) < 0)
            return -1;
        *clock_ns = weir_now_ns();
    }
    return t->o->verify_write ? read_back(run, t, path, clock_ns, err) : 0;
}

static int read_file(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                     uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->fs.in, .len = t->in_len };

    if (weir_session_xfer(t->fs.file, &io, clock_ns, err) < 0)
        return -1;
    run->counters.bytes += io.len;
    if (!t->o->verify_read)
        return 0;
    weir_small_files_right(&t->fs, run, "file", path, expected(t, t->pass.owner, item), t->in_len,
                           &t->damage);
    weir_clock_apart(&run->counters.verify_ns, clock_ns);
    return 0;
}

/* Open, move len bytes where there are any, close. The first error wins, and the file is closed also
 * after a failure. */
static int use_file(struct weir_run *run, struct mdtest_test *t, const char *path, unsigned flags,
                    size_t len, uint64_t item, uint64_t *clock_ns, struct weir_err *err)
{
    int rc = 0;

    if (weir_session_open_slot(&t->fs.session, t->fs.file, path, flags, &t->fs.extent, err) < 0)
        return -1;
    finish_part(t, WEIR_OP_OPEN, clock_ns);
    if (len > 0)
        rc = flags & WEIR_OPEN_WRITE ? write_file(run, t, path, clock_ns, err)
                                     : read_file(run, t, path, item, clock_ns, err);
    if (weir_session_close_slot(t->fs.file, rc < 0 ? NULL : err) < 0)
        rc = -1;
    finish_part(t, WEIR_OP_CLOSE, clock_ns);
    return rc;
}

/* The content of the next file, before its operation begins. */
static uint64_t make_content(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t item,
                             uint64_t *clock_ns)
{
    if (weir_small_files_fill(&t->fs, run, owner == MDTEST_SHARED ? 0 : owner, item, t->out_len))
        *clock_ns = weir_now_ns();
    return *clock_ns;
}

/* With -c files are made empty, and then each task opens its own and writes it. */
static int make_file(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                     uint64_t *clock_ns, struct weir_err *err)
{
    size_t len = t->pass.again ? 0 : t->out_len;
    unsigned flags = WEIR_OPEN_WRITE | (t->pass.own ? 0 : WEIR_OPEN_CREATE) |
                     (t->o->verify_write ? WEIR_OPEN_READ : 0);
    uint64_t item, begin;
    const char *path = mdtest_name_step(run, t, owner, step, &item);
    int rc;

    begin = len > 0 ? make_content(run, t, owner, item, clock_ns) : *clock_ns;
    if (t->o->mknod) {
        mdtest_enter(t, path);
        rc = t->fs.ns->mknod(&t->fs.session, path, err);
    } else {
        rc = use_file(run, t, path, flags, len, item, clock_ns, err);
    }
    return finish_op(run, t, rc, item, len, begin, clock_ns, err);
}

static int step_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->ledger.started[t->pass.of] = i + 1;
    return each_owner(run, t, i, clock_ns, t->pass.of == MDTEST_FILES ? make_file : make_dir, err);
}

static int step_write(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    return make_file(run, state, run->par.rank, i, clock_ns, err);
}

static int step_read(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t item, begin;
    const char *path;
    int rc;

    if (t->o->verify_read && t->in_len > 0) {
        weir_small_files_invalidate(&t->fs);
        weir_clock_apart(&run->counters.verify_ns, clock_ns);
    }
    begin = *clock_ns;
    path = mdtest_name_step(run, t, t->pass.owner, i, &item);
    rc = use_file(run, t, path, WEIR_OPEN_READ, t->in_len, item, clock_ns, err);
    return finish_op(run, t, rc, item, t->in_len, begin, clock_ns, err);
}

/* ---- trees ---- */

/* A directory that an earlier run left is used again; the run says so once. */
static int make_branch(struct weir_run *run, void *test, uint64_t dir, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = test;
    struct weir_err why = WEIR_ERR_INIT;
    uint64_t begin = *clock_ns;
    int rc = t->fs.ns->mkdir(&t->fs.session, t->names.path, MODE, &why);

    if (rc < 0 && why.sys == EEXIST)
        rc = 0;
    else if (rc < 0)
        *err = why;
    return finish_op(run, t, rc, dir, 0, begin, clock_ns, err);
}

static int remove_branch(struct weir_run *run, void *test, uint64_t dir, uint64_t *clock_ns,
                         struct weir_err *err)
{
    struct mdtest_test *t = test;
    uint64_t begin = *clock_ns;
    int rc = t->fs.ns->rmdir(&t->fs.session, t->names.path, err);

    return finish_op(run, t, rc, dir, 0, begin, clock_ns, err);
}

static int step_tree_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t dir = weir_dirtree_preorder(&t->tree, i % t->tree.dirs);

    t->ledger.trees_started = i + 1;
    return mdtest_each_tree(run, t, i / t->tree.dirs, dir, make_branch, t, clock_ns, err);
}

static int step_tree_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t dir = weir_dirtree_postorder(&t->tree, i % t->tree.dirs);

    return mdtest_each_tree(run, t, i / t->tree.dirs, dir, remove_branch, t, clock_ns, err);
}

/* ---- rows ---- */

const struct weir_call_names mdtest_calls[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = { "mkdir", "write" },   [MDTEST_DIR_STAT] = { "stat", "write" },
    [MDTEST_DIR_RENAME] = { "rename", "write" },  [MDTEST_DIR_REMOVE] = { "rmdir", "write" },
    [MDTEST_FILE_CREATE] = { "create", "write" }, [MDTEST_FILE_STAT] = { "stat", "write" },
    [MDTEST_FILE_READ] = { "read", "read data" }, [MDTEST_FILE_REMOVE] = { "remove", "write" },
    [MDTEST_TREE_CREATE] = { "mkdir", "write" },  [MDTEST_TREE_REMOVE] = { "rmdir", "write" },
};

/* Steps of this rank. */
static uint64_t count_steps(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    uint64_t n = t->pass.makes ? t->ledger.planned : t->ledger.count[t->pass.of];

    if (run->par.rank > 0 && t->pass.alone)
        return 0;
    if (mdtest_facts[t->pass.op].is_tree)
        return t->tree.dirs * t->tree.loops;
    return t->pass.op == MDTEST_DIR_RENAME && n < 2 ? 0 : n;
}

static uint64_t count_done(struct weir_run *run, const void *state, uint64_t steps)
{
    return steps * ((const struct mdtest_test *)state)->pass.things;
}

static uint64_t count_operations(struct weir_run *run, void *state)
{
    return count_done(run, state, count_steps(run, state));
}

#define ROW(k, f, s)                                                                               \
    {                                                                                              \
        .key = (k), .unit = "items", .flags = (f), .prepare = mdtest_prepare,                      \
        .count = count_steps, .done = count_done,                                    \
        .operations = count_operations, .step = (s), .flush = mdtest_finish                 \
    }

const struct weir_phase mdtest_phases[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] = ROW("directory create", WEIR_PHASE_STONEWALL, step_create),
    [MDTEST_DIR_STAT] = ROW("directory stat", 0, step_stat),
    [MDTEST_DIR_RENAME] = ROW("directory rename", 0, step_rename),
    [MDTEST_DIR_REMOVE] = ROW("directory remove", 0, step_remove),
    [MDTEST_FILE_CREATE] = ROW("file create", WEIR_PHASE_STONEWALL, step_create),
    [MDTEST_FILE_STAT] = ROW("file stat", 0, step_stat),
    [MDTEST_FILE_READ] = ROW("file read", 0, step_read),
    [MDTEST_FILE_REMOVE] = ROW("file remove", 0, step_remove),
    [MDTEST_TREE_CREATE] = ROW("tree create", 0, step_tree_create),
    [MDTEST_TREE_REMOVE] = ROW("tree remove", 0, step_tree_remove),
};

const struct weir_phase mdtest_write_phase = ROW("file write", 0, step_write);
