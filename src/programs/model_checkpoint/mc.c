/* SPDX-License-Identifier: BSD-3-Clause */
/* mc.c - model_checkpoint: what follows from the options, the life of a test, and what the program is made of */
#include "programs/model_checkpoint/mc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/plugin.h"
#include "backends/registry.h"
#include "base/size.h"
#include "engine/check/inputs.h"
#include "engine/test.h"
#include "par/agree.h"
#include "par/textfile.h"

#define QUEUE 2 /* transfers in flight of an asynchronous save where no depth is given */

static const struct weir_operation operations[] = {
    [MC_WRITE] = { "write", "write", "transfers", true },
    [MC_READ] = { "read", "read", "transfers", true },
    [MC_COPY] = { "copy", "copy", "copies", true },
    [MC_PUBLISH] = { "publish", "publish", "checkpoints", false },
    [MC_REMOVE] = { "remove", "remove", "files", false },
    { .key = NULL },
};

static bool is_word(const char *value, const char *word)
{
    return strcasecmp(value, word) == 0;
}

static bool saves(const struct mc_options *o)
{
    return !is_word(o->save, "no");
}

static bool loads(const struct mc_options *o)
{
    return !is_word(o->load, "no");
}

/* ---- the plan ---- */

static int check_options(const struct mc_options *o, struct weir_err *err)
{
    const struct weir_conflict rules[] = {
        { !saves(o) && !loads(o), "--save=no and --load=no: nothing is left to do" },
        { o->transfer % o->align != 0, "the transfer size (-t) must be a multiple of --align" },
        { o->compute_s > 0 && !saves(o), "--compute is work between saves; --save=no has none" },
        { o->packet && !saves(o), "--dataPacketType is of what a run saves; leave --save=no out" },
        { o->remove && !saves(o), "--remove removes what this run saves; --save=no saves nothing" },
        { o->broadcast && is_word(o->layout, "arrays"),
            "--broadcast is for files with tables of contents; --layout=arrays has none" },
        { o->run.gpu_memory && (o->broadcast || is_word(o->layout, "arrays")),
          "--gpu-memory is for files that each rank reads itself: with --broadcast one rank reads "
          "and sends the data, and --layout=arrays uses host memory" },
        { o->play && o->list, "--list shows all ranks of the job; leave --play out" },
        { o->play && saves(o) && o->dp == 0,
          "--play needs --dp or --preset: the tasks are not all ranks of the job" },
        { o->play && !is_word(o->layout, "torch") &&
              !(is_word(o->layout, "deepspeed") && o->zero == 3),
          "--play: ranks of this --layout share files, and some of them are not here; use "
          "--layout=torch, or --layout=deepspeed with --zero=3" },
        { o->play && (o->broadcast || o->load_tp || o->load_pp || o->load_dp || o->load_ep),
          "--play: a rank loads the files that it has saved; leave --broadcast, --load-tp, "
          "--load-pp, --load-dp and --load-ep out" },
        { o->broadcast && !loads(o), "--broadcast says how to load; --load=no loads nothing" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* A row of the table, or what a file says; --scale makes it smaller. Collective over run->world. */
static int choose_model(struct weir_run *run, struct mc_test *t, const struct mc_options *o,
                        struct weir_err *err)
{
    const char *name = o->model ? o->model : MC_MODEL;
    struct weir_shared_text text = { .what = "model", .path = name };
    struct mc_model *m = &t->job.model;
    int rc = mc_model_row(name, m, NULL);

    if (rc < 0) {
        bool shared = weir_shared_text_read(&run->world, &text, err) == 0;

        if (shared && text.text)
            rc = mc_model_read(text.text, text.len, name, 0, &t->arena, m, err);
        else if (shared)
            rc = mc_model_row(name, m, err);
        rc = shared ? weir_agree_check(&run->world, rc, err) : -1;
        free(text.text);
    }
    return rc < 0 ? -1 : mc_model_scale(m, o->scale ? o->scale : "1", err);
}

/* The model and the ranks, and what is not given. Collective over run->world. */
static int make_job(struct weir_run *run, struct mc_test *t, struct mc_options *o, int ranks,
                    struct weir_err *err)
{
    const struct mc_shape shape = {
        .tp = o->tp, .pp = o->pp, .dp = o->dp, .ep = o->ep, .zero = o->zero, .spread = t->layout == MC_TORCH
    };
    struct mc_model m;

    if (choose_model(run, t, o, err) < 0)
        return -1;
    m = t->job.model;
    o->dtype = o->dtype ? o->dtype : mc_dtype_names[0];
    o->optimizer = o->optimizer ? o->optimizer : mc_optimizer_names[0];
    if (mc_job_init(&t->job, &m, &shape, o->dtype, o->optimizer, ranks, err) < 0)
        return -1;
    t->save.bytes = mc_job_bytes(&t->job);
    if (t->save.bytes >= INT64_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "a checkpoint of this model has more than 2^63 bytes");
    if (t->play.tasks == 0)
        return 0;
    t->save.bytes =
        mc_parts_bytes(&t->job, t->play.first + run->world.rank, MC_ALL_STATES, true, 1);
    weir_allsum_u64(&run->world, &t->save.bytes, 1);
    return t->save.bytes > 0 ? 0
                             : weir_refuse(err, WEIR_EUSAGE,
                                           "--play=%s: the job's other ranks write the states of these",
                                           o->play);
}

/* Return the ranks that --dp, --tp and --pp make, or else the tasks; -1 and err: too many. */
static int ranks_of(const struct mc_options *o, int tasks, struct weir_err *err)
{
    uint64_t ranks = weir_product((uint64_t)o->dp, (uint64_t)o->tp * (uint64_t)o->pp);

    if (o->dp == 0)
        return tasks;
    if (ranks <= INT32_MAX)
        return (int)ranks;
    return weir_refuse(err, WEIR_EUSAGE,
                       "--tp, --pp and --dp make %" PRIu64 " ranks: %s %d at most", ranks,
                       o->list ? "--list shows" : "a job has", INT32_MAX);
}

/* Bytes and files at the fullest: those that are kept, and the one that is written. */
static void plan_place(const struct mc_test *t, const struct mc_options *o, int ranks, struct weir_plan *plan)
{
    uint64_t most = (uint64_t)weir_run_options_most(&o->run), kept = o->keep > 0 && (uint64_t)o->keep < most
        ? (uint64_t)o->keep + 1 : most;
    uint64_t files = t->layout == MC_SHARED || t->layout == MC_ARRAYS ? 2 : (uint64_t)ranks * MC_REGIONS + 1;

    plan->path = o->path;
    plan->writes = saves(o);
    plan->shared = (t->layout == MC_SHARED || t->layout == MC_ARRAYS) && ranks > 1;
    plan->bytes = saves(o) ? weir_product(t->save.bytes, kept) : 0;
    plan->inodes = saves(o) ? weir_product(files, kept) : 0;
}

/* Choose the writer of an asynchronous save: the queue that --depth asks for, else a thread. It
 * is a queue, too, when the backend may be bound to the main thread, by MPI or by the kernel. */
static int choose_writer(struct mc_test *t, const struct weir_backend *be, struct weir_err *err)
{
    if (t->layout == MC_ARRAYS)
        return weir_refuse(err, WEIR_EUSAGE, "--save=async cannot write arrays; use --save=sync");
    if (!be->queue || t->access.depth > 1)
        return 0;
    if (t->access.depth == 1 && !be->depth_option)
        return weir_refuse(err, WEIR_EUSAGE, "--save=async uses the queue; leave --depth=1 out");
    t->access.depth = be->depth_option ? 1 : QUEUE;
    return 0;
}

static int check_backend(struct mc_test *t, const struct weir_backend *be, struct weir_err *err)
{
    if (t->layout == MC_ARRAYS && strcmp(be->name, "HDF5") != 0)
        return weir_refuse(err, WEIR_EUSAGE, "%s cannot store tensors as arrays; use -a HDF5", be->name);
    if (t->layout != MC_ARRAYS && (be->flags & WEIR_BE_CONTAINER))
        return weir_refuse(err, WEIR_EUSAGE,
                           "%s cannot store plain files; use POSIX, URING, MPIIO or --layout=arrays", be->name);
    if ((be->flags & WEIR_BE_NO_DATA) && !saves(t->o))
        return weir_refuse(err, WEIR_EUSAGE, "%s stores no data to load", be->name);
    return t->async && choose_writer(t, be, err) < 0 ? -1 : mc_place_store(t, be, err);
}

/* Fill in the settings that follow from the options alone. */
static struct mc_test test_of(const struct mc_options *o)
{
    enum mc_layout layout = (enum mc_layout)weir_opt_choice(mc_layout_names, o->layout);

    return (struct mc_test) {
        .o = o,
        .layout = layout,
        .async = is_word(o->save, "async"),
        .save.work_ns = (uint64_t)(o->compute_s * o->every * WEIR_NS_PER_S),
        .pub = { .lock = -1, .made_first = -1 },
        .access = { .own_names = true, .file_per_task = layout != MC_ARRAYS, .queued = layout != MC_ARRAYS,
                    .depth = o->run.depth, .only_reads = !saves(o) },
    };
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct mc_options *o = chosen;
    struct mc_test *t = state;
    int ranks;

    *t = test_of(o);
    if (mc_preset_take(run->test->values, o, err) < 0 || check_options(o, err) < 0 ||
        (o->packet && weir_pattern_parse(&t->data, "--dataPacketType", o->packet, weir_pattern_random, err) < 0))
        return -1;
    ranks = o->play ? ranks_of(o, run->world.size, err) : run->world.size;
    if (ranks < 0 || mc_play_read(&run->world, t, saves(o) ? ranks : INT32_MAX, err) < 0 ||
        (saves(o) && make_job(run, t, o, ranks, err) < 0))
        return -1;
    /* a load alone takes what was saved, and compares it with what is given */
    if (!saves(o) && (o->model || o->scale) && choose_model(run, t, o, err) < 0)
        return -1;
    /* before the time of a save is spent */
    if (saves(o) && loads(o) && mc_load_shape(t, &t->job, o->dtype, o->optimizer, ranks, err) < 0)
        return -1;
    plan_place(t, o, run->world.size, &run->test->plan);
    if (weir_plan_use(run, &t->session, o->run.api, &t->access, err) < 0)
        return -1;
    if (check_backend(t, run->test->plan.use[0].be, err) < 0)
        return -1;
    if (saves(o) && mc_need_check(run, &run->world, t, err) < 0)
        return -1;
    if (t->is_objects)
        o->run.drop_cache = false; /* no page cache has them */
    if (!t->is_stored)
        o->load = "no";
    return 0;
}

/* ---- a test ---- */

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    weir_interrupt_hold(&run->interrupt); /* what is made from here on is removed after a signal */
    t->memory.gpu = t->copy.gpu = run->gpu;
    t->copy.is_copy = true;
    if (loads(t->o) && mc_load_begin(run, t, err) < 0)
        return -1;
    if (saves(t->o) && (mc_regions_begin(run, t, err) < 0 || mc_publish_begin(run, t, err) < 0))
        return -1;
    return weir_agree(&run->par,
                      weir_queue_begin(&t->queue, &t->session, UINT64_MAX, 0,
                                       (struct iovec) { NULL, 0 }, err),
                      err);
}

static int repetition(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    t->pub.step = t->pub.first_step + (int64_t)run->repetition * t->o->every;
    t->pub.sequence = t->pub.first_sequence + run->repetition;
    t->save.work_left_ns = t->save.make_ns = t->save.blocked_ns = 0;
    t->row = mc_row_of(run, "save", t->pub.step);
    return 0;
}

static void end(void *state)
{
    struct mc_test *t = state;

    weir_str_free(&t->pub.staged);
    weir_str_free(&t->pub.place);
    weir_str_free(&t->pub.names);
    weir_str_free(&t->removal.gone);
    weir_str_free(&t->load.from);
    weir_str_free(&t->path);
    mc_plan_free(&t->save.plan);
    mc_plan_free(&t->load.plan);
    mc_plan_free(&t->load.reads);
    mc_meta_free(&t->load.meta);
    weir_queue_end(&t->queue);
    weir_arena_free(&t->arena);
    weir_gpu_give(t->memory.gpu, t->memory.at);
    weir_gpu_give(t->copy.gpu, t->copy.at);
    free(t->arrays.array);
    if (t->pub.lock >= 0)
        close(t->pub.lock);
    t->pub.lock = -1;
}

/* ---- stages ---- */

enum { COMPUTE, COPY, SAVE, PUBLISH, REMOVE, SAVED, LOAD, CLEAR };

static bool wanted(const void *state, const struct weir_stage *stage)
{
    const struct mc_test *t = state;
    const bool saving = saves(t->o), is_wanted[] = {
        [COMPUTE] = saving && !t->async && t->save.work_ns > 0,
        [COPY] = t->async,
        [SAVE] = saving,
        [PUBLISH] = saving,
        [REMOVE] = saving && t->o->keep > 0,
        [SAVED] = saving,
        [LOAD] = loads(t->o),
        [CLEAR] = t->o->remove,
    };

    return is_wanted[stage->index];
}

/* A file of arrays is opened by all ranks together, and one rank reads for others. */
static void set_timing(const void *state, const struct weir_stage *stage, struct weir_timing *timing)
{
    const struct mc_test *t = state;

    timing->collective_open = timing->collective_flush = t->layout == MC_ARRAYS;
    if (stage->index != LOAD || !t->o->broadcast)
        return;
    timing->collective_steps = true;
    timing->steps_par = &t->load.copies.group;
    timing->op_bytes = (uint64_t)t->o->transfer;
}

static const struct weir_stage stages[] = {
    { .key = "compute", .index = COMPUTE, .wanted = wanted, .before = mc_compute },
    { .key = "copy", .index = COPY, .flags = WEIR_STAGE_UNTIMED, .phase = &mc_copy, .wanted = wanted, .before = mc_before_copy,
      .after = mc_after_copy },
    { .key = "save", .index = SAVE, .flags = WEIR_STAGE_DELAY | WEIR_STAGE_WRITES, .phase = &mc_save, .wanted = wanted,
      .timing = set_timing, .before = mc_before_save, .after = mc_after_save },
    { .key = "publish", .index = PUBLISH, .flags = WEIR_STAGE_UNTIMED, .phase = &mc_publish, .wanted = wanted,
      .before = mc_before_publish, .after = mc_after_publish },
    { .key = "remove", .index = REMOVE, .flags = WEIR_STAGE_UNTIMED, .phase = &mc_remove, .wanted = wanted,
      .before = mc_before_remove, .after = mc_after_remove },
    { .key = "saved", .index = SAVED, .wanted = wanted, .before = mc_saved },
    { .key = "load", .index = LOAD, .flags = WEIR_STAGE_DELAY | WEIR_STAGE_READS, .phase = &mc_load, .wanted = wanted,
      .timing = set_timing, .before = mc_before_load, .after = mc_after_load },
    { .key = "clear", .index = CLEAR, .flags = WEIR_STAGE_LAST | WEIR_STAGE_UNTIMED, .phase = &mc_remove, .wanted = wanted,
      .before = mc_before_remove, .after = mc_after_remove },
    { .key = NULL }
};

/* ---- what the engine asks ---- */

/* Find the file of the first transfer of a load; for a rank that loads nothing, a byte of any file. */
static bool range_of_load(const struct mc_test *t, struct weir_str *path, struct weir_cache_range *range)
{
    bool loads = t->load.plan.moves > 0;

    if (t->load.meta.regions == 0)
        return false;
    *range = (struct weir_cache_range) { 0, loads ? UINT64_MAX : 1, 0, 1 };
    weir_str_addf(path, "%s/%s", weir_str_text(&t->load.from), t->load.meta.region[loads ? t->load.plan.move[0].region : 0].file);
    return true;
}

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_str *path,
                     struct weir_cache_range *range)
{
    const struct mc_test *t = state;

    if (!stage || !t->is_stored || t->is_objects)
        return false;
    if (stage->flags & WEIR_STAGE_READS || (run->stage && (run->stage->flags & WEIR_STAGE_READS)))
        return range_of_load(t, path, range);
    for (int k = 0; k < t->save.regions; k++)
        if (t->save.region[k].lines > 0) {
            weir_str_addf(path, "%s/%s", weir_str_text(&t->pub.staged), t->save.region[k].file);
            *range = (struct weir_cache_range) { t->save.region[k].at, t->save.region[k].bytes, 0, 1 };
            return true;
        }
    return false;
}

/* Declares what the options say about the reliability of the results. */
static void declare_inputs(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct mc_test *t = state;
    int next = (run->par.rank + weir_par_node_stride(&run->par)) % run->par.size;
    double elsewhere = weir_inputs_own_node(&run->par, next), same = weir_inputs_own_node(&run->par, run->par.rank);

    f->path = t->o->path;
    f->durable = 1;
    f->random = 0;
    f->shared = (t->layout == MC_SHARED || t->layout == MC_ARRAYS) && run->par.size > 1;
    f->transfer = (double)t->o->transfer;
    f->unread = 0;
    f->data_kind = WEIR_DATA_RANDOM;
    f->ratio = t->data.ratio;
    if (saves(t->o))
        f->planned_bytes = (double)(t->is_objects ? t->save.once_bytes : t->save.bytes);
    if (saves(t->o) && loads(t->o))
        f->own_node = is_word(t->o->read_back, "elsewhere") ? elsewhere : same;
    f->service.of_others = is_word(t->o->read_back, "elsewhere");
}

/* The backend that a run would take. Local. */
static int check_named_backend(struct mc_test *t, const char *name, struct weir_err *err)
{
    const struct weir_backend *be = name ? weir_backend_find(name) : weir_backends()[0];

    if (!be)
        return weir_backend_refuse(name, err);
    return weir_backend_load(&be, NULL, err) < 0 ? -1 : check_backend(t, be, err);
}

/* Refuse for --list what a run of 'ranks' ranks refuses. Collective over run->world. */
static int list_ranks(struct weir_run *run, struct mc_test *t, struct mc_options *o, int ranks, struct weir_err *err)
{
    if (check_options(o, err) < 0 || make_job(run, t, o, ranks, err) < 0 ||
        (loads(o) && mc_load_shape(t, &t->job, o->dtype, o->optimizer, ranks, err) < 0) ||
        weir_agree(&run->world, check_named_backend(t, o->run.api, err), err) < 0)
        return -1;
    if (run->world.rank > 0 ||
        (mc_list(&t->job, o->run.verbose > 0, stdout) && mc_need_list(t, ranks, stdout)) ||
        errno == EPIPE) /* its reader has closed the pipe */
        return 0;
    return weir_refuse(err, WEIR_ESETUP, "the list cannot be written");
}

/* --list */
static bool list_instead(struct weir_run *run, const struct weir_values *values,
                         enum weir_code *code)
{
    struct mc_options own = *(const struct mc_options *)values->given, *o = &own;
    struct mc_test t = test_of(o);
    struct weir_err err = WEIR_ERR_INIT;
    int ranks;

    if (!o->list)
        return false;
    ranks = mc_preset_take(values, o, &err) < 0 ? -1 : ranks_of(o, run->world.size, &err);
    if (ranks > 0)
        list_ranks(run, &t, o, ranks, &err);
    *code = err.code == WEIR_OK ? WEIR_OK : weir_run_refuse(run, &err);
    weir_arena_free(&t.arena);
    return true;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--scale=1/1000 --tp=2 --pp=2 -o /scratch/d", "save, load from storage, verify" },
    { WEIR_TOPIC_NONE, "--model=llama3-70b --tp=8 --pp=4 --dp=16 --list", "what each of 512 ranks would write" },
    { WEIR_TOPIC_NONE, "--scale=1/100 --save=async -i 10 -o /scratch/d",
      "ten saves beside emulated work: how long is training stalled?" },
    { WEIR_TOPIC_NONE, "--save=no --load-tp=1 -o /scratch/d", "another job, of another shape, loads the newest" },
    { WEIR_TOPIC_DATA, "--model=mixtral-8x7b --scale=1/1000 --ep=2 --zero=1 -o /scratch/d", "a model with experts" },
    { WEIR_TOPIC_FILES, "--scale=1/100 --layout=deepspeed --zero=1 -o /scratch/d", "the files of DeepSpeed ZeRO" },
    { WEIR_TOPIC_ORDER, "--scale=1/100 --load=parameters --broadcast -o /scratch/d",
        "load the parameters for inference, each byte once" },
    { .args = NULL }
};

static const struct weir_cli cli = { .instead = list_instead };
static const struct weir_test_files files = { .add = mc_place_files, .clean = mc_clean };
static const struct weir_test_checks checks = { .inputs = declare_inputs, .range = range_of };

const struct weir_program weir_model_checkpoint = {
    .name = "model_checkpoint",
    .brief = "save and load checkpoints of models as a training job does",
    .examples = examples,
    .example_tasks = 8,
    .opts = mc_opts,
    .opt_size = sizeof(struct mc_options),
    .state_size = sizeof(struct mc_test),
    .operations = operations,
    .whole = true,
    .cli = &cli,
    .files = &files,
    .output = &mc_output,
    .checks = &checks,
    .plan = plan,
    .start = start,
    .repetition = repetition,
    .end = end,
    .stages = stages,
    .conclude = mc_conclude,
};

WEIR_PROGRAM("model_checkpoint", weir_model_checkpoint);
