/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-status.c - the status file: how far a write phase with wear-out came, for a later run that
 * reads it back */
#include "config.h"
#include "drivers/ior/ior.h"

#include "engine/status.h"

int ior_status_read(struct weir_run *run, const struct ior_test *t, uint64_t *steps,
                    struct weir_err *err)
{
    bool there;

    *steps = UINT64_MAX;
    if (weir_status_read(run, t->o->status_file, "transfers", &there, steps, err) < 0)
        return -1;
    return there ? 0
                 : weir_warn(&run->log, err,
                             "Could not read back the stonewalling status from the file '%s'!",
                             t->o->status_file);
}

void ior_status_note(struct ior_test *t, uint64_t steps)
{
    if (!t->knows_status || !t->o->multi_file || steps < t->status_steps)
        t->status_steps = steps;
    t->knows_status = true;
}

int ior_status_write(struct weir_run *run, const struct ior_test *t, struct weir_err *err)
{
    if (!t->knows_status)
        return 0;
    return weir_status_write(run, t->o->status_file, t->status_steps, err);
}
