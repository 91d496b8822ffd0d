/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - the row that gathers facts of each phase and judges each test */
#include "config.h"
#include <string.h>

#include "engine/check/trust.h"
#include "engine/observe/all.h"

static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    (void)state;
    return weir_trust_before(run, rec->stage, err);
}

static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    (void)state;
    (void)rec;
    weir_trust_start(run);
}

static void most(struct weir_run *run, void *state, const struct weir_phase_rec *rec, int64_t *max)
{
    (void)state;
    (void)rec;
    if (run->trust.stage)
        weir_trust_processors_after(run);
    max[0] = run->trust.processors.share;
}

static void add(struct weir_run *run, void *state, const struct weir_phase_rec *rec, uint64_t *sum)
{
    struct weir_trust_sums own;

    (void)state;
    weir_trust_own(run, rec, &own);
    memcpy(sum, &own, sizeof(own));
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    (void)state;
    (void)err;
    if (rec->failed || !rec->stage)
        return 0;
    memcpy(&run->trust.sums, rec->sum, sizeof(run->trust.sums));
    run->trust.processors.most = rec->max[0];
    weir_trust_after(run, rec->stage, rec);
    rec->cache_looked = run->trust.seen.looked;
    rec->cache_resident = run->trust.seen.resident;
    rec->cache_dirty = run->trust.seen.dirty;
    return 0;
}

const struct weir_observer weir_checks = {
    .name = "checks",
    .maxima = 1,
    .sums = sizeof(struct weir_trust_sums) / sizeof(uint64_t),
    .before = before,
    .start = start,
    .most = most,
    .add = add,
    .after = after,
};
