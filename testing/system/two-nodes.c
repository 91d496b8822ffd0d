/* SPDX-License-Identifier: BSD-3-Clause */
/* two-nodes.c - for LD_PRELOAD: even ranks are one node, odd ranks another; with WEIR_APART the odd ones see no
 * file of weir's probes, as with a directory that each node has for itself */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int rank_of_launcher(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int MPI_Comm_split_type(void *comm, int type, int key, void *info, void *out)
{
    int (*split)(void *, int, int, void *) =
        (int (*)(void *, int, int, void *))dlsym(RTLD_NEXT, "MPI_Comm_split");

    (void)type;
    (void)info;
    return split(comm, rank_of_launcher() & 1, key, out);
}

int access(const char *path, int mode)
{
    int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");

    if (getenv("WEIR_APART") && (rank_of_launcher() & 1) && strstr(path, "/.weir-probe-")) {
        errno = ENOENT;
        return -1;
    }
    return real(path, mode);
}
