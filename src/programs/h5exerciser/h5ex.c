/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex.c - the HDF5 exerciser: option rows, and the life of a test, which is one size of the
 * sweep */
#include "programs/h5exerciser/h5ex.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/check/inputs.h"
#include "engine/observer.h"
#include "engine/test.h"
#include "par/agree.h"

#define O struct h5ex_options
#define SIZES_MAX 10000

static const struct weir_opt rows[] = {
    OPT_INT(0, "numdims", NULL, O, dims, "0", "N", "Dimensions of the datasets, from 1 on",
            .min = 0, .max = WEIR_RANK_MAX, OPT_FIRST(DATA)),
    OPT_LIST(0, "minels", NULL, O, minels, NULL, "N",
             "Elements of a task per dimension, first size; one value serves all",
             .min = 1, OPT_FIRST(DATA)),
    OPT_INT(0, "nsizes", NULL, O, sizes, "1", "N", "Sizes, one after the other", .min = 1,
            .max = SIZES_MAX, OPT_FIRST(DATA)),
    OPT_LIST(0, "bufmult", NULL, O, bufmult, "2", "N",
             "Factor of each dimension from one size to the next", .min = 1, OPT_FIRST(DATA)),
    OPT_LIST(0, "dimranks", NULL, O, dimranks, "1", "N",
             "Tasks along each dimension; unless their product fits, all along the first",
             .min = 1, OPT_FIRST(ORDER)),
    OPT_LIST(0, "fileblocks", NULL, O, fileblocks, "0", "N",
             "Block in the file, elements per dimension (0: all of a task)", .min = 0,
             .max = INT64_MAX, OPT_IN(ORDER)),
    OPT_LIST(0, "filestrides", NULL, O, filestrides, "1", "N",
             "Distance of blocks in the file, elements, at least a block", .min = 1, OPT_IN(ORDER)),
    OPT_SIZE(0, "memblock", NULL, O, mem_block, "0", "N",
             "Block in memory, elements (0: all in one piece)", .min = 0, .max = INT64_MAX,
             OPT_IN(DATA)),
    OPT_SIZE(0, "memstride", NULL, O, mem_stride, "1", "N",
             "Distance of blocks in memory, elements, at least a block", .min = 1, OPT_IN(DATA)),
    OPT_SIZE(0, "rshift", NULL, O, shift, "0", "N",
             "Shift of tasks: each writes N ranks further, reads 2 N further",
             .min = 0, .max = INT32_MAX, OPT_IN(ORDER)),
    OPT_SIZE(0, "maxcheck", NULL, O, max_check, "-1", "BYTES",
             "Largest buffer of a task that is checked, bytes (-1: any)", .min = -1,
             .max = INT64_MAX, OPT_IN(DATA)),
    OPT_FLAG(0, "metacoll", NULL, O, collective_metadata,
             "Collective metadata, in every repetition", OPT_IN(ORDER)),
    OPT_FLAG(0, "derivedtype", NULL, O, derived, "Second dataset, of a compound type",
             OPT_IN(FILES)),
    OPT_FLAG(0, "addattr", NULL, O, attributes, "64 attributes of 1024 bytes on the group",
             OPT_IN(FILES)),
    OPT_FLAG(0, "indepio", NULL, O, independent, "Independent transfers, not collective ones",
             OPT_FIRST(ORDER)),
    OPT_FLAG(0, "usechunked", NULL, O, chunked,
             "Chunked datasets, a chunk for each block in the file", OPT_FIRST(FILES)),
    OPT_FLAG(0, "keepfile", NULL, O, keep, "File of the last repetition kept",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(FILES)),
    OPT_RUN(api, 'a', "api", NULL, .def = "HDF5", .help = "I/O backend of the datasets"),
    OPT_STR('o', "out", NULL, O, path, NULL, "FILE",
            "File (default: hdf5TestFile-<number> in the working directory)",
            .flags = WEIR_OPT_WRITES, OPT_FIRST(FILES)),
    OPT_RUN(repetitions, 'i', "iterations", NULL, .def = "10"),
    OPT_GONE(0, "depth", "each task has one transfer per dataset, so only one transfer can be in "
                         "flight; leave the option out (ior and mib have queues)"),
    OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU,
    OPT_RUN_NO_RATE,
    OPT_END
};
#undef O

static int count_sizes(const void *opt, const struct weir_par *world)
{
    return ((const struct h5ex_options *)opt)->sizes;
}

/* ---- the plan ---- */

/* Warns of blocks that cannot be written as asked for. */
static int warn_of_blocks(struct weir_run *run, const struct h5ex_test *t, struct weir_err *err)
{
    const struct h5ex_size *s = &t->size;

    for (int d = 0; d < t->grid.dims; d++)
        if (s->file.odd[d] &&
            weir_warn(&run->log, err,
                      "--fileblocks does not divide the %llu elements of dimension "
                      "%d, so they are written as one block; use a divisor",
                      (unsigned long long)s->file.len[d], d + 1) < 0)
            return -1;
    if (!s->mem_odd)
        return 0;
    return weir_warn(&run->log, err,
                     "--memblock does not divide the %llu elements of a task, so the buffer has no "
                     "gaps; use a divisor",
                     (unsigned long long)s->file.elements);
}

