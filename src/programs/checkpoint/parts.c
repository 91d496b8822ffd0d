/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c - raw_bw.x, gatherv.x and combo.x: the parts of a checkpoint alone */
#include "programs/checkpoint/ckpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "engine/about/banner.h"
#include "engine/check/inputs.h"
#include "engine/observer.h"
#include "engine/test.h"
#include "par/agree.h"

#define O struct parts_options
#define SCRATCH "scratch."

static const char *const types[] = { "binary", "netcdf", NULL };

#define SIZES                                                                                      \
    OPT_INT(0, "nx", NULL, O, nx, "0", "N", "Cells along the edge of a face", .min = 0,            \
            .max = 100000000, OPT_FIRST(DATA)),                                                    \
        OPT_INT(0, "n_levs", NULL, O, levels, "0", "N", "Levels", .min = 0, .max = 100000000,      \
                OPT_FIRST(DATA)),                                                                  \
        OPT_INT(0, "n_writers", NULL, O, writers, "0", "N", "Groups, with a writer each",          \
                .min = 0, .max = 100000000, OPT_FIRST(ORDER)),                                     \
        OPT_RUN(repetitions, 'i', "n_tries", NULL)
#define API                                                                                        \
    OPT_STR('a', "api", NULL, O, api, NULL, "NAME",                                                \
            "Backend with arrays (default: POSIX, or NETCDF for netcdf)", OPT_FIRST(FILES),        \
            .flags = WEIR_OPT_NEUTRAL)

static const struct weir_opt raw_opts[] = { OPT_STR(0, "file_type", NULL, O, type, "binary", "TYPE",
                                                    "Form of the file", .choices = types,
                                                    OPT_FIRST(FILES)),
                                            API, SIZES, OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU, OPT_RUN_NO_RATE, OPT_END };
#define KEEP                                                                                       \
    OPT_FLAG(0, "keep_buffers", NULL, O, keep_buffers,                                             \
             "Same buffer in each try (in the originals a new one)",                               \
             OPT_IN(DATA))

static const struct weir_opt gatherv_opts[] = { SIZES, KEEP, OPT_RUN_MAKES_NO_FILES,
                                                OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU, OPT_RUN_NO_RATE,
                                               OPT_END };
static const struct weir_opt combo_opts[] = { API, SIZES, KEEP, OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU, OPT_RUN_NO_RATE, OPT_END };

static const struct weir_operation operations[] = { { "gather", "gather", "tries", false },
                                                    { "write", "write", "tries", true },
                                                    { .key = NULL } };

/* ---- plan ---- */

static void name_scratch(const void *opt, uint64_t writer, struct weir_str *out)
{
    weir_str_addf(out, SCRATCH "%05d", (int)writer);
}

static int add_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct parts_options *o = opt;
    const struct weir_file_names names = {
        .prefix = SCRATCH, .n = (uint64_t)o->writers, .name = name_scratch, .arg = o
    };

    return weir_files_add_names(files, "the data", &names, WEIR_FILE_WRITE, err);
}

static int check_sizes(struct parts *t, int ranks, struct weir_err *err)
{
    const struct parts_options *o = t->o;
    uint64_t cells = (uint64_t)o->nx * (uint64_t)o->nx * WEIR_CUBE_FACES;

    if (o->nx < 1 || o->levels < 1 || o->writers < 1)
        return weir_refuse(err, WEIR_EUSAGE, "--%s=N is needed, N at least 1",
                           o->nx < 1       ? "nx"
                           : o->levels < 1 ? "n_levs"
                                           : "n_writers");
    if (o->writers > ranks)
        return weir_refuse(err, WEIR_EUSAGE, "--n_writers=%d: there %s only %d rank%s", o->writers,
                           ranks == 1 ? "is" : "are", ranks, ranks == 1 ? "" : "s");
    if (__builtin_mul_overflow(cells, (uint64_t)o->levels, &t->total) ||
        t->total > INT64_MAX / sizeof(float))
        return weir_refuse(err, WEIR_EUSAGE, "--nx=%d, --n_levs=%d: that is more than 2^63 bytes",
                           o->nx, o->levels);
    t->packet = t->total / (uint64_t)o->writers;
    t->part = t->total / (uint64_t)ranks;
    if (t->part == 0)
        return weir_refuse(err, WEIR_EUSAGE, "--nx=%d, --n_levs=%d: less than a cell for each rank",
                           o->nx, o->levels);
    return 0;
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    const struct weir_program *p = run->test->program;
    struct parts *t = state;
    enum parts_kind kind = p == &parts_raw       ? PARTS_RAW
                           : p == &parts_gatherv ? PARTS_GATHERV
                                                 : PARTS_COMBO;
    const struct parts_options *o = chosen;
    const char *api = o->api                                                ? o->api
                      : kind == PARTS_RAW && strcmp(o->type, "netcdf") == 0 ? "NETCDF"
                                                                            : "POSIX";

    t->o = o;
    t->kind = kind;
    if (check_sizes(t, run->world.size, err) < 0 ||
        weir_values_backend(run->test->values, api, &run->world, &t->be, &t->be_opt, err) < 0)
        return -1;
    if (!t->be->array)
        return weir_refuse(err, WEIR_EUSAGE, "%s cannot store arrays", t->be->name);
    t->access = (struct weir_access) { .own_names = true,
                                       .file_per_task = true,
                                       .tasks = t->o->writers,
                                       .nodes = run->world.nodes };
    run->test->plan.path = SCRATCH;
    run->test->plan.writes = kind != PARTS_GATHERV;
    run->test->plan.bytes = t->total * sizeof(float);
    run->test->plan.inodes = (uint64_t)t->o->writers;
    return 0;
}

