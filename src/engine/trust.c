/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.c - the facts of a test */
#include "config.h"
#include "engine/trust.h"

#include <math.h>
#include <string.h>

#include "base/mount.h"
#include "base/optset.h"
#include "engine/driver.h"
#include "par/agree.h"
#include "par/nodes.h"

int weir_trust_check(const struct weir_run_options *o, struct weir_err *err)
{
    struct weir_limits limits;

    return weir_limits_parse(&limits, o->limits, err);
}

/* ---- the machine ---- */

/* Processors of the smallest node, as far as its tasks may use them. */
static double count_cores(const struct weir_par *par)
{
    uint64_t mask[WEIR_MACHINE_CORE_WORDS];
    int64_t least = 0;

    weir_machine_cores(mask);
    weir_nodes_or(par, mask, WEIR_MACHINE_CORE_WORDS);
    for (int i = 0; i < WEIR_MACHINE_CORE_WORDS; i++)
        least -= __builtin_popcountll(mask[i]);
    weir_allmax_i64(par, &least, 1);
    return least < 0 ? (double)-least : NAN;
}

static void look_at_machine(struct weir_run *run)
{
    struct weir_trust *t = &run->trust;
    double memory = weir_machine_memory();
    int64_t least = isnan(memory) ? INT64_MIN : -(int64_t)memory;

    weir_allmax_i64(&run->world, &least, 1);
    t->memory = least > INT64_MIN ? -(double)least : NAN;
    t->cores = count_cores(&run->world);
    t->links = weir_machine_links();
    t->copy = run->world.rank == 0 ? weir_machine_copy() : NAN;
    t->step = weir_machine_clock_step();
}

/* A program that tells nothing about its tests has no verdict: SOUND would be a guess. */
static bool is_judged(const struct weir_test *t)
{
    return t->driver->facts &&
           weir_rule_set_find(t->plan.options->rules) != WEIR_RULES_NONE;
}

int weir_trust_machine(struct weir_run *run, const struct weir_test *tests, int n,
                       struct weir_err *err)
{
    struct weir_trust *t = &run->trust;
    bool any = false;

    for (int i = 0; i < n && !any; i++)
        any = is_judged(&tests[i]);
    if (!any)
        return 0;
    t->room = weir_arena_alloc(&run->arena, sizeof(*t->room), err);
    if (weir_agree(&run->world, t->room ? 0 : -1, err) < 0)
        return -1;
    look_at_machine(run);
    return 0;
}

static bool is_any(const char *type, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(type, *list) == 0)
            return true;
    return false;
}

