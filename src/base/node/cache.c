/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.c - how much of a file is in the page cache of this node */
#include "base/node/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define AT_ONCE 64 /* extents of one request */
#define PIECES 64
#define SAMPLE ((uint64_t)16 << 20) /* bytes of a sample of a large piece */
#define CACHESTAT 451               /* the number of the system call, on all processors */

static const char unseen_image[] = "the image below the file system has pages that cannot be seen";

struct pages {
    uint64_t cache, dirty, writeback, evicted, recently_evicted;
};

/* An open file, and what is seen of its pages; dirty is NaN where only mincore is there. */
struct file {
    int fd;
    bool only_mincore, may_know;
    const char *hides;
    double resident, dirty;
};

struct look {
    struct file file, image; /* image: below the file; its fd is -1 where there is none */
    struct weir_underlying *underlying;
    const char *why; /* the kernel does not tell */
    struct weir_cache_seen *seen;
};

/* File systems that stand on others: cachestat sees none of the pages that the file below has, or
 * not all. A mapping of overlayfs is one of the file below. */
static const struct kind {
    unsigned long type; /* of statfs(2) */
    const char *hides;
} kinds[] = {
    { 0, NULL }, /* all others: they stand on none */
    { 0x794C7630, NULL }, /* overlayfs */
    { 0x61756673, NULL }, /* aufs */
    { 0xF15F, "eCryptfs has pages of the encrypted file that the kernel does not show" },
    { 0x65735546, "the server of a FUSE file system may have pages that the kernel does not show" },
};

/* ---- extents ---- */

/* An extent (FIEMAP), or the part of it that was asked for. */
struct stored {
    uint64_t first, len; /* in the file */
    uint64_t at;         /* on the device, from its beginning; 0 where 'placed' is false */
    bool placed;
    bool reserved;   /* has space on the device, and was never written */
    bool compressed; /* other bytes, fewer, are on the device than in the file */
};

/* One request to the kernel, then memory for its extents. */
union request {
    struct fiemap map;
    unsigned char bytes[sizeof(struct fiemap) + AT_ONCE * sizeof(struct fiemap_extent)];
};

static struct stored cut(const struct fiemap_extent *x, uint64_t first, uint64_t end)
{
    uint64_t from = x->fe_logical > first ? x->fe_logical : first;
    uint64_t to = x->fe_logical + x->fe_length;
    uint32_t nowhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DELALLOC |
                       FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL;
    uint32_t encoded = x->fe_flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_ENCRYPTED);
    bool placed = !(x->fe_flags & nowhere);

    to = to < end ? to : end;
    return (struct stored) { .first = from,
                                  .len = to > from ? to - from : 0,
                                  .at = placed ? x->fe_physical + (from - x->fe_logical) : 0,
                                  .placed = placed,
                                  .reserved = x->fe_flags & FIEMAP_EXTENT_UNWRITTEN,
                                  .compressed = encoded == FIEMAP_EXTENT_ENCODED };
}

/* Calls visit for each extent in the len bytes from 'first' on, cut to them, in ascending order.
 * False: the file system does not report them. */
static bool visit_extents(int fd, uint64_t first, uint64_t len,
                          void (*visit)(void *context, const struct stored *e), void *context)
{
    uint64_t begin = first, end = first + len;
    union request r;

    while (begin < end) {
        const struct fiemap_extent *x = NULL;

        r.map = (struct fiemap) { .fm_start = begin,
                                  .fm_length = end - begin,
                                  .fm_extent_count = AT_ONCE };
        if (ioctl(fd, FS_IOC_FIEMAP, &r.map) < 0)
            return false;
        for (uint32_t i = 0; i < r.map.fm_mapped_extents; i++) {
            struct stored e = cut(x = &r.map.fm_extents[i], first, end);

            visit(context, &e);
        }
        if (!x || x->fe_flags & FIEMAP_EXTENT_LAST || x->fe_logical + x->fe_length <= begin)
            break;
        begin = x->fe_logical + x->fe_length;
    }
    return true;
}

struct sums {
    double reserved, compressed;
};

static void add_extent(void *context, const struct stored *e)
{
    struct sums *s = context;

    s->reserved += e->reserved ? (double)e->len : 0;
    s->compressed += e->compressed ? (double)e->len : 0;
}

