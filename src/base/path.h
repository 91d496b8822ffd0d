/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - where a path leads: through symbolic links, and to which mount */
#ifndef WEIR_BASE_PATH_H
#define WEIR_BASE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Where a path (that need not exist) lies: the mount point and the type of its file system
 * ("ext4", "lustre"), from /proc/self/mounts. Empty where that is not known. Local. */
void weir_mount_find(const char *path, struct weir_str *point, struct weir_str *type);

/* Bytes that are free for us where a path (that need not exist) lies. False where that cannot be
 * told. Local. */
bool weir_mount_space(const char *path, uint64_t *bytes);

/* The same as weir_mount_find, with another table in the form of mounts (fstab(5)). */
void weir_mount_find_in(const char *table, const char *path, struct weir_str *point,
                        struct weir_str *type);

/* Replace *out by the path that a symbolic link leads to, through further links, whether something
 * is there or not; any other path is taken as it is. Links in the directories of a path stay. Local.
 * -1 and err (WEIR_EUSAGE: the links form a loop; WEIR_EIO; WEIR_ESETUP: no memory). */
int weir_link_follow(const char *path, struct weir_str *out, struct weir_err *err);

#endif
