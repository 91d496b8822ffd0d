/* SPDX-License-Identifier: BSD-3-Clause */
/* arraylook.c - a transfer of an array that reports success and leaves an errno */
#include "backends/shared/arraylook.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE 8192u /* bytes that are read at a time: whole elements where these are swapped */

void weir_array_mark(const struct weir_array *a, void *buf)
{
    uint64_t end = weir_slab_end(&a->mem.slab, &a->mem.shape) * a->elem;
    struct weir_runs r;

    weir_runs_begin(&r, &a->mem.slab, &a->mem.shape);
    if (a->elements > 0)
        weir_mpi_mark((char *)buf + r.first * a->elem, end - r.first * a->elem);
}

static void swap_bytes(unsigned char *row, size_t len, size_t elem)
{
    for (size_t at = 0; at + elem <= len; at += elem)
        for (size_t i = 0; i < elem / 2; i++) {
            unsigned char other = row[at + i];

            row[at + i] = row[at + elem - 1 - i];
            row[at + elem - 1 - i] = other;
        }
}

static bool is_there(int fd, const unsigned char *row, uint64_t len, uint64_t at, size_t elem,
                     bool swaps)
{
    unsigned char there[PIECE];

    for (uint64_t done = 0; done < len;) {
        size_t n = len - done < PIECE ? (size_t)(len - done) : PIECE;
        ssize_t got = pread(fd, there, n, (off_t)(at + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)n)
            return false;
        if (swaps)
            swap_bytes(there, n, elem);
        if (memcmp(there, row + done, n) != 0)
            return false;
        done += n;
    }
    return true;
}

int weir_array_look(const struct weir_array *a, struct weir_mpi_doubt *d, int sys, const char *call,
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
        same = is_there(fd, (const unsigned char *)buf + from * a->elem, n * a->elem,
                        where + at * a->elem, (size_t)a->elem, swaps);
    if (fd >= 0)
        close(fd);
    if (!same)
        return weir_mpi_refuse_hidden(err, sys, call, "the file has other data");
    weir_mpi_doubt_found(d, sys, call);
    return 0;
}
