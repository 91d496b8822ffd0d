/* SPDX-License-Identifier: BSD-3-Clause */
/* mc.c - model_checkpoint: what follows from the options, the life of a test, and what the program is made of */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "engine/check/inputs.h"
#include "engine/test.h"
#include "par/agree.h"
#include "par/textfile.h"

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
        { o->remove && !saves(o), "--remove removes what this run saves; --save=no saves nothing" },
        { o->broadcast && is_word(o->layout, "arrays"),
            "--broadcast is for files with tables of contents; --layout=arrays has none" },
        { o->broadcast && !loads(o), "--broadcast says how to load; --load=no loads nothing" },
    };

    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

/* A row of the table, or what a file says. Collective over run->world. */
static int find_model(struct weir_run *run, struct mc_test *t, const char *name, struct mc_model *m, struct weir_err *err)
{
    struct weir_shared_text text = { .what = "model", .path = name };
    int rc;

    if (mc_model_row(name, m, NULL) == 0)
        return 0;
    if (weir_shared_text_read(&run->world, &text, err) < 0) {
        free(text.text);
        return -1;
    }
    rc = text.text ? mc_model_read(text.text, text.len, name, &t->arena, m, err) : mc_model_row(name, m, err);
    free(text.text);
    return weir_agree_check(&run->world, rc, err);
}

/* The model and the ranks. Collective over run->world. */
static int make_job(struct weir_run *run, struct mc_test *t, const struct mc_options *o, int ranks, struct weir_err *err)
{
    const struct mc_shape shape = {
        .tp = o->tp, .pp = o->pp, .dp = o->dp, .ep = o->ep, .zero = o->zero, .spread = t->layout == MC_TORCH
    };
    struct mc_model m;

    if (find_model(run, t, o->model, &m, err) < 0 || mc_model_scale(&m, o->scale, err) < 0 ||
        mc_job_init(&t->job, &m, &shape, o->dtype, o->optimizer, ranks, err) < 0)
        return -1;
    t->bytes = mc_job_bytes(&t->job);
    return t->bytes < INT64_MAX ? 0 : weir_refuse(err, WEIR_EUSAGE, "a checkpoint of this model has more than 2^63 bytes");
}

static enum mc_layout layout_of(const struct mc_options *o)
{
    int i = 0;

    while (!is_word(o->layout, mc_layout_names[i]))
        i++;
    return (enum mc_layout)i;
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
    plan->bytes = saves(o) ? weir_product(t->bytes, kept) : 0;
    plan->inodes = saves(o) ? weir_product(files, kept) : 0;
}

static int check_backend(struct mc_test *t, const struct weir_backend *be, struct weir_err *err)
{
    if (t->layout == MC_ARRAYS && !be->array)
        return weir_refuse(err, WEIR_EUSAGE, "%s cannot keep arrays; use a backend like HDF5, NETCDF or NCMPI", be->name);
    if (t->layout != MC_ARRAYS && (be->flags & WEIR_BE_CONTAINER))
        return weir_refuse(err, WEIR_EUSAGE,
                           "%s cannot keep plain files; use a backend like POSIX, URING or MPIIO, or --layout=arrays", be->name);
    return mc_place_store(t, be, err);
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct mc_options *o = chosen;
    struct mc_test *t = state;

    t->o = o;
    t->lock = -1;
    t->made_first = -1;
    t->layout = layout_of(o);
    t->async = is_word(o->save, "async");
    t->work_ns = (uint64_t)(o->compute_s * o->every * WEIR_NS_PER_S);
    t->access = (struct weir_access) { .own_names = true, .file_per_task = t->layout != MC_ARRAYS,
        .queued = t->layout != MC_ARRAYS, .depth = o->run.depth, .only_reads = !saves(o) };
    if (check_options(o, err) < 0 || (saves(o) && make_job(run, t, o, run->world.size, err) < 0))
        return -1;
    /* before the time of a save is spent */
    if (saves(o) && loads(o) && mc_load_shape(t, &t->job, o->dtype, o->optimizer, run->world.size, err) < 0)
        return -1;
    plan_place(t, o, run->world.size, &run->test->plan);
    if (weir_plan_use(run, &t->session, o->run.api, &t->access, err) < 0)
        return -1;
    if (check_backend(t, run->test->plan.use[0].be, err) < 0)
        return -1;
    if (t->is_objects)
        o->run.drop_cache = false; /* no page cache has them */
    if (!t->is_stored && loads(o)) {
        if (!saves(o))
            return weir_refuse(err, WEIR_EUSAGE, "%s keeps nothing that could be loaded", run->test->plan.use[0].be->name);
        o->load = "no";
    }
    return 0;
}

