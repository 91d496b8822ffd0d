/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c - many runs of the benchmarks in one process, each clean, with a failing rank or with a
 * signal; what came of each goes into a log
 *
 *   many LOG CASES FIRST SECONDS
 *
 * Each line of CASES is a case, fields separated by tabs: the fault and its number, the name of a
 * benchmark and its words. It is run in directory case-N, N from 0. What it prints goes to the files
 * case-N.out and case-N.err if they exist. LOG gets "begin N" before and "took N MILLISECONDS" and
 * "end N STATUS FILES THREADS ERROR" after: files and threads that any rank has more than before.
 * A case that takes longer than SECONDS ends the process after the line "hang N OWN ALL": its seconds without those in which it
 * waited for a processor, and all of them. Others that are busy make no hang: the limit is one of OWN; of ALL it is WALL times as
 * much. Cases before FIRST are left out. */
#include "weir.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "backend/entries.h"

#define WORDS 128
#define FAULTY 1 /* the rank with the fault, where the case names none */
#define MEMORY_SPARE (32u << 20)
#define MAPPED_BYTES (1 << 20) /* a block of so many is mapped and unmapped, and not kept for the next */
#define HANG_STATUS 98
#define WALL 15 /* pairwise.py has it, too */

static volatile sig_atomic_t log_fd = -1, number = -1; /* for the handler */

/* ---- calls of the benchmarks, which the linker leads here: --wrap ---- */

/* The one that fails; of allocations all after it, too, but with 'once'; 0: none. */
static long failing_allocation, allocations, failing_removal, removals;
static bool once;

static bool has_no_memory(void)
{
    long n = failing_allocation > 0 ? __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) : 0;
    bool none = n > 0 && (once ? n == failing_allocation : n >= failing_allocation);

    if (none)
        errno = ENOMEM;
    return none;
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return has_no_memory() ? NULL : __real_##name arguments;                                   \
    }

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    if (failing_removal == 0 || ++removals != failing_removal)
        return __real_unlink(path);
    errno = EIO;
    return -1;
}

/* ---- cases ---- */

/* Of what runs now; all for the handler, too. */
static volatile int wait_fd = -1; /* tells how long this process has waited for a processor; open, for a case may have no descriptor */
static volatile int64_t limit_s, begin_ns, waited_ns;

