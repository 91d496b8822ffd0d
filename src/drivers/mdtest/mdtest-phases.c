/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-phases.c - the steps of each phase: one directory of the tree, or one item */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MODE 0775
#define BATCH_NS 20000u /* where nobody asks for single times, look at the clock this often ... */
#define BATCH_MOST 32   /* ... but not after more operations than this */

/* ---- where ---- */

const char *mdtest_base_of(const struct mdtest_test *t, int whose)
{
    return t->base[t->bases > 1 && whose >= 0 ? whose % t->bases : 0];
}

int mdtest_tree_of(const struct mdtest_test *t, const struct weir_run *run, int owner)
{
    return t->o->unique ? (owner + t->shift) % run->par.size : MDTEST_NOBODY;
}

/* Find the directory of a step, and how many steps before and behind it stay there. */
static void find_place(struct mdtest_test *t, uint64_t step)
{
    const struct mdtest_tree *tree = &t->tree;
    uint64_t place = t->shuffled ? weir_perm_at(&t->perm, step) : step;
    uint64_t in_loop = place % tree->per_loop, item, back;

    item = t->made_order ? mdtest_tree_made(tree, in_loop) : mdtest_tree_linear(tree, in_loop);
    back = item % tree->per_dir;
    t->loop = place / tree->per_loop;
    if (t->shuffled)
        back = 0;
    t->item = item - back;
    t->low = step - back;
    t->high = t->shuffled ? step + 1 : t->low + tree->per_dir;
}

/* The name of a step's item; its number is left in *item. */
static inline const char *name_step(struct weir_run *run, struct mdtest_test *t, int owner,
                                    uint64_t step, uint64_t *item)
{
    int whose;

    if (step < t->low || step >= t->high)
        find_place(t, step);
    *item = t->item + (step - t->low);
    whose = mdtest_tree_of(t, run, owner);
    return mdtest_name_item(&t->names, mdtest_base_of(t, whose), run->repetition, t->loop, whose,
                            mdtest_tree_dir_of(&t->tree, t->item), t->of, owner, *item);
}

const char *mdtest_made_name(struct mdtest_test *t, const struct weir_run *run,
                             struct mdtest_names *n, enum mdtest_kind kind, int owner,
                             uint64_t place)
{
    uint64_t item = mdtest_tree_made(&t->tree, place % t->tree.per_loop);
    int whose = mdtest_tree_of(t, run, owner);

    return mdtest_name_item(n, mdtest_base_of(t, whose), run->repetition, place / t->tree.per_loop,
                            whose, mdtest_tree_dir_of(&t->tree, item), kind, owner, item);
}

/* ---- the clock ---- */

static void look(struct mdtest_test *t, uint64_t *clock_ns)
{
    uint64_t now = weir_now_ns();
    uint64_t each = (now - *clock_ns) / t->ops + 1;
    uint64_t n = BATCH_NS / each;

    t->ops = n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : (unsigned)n;
    t->skip = t->ops - 1;
    *clock_ns = now;
}

/* An operation is over. Reading the clock can take a fifth of the time of a stat, so without need
 * it is not read for each. */
static inline void finish_op(struct weir_run *run, struct mdtest_test *t, uint64_t item,
                             uint64_t bytes, uint64_t begin, uint64_t *clock_ns)
{
    if (t->fine) {
        *clock_ns = weir_now_ns();
        weir_hist_add(&t->lat, *clock_ns - begin);
        weir_oplog_add(&run->oplog, begin, *clock_ns, item, bytes);
    } else if (t->skip > 0) {
        t->skip--;
    } else {
        look(t, clock_ns);
    }
}

/* A part of an operation is over. */
static inline void finish_part(struct weir_run *run, struct mdtest_test *t, enum weir_op part,
                               uint64_t *clock_ns)
{
    uint64_t now;

    if (!t->fine)
        return;
    now = weir_now_ns();
    weir_hist_add(&run->session.stats->hist[part], now - *clock_ns);
    *clock_ns = now;
}

/* ---- around the steps ---- */