/* A file system on a disk of this node, whose bytes the kernel counts. */
static bool is_on_disk(const char *type)
{
    static const char *const types[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", NULL };

    return is_any(type, types);
}

/* One behind the links of the nodes. */
static bool is_on_network(const char *type)
{
    static const char *const types[] = { "nfs",   "nfs4",   "lustre",         "gpfs", "ceph",
                                         "beegfs", "pvfs2", "fuse.glusterfs", "cifs", NULL };

    return is_any(type, types);
}

static const char *file_system_of(struct weir_run *run, const char *path)
{
    struct weir_str point = { 0 }, type = { 0 };
    char *text;

    weir_mount_find(path, &point, &type);
    text = weir_arena_strdup(&run->arena, weir_str_text(&type), NULL);
    weir_str_free(&point);
    weir_str_free(&type);
    return text ? text : "";
}

/* ---- the file system ---- */

static double share_used(uint64_t free, uint64_t all)
{
    return all ? 1 - (double)free / (double)all : NAN;
}

static void look_at_space(const struct weir_test *t, struct weir_facts *f)
{
    struct weir_fs_usage u;

    if (t->sessions == 0 || !f->path || t->session[0]->access.dry_run ||
        weir_session_usage(t->session[0], f->path, &u, NULL) < 0 || u.total_bytes == 0)
        return;
    f->full = fmax(f->full, share_used(u.free_bytes, u.total_bytes));
    f->full_inodes = fmax(f->full_inodes, share_used(u.free_inodes, u.inodes));
}

/* ---- the test ---- */

static int flag_of(const struct weir_opt *rows, const void *values, const char *name)
{
    for (; rows && values && !weir_opt_is_end(rows); rows++)
        if (rows->type == WEIR_OPT_FLAG && rows->name && strcmp(rows->name, name) == 0)
            return *(const bool *)((const char *)values + rows->offset);
    return 0;
}

/* Direct I/O has the same name in every backend that has it. */
static int asks_direct(const struct weir_session *s)
{
    return flag_of(s->be->opts, s->opt, "odirect") ||
           (s->be->base && flag_of(s->be->base->opts, s->base_opt, "odirect"));
}

static void describe_place(struct weir_run *run, struct weir_facts *f)
{
    const struct weir_trust *t = &run->trust;
    const struct weir_par *par = &run->par;

    f->tasks = par->size;
    f->nodes = par->nodes;
    f->per_node_max = par->per_node_max;
    f->uneven = (int64_t)par->nodes * par->per_node_max != par->size;
    f->memory = t->memory;
    f->cores = t->cores;
    f->tasks_per_core = par->per_node_max / t->cores;
    f->memcpy_rate = t->copy * fmin(t->cores, par->per_node_max);
    f->resolution_s = t->step;
    f->missing = run->details ? 4 : -1; /* kernel, mount options, layout, binding */
}

void weir_trust_begin(struct weir_run *run)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_trust *t = &run->trust;
    struct weir_facts *f;

    t->facts = NULL;
    if (!is_judged(run->test))
        return;
    t->facts = f = t->room;
    weir_facts_init(f);
    describe_place(run, f);
    f->load = run->par.rank == 0 ? weir_machine_load() : NAN;
    f->peak = (double)o->peak;
    f->repetitions = o->repetitions;
    f->path = run->test->plan.path;
    f->direct = run->test->sessions > 0 ? asks_direct(run->test->session[0]) : -1;
    run->test->driver->facts(run, run->test->state, f);
    if (run->par.rank != 0)
        return;
    if (f->path)
        f->file_system = file_system_of(run, f->path);
    if (is_on_network(f->file_system))
        f->link_rate = t->links;
    look_at_space(run->test, f);
}

/* ---- a phase ---- */

static enum weir_moves moves_of(const struct weir_stage *s)
{
    return s->flags & WEIR_STAGE_WRITES  ? WEIR_MOVES_OUT
           : s->flags & WEIR_STAGE_READS ? WEIR_MOVES_IN
                                         : WEIR_MOVES_NOTHING;
}

static bool is_measured(const struct weir_run *run, const struct weir_stage *s)
{
    return run->trust.facts && s->phase && !(s->flags & WEIR_STAGE_UNTIMED);
}

/* Each rank looks at its own bytes, so that each byte is looked at once on the node that uses it. */
static void look_at_cache(struct weir_run *run, const struct weir_stage *stage)
{
    const struct weir_driver *d = run->test->driver;
    struct weir_trust *t = &run->trust;
    struct weir_cache_range range;
    struct weir_str path = { 0 };

    t->cache = (struct weir_cache_seen) { .looked = 0 };
    t->cache_why = "the program does not tell its files";
    if (d->range && !run->test->plan.options->dry_run &&
        d->range(run, run->test->state, stage, &path, &range))
        weir_cache_look(weir_str_text(&path), &range, &t->cache, &t->cache_why);
    weir_str_free(&path);
}

void weir_trust_before(struct weir_run *run, const struct weir_stage *stage)
{
    enum weir_moves moves = moves_of(stage);

    if (!is_measured(run, stage))
        return;
    if (moves == WEIR_MOVES_IN && run->trust.facts->direct != 1)
        look_at_cache(run, stage);
    weir_machine_use(&run->trust.before, moves != WEIR_MOVES_NOTHING);
}

#define PARTS 100 /* of a phase: when tasks end */

/* What is summed over the ranks after a phase. */
struct sums {
    uint64_t user_ns, reached, io_unknown, retries, sync_ns;
    uint64_t looked, resident, dirty, cache_unknown, dirty_unknown; /* bytes, ranks */
    uint64_t ended[PARTS];
};

