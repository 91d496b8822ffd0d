/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-more.c - the steps of the phases that options add, and the checks of their results */
#include "programs/mdtest/mdtest.h"

#include <inttypes.h>
#include <string.h>

#include "engine/ratelimit.h"

#define ATTRIBUTE "user.weir"
#define ASIDE "-XX"

/* ---- names ---- */

/* Put the last part of path, with the mark of names beside items, after 'at' bytes of t->target. */
static const char *put_aside(struct mdtest_test *t, size_t at, const char *path)
{
    const char *last = strrchr(path, '/');
    size_t len = strlen(last);

    memcpy(t->target.path + at, last, len);
    memcpy(t->target.path + at + len, ASIDE, sizeof(ASIDE));
    t->target.known = false;
    return t->target.path;
}

/* The name of the link beside an item. */
static const char *name_link(struct mdtest_test *t, const char *path)
{
    size_t len = (size_t)(strrchr(path, '/') - path);

    memcpy(t->target.path, path, len);
    return put_aside(t, len, path);
}

/* The name of the item of this step in the next directory, of its tree or of the one beside it. */
static const char *name_moved(const struct weir_run *run, struct mdtest_test *t, const char *path)
{
    uint64_t dirs = t->tree.dirs, dir = weir_dirtree_dir_of(&t->tree, t->pass.item);
    uint64_t next = (t->pass.loop * dirs + dir + 1) % (dirs * t->tree.loops);
    int whose = mdtest_tree_of(t, run, t->pass.owner);

    mdtest_name_dir(&t->target, mdtest_base_of(&t->places, whose), run->repetition, next / dirs,
                    whose, next % dirs);
    return put_aside(t, strlen(t->target.path), path);
}

/* ---- calls on items ---- */

/* The attribute of an item: bytes that no other item has, and zeros. */
static void *make_value(struct mdtest_test *t, uint64_t item)
{
    uint64_t mark = weir_rng_at((uint64_t)(t->pass.owner + 1), item);
    size_t len = (size_t)t->o->xattr;

    memcpy(t->value, &mark, len < sizeof(mark) ? len : sizeof(mark));
    return t->value;
}

static struct weir_name_call prepare_call(const struct weir_run *run, struct mdtest_test *t,
                                          const char *path, uint64_t item)
{
    struct weir_name_call c = { .op = mdtest_facts[t->pass.op].call,
                                .name = mdtest_calls[t->pass.op].whole,
                                .path = path,
                                .other = ATTRIBUTE,
                                .buf = t->value + MDTEST_XATTR_MAX,
                                .len = MDTEST_XATTR_MAX,
                                .mode = t->pass.of == MDTEST_FILES ? 0640 : 0750 };

    if (c.op <= WEIR_NAME_UNLINK)
        c.path = name_link(t, path);
    if (c.op == WEIR_NAME_LINK)
        c.other = path;
    if (c.op == WEIR_NAME_SYMLINK)
        c.other = strrchr(path, '/') + 1;
    if (c.op == WEIR_NAME_RENAME)
        c.other = name_moved(run, t, path);
    if (c.op == WEIR_NAME_SETXATTR) {
        c.buf = make_value(t, item);
        c.len = (size_t)t->o->xattr;
    }
    return c;
}

/* Compare what a call has found with what was made. -1 and err when it cannot be looked at. */
static int check_call(struct weir_run *run, struct mdtest_test *t, struct weir_name_call *c,
                      const char *path, uint64_t item, struct weir_err *err)
{
    const char *last = strrchr(path, '/') + 1, *what = "mode";
    unsigned mode = c->mode;
    bool right = true;

    if (c->op == WEIR_NAME_READLINK) {
        right = c->len == strlen(last) && memcmp(c->buf, last, c->len) == 0;
        what = "symbolic link";
    } else if (c->op == WEIR_NAME_GETXATTR) {
        right = c->len == (size_t)t->o->xattr && memcmp(c->buf, make_value(t, item), c->len) == 0;
        what = "attribute";
    } else if (c->op == WEIR_NAME_LISTXATTR) {
        right = memmem(c->buf, c->len, ATTRIBUTE, sizeof(ATTRIBUTE)) != NULL;
        what = "list of attributes";
    } else if (c->op == WEIR_NAME_CHMOD && t->o->verify_read) {
        c->op = WEIR_NAME_MODE;
        if (t->fs.ns->call(&t->fs.session, c, err) < 0)
            return -1;
        right = c->mode == mode;
    }
    run->counters.wrong += !right;
    if (!right && t->damage.code == WEIR_OK)
        weir_refuse(&t->damage, WEIR_EDATA,
                    "verification error: the %s of '%s' is not as it was set", what, path);
    return 0;
}

