/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-guard.c - may we write there, and is there room? */
#include "config.h"
#include "drivers/mib/mib.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/vfs.h>

#include "engine/usage.h"
#include "par/agree.h"
#include "par/reduce.h"

int mib_guard(struct mib_test *t, int nodes, struct weir_err *err)
{
    struct statfs s;

    if (statfs(t->o->test_dir, &s) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "Could not statfs \"%s\" (%d): %s", t->o->test_dir,
                           errno, strerror(errno));
    t->fs = weir_fs_type_of((unsigned long)s.f_type & 0xFFFFFFFF);
    if (t->o->force || t->fs.kind == WEIR_FS_PARALLEL ||
        (t->fs.kind == WEIR_FS_LOCAL && nodes == 1))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "Mib will not write to a file system of type \"%s\" (f_type = %#lx) unless "
                       "you use the \"-F\" (--force) option",
                       t->fs.name, t->fs.number);
}

/* What a file of this length lacks. */
static uint64_t growth(uint64_t bytes, uint64_t there)
{
    return bytes > there ? bytes - there : 0;
}

int mib_space_check(struct weir_run *run, void *state, struct weir_err *err)
{
    struct weir_plan *plan = &run->test->plan;
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->own);
    uint64_t there = 0, need[2];
    struct weir_fs_usage u = { 0 };
    bool is_there = false;
    int rc = 0;

    if (t->o->read_only)
        return 0;
    if (weir_session_exists(&t->session, path, &is_there, NULL) == 0 && is_there &&
        weir_session_size(&t->session, path, &there, NULL) < 0)
        there = 0;
    need[0] = growth(t->extent.transfer, there);
    need[1] = growth(t->extent.block, there);
    weir_allsum_u64(&run->par, need, 2);
    plan->bytes = need[1];
    if (run->par.rank == 0 && weir_session_usage(&t->session, path, &u, NULL) == 0 &&
        u.total_bytes > 1) {
        if (need[0] > u.avail_bytes && !t->o->run.no_space_check)
            rc = weir_refuse(err, WEIR_ESETUP,
                             "one call of each task needs %" PRIu64 " bytes in '%s', and %" PRIu64
                             " are free; --no-space-check goes on all the same",
                             need[0], t->o->test_dir, u.avail_bytes);
        else if (need[1] > u.avail_bytes)
            rc = weir_warn(&run->log, err,
                           "the call limit allows %" PRIu64 " bytes in '%s', and %" PRIu64
                           " are free; the time limit may come first",
                           need[1], t->o->test_dir, u.avail_bytes);
    }
    return weir_agree(&run->par, rc, err);
}