/* In which part of the phase has this rank done its work? */
static int part_of(const struct weir_run *run, const struct weir_phase_rec *rec)
{
    int64_t end = weir_clock_common(&run->clock, rec->mark[WEIR_MARK_WORKED]);
    double span = (double)(rec->last[WEIR_MARK_WORKED] - rec->first[WEIR_MARK_WORK]);
    double part = span > 0 ? PARTS * (double)(end - rec->first[WEIR_MARK_WORK]) / span : 0;

    return part < 0 ? 0 : part < PARTS ? (int)part : PARTS - 1;
}

static void add_up(struct weir_run *run, enum weir_moves moves, const struct weir_phase_rec *rec,
                   struct sums *s)
{
    const struct weir_machine_use *was = &run->trust.before;
    const struct weir_test *t = run->test;
    struct weir_machine_use now;

    weir_machine_use(&now, moves != WEIR_MOVES_NOTHING);
    *s = (struct sums) { .user_ns = now.user_ns - was->user_ns,
                         .io_unknown = !now.io_known || !was->io_known };
    s->reached = moves == WEIR_MOVES_IN ? now.read - was->read : now.written - was->written;
    for (int i = 0; i < t->sessions; i++) {
        const struct weir_session_stats *stats = t->session[i]->stats;

        s->retries += stats->short_transfers + stats->retries;
        s->sync_ns += stats->hist[WEIR_OP_SYNC].sum_ns;
    }
    s->looked = (uint64_t)run->trust.cache.looked;
    s->resident = (uint64_t)run->trust.cache.resident;
    s->dirty_unknown = isnan(run->trust.cache.dirty);
    s->dirty = s->dirty_unknown ? 0 : (uint64_t)run->trust.cache.dirty;
    s->cache_unknown = run->trust.cache_why != NULL;
    s->ended[part_of(run, rec)] = 1;
    weir_sum_u64(&run->par, (uint64_t *)s, sizeof(*s) / sizeof(uint64_t));
}

/* How much of the phase is after 9 of 10 tasks were done? */
static double tail_of(const struct sums *s, int tasks)
{
    uint64_t most = (uint64_t)tasks * 9 / 10, done = 0;

    for (int i = 0; i < PARTS; i++)
        if ((done += s->ended[i]) >= (most > 0 ? most : 1))
            return 1 - (i + 1) / (double)PARTS;
    return 0;
}

static double span(const struct weir_phase_rec *rec, enum weir_mark from, enum weir_mark to)
{
    return weir_phase_span(rec, from, to);
}

#define MOST(field, value) (p->field = fmax(p->field, (value)))
#define LEAST(field, value) (p->field = fmin(p->field, (value)))

/* A rank that has nothing to do in the phase knows nothing; that is no loss. */
static void note_cache(const struct weir_run *run, const struct sums *s, struct weir_facts *f,
                       struct weir_facts_phase *p)
{
    double looked = (double)s->looked;

    if (s->looked == 0 || s->cache_unknown > 0) {
        f->cache_why = run->trust.cache_why ? run->trust.cache_why
                                            : "some ranks could not look at their files";
        return;
    }
    if (f->direct == 1)
        MOST(left, (double)s->resident / looked);
    else if (p->moves == WEIR_MOVES_IN)
        MOST(cached, (double)s->resident / looked);
    if (p->moves == WEIR_MOVES_OUT && s->dirty_unknown == 0)
        MOST(dirty, (double)s->dirty / looked);
}

