/* SPDX-License-Identifier: BSD-3-Clause */
/* beegfs.h - stand-in for the part of BeeGFS's interface that weir uses. The real one is functions in
 * a header, too; see stand-ins.c. */
#ifndef STAND_IN_BEEGFS_H
#define STAND_IN_BEEGFS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static inline bool beegfs_createFile(int dir, const char *name, mode_t mode, unsigned targets,
                                     unsigned chunk)
{
    const char *fail = getenv("STAND_IN_FAIL");
    char line[256];
    int fd, log;

    log = open(getenv("STAND_IN_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    dprintf(log, "beegfs_createFile %s targets=%u chunk=%u\n", name, targets, chunk);
    close(log);
    snprintf(line, sizeof(line), "%s", fail ? fail : "");
    if (line[0] == 'b') {
        errno = ENOTTY;
        return false;
    }
    fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY, mode);
    return fd >= 0 && close(fd) == 0;
}

#endif
