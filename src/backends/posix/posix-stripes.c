/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-stripes.c - files with a stripe pattern of their own on Lustre, where its library is
 * there, and on BeeGFS, where its header is */
#include "backends/posix/posix.h"
#include "backends/shared/posixfile.h"

/* ---- Lustre ---- */

#ifdef HAVE_LUSTRE

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lustre/lustreapi.h>

#include "base/node/environment.h"
#include "base/text/ranges.h"

#define TARGETS_MAX 2000 /* stripes of a file, as Lustre allows */
#define POOL_TEXT 64 /* for the library, which takes no constant */

#ifndef LLAPI_LAYOUT_OVERSTRIPING
static const char *const missing[] = { "lustre.overstripe", NULL }; /* Lustre 2.13 has it */
#endif

static const char *const files[] = { LUSTRE_LIBRARY "liblustreapi.so.1", "liblustreapi.so", NULL };

/* The library would say what it returns, too. False and err (WEIR_ESETUP). */
static bool mute(struct weir_err *err)
{
    __typeof__(llapi_msg_set_level) *set_level = posix_function(files, "llapi_msg_set_level", err);

    if (set_level)
        set_level(LLAPI_MSG_OFF);
    return set_level;
}

/* Call visit for each target of the list, with the number of its stripe. Returns their number, or -1
 * where visit has returned it. */
static int visit_targets(const char *list, int (*visit)(void *arg, int stripe, int64_t target),
                         void *arg)
{
    struct weir_range r;
    int n = 0;

    while (weir_range_next(&list, &r))
        for (int64_t at = r.first; at <= r.last && n <= TARGETS_MAX; at += r.step, n++)
            if (visit && visit(arg, n, at) < 0)
                return -1;
    return n;
}

/* 0: none is asked for; -1: all targets. */
static int count_stripes(const struct posix_layout *l)
{
    return l->osts ? visit_targets(l->osts, NULL, NULL) : l->stripe_count;
}

static int check_targets(const struct posix_layout *l, struct weir_err *err)
{
    int n = weir_ranges_check(l->osts) ? count_stripes(l) : 0;

    if (n == 0 || n > TARGETS_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.lustre.osts=%s: it must be a list of numbers like 0-3,8, at "
                           "most %d",
                           l->osts, TARGETS_MAX);
    if (l->pool || l->start_ost != -1)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.lustre.osts=%s says where each stripe is; leave out "
                           "--posix.lustre.%s",
                           l->osts, l->pool ? "pool" : "startost");
    if (l->stripe_count != 0 && l->stripe_count != n)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.lustre.osts=%s lists %d targets, and "
                           "--posix.lustre.stripecount is %d; leave that out",
                           l->osts, n, l->stripe_count);
    return 0;
}

static int lustre_check(const struct posix_layout *l, struct weir_err *err)
{
    if (l->osts && check_targets(l, err) < 0)
        return -1;
    if (l->overstripe && count_stripes(l) == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.lustre.overstripe needs --posix.lustre.stripecount or "
                           "--posix.lustre.osts");
    if (l->pool && (l->stripe_count == 0 || l->stripe_size == 0))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--posix.lustre.pool=%s needs --posix.lustre.stripecount and --posix.lustre.stripesize",
            l->pool);
    if (l->pool && strlen(l->pool) >= POOL_TEXT)
        return weir_refuse(err, WEIR_EUSAGE, "--posix.lustre.pool=%s: the name is too long for a "
                                             "pool", l->pool);
    return 0;
}

/* ---- layouts with a list of targets, and overstriping ---- */

/* Functions of the library. */
struct calls {
    __typeof__(llapi_layout_alloc) *alloc;
    __typeof__(llapi_layout_free) *free;
    __typeof__(llapi_layout_stripe_count_set) *set_count;
    __typeof__(llapi_layout_stripe_size_set) *set_size;
    __typeof__(llapi_layout_pattern_set) *set_pattern;
    __typeof__(llapi_layout_pool_name_set) *set_pool;
    __typeof__(llapi_layout_ost_index_set) *set_target;
    __typeof__(llapi_layout_file_open) *open;
};

