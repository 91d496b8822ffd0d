/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c - the inputs of a test */
#include "config.h"
#include "engine/check/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/node/links.h"
#include "base/options/option.h"
#include "base/text/path.h"
#include "engine/check/rules.h"
#include "engine/program.h"
#include "par/agree.h"
#include "par/reduce.h"

/* ---- the machine ---- */

/* One agreement of all ranks, beside that of the ranks of each node. */
static void measure_machine(struct weir_run *run)
{
    struct weir_checks *t = weir_checks_of(run);
    double memory = weir_par_asks(&run->world) ? weir_machine_memory() : NAN;
    int64_t least[2] = { isnan(memory) ? INT64_MIN : -(int64_t)memory,
                         -(int64_t)weir_others_find(run) };

    weir_allmax_i64(&run->world, least, 2); /* of the smallest node */
    t->memory = least[0] > INT64_MIN ? -(double)least[0] : NAN;
    t->cores = least[1] < 0 ? (double)-least[1] : NAN;
    t->links = run->world.rank == 0 ? weir_links_rate("/sys") : NAN;
    t->copy = run->world.rank == 0 ? weir_machine_copy() : NAN;
    t->step = weir_machine_clock_step();
}

/* The rule set of WEIR_RULES, for tests without --rules. */
static int read_environment(struct weir_checks *t, struct weir_err *err)
{
    const char *name = getenv("WEIR_RULES");
    int set = name && *name ? weir_rule_set_find(name) : WEIR_RULES_DEFAULT;

    if (set < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "environment variable WEIR_RULES is '%s'; rule sets are default, "
                           "jupiter, io500, snia, mlperf and none",
                           name);
    t->rules = (enum weir_rule_set)set;
    return 0;
}

enum weir_rule_set weir_checks_rules(const struct weir_run *run, const struct weir_run_options *o)
{
    return o->rules ? (enum weir_rule_set)weir_rule_set_find(o->rules) : weir_checks_of(run)->rules;
}

/* A program that tells nothing about its tests has no verdict: SOUND would be a guess. */
static bool is_judged(const struct weir_run *run, const struct weir_test *t)
{
    return t->program->judged && weir_checks_rules(run, t->plan.options) != WEIR_RULES_NONE;
}

static int warn_of_nodes(const struct weir_run *run, struct weir_err *err)
{
    const struct weir_par *par = &run->world;

    if (!par->differs || par->given)
        return 0;
    return weir_warn(&run->log, err,
                     "nodes that MPI reports: %d; kernels that the tasks run on: %d%s. What is about "
                     "caches goes by the kernels (H36); where these are wrong, set IOR_FAKE_NODES "
                     "and IOR_FAKE_TASK_PER_NODES to the nodes and the tasks of each",
                     par->nodes, par->kernels,
                     par->nodes == par->kernels ? ", with other tasks" : "");
}

