/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - where a path leads: through symbolic links, and to which mount */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* As realpath(path, NULL), with one call on the file system of the path, however deep it is. The
 * caller frees it. NULL: there is no such path (ENOENT, ENOTDIR, ENAMETOOLONG), or errno says why.
 * Local. */
char *weir_path_real(const char *path);

/* Open the nearest part of a path that exists, only to ask about it (O_PATH). The caller closes the
 * descriptor; *real is its path without links, which the caller frees. Local. -1 and NULL: there is
 * none; *failed is set when memory ran out. */
int weir_path_open(const char *path, char **real, bool *failed);

/* A line of the table of mounts: what is mounted ("/dev/vda1") where, the type of the file system
 * ("ext4", "lustre"), and its options. Zero-initialise, release with weir_mount_free. */
struct weir_mount {
    struct weir_str source, point, type, options;
    bool failed; /* memory ran out: a text may be missing */
};

/* The mount of a path (that need not exist), from a table in the form of mounts (fstab(5)):
 * WEIR_MOUNTS, or that of a test. Empty: not known. Local. */
#define WEIR_MOUNTS "/proc/self/mounts"
void weir_mount_find(const char *table, const char *path, struct weir_mount *m);
void weir_mount_free(struct weir_mount *m);

/* True when the options of a mount have one with this name. Its value, cut to size bytes, in
 * 'value', which may be NULL; "" where it has none. */
bool weir_mount_option(const char *options, const char *name, char *value, size_t size);

/* Bytes that are free for us on the mount of a path (that need not exist). False: not known;
 * *failed is set when memory ran out. Local. */
bool weir_mount_space(const char *path, uint64_t *bytes, bool *failed);

/* As weir_mount_find, for a path without links. No call on the file system. */
void weir_mount_of(const char *table, const char *real, struct weir_mount *m);

/* The kind of a file in words, by its mode: "a device". Local. */
const char *weir_kind_of_file(mode_t mode);

/* Replace *out by the path that a symbolic link leads to, through further links, whether something
 * is there or not; any other path is taken as it is. Links in the directories of a path stay. Local.
 * -1 and err (WEIR_EUSAGE: the links form a loop, a name is too long; WEIR_EIO; WEIR_ESETUP: no
 * memory). */
int weir_link_follow(const char *path, struct weir_str *out, struct weir_err *err);

/* Returns whether no file can have the path: a part is longer than NAME_MAX bytes, or the whole is
 * not shorter than PATH_MAX. Looks at the text alone. Local. */
bool weir_path_is_too_long(const char *path);

/* Refuse a path with a part that is a symbolic link to what does not exist, or in a loop. Refuse a
 * path that goes through a file or a device, or is too long. A path that exists is fine, and so is
 * one of which another part is missing. Local. Returns 0, or -1 and err (WEIR_EUSAGE), which names the
 * part. */
int weir_path_leads(const char *path, struct weir_err *err);

/* Refuse (WEIR_EUSAGE) a directory for names that have 'below' bytes more than it has, with their
 * slashes, where the system allows no path that long. Local. Returns 0, or -1 and err. */
int weir_path_holds(const char *dir, size_t below, struct weir_err *err);
