/* SPDX-License-Identifier: BSD-3-Clause */
/* arrayscan.c - a transfer of an array that reports success and leaves an errno */
#include "backends/shared/arrayscan.h"

#include <fcntl.h>
#include <unistd.h>

void weir_array_mark(const struct weir_array *a, void *buf)
{
    uint64_t end = weir_slab_end(&a->mem.slab, &a->mem.shape) * a->elem;
    struct weir_runs r;

    weir_runs_begin(&r, &a->mem.slab, &a->mem.shape);
    if (a->elements > 0)
        weir_mpi_mark((char *)buf + r.first * a->elem, end - r.first * a->elem);
}

int weir_array_scan(const struct weir_array *a, struct weir_mpi_doubt *d, int sys, const char *call,
                    const void *buf, uint64_t where, bool swaps, struct weir_err *err)
{
    int fd = open(weir_mpi_path(a->file->path), O_RDONLY | O_CLOEXEC);
    struct weir_runs in_file, in_memory;
    struct weir_pieces p;
    uint64_t at, from, n;
    bool same = fd >= 0;

    weir_runs_begin(&in_file, &a->slab, &a->spec.shape);
    weir_runs_begin(&in_memory, &a->mem.slab, &a->mem.shape);
    weir_pieces_begin(&p, &in_file, &in_memory);
    while (same && weir_pieces_next(&p, &at, &from, &n))
        same = weir_mpi_matching(fd, (const unsigned char *)buf + from * a->elem, n * a->elem,
                                 where + at * a->elem, swaps ? a->elem : 1) == n * a->elem;
    if (fd >= 0)
        close(fd);
    if (!same)
        return weir_mpi_refuse_hidden(err, sys, call, "the file has other data");
    weir_mpi_doubt_found(d, sys, call);
    return 0;
}
