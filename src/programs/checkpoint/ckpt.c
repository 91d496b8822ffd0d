/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt.c - checkpoint_simulator.x and restart_simulator.x: what follows from the options (layout,
 * backend, groups, memory), and what they are made of */
#include "engine/check/inputs.h"
#include "engine/test.h"
#include "programs/checkpoint/ckpt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "par/agree.h"

static const struct weir_operation write_operations[] = { { "gather", "gather", "fields", false },
                                                          { "put", "put", "fields", true },
                                                          { .key = NULL } };

static const struct weir_operation read_operations[] = { { "scatter", "scatter", "fields", false },
                                                         { "get", "get", "fields", true },
                                                         { .key = NULL } };

static int count_variants(const void *opt, const struct weir_par *world)
{
    int n = ((const struct ckpt_options *)opt)->sweep.n;

    return n > 0 ? n : 1;
}

/* ---- files ---- */

static const char *api_of(const void *opt)
{
    const struct ckpt_options *o = opt;

    return o->api ? o->api : o->binary || !o->netcdf ? "POSIX" : "NETCDF";
}

/* The file of all, or of writer i. */
static void name_file(const void *opt, uint64_t i, struct weir_str *out)
{
    const struct ckpt_options *o = opt;
    const char *api = api_of(o);

    weir_str_addf(out, "%s", o->path);
    if (o->split)
        weir_str_addf(out, "_%03" PRIu64, i);
    weir_str_addf(out, ".%s",
                  strcasecmp(api, "NETCDF") == 0  ? "nc4"
                  : strcasecmp(api, "HDF5") == 0  ? "h5"
                  : strcasecmp(api, "NCMPI") == 0 ? "nc"
                                                  : "bin");
}

static int add_files(const struct ckpt_options *o, int tasks, struct weir_files *files,
                     enum weir_file_use use, struct weir_err *err)
{
    uint64_t most = (uint64_t)o->writers;

    for (int i = 0; i < o->sweep.n; i++)
        most = (uint64_t)o->sweep.v[i] > most ? (uint64_t)o->sweep.v[i] : most;
    const struct weir_file_names names = {
        .prefix = o->path, .n = o->split ? most : 1, .name = name_file, .arg = o
    };

    if (!o->moves || o->suppressed)
        return 0;
    return weir_files_add_names(files, "option -o (path)", &names, use, err);
}

static int add_written(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    return add_files(opt, tasks, files, WEIR_FILE_WRITE, err);
}

static int add_read(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    return add_files(opt, tasks, files, WEIR_FILE_READ, err);
}

/* ---- checks ---- */

static int check_layout(struct ckpt *t, int ranks, struct weir_err *err)
{
    const struct ckpt_options *o = t->o;
    const char *who = t->reads ? "readers" : "writers";
    int64_t need = (int64_t)WEIR_CUBE_FACES * o->nx * o->ny;
    uint64_t bytes = sizeof(float);

    if (need != ranks)
        return weir_refuse(err, WEIR_EUSAGE,
                           "NX=%d, NY=%d: 6 * NX * NY = %lld ranks are needed, there %s %d", o->nx,
                           o->ny, (long long)need, ranks == 1 ? "is" : "are", ranks);
    if (o->nx > o->im || o->ny > o->im)
        return weir_refuse(err, WEIR_EUSAGE,
                           "NX=%d, NY=%d: a face has only IM_WORLD=%d cells in each direction",
                           o->nx, o->ny, o->im);
    if (t->number > WEIR_CUBE_FACES * o->ny)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "%d %s: there are only 6 * NY = %d rows of patches, one for each at least", t->number,
            who, WEIR_CUBE_FACES * o->ny);
    if (__builtin_mul_overflow(bytes, (uint64_t)o->im * (uint64_t)o->im * WEIR_CUBE_FACES,
                               &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)o->lm * (uint64_t)o->arrays, &bytes) ||
        bytes > INT64_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "IM_WORLD=%d, LM=%d, NUM_ARRAYS=%d: that is more than 2^63 bytes", o->im,
                           o->lm, o->arrays);
    t->bytes = bytes;
    return 0;
}

