/* SPDX-License-Identifier: BSD-3-Clause */
/* hold-sleep.c - for LD_PRELOAD: sleep number HOLD, of those of at least 50 ms as the waits before phases have them, lasts until
 * there is a file "go" in the working directory */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_nanosleep(clockid_t id, int flags, const struct timespec *want, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    static int n;

    if ((want->tv_sec > 0 || want->tv_nsec >= 50000000) && gettid() == getpid() && ++n == atoi(getenv("HOLD"))) {
        while (access("go", F_OK) < 0)
            poll(NULL, 0, 5);
        return 0;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
    return real(id, flags, want, left);
}
