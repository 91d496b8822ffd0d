/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-status.c - the status file: how many items each task has after a stonewall, for a later
 * run */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include "engine/status.h"

int mdtest_status_read(struct weir_run *run, const struct mdtest_test *t, uint64_t *items,
                       struct weir_err *err)
{
    bool there;

    if (weir_status_read(run, t->o->status_file, "items", &there, items, err) < 0)
        return -1;
    return there ? 0
                 : weir_warn(&run->log, err,
                             "Could not read stonewall status file '%s': the planned number of "
                             "items is taken",
                             t->o->status_file);
}

int mdtest_status_write(struct weir_run *run, const struct mdtest_test *t, uint64_t items,
                        struct weir_err *err)
{
    return weir_status_write(run, t->o->status_file, items, err);
}