int weir_checks_run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                          struct weir_err *err)
{
    struct weir_checks *t = state;
    uint64_t begin_ns;
    bool any = false;

    if (weir_agree(&run->world, run->world.rank == 0 ? read_environment(t, err) : 0, err) < 0)
        return -1;
    weir_bcast(&run->world, &t->rules, sizeof(t->rules), 0);
    begin_ns = weir_now_ns();
    for (int i = 0; i < n && !any; i++)
        any = is_judged(run, &tests[i]);
    if (any) {
        measure_machine(run);
        weir_report_verdict(&run->report, "", "");
    }
    t->spent_ns = weir_now_ns() - begin_ns;
    return warn_of_nodes(run, err);
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

static void describe_mount(struct weir_run *run, struct weir_inputs *f)
{
    const struct weir_found *found = &run->test->found;

    f->file_system = found->file_system ? found->file_system : "";
    f->compresses = found->mount_options ? compression_of(run, found->mount_options) : NULL;
}

/* ---- the file system ---- */

static double share_used(uint64_t free, uint64_t all)
{
    return all ? 1 - (double)free / (double)all : NAN;
}

static void measure_space(struct weir_run *run, struct weir_inputs *f)
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

static void describe_place(struct weir_run *run, struct weir_inputs *f)
{
    const struct weir_checks *t = weir_checks_of(run);
    const struct weir_par *par = &run->par;

    f->tasks = par->size;
    f->nodes = par->cache.nodes;
    f->per_node_max = par->cache.per_node_max;
    f->mpi_nodes = par->nodes;
    f->kernels = par->kernels;
    f->differs = par->differs;
    f->given = par->given;
    f->uneven = (int64_t)f->nodes * f->per_node_max != par->size;
    f->memory = t->memory;
    f->cores = t->cores;
    f->tasks_per_core = f->per_node_max / t->cores;
    f->memcpy_rate = t->copy * fmin(t->cores, f->per_node_max);
    f->resolution_s = t->step;
}

/* DUMMY moves bytes that reach no device. */
static bool stores_data(const struct weir_test *t)
{
    return t->n_used == 0 || !(t->used[0].be->flags & WEIR_BE_NO_DATA);
}

static bool are_objects(const struct weir_test *t)
{
    return t->n_used > 0 && (t->used[0].be->flags & WEIR_BE_OBJECTS);
}

/* Of rank 0. */
static void describe_files(struct weir_run *run, struct weir_inputs *f)
{
    struct weir_checks *t = weir_checks_of(run);

    if (f->path && !f->objects)
        describe_mount(run, f);
    f->on_network = f->objects ? f->nodes > 1 : is_on_network(f->file_system);
    if (f->on_network)
        f->link_rate = t->links;
    if (!f->objects && isnan(run->test->found.full)) /* else it was just asked */
        measure_space(run, f);
}

/* Tests before this one that read the same files in order. */
static void recall(struct weir_run *run)
{
    struct weir_checks *t = weir_checks_of(run);
    struct weir_inputs *f = t->inputs;

    for (int i = 0; i < t->nread && f->random == 1 && f->path; i++)
        if (strcmp(t->read_in_order[i].path, f->path) == 0 &&
            f->transfer <= t->read_in_order[i].transfer)
            f->sequential_rate = fmax(f->sequential_rate, t->read_in_order[i].rate);
}

/* By the observers before this one. */
static void take_found(const struct weir_found *found, struct weir_inputs *f)
{
    f->apart = found->apart;
    f->full = fmax(f->full, found->full);
    f->full_inodes = fmax(f->full_inodes, found->full_inodes);
    f->need_of_free = fmax(f->need_of_free, found->need_of_free);
    f->no_room = found->no_room;
}

int weir_checks_test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_checks *t = state;
    struct weir_inputs *f;
    uint64_t begin_ns;

    (void)err;
    run->test->missing = run->report.missing;
    t->inputs = NULL;
    if (run->report.verdict.name)
        weir_report_verdict(&run->report, "", "");
    if (!is_judged(run, run->test) || weir_limits_parse(&t->limits, o->limits, NULL) < 0)
        return 0;
    begin_ns = weir_now_ns();
    t->inputs = f = &t->room;
    weir_inputs_init(f);
    describe_place(run, f);
    f->peak = (double)o->peak;
    f->repetitions = o->repetitions;
    f->path = run->test->plan.path;
    f->direct = run->test->sessions > 0 ? asks_direct(run->test->session[0]) : -1;
    f->stores = stores_data(run->test);
    f->objects = are_objects(run->test);
    f->cache_why = f->objects ? WEIR_OBJECTS : NULL;
    run->test->program->judged->inputs(run, run->test->state, f);
    if (run->par.rank == 0)
        describe_files(run, f);
    recall(run);
    take_found(&run->test->found, f);
    weir_others_begin(run, f);
    t->spent_ns += weir_now_ns() - begin_ns;
    return 0;
}

/* ---- what was applied ---- */

