/* SPDX-License-Identifier: BSD-3-Clause */
/* mount.h - on which mount a path lies */
#ifndef WEIR_BASE_MOUNT_H
#define WEIR_BASE_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Where a path (that need not exist) lies: the mount point and the type of its file system
 * ("ext4", "lustre"), from /proc/self/mounts. Empty where that cannot be told. Local. */
void weir_mount_find(const char *path, struct weir_str *point, struct weir_str *type);

/* Bytes that are free for us where a path (that need not exist) lies. False where that cannot be
 * told. Local. */
bool weir_mount_space(const char *path, uint64_t *bytes);

/* The same as weir_mount_find, with another table in the form of mounts (fstab(5)). */
void weir_mount_find_in(const char *table, const char *path, struct weir_str *point,
                        struct weir_str *type);

#endif
