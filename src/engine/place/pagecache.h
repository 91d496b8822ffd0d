/* SPDX-License-Identifier: BSD-3-Clause */
/* pagecache.h - the files of a test in the page cache: looked at, and dropped on request */
#ifndef WEIR_ENGINE_PLACE_PAGECACHE_H
#define WEIR_ENGINE_PLACE_PAGECACHE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/node/cache.h"

struct weir_run;
struct weir_stage;

/* Find out how much of this rank's bytes of a stage is in the page cache; each byte is looked at
 * once, on the node that uses it. *why: why it is not known (a constant), NULL: it is known, or there
 * are no such bytes. Local. */
void weir_pagecache_look(struct weir_run *run, const struct weir_stage *stage,
                         struct weir_cache_seen *seen, const char **why);

/* Drop the files of a read stage from the page cache of every node that wrote or will read them,
 * where --drop-cache was given, and check whether it worked: *evicted. That it did not is a warning.
 * Collective over run->par. -1 and the same err on all ranks where warnings are errors. */
int weir_pagecache_drop(struct weir_run *run, const struct weir_stage *reads, bool *evicted,
                        struct weir_err *err);

#endif
