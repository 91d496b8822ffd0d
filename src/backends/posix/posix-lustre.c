/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-lustre.c - the layout of a file on Lustre; a stub where its library is not there */
#include "config.h"
#include "backends/posix/posix-layout.h"

#ifdef HAVE_LUSTREAPI

#include <errno.h>
#include <fcntl.h>
#include <lustre/lustreapi.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define POOL_TEXT 64

bool posix_has_lustre(void)
{
    return true;
}

/* The library opens without making objects and then sets the layout: of ranks that do this at once
 * one succeeds, and the others hear that the layout is there. */
int posix_lustre_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    char pool[POOL_TEXT];
    int fd;

    if (snprintf(pool, sizeof(pool), "%s", l->pool ? l->pool : "") >= (int)sizeof(pool))
        return weir_refuse(err, WEIR_EUSAGE, "--posix.lustre.pool=%s: no pool has so long a name",
                           l->pool);
    fd = llapi_file_open_pool(path, O_CREAT | O_WRONLY, 0664, (unsigned long long)l->stripe_size,
                              l->start_ost, l->stripe_count, 0, l->pool ? pool : NULL);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    errno = -fd;
    return errno == EEXIST ? 0 : weir_fail(err, WEIR_EIO, "create '%s' with a Lustre layout", path);
}

int posix_lustre_ignore_locks(int fd, const char *path, struct weir_err *err)
{
    int flags = LL_FILE_IGNORE_LOCK;

    if (ioctl(fd, LL_IOC_SETFLAGS, &flags) < 0)
        return weir_fail(err, WEIR_EIO, "make Lustre ignore locks of '%s'", path);
    return 0;
}

#else

bool posix_has_lustre(void)
{
    return false;
}

int posix_lustre_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    (void)l;
    return weir_refuse(err, WEIR_EBUG, "'%s': no Lustre in this build", path);
}

int posix_lustre_ignore_locks(int fd, const char *path, struct weir_err *err)
{
    (void)fd;
    return weir_refuse(err, WEIR_EBUG, "'%s': no Lustre in this build", path);
}

#endif
