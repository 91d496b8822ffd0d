/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - what launchers tell a process through its environment, before MPI is there to ask */
#include "base/node/launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/processes.h"

/* Slurm sets SLURM_PROCID and SLURM_NTASKS in a batch script, too, which is one process;
 * SLURM_STEP_NUM_TASKS is only there in what srun has started. */
static const struct {
    const char *rank, *size;
} launchers[] = {
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
    { "PMIX_RANK", NULL },
    { "PMI_RANK", "PMI_SIZE" },
    { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
    { "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
};
_Static_assert(sizeof(launchers) / sizeof(*launchers) == WEIR_LAUNCHERS, "see launcher.h");

/* A number of tasks or a rank; -1 where there is none. */
static int number_of(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;
    long n;

    if (!text || !*text)
        return -1;
    n = strtol(text, &end, 10);
    return *end || n < 0 || n > INT32_MAX ? -1 : (int)n;
}

void weir_launch_read(struct weir_launch *l)
{
    memset(l, 0, sizeof(*l));
    for (int i = 0; i < WEIR_LAUNCHERS; i++) {
        int rank = number_of(launchers[i].rank), size = number_of(launchers[i].size);

        if (rank >= 0 && !l->is_launched) {
            l->is_launched = true;
            l->rank = rank;
        }
        l->size[i] = rank >= 0 && size > 0 ? size : 0;
    }
}

int weir_launch_check(const struct weir_launch *l, int tasks, const char *mpi, struct weir_err *err)
{
    int larger = -1;

    for (int i = 0; i < WEIR_LAUNCHERS; i++) {
        if (l->size[i] == tasks)
            return 0;
        if (l->size[i] > tasks && larger < 0)
            larger = i;
    }
    if (larger < 0)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "the launcher started %d tasks (%s), but MPI has %d: each would be a "
                       "separate run on the same files. Use the launcher of this MPI library (%s; "
                       "for srun see srun --mpi=list), or unset %s for a single-task run",
                       l->size[larger], launchers[larger].size, tasks, mpi, launchers[larger].size);
}

/* ---- the launcher's terminal ---- */

#define LEVELS 8 /* of processes between a rank and its launcher */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_launcher(const struct weir_process *p)
{
    static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun", "prun",
                                         "orted",  "prted",   "hydra_",  "srun" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (begins(p->name, names[i]))
            return true;
    return false;
}

static bool is_one_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True when the process has an end of this pipe. */
static bool has_open(long pid, const struct stat *pipe)
{
    char path[64];
    struct dirent *e;
    struct stat st;
    bool found = false;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
    d = opendir(path);
    while (d && !found && (e = readdir(d)))
        found = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && is_one_file(&st, pipe);
    if (d)
        closedir(d);
    return found;
}

/* The launcher above this process, the one that the user has started; 0: there is none, or a pipe
 * from here leads elsewhere: "mpirun sh -c 'ior 2>&1 | tee log'". */
static long launcher_above(const struct stat *end)
{
    long found = 0, pid = getppid();
    struct weir_process p;

    for (int i = 0; i < LEVELS && pid > 1 && weir_process_find(pid, &p); i++) {
        if (is_launcher(&p) && !found && S_ISFIFO(end->st_mode) && !has_open(pid, end))
            return 0;
        if (is_launcher(&p))
            found = pid;
        else if (found)
            break;
        pid = p.parent;
    }
    return found;
}

/* srun starts tasks through daemons: it is above none of them, but may be on this host. 0: it is not, or
 * there are several. */
static long only_srun(void)
{
    DIR *d = getenv("SLURM_STEP_NUM_TASKS") ? opendir("/proc") : NULL;
    struct dirent *e;
    struct weir_process p, above;
    long found = 0;
    int n = 0;

    while (d && (e = readdir(d))) {
        struct stat st;

        if (strtol(e->d_name, NULL, 10) <= 0 || fstatat(dirfd(d), e->d_name, &st, 0) < 0 ||
            st.st_uid != getuid() || !weir_process_read(e->d_name, &p) || strcmp(p.name, "srun") != 0)
            continue;
        weir_process_find(p.parent, &above);
        if (!begins(above.name, "srun")) {
            found = strtol(e->d_name, NULL, 10);
            n++;
        }
    }
    if (d)
        closedir(d);
    return n == 1 ? found : 0;
}

int weir_launch_terminal(void)
{
    char path[64];
    struct stat st;
    long pid;
    int fd;

    if (fstat(STDERR_FILENO, &st) < 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
        return -1; /* not what a launcher gives */
    pid = launcher_above(&st);
    if (pid == 0)
        pid = only_srun();
    snprintf(path, sizeof(path), "/proc/%ld/fd/2", pid);
    if (pid == 0 || stat(path, &st) < 0 || !S_ISCHR(st.st_mode))
        return -1;
    fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && isatty(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- the launcher's output ---- */

/* The file of a descriptor of another process. */
static bool find_file(long pid, int fd, struct stat *st)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
    return stat(path, st) == 0;
}

bool weir_launch_merges(void)
{
    struct stat out, err;
    struct weir_process p;
    long pid;

    if (fstat(STDOUT_FILENO, &out) < 0 || fstat(STDERR_FILENO, &err) < 0 ||
        is_one_file(&out, &err) || S_ISREG(out.st_mode) || S_ISREG(err.st_mode))
        return false; /* the kernel keeps the order, or there are two files */
    pid = launcher_above(&err);
    if (pid == 0 || !weir_process_find(pid, &p) || begins(p.name, "orted") ||
        begins(p.name, "prted") || begins(p.name, "hydra_"))
        return true; /* unknown, or on another host */
    return !find_file(pid, STDOUT_FILENO, &out) || !find_file(pid, STDERR_FILENO, &err) ||
           is_one_file(&out, &err);
}

#define PASS_NS 20000000u      /* for a terminal */
#define PASS_MOST_NS 200000000u /* for a launcher that does not read */
#define NAP_NS 100000u

void weir_launch_pass(int fd)
{
    uint64_t until = weir_now_ns() + PASS_MOST_NS;
    struct stat st;
    int unread = 0, rc = -1;

    if (fstat(fd, &st) < 0)
        return;
    if (S_ISCHR(st.st_mode))
        weir_sleep_ns(PASS_NS);
    do {
        if (unread > 0)
            weir_sleep_ns(NAP_NS);
        if (S_ISFIFO(st.st_mode))
            rc = ioctl(fd, FIONREAD, &unread);
        else if (S_ISSOCK(st.st_mode))
            rc = ioctl(fd, SIOCOUTQ, &unread);
    } while (rc == 0 && unread > 0 && weir_now_ns() < until);
}
