/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.h - how much of a file is in the page cache of this node */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/node/device.h"

/* Pieces of a file: 'count' of len bytes, each 'stride' bytes after the one before. A single piece
 * may be longer than the file; it then ends with the file. */
struct weir_cache_range {
    uint64_t first, len, stride, count;
};

/* A look at a file, in bytes. */
struct weir_cache_seen {
    double looked;   /* examined; less than asked where the range is sampled */
    double resident; /* in the page cache */
    double dirty; /* not on storage: dirty or in write-back; NaN where the kernel does not tell */
    double written; /* were ever written: the rest are holes, or reserved; NaN as above */
    double compressed;      /* are compressed on the device, as far as the file system tells */
    double size, allocated; /* of the file: bytes, and those of its blocks */
    const char *hides; /* more may be resident than was seen, because ...; a constant, NULL: no */
};

/* The layers below the files of one device (st_dev), the same for all processes of a kernel. Zero:
 * nothing is known. */
struct weir_underlying {
    uint64_t device;
    bool known;
    int kind; /* of file system: a row of cache.c */
    struct weir_devices devices;
};

/* Find the layers under the file system that holds path, which need not exist, and its mount.
 * Local. */
void weir_underlying_find(const char *path, struct weir_underlying *b, struct weir_mount *m);

/* Find the cached bytes of a file with cachestat(2). Where the kernel has none, or the file
 * system is stacked on others, whose pages cachestat does not see, mincore(2) is used. At most
 * 64 pieces are looked up, and large ones are sampled. Nothing is read. *b is replaced where it
 * is about another device. Local. False and *why (a constant) when it is not known. */
bool weir_cache_stat(const char *path, const struct weir_cache_range *range, struct weir_underlying *b,
                     struct weir_cache_seen *seen, const char **why);

/* Write the dirty pages of the file to storage (clean). Remove its clean pages from the page cache, and those of an image below its file
 * system; not those that a process has mapped (drop). No privilege is needed. Failures are not reported (a file that cannot be opened,
 * or a file system like tmpfs on which it has no effect). Use weir_cache_stat afterwards. Local. */
void weir_cache_clean(const char *path, struct weir_underlying *b);
void weir_cache_drop(const char *path, struct weir_underlying *b);
