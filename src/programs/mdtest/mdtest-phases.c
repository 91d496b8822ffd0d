/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-phases.c - the steps of each phase, how many there are, and the rows of the phases */
#include "programs/mdtest/mdtest.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define MODE 0775

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
        weir_ratelimit_wait(run->ratelimit, clock_ns);
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
    return mdtest_finish_op(run, t, call(&t->fs.session, path, err), item, 0, begin, clock_ns, err);
}

static int make_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                    uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    mdtest_enter(t, path);
    return mdtest_finish_op(run, t, t->fs.ns->mkdir(&t->fs.session, path, MODE, err), item, 0,
                            begin, clock_ns, err);
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
    return mdtest_finish_op(run, t, t->fs.ns->rename(&t->fs.session, from, to, err), i, 0, begin,
                            clock_ns, err);
}

/* ---- files: create, write, read, and check the data ---- */

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
    int task = t->pass.owner == MDTEST_SHARED ? 0 : t->pass.owner;
    const void *want;

    if (weir_session_xfer(t->fs.file, &io, clock_ns, err) < 0)
        return -1;
    run->counters.bytes += io.len;
    if (!t->o->verify_read)
        return 0;
    /* as long as it was written, whatever part of it was read */
    want = weir_small_files_expect(&t->fs, task, item, t->out_len ? t->out_len : t->in_len);
    weir_small_files_right(&t->fs, run, "file", path, want, t->in_len, &t->damage);
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

/* With -c files are made empty, and then each task opens its own and writes it. */
static int make_file(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                     uint64_t *clock_ns, struct weir_err *err)
{
    size_t len = t->pass.again ? 0 : t->out_len;
    unsigned flags = WEIR_OPEN_WRITE | (t->pass.own ? 0 : WEIR_OPEN_CREATE) |
                     (t->o->verify_write ? WEIR_OPEN_READ : 0);
    int rc, task = owner == MDTEST_SHARED ? 0 : owner;
    uint64_t item, begin;
    const char *path = mdtest_name_step(run, t, owner, step, &item);

    if (len > 0 && weir_small_files_fill(&t->fs, run, task, item, t->out_len))
        *clock_ns = weir_now_ns(); /* the content is made before the operation begins */
    begin = *clock_ns;
    if (t->o->mknod) {
        mdtest_enter(t, path);
        rc = t->fs.ns->mknod(&t->fs.session, path, err);
    } else {
        rc = use_file(run, t, path, flags, len, item, clock_ns, err);
    }
    return mdtest_finish_op(run, t, rc, item, len, begin, clock_ns, err);
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
    return mdtest_finish_op(run, t, rc, item, t->in_len, begin, clock_ns, err);
}

/* ---- trees ---- */

/* A directory that an earlier run left is used again; the run says so once. */
static int do_branch(struct weir_run *run, void *test, uint64_t dir, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = test;
    bool removes = t->pass.op == MDTEST_TREE_REMOVE;
    uint64_t begin = *clock_ns;
    int rc = removes ? t->fs.ns->rmdir(&t->fs.session, t->names.path, err)
                     : t->fs.ns->mkdir(&t->fs.session, t->names.path, MODE, err);

    if (rc < 0 && !removes && err->sys == EEXIST) {
        err->code = WEIR_OK;
        rc = 0;
    }
    return mdtest_finish_op(run, t, rc, dir, 0, begin, clock_ns, err);
}

static int step_tree(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t loop = i / t->tree.dirs, nth = i % t->tree.dirs, dir;

    if (t->pass.op == MDTEST_TREE_REMOVE) {
        dir = weir_dirtree_postorder(&t->tree, nth);
    } else {
        dir = weir_dirtree_preorder(&t->tree, nth);
        t->ledger.trees_started = i + 1;
    }
    return mdtest_each_tree(run, t, loop, dir, do_branch, t, clock_ns, err);
}

/* ---- rows ---- */

#define OPERATION(k, t, call, op, ...)                                                             \
    [MDTEST_##op] = { .key = (k),                                                                  \
                      .title = (t),                                                                \
                      .unit = "items",                                                             \
                      .moves_bytes = MDTEST_##op == MDTEST_FILE_CREATE ||                          \
                                     MDTEST_##op == MDTEST_FILE_READ },
#define CALL(key, title, name, op, ...)                                                            \
    [MDTEST_##op] = { name, MDTEST_##op == MDTEST_FILE_READ ? "read data" : "write" },
#define KIND_OF(op)                                                                                \
    ((op) < MDTEST_FILE_CREATE || ((op) >= MDTEST_TREE_CREATE && (op) < MDTEST_FILE_READDIR)       \
         ? MDTEST_DIRS                                                                             \
         : MDTEST_FILES)
#define FACT(key, title, name, op, f, n, ...)                                                      \
    [MDTEST_##op] = { .of = KIND_OF(MDTEST_##op),                                                  \
                      .shifts = (n),                                                               \
                      .flag = offsetof(struct mdtest_options, f),                                  \
                      __VA_ARGS__ },
#define MORE_FACT(key, title, name, op, f, n, w)                                                   \
    FACT(key, title, name, op, f, n, .visits = true, .call = WEIR_NAME_##w)

const struct weir_operation mdtest_operations[MDTEST_OPS + 1] = {
    MDTEST_USUAL(OPERATION) MDTEST_MORE_DIRS(OPERATION) MDTEST_MORE_FILES(OPERATION)
};
const struct weir_call_names mdtest_calls[MDTEST_OPS] = {
    MDTEST_USUAL(CALL) MDTEST_MORE_DIRS(CALL) MDTEST_MORE_FILES(CALL)
};
const struct mdtest_fact mdtest_facts[MDTEST_OPS] = {
    MDTEST_USUAL(FACT) MDTEST_MORE_DIRS(MORE_FACT) MDTEST_MORE_FILES(MORE_FACT)
};

/* Steps of this rank. */
static uint64_t count_steps(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    uint64_t n = t->pass.makes ? t->ledger.planned : mdtest_visits(t);

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
    [MDTEST_TREE_CREATE] = ROW("tree create", 0, step_tree),
    [MDTEST_TREE_REMOVE] = ROW("tree remove", 0, step_tree),
#define MORE_ROW(key, title, call, op, ...) [MDTEST_##op] = ROW(key, 0, mdtest_step_more),
    MDTEST_MORE_DIRS(MORE_ROW) MDTEST_MORE_FILES(MORE_ROW)
};

const struct weir_phase mdtest_write_phase = ROW("file write", 0, step_write);