static int find_calls(struct calls *c, struct weir_err *err)
{
    bool found = (c->alloc = posix_function(files, "llapi_layout_alloc", err)) &&
                 (c->free = posix_function(files, "llapi_layout_free", err)) &&
                 (c->set_count = posix_function(files, "llapi_layout_stripe_count_set", err)) &&
                 (c->set_size = posix_function(files, "llapi_layout_stripe_size_set", err)) &&
                 (c->set_pattern = posix_function(files, "llapi_layout_pattern_set", err)) &&
                 (c->set_pool = posix_function(files, "llapi_layout_pool_name_set", err)) &&
                 (c->set_target = posix_function(files, "llapi_layout_ost_index_set", err)) &&
                 (c->open = posix_function(files, "llapi_layout_file_open", err));

    return found ? 0 : -1;
}

struct made {
    const struct calls *calls;
    struct llapi_layout *layout;
};

static int set_target(void *arg, int stripe, int64_t target)
{
    const struct made *m = arg;

    return m->calls->set_target(m->layout, stripe, (uint64_t)target);
}

/* Describe the layout to the library. Returns 0, or -1 and errno. */
static int describe_layout(const struct calls *c, struct llapi_layout *layout,
                           const struct posix_layout *l)
{
    struct made m = { c, layout };
    int count = count_stripes(l);

    if ((count != 0 && c->set_count(layout, count < 0 ? LLAPI_LAYOUT_WIDE : (uint64_t)count) < 0) ||
        (l->stripe_size > 0 && c->set_size(layout, (uint64_t)l->stripe_size) < 0) ||
        (l->pool && c->set_pool(layout, l->pool) < 0) ||
        (l->start_ost >= 0 && c->set_target(layout, 0, (uint64_t)l->start_ost) < 0))
        return -1;
#ifdef LLAPI_LAYOUT_OVERSTRIPING
    if (l->overstripe && c->set_pattern(layout, LLAPI_LAYOUT_OVERSTRIPING) < 0)
        return -1;
#endif
    return l->osts && visit_targets(l->osts, set_target, &m) < 0 ? -1 : 0;
}

/* Like llapi_file_open_pool below: a file that has a layout keeps it. */
static int create_listed(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    struct llapi_layout *layout;
    struct calls c;
    int fd = -1, sys;

    if (find_calls(&c, err) < 0 || !mute(err))
        return -1;
    layout = c.alloc();
    if (layout && describe_layout(&c, layout, l) == 0)
        fd = c.open(path, O_CREAT | O_WRONLY, 0664, layout);
    sys = errno;
    if (layout)
        c.free(layout);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    errno = sys;
    return sys == EEXIST ? 0 : weir_fail(err, WEIR_EIO, "create '%s' with a Lustre layout", path);
}

/* ---- other layouts ---- */

/* The library opens without making objects and then sets the layout: of ranks that do this at once
 * one succeeds, and the others learn that the layout is there. */
static int lustre_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    __typeof__(llapi_file_open_pool) *open_pool;
    char pool[POOL_TEXT];
    int fd;

    if (l->osts || l->overstripe)
        return create_listed(path, l, err);
    if (l->stripe_count == 0 && l->stripe_size == 0 && l->start_ost == -1 && !l->pool)
        return 0;
    open_pool = posix_function(files, "llapi_file_open_pool", err);
    if (!open_pool || !mute(err))
        return -1;
    snprintf(pool, sizeof(pool), "%s", l->pool ? l->pool : "");
    fd = open_pool(path, O_CREAT | O_WRONLY, 0664, (unsigned long long)l->stripe_size,
                   l->start_ost, l->stripe_count, 0, l->pool ? pool : NULL);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    errno = -fd;
    return errno == EEXIST ? 0 : weir_fail(err, WEIR_EIO, "create '%s' with a Lustre layout", path);
}