/* ---- groups and memory ---- */

static bool writes(const struct parts *t)
{
    return t->kind != PARTS_GATHERV && t->ranks.group.rank == 0;
}

static uint64_t received_bytes(const struct parts *t)
{
    return t->part * (uint64_t)t->ranks.group.size * sizeof(float);
}

static int take_data(struct parts *t, int rank, struct weir_err *err)
{
    bool receives = t->kind != PARTS_RAW && t->ranks.group.rank == 0, keeps = t->o->keep_buffers;

    if (ckpt_take(&t->mine, t->part, true, err) < 0)
        return -1;
    /* a buffer that is kept has been touched; one that only stands by takes no memory */
    if (receives && ckpt_take(&t->received, received_bytes(t) / sizeof(float), keeps, err) < 0)
        return -1;
    for (uint64_t i = 0; i < t->part; i++)
        t->mine[i] = (float)(weir_rng_at((uint64_t)rank, i) >> 40) / (float)(1 << 24);
    if (!writes(t))
        return 0;
    if (ckpt_take(&t->packet_data, t->packet, true, err) < 0)
        return -1;
    for (uint64_t i = 0; i < t->packet; i++)
        t->packet_data[i] = t->mine[i % t->part];
    return 0;
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct parts *t = state;
    int rc, color = (int)((int64_t)run->par.rank * t->o->writers / run->par.size);

    if (weir_test_leaders(run, &t->ranks, color, err) < 0)
        return -1;
    rc = weir_patches_begin(&t->patches, &t->ranks.group, t->part, 1, err);
    if (weir_agree(&run->par, rc, err) < 0 ||
        weir_agree(&run->par, take_data(t, run->par.rank, err), err) < 0)
        return -1;
    name_scratch(t->o, (uint64_t)t->ranks.peers.rank, &t->name);
    if (t->kind == PARTS_GATHERV)
        return 0;
    if (weir_test_session(run, &t->session, t->be, t->be_opt, &t->access,
                          weir_leaders_par(&t->ranks), err) < 0)
        return -1;
    if (writes(t))
        rc = weir_session_is_new(&t->session, weir_str_text(&t->name), &t->is_new, err);
    return weir_agree(&run->par, rc, err);
}

static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct parts *t = state;

    if (i > 0 || !writes(t))
        return false;
    weir_str_addf(path, "%s", weir_str_text(&t->name));
    return true;
}

static void end(void *state)
{
    struct parts *t = state;

    weir_patches_free(&t->patches);
    free(t->packet_data);
    free(t->received);
    free(t->mine);
    weir_str_free(&t->name);
}

/* ---- a try ---- */

static int write_packet(struct parts *t, struct weir_array_file *f, struct weir_err *err)
{
    static const char *const dims[] = { "dim1" };
    const struct weir_array_spec spec = { .type = { .elem = WEIR_ELEM_FLOAT32 },
                                          .shape = { .rank = 1, .len = { t->packet } },
                                          .dims = dims };
    struct weir_array *a;
    struct weir_slab all;

    weir_slab_all(&all, &spec.shape);
    return weir_array_open(f, "var1", true, &spec, &a, err) < 0 || weir_arrays_commit(f, err) < 0
               ? -1
               : weir_array_move(a, WEIR_DIR_WRITE, &all, NULL, t->packet_data, err);
}

