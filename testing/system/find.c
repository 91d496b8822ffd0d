/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - the parallel find of weir-io500 by itself, with directories that misbehave
 *
 *   find DIRECTORY LIST [CONDITION VALUE]... [+ [CONDITION VALUE]...]...
 *
 * A find for each group of conditions: name, size, newer; in, another directory; queue and next (1) of struct io500_find; unknown 1: directories do
 * not say what their entries are; slow N: each look at an entry takes N us; stop N: the rank in the middle says so when it
 * is asked the Nth time. Each rank writes what the find number I, from 0, has found to LIST.I.RANK, a NUL after each. Rank 0 prints a line
 * with the counts, and one with the problem. The status is that of the last error.
 *
 * Directories whose names end in "unreadable" cannot be opened, entries whose names end in "unstatable" cannot be looked at,
 * those that end in "gone" are not there any more. */
#include "programs/weir-io500/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- calls of the find, which the linker leads here: --wrap ---- */

static bool hides_kinds;
static useconds_t slow_us;

static bool ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), n = strlen(end);

    return len >= n && strcmp(path + len - n, end) == 0;
}

static int fault_of(const char *path)
{
    return ends_in(path, "unreadable") ? EACCES : ends_in(path, "unstatable") ? EIO : ends_in(path, "gone") ? ENOENT : 0;
}

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d)
{
    struct dirent *e = __real_readdir(d);

    if (e && hides_kinds)
        e->d_type = DT_UNKNOWN;
    return e;
}

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
    errno = fault_of(path);
    return errno ? -1 : __real_openat(fd, path, flags, 0666);
}

int __real_fstatat(int fd, const char *path, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags)
{
    if (slow_us > 0)
        usleep(slow_us);
    errno = ends_in(path, "unreadable") ? 0 : fault_of(path);
    return errno ? -1 : __real_fstatat(fd, path, st, flags);
}

/* ---- finds ---- */

struct state {
    FILE *list;
    long stop, asked;
};

static void keep(void *arg, const char *path)
{
    fwrite(path, 1, strlen(path) + 1, ((struct state *)arg)->list);
}

static bool stop(void *arg)
{
    struct state *s = arg;

    return s->stop > 0 && ++s->asked >= s->stop;
}

static void take(struct io500_find *find, struct state *s, bool stops, const char *condition, const char *value)
{
    if (strcmp(condition, "name") == 0)
        find->name = value;
    else if (strcmp(condition, "size") == 0)
        find->size = strtoll(value, NULL, 10);
    else if (strcmp(condition, "in") == 0)
        find->directory = value;
    else if (strcmp(condition, "newer") == 0)
        find->newer = value;
    else if (strcmp(condition, "queue") == 0)
        find->queue = strtoull(value, NULL, 10);
    else if (strcmp(condition, "next") == 0)
        find->next = true;
    else if (strcmp(condition, "unknown") == 0)
        hides_kinds = true;
    else if (strcmp(condition, "slow") == 0)
        slow_us = (useconds_t)strtol(value, NULL, 10);
    else if (strcmp(condition, "stop") == 0 && stops)
        s->stop = strtol(value, NULL, 10);
}

static int run_one(const struct weir_par *par, const struct io500_find *find)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct io500_found f;
    int rc = io500_find_run(par, find, &f, &err);

    if (par->rank == 0 && rc == 0)
        printf("found %llu total %llu directories %llu vanished %llu errors %llu seconds %.6f\n%s\n",
               (unsigned long long)f.found, (unsigned long long)f.total, (unsigned long long)f.directories,
               (unsigned long long)f.vanished, (unsigned long long)f.errors, f.seconds, f.problem.text);
    else if (par->rank == 0)
        printf("error %s\n\n", err.text);
    fflush(stdout);
    return rc < 0 ? (int)err.code : 0;
}

/* The group of conditions that begins with argv[at]; returns where the next one begins. */
static int find_group(const struct weir_par *par, char **argv, int at, int group, int *status)
{
    struct state s = { .stop = 0 };
    struct io500_find find = { .directory = argv[1], .size = -1, .stop = stop, .each = keep, .arg = &s };
    char name[4096];
    int failed;

    hides_kinds = false;
    slow_us = 0;
    for (; argv[at] && strcmp(argv[at], "+") != 0; at += 2)
        take(&find, &s, par->rank == par->size / 2, argv[at], argv[at + 1]);
    snprintf(name, sizeof(name), "%s.%d.%d", argv[2], group, par->rank);
    s.list = fopen(name, "w");
    if (!s.list)
        find.each = NULL;
    failed = run_one(par, &find);
    if (s.list)
        fclose(s.list);
    *status = failed ? failed : *status;
    return argv[at] ? at + 1 : at;
}

int main(int argc, char **argv)
{
    struct weir_par par = { .rank = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    int status = 0, group = 0;

    MPI_Init(&argc, &argv);
    if (argc < 3 || weir_par_init(&par, MPI_COMM_WORLD, &err) < 0)
        MPI_Abort(MPI_COMM_WORLD, 70);
    for (int at = 3, next; group == 0 || argv[at]; at = next)
        next = find_group(&par, argv, at, group++, &status);
    weir_par_free(&par);
    MPI_Finalize();
    return status;
}
