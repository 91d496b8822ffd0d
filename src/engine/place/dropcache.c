/* SPDX-License-Identifier: BSD-3-Clause */
/* dropcache.c - --drop-cache: before a read stage, drop its files from the page cache of every
 * node that wrote or will read them, and check that it worked (test->evicted) */
#include "engine/observe/all.h"
#include "engine/place/pagecache.h"
#include "par/agree.h"

/* Dirty pages stay: all is written back before anything is dropped. A node holds pages of what its
 * tasks have written, and may hold some of what they will read. Two tasks that drop the same pages
 * at one time can keep each other from it: of a file that tasks share, one of a node does it
 * again. */
static int drop(struct weir_run *run, const struct weir_stage *reads, struct weir_err *err)
{
    struct weir_stage writes = *reads;
    int rc;

    writes.flags = WEIR_STAGE_WRITES;
    weir_pagecache_do(run, &writes, weir_cache_clean);
    if ((rc = weir_agree(&run->par, 0, err)) == 0)
        weir_pagecache_do(run, &writes, weir_cache_drop);
    if (rc == 0 && (rc = weir_agree(&run->par, 0, err)) == 0)
        weir_pagecache_do(run, reads, weir_cache_drop);
    if (rc == 0 && (rc = weir_agree(&run->par, 0, err)) == 0 && run->par.rank == run->par.leader)
        weir_pagecache_do(run, reads, weir_cache_drop);
    return rc == 0 ? weir_agree(&run->par, 0, err) : rc;
}

#define LEFT 0.05 /* of the bytes: more is a failure */

static int check_dropped(struct weir_run *run, const struct weir_stage *reads, struct weir_err *err)
{
    struct weir_cache_seen seen;
    const char *why;
    uint64_t v[3];

    weir_pagecache_sample(run, reads, &seen, &why);
    v[0] = (uint64_t)seen.looked;
    v[1] = (uint64_t)seen.resident;
    v[2] = why != NULL;
    weir_allsum_u64(&run->par, v, 3);
    run->test->evicted = v[2] == 0 && (double)v[1] <= LEFT * (double)v[0];
    if (run->repetition > 0 || (v[0] == 0 && v[2] == 0) ||
        (run->test->n_used > 0 && (run->test->used[0].be->flags & WEIR_BE_NO_DATA)))
        return 0;
    if (v[2] > 0)
        return weir_warn(&run->log, err,
                         "--drop-cache: the effect is not known, because %s on %llu tasks",
                         "the state of the page cache cannot be read", (unsigned long long)v[2]);
    if ((double)v[1] > LEFT * (double)v[0])
        return weir_warn(&run->log, err, "--drop-cache did not work: %.0f %% of the bytes to be "
                                         "read are still in the page cache (is this a file system "
                                         "in memory?)", 100 * (double)v[1] / (double)v[0]);
    return 0;
}

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    const struct weir_stage *s = rec->stage;

    if (run->test->plan.options->dry_run || !s || !(s->flags & WEIR_STAGE_READS))
        return 0;
    if (run->test->n_used > 0 && (run->test->used[0].be->flags & WEIR_BE_OBJECTS))
        return run->repetition > 0 ? 0 : weir_warn(&run->log, err,
                         "--drop-cache has no effect: objects are not in the page cache of the "
                         "nodes, and the caches of the service cannot be dropped");
    return drop(run, s, err) < 0 ? -1 : check_dropped(run, s, err);
}

static bool is_wanted(const struct weir_test *t)
{
    return t->plan.options->drop_cache;
}

const struct weir_observer weir_dropcache = { .name = "dropcache", .wanted = is_wanted, .before = before };
