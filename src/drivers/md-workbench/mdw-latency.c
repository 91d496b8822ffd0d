/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-latency.c - every operation of a phase in a file (-L) */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/agree.h"

#define CHUNK 4096 /* records on their way from another rank to rank 0 */

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

int mdw_latency_reserve(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    for (int op = 0; op < MDW_OPS; op++) {
        t->log[op].n = 0;
        if (t->o->latency && (run->par.rank == 0 || t->o->latency_all) &&
            kinds[t->m->phase].has[op] && weir_oplog_reserve(&t->log[op], most_records(t), err) < 0)
            return -1;
    }
    return 0;
}

/* The file of an operation in a phase. */
static void name_file(const struct mdw_options *o, double wait, int iteration, enum mdw_phase phase,
                      enum mdw_op op, struct weir_str *out)
{
    weir_str_addf(out, "%s-%.2f-%d-%s%s.csv", o->latency, wait, iteration,
                  kinds[phase].name ? kinds[phase].name : mdw_op_names[op],
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

    (void)tasks;
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

static void write_records(FILE *f, const struct weir_oprec *rec, size_t n, uint64_t origin)
{
    for (size_t i = 0; f && i < n; i++)
        fprintf(f, "%.7f,%.4e\n", (double)(rec[i].begin_ns - origin) / WEIR_NS_PER_S,
                (double)(rec[i].end_ns - rec[i].begin_ns) / WEIR_NS_PER_S);
}

/* The records of one rank reach rank 0, chunk by chunk. */
static void move_records(struct weir_run *run, FILE *f, const struct weir_oplog *log, int from,
                         uint64_t origin)
{
    struct weir_oprec piece[CHUNK];
    struct {
        uint64_t n, origin;
    } head = { log->n, origin };

    weir_bcast(&run->par, &head, sizeof(head), from);
    for (uint64_t at = 0; at < head.n; at += CHUNK) {
        size_t n = head.n - at < CHUNK ? (size_t)(head.n - at) : CHUNK;

        if (run->par.rank == from)
            memcpy(piece, log->rec + at, n * sizeof(*piece));
        weir_bcast(&run->par, piece, n * sizeof(*piece), from);
        write_records(f, piece, n, head.origin);
    }
}

static int write_file(struct weir_run *run, struct mdw_test *t, enum mdw_op op, uint64_t origin,
                      struct weir_err *err)
{
    FILE *f = run->par.rank == 0 ? open_file(t, op, err) : NULL;
    int rc = run->par.rank == 0 && !f ? -1 : 0;
    bool bad;

    if (f)
        write_records(f, t->log[op].rec, t->log[op].n, origin);
    for (int k = 1; t->o->latency_all && k < run->par.size; k++)
        move_records(run, f, &t->log[op], k, origin);
    bad = f && ferror(f) != 0;
    if (f && (fclose(f) != 0 || bad))
        rc = weir_fail(err, WEIR_ESETUP, "write latency file '%s-...-%s.csv'", t->o->latency,
                       mdw_op_names[op]);
    return rc;
}

int mdw_latency_write(struct weir_run *run, struct mdw_test *t, const struct weir_phase_rec *rec,
                      struct weir_err *err)
{
    int rc = 0;

    if (!t->o->latency)
        return 0;
    for (int op = 0; op < MDW_OPS; op++)
        if (kinds[t->m->phase].has[op] &&
            write_file(run, t, (enum mdw_op)op, rec->mark[WEIR_MARK_WORK], err) < 0)
            rc = -1;
    return weir_agree(&run->par, rc, err);
}