static int check_backend(const struct h5ex_options *o, const struct weir_backend *be,
                         struct weir_err *err)
{
    const char *what = !be->array ? "arrays"
                       : o->attributes && (!be->array->move_attr || !be->array->group)
                           ? "attributes of a group (--addattr)"
                       : o->collective_metadata && !(be->flags & WEIR_BE_COLLECTIVE_META)
                           ? "collective metadata (--metacoll)"
                           : NULL;

    return what ? weir_refuse(err, WEIR_EUSAGE,
                              "%s does not support %s; choose another backend (-a)", be->name, what)
                : 0;
}

static int check(struct weir_run *run, struct h5ex_test *t, struct weir_err *err)
{
    const struct h5ex_options *o = t->o;

    if (h5ex_grid_make(o, run->world.size, &t->grid, err) < 0 ||
        h5ex_size_make(o, &t->grid, run->test->variant, &t->size, err) < 0)
        return -1;
    if (run->log.warnings_are_errors && t->grid.asked != (uint64_t)run->world.size)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --dimranks: the product must be %d, the number of tasks",
                           run->world.size);
    return warn_of_blocks(run, t, err);
}

static int plan_test(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct h5ex_test *t = state;

    *t = (struct h5ex_test) { .o = chosen,
                              .series.width = H5EX_OPS + H5EX_COLS };
    t->access = (struct weir_access) { .own_names = !t->o->path,
                                       .collective = !t->o->independent,
                                       .collective_metadata = t->o->collective_metadata,
                                       .own_results = true };
    if (check(run, t, err) < 0 ||
        weir_plan_use(run, &t->session, t->o->run.api, &t->access, err) < 0)
        return -1;
    t->be = run->test->plan.use[0].be;
    run->test->plan.bytes = (uint64_t)run->world.size * t->size.file.elements *
                            (sizeof(double) + t->o->derived * sizeof(struct h5ex_record));
    run->test->plan.inodes = 1;
    if (check_backend(t->o, t->be, err) < 0)
        return -1;
    if (!t->be->array->group && run->test->variant == 0)
        weir_note(&run->log, "%s has no groups: the datasets are in no group, and the column Group "
                             "is 0", t->be->name);
    return 0;
}

/* All sizes use one file: rank 0 gives it its name. */
static int enter_run(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    const struct h5ex_options *o = ((const struct h5ex_test *)tests[0].state)->o;
    uint64_t number = weir_clock_day_ns(&run->world) & INT32_MAX;
    char name[40], *path;

    snprintf(name, sizeof(name), "hdf5TestFile-%llu", (unsigned long long)number); /* fits */
    path = weir_arena_strdup(&run->arena, o->path ? o->path : name, err);
    if (weir_agree(&run->world, path ? 0 : -1, err) < 0)
        return -1;
    for (int i = 0; i < n; i++) {
        ((struct h5ex_test *)tests[i].state)->path = path;
        tests[i].plan.path = path;
        tests[i].plan.writes = tests[i].plan.shared = true;
    }
    return 0;
}

/* ---- memory ---- */

static int begin_test(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;

    for (enum h5ex_which w = 0; w <= (enum h5ex_which)t->o->derived; w++) {
        struct h5ex_set *d = &t->set[w];

        h5ex_set_make(t->o, &t->grid, &t->size, w, run->par.rank, d);
        if (weir_mem_aligned(&d->put.buf, WEIR_PAGE, d->put.memory.len[0] * d->put.size, err) < 0)
            return -1;
        d->get.buf = d->put.buf;
    }
    if (t->o->derived)
        weir_str_addf(&t->set[H5EX_RECORDS].name, "%ssimulation parameters",
                      t->be->array->group ? "Data/derivedData/" : "");
    return t->set[H5EX_RECORDS].name.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a name")
                                            : 0;
}

static void end_test(void *state)
{
    struct h5ex_test *t = state;

    for (int i = 0; i < H5EX_SETS; i++) {
        free(t->set[i].put.buf);
        weir_str_free(&t->set[i].name);
    }
    free(t->series.v);
    t->series = (struct weir_series) { 0 };
}

/* Check that the backend can keep the arrays. A file that existed and cannot be opened stays. */
static int start_test(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;
    int rc = 0;

    for (int i = 0; i <= t->o->derived; i++) {
        if (weir_session_can_array(&t->session, &t->set[i].spec, err) < 0)
            return -1;
        if (weir_session_can_select(&t->session, &t->set[i].put.slab, t->set[i].memory, err) < 0)
            return weir_err_within(err, "leave --filestrides and --memstride out");
    }
    if (weir_par_asks(&run->par))
        rc = weir_session_is_new(&t->session, t->path, &t->removes, err);
    return weir_agree(&run->par, rc, err);
}