/* Counts pages that wait to be written, and what was read from a reserved extent. NaN: not known. */
static double outside_holes(int fd, uint64_t first, uint64_t len)
{
    off_t end = (off_t)(first + len), data, hole;
    double sum = 0;

    for (off_t at = (off_t)first; at < end; at = hole) {
        data = lseek(fd, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            return NAN;
        if (data < 0 || data >= end)
            break;
        hole = lseek(fd, data, SEEK_HOLE);
        if (hole <= data)
            return NAN;
        sum += (double)((hole < end ? hole : end) - data);
    }
    return sum;
}

/* ---- pages ---- */

/* By the system call itself: a preloaded library that counts open calls (a profiler) then sees
 * only those of the test. */
static int open_to_look(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

/* mincore reports every page as resident to users that neither own nor may write the file. */
static void open_file(struct file *f, const char *path, struct stat *st)
{
    *st = (struct stat) { .st_mode = 0 };
    *f = (struct file) { .fd = open_to_look(path) };
    if (f->fd < 0 || fstat(f->fd, st) < 0)
        return;
    f->may_know = st->st_uid == geteuid() || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static int kind_of(int fd)
{
    int i = sizeof(kinds) / sizeof(*kinds);
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return 0;
    while (--i > 0 && (unsigned long)fs.f_type != kinds[i].type)
        ;
    return i;
}

static void stand_on(struct file *f, int kind)
{
    f->only_mincore = kind > 0;
    f->hides = kinds[kind].hides;
}

/* For an open file of the device. */
static void look_underlying_device(int fd, const char *path, dev_t device, struct weir_underlying *b)
{
    if (b->known && b->device == (uint64_t)device)
        return;
    b->known = true;
    b->device = (uint64_t)device;
    b->kind = kind_of(fd);
    weir_devices_find(path, &b->devices);
}

void weir_underlying_find(const char *path, struct weir_underlying *b, struct weir_mount *m)
{
    bool failed = false;
    struct stat st;
    char *real;
    int fd = weir_path_open(path, &real, &failed);

    *b = (struct weir_underlying) { .known = real && fstat(fd, &st) == 0 };
    if (b->known) {
        b->device = (uint64_t)st.st_dev;
        b->kind = kind_of(fd);
        weir_mount_of(WEIR_MOUNTS, real, m);
        /* Files of overlayfs may have the number of the layer below. */
        weir_devices_of(m, S_ISDIR(st.st_mode) ? &st.st_dev : NULL, &b->devices);
    }
    m->failed |= failed;
    if (fd >= 0)
        close(fd);
    free(real);
}

static int look_mincore(struct file *f, uint64_t first, uint64_t len)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = first / page * page;
    size_t n = (size_t)((first + len - from + page - 1) / page);
    void *map = mmap(NULL, n * page, PROT_READ, MAP_SHARED, f->fd, (off_t)from);
    unsigned char *in = malloc(n);
    int rc = map != MAP_FAILED && in ? mincore(map, n * page, in) : -1;
    double resident = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        resident += in[i] & 1 ? (double)page : 0;
    f->resident += resident;
    if (resident > 0 || f->hides) /* it does not tell which pages are dirty */
        f->dirty = NAN;
    if (map != MAP_FAILED)
        munmap(map, n * page);
    free(in);
    return rc;
}

static int look_pages(struct look *l, struct file *f, uint64_t first, uint64_t len)
{
    struct {
        uint64_t off, len;
    } range = { first, len };
    double page = (double)sysconf(_SC_PAGESIZE);
    struct pages p = { 0 };

    f->only_mincore = f->only_mincore || syscall(CACHESTAT, f->fd, &range, &p, 0) < 0;
    if (f->only_mincore && !f->may_know) {
        l->why = "the kernel tells it only of files that one owns or may write";
        return -1;
    }
    if (f->only_mincore)
        return look_mincore(f, first, len);
    f->resident += page * (double)p.cache;
    f->dirty += page * (double)(p.dirty + p.writeback);
    return 0;
}

/* The image below may have in memory what the file has not. */
static void look_underlying(void *context, const struct stored *e)
{
    struct look *l = context;

    if (e->placed && !e->reserved &&
        look_pages(l, &l->image, l->underlying->devices.image_offset + e->at, e->len) < 0)
        l->seen->hides = unseen_image;
}

static int look_memory(struct look *l, uint64_t first, uint64_t len)
{
    l->seen->looked += (double)len;
    if (look_pages(l, &l->file, first, len) < 0)
        return -1;
    if (l->image.fd >= 0 && !visit_extents(l->file.fd, first, len, look_underlying, l))
        l->seen->hides = unseen_image;
    return 0;
}

/* After all pages: file systems like NFS write back dirty pages before they answer. Written data are
 * outside of holes, and outside of extents that are only reserved if nothing waits for writing back. */
static int look_extents(struct look *l, uint64_t first, uint64_t len)
{
    struct sums s = { 0, 0 };
    bool known = visit_extents(l->file.fd, first, len, add_extent, &s);

    l->seen->written += fmin(outside_holes(l->file.fd, first, len),
                             known && l->file.dirty <= 0 ? (double)len - s.reserved : NAN);
    l->seen->compressed += known ? s.compressed : 0;
    return 0;
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

static int look_through(struct look *l, const struct weir_cache_range *r, uint64_t size,
                        int (*look_at)(struct look *l, uint64_t first, uint64_t len))
{
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t first = r->first + i * r->stride;
        uint64_t len = first >= size ? 0 : size - first < r->len ? size - first : r->len;

        if (len > 0 && look_at(l, first, len) < 0)
            return -1;
    }
    return 0;
}

static void open_image(struct look *l)
{
    const struct weir_devices *d = &l->underlying->devices;
    struct stat st;

    if (!d->image[0])
        return;
    if (d->is_whole)
        open_file(&l->image, d->image, &st);
    if (l->image.fd >= 0)
        stand_on(&l->image, kind_of(l->image.fd));
    if (!l->seen->hides)
        l->seen->hides = l->image.fd < 0 ? unseen_image : l->image.hides;
}

/* Takes the larger of file and image: both hold the same bytes. */
static void add_up(struct look *l, const struct stat *st)
{
    struct weir_cache_seen *seen = l->seen;
    const struct file *a = &l->file, *b = &l->image;

    seen->size = (double)st->st_size;
    seen->allocated = (double)st->st_blocks * 512;
    seen->resident = fmin(fmax(a->resident, b->resident), seen->looked); /* whole pages */
    seen->dirty = isnan(a->dirty + b->dirty) ? NAN : fmin(fmax(a->dirty, b->dirty), seen->looked);
}

static const char *look(struct look *l, const char *path, const struct weir_cache_range *range)
{
    struct weir_cache_range r;
    struct stat st;

    open_file(&l->file, path, &st);
    if (l->file.fd < 0)
        return "the files cannot be opened to look";
    if (!S_ISREG(st.st_mode))
        return "the files are not ordinary ones";
    look_underlying_device(l->file.fd, path, st.st_dev, l->underlying);
    stand_on(&l->file, l->underlying->kind);
    l->seen->hides = l->file.hides;
    open_image(l);
    r = sampled(range, (uint64_t)st.st_size);
    if (look_through(l, &r, (uint64_t)st.st_size, look_memory) < 0)
        return l->why;
    look_through(l, &r, (uint64_t)st.st_size, look_extents);
    if (l->seen->looked <= 0)
        return "the files are empty";
    add_up(l, &st);
    return NULL;
}

bool weir_cache_stat(const char *path, const struct weir_cache_range *range, struct weir_underlying *b,
                     struct weir_cache_seen *seen, const char **why)
{
    struct look l = { .file.fd = -1,
                      .image.fd = -1,
                      .underlying = b,
                      .why = "the kernel does not report it (cachestat, mincore)",
                      .seen = seen };

    *seen = (struct weir_cache_seen) { .looked = 0 };
    *why = look(&l, path, range);
    if (l.file.fd >= 0)
        close(l.file.fd);
    if (l.image.fd >= 0)
        close(l.image.fd);
    return *why == NULL;
}

void weir_cache_clean(const char *path, struct weir_underlying *b)
{
    int fd = open_to_look(path);

    if (fd < 0)
        return;
    syscall(SYS_fdatasync, fd);
    close(fd);
}

/* Drops the pages of the images below, too. */
void weir_cache_drop(const char *path, struct weir_underlying *b)
{
    int fd = open_to_look(path);
    const char *image = b->devices.image;
    struct weir_underlying next = { .known = false };
    struct stat st;

    if (fd < 0)
        return;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (fstat(fd, &st) == 0)
        look_underlying_device(fd, path, st.st_dev, b);
    close(fd);
    if (b->known && image[0] && strcmp(image, path) != 0)
        weir_cache_drop(image, &next);
}
