/* SPDX-License-Identifier: BSD-3-Clause */
/* hold-requests.c - for LD_PRELOAD: no request of MPI-IO has ended before as many blocking writes
 * as HOLD says, and the steady clock goes four seconds ahead at each hundredth look at a request
 * until then */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int looks, writes;

static int is_held(void)
{
    const char *hold = getenv("HOLD");

    return hold && writes < atoi(hold);
}

/* Handles of Open MPI are pointers, and those of MPICH numbers: both go through in a register. */
int MPI_Request_get_status(void *request, int *flag, void *status)
{
    int (*real)(void *, int *, void *);

    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Request_get_status");
    if (!is_held())
        return real(request, flag, status);
    looks++;
    *flag = 0;
    return 0;
}

int MPI_File_write_at(void *file, long long at, const void *buf, int n, void *type, void *status)
{
    int (*real)(void *, long long, const void *, int, void *, void *);

    *(void **)&real = dlsym(RTLD_NEXT, "MPI_File_write_at");
    writes++;
    return real(file, at, buf, n, type, status);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int (*real)(clockid_t, struct timespec *);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(id, t);
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW)
        t->tv_sec += looks / 100 * 4;
    return rc;
}