void weir_checks_applied(struct weir_run *run, struct weir_session *s, struct weir_file *f)
{
    struct weir_applied applied = { .independent = -1, .other_layout = -1 };
    const struct weir_checks *t = weir_checks_of(run);
    struct weir_inputs *inputs = t ? t->inputs : NULL;

    if (!inputs || !s->be || !s->be->applied || !s->started || s->access.dry_run)
        return;
    s->be->applied(s, f, &applied);
    if (s->access.collective && applied.independent > inputs->independent)
        inputs->independent = applied.independent;
    if (applied.other_layout > inputs->other_layout)
        inputs->other_layout = applied.other_layout;
    weir_service_applied(s, &applied, inputs);
}

/* ---- the end ---- */

/* Large transfers in order are what random ones of later tests are compared with. */
static void remember(struct weir_run *run)
{
    struct weir_checks *t = weir_checks_of(run);
    const struct weir_inputs *f = t->inputs;
    double rate = NAN;

    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves == WEIR_MOVES_IN)
            rate = fmax(rate, f->phase[i].rate);
    if (f->random != 0 || isnan(rate) || !f->path || t->nread == WEIR_CHECKS_FILES)
        return;
    t->read_in_order[t->nread].path = weir_arena_strdup(&run->arena, f->path, NULL);
    t->read_in_order[t->nread].rate = rate;
    t->read_in_order[t->nread].transfer = f->transfer;
    t->nread += t->read_in_order[t->nread].path != NULL;
}

void weir_checks_test_end(struct weir_run *run, void *state)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_checks *t = state;
    int64_t worst = WEIR_SOUND;

    if (!t->inputs)
        return;
    t->end_ns = weir_now_ns();
    if (run->par.rank == 0) {
        if (!t->inputs->objects)
            measure_space(run, t->inputs);
        worst = weir_verdict_report(run);
        remember(run);
    }
    t->inputs = NULL;
    t->spent_ns = 0;
    if (!o->strict)
        return;
    weir_bcast(&run->par, &worst, sizeof(worst), 0);
    if (worst == WEIR_INVALID)
        run->test->invalid_by = weir_rule_sets[weir_checks_rules(run, o)];
}

/* ---- a dry run ---- */

/* The share of a read that will come from memory. NaN: not known before. */
static double expect_cached(const struct weir_run_options *o, const struct weir_inputs *f)
{
    bool stays = !f->objects && f->direct == 0 && !o->drop_cache && f->stores == 1 &&
                 f->planned_bytes / f->nodes < f->memory;

    return stays && weir_inputs_have(f, WEIR_MOVES_OUT) ? f->own_node : NAN;
}

/* The time of a phase at its rate (--rate, --burst) or the one that is assumed. NaN: neither is given. */
static double expect_seconds(const struct weir_run *run, const struct weir_timing *k, const struct weir_inputs *f)
{
    double unit = k->load.bytes ? 1 : f->transfer, assumed = (double)run->test->plan.options->assume_rate;
    double asked = weir_load_mean(&k->load, f->transfer) * unit * run->par.size;
    double seconds = fmax(asked > 0 ? f->planned_bytes / asked : NAN, assumed > 0 ? f->planned_bytes / assumed : NAN);

    return k->deadline_s > 0 && seconds > k->deadline_s ? k->deadline_s : seconds;
}

void weir_checks_expect(const struct weir_run *run, const struct weir_phase_rec *rec, enum weir_moves moves)
{
    struct weir_inputs *f = weir_checks_of(run)->inputs;
    struct weir_inputs_phase *p = weir_inputs_phase_of(f, rec->stage->key);
    double seconds = expect_seconds(run, rec->timing, f);

    if (!p || moves == WEIR_MOVES_NOTHING)
        return;
    f->planned = true;
    p->moves = moves;
    p->n++;
    p->bytes = fmax(p->bytes, f->planned_bytes);
    p->shortest_s = fmin(p->shortest_s, seconds);
    if (rec->repetition == 0 && (rec->timing->load.rate > 0 || rec->timing->load.burst > 0))
        weir_note(&run->log, "--dry-run: at its rate the %s phase takes %.6g s", rec->stage->key, seconds);
    if (p->moves & WEIR_MOVES_IN)
        p->cached = fmax(p->cached, expect_cached(run->test->plan.options, f));
}
