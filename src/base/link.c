/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c - where a symbolic link leads */
#include "config.h"
#include "base/link.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as Linux has it */

/* A target without slash at its beginning is meant from the directory of the link. */
static void go_to(struct weir_str *path, const char *target)
{
    const char *slash = strrchr(weir_str_text(path), '/');
    size_t keep = slash && target[0] != '/' ? (size_t)(slash - path->text) + 1 : 0;
    struct weir_str next = { 0 };

    weir_str_add(&next, weir_str_text(path), keep);
    weir_str_addf(&next, "%s", target);
    weir_str_free(path);
    *path = next;
}

int weir_link_follow(const char *path, struct weir_str *out, struct weir_err *err)
{
    char target[PATH_MAX];

    weir_str_clear(out);
    weir_str_addf(out, "%s", path);
    for (int links = 0; !out->failed; links++) {
        ssize_t len = readlink(weir_str_text(out), target, sizeof(target) - 1);

        if (len < 0 && (errno == EINVAL || errno == ENOENT || errno == ENOTDIR))
            return 0;
        if ((len < 0 && errno == ELOOP) || links == MOST_LINKS)
            return weir_refuse(err, WEIR_EUSAGE, "'%s': the symbolic links form a loop", path);
        if (len < 0)
            return weir_fail(err, WEIR_EIO, "follow the symbolic link '%s'", weir_str_text(out));
        target[len] = '\0';
        go_to(out, target);
    }
    return weir_refuse(err, WEIR_ESETUP, "no memory for a file name");
}
