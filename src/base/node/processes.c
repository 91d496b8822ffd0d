/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.c - what processes of this node have used of its processors, from /proc */
#include "base/node/processes.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/node/sysfile.h"

#define IS_KERNEL 0x00200000u /* PF_KTHREAD, in the flags of a process */

static double seconds(double ticks)
{
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

static void add(struct weir_processor_time *sum, const struct weir_processor_time *t)
{
    sum->user += t->user;
    sum->all += t->all;
}

/* A line "cpu7 user nice system idle iowait irq softirq steal ...". */
static bool read_processor(const char *line, unsigned *number, struct weir_processor_time *t)
{
    unsigned long long v[8];

    if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", number, &v[0], &v[1], &v[2],
               &v[3], &v[4], &v[5], &v[6], &v[7]) != 9)
        return false;
    t->user = seconds((double)(v[0] + v[1] + v[7]));
    t->all = t->user + seconds((double)v[2]);
    return true;
}

bool weir_processors_busy(const uint64_t *mask, int words, struct weir_processor_time *out)
{
    FILE *f = fopen("/proc/stat", "r");
    struct weir_processor_time t;
    char line[256];
    bool any = false;
    unsigned n;

    *out = (struct weir_processor_time) { 0, 0 };
    /* The lines of processors are short and come first; a later line is long. */
    while (f && fgets(line, sizeof(line), f) && strncmp(line, "cpu", 3) == 0) {
        if (!read_processor(line, &n, &t) || n / 64 >= (unsigned)words ||
            !(mask[n / 64] >> (n % 64) & 1))
            continue;
        add(out, &t);
        any = true;
    }
    if (f)
        fclose(f);
    return any;
}

/* From "PID (NAME) STATE PARENT ...": a name may have blanks and parentheses. */
bool weir_process_read(const char *pid, struct weir_process *p)
{
    unsigned long long user, system;
    long long waited_user, waited_system;
    char line[1024], *name, *end;
    unsigned flags;

    memset(p, 0, sizeof(*p));
    if (!weir_sysfile_line("", line, sizeof(line), "/proc/%s/stat", pid) ||
        !(name = strchr(line, '(')) || !(end = strrchr(name, ')')) ||
        sscanf(end + 1, " %c %ld %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %lld %lld",
               &p->state, &p->parent, &flags, &user, &system, &waited_user, &waited_system) != 7)
        return false;
    snprintf(p->name, sizeof(p->name), "%.*s", (int)(end - name - 1), name + 1);
    p->is_kernel = flags & IS_KERNEL;
    p->own.user = seconds((double)user);
    p->own.all = p->own.user + seconds((double)system);
    p->children.user = seconds((double)waited_user);
    p->children.all = p->children.user + seconds((double)waited_system);
    return true;
}

bool weir_process_find(long pid, struct weir_process *p)
{
    char name[32];

    snprintf(name, sizeof(name), "%ld", pid);
    return weir_process_read(name, p);
}

bool weir_processes_had(const uint64_t *pid, int n, struct weir_processor_time *out)
{
    struct weir_process p;

    *out = (struct weir_processor_time) { 0, 0 };
    for (int i = 0; i < n; i++) {
        if (!weir_process_find((long)pid[i], &p))
            return false;
        add(out, &p.own);
        add(out, &p.children);
    }
    for (long above = getppid(); above > 1 && weir_process_find(above, &p); above = p.parent)
        add(out, &p.own);
    return true;
}

double weir_process_kernel(void)
{
    DIR *d = opendir("/proc");
    double sum = NAN;
    struct dirent *e;
    struct weir_process p;

    while (d && (e = readdir(d)))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && weir_process_read(e->d_name, &p) &&
            p.is_kernel)
            sum = (isnan(sum) ? 0 : sum) + p.own.all;
    if (d)
        closedir(d);
    return sum;
}

uint64_t weir_process_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}
