/* SPDX-License-Identifier: BSD-3-Clause */
/* two-nodes.c - for LD_PRELOAD: even ranks are one node, odd ranks another, each with a kernel of its own; with WEIR_APART
 * the odd ones see no file of weir's probes, as with a directory that each node has for itself. WEIR_NODES and
 * WEIR_KERNELS, "one", "pairs" or "each", make all ranks, ranks 2 n and 2 n + 1, or each rank one node, or one kernel;
 * WEIR_KERNELS=hidden: no rank sees which */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
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

/* The node or kernel of this rank. */
static int place(const char *variable)
{
    const char *word = getenv(variable);

    if (word && strcmp(word, "one") == 0)
        return 0;
    if (word && strcmp(word, "pairs") == 0)
        return rank_of_launcher() / 2;
    return word && strcmp(word, "each") == 0 ? rank_of_launcher() : rank_of_launcher() & 1;
}

/* Open MPI's types are pointers, MPICH's are numbers; both fit. */
int MPI_Comm_split_type(void *comm, int type, int key, void *info, void *out)
{
    int (*split)(void *, int, int, void *) =
        (int (*)(void *, int, int, void *))dlsym(RTLD_NEXT, "MPI_Comm_split");

    (void)type;
    (void)info;
    return split(comm, place("WEIR_NODES"), key, out);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    FILE *f;

    if (strcmp(path, "/proc/sys/kernel/random/boot_id") != 0)
        return real(path, mode);
    errno = ENOENT;
    f = getenv("WEIR_KERNELS") && strcmp(getenv("WEIR_KERNELS"), "hidden") == 0 ? NULL : tmpfile();
    if (f) {
        fprintf(f, "%08d-7a1b-4c2d-9e3f-0123456789ab\n", place("WEIR_KERNELS"));
        rewind(f);
    }
    return f;
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
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
