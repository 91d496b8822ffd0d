/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c - the inputs of a test: machine, place and options */
#include "engine/check/parts.h"

#include <math.h>
#include <string.h>

#include "base/node/environment.h"
#include "base/options/option.h"
#include "base/text/path.h"
#include "engine/check/rules.h"
#include "engine/ratelimit.h"
#include "par/reduce.h"

/* ---- inputs: nothing is known yet, and what several programs know in the same way ---- */

void weir_inputs_init(struct weir_inputs *f)
{
    memset(f, 0, sizeof(*f));
    f->file_system = "";
    f->others_why = "it was not measured";
    f->memory = f->tasks_per_core = f->cores = f->found.full = f->found.full_inodes = NAN;
    f->memcpy_rate = f->link_rate = f->resolution_s = NAN;
    f->stores = f->durable = f->direct = f->shared = f->random = f->own_metadata = -1;
    f->collective = f->independent = f->other_layout = f->foreign = f->indirect = -1;
    f->distance = f->missing.n = f->found.apart = -1;
    f->planned_bytes = f->file_bytes = f->transfer = f->own_node = f->unread = f->repeats = NAN;
    f->service.reread = f->service.stale = f->service.memory = f->service.working_set = NAN;
    f->service.of_others = -1;
    f->stored = f->filtered = NAN;
    f->allocated = f->written = f->retries = f->others_cpu = f->others = f->others_share = f->sequential_rate = NAN;
}

double weir_inputs_own_node(const struct weir_par *par, int whom)
{
    uint64_t node = (uint64_t)par->cache.node, own;

    if (par->cache.nodes == 1)
        return 1;
    own = weir_fetch_u64(par, node, whom) == node;
    weir_allsum_u64(par, &own, 1);
    return (double)own / par->size;
}

struct weir_inputs_phase *weir_inputs_phase_of(struct weir_inputs *f, const char *key)
{
    struct weir_inputs_phase *p;

    for (int i = 0; i < f->phases; i++)
        if (strcmp(f->phase[i].key, key) == 0)
            return &f->phase[i];
    if (f->phases == WEIR_INPUTS_PHASES)
        return NULL;
    p = &f->phase[f->phases++];
    memset(p, 0, sizeof(*p));
    p->key = key;
    p->shortest_s = p->bytes = p->rate = p->cached = p->dirty = p->left = NAN;
    p->slow = p->tail = p->ends = p->cpu = p->data = p->clock = p->unsteady = p->busy_s = NAN;
    p->past_steady = p->rate_missed = p->joined = NAN;
    return p;
}

bool weir_inputs_have(const struct weir_inputs *f, enum weir_moves moves)
{
    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves & moves)
            return true;
    return false;
}

/* ---- the file system ---- */

/* True for a file system that nodes reach over their network. */
static bool is_on_network(const char *type)
{
    static const char *const types[] = { "nfs",    "nfs4",  "lustre",         "gpfs", "ceph",
                                         "beegfs", "pvfs2", "fuse.glusterfs", "cifs", NULL };

    return weir_opt_choice(types, type) >= 0;
}

/* "compress=zstd:3", or NULL. */
static const char *compression_of(struct weir_run *run, const char *mount_options)
{
    static const char *const names[] = { "compress-force", "compress", "compress_extension", "compr" };
    const char *text;
    char value[32];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (weir_mount_option(mount_options, names[i], value, sizeof(value)) &&
            strcmp(value, "none") != 0 && strcmp(value, "no") != 0) {
            text = weir_arena_textf(&run->arena, NULL, "%s%s%s", names[i], *value ? "=" : "", value);
            run->report.lost |= !text;
            return text;
        }
    return NULL;
}

static double share_used(uint64_t free, uint64_t all)
{
    return all ? 1 - (double)free / (double)all : NAN;
}