/* A command of the user, on every rank. Its own status is its own affair, but not that it could
 * not be run. */
static int run_command(struct weir_run *run, const char *what, const char *command,
                       struct weir_err *err)
{
    mdtest_say(run, 0, "calling %s: \"%s\"", what, command);
    weir_report_flush(&run->report);
    errno = 0;
    return system(command) == -1 ? weir_fail(err, WEIR_ESETUP, "run the command \"%s\"", command)
                                 : 0;
}

static uint64_t size_of_op(const struct mdtest_test *t)
{
    uint64_t n =
        t->op == MDTEST_FILE_READ ? (uint64_t)t->o->read_bytes : (uint64_t)t->o->write_bytes;

    return t->op == MDTEST_FILE_STAT || n == 0 ? 1 : n;
}

static uint64_t count_items(struct weir_run *run, void *state);

static int prepare(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->low = t->high = 0;
    t->ops = 1;
    t->skip = 0;
    t->worked_ns = 0;
    t->names.known = t->target.known = false;
    if (t->fine) {
        memset(&t->lat, 0, sizeof(t->lat));
        weir_session_reset(&run->session);
    }
    run->oplog.n = 0;
    if (t->o->op_csv && t->of == MDTEST_FILES && t->op < MDTEST_TREE_CREATE &&
        weir_oplog_reserve(&run->oplog, count_items(run, state), err) < 0)
        return -1;
    if (t->o->before && *t->o->before && t->op < MDTEST_TREE_CREATE)
        return run_command(run, "prologue", t->o->before, err);
    return 0;
}

static int finish(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdtest_test *t = state;
    int rc = 0;

    t->worked_ns = weir_now_ns();
    if (t->op >= MDTEST_TREE_CREATE)
        return 0;
    if (t->o->sync_phase)
        rc = weir_session_syncfs(&run->session, mdtest_base_of(t, run->par.rank), err);
    if (rc == 0 && t->o->after && *t->o->after)
        rc = run_command(run, "epilogue", t->o->after, err);
    return rc;
}

/* ---- trees ---- */

static uint64_t count_trees(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    bool works = run->par.rank == 0 || (t->o->unique && !t->o->collective);

    return works ? t->tree.dirs * t->tree.loops : 0;
}

/* One directory of one tree, and with -c -u that of every task's. */
static int each_tree(struct weir_run *run, struct mdtest_test *t, uint64_t loop, uint64_t dir,
                     uint64_t *clock_ns,
                     int (*act)(struct weir_run *, struct mdtest_test *, const char *,
                                struct weir_err *),
                     struct weir_err *err)
{
    int last = t->o->unique && t->o->collective ? run->par.size - 1 : 0;

    for (int k = 0; k <= last; k++) {
        int whose = t->o->unique ? (t->o->collective ? k : run->par.rank) : MDTEST_NOBODY;
        const char *path =
            mdtest_name_dir(&t->names, mdtest_base_of(t, whose), run->repetition, loop, whose, dir);
        uint64_t begin = *clock_ns;

        if (act(run, t, path, err) < 0)
            return -1;
        finish_op(run, t, dir, 1, begin, clock_ns);
    }
    return 0;
}

/* What an earlier run left behind is used again; the run says so once. */
static int make_branch(struct weir_run *run, struct mdtest_test *t, const char *path,
                       struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (t->ns->mkdir(&run->session, path, MODE, &why) == 0)
        return 0;
    if (why.sys == EEXIST) {
        t->stale++;
        return 0;
    }
    *err = why;
    return -1;
}

static int remove_branch(struct weir_run *run, struct mdtest_test *t, const char *path,
                         struct weir_err *err)
{
    (void)t;
    return t->ns->rmdir(&run->session, path, err);
}

static int step_tree_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->trees_started = i + 1;
    return each_tree(run, t, i / t->tree.dirs, mdtest_tree_preorder(&t->tree, i % t->tree.dirs),
                     clock_ns, make_branch, err);
}

