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
#include <unistd.h>

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
    bool only_mincore;
    struct weir_cache_seen *seen;
};

static int look_mincore(struct look *l, uint64_t first, uint64_t len)
{
    uint64_t page = (uint64_t)l->page, from = first / page * page;
    size_t n = (size_t)((first + len - from + page - 1) / page);
    void *map = mmap(NULL, n * page, PROT_READ, MAP_SHARED, l->fd, (off_t)from);
    unsigned char *in = malloc(n);
    int rc = map != MAP_FAILED && in ? mincore(map, n * page, in) : -1;

    for (size_t i = 0; rc == 0 && i < n; i++)
        l->seen->resident += in[i] & 1 ? l->page : 0;
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
    struct pages p = { 0 };

    l->seen->looked += (double)len;
    if (l->only_mincore)
        return look_mincore(l, first, len);
    if (syscall(CACHESTAT, l->fd, &range, &p, 0) == 0) {
        l->seen->resident += l->page * (double)p.cache;
        l->seen->dirty += l->page * (double)(p.dirty + p.writeback);
        return 0;
    }
    l->only_mincore = true;
    l->seen->dirty = NAN;
    return look_mincore(l, first, len);
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

bool weir_cache_look(const char *path, const struct weir_cache_range *range,
                     struct weir_cache_seen *seen, const char **why)
{
    struct weir_cache_range r;
    struct look l = { .fd = open_to_look(path),
                      .page = (double)sysconf(_SC_PAGESIZE),
                      .seen = seen };
    struct stat st;
    bool good;

    *seen = (struct weir_cache_seen) { .looked = 0 };
    *why = NULL;
    if (l.fd < 0)
        *why = "the files cannot be opened to look";
    else if (fstat(l.fd, &st) < 0 || !S_ISREG(st.st_mode))
        *why = "the files are not ordinary ones";
    else if (r = sampled(range, (uint64_t)st.st_size),
             look_through(&l, &r, (uint64_t)st.st_size) < 0)
        *why = "the kernel does not report it (cachestat, mincore)";
    else if (seen->looked <= 0)
        *why = "the files are empty";
    good = *why == NULL;
    if (good)
        seen->size = (double)st.st_size, seen->allocated = (double)st.st_blocks * 512;
    if (l.fd >= 0)
        close(l.fd);
    if (good && seen->resident > seen->looked) /* whole pages */
        seen->resident = seen->looked;
    if (good && seen->dirty > seen->looked)
        seen->dirty = seen->looked;
    return good;
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
