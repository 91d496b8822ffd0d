/* SPDX-License-Identifier: BSD-3-Clause */
/* stand-ins.c - functions with the names and arguments of the libraries of Lustre and GPFS, so that
 * what weir does with them can be compiled and run where there are none. They append a line for each
 * call to $STAND_IN_LOG; a function whose name begins with $STAND_IN_FAIL fails with ENOTTY.
 * They say nothing about how the real ones behave. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lustre/lustreapi.h>

#include <gpfs.h>

#include <gpfs_fcntl.h>

/* One write, so that lines of several ranks do not mix. True when the call is to fail. */
static int note(const char *function, const char *fmt, ...)
{
    const char *fail = getenv("STAND_IN_FAIL");
    int log = open(getenv("STAND_IN_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    char line[512];
    int n = snprintf(line, sizeof(line), "%s ", function);
    va_list ap;

    va_start(ap, fmt);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
    va_end(ap);
    line[n++] = '\n';
    if (log < 0 || write(log, line, (size_t)n) != n)
        abort();
    close(log);
    errno = ENOTTY;
    return fail && *fail && strncmp(function, fail, strlen(fail)) == 0;
}

void llapi_msg_set_level(int level)
{
    (void)level;
}

/* Like the real one: of those who set the layout of a file one succeeds. */
int llapi_file_open_pool(const char *name, int flags, int mode, unsigned long long stripe_size,
                         int stripe_offset, int stripe_count, int stripe_pattern, char *pool_name)
{
    int fd;

    if (note("llapi_file_open_pool", "%s size=%llu start=%d count=%d pattern=%d pool=%s", name,
             stripe_size, stripe_offset, stripe_count, stripe_pattern, pool_name ? pool_name : "-"))
        return -ENOTTY;
    fd = open(name, flags | O_EXCL, mode);
    return fd < 0 ? -errno : fd;
}

/* What is asked for, as text. */
struct llapi_layout {
    char text[400];
};

struct llapi_layout *llapi_layout_alloc(void)
{
    return calloc(1, sizeof(struct llapi_layout));
}

void llapi_layout_free(struct llapi_layout *layout)
{
    free(layout);
}

static int add(struct llapi_layout *layout, const char *fmt, ...)
{
    size_t n = strlen(layout->text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(layout->text + n, sizeof(layout->text) - n, fmt, ap);
    va_end(ap);
    return 0;
}

int llapi_layout_stripe_count_set(struct llapi_layout *layout, uint64_t count)
{
    return add(layout, " count=%lld", count == LLAPI_LAYOUT_WIDE ? -1 : (long long)count);
}

int llapi_layout_stripe_size_set(struct llapi_layout *layout, uint64_t size)
{
    return add(layout, " size=%llu", (unsigned long long)size);
}

int llapi_layout_pattern_set(struct llapi_layout *layout, uint64_t pattern)
{
    return add(layout, " pattern=%llu", (unsigned long long)pattern);
}

int llapi_layout_pool_name_set(struct llapi_layout *layout, const char *pool_name)
{
    return add(layout, " pool=%s", pool_name);
}

int llapi_layout_ost_index_set(struct llapi_layout *layout, int stripe_number, uint64_t ost_index)
{
    return add(layout, " %d:%llu", stripe_number, (unsigned long long)ost_index);
}

/* Like the real one, it says in errno what is wrong. */
int llapi_layout_file_open(const char *path, int open_flags, unsigned mode,
                           const struct llapi_layout *layout)
{
    if (note("llapi_layout_file_open", "%s%s", path, layout->text))
        return -1;
    return open(path, open_flags | O_EXCL, mode);
}

/* Where this is preloaded: every file has stripes of $STAND_IN_STRIPES, "SIZE COUNT TARGET TARGET ...". */
ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    struct {
        unsigned magic, pattern;
        char object[16];
        unsigned size;
        unsigned short count, first;
        struct {
            char object[16];
            unsigned generation, target;
        } stripe[8];
    } lov = { .magic = 0x0BD10BD0 };
    const char *stripes = getenv("STAND_IN_STRIPES");
    int n = 0, more;

    (void)path;
    if (!stripes || strcmp(name, "lustre.lov") != 0 || size < sizeof(lov) ||
        sscanf(stripes, "%u %hu%n", &lov.size, &lov.count, &n) != 2) {
        errno = ENOTSUP;
        return -1;
    }
    for (int i = 0; i < 8 && sscanf(stripes + n, "%u%n", &lov.stripe[i].target, &more) == 1; i++)
        n += more;
    memcpy(value, &lov, sizeof(lov));
    return sizeof(lov);
}

int llapi_dir_set_default_lmv_stripe(const char *name, int stripe_offset, int stripe_count,
                                     int stripe_pattern, const char *pool_name)
{
    if (note("llapi_dir_set_default_lmv_stripe", "%s start=%d count=%d pattern=%d pool=%s", name,
             stripe_offset, stripe_count, stripe_pattern, pool_name ? pool_name : "-"))
        return -ENOTTY;
    return access(name, W_OK) < 0 ? -errno : 0;
}

/* Wrong lengths are what this would be called with most easily. */
int gpfs_fcntl(gpfs_file_t fd, void *hints)
{
    const gpfsFcntlHeader_t *header = hints;
    const gpfsAccessRange_t *range = (const void *)(header + 1);
    int length = header->totalLength - (int)sizeof(*header);

    if (header->fcntlVersion != GPFS_FCNTL_CURRENT_VERSION || length != range->structLen ||
        fcntl(fd, F_GETFL) < 0) {
        errno = EINVAL;
        return -1;
    }
    if (range->structType == GPFS_ACCESS_RANGE)
        return -note("gpfs_fcntl", "access start=%lld length=%lld write=%d", range->start,
                     range->length, range->isWrite);
    if (range->structType == GPFS_FREE_RANGE)
        return -note("gpfs_fcntl", "free start=%lld length=%lld", range->start, range->length);
    return -note("gpfs_fcntl", "hint %d", range->structType);
}
