/* SPDX-License-Identifier: BSD-3-Clause */
/* new-buffers.c - for LD_PRELOAD: rank 0 writes into the file "buffers" how many gathers it had, how many of them went to
 * memory that nobody had touched before, and how many aligned buffers of BYTES bytes it has made; number FAIL_AT of them fails */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int gathers, untouched, made;

static int is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");

    return rank && *rank == '0';
}

/* The page in which byte 64 Ki lies: the first one has the allocator's own words. */
static int is_untouched(const void *buf)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = ((uintptr_t)buf + 65536) / page * page;
    unsigned char there = 1;

    return mincore((void *)at, page, &there) == 0 && !(there & 1);
}

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int PMPI_Gatherv(const void *mine, int n, void *type, void *all, const int *counts, const int *begins, void *types, int root, void *comm);

int MPI_Gatherv(const void *mine, int n, void *type, void *all, const int *counts, const int *begins, void *types, int root, void *comm)
{
    gathers += all != NULL;
    untouched += all && is_untouched(all);
    return PMPI_Gatherv(mine, n, type, all, counts, begins, types, root, comm);
}

int posix_memalign(void **out, size_t align, size_t len)
{
    static int (*real)(void **, size_t, size_t);

    if (!real)
        real = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    if (getenv("BYTES") && strtoul(getenv("BYTES"), NULL, 10) == len)
        made++;
    else
        return real(out, align, len);
    return getenv("FAIL_AT") && is_first() && strtol(getenv("FAIL_AT"), NULL, 10) == made ? ENOMEM : real(out, align, len);
}

int PMPI_Finalize(void);

int MPI_Finalize(void)
{
    FILE *f = is_first() ? fopen("buffers", "w") : NULL;

    if (f) {
        fprintf(f, "%d %d %d\n", gathers, untouched, made);
        fclose(f);
    }
    return PMPI_Finalize();
}