/* ---- a test ---- */

static int take_queue(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)run;
    return weir_queue_begin(&t->queue, &t->session, UINT64_MAX, 0, (struct iovec) { NULL, 0 }, err);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    t->in_region = -1;
    if (loads(t->o) && mc_load_begin(run, t, err) < 0)
        return -1;
    t->role = run->par.rank;
    if (saves(t->o) && (mc_regions_begin(run, t, err) < 0 || mc_publish_begin(run, t, err) < 0))
        return -1;
    if (weir_local(run, take_queue, t, err) < 0)
        return -1;
    if (t->async && t->work_ns > 0 && t->queue.depth == 0)
        weir_note(&run->log, "%s writes one transfer after the other, and the work stands still in each%s", t->session.be->name,
                  t->layout == MC_ARRAYS ? "" : ": use a queue (--posix.threads=N, -a URING)");
    return 0;
}

static int repetition(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)err;
    t->step = t->first_step + (int64_t)run->repetition * t->o->every;
    t->sequence = t->first_sequence + run->repetition;
    t->work_left_ns = 0;
    t->times = (struct mc_times) { .copy_s = 0 };
    return 0;
}

static void end(void *state)
{
    struct mc_test *t = state;

    for (int k = 0; k < MC_REGIONS; k++)
        weir_str_free(&t->head[k]);
    weir_str_free(&t->staged);
    weir_str_free(&t->place);
    weir_str_free(&t->names);
    weir_str_free(&t->gone);
    weir_str_free(&t->from);
    weir_str_free(&t->in_name);
    mc_plan_free(&t->save);
    mc_plan_free(&t->cut);
    mc_plan_free(&t->load);
    mc_meta_free(&t->meta);
    weir_queue_end(&t->queue);
    weir_arena_free(&t->arena);
    free(t->memory);
    free(t->copy);
    free(t->toc);
    free(t->array);
    if (t->lock >= 0)
        close(t->lock);
    t->lock = -1;
}

/* ---- stages ---- */

static bool wants_save(const void *state, const struct weir_stage *stage)
{
    (void)stage;
    return saves(((const struct mc_test *)state)->o);
}

static bool wants_copy(const void *state, const struct weir_stage *stage)
{
    (void)stage;
    return ((const struct mc_test *)state)->async;
}

static bool wants_compute(const void *state, const struct weir_stage *stage)
{
    const struct mc_test *t = state;

    return wants_save(t, stage) && !t->async && t->work_ns > 0;
}

static bool wants_removal(const void *state, const struct weir_stage *stage)
{
    const struct mc_options *o = ((const struct mc_test *)state)->o;

    return stage->flags & WEIR_STAGE_LAST ? o->remove : saves(o) && o->keep > 0;
}

static bool is_arrays(const struct weir_stage *stage)
{
    return stage->phase == &mc_save_arrays || stage->phase == &mc_load_arrays;
}

/* A stage for files, and one for a file of arrays. */
static bool wants_write(const void *state, const struct weir_stage *stage)
{
    const struct mc_test *t = state;

    return saves(t->o) && (t->layout == MC_ARRAYS) == is_arrays(stage);
}

static bool wants_load(const void *state, const struct weir_stage *stage)
{
    const struct mc_test *t = state;

    return loads(t->o) && (t->layout == MC_ARRAYS) == is_arrays(stage);
}

#define SAVE                                                                                                                     \
    .key = "save", .flags = WEIR_STAGE_DELAY | WEIR_STAGE_WRITES, .wanted = wants_write, .before = mc_before_save,              \
    .after = mc_after_save
#define LOAD                                                                                                                     \
    .key = "load", .flags = WEIR_STAGE_DELAY | WEIR_STAGE_READS, .wanted = wants_load, .before = mc_before_load,                \
    .after = mc_after_load

