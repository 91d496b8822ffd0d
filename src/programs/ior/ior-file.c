/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-file.c - the test file: may it be used, and its size after a phase */
#include "config.h"
#include "programs/ior/ior.h"

#include <inttypes.h>

#include "par/agree.h"

int ior_file_check(struct ior_test *t, bool write, struct weir_err *err)
{
    enum weir_intent intent = !write                           ? WEIR_INTENT_READ
                        : t->o->use_existing && t->o->keep ? WEIR_INTENT_WRITE
                                                           : WEIR_INTENT_REPLACE;

    return weir_session_admit(&t->session, t->use.path.text, intent, err);
}

/* ---- size after a phase ---- */

/* Bytes in the file(s) now: shared, what rank 0 sees; private, the sum. */
static int total_size(struct weir_run *run, struct ior_test *t, uint64_t *bytes,
                      struct weir_err *err)
{
    int rc = 0;

    *bytes = 0;
    if (t->o->file_per_task || run->par.rank == 0)
        rc = weir_session_size(&t->session, t->use.path.text, bytes, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_allsum_u64(&run->par, bytes, 1);
    return 0;
}

/* Is a file of this size what the test leaves? */
static bool is_sound_size(const struct ior_test *t, uint64_t expected, uint64_t actual)
{
    if (actual > expected)
        return t->o->use_existing; /* -E: the rest of a longer old file */
    return actual == expected ||
           (t->o->write && t->o->random_offset > 1); /* -z -z: the last block need not be drawn */
}

static int warn_sizes(struct weir_run *run, struct ior_test *t, uint64_t expected, uint64_t actual,
                      uint64_t moved, struct weir_err *err)
{
    if (is_sound_size(t, expected, actual) && moved == expected)
        return 0;
    if (weir_warn(&run->log, err, "Expected aggregate file size       = %" PRIu64, expected) < 0 ||
        weir_warn(&run->log, err, "Stat() of aggregate file size      = %" PRIu64, actual) < 0 ||
        weir_warn(&run->log, err, "Using actual aggregate bytes moved = %" PRIu64, moved) < 0)
        return -1;
    return t->o->run.deadline_s > 0
               ? weir_warn(&run->log, err, "Maybe caused by deadlineForStonewalling")
               : 0;
}

int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err)
{
    uint64_t expected = (uint64_t)t->o->block * (uint64_t)t->o->segments * (uint64_t)run->par.size;
    bool library = (t->be->flags & WEIR_BE_COLLECTIVE_OPEN) != 0;
    uint64_t actual;

    if (t->o->run.dry_run || (t->session.flags & WEIR_BE_NO_DATA))
        return 0;
    if (total_size(run, t, &actual, err) < 0)
        return -1;
    if (t->pass.dir == WEIR_DIR_WRITE && library && !t->o->file_per_task && actual < rec->end_max)
        return weir_refuse(err, WEIR_EIO,
                           "'%s' is %" PRIu64
                           " bytes long after data were written up to byte %" PRIu64
                           ": data were lost, is the file system full?",
                           t->use.path.text, actual, rec->end_max);
    if ((t->be->flags & WEIR_BE_CONTAINER) || rec->interrupted)
        return 0;
    return warn_sizes(run, t, expected, actual, rec->bytes_sum, err);
}