/* Create, write, close, delete. */
static int write_file(struct weir_run *run, struct parts *t, struct weir_err *err)
{
    const char *name = weir_str_text(&t->name);
    struct weir_array_file *f;
    int rc;

    if (weir_arrays_open(&t->session, name,
                         WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f,
                         err) < 0) {
        if (t->is_new) /* libraries may leave one that they could not make */
            weir_session_remove(&t->session, name, NULL);
        return -1;
    }
    t->is_new = true;
    if (run->repetition == 0) /* the hints in effect, where they were asked for: once a test */
        weir_banner_array_facts(run, f);
    rc = write_packet(t, f, err);
    if (weir_arrays_close(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    if (weir_session_unlink(&t->session, name, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

/* The originals allocate the buffer in the measured time, so touching it is a part of what they
 * measure. Without memory for a new one the messages go into the one that stands by, because
 * other ranks wait. */
static int gather(struct parts *t, const struct weir_par *meet, struct weir_err *err)
{
    bool is_new = t->received && !t->o->keep_buffers;
    float *made = NULL;
    uint64_t begin;

    weir_barrier(meet); /* of the pattern */
    begin = weir_now_ns();
    if (is_new)
        made = malloc(received_bytes(t));
    weir_patches_gather(&t->patches, t->mine, made ? made : t->received);
    free(made);
    weir_barrier(meet); /* of the pattern */
    t->ns[0] = weir_now_ns() - begin;
    return is_new && !made ? weir_fail(err, WEIR_ESETUP, "memory for gathered data") : 0;
}

static uint64_t count(struct weir_run *run, void *state)
{
    return 1;
}

/* Every rank makes its one step, also when another one fails: barriers always meet. */
static int step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                struct weir_err *err)
{
    struct parts *t = state;
    uint64_t begin;
    int rc = 0;

    t->ns[0] = t->ns[1] = 0;
    if (t->kind != PARTS_RAW)
        rc = gather(t, t->kind == PARTS_COMBO ? &t->ranks.group : &t->ranks.peers, err);
    if (writes(t)) {
        weir_barrier(&t->ranks.peers); /* of the pattern */
        begin = weir_now_ns();
        rc = rc < 0 ? rc : write_file(run, t, err);
        weir_barrier(&t->ranks.peers); /* of the pattern */
        t->ns[1] = weir_now_ns() - begin;
        if (rc == 0)
            weir_records_add(&run->records, 1, begin, begin + t->ns[1], 0,
                             t->packet * sizeof(float));
        run->counters.bytes += rc == 0 ? t->packet * sizeof(float) : 0;
    }
    *clock_ns = weir_now_ns();
    return rc;
}

static int after(struct weir_run *run, void *state, const struct weir_stage *stage,
                 struct weir_phase_rec *rec, struct weir_err *err)
{
    struct parts *t = state;

    weir_stats_add(&t->gather, (double)t->ns[0] / WEIR_NS_PER_S);
    weir_stats_add(&t->write, (double)t->ns[1] / WEIR_NS_PER_S);
    weir_stats_add(&t->both, (double)(t->ns[0] + t->ns[1]) / WEIR_NS_PER_S);
    weir_observers_measured(run, &t->session, rec);
    return 0;
}

static const struct weir_phase phase = {
    .key = "try", .unit = "tries", .flags = WEIR_PHASE_BYTES, .count = count, .step = step
};
static const struct weir_stage stages[] = {
    { .key = "try", .flags = WEIR_STAGE_DELAY, .phase = &phase, .after = after }, { .key = NULL }
};
static const struct weir_stage raw_stages[] = { { .key = "try",
                                                  .flags = WEIR_STAGE_DELAY | WEIR_STAGE_WRITES,
                                                  .phase = &phase,
                                                  .after = after },
                                                { .key = NULL } };

/* Inputs of the checks. The file is removed inside the phase, so its pages cannot be examined. */
static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct parts *t = state;

    f->path = t->kind == PARTS_GATHERV ? NULL : ".";
    f->planned_bytes = (double)(t->total * sizeof(float));
    f->transfer = (double)(t->packet * sizeof(float));
    f->stores &= t->kind != PARTS_GATHERV;
    f->durable = f->direct == 1;
    f->shared = f->random = f->collective = 0;
    f->data_kind = WEIR_DATA_RANDOM;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--nx 180 --n_levs 91 --n_writers 2",
      "91 levels of six faces, two writers" },
    { WEIR_TOPIC_NONE, "--nx 180 --n_levs 91 --n_writers 4", "four writers" },
    { WEIR_TOPIC_NONE, "--nx 180 --n_levs 91 --n_writers 2 --n_tries 5", "five repetitions" },
    { WEIR_TOPIC_ORDER, "--nx 180 --n_levs 91 --n_writers 2",
      "two groups of tasks with a writer each" },
    { WEIR_TOPIC_DATA, "--nx 360 --n_levs 137 --n_writers 2",
      "six faces of 360 x 360 cells, 137 levels" },
    { .args = NULL }
};

static const struct weir_test_checks checks = { .inputs = inputs_of };

static const struct weir_test_files files = {
    .add = add_files,
    .target = target,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
};

#define COMMON                                                                                     \
    .opt_size = sizeof(struct parts_options), .state_size = sizeof(struct parts),                  \
    .examples = examples, .example_tasks = 6, .operations = operations, .whole = true,             \
    .plan = plan, .start = start, .end = end,                                                      \
    .checks = &checks, .conclude = parts_conclude, .output = &parts_output

const struct weir_program parts_raw = { .name = "raw_bw.x",
                                       .brief = "write files by a part of the ranks",
                                       .opts = raw_opts,
                                       .files = &files,
                                       .stages = raw_stages,
                                       COMMON };
const struct weir_program parts_gatherv = { .name = "gatherv.x",
                                           .brief = "gather fields to a part of the ranks",
                                           .opts = gatherv_opts,
                                           .stages = stages,
                                           COMMON };
const struct weir_program parts_combo = { .name = "combo.x",
                                         .brief = "gather fields to a part of the ranks and write",
                                         .opts = combo_opts,
                                         .files = &files,
                                         .stages = stages,
                                         COMMON };

WEIR_PROGRAM("combo.x", parts_combo);
WEIR_PROGRAM("gatherv.x", parts_gatherv);
WEIR_PROGRAM("raw_bw.x", parts_raw);
