/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.h - how much of a file is in the page cache of this node */
#ifndef WEIR_BASE_CACHE_H
#define WEIR_BASE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Pieces of a file: 'count' of len bytes, each 'stride' bytes after the one before. One piece may be
 * longer than the file, and is then what there is. */
struct weir_cache_range {
    uint64_t first, len, stride, count;
};

/* What was seen, in bytes. */
struct weir_cache_seen {
    double looked;   /* at so many; less than asked where the range is sampled */
    double resident; /* in the page cache */
    double dirty; /* not on storage: dirty or in write-back; NaN where the kernel does not tell */
    double size, allocated; /* of the file: bytes, and those of its blocks */
};

/* Ask cachestat(2), and mincore(2) where the kernel has none. At most 64 pieces are looked at, and
 * large ones are sampled. Nothing is read. Local. False and *why (a constant) where it is not
 * known. */
bool weir_cache_look(const char *path, const struct weir_cache_range *range,
                     struct weir_cache_seen *seen, const char **why);

/* Write what is dirty of the file back to storage; then drop its pages, which only takes clean ones
 * that no process has mapped. No privilege is needed; what cannot be opened is left alone, and where it
 * does not work (tmpfs) only a check shows it. Local. */
void weir_cache_clean(const char *path);
void weir_cache_drop(const char *path);

#endif
