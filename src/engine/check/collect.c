/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c - the inputs of a test: machine, place and options */
#include "config.h"
#include "engine/check/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/gpu/gpu.h"
#include "base/node/environment.h"
#include "base/node/links.h"
#include "base/options/option.h"
#include "base/text/path.h"
#include "engine/check/checks.h"
#include "engine/check/rules.h"
#include "engine/observer.h"
#include "engine/pace.h"
#include "engine/program.h"
#include "par/reduce.h"

/* ---- the machine ---- */

struct weir_collect_machine weir_collect_machine(const struct weir_run *run, int cores)
{
    double memory = weir_par_asks(&run->world) ? weir_machine_memory() : NAN;
    int64_t least[2] = { isnan(memory) ? INT64_MIN : -(int64_t)memory, -(int64_t)cores };

    weir_allmax_i64(&run->world, least, 2); /* of the smallest node */
    return (struct weir_collect_machine) {
        .memory = least[0] > INT64_MIN ? -(double)least[0] : NAN,
        .cores = least[1] < 0 ? (double)-least[1] : NAN,
        .links = run->world.rank == 0 ? weir_links_rate("/sys") : NAN,
        .copy = run->world.rank == 0 ? weir_machine_copy() : NAN,
        .step = weir_machine_clock_step()
    };
}

/* One that the nodes reach over their network. */
static bool is_on_network(const char *type)
{
    static const char *const types[] = { "nfs",    "nfs4",  "lustre",         "gpfs", "ceph",
                                         "beegfs", "pvfs2", "fuse.glusterfs", "cifs", NULL };

    for (int i = 0; types[i]; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* "compress=zstd:3", or NULL. */
static const char *compression_of(struct weir_run *run, const char *mount_options)
{
    static const char *const names[] = { "compress-force", "compress", "compress_extension", "compr" };
    const char *copy;
    char value[32], text[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (weir_mount_option(mount_options, names[i], value, sizeof(value)) &&
            strcmp(value, "none") != 0 && strcmp(value, "no") != 0) {
            snprintf(text, sizeof(text), "%s%s%s", names[i], *value ? "=" : "", value);
            copy = weir_arena_strdup(&run->arena, text, NULL);
            run->report.lost |= !copy;
            return copy;
        }
    return NULL;
}

/* ---- the file system ---- */

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
    f->full = fmax(f->full, share_used(u.free_bytes, u.total_bytes));
    f->full_inodes = fmax(f->full_inodes, share_used(u.free_inodes, u.inodes));
}

/* ---- the test ---- */

static bool asks(const struct weir_backend *be, const void *values, const char *flag)
{
    const struct weir_opt *row = be && be->opts && values ? weir_opt_row_of(be->opts, flag) : NULL;

    return row && *(const bool *)((const char *)values + row->offset);
}

/* Direct I/O has the same name in every backend that has it; a session of other ranks has none. */
static int asks_direct(const struct weir_session *s)
{
    return s->be && (asks(s->be, s->opt, "odirect") || asks(s->be->base, s->base_opt, "odirect"));
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
    const struct weir_found *found = &run->test->found; /* by the observers before this one */
    const struct weir_backend *be = run->test->n_used > 0 ? run->test->used[0].be : NULL;

    weir_inputs_init(f);
    describe_machine(&run->par, machine, f);
    f->peak = (double)o->peak;
    f->repetitions = o->repetitions;
    f->path = run->test->plan.path;
    f->direct = run->test->sessions > 0 ? asks_direct(run->test->session[0]) : -1;
    f->stores = !be || !(be->flags & WEIR_BE_NO_DATA); /* DUMMY moves bytes that reach no device */
    f->objects = be && (be->flags & WEIR_BE_OBJECTS);
    f->intercepted = weir_environment_is_intercepted();
    f->cache_why = f->objects ? WEIR_OBJECTS : f->intercepted ? WEIR_INTERCEPTED : NULL;
    if (run->gpu && run->gpu->files)
        f->indirect = weir_gpu_files_are_staged(run->gpu->files);
    run->test->program->judged->inputs(run, run->test->state, f);
    if (run->par.rank == 0)
        describe_files(run, machine->links, f);
    recall(reads, f);
    f->apart = found->apart;
    f->full = fmax(f->full, found->full);
    f->full_inodes = fmax(f->full_inodes, found->full_inodes);
    f->need_of_free = fmax(f->need_of_free, found->need_of_free);
    f->no_room = found->no_room;
}

/* ---- what was applied ---- */

void weir_collect_applied(struct weir_session *s, struct weir_file *f, struct weir_inputs *inputs)
{
    struct weir_applied applied = { .independent = -1, .other_layout = -1 };

    if (!s->be || !s->be->applied || !s->started || s->access.dry_run)
        return;
    s->be->applied(s, f, &applied);
    if (s->access.collective && applied.independent > inputs->independent)
        inputs->independent = applied.independent;
    if (applied.other_layout > inputs->other_layout)
        inputs->other_layout = applied.other_layout;
    weir_service_applied(s, &applied, inputs);
}

void weir_checks_applied(struct weir_run *run, struct weir_session *s, struct weir_file *f)
{
    struct weir_inputs *const *inputs = weir_observed(run, "checks"); /* the first member */

    if (inputs && *inputs)
        weir_collect_applied(s, f, *inputs);
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
static double expect_seconds(const struct weir_run *run, double most_s, const struct weir_inputs *f)
{
    const struct weir_load load = run->pace ? run->pace->plan.load : (struct weir_load) { 0 };
    double unit = load.bytes ? 1 : f->transfer, assumed = (double)run->test->plan.options->assume_rate;
    double asked = weir_load_mean(&load, f->transfer) * unit * run->par.size;
    double seconds = fmax(asked > 0 ? f->planned_bytes / asked : NAN, assumed > 0 ? f->planned_bytes / assumed : NAN);

    return most_s > 0 && seconds > most_s ? most_s : seconds;
}

void weir_collect_expected(const struct weir_run *run, const struct weir_phase_rec *rec,
                           struct weir_inputs *f)
{
    enum weir_moves moves = weir_stage_moves(rec->stage);
    struct weir_inputs_phase *p = weir_inputs_phase_of(f, rec->stage->key);
    double seconds = expect_seconds(run, rec->bounds.most_s, f);

    if (!p || moves == WEIR_MOVES_NOTHING)
        return;
    f->planned = true;
    p->moves = moves;
    p->n++;
    p->bytes = fmax(p->bytes, f->planned_bytes);
    p->shortest_s = fmin(p->shortest_s, seconds);
    if (rec->repetition == 0 && run->pace)
        weir_note(&run->log, "--dry-run: at its rate the %s phase takes %.6g s", rec->stage->key, seconds);
    if (p->moves & WEIR_MOVES_IN)
        p->cached = fmax(p->cached, expect_cached(run->test->plan.options, f));
}
