/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-trace.c - each operation of rank 0, with -v -v */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <inttypes.h>

static int outcome(const struct mdw_test *t, uint64_t i, enum mdw_op op)
{
    return t->outcome[i] & (1u << op) ? -1 : 0;
}

static void trace_precreate(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = sets; i < rec->steps; i++) {
        const char *last = mdw_name_dir(&t->to, 0, (int)sets - 1); /* stands in front of all */
        const char *path = mdw_name_object(&t->own, 0, (int)(i % sets), t->first + i / sets - 1);

        weir_report_line(&run->report, "0: write %s:%s (%d) pretend: 0", last, path,
                         outcome(t, i, MDW_CREATE));
    }
}

static void trace_benchmark(struct weir_run *run, struct mdw_test *t,
                            const struct weir_phase_rec *rec)
{
    struct weir_report *r = &run->report;
    uint64_t sets = (uint64_t)t->o->sets;

    for (uint64_t i = 0; i < rec->steps * sets; i++) {
        const struct mdw_set *s = mdw_set_of(t, i % sets);
        uint64_t object = t->pos + i / sets;
        int d = (int)(i % sets);
        const char *path = mdw_name_object(&t->from, s->from_rank, d, object);

        weir_report_line(r, "0: stat %s (%d)", path, outcome(t, i, MDW_STAT));
        if (outcome(t, i, MDW_STAT) < 0)
            continue;
        weir_report_line(r, "0: read %s pretend: %d", path, s->from_rank);
        if (t->o->read_only)
            continue;
        weir_report_line(r, "0: delete %s", path);
        weir_report_line(
            r, "0: write %s (%d) pretend: %d",
            mdw_name_object(&t->to, s->to_rank, d, object + (uint64_t)t->o->population),
            outcome(t, i, MDW_CREATE), s->to_rank);
    }
}

static void trace_cleanup(struct weir_run *run, struct mdw_test *t)
{
    for (uint64_t d = 0; d < (uint64_t)t->o->sets && d <= t->at_set; d++) {
        const struct mdw_set *s = mdw_set_of(t, d);
        uint64_t end = d == t->at_set ? t->at_object : s->high;

        for (uint64_t i = s->low; i < end; i++)
            weir_report_line(&run->report, "0: delete %s", mdw_name_object(&t->own, 0, (int)d, i));
        if (d < t->at_set)
            weir_report_line(&run->report, "0: delete dset %s", mdw_name_dir(&t->own, 0, (int)d));
    }
}

void mdw_trace(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec)
{
    if (run->log.verbose < 2 || run->par.rank > 0)
        return;
    if (t->m->phase == MDW_PRECREATE)
        trace_precreate(run, t, rec);
    else if (t->m->phase == MDW_BENCHMARK)
        trace_benchmark(run, t, rec);
    else
        trace_cleanup(run, t);
}
