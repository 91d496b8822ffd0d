/* SPDX-License-Identifier: BSD-3-Clause */
/* pagecache.h - the file of a stage in the page cache */
#pragma once

#include "base/node/cache.h"

struct weir_run;
struct weir_stage;

/* Find the devices under a path, run->underlying, and on rank 0 its mount (found): one rank of each
 * kernel looks and sends it to the others. Collective over run->par, to be followed by another call
 * that is. */
void weir_pagecache_place(struct weir_run *run, const char *path);

/* Find out how many of this rank's bytes of a stage are in the page cache. Each byte is looked
 * up once, on the node that uses it. Sets *why to the reason why that is not known (a
 * constant), or NULL when it is known, or there are no such bytes. Local. */
void weir_pagecache_sample(struct weir_run *run, const struct weir_stage *stage,
                           struct weir_cache_seen *seen, const char **why);

/* Do something with the path of the file that this rank touches in a stage, if there is one. Local. */
void weir_pagecache_do(struct weir_run *run, const struct weir_stage *stage,
                       void (*what)(const char *path, struct weir_underlying *b));