static int step_tree_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;

    return each_tree(run, t, i / t->tree.dirs, mdtest_tree_postorder(&t->tree, i % t->tree.dirs),
                     clock_ns, remove_branch, err);
}

/* ---- items ---- */

/* Steps of this rank. Rank 0 works alone with -c on what is made and removed, and on what is there
 * only once (-S). */
static uint64_t count_items(struct weir_run *run, void *state)
{
    struct mdtest_test *t = state;
    bool makes = t->op == MDTEST_DIR_CREATE ||
                 (t->op == MDTEST_FILE_CREATE && t->phase != &mdtest_write_phase);
    bool removes = t->op == MDTEST_DIR_REMOVE || t->op == MDTEST_FILE_REMOVE;
    uint64_t n = makes ? t->planned[t->of] : t->count[t->of];

    if (run->par.rank > 0 &&
        (((makes || removes) && t->o->collective) || (removes && t->o->shared)))
        return 0;
    return t->op == MDTEST_DIR_RENAME && n < 2 ? 0 : n;
}

/* One item of one owner. */
typedef int act_fn(struct weir_run *, struct mdtest_test *, int owner, uint64_t step,
                   uint64_t *clock_ns, struct weir_err *);

/* With -c one step is the same item of all tasks: so they all have the same number when the
 * stonewall comes. */
static inline int each_owner(struct weir_run *run, struct mdtest_test *t, uint64_t step,
                             uint64_t *clock_ns, act_fn *act, struct weir_err *err)
{
    if (!t->o->collective)
        return act(run, t, t->owner, step, clock_ns, err);
    for (int k = 0; k < run->par.size; k++)
        if (act(run, t, k, step, clock_ns, err) < 0)
            return -1;
    return 0;
}

static int make_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                    uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = name_step(run, t, owner, step, &item);

    if (t->ns->mkdir(&run->session, path, MODE, err) < 0)
        return -1;
    finish_op(run, t, item, 1, begin, clock_ns);
    return 0;
}

static int remove_dir(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                      uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = name_step(run, t, owner, step, &item);

    if (t->ns->rmdir(&run->session, path, err) < 0)
        return -1;
    finish_op(run, t, item, 1, begin, clock_ns);
    return 0;
}

static int remove_file(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                       uint64_t *clock_ns, struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = name_step(run, t, owner, step, &item);

    if (t->ns->unlink(&run->session, path, err) < 0)
        return -1;
    finish_op(run, t, item, size_of_op(t), begin, clock_ns);
    return 0;
}

static int step_dir_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                           struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->started[MDTEST_DIRS] = i + 1;
    return each_owner(run, t, i, clock_ns, make_dir, err);
}

static int step_dir_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                           struct weir_err *err)
{
    return each_owner(run, state, i, clock_ns, remove_dir, err);
}

static int step_file_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    return each_owner(run, state, i, clock_ns, remove_file, err);
}

static int step_stat(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t item, begin = *clock_ns;
    const char *path = name_step(run, t, t->owner, i, &item);

    if (t->ns->stat(&run->session, path, err) < 0)
        return -1;
    finish_op(run, t, item, 1, begin, clock_ns);
    return 0;
}

/* A chain that ends with the names it began with: the first steps aside, each other one moves up,
 * the first goes to the last but one place, which the one before it left. The last never moves. */
static int step_rename(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                       struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t n = t->count[MDTEST_DIRS], begin = *clock_ns;
    bool first = i == 0, last = i == n - 1;
    const char *from, *to;

    from = mdtest_made_name(t, run, &t->names, MDTEST_DIRS, t->owner, last ? 0 : i);
    to = mdtest_made_name(t, run, &t->target, MDTEST_DIRS, t->owner,
                          first  ? 0
                          : last ? n - 2
                                 : i - 1);
    if (first)
        memcpy(t->target.path + strlen(to), "-XX", 4);
    if (last)
        memcpy(t->names.path + strlen(from), "-XX", 4);
    if (t->ns->rename(&run->session, from, to, err) < 0)
        return -1;
    finish_op(run, t, i, 1, begin, clock_ns);
    return 0;
}