static const struct weir_stage stages[] = {
    { .key = "compute", .wanted = wants_compute, .before = mc_compute },
    { .key = "copy", .flags = WEIR_STAGE_UNTIMED, .phase = &mc_copy, .wanted = wants_copy, .before = mc_before_copy,
        .after = mc_after_copy },
    { SAVE, .phase = &mc_save },
    { SAVE, .phase = &mc_save_arrays, .timing = mc_arrays_timing },
    { .key = "publish", .flags = WEIR_STAGE_UNTIMED, .phase = &mc_publish, .wanted = wants_save, .before = mc_before_publish,
        .after = mc_after_publish },
    { .key = "remove", .flags = WEIR_STAGE_UNTIMED, .phase = &mc_remove, .wanted = wants_removal, .before = mc_before_remove,
        .after = mc_after_remove },
    { .key = "saved", .wanted = wants_save, .before = mc_saved },
    { LOAD, .phase = &mc_load, .timing = mc_load_timing },
    { LOAD, .phase = &mc_load_arrays, .timing = mc_arrays_timing },
    { .key = "clear", .flags = WEIR_STAGE_LAST | WEIR_STAGE_UNTIMED, .phase = &mc_remove, .wanted = wants_removal,
        .before = mc_before_remove,
      .after = mc_after_remove },
    { .key = NULL }
};

/* ---- what the engine asks ---- */

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_str *path,
                     struct weir_cache_range *range)
{
    const struct mc_test *t = state;

    (void)run;
    if (!stage || !t->is_stored || t->is_objects)
        return false;
    if (stage->flags & WEIR_STAGE_READS || (run->stage && (run->stage->flags & WEIR_STAGE_READS)))
        return mc_load_range(t, path, range);
    for (int k = 0; k < t->regions; k++)
        if (t->region[k].lines > 0) {
            weir_str_addf(path, "%s/%s", weir_str_text(&t->staged), t->region[k].file);
            *range = (struct weir_cache_range) { t->region[k].at, t->region[k].bytes, 0, 1 };
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
    if (saves(t->o))
        f->planned_bytes = (double)(t->is_objects ? t->once_bytes : t->bytes);
    if (saves(t->o) && loads(t->o))
        f->own_node = is_word(t->o->read_back, "elsewhere") ? elsewhere : same;
    f->service.of_others = is_word(t->o->read_back, "elsewhere");
}

/* --list */
static bool list_instead(struct weir_run *run, const void *opt, enum weir_code *code)
{
    const struct mc_options *o = opt;
    struct mc_test t = { .layout = layout_of(o) };
    struct weir_err err = WEIR_ERR_INIT;
    bool given = o->dp > 0;
    uint64_t ranks = given ? weir_product((uint64_t)o->dp, (uint64_t)o->tp * (uint64_t)o->pp) : (uint64_t)run->world.size;

    if (!o->list)
        return false;
    if (ranks > INT32_MAX)
        weir_refuse(&err, WEIR_EUSAGE, "--tp, --pp and --dp make %" PRIu64 " ranks: --list shows %d at most", ranks,
                    INT32_MAX);
    else if (make_job(run, &t, o, (int)ranks, &err) == 0 && run->world.rank == 0 && !mc_list(&t.job, o->run.verbose > 0, stdout))
        weir_refuse(&err, WEIR_ESETUP, "the list cannot be written");
    *code = err.code == WEIR_OK ? WEIR_OK : weir_run_refuse(run, &err);
    weir_arena_free(&t.arena);
    return true;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--scale=1/1000 --tp=2 --pp=2 -o /scratch/d", "save, load from storage, verify" },
    { WEIR_TOPIC_NONE, "--model=llama3-70b --tp=8 --pp=4 --dp=16 --list", "what each of 512 ranks would write" },
    { WEIR_TOPIC_NONE, "--scale=1/100 --save=async --compute=5 --posix.threads=4 -i 10 -o /scratch/d",
      "ten saves beside emulated work: how long does it stand still?" },
    { WEIR_TOPIC_NONE, "--save=no --load-tp=1 -o /scratch/d", "another job, of another shape, loads the newest" },
    { WEIR_TOPIC_DATA, "--model=mixtral-8x7b --scale=1/1000 --ep=2 --zero=1 -o /scratch/d", "a model with experts" },
    { WEIR_TOPIC_FILES, "--scale=1/100 --layout=deepspeed --zero=1 -o /scratch/d", "the files of DeepSpeed ZeRO" },
    { WEIR_TOPIC_ORDER, "--scale=1/100 --load=parameters --broadcast -o /scratch/d",
        "load the parameters for inference, each byte once" },
    { .args = NULL }
};

static const struct weir_line line = { .instead = list_instead };
static const struct weir_made made = { .clean = mc_clean };
static const struct weir_judged judged = { .inputs = declare_inputs, .range = range_of };

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
    .line = &line,
    .made = &made,
    .words = &mc_words,
    .judged = &judged,
    .plan = plan,
    .start = start,
    .repetition = repetition,
    .end = end,
    .stages = stages,
    .conclude = mc_conclude,
};

WEIR_PROGRAM("model_checkpoint", weir_model_checkpoint);
