/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.c - how much of a file is in the page cache of this node */
#include "config.h"
#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/extents.h"

#define PIECES 64
#define SAMPLE ((uint64_t)16 << 20) /* bytes of a sample of a large piece */
#define CACHESTAT 451               /* the number of the system call, on all processors */

struct pages {
    uint64_t cache, dirty, writeback, evicted, recently_evicted;
};

/* Dirty is NaN where only mincore is there. */
struct look {
    int fd;
    double page;
    bool only_mincore, may_know;
    const char *why; /* the kernel does not tell */
    struct weir_cache_seen *seen;
};

/* File systems that stand on others: cachestat sees none of the pages that the file below has, or
 * not all. A mapping of overlayfs is one of the file below. */
static const struct {
    unsigned long type; /* of statfs(2) */
    const char *hides;
} stacks[] = {
    { 0x794C7630, NULL }, /* overlayfs */
    { 0x61756673, NULL }, /* aufs */
    { 0xF15F, "eCryptfs has pages of the encrypted file that the kernel does not show" },
    { 0x65735546, "the server of a FUSE file system may have pages that the kernel does not show" },
};

static void find_stack(struct look *l)
{
    struct statfs fs;

    if (fstatfs(l->fd, &fs) < 0)
        return;
    for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
        if ((unsigned long)fs.f_type == stacks[i].type) {
            l->only_mincore = true;
            l->seen->hides = stacks[i].hides;
        }
}

static int look_mincore(struct look *l, uint64_t first, uint64_t len)
{
    uint64_t page = (uint64_t)l->page, from = first / page * page;
    size_t n = (size_t)((first + len - from + page - 1) / page);
    void *map = mmap(NULL, n * page, PROT_READ, MAP_SHARED, l->fd, (off_t)from);
    unsigned char *in = malloc(n);
    int rc = map != MAP_FAILED && in ? mincore(map, n * page, in) : -1;
    double resident = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        resident += in[i] & 1 ? l->page : 0;
    l->seen->resident += resident;
    if (resident > 0 || l->seen->hides) /* it does not tell which pages are dirty */
        l->seen->dirty = NAN;
    if (map != MAP_FAILED)
        munmap(map, n * page);
    free(in);
    return rc;
}

static int look_at(struct look *l, uint64_t first, uint64_t len)
{
    struct {
        uint64_t off, len;
    } range = { first, len };
    double dirty = l->seen->dirty, compressed;
    struct pages p = { 0 };
    int rc = 0;

    l->seen->looked += (double)len;
    l->only_mincore = l->only_mincore || syscall(CACHESTAT, l->fd, &range, &p, 0) < 0;
    if (l->only_mincore && !l->may_know) {
        l->why = "the kernel tells it only of files that one owns or may write";
        return -1;
    }
    if (l->only_mincore) {
        rc = look_mincore(l, first, len);
    } else {
        l->seen->resident += l->page * (double)p.cache;
        l->seen->dirty += l->page * (double)(p.dirty + p.writeback);
    }
    l->seen->written +=
        weir_extents_written(l->fd, first, len, l->seen->dirty <= dirty, &compressed);
    l->seen->compressed += compressed;
    return rc;
}

/* A large piece is looked at in samples, and of many pieces some. */
static struct weir_cache_range sampled(const struct weir_cache_range *r, uint64_t size)
{
    struct weir_cache_range s = *r;

    if (s.count == 1 && s.first < size && s.len > size - s.first)
        s.len = size - s.first;
    if (s.count == 1 && s.len > PIECES * SAMPLE)
        return (struct weir_cache_range) { s.first, SAMPLE, s.len / PIECES, PIECES };
    if (s.count > PIECES) {
        s.stride *= s.count / PIECES;
        s.count = PIECES;
    }
    if (s.len > SAMPLE && s.count > 1)
        s.len = SAMPLE;
    return s;
}

static int look_through(struct look *l, const struct weir_cache_range *r, uint64_t size)
{
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t first = r->first + i * r->stride;
        uint64_t len = first >= size ? 0 : size - first < r->len ? size - first : r->len;

        if (len > 0 && look_at(l, first, len) < 0)
            return -1;
    }
    return 0;
}

/* By the system call itself: a preloaded library that counts open calls (a profiler) then sees
 * only those of the test. */
static int open_to_look(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

/* To others mincore says of every page that it is there. */
static bool may_know(const char *path, const struct stat *st)
{
    return st->st_uid == geteuid() || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static const char *look(struct look *l, const char *path, const struct weir_cache_range *range)
{
    struct weir_cache_range r;
    struct stat st;

    if (l->fd < 0)
        return "the files cannot be opened to look";
    if (fstat(l->fd, &st) < 0 || !S_ISREG(st.st_mode))
        return "the files are not ordinary ones";
    l->may_know = may_know(path, &st);
    find_stack(l);
    r = sampled(range, (uint64_t)st.st_size);
    if (look_through(l, &r, (uint64_t)st.st_size) < 0)
        return l->why;
    if (l->seen->looked <= 0)
        return "the files are empty";
    l->seen->size = (double)st.st_size;
    l->seen->allocated = (double)st.st_blocks * 512;
    l->seen->resident = fmin(l->seen->resident, l->seen->looked); /* whole pages */
    if (l->seen->dirty > l->seen->looked)
        l->seen->dirty = l->seen->looked;
    return NULL;
}

bool weir_cache_look(const char *path, const struct weir_cache_range *range,
                     struct weir_cache_seen *seen, const char **why)
{
    struct look l = { .fd = open_to_look(path),
                      .page = (double)sysconf(_SC_PAGESIZE),
                      .why = "the kernel does not report it (cachestat, mincore)",
                      .seen = seen };

    *seen = (struct weir_cache_seen) { .looked = 0 };
    *why = look(&l, path, range);
    if (l.fd >= 0)
        close(l.fd);
    return *why == NULL;
}

void weir_cache_clean(const char *path)
{
    int fd = open_to_look(path);

    if (fd < 0)
        return;
    syscall(SYS_fdatasync, fd);
    close(fd);
}

void weir_cache_drop(const char *path)
{
    int fd = open_to_look(path);

    if (fd < 0)
        return;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}
