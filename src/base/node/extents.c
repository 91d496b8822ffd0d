/* SPDX-License-Identifier: BSD-3-Clause */
/* extents.c - which bytes of a file were ever written, and where on its device they are */
#include "base/node/extents.h"
#include "config.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define AT_ONCE 64

/* One request to the kernel, with room for the extents that follow it. */
union request {
    struct fiemap map;
    unsigned char room[sizeof(struct fiemap) + AT_ONCE * sizeof(struct fiemap_extent)];
};

static struct weir_stored cut(const struct fiemap_extent *x, uint64_t first, uint64_t end)
{
    uint64_t from = x->fe_logical > first ? x->fe_logical : first;
    uint64_t to = x->fe_logical + x->fe_length;
    uint32_t nowhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DELALLOC |
                       FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL;
    uint32_t encoded = x->fe_flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_ENCRYPTED);
    bool placed = !(x->fe_flags & nowhere);

    to = to < end ? to : end;
    return (struct weir_stored) { .first = from,
                                  .len = to > from ? to - from : 0,
                                  .at = placed ? x->fe_physical + (from - x->fe_logical) : 0,
                                  .placed = placed,
                                  .reserved = x->fe_flags & FIEMAP_EXTENT_UNWRITTEN,
                                  .compressed = encoded == FIEMAP_EXTENT_ENCODED };
}

bool weir_extents_visit(int fd, uint64_t first, uint64_t len,
                        void (*visit)(void *context, const struct weir_stored *e), void *context)
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
            struct weir_stored e = cut(x = &r.map.fm_extents[i], first, end);

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

static void add(void *context, const struct weir_stored *e)
{
    struct sums *s = context;

    s->reserved += e->reserved ? (double)e->len : 0;
    s->compressed += e->compressed ? (double)e->len : 0;
}

/* Also tells of pages that wait to be written, and takes what was read from a reserved extent for
 * data. NaN: not known. */
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

double weir_extents_written(int fd, uint64_t first, uint64_t len, bool clean, double *compressed)
{
    struct sums s = { 0, 0 };
    bool known = weir_extents_visit(fd, first, len, add, &s);

    *compressed = known ? s.compressed : 0;
    return fmin(outside_holes(fd, first, len), known && clean ? (double)len - s.reserved : NAN);
}
