/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-beegfs.c - files with a stripe pattern of their own on BeeGFS, where its header is there */
#include "config.h"
#include "backends/posix/posix-layout.h"

#ifdef HAVE_BEEGFS

#include <errno.h>
#include <unistd.h>

#include <beegfs/beegfs.h>

#define CHUNK_MIN 65536

static int check(const struct posix_layout *l, struct weir_err *err)
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
static int create(const char *path, const struct posix_layout *l, struct weir_err *err)
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
    .check = check,
    .create = create,
#endif
};