static int choose_backend(struct ckpt *t, struct weir_run *run, struct weir_err *err)
{
    const struct ckpt_options *o = t->o;
    const char *name = api_of(o);

    if (weir_values_backend(run->test->values, name, &run->world, &t->be, &t->be_opt, err) < 0) {
        if (strcasecmp(name, "NETCDF") == 0)
            weir_err_within(err, "this build has no netCDF (configure reports why); --write_binary "
                                 "and other backends (--api=NAME) do not need netCDF");
        return -1;
    }
    if (!t->be->array)
        return weir_refuse(err, WEIR_EUSAGE, "%s cannot store arrays", t->be->name);
    t->access = (struct weir_access) { .own_names = o->split,
                                       .file_per_task = o->split,
                                       .collective = o->collective && !o->split,
                                       .tasks = t->number,
                                       .nodes = run->world.nodes };
    return 0;
}

static void plan_place(const struct ckpt *t, struct weir_plan *plan)
{
    plan->writes = t->moves && !t->reads;
    plan->shared = !t->o->split && t->number > 1;
    plan->bytes = t->bytes;
    plan->inodes = t->o->split ? (uint64_t)t->number : 1;
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct ckpt *t = state;
    const struct ckpt_options *o = chosen;

    t->o = o;
    t->reads = run->test->program == &ckpt_restart;
    t->moves = o->moves && !o->suppressed;
    t->begin_ns = weir_now_ns();
    t->number = o->sweep.n > 0 ? (int)o->sweep.v[run->test->variant] : o->writers;
    run->test->plan.path = o->path;
    t->layout = (struct weir_cube) { .im = (uint64_t)o->im,
                                     .lm = (uint64_t)o->lm,
                                     .nx = o->nx,
                                     .ny = o->ny,
                                     .rows = WEIR_CUBE_FACES * o->ny,
                                     .groups = t->number };
    if (check_layout(t, run->world.size, err) < 0)
        return -1;
    plan_place(t, &run->test->plan);
    return choose_backend(t, run, err);
}

/* ---- memory ---- */

int ckpt_take(float **out, uint64_t elements, bool touched, struct weir_err *err)
{
    uint64_t bytes = elements * sizeof(float);
    void *p = NULL;
    int rc = 0;

    if (touched)
        rc = weir_mem_aligned(&p, CKPT_ALIGN, bytes, err);
    else if ((errno = posix_memalign(&p, CKPT_ALIGN, bytes)) != 0)
        rc = weir_fail(err, WEIR_ESETUP, "allocate %" PRIu64 " bytes", bytes);
    *out = p;
    return rc;
}

/* The buffers of a step, on a mover. */
static int take_buffers(struct ckpt *t, struct weir_err *err)
{
    uint64_t all = t->block.nx * t->block.ny * t->levels;
    bool in_order = t->o->nx == 1 && t->levels == 1; /* patches are rows of the block */
    bool keeps = t->o->keep_buffers;

    t->step_bytes = all * sizeof(float);
    if (ckpt_take(&t->kept[0], all, keeps, err) < 0)
        return -1;
    if (keeps && in_order)
        t->kept[1] = t->kept[0];
    else if (ckpt_take(&t->kept[1], all, keeps, err) < 0)
        return -1;
    t->gathered = t->kept[0];
    t->field = t->kept[1];
    return t->reads ? ckpt_take(&t->rows, 2 * t->block.nx, true, err) : 0;
}

