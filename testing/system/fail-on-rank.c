/* SPDX-License-Identifier: BSD-3-Clause */
/* fail-on-rank.c - preloaded: FAIL="CALL RANK N" lets the N-th such call of weir's own code on that rank fail, counted from 1;
 * N 0 only counts. The file "calls" gets how many there were; the file "reached" is made when the N-th comes. Calls:
 *   memory     malloc and its kin
 *   reduction  MPI_Allreduce returns an error without taking part
 *   hdf5       H5open
 *   group, attribute, find   H5Gcreate2, H5Acreate2, H5Gopen2
 *   open       MPI_File_open finds an internal error that it tells to the handler of MPI_COMM_WORLD */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real-hdf5.h"

#define ERROR 17 /* is one in every library */

static char wanted[16];
static long n, fails;
static bool mine;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    int on = -1;

    rank = rank ? rank : getenv("PMI_RANK");
    mine = text && sscanf(text, "%15s %d %ld", wanted, &on, &fails) == 3 && on == (rank ? atoi(rank) : 0);
}

__attribute__((destructor)) static void end(void)
{
    FILE *f = mine ? fopen("calls", "w") : NULL;

    mine = false;
    if (f) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}

/* Programs, their library and their plugins are in a folder 'src' of the build. */
static bool fails_now(const char *call, void *caller)
{
    static __thread bool inside;
    bool ours = false;
    Dl_info where;

    if (!mine || inside || strcmp(call, wanted) != 0)
        return false;
    inside = true;
    ours = dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, "/src/");
    inside = false;
    if (!ours || __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) != fails)
        return false;
    close(open("reached", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    errno = ENOMEM;
    return true;
}

#define FAILS(call) fails_now(call, __builtin_return_address(0))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t len)
{
    return FAILS("memory") ? NULL : __libc_malloc(len);
}

void *calloc(size_t count, size_t len)
{
    return FAILS("memory") ? NULL : __libc_calloc(count, len);
}

void *realloc(void *old, size_t len)
{
    return FAILS("memory") ? NULL : __libc_realloc(old, len);
}

int posix_memalign(void **out, size_t align, size_t len)
{
    if (FAILS("memory"))
        return ENOMEM;
    *out = __libc_memalign(align, len);
    return *out ? 0 : ENOMEM;
}

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int PMPI_Allreduce(void *, void *, int, void *, void *, void *);
int PMPI_File_open(void *, char *, int, void *, void *);
int MPI_Comm_call_errhandler(void *, int);
extern char ompi_mpi_comm_world __attribute__((weak));

int MPI_Allreduce(void *in, void *out, int count, void *type, void *op, void *comm)
{
    return FAILS("reduction") ? ERROR : PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_File_open(void *comm, char *name, int mode, void *info, void *file)
{
    if (FAILS("open"))
        MPI_Comm_call_errhandler(&ompi_mpi_comm_world ? &ompi_mpi_comm_world : (void *)0x44000000, ERROR);
    return PMPI_File_open(comm, name, mode, info, file);
}

/* The library is there already: it came with a plugin, where RTLD_NEXT does not find it. */
int H5open(void)
{
    return FAILS("hdf5") ? -1 : 0;
}

/* All arguments and results are numbers or pointers. */
typedef long call6(long, long, long, long, long, long);

#define FAILING(name, word)                                                                        \
    long name(long a, long b, long c, long d, long e, long f)                                      \
    {                                                                                              \
        return FAILS(word) ? -1 : ((call6 *)real(#name))(a, b, c, d, e, f);                        \
    }

FAILING(H5Gcreate2, "group")
FAILING(H5Acreate2, "attribute")
FAILING(H5Gopen2, "find")
