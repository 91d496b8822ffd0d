/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.c - what a rank in SimGrid's SMPI takes from its machine, and the times of its run
 *
 * All ranks are in one process and in one thread of the system, one after the other. So time and sleep
 * are the simulator's, each simulated host is a kernel of its own with a clock of its own, and a rank
 * cannot have threads (weir runs without its watch and signal threads then). An operation of the storage
 * is a sleep of STORAGE_NS, which the option of DUMMY makes (bed.py). The linker puts these functions in
 * place of the C library's in our objects, and not in the simulator's.
 *
 * Memory is shared by all ranks: the times of the earliest and the latest are kept as they come, and
 * written by rank 0 to the file that WEIR_SIMULATED names. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STORAGE_NS 77000 /* bed.py */
#define BEGIN_S 1000     /* of the clocks */
#define DAY_S 1800000000
#define APART_S 1e-3 /* the clocks of two hosts, at most */
#define DRIFT 20e-6
#define PHASES 64

struct phase {
    char key[32];
    double begin_s; /* the earliest rank's */
    double first_s, last_s; /* earliest begin and latest end of an operation; first_s < 0: none */
    double result_s; /* rank 0 has the numbers of all */
};

static struct times {
    struct phase phase[PHASES];
    int phases;
    double ready_s; /* rank 0 is out of MPI_Init */
    double finalize_s, end_s; /* rank 0 enters MPI_Finalize; the last rank is through it */
} times;

static double now_s(void)
{
    return simgrid_get_clock();
}

/* From 0 to 1, the same for a name in every run. */
static double draw(const char *name, unsigned sum)
{
    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return (double)((sum ^ sum >> 15) & 0xffff) / 0xffff;
}

static const char *host(void)
{
    return sg_host_get_name(sg_host_self());
}

/* ---- time ---- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    double s = now_s();
    long long ns = (long long)((s + s * DRIFT * draw(host(), 3) + APART_S * draw(host(), 7)) * 1e9);

    t->tv_sec = (id == CLOCK_REALTIME ? DAY_S : BEGIN_S) + ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

static int is_operation(const struct timespec *t)
{
    return t->tv_sec == 0 && t->tv_nsec == STORAGE_NS;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    struct phase *p = times.phases > 0 ? &times.phase[times.phases - 1] : NULL;

    (void)id, (void)flags, (void)left;
    if (p && is_operation(t) && p->first_s < 0)
        p->first_s = now_s();
    sg_actor_sleep_for((double)t->tv_sec + (double)t->tv_nsec * 1e-9);
    if (p && is_operation(t))
        p->last_s = now_s();
    return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    return __wrap_clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
}

unsigned __wrap_sleep(unsigned seconds);
unsigned __wrap_sleep(unsigned seconds)
{
    sg_actor_sleep_for(seconds);
    return 0;
}

/* ---- machine ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    (void)thread, (void)attr, (void)fn, (void)arg;
    return EAGAIN;
}

pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
    return 1000000 + (pid_t)sg_actor_self_get_pid();
}

void __wrap_exit(int status);
void __wrap_exit(int status)
{
    fprintf(stderr, "simulated: a rank calls exit(%d)\n", status);
    MPI_Abort(MPI_COMM_WORLD, status);
    abort();
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/sys/kernel/random/boot_id") != 0)
        return __real_fopen(path, mode);
    return fmemopen((void *)(size_t)host(), strlen(host()), "r");
}

/* ---- the times of a run ---- */

int __real_MPI_Init(int *argc, char ***argv);
int __wrap_MPI_Init(int *argc, char ***argv);
int __wrap_MPI_Init(int *argc, char ***argv)
{
    int rc = __real_MPI_Init(argc, argv);

    times.ready_s = now_s();
    return rc;
}

/* The ranks of a phase begin it after a barrier, so all know the same number of phases. */
int __wrap_MPI_Pcontrol(const int level, ...);
int __wrap_MPI_Pcontrol(const int level, ...)
{
    va_list args;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_start(args, level);
    if (rank == 0 && level == 1 && times.phases < PHASES) {
        struct phase *p = &times.phase[times.phases++];
        p->begin_s = now_s();
        p->first_s = -1;
        snprintf(p->key, sizeof(p->key), "%s", va_arg(args, const char *));
    } else if (rank == 0 && level == -1 && times.phases > 0) {
        times.phase[times.phases - 1].result_s = now_s();
    }
    va_end(args);
    return MPI_SUCCESS;
}

static void write_times(const char *path, int ranks)
{
    FILE *f = path ? __real_fopen(path, "w") : NULL;

    if (!f)
        return;
    fprintf(f, "{\"ranks\": %d, \"ready_s\": %.9f, \"phases\": [", ranks, times.ready_s);
    for (int i = 0; i < times.phases; i++) {
        const struct phase *p = &times.phase[i];
        fprintf(f, "%s{\"key\": \"%s\", \"begin_s\": %.9f, \"first_s\": %.9f, \"last_s\": %.9f, \"result_s\": %.9f}",
                i > 0 ? ", " : "", p->key, p->begin_s, p->first_s, p->last_s, p->result_s);
    }
    fprintf(f, "], \"finalize_s\": %.9f, \"end_s\": %.9f}\n", times.finalize_s, times.end_s);
    if (fclose(f) != 0)
        perror(path);
}

int __real_MPI_Finalize(void);
int __wrap_MPI_Finalize(void);
int __wrap_MPI_Finalize(void)
{
    int rank, ranks, rc;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        times.finalize_s = now_s();
    rc = __real_MPI_Finalize();
    times.end_s = now_s(); /* the ranks come one after the other */
    if (rank == 0)
        write_times(getenv("WEIR_SIMULATED"), ranks);
    return rc;
}

/* The simulator looks for main in a shared object, and ours are hidden in it: weir's has this name. */
int weir_program_main(int argc, char **argv);
int main(int argc, char **argv)
{
    return weir_program_main(argc, argv);
}