static int take_memory(struct ckpt *t, struct weir_err *err)
{
    const struct ckpt_options *o = t->o;
    uint64_t plane = t->mine.nx * t->mine.ny;

    t->array = calloc((size_t)o->arrays, sizeof(*t->array));
    if (!t->array)
        return weir_fail(err, WEIR_ESETUP, "memory for %d variables", o->arrays);
    if (ckpt_take(&t->data, plane * t->layout.lm * (uint64_t)o->arrays, true, err) < 0 ||
        (t->reads && ckpt_take(&t->got, plane * t->levels, true, err) < 0))
        return -1;
    return t->ranks.is_leader ? take_buffers(t, err) : 0;
}

/* ---- the file ---- */

static void describe_array(struct ckpt *t)
{
    static const char *const dims[] = { "lev", "lat", "lon" };
    const struct ckpt_options *o = t->o;
    uint64_t lat = o->split ? t->block.ny : WEIR_CUBE_FACES * t->layout.im;
    uint64_t parts = o->split ? 1 : (uint64_t)t->number;
    struct weir_array_spec *s = &t->spec;

    *s = (struct weir_array_spec) { .type = { .elem = WEIR_ELEM_FLOAT32 }, .dims = dims };
    s->shape = (struct weir_shape) { .rank = 3, .len = { t->layout.lm, lat, t->layout.im } };
    if (!t->reads && o->chunk && !o->no_chunk)
        s->chunk =
            (struct weir_shape) { .rank = 3, .len = { t->levels, lat / parts, t->layout.im } };
}

/* The file that all movers share, which the first of them makes, or one of each. All ranks look at
 * one: their nodes may have pages of it. */
static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_str *path, struct weir_cache_range *range)
{
    const struct ckpt *t = state;
    bool makes = t->ranks.is_leader && (t->o->split || t->ranks.peers.rank == 0);

    if (!t->moves || !(stage || makes))
        return false;
    weir_str_addf(path, "%s", weir_str_text(&t->name));
    *range = (struct weir_cache_range) { 0, UINT64_MAX, 0, 1 };
    return true;
}

static int remove_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;

    if (!t->session.started || !t->removes || (!t->o->split && t->ranks.peers.rank > 0))
        return 0;
    return weir_session_remove(&t->session, weir_str_text(&t->name), err);
}

static void clean(struct weir_run *run, void *state)
{
    weir_clean(run, remove_own, state);
}

static int start_session(struct ckpt *t, struct weir_run *run, struct weir_err *err)
{
    bool asks;
    int rc = 0;

    if (weir_test_session(run, &t->session, t->be, t->be_opt, &t->access,
                          weir_leaders_par(&t->ranks), err) < 0)
        return -1;
    describe_array(t);
    name_file(t->o, (uint64_t)t->ranks.peers.rank, &t->name);
    if (t->ranks.is_leader && t->spec.chunk.rank > 0 &&
        weir_session_can_array(&t->session, &t->spec, NULL) < 0)
        t->spec.chunk.rank = 0; /* the format has none */
    if (t->ranks.is_leader)
        rc = weir_session_can_array(&t->session, &t->spec, err);
    asks = t->ranks.is_leader && (t->o->split || weir_par_asks(&t->ranks.peers));
    if (asks && rc == 0 && t->reads)
        rc = weir_session_admit(&t->session, weir_str_text(&t->name), WEIR_INTENT_READ, err);
    else if (asks && rc == 0)
        rc = weir_session_is_new(&t->session, weir_str_text(&t->name), &t->removes, err);
    /* else a file that was there and cannot be opened stays */
    return weir_agree(&run->par, rc, err);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ckpt *t = state;
    int rc, color = weir_cube_group_of(&t->layout, run->par.rank);

    if (weir_test_leaders(run, &t->ranks, color, err) < 0)
        return -1;
    weir_cube_patch(&t->layout, run->par.rank, &t->mine);
    weir_cube_group(&t->layout, color, &t->block);
    t->levels = t->o->whole ? t->layout.lm : 1;
    t->steps = t->layout.lm / t->levels;
    rc = weir_patches_begin(&t->patches, &t->ranks.group, t->mine.nx * t->mine.ny, t->levels, err);
    if (weir_agree(&run->par, rc, err) < 0 || weir_agree(&run->par, take_memory(t, err), err) < 0)
        return -1;
    ckpt_fill(t);
    return t->moves ? start_session(t, run, err) : 0;
}

