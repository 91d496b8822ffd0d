/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-latency.c - every operation of a phase in a file (-L) */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/ranks.h"
#include "par/agree.h"

/* Which operations a phase has, and the name of their file; NULL: the operation's own. */
static const struct {
    bool has[MDW_OPS];
    const char *name;
} kinds[MDW_PHASES] = {
    [MDW_PRECREATE] = { .has = { [MDW_CREATE] = true }, .name = "precreate" },
    [MDW_BENCHMARK] = { .has = { true, true, true, true } },
    [MDW_CLEANUP] = { .has = { [MDW_DELETE] = true }, .name = "cleanup" },
};

static uint64_t most_records(const struct mdw_test *t)
{
    uint64_t n = 0;

    if (t->m->phase != MDW_CLEANUP)
        return (uint64_t)t->o->sets *
               (uint64_t)(t->m->phase == MDW_PRECREATE ? t->o->population : t->o->steps);
    for (int d = 0; d < t->o->sets; d++)
        n += mdw_set_of(t, (uint64_t)d)->high - mdw_set_of(t, (uint64_t)d)->low;
    return n;
}

uint64_t mdw_count_operations(struct weir_run *run, void *state)
{
    const struct mdw_test *t = state;
    uint64_t kinds_of_phase = 0;

    (void)run;
    for (int op = 0; op < MDW_OPS; op++)
        kinds_of_phase += kinds[t->m->phase].has[op];
    return most_records(t) * kinds_of_phase;
}

/* The file of an operation in a phase. */
static void name_file(const struct mdw_options *o, double wait, int iteration, enum mdw_phase phase,
                      enum mdw_op op, struct weir_str *out)
{
    weir_str_addf(out, "%s-%.2f-%d-%s%s.csv", o->latency, wait, iteration,
                  kinds[phase].name ? kinds[phase].name : mdw_operations[op].key,
                  o->latency_all ? "-all" : "");
}

#define FACTORS 9

/* Waiting factors of all files: none, that of -t, the seven of -T. */
static double factor_of(const struct mdw_options *o, uint64_t i)
{
    if (i < 2)
        return i == 0 ? 0 : strtod(o->wait, NULL);
    return ldexp(MDW_LEAST_WAIT, (int)i - 2);
}

static void name_any_file(const void *opt, uint64_t i, struct weir_str *out)
{
    const struct mdw_options *o = opt;
    uint64_t phase = i % MDW_PHASES, op = i / MDW_PHASES % MDW_OPS;
    uint64_t rest = i / (MDW_PHASES * MDW_OPS);

    name_file(o, factor_of(o, rest % FACTORS), (int)(rest / FACTORS), (enum mdw_phase)phase,
              (enum mdw_op)op, out);
}

int mdw_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct mdw_options *o = opt;
    const struct weir_file_names names = { .prefix = o->latency,
                                           .n = (uint64_t)o->run.repetitions * FACTORS *
                                                MDW_PHASES * MDW_OPS,
                                           .name = name_any_file,
                                           .arg = o };

    if (weir_ranks_files(opt, tasks, files, err) < 0)
        return -1;
    if (!o->latency || !*o->latency)
        return 0;
    return weir_files_add_names(files, "-L (latency)", &names, WEIR_FILE_WRITE, err);
}

static FILE *open_file(const struct mdw_test *t, enum mdw_op op, struct weir_err *err)
{
    struct weir_str path = { 0 };
    FILE *f = NULL;

    name_file(t->o, t->m->wait, (int)t->m->iteration, t->m->phase, op, &path);
    if (!path.failed)
        f = fopen(weir_str_text(&path), "w");
    if (!f)
        weir_fail(err, WEIR_ESETUP, "create latency file '%s'", weir_str_text(&path));
    else
        fputs("time,runtime\n", f);
    weir_str_free(&path);
    return f;
}

/* Sort the records into the files of their operations. */
static void write_records(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns)
{
    FILE *const *files = arg;

    for (size_t i = 0; i < n; i++)
        if (files[r[i].op])
            fprintf(files[r[i].op], "%.7f,%.4e\n",
                    (double)(r[i].begin_ns - origin_ns) / WEIR_NS_PER_S,
                    (double)(r[i].end_ns - r[i].begin_ns) / WEIR_NS_PER_S);
}

static int close_file(const struct mdw_test *t, enum mdw_op op, FILE *f, struct weir_err *err)
{
    bool bad = ferror(f) != 0;

    if (fclose(f) == 0 && !bad)
        return 0;
    return weir_fail(err, WEIR_ESETUP, "write latency file '%s-...-%s.csv'", t->o->latency,
                     mdw_operations[op].key);
}

int mdw_latency_write(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec,
                      struct weir_err *err)
{
    FILE *files[MDW_OPS] = { NULL };
    int rc = 0;

    if (!t->o->latency)
        return 0;
    for (int op = 0; op < MDW_OPS && run->par.rank == 0; op++)
        if (kinds[t->m->phase].has[op] && rc == 0 &&
            !(files[op] = open_file(t, (enum mdw_op)op, err)))
            rc = -1;
    weir_records_gather(run, rec, t->o->latency_all, write_records, files);
    for (int op = 0; op < MDW_OPS; op++)
        if (files[op] && close_file(t, (enum mdw_op)op, files[op], rc < 0 ? NULL : err) < 0)
            rc = -1;
    return weir_agree(&run->par, rc, err);
}
