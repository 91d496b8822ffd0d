/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-gpfs.c - hints to GPFS (IBM Storage Scale) by gpfs_fcntl, where its library is there */
#include "backends/posix/posix.h"

#ifdef HAVE_GPFS

#include <unistd.h>

#include <gpfs.h>
/* after gpfs.h, which has what it needs */
#include <gpfs_fcntl.h>

/* Hints that not every version of the library has: a stand-in, and the option that is refused. */
struct no_hint {
    int structLen, structType;
};
#ifdef HAVE_GPFS_FINE_WRITE
#define MISSING_FINE_WRITE
#else
#define MISSING_FINE_WRITE "gpfs.finegrainwritesharing",
#define GPFS_FINE_GRAIN_WRITE_SHARING 0
#define gpfsFineGrainWriteSharing_t struct no_hint
#endif
#ifdef HAVE_GPFS_FINE_READ
#define MISSING_FINE_READ
#else
#define MISSING_FINE_READ "gpfs.finegrainreadsharing",
#define GPFS_FINE_GRAIN_READ_SHARING 0
#define gpfsFineGrainReadSharing_t struct no_hint
#endif
#ifdef HAVE_GPFS_CREATE_SHARING
#define MISSING_CREATE_SHARING
#else
#define MISSING_CREATE_SHARING "gpfs.createsharing",
#define GPFS_CREATE_SHARING 0
#define gpfsCreateSharing_t struct no_hint
#endif

static const char *const files[] = { GPFS_LIBRARY "libgpfs.so", "/usr/lpp/mmfs/lib/libgpfs.so",
                                     NULL };

static const char *const missing[] = {
    MISSING_FINE_WRITE MISSING_FINE_READ MISSING_CREATE_SHARING NULL
};

/* The argument of gpfs_fcntl: a header, and a hint after it that begins with its length and type.
 * Members that are not named are 0. */
#define HINT(kind, name, type, ...)                                                                \
    struct {                                                                                       \
        gpfsFcntlHeader_t header;                                                                  \
        kind hint;                                                                                 \
    } name = { .header = { .totalLength = (int)sizeof(name),                                       \
                           .fcntlVersion = GPFS_FCNTL_CURRENT_VERSION },                           \
               .hint = {                                                                           \
                   .structLen = (int)sizeof(name.hint), .structType = (type), __VA_ARGS__ } }

/* A length of 0 means "to the end of the file". */
static int free_range(posix_hint *hint, int fd, uint64_t off, uint64_t len)
{
    HINT(gpfsFreeRange_t, range, GPFS_FREE_RANGE, .start = (long long)off,
         .length = (long long)len, );

    return hint(fd, &range);
}

static int announce(posix_hint *hint, int fd, const struct weir_io *io)
{
    HINT(gpfsAccessRange_t, range, GPFS_ACCESS_RANGE, .start = (long long)io->off,
         .length = (long long)io->len, .isWrite = io->dir == WEIR_DIR_WRITE, );

    return hint(fd, &range);
}

static int withdraw(posix_hint *hint, int fd, const struct weir_io *io)
{
    return free_range(hint, fd, io->off, io->len);
}

/* The hint is one for the directory. */
static int create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    HINT(gpfsCreateSharing_t, share, GPFS_CREATE_SHARING, );
    posix_hint *hint;
    const char *name;
    int rc = 0, dir;

    if (!l->create_sharing)
        return 0;
    if (!(hint = posix_function(files, "gpfs_fcntl", err)))
        return -1;
    if ((dir = posix_open_parent(path, &name, err)) < 0)
        return -1;
    if (hint(dir, &share) < 0)
        rc = weir_fail(err, WEIR_EIO, "announce to GPFS that tasks create files next to '%s'",
                                      path);
    close(dir);
    return rc;
}

static int apply(int fd, const char *path, const struct posix_layout *l, struct weir_err *err)
{
    HINT(gpfsFineGrainWriteSharing_t, writes, GPFS_FINE_GRAIN_WRITE_SHARING, );
    HINT(gpfsFineGrainReadSharing_t, reads, GPFS_FINE_GRAIN_READ_SHARING, );
    posix_hint *hint;

    if (!l->release_token && !l->fine_write && !l->fine_read)
        return 0;
    if (!(hint = posix_function(files, "gpfs_fcntl", err)))
        return -1;
    if (l->release_token && free_range(hint, fd, 0, 0) < 0)
        return weir_fail(err, WEIR_EIO, "release the locks of GPFS on '%s'", path);
    if (l->fine_write && hint(fd, &writes) < 0)
        return weir_fail(err, WEIR_EIO, "announce to GPFS small shared writes of '%s'", path);
    if (l->fine_read && hint(fd, &reads) < 0)
        return weir_fail(err, WEIR_EIO, "announce to GPFS small shared reads of '%s'", path);
    return 0;
}

#endif

const struct posix_fs posix_gpfs = {
    .prefix = "gpfs.",
    .needs = "GPFS (gpfs_fcntl)",
#ifdef HAVE_GPFS
    .is_built = true,
    .missing = missing,
    .files = files,
    .function = "gpfs_fcntl",
    .create = create,
    .apply = apply,
    .announce = announce,
    .withdraw = withdraw,
#endif
};