static int make_rates(struct weir_run *run, void *state, struct weir_err *err)
{
    return run->par.rank > 0 ? 0 : weir_series_reserve(&((struct h5ex_test *)state)->series, err);
}

/* ---- stages ---- */

static int after_phase(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct h5ex_test *t = state;

    weir_observers_measured(run, &t->session, rec);
    if (s->phase != &h5ex_read_phase || rec->interrupted)
        return 0;
    return h5ex_report_repetition(run, t, rec, err);
}

static int remove_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;
    bool mine = run->par.rank == 0 && t->removes && t->session.started;

    return mine ? weir_session_remove(&t->session, t->path, err) : 0;
}

static int remove_file(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_err *err)
{
    const struct h5ex_options *o = ((const struct h5ex_test *)state)->o;

    if (o->keep && run->test->variant == o->sizes - 1)
        return 0;
    return weir_local(run, remove_own, state, err);
}

static void clean(struct weir_run *run, void *state)
{
    weir_clean(run, remove_own, state);
}

/* ---- inputs of the checks ---- */

/* Each task reads the part of the task N further (--rshift). */
static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct h5ex_test *t = state;

    f->planned_bytes = (double)run->test->plan.bytes;
    f->transfer = (double)t->size.file.elements * (double)t->set[H5EX_DOUBLES].put.size;
    f->durable = f->direct == 1; /* H5Fflush does not reach the storage */
    f->shared = 1;
    f->random = 0;
    f->collective = !t->o->independent;
    f->own_node =
        weir_inputs_own_node(&run->par, (int)((run->par.rank + t->o->shift) % run->par.size));
    f->unread = 0;
    f->data_kind = WEIR_DATA_REPEATED;
}

static void set_timing(const void *state, const struct weir_stage *stage,
                       struct weir_timing *timing)
{
    timing->agrees = true;
}

#define STAGE(k, p, moves)                                                                         \
    {                                                                                              \
        .key = (k), .flags = WEIR_STAGE_DELAY | WEIR_STAGE_TOGETHER | (moves), .phase = (p),       \
        .timing = set_timing, .after = after_phase                                                 \
    }

static const struct weir_stage stages[] = {
    { .key = "create", .flags = WEIR_STAGE_FIRST, .before = h5ex_make_file },
    STAGE("write", &h5ex_write_phase, WEIR_STAGE_WRITES),
    STAGE("read", &h5ex_read_phase, WEIR_STAGE_READS),
    { .key = "remove", .flags = WEIR_STAGE_LAST, .before = remove_file },
    { .key = NULL }
};

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--numdims 2 --minels 64 64 --dimranks 2 2",
      "a dataset of two dimensions on 2 x 2 tasks" },
    { WEIR_TOPIC_NONE, "--numdims 3 --minels 32 --nsizes 4",
      "four sizes, each dimension twice the one before" },
    { WEIR_TOPIC_NONE, "--numdims 1 --minels 4096 --indepio", "independent transfers" },
    { WEIR_TOPIC_NONE, "--numdims 2 --minels 64 64 --usechunked", "chunks" },
    { WEIR_TOPIC_NONE, "-a NETCDF --numdims 2 --minels 64 64",
      "the same pattern through netCDF-4" },
    { WEIR_TOPIC_FILES, "--numdims 2 --minels 64 64 --out /scratch/f.h5 --keepfile",
      "where the file is, and that it stays" },
    { WEIR_TOPIC_ORDER, "--numdims 2 --minels 64 64 --dimranks 2 2 --rshift 1",
      "tasks write and read what belongs to others" },
    { WEIR_TOPIC_DATA, "--numdims 2 --minels 64 64 --fileblocks 8 --filestrides 16",
      "blocks of 8 elements, 16 apart" },
    { .args = NULL }
};

static const struct weir_test_files files = {
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
    .clean = clean,
};

static const struct weir_test_checks checks = { .inputs = inputs_of };

const struct weir_program h5ex_program = {
    .name = "h5exerciser",
    .examples = examples,
    .brief = "write and read n-dimensional HDF5 datasets, and time every call around them",
    .opts = rows,
    .opt_size = sizeof(struct h5ex_options),
    .state_size = sizeof(struct h5ex_test),
    .operations = h5ex_operations,
    .output = &h5ex_output,
    .whole = true,
    .variants = count_sizes,
    .plan = plan_test,
    .enter = enter_run,
    .begin = begin_test,
    .files = &files,
    .end = end_test,
    .start = start_test,
    .checks = &checks,
    .repetition = make_rates,
    .stages = stages,
    .conclude = h5ex_conclude,
};

WEIR_PROGRAM("h5exerciser", h5ex_program);
WEIR_PROGRAM("hdf5Exerciser", h5ex_program);