static void end(void *state)
{
    struct ckpt *t = state;

    weir_patches_free(&t->patches);
    if (t->kept[1] != t->kept[0])
        free(t->kept[1]);
    free(t->kept[0]);
    free(t->rows);
    free(t->got);
    free(t->data);
    free(t->array);
    weir_str_free(&t->name);
}

static const char *config_of(const void *opt)
{
    return ((const struct ckpt_options *)opt)->config;
}

/* ---- the programs ---- */

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --split_file", "a file for each writer or reader" },
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --im_world 24 --lm 72",
      "a patch for each of six faces, 72 levels" },
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --sweep-writers=1,2,3",
      "which number of writers or readers is best" },
    { WEIR_TOPIC_NONE, "--config_file benchmark.rc", "options from a file" },
    { WEIR_TOPIC_FILES, "--nx 1 --ny 1 -o /scratch/ckpt --split_file",
      "where the files are, one for each writer" },
    { WEIR_TOPIC_ORDER, "--nx 1 --ny 1 --sweep-writers=1,2,3",
      "a test for each number of writers or readers" },
    { WEIR_TOPIC_DATA, "--nx 1 --ny 1 --im_world 180 --lm 91 --num_arrays 3",
      "three variables on 91 levels" },
    { .args = NULL }
};

/* Declares what the options say about the reliability of the results. */
static void declare_inputs(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct ckpt *t = state;
    const struct ckpt_options *o = t->o;

    f->path = t->moves ? o->path : NULL;
    f->planned_bytes = (double)t->bytes;
    f->transfer = (double)t->bytes / t->number / (double)(t->steps * (uint64_t)o->arrays);
    f->stores &= t->moves;
    f->durable = o->sync || f->direct == 1;
    f->shared = !o->split && t->number > 1;
    f->random = 0;
    f->collective = t->access.collective;
    f->unread = 0;
    f->data_kind = o->random && !o->constant ? WEIR_DATA_RANDOM : WEIR_DATA_REPEATED;
}

#define CLI .script = config_of, .read_script = ckpt_read_config, .api = api_of

static const struct weir_cli write_cli = { CLI, .script_here = CKPT_WRITE_SCRIPT };
static const struct weir_cli read_cli = { CLI, .script_here = CKPT_READ_SCRIPT };

static const struct weir_test_checks checks = { .inputs = declare_inputs, .range = range_of };

static const struct weir_test_files writes = {
    .add = add_written,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
    .clean = clean,
};
static const struct weir_test_files reads = { .add = add_read };

#define COMMON                                                                                     \
    .examples = examples, .example_tasks = 6,                                                      \
    .opt_size = sizeof(struct ckpt_options), .state_size = sizeof(struct ckpt), .whole = true,     \
    .plan = plan, .variants = count_variants, .start = start, .end = end, .checks = &checks,       \
    .conclude = ckpt_conclude, .output = &ckpt_output

const struct weir_program ckpt_checkpoint = {
    .name = "checkpoint_simulator.x",
    .brief = "gather fields of a climate model to few writers that write a checkpoint",
    .opts = ckpt_checkpoint_opts,
    .cli = &write_cli,
    .operations = write_operations,
    .files = &writes,
    .stages = ckpt_write_stages,
    COMMON,
};

const struct weir_program ckpt_restart = {
    .name = "restart_simulator.x",
    .brief = "read a checkpoint by few readers that scatter its fields, and verify it",
    .opts = ckpt_restart_opts,
    .cli = &read_cli,
    .operations = read_operations,
    .files = &reads,
    .stages = ckpt_read_stages,
    COMMON,
};

WEIR_PROGRAM("checkpoint_simulator.x", ckpt_checkpoint);
WEIR_PROGRAM("restart_simulator.x", ckpt_restart);
