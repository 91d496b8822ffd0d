/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-guard.c - may we write there, and is there room? */
#include "config.h"
#include "drivers/mib/mib.h"

#include <errno.h>
#include <string.h>
#include <sys/vfs.h>

#include "engine/usage.h"
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

int mib_space_check(struct weir_run *run, void *state, struct weir_err *err)
{
    struct weir_plan *plan = &run->test->plan;
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->own);
    uint64_t there = 0;
    bool is_there = false;

    if (t->o->read_only)
        return 0;
    if (weir_session_exists(&t->session, path, &is_there, NULL) == 0 && is_there &&
        weir_session_size(&t->session, path, &there, NULL) < 0)
        there = 0;
    plan->bytes = there < t->extent.block ? t->extent.block - there : 0;
    weir_allsum_u64(&run->par, &plan->bytes, 1);
    return weir_usage_check(run, &t->session, path, plan, err);
}
