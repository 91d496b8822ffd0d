/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c - limits of the control groups of this process */
#include "base/node/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/node/sysfile.h"
#include "base/size.h"
#include "base/text/path.h"

#define NO_LIMIT 0x1p62 /* version 1 has a large number for it */

/* The places and names of the files of a version. */
struct version {
    const char *list; /* in the table of groups: the controllers of a hierarchy */
    const char *type, *option, *file;
    const char *period; /* microseconds in which a quota holds, in a file of its own; NULL: none */
};

static const struct version versions[][2] = {
    [WEIR_CGROUP_MEMORY] = { { "memory", "cgroup", "memory", "memory.limit_in_bytes", NULL },
                             { "", "cgroup2", "", "memory.max", NULL } },
    [WEIR_CGROUP_PROCESSORS] = { { "cpu", "cgroup", "cpu", "cpu.cfs_quota_us",
                                   "cpu.cfs_period_us" },
                                 { "", "cgroup2", "", "cpu.max", NULL } },
};

/* True when a word is in a list with commas. "" is in the empty one only. */
static bool is_listed(const char *list, const char *word)
{
    return *word ? weir_mount_option(list, word, NULL, 0) : *list == '\0';
}

/* The group of a line "4:cpu,memory:/job", and its list of controllers; NULL: it is no such line. */
static char *split(char *line, char **list)
{
    char *colon = strchr(line, ':'), *group = colon ? strchr(colon + 1, ':') : NULL;

    if (!group)
        return NULL;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    *list = colon + 1;
    return group;
}

/* A line "36 25 0:32 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS": root and point of a mount
 * of this version. */
static bool is_mount_of(char *line, const struct version *v, const char **root, const char **point)
{
    char *end = strstr(line, " - "), *save = NULL, *word, *word5[5] = { NULL };
    const char *type, *options;

    if (!end)
        return false;
    *end = '\0';
    word = strtok_r(end + 3, " ", &save);
    type = word ? word : "";
    word = strtok_r(NULL, " ", &save); /* the source */
    word = word ? strtok_r(NULL, " ", &save) : NULL;
    options = word ? word : "";
    save = NULL;
    for (int i = 0; i < 5; i++)
        word5[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
    *root = word5[3];
    *point = word5[4];
    return *point && strcmp(type, v->type) == 0 && (!*v->option || is_listed(options, v->option));
}

/* The folder of the group, of which the first *top bytes are the mount; empty: there is none. A
 * container may see a part of the hierarchy only, which begins at the root of its mount. */
static void find_folder(const char *group, const char *mounts, const struct version *v,
                        struct weir_str *dir, size_t *top)
{
    FILE *f = fopen(mounts, "r");
    const char *root, *point;
    char *line = NULL;
    size_t capacity = 0;

    while (f && dir->len == 0 && getline(&line, &capacity, f) >= 0) {
        size_t len;

        line[strcspn(line, "\n")] = '\0';
        if (!is_mount_of(line, v, &root, &point))
            continue;
        len = strcmp(root, "/") == 0 ? 0 : strlen(root);
        weir_str_addf(dir, "%s", point);
        *top = dir->len;
        weir_str_addf(dir, "%s", strncmp(group, root, len) == 0 ? group + len : group);
    }
    if (f)
        fclose(f);
    free(line);
}

/* The numbers of the one line of a file, one or two. Those that are not there stay as they are; "max"
 * and -1 are no limit: INFINITY. */
static void read_numbers(const char *dir, const char *file, double *first, double *second)
{
    char text[64], *save = NULL, *word, *next;

    weir_sysfile_line("", text, sizeof(text), "%s/%s", dir, file);
    word = strtok_r(text, " ", &save);
    next = word ? strtok_r(NULL, " ", &save) : NULL;
    if (word)
        weir_real_scan(word, first);
    if (word && (strcmp(word, "max") == 0 || *first < 0))
        *first = INFINITY;
    if (next)
        weir_real_scan(next, second);
}

/* The limit of one group; INFINITY: none is meant; NaN: there is no file. */
static double read_limit(const char *dir, const struct version *v)
{
    double limit = NAN, period = NAN, none;

    read_numbers(dir, v->file, &limit, &period);
    if (v->period)
        read_numbers(dir, v->period, &period, &none);
    if (limit >= NO_LIMIT)
        return INFINITY;
    return isnan(period) ? limit : limit / period;
}

static double least_limit(const char *group, const char *mounts, const struct version *v)
{
    struct weir_str dir = { 0 };
    double least = NAN;
    size_t top = 0;

    find_folder(group, mounts, v, &dir, &top);
    while (dir.len > 0 && !dir.failed) {
        least = fmin(least, read_limit(dir.text, v)); /* leaves NaN out */
        if (dir.len <= top)
            break;
        while (dir.len > top && dir.text[dir.len - 1] != '/')
            dir.len--;
        dir.len -= dir.len > top;
        dir.text[dir.len] = '\0';
    }
    weir_str_free(&dir);
    return least;
}

double weir_cgroup_limit_in(enum weir_cgroup_resource what, const char *groups, const char *mounts)
{
    FILE *f = fopen(groups, "r");
    double least = NAN;
    char *line = NULL;
    size_t capacity = 0;

    while (f && getline(&line, &capacity, f) >= 0) {
        char *list, *group = split(line, &list);

        for (const struct version *v = versions[what]; group && v < versions[what] + 2; v++)
            if (is_listed(list, v->list))
                least = fmin(least, least_limit(group, mounts, v));
    }
    if (f)
        fclose(f);
    free(line);
    return least;
}

double weir_cgroup_limit(enum weir_cgroup_resource what)
{
    return weir_cgroup_limit_in(what, "/proc/self/cgroup", "/proc/self/mountinfo");
}