static bool is_stored(const struct mdtest_test *t)
{
    return !(t->fs.session.flags & WEIR_BE_NO_DATA);
}

static int visit(struct weir_run *run, struct mdtest_test *t, uint64_t step, uint64_t *clock_ns,
                 struct weir_err *err)
{
    uint64_t item, begin = *clock_ns;
    const char *path = mdtest_name_step(run, t, t->pass.owner, step, &item);
    struct weir_name_call c = prepare_call(run, t, path, item);
    int rc;

    mdtest_enter(t, path);
    rc = t->fs.ns->call(&t->fs.session, &c, err);
    if (mdtest_finish_op(run, t, rc, item, 0, begin, clock_ns, err) < 0)
        return -1;
    if (c.op != WEIR_NAME_RENAME)
        return is_stored(t) ? check_call(run, t, &c, path, item, err) : 0;
    t->moved = true; /* and back */
    weir_ratelimit_wait(run->ratelimit, clock_ns);
    begin = *clock_ns;
    c.path = c.other;
    c.other = path;
    mdtest_enter(t, c.path);
    rc = t->fs.ns->call(&t->fs.session, &c, err);
    t->moved = rc < 0;
    return mdtest_finish_op(run, t, rc, item, 0, begin, clock_ns, err);
}

/* ---- lists of directories ---- */

/* Names in a directory that are of its tree, and of the items in it. */
struct list {
    const char *item;
    uint64_t names;
};

static int count_name(void *mine, const char *name, uint64_t bytes, struct weir_err *err)
{
    struct list *l = mine;

    l->names += strncmp(name, "mdtest_tree.", 12) == 0 ||
                strncmp(name, l->item, strlen(l->item)) == 0;
    return 0;
}

/* The names that the test has made in a directory, the nth of all trees in order of creation. */
static uint64_t made_names(const struct weir_run *run, const struct mdtest_test *t, uint64_t nth,
                           uint64_t dir)
{
    const struct weir_dirtree *tree = &t->tree;
    bool own = t->o->unique || t->o->shared || t->pass.subset; /* then others may have none */
    uint64_t owners = own ? 1 : (uint64_t)run->par.size;
    uint64_t below = dir * tree->branch + 1 < tree->dirs ? tree->branch : 0;
    uint64_t made = t->ledger.count[t->pass.of], before;

    if (dir < tree->first)
        return below;
    before = tree->first == 0 && tree->branch > 1 ? nth % tree->dirs : dir - tree->first;
    before = nth / tree->dirs * tree->per_loop + before * tree->per_dir;
    made = made > before ? made - before : 0;
    return below + owners * (made < tree->per_dir ? made : tree->per_dir);
}

static int list(struct weir_run *run, struct mdtest_test *t, uint64_t step, uint64_t *clock_ns,
                struct weir_err *err)
{
    uint64_t nth = t->pass.shuffled ? weir_perm_at(&t->pass.perm, step) : step, begin = *clock_ns;
    uint64_t dir = weir_dirtree_preorder(&t->tree, nth % t->tree.dirs);
    uint64_t made = made_names(run, t, nth, dir);
    struct list l = { .item = t->pass.of == MDTEST_FILES ? "file.mdtest." : "dir.mdtest." };
    struct weir_name_call c = { .op = mdtest_facts[t->pass.op].call,
                                .name = "read directory",
                                .take = count_name,
                                .mine = &l };
    int rc, whose = mdtest_tree_of(t, run, t->pass.owner);

    c.path = mdtest_name_dir(&t->names, mdtest_base_of(&t->places, whose), run->repetition,
                             nth / t->tree.dirs, whose, dir);
    mdtest_enter(t, c.path);
    rc = t->fs.ns->call(&t->fs.session, &c, err);
    if (mdtest_finish_op(run, t, rc, dir, 0, begin, clock_ns, err) < 0)
        return -1;
    if (!is_stored(t) || l.names == made ||
        (l.names > made && (t->pass.subset || !t->o->create || !t->places.all_ours)))
        return 0;
    run->counters.wrong++;
    if (t->damage.code == WEIR_OK)
        weir_refuse(&t->damage, WEIR_EDATA,
                    "verification error: directory '%s' lists %" PRIu64
                    " items and directories instead of %" PRIu64, c.path, l.names, made);
    return 0;
}

int mdtest_step_more(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                     struct weir_err *err)
{
    struct mdtest_test *t = state;

    return mdtest_facts[t->pass.op].call >= WEIR_NAME_DIR ? list(run, t, i, clock_ns, err)
                                                          : visit(run, t, i, clock_ns, err);
}
