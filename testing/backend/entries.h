/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h - how many files and threads this process has */
#pragma once

#include <dirent.h>
#include <time.h>

/* Names in a directory, with "." and ".."; 0 where it cannot be read. */
static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Threads more than there were: a thread that was joined is in the list of the kernel for a moment
 * more. Looks for 10 s at most. */
static int new_threads(int before)
{
    const struct timespec moment = { .tv_nsec = 1000000 };

    for (int i = 0; i < 10000 && entries("/proc/self/task") > before; i++)
        nanosleep(&moment, NULL);
    return entries("/proc/self/task") - before;
}
