/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-direct.c - what a file system says of direct and atomic transfers */
#include "backends/posix/posix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECTOR 512u /* the smallest alignment for O_DIRECT where the system does not report one */
#define MASK_DIOALIGN 0x2000u
#define MASK_WRITE_ATOMIC 0x10000u

/* The answer of statx(2) as far as it is asked for here, since Linux 6.11: headers may be older. */
struct answer {
    uint32_t mask;
    char skipped[148];
    uint32_t dio_mem_align, dio_offset_align; /* bytes */
    uint64_t subvolume;
    uint32_t atomic_min, atomic_max, atomic_pieces; /* bytes, bytes, count */
    char rest[76];
};

/* False: the system cannot tell. */
static bool ask(int fd, unsigned mask, struct answer *out)
{
    _Static_assert(sizeof(struct answer) == 256, "as large as struct statx");
    _Static_assert(offsetof(struct answer, dio_mem_align) == 152, "at its place");

    *out = (struct answer) { 0 };
    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, mask, out) == 0 && (out->mask & mask) == mask;
}

int posix_check_direct(int fd, const struct weir_file *f, struct weir_err *err)
{
    const struct weir_extent *x = &f->extent;
    struct answer a;
    unsigned align = ask(fd, MASK_DIOALIGN, &a) ? a.dio_offset_align : SECTOR;
    uint64_t odd;

    if (align == 0)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--posix.odirect: the file system of '%s' has no direct I/O; leave the option out",
            f->path);
    if (x->transfer % align == 0 && x->block % align == 0)
        return 0;
    odd = x->transfer % align ? x->transfer : x->block;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--posix.odirect needs transfer and block sizes that are multiples of %u "
                       "bytes on '%s', not %llu",
                       align, f->path, (unsigned long long)odd);
}

int posix_check_atomic(int fd, const struct weir_file *f, struct weir_err *err)
{
    uint64_t len = f->extent.transfer;
    struct answer a;

    if (!ask(fd, MASK_WRITE_ATOMIC, &a) || a.atomic_max == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--posix.atomic: the file system or device of '%s' reports no atomic "
                           "writes; leave the option out",
                           f->path);
    if (len >= a.atomic_min && len <= a.atomic_max && (len & (len - 1)) == 0)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--posix.atomic needs a transfer size that is a power of two from %u to %u "
                       "bytes on '%s', not %llu",
                       a.atomic_min, a.atomic_max, f->path, (unsigned long long)len);
}