static int64_t now_ns(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The second number of schedstat; 0 where the kernel has none. */
static int64_t all_waited_ns(void)
{
    char text[100];
    ssize_t n = pread(wait_fd, text, sizeof(text), 0), i = 0;
    int64_t ns = 0;

    while (i < n && text[i] != ' ')
        i++;
    for (i++; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        ns = ns * 10 + text[i] - '0';
    return ns;
}

static void watch(long seconds)
{
    limit_s = seconds;
    begin_ns = now_ns();
    waited_ns = all_waited_ns();
    alarm((unsigned)seconds);
}

static void put(char *end, int64_t n)
{
    for (int i = 1; i <= 5; i++, n /= 10)
        end[-i] = (char)('0' + n % 10);
}

static void hang(int signal)
{
    char line[] = "hang 00000 00000 00000\n";
    int saved = errno;
    int64_t ns = now_ns() - begin_ns, own_ns = ns - (all_waited_ns() - waited_ns);
    int64_t own_s = own_ns > 0 ? own_ns / 1000000000 : 0, all_s = ns / 1000000000;
    int64_t rest_s = limit_s - own_s, rest_all_s = limit_s * WALL - all_s;

    (void)signal;
    rest_s = rest_s < rest_all_s ? rest_s : rest_all_s;
    errno = saved;
    if (rest_s > 0) {
        alarm((unsigned)rest_s);
        return;
    }
    put(line + 10, number);
    put(line + 16, own_s);
    put(line + 22, all_s);
    if (write(log_fd, line, sizeof(line) - 1) < 0)
        _exit(HANG_STATUS + 1);
    _exit(HANG_STATUS);
}

static unsigned long mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static int next_file(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

struct fault {
    int resource;
    struct rlimit before;
    timer_t timer;
    bool limits, timed, shim, variables;
};

/* Give rules to the preloaded testing/faults/shim.c, about the files of the working directory. */
static void set_rules(const char *text)
{
    char below[PATH_MAX];
    void (*rules)(const char *, const char *);

    *(void **)&rules = dlsym(RTLD_DEFAULT, "shim_rules");
    if (!rules || !getcwd(below, sizeof(below) - 1)) {
        fprintf(stderr, "many: no shim.c is preloaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return;
    }
    below[strlen(below) + 1] = '\0';
    below[strlen(below)] = '/';
    rules(below, text);
}

static void limit(struct fault *f, int resource, unsigned long bytes)
{
    struct rlimit now;

    f->resource = resource;
    f->limits = getrlimit(resource, &f->before) == 0;
    now = f->before;
    now.rlim_cur = bytes;
    if (!f->limits || setrlimit(resource, &now) < 0)
        perror("many: setrlimit");
}

static void start_timer(struct fault *f, long ms)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
    struct itimerspec when = { .it_value = { ms / 1000, ms % 1000 * 1000000 } };

    f->timed = timer_create(CLOCK_MONOTONIC, &event, &f->timer) == 0;
    if (!f->timed || timer_settime(f->timer, 0, &when, NULL) < 0)
        perror("many: timer");
}

/* Of NAME=VALUE pairs with ';' between them: set them, or take them away. */
static void set_variables(const char *pairs, bool present)
{
    char text[1024], *save = NULL;

    snprintf(text, sizeof(text), "%s", pairs);
    for (char *name = strtok_r(text, ";", &save); name; name = strtok_r(NULL, ";", &save)) {
        char *value = strchr(name, '=');

        if (!value)
            continue;
        *value++ = '\0';
        if ((present ? setenv(name, value, 1) : unsetenv(name)) < 0)
            perror("many: environment");
    }
}

/* clean, file-size BYTES, files 0, memory 0: a limit for one rank. signal MS: to one rank.
 * allocation N: the N-th and those after it fail; once N: the N-th alone; removal N: the N-th of a file. With @RANK after the
 * kind, that rank instead of FAULTY. shim RULES: of testing/faults/shim.c, on all ranks. environment
 * NAME=VALUE;NAME=VALUE...: on all ranks. */
static void begin_fault(struct fault *f, char *kind, const char *number_or_rules, int rank)
{
    char *at = strchr(kind, '@');
    long n = strtol(number_or_rules, NULL, 10);

    memset(f, 0, sizeof(*f));
    f->shim = strcmp(kind, "shim") == 0;
    if (f->shim)
        set_rules(number_or_rules);
    f->variables = strcmp(kind, "environment") == 0;
    if (f->variables)
        set_variables(number_or_rules, true);
    if (at)
        *at = '\0';
    if (rank != (at ? (int)strtol(at + 1, NULL, 10) : FAULTY))
        return;
    allocations = 0;
    once = strcmp(kind, "once") == 0;
    failing_allocation = once || strcmp(kind, "allocation") == 0 ? n : 0;
    removals = 0;
    failing_removal = strcmp(kind, "removal") == 0 ? n : 0;
    if (strcmp(kind, "file-size") == 0)
        limit(f, RLIMIT_FSIZE, (unsigned long)n);
    else if (strcmp(kind, "files") == 0)
        limit(f, RLIMIT_NOFILE, (unsigned long)next_file());
    else if (strcmp(kind, "memory") == 0)
        limit(f, RLIMIT_AS, mapped_bytes() + MEMORY_SPARE);
    else if (strcmp(kind, "signal") == 0)
        start_timer(f, n);
}

static void end_fault(const struct fault *f, const char *number_or_rules)
{
    const struct timespec now = { 0 };
    sigset_t set;

    failing_allocation = failing_removal = 0;
    if (f->shim)
        set_rules("");
    if (f->variables)
        set_variables(number_or_rules, false);
    if (f->limits)
        setrlimit(f->resource, &f->before);
    if (f->timed)
        timer_delete(f->timer);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigtimedwait(&set, NULL, &now);
}

/* ---- what a case prints ---- */

static int redirect(int fd, int n, const char *end)
{
    char name[32];
    int before = -1, to;

    snprintf(name, sizeof(name), "case-%d.%s", n, end);
    to = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (to >= 0) {
        before = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        dup2(to, fd);
        close(to);
    }
    return before;
}

static void put_back(int fd, int before)
{
    if (before < 0)
        return;
    dup2(before, fd);
    close(before);
}

/* ---- a case ---- */

/* Rank 0 writes the outcome of case n, with the highest counts of all ranks. Collective over
 * MPI_COMM_WORLD. */
static void write_end(int n, struct weir_outcome *out, int files, int threads, int rank)
{
    int found[4] = { out->status, -out->status, files, threads }, all[4];

    if (uselocale((locale_t)0) != LC_GLOBAL_LOCALE)
        found[0] = -1;
    MPI_Allreduce(found, all, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (char *c = out->error; *c; c++)
        if (*c == '\n')
            *c = ' ';
    if (all[0] != -all[1])
        all[0] = -1; /* not the same on all ranks, or our locale is another one */
    if (rank != 0)
        return;
    dprintf(log_fd, "took %d %d\n", n, (int)((now_ns() - begin_ns) / 1000000));
    dprintf(log_fd, "end %d %d %d %d %s\n", n, all[0], all[2], all[3], out->error);
}

/* One case: its words are in line. */
static void run(int n, char *line, int rank)
{
    char *words[WORDS] = { NULL }, *save = NULL, dir[32];
    int argc = 0, files, threads, printed[2];
    struct weir_outcome out = { .size = sizeof(out) };
    struct fault fault;

    for (char *w = strtok_r(line, "\t\n", &save); w && argc < WORDS - 1;
         w = strtok_r(NULL, "\t\n", &save))
        words[argc++] = w;
    snprintf(dir, sizeof(dir), "case-%d", n);
    printed[0] = redirect(1, n, "out");
    printed[1] = redirect(2, n, "err");
    if (argc < 3 || chdir(dir) < 0) {
        perror(dir);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0)
        dprintf(log_fd, "begin %d\n", n);
    files = entries("/proc/self/fd");
    threads = entries("/proc/self/task");
    begin_fault(&fault, words[0], words[1], rank);
    weir_measure(words[2], argc - 2, words + 2, NULL, NULL, NULL, &out);
    end_fault(&fault, words[1]);
    fflush(stdout);
    put_back(1, printed[0]);
    put_back(2, printed[1]);
    write_end(n, &out, entries("/proc/self/fd") - files, new_threads(threads), rank);
    if (chdir("..") < 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

/* SIGINT and SIGTERM wait until a run asks for them; hangs are ended by an alarm. */
static void set_signals(void)
{
    struct sigaction ring = { .sa_handler = hang, .sa_flags = SA_RESTART };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGALRM, &ring, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;
    FILE *cases;
    int rank;

    setlocale(LC_ALL, "");
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    wait_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    set_signals();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cases = argc == 5 ? fopen(argv[2], "re") : NULL;
    log_fd = cases ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (log_fd < 0) {
        fprintf(stderr, "usage: many LOG CASES FIRST SECONDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (number = 0; getline(&line, &room, cases) > 0; number++) {
        if (number < strtol(argv[3], NULL, 10))
            continue;
        watch(strtol(argv[4], NULL, 10));
        run(number, line, rank);
    }
    watch(60);
    free(line);
    fclose(cases);
    MPI_Finalize();
    return 0;
}