void weir_collect_space(struct weir_run *run, struct weir_inputs *f)
{
    const struct weir_test *t = run->test;
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_fs_usage u;

    if (t->sessions == 0 || !t->session[0]->be || !f->path ||
        weir_session_usage(t->session[0], f->path, &u, &why) < 0 || u.total_bytes == 0) {
        run->report.lost |= why.code == WEIR_ESETUP; /* no memory to ask */
        return;
    }
    f->found.full = fmax(f->found.full, share_used(u.free_bytes, u.total_bytes));
    f->found.full_inodes = fmax(f->found.full_inodes, share_used(u.free_inodes, u.inodes));
}

/* ---- the test ---- */

/* Each backend that has direct I/O calls it so. */
static bool is_direct(const struct weir_backend *be, const void *values)
{
    return be && weir_opt_is_on(be->opts, values, "odirect");
}

static void describe_machine(const struct weir_par *par, const struct weir_collect_machine *m,
                             struct weir_inputs *f)
{
    f->tasks = par->size;
    f->nodes = par->cache.nodes;
    f->per_node_max = par->cache.per_node_max;
    f->mpi_nodes = par->nodes;
    f->kernels = par->kernels;
    f->differs = par->differs;
    f->given = par->given;
    f->uneven = (int64_t)f->nodes * f->per_node_max != par->size;
    f->memory = m->memory;
    f->cores = m->cores;
    f->tasks_per_core = f->per_node_max / m->cores;
    f->memcpy_rate = m->copy * fmin(m->cores, f->per_node_max);
    f->resolution_s = m->step;
}

/* Describe the files of the test, on rank 0. */
static void describe_files(struct weir_run *run, double links, struct weir_inputs *f)
{
    const struct weir_found *found = &run->test->found;

    if (f->path && !f->objects) {
        f->file_system = found->file_system ? found->file_system : "";
        f->compresses = found->mount_options ? compression_of(run, found->mount_options) : NULL;
    }
    f->on_network = f->objects ? f->nodes > 1 : is_on_network(f->file_system);
    if (f->on_network)
        f->link_rate = links;
    if (!f->objects && isnan(found->full)) /* else it was just asked */
        weir_collect_space(run, f);
}

/* Tests before this one that read the same files in order. */
static void recall(const struct weir_collect_reads *r, struct weir_inputs *f)
{
    for (int i = 0; i < r->n && f->random == 1 && f->path; i++)
        if (strcmp(r->test[i].path, f->path) == 0 &&
            f->transfer <= r->test[i].transfer)
            f->sequential_rate = fmax(f->sequential_rate, r->test[i].rate);
}

void weir_collect_test(struct weir_run *run, const struct weir_collect_machine *machine,
                       const struct weir_collect_reads *reads, struct weir_inputs *f)
{
    const struct weir_run_options *o = run->test->plan.options;
    const struct weir_backend *be = run->test->n_used > 0 ? run->test->used[0].be : NULL;
    const struct weir_session *s = run->test->session[0];

    weir_inputs_init(f);
    describe_machine(&run->par, machine, f);
    f->peak = (double)o->peak;
    f->repetitions = o->repetitions;
    f->path = run->test->plan.path;
    f->found = run->test->found; /* by the observers before this one */
    if (run->test->sessions > 0) /* of other ranks none is */
        f->direct = s->be && (is_direct(s->be, s->opt) || is_direct(s->be->base, s->base_opt));
    f->stores = !be || !(be->flags & WEIR_BE_NO_DATA); /* DUMMY moves bytes that reach no device */
    f->objects = be && (be->flags & WEIR_BE_OBJECTS);
    f->intercepted = weir_environment_is_intercepted();
    f->cache_why = f->objects ? WEIR_OBJECTS : f->intercepted ? WEIR_INTERCEPTED : NULL;
    if (run->gpu && run->gpu->path == WEIR_GPU_DIRECT && run->gpu->vendor->has_module)
        f->indirect = run->gpu->files_staged;
    run->test->program->checks->inputs(run, run->test->state, f);
    if (run->par.rank == 0)
        describe_files(run, machine->links, f);
    recall(reads, f);
}