static void note_phase(const struct weir_run *run, const struct weir_phase_rec *rec,
                       const struct sums *s, struct weir_facts *f, struct weir_facts_phase *p)
{
    double total = span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED), tasks = run->par.size;
    double work = span(rec, WEIR_MARK_WORK, WEIR_MARK_WORKED);
    bool moves = p->moves != WEIR_MOVES_NOTHING;
    double ends = span(rec, WEIR_MARK_OPEN, WEIR_MARK_OPENED) +
                  span(rec, WEIR_MARK_CLOSE, WEIR_MARK_CLOSED) + (double)s->sync_ns / tasks / 1e9;
    double rate = (double)(moves ? rec->bytes_sum : rec->steps_sum) / total;

    p->n++;
    LEAST(shortest_s, total);
    MOST(bytes, (double)rec->bytes_sum);
    LEAST(busy_s, (double)rec->busy_ns_sum / tasks / 1e9);
    MOST(tail, tail_of(s, run->par.size));
    MOST(cpu, (double)s->user_ns / tasks / 1e9 / total);
    MOST(data, (double)(rec->fill_ns_sum + rec->verify_ns_sum) / tasks / 1e9 / work);
    if (run->par.size > 1)
        MOST(clock, (double)rec->clock_error_ns / 1e9 / total);
    f->retries = (isnan(f->retries) ? 0 : f->retries) + (double)s->retries;
    if (p->nrates < WEIR_FACTS_RATES)
        p->rates[p->nrates++] = rate;
    if (!moves)
        return;
    note_cache(run, s, f, p);
    MOST(rate, rate);
    MOST(ends, fmin(1, ends / total));
    if (s->io_unknown == 0 && is_on_disk(f->file_system)) {
        p->asked += (double)rec->bytes_sum;
        p->reached += (double)s->reached;
    }
}

/* A dry run measures nothing: what is known is what was meant. */
static void note_plan(const struct weir_stage *stage, double bytes, double rate,
                      struct weir_facts *f)
{
    struct weir_facts_phase *p = weir_facts_phase_of(f, stage->key);

    if (!p || moves_of(stage) == WEIR_MOVES_NOTHING)
        return;
    p->moves = moves_of(stage);
    p->n++;
    MOST(bytes, bytes);
    if (rate > 0)
        LEAST(shortest_s, bytes / rate);
}

void weir_trust_after(struct weir_run *run, const struct weir_stage *stage,
                      const struct weir_phase_rec *rec)
{
    struct weir_facts *f = run->trust.facts;
    struct weir_facts_phase *p;
    struct sums s;

    if (!is_measured(run, stage))
        return;
    if (run->test->plan.options->dry_run) {
        note_plan(stage, f->planned_bytes, (double)run->test->plan.options->assume_rate, f);
        return;
    }
    if (moves_of(stage) == WEIR_MOVES_OUT || run->trust.facts->direct == 1)
        look_at_cache(run, stage);
    add_up(run, moves_of(stage), rec, &s);
    if (run->par.rank != 0 || rec->steps_sum == 0)
        return;
    if (!(p = weir_facts_phase_of(f, stage->key)))
        return;
    p->moves = moves_of(stage);
    note_phase(run, rec, &s, f, p);
}

/* ---- the end ---- */

/* Large transfers in order are what random ones of later tests are compared with. */
static void remember(struct weir_run *run)
{
    struct weir_trust *t = &run->trust;
    const struct weir_facts *f = t->facts;
    double rate = NAN;

    for (int i = 0; i < f->phases; i++)
        if (f->phase[i].moves == WEIR_MOVES_IN)
            rate = fmax(rate, f->phase[i].rate);
    if (f->random != 0 || isnan(rate) || !f->path || t->nread == WEIR_TRUST_FILES)
        return;
    t->read_in_order[t->nread].path = weir_arena_strdup(&run->arena, f->path, NULL);
    t->read_in_order[t->nread].rate = rate;
    t->read_in_order[t->nread].transfer = f->transfer;
    t->nread += t->read_in_order[t->nread].path != NULL;
}

static void recall(struct weir_run *run)
{
    struct weir_trust *t = &run->trust;
    struct weir_facts *f = t->facts;

    for (int i = 0; i < t->nread && f->random == 1 && f->path; i++)
        if (strcmp(t->read_in_order[i].path, f->path) == 0 &&
            f->transfer <= t->read_in_order[i].transfer)
            f->sequential_rate = fmax(f->sequential_rate, t->read_in_order[i].rate);
}

enum weir_severity weir_trust_end(struct weir_run *run)
{
    int64_t worst = WEIR_SOUND;

    if (!run->trust.facts)
        return WEIR_SOUND;
    if (run->par.rank == 0) {
        look_at_space(run->test, run->trust.facts);
        recall(run);
        worst = weir_trust_report(run);
        remember(run);
    }
    run->trust.facts = NULL;
    if (run->test->plan.options->strict)
        weir_bcast(&run->par, &worst, sizeof(worst), 0);
    return (enum weir_severity)worst;
}
