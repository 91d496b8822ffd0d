/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-stripes.c - files with a stripe pattern of their own on Lustre, where its library is
 * there, and on BeeGFS, where its header is */
#include "backends/posix/posix-layout.h"
#include "backends/shared/posixfile.h"
#include "config.h"

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

#define POOL_TEXT 64 /* for the library, which takes no constant */

static const char *const files[] = { LUSTRE_LIBRARY "liblustreapi.so.1", "liblustreapi.so", NULL };

/* The library would say what it returns, too. False and err (WEIR_ESETUP). */
static bool mute(struct weir_err *err)
{
    __typeof__(llapi_msg_set_level) *set_level = posix_function(files, "llapi_msg_set_level", err);

    if (set_level)
        set_level(LLAPI_MSG_OFF);
    return set_level;
}

static int lustre_check(const struct posix_layout *l, struct weir_err *err)
{
    if (l->pool && (l->stripe_count == 0 || l->stripe_size == 0))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--posix.lustre.pool=%s needs --posix.lustre.stripecount and --posix.lustre.stripesize",
            l->pool);
    if (l->pool && strlen(l->pool) >= POOL_TEXT)
        return weir_refuse(err, WEIR_EUSAGE, "--posix.lustre.pool=%s: no pool has so long a name",
                           l->pool);
    return 0;
}

/* The library opens without making objects and then sets the layout: of ranks that do this at once
 * one succeeds, and the others learn that the layout is there. */
static int lustre_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    __typeof__(llapi_file_open_pool) *open_pool;
    char pool[POOL_TEXT];
    int fd;

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

static int lustre_is_other(const char *path, const struct posix_layout *l)
{
    uint16_t count;
    uint32_t size;

    if ((l->stripe_count == 0 && l->stripe_size == 0) ||
        !weir_environment_stripes(path, &size, &count))
        return -1;
    return (l->stripe_count > 0 && l->stripe_count != count) || /* -1: all targets, however many */
           (l->stripe_size > 0 && l->stripe_size != size);
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
