/* SPDX-License-Identifier: BSD-3-Clause */
/* pagecache.h - the files of a test in the page cache: looked at, and dropped on request */
#ifndef WEIR_ENGINE_PLACE_PAGECACHE_H
#define WEIR_ENGINE_PLACE_PAGECACHE_H

#include "base/node/cache.h"

struct weir_observer;
struct weir_run;
struct weir_stage;

/* Find out how much of this rank's bytes of a stage is in the page cache; each byte is looked at
 * once, on the node that uses it. *why: why it is not known (a constant), NULL: it is known, or there
 * are no such bytes. Local. */
void weir_pagecache_look(struct weir_run *run, const struct weir_stage *stage,
                         struct weir_cache_seen *seen, const char **why);

/* --drop-cache: drop the files of a read stage from the page cache of every node that wrote or will
 * read them, and check whether it worked (test->evicted). That it did not is a warning. */
extern const struct weir_observer weir_dropcache;

#endif