static int compare_target(void *path, int stripe, int64_t target)
{
    return weir_environment_target(path, stripe) == target ? 0 : -1;
}

static int lustre_is_other(const char *path, const struct posix_layout *l)
{
    int asked = count_stripes(l);
    uint16_t count;
    uint32_t size;

    if ((asked == 0 && l->stripe_size == 0) || !weir_environment_stripes(path, &size, &count))
        return -1;
    return (asked > 0 && asked != count) || /* -1: all targets, however many */
           (l->stripe_size > 0 && l->stripe_size != size) ||
           (l->osts && visit_targets(l->osts, compare_target, (void *)path) < 0);
}

static int lustre_apply(int fd, const char *path, const struct posix_layout *l, struct weir_err *err)
{
    int flags = LL_FILE_IGNORE_LOCK;

    if (l->ignore_locks && ioctl(fd, LL_IOC_SETFLAGS, &flags) < 0)
        return weir_fail(err, WEIR_EIO, "make Lustre ignore locks of '%s'", path);
    return 0;
}

/* Set no start, no stripes, no pool: the file system's values for directories without a layout. */
int weir_posix_reset_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    __typeof__(llapi_dir_set_default_lmv_stripe) *set_default;
    int rc;

    set_default = posix_function(files, "llapi_dir_set_default_lmv_stripe", err);
    if (!set_default || !mute(err))
        return -1;
    rc = set_default(path, -1, 0, 0, NULL);
    if (rc == 0)
        return 0;
    errno = rc < 0 ? -rc : rc;
    return weir_fail(err, WEIR_EIO, "give directory '%s' the default layout of Lustre", path);
}

#endif

const struct posix_fs posix_lustre = {
    .prefix = "lustre.",
    .needs = "Lustre (lustreapi)",
#ifdef HAVE_LUSTRE
    .is_built = true,
    .files = files,
    .function = "llapi_file_open_pool",
#ifndef LLAPI_LAYOUT_OVERSTRIPING
    .missing = missing,
#endif
    .check = lustre_check,
    .create = lustre_create,
    .apply = lustre_apply,
    .is_other = lustre_is_other,
#endif
};

/* ---- BeeGFS ---- */

#ifdef HAVE_BEEGFS

#include <errno.h>
#include <unistd.h>

#include <beegfs/beegfs.h>

#define CHUNK_MIN 65536

static int beegfs_check(const struct posix_layout *l, struct weir_err *err)
{
    int64_t chunk = l->chunk;

    if (chunk != -1 && (chunk < CHUNK_MIN || chunk > UINT32_MAX || (chunk & (chunk - 1)) != 0))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.beegfs.ChunkSize=%lld: it must be a power of two from 64k "
                           "to 2g",
                           (long long)chunk);
    return 0;
}

/* 0 leaves a value to the directory. A file that is there keeps its pattern. */
static int beegfs_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    unsigned targets = l->targets > 0 ? (unsigned)l->targets : 0;
    unsigned chunk = l->chunk > 0 ? (unsigned)l->chunk : 0;
    const char *name;
    int rc = 0, dir;

    if (targets == 0 && chunk == 0)
        return 0;
    if ((dir = posix_open_parent(path, &name, err)) < 0)
        return -1;
    if (!beegfs_createFile(dir, name, 0664, targets, chunk) && errno != EEXIST)
        rc = weir_fail(err, WEIR_EIO, "create '%s' with a stripe pattern of BeeGFS", path);
    close(dir);
    return rc;
}

#endif

const struct posix_fs posix_beegfs = {
    .prefix = "beegfs.",
    .needs = "BeeGFS (beegfs.h)",
#ifdef HAVE_BEEGFS
    .is_built = true,
    .check = beegfs_check,
    .create = beegfs_create,
#endif
};