/* ---- what was applied ---- */

void weir_collect_applied(struct weir_session *s, struct weir_file *f, struct weir_inputs *inputs)
{
    struct weir_applied applied = { .independent = -1, .other_layout = -1 };
    struct weir_inputs_service *v = &inputs->service;

    if (!s->be || !s->be->applied || !s->started || s->access.dry_run)
        return;
    s->be->applied(s, f, &applied);
    if (s->access.collective && applied.independent > inputs->independent)
        inputs->independent = applied.independent;
    if (applied.other_layout > inputs->other_layout)
        inputs->other_layout = applied.other_layout;
    v->endpoints = applied.endpoints > v->endpoints ? applied.endpoints : v->endpoints;
    v->connections = applied.connections > v->connections ? applied.connections : v->connections;
    v->depth = s->depth > v->depth ? s->depth : v->depth;
    if (applied.memory > 0)
        v->memory = (double)applied.memory;
    if (applied.memory_option)
        v->memory_option = applied.memory_option;
}

/* ---- the end ---- */

/* Large transfers in order are what random ones of later tests are compared with. */
void weir_collect_read(struct weir_run *run, const struct weir_inputs *f,
                       struct weir_collect_reads *r)
{
    double rate = NAN;

    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves == WEIR_MOVES_IN)
            rate = fmax(rate, f->phase[i].rate);
    if (f->random != 0 || isnan(rate) || !f->path || r->n == WEIR_COLLECT_READS)
        return;
    r->test[r->n].path = weir_arena_strdup(&run->arena, f->path, NULL);
    r->test[r->n].rate = rate;
    r->test[r->n].transfer = f->transfer;
    r->n += r->test[r->n].path != NULL;
}

/* ---- a dry run ---- */

/* The share of a read that will come from memory. NaN: not known before. */
static double expect_cached(const struct weir_run_options *o, const struct weir_inputs *f)
{
    bool stays = !f->cache_why && f->direct == 0 && !o->drop_cache && f->stores == 1 &&
                 f->planned_bytes / f->nodes < f->memory;

    return stays && weir_inputs_have(f, WEIR_MOVES_OUT) ? f->own_node : NAN;
}

/* The time of a phase at its rate (--rate, --burst) or the one that is assumed. NaN: neither is given. */
static double expect_seconds(const struct weir_run *run, double max_s, const struct weir_inputs *f)
{
    const struct weir_load load = run->ratelimit ? run->ratelimit->plan.load : (struct weir_load) { 0 };
    double unit = load.bytes ? 1 : f->transfer, assumed = (double)run->test->plan.options->assume_rate;
    double asked = weir_load_mean(&load, f->transfer) * unit * run->par.size;
    double seconds = fmax(asked > 0 ? f->planned_bytes / asked : NAN, assumed > 0 ? f->planned_bytes / assumed : NAN);

    return max_s > 0 && seconds > max_s ? max_s : seconds;
}

void weir_collect_expected(const struct weir_run *run, const struct weir_phase_rec *rec,
                           struct weir_inputs *f)
{
    enum weir_moves moves = weir_stage_moves(rec->stage);
    struct weir_inputs_phase *p = weir_inputs_phase_of(f, rec->stage->key);
    double seconds = expect_seconds(run, rec->bounds.max_s, f);

    if (!p || moves == WEIR_MOVES_NOTHING)
        return;
    f->planned = true;
    p->moves = moves;
    p->n++;
    p->bytes = fmax(p->bytes, f->planned_bytes);
    p->shortest_s = fmin(p->shortest_s, seconds);
    if (rec->repetition == 0 && run->ratelimit)
        weir_note(&run->log, "--dry-run: at its rate the %s phase takes %.6g s", rec->stage->key, seconds);
    if (p->moves & WEIR_MOVES_IN)
        p->cached = fmax(p->cached, expect_cached(run->test->plan.options, f));
}
