/* SPDX-License-Identifier: BSD-3-Clause */
/* log-h5-calls.c - preloaded: each rank writes into the file "calls.RANK", in their order, the calls of
 * HDF5, netCDF-C, PnetCDF, MPI-IO and MPI that all ranks take part in, each with its name, and readings of the clock: "clock NANOSECONDS".
 * What these calls do inside is left out. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "real-hdf5.h"

#define MOST 1000000

struct event {
    const char *name; /* NULL: a reading of the clock */
    uint64_t ns;
};

/* Not from calloc: Open MPI 5 has hooks in mmap, and what they call reads the clock. */
static struct event events[MOST];
static int n, depth;

static void note(const char *name, uint64_t ns)
{
    if (depth > 0 || gettid() != getpid())
        return;
    if (n < MOST)
        events[n++] = (struct event) { name, ns };
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*call)(clockid_t, struct timespec *);
    int rc;

    if (!call)
        *(void **)&call = dlsym(RTLD_NEXT, "clock_gettime");
    rc = call(id, t);
    if (id == CLOCK_MONOTONIC)
        note(NULL, (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec);
    return rc;
}

typedef long call8(long, long, long, long, long, long, long, long);

/* Every argument and result is a number or a pointer, and there are 8 of them at most. */
#define LOGGED(name) LOGGED_IN("libhdf5", name)
#define LOGGED_IN(library, name)                                                                   \
    long name(long a, long b, long c, long d, long e, long f, long g, long h)                      \
    {                                                                                              \
        static call8 *call;                                                                        \
        long rc;                                                                                   \
                                                                                                   \
        if (!call && !(call = (call8 *)real_in(library, #name)))                                               \
            abort();                                                                               \
        note(#name, 0);                                                                            \
        depth++;                                                                                   \
        rc = call(a, b, c, d, e, f, g, h);                                                         \
        depth--;                                                                                   \
        return rc;                                                                                 \
    }

LOGGED(H5Aclose)
LOGGED(H5Acreate2)
LOGGED(H5Aexists)
LOGGED(H5Aget_space)
LOGGED(H5Aget_type)
LOGGED(H5Aopen)
LOGGED(H5Aread)
LOGGED(H5Awrite)
LOGGED(H5Dclose)
LOGGED(H5Dcreate2)
LOGGED(H5Dget_offset)
LOGGED(H5Dget_space)
LOGGED(H5Dget_type)
LOGGED(H5Dopen2)
LOGGED(H5Dread)
LOGGED(H5Dwrite)
LOGGED(H5Fclose)
LOGGED(H5Fcreate)
LOGGED(H5Fflush)
LOGGED(H5Fget_vfd_handle)
LOGGED(H5Fopen)
LOGGED(H5Gclose)
LOGGED(H5Gcreate2)
LOGGED(H5Gopen2)
LOGGED(H5Oclose)
LOGGED(H5Oopen)
LOGGED(H5Pclose)
LOGGED(H5Pcreate)
LOGGED(H5Pset_chunk)
LOGGED(H5Pset_fill_time)
LOGGED(H5Sclose)
LOGGED(H5Screate)
LOGGED(H5Screate_simple)
LOGGED(H5Sselect_hyperslab)
LOGGED(H5Tclose)
LOGGED(H5Tcopy)
LOGGED(H5Tcreate)
LOGGED(H5Tinsert)

LOGGED_IN("libnetcdf", nc_create_par)
LOGGED_IN("libnetcdf", nc_open_par)
LOGGED_IN("libnetcdf", nc_def_var)
LOGGED_IN("libnetcdf", nc_inq_varid)
LOGGED_IN("libnetcdf", nc_enddef)
LOGGED_IN("libnetcdf", nc_put_vara)
LOGGED_IN("libnetcdf", nc_get_vara)
LOGGED_IN("libnetcdf", nc_sync)
LOGGED_IN("libnetcdf", nc_close)
LOGGED_IN("libpnetcdf", ncmpi_create)
LOGGED_IN("libpnetcdf", ncmpi_open)
LOGGED_IN("libpnetcdf", ncmpi_def_var)
LOGGED_IN("libpnetcdf", ncmpi_inq_varid)
LOGGED_IN("libpnetcdf", ncmpi_enddef)
LOGGED_IN("libpnetcdf", ncmpi_put_vars_all)
LOGGED_IN("libpnetcdf", ncmpi_get_vars_all)
LOGGED_IN("libpnetcdf", ncmpi_close)

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
#define LOGGED_MPI(name, types, args)                                                              \
    int PMPI_##name types;                                                                         \
    int MPI_##name types                                                                           \
    {                                                                                              \
        int rc;                                                                                    \
                                                                                                   \
        note("MPI_" #name, 0);                                                                     \
        depth++;                                                                                   \
        rc = PMPI_##name args;                                                                     \
        depth--;                                                                                   \
        return rc;                                                                                 \
    }

LOGGED_MPI(Barrier, (void *a), (a))
LOGGED_MPI(Ibarrier, (void *a, void *b), (a, b))
LOGGED_MPI(Bcast, (void *a, void *b, void *c, void *d, void *e), (a, b, c, d, e))
LOGGED_MPI(Allreduce, (void *a, void *b, void *c, void *d, void *e, void *f), (a, b, c, d, e, f))
LOGGED_MPI(Iallreduce, (void *a, void *b, void *c, void *d, void *e, void *f, void *g), (a, b, c, d, e, f, g))
LOGGED_MPI(File_open, (void *a, void *b, int c, void *d, void *e), (a, b, c, d, e))
LOGGED_MPI(File_set_size, (void *a, long b), (a, b))
LOGGED_MPI(File_write_at_all, (void *a, long b, void *c, int d, void *e, void *f), (a, b, c, d, e, f))
LOGGED_MPI(File_read_at_all, (void *a, long b, void *c, int d, void *e, void *f), (a, b, c, d, e, f))
LOGGED_MPI(File_sync, (void *a), (a))
LOGGED_MPI(File_close, (void *a), (a))

int PMPI_Finalize(void);

int MPI_Finalize(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    char name[32];
    FILE *f;

    if (snprintf(name, sizeof(name), "calls.%s", rank ? rank : "0") >= (int)sizeof(name) || !(f = fopen(name, "w")))
        abort();
    for (int i = 0; i < n; i++)
        if (events[i].name)
            fprintf(f, "%s\n", events[i].name);
        else
            fprintf(f, "clock %llu\n", (unsigned long long)events[i].ns);
    fclose(f);
    depth = 1;
    return PMPI_Finalize();
}