/* ---- data ---- */

static void note_wrong(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                       const unsigned char *want, const unsigned char *got, size_t len)
{
    size_t at = 0;

    run->tally.wrong++;
    if (t->has_bad)
        return;
    while (at < len && want[at] == got[at])
        at++;
    t->has_bad = true;
    t->bad_at = at;
    t->bad_item = item;
    t->bad_want = want[at];
    t->bad_got = got[at];
    t->bad_path = strdup(path);
}

/* What a file must hold: as long as it was written, whatever part of it was read. */
static const void *expected(struct mdtest_test *t, int owner, uint64_t item)
{
    int rank = owner == MDTEST_SHARED ? 0 : owner;
    size_t len = t->out_len ? t->out_len : t->in_len;

    if (t->in_rank != rank)
        mdtest_data_base(&t->data, rank, t->want, len);
    t->in_rank = rank;
    if (mdtest_data_varies(&t->data, len))
        mdtest_data_file(&t->data, rank, item, t->want, len);
    return t->want;
}

static int read_back(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                     uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->in, .len = t->out_len };
    uint64_t begin = weir_now_ns();

    *(unsigned char *)t->in = (unsigned char)~*(unsigned char *)t->out;
    if (weir_session_xfer(t->file, &io, clock_ns, err) < 0)
        return -1;
    if (memcmp(t->in, t->out, t->out_len) != 0)
        note_wrong(run, t, path, item, t->out, t->in, t->out_len);
    *clock_ns = weir_now_ns();
    run->tally.verify_ns += *clock_ns - begin;
    return 0;
}

static int write_file(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                      uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .buf = t->out, .len = t->out_len };

    if (weir_session_xfer(t->file, &io, clock_ns, err) < 0)
        return -1;
    run->tally.bytes += io.len;
    if (t->o->sync_file) {
        if (weir_session_sync(t->file, err) < 0)
            return -1;
        *clock_ns = weir_now_ns();
    }
    return t->o->verify_write ? read_back(run, t, path, item, clock_ns, err) : 0;
}

/* Open, write when there is something to write, close. The first error wins, and the file is
 * closed in any case. */
static int fill_file(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                     unsigned flags, bool writes, uint64_t *clock_ns, struct weir_err *err)
{
    int rc = 0;

    if (weir_session_open_slot(&run->session, t->file, path, flags, err) < 0)
        return -1;
    finish_part(run, t, WEIR_OP_OPEN, clock_ns);
    if (writes)
        rc = write_file(run, t, path, item, clock_ns, err);
    if (weir_session_close_slot(t->file, rc < 0 ? NULL : err) < 0)
        rc = -1;
    finish_part(run, t, WEIR_OP_CLOSE, clock_ns);
    return rc;
}

/* The content of the next file, before its operation begins. */
static uint64_t make_content(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t item,
                             uint64_t *clock_ns)
{
    uint64_t begin;

    if (t->out_len == 0 || !mdtest_data_varies(&t->data, t->out_len))
        return *clock_ns;
    begin = weir_now_ns();
    mdtest_data_file(&t->data, owner == MDTEST_SHARED ? 0 : owner, item, t->out, t->out_len);
    *clock_ns = weir_now_ns();
    run->tally.fill_ns += *clock_ns - begin;
    return *clock_ns;
}

static int make_file(struct weir_run *run, struct mdtest_test *t, int owner, uint64_t step,
                     uint64_t *clock_ns, struct weir_err *err)
{
    bool writes = t->out_len > 0 && !t->o->collective;
    unsigned flags = WEIR_OPEN_CREATE | WEIR_OPEN_WRITE | (t->o->verify_write ? WEIR_OPEN_READ : 0);
    uint64_t item, begin;
    const char *path = name_step(run, t, owner, step, &item);
    int rc;

    begin = writes ? make_content(run, t, owner, item, clock_ns) : *clock_ns;
    if (t->o->mknod)
        rc = t->ns->mknod(&run->session, path, err);
    else
        rc = fill_file(run, t, path, item, flags, writes, clock_ns, err);
    if (rc == 0)
        finish_op(run, t, item, size_of_op(t), begin, clock_ns);
    return rc;
}

static int step_file_create(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                            struct weir_err *err)
{
    struct mdtest_test *t = state;

    t->started[MDTEST_FILES] = i + 1;
    return each_owner(run, t, i, clock_ns, make_file, err);
}

/* -c: the files are there; each task opens its own and writes it. */
static int step_write(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                      struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t item, begin;
    const char *path = name_step(run, t, run->par.rank, i, &item);

    begin = make_content(run, t, run->par.rank, item, clock_ns);
    if (fill_file(run, t, path, item, WEIR_OPEN_WRITE | (t->o->verify_write ? WEIR_OPEN_READ : 0),
                  t->out_len > 0, clock_ns, err) < 0)
        return -1;
    finish_op(run, t, item, size_of_op(t), begin, clock_ns);
    return 0;
}

static int read_file(struct weir_run *run, struct mdtest_test *t, const char *path, uint64_t item,
                     uint64_t *clock_ns, struct weir_err *err)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->in, .len = t->in_len };
    const unsigned char *want;
    uint64_t begin;

    *(unsigned char *)t->in ^= 0xff; /* what is left of the last read must not pass */
    if (weir_session_xfer(t->file, &io, clock_ns, err) < 0)
        return -1;
    run->tally.bytes += io.len;
    if (!t->o->verify_read)
        return 0;
    begin = *clock_ns;
    want = expected(t, t->owner, item);
    if (memcmp(want, t->in, t->in_len) != 0)
        note_wrong(run, t, path, item, want, t->in, t->in_len);
    *clock_ns = weir_now_ns();
    run->tally.verify_ns += *clock_ns - begin;
    return 0;
}

static int step_read(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;
    uint64_t item, begin = *clock_ns;
    const char *path = name_step(run, t, t->owner, i, &item);
    int rc = 0;

    if (weir_session_open_slot(&run->session, t->file, path, WEIR_OPEN_READ, err) < 0)
        return -1;
    finish_part(run, t, WEIR_OP_OPEN, clock_ns);
    if (t->in_len > 0)
        rc = read_file(run, t, path, item, clock_ns, err);
    if (weir_session_close_slot(t->file, rc < 0 ? NULL : err) < 0)
        rc = -1;
    finish_part(run, t, WEIR_OP_CLOSE, clock_ns);
    if (rc == 0)
        finish_op(run, t, item, size_of_op(t), begin, clock_ns);
    return rc;
}

/* ---- rows ---- */

#define ROW(k, f, c, s)                                                                            \
    {                                                                                              \
        .key = (k), .flags = (f), .prepare = prepare, .count = (c), .step = (s), .flush = finish   \
    }

const struct weir_phase mdtest_phases[MDTEST_OPS] = {
    [MDTEST_DIR_CREATE] =
        ROW("directory create", WEIR_PHASE_STONEWALL, count_items, step_dir_create),
    [MDTEST_DIR_STAT] = ROW("directory stat", 0, count_items, step_stat),
    [MDTEST_DIR_RENAME] = ROW("directory rename", 0, count_items, step_rename),
    [MDTEST_DIR_REMOVE] = ROW("directory remove", 0, count_items, step_dir_remove),
    [MDTEST_FILE_CREATE] = ROW("file create", WEIR_PHASE_STONEWALL, count_items, step_file_create),
    [MDTEST_FILE_STAT] = ROW("file stat", 0, count_items, step_stat),
    [MDTEST_FILE_READ] = ROW("file read", 0, count_items, step_read),
    [MDTEST_FILE_REMOVE] = ROW("file remove", 0, count_items, step_file_remove),
    [MDTEST_TREE_CREATE] = ROW("tree create", 0, count_trees, step_tree_create),
    [MDTEST_TREE_REMOVE] = ROW("tree remove", 0, count_trees, step_tree_remove),
};

const struct weir_phase mdtest_write_phase = ROW("file write", 0, count_items, step_write);
