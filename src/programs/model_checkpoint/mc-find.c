/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-find.c - before a load: the newest checkpoint, the shape that loads it, and which bytes of which files each rank
 * needs */
#include "config.h"
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/place/pagecache.h"
#include "engine/test.h"
#include "par/agree.h"
#include "par/textfile.h"

/* ---- which one ---- */

/* Rank 0 looks for it. */
static int find_newest(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_found f;
    int rc;

    if (run->par.rank > 0)
        return 0;
    rc = mc_place_look(t, &f, err);
    if (rc == 0 && f.n == 0)
        rc = weir_refuse(err, WEIR_EIO, "'%s' has no published checkpoint", t->o->path);
    t->load_step = f.n > 0 ? f.step[f.n - 1] : -1;
    mc_found_free(&f);
    return rc;
}

/* The metadata, which rank 0 reads. */
struct metadata {
    struct mc_test *t;
    struct weir_shared_text text;
};

static int read_text(struct weir_run *run, void *state, struct weir_err *err)
{
    struct metadata *m = state;
    struct weir_str text = { 0 };
    int rc;

    if (run->par.rank > 0)
        return 0;
    rc = m->t->store->read(m->t, m->text.path, SIZE_MAX, &text, err);
    weir_str_add(&text, "", 1);
    m->text.text = text.text;
    m->text.len = text.len > 0 ? text.len - 1 : 0;
    return rc == 0 && text.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for metadata '%s'", m->text.path) : rc;
}

/* The directory of one step has no metadata of another one. */
static int check_step(const struct mc_test *t, const char *path, struct weir_err *err)
{
    if (t->meta.step == t->load_step)
        return 0;
    return weir_refuse(err, WEIR_EDATA, "'%s' is of step %" PRId64 ", its directory of step %" PRId64, path, t->meta.step,
                       t->load_step);
}

/* The names of files and the shape, on all ranks. */
static int read_meta(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct weir_str path = { 0 };
    struct metadata m = { .t = t, .text = { .what = "metadata" } };
    int rc;

    weir_str_clear(&t->from);
    mc_place_name(t->o->path, MC_PUBLISHED, t->load_step, &t->from);
    weir_str_addf(&path, "%s/" MC_METADATA, weir_str_text(&t->from));
    m.text.path = weir_str_text(&path);
    mc_meta_free(&t->meta);
    rc = path.failed || t->from.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a name") : 0;
    rc = weir_agree(&run->par, rc, err);
    if (rc == 0)
        rc = weir_local(run, read_text, &m, err);
    if (rc == 0)
        rc = weir_shared_text_tell(&run->par, &m.text, err);
    if (rc < 0) {
        free(m.text.text);
    } else {
        rc = mc_meta_read(&t->meta, m.text.text, m.text.len, m.text.path, err) < 0 ? -1 : check_step(t, m.text.path, err);
        rc = weir_agree_check(&run->par, rc, err);
    }
    weir_str_free(&path);
    return rc;
}

/* ---- what is to be read ---- */

/* The region of the checkpoint that has a part of a saved rank. */
static int region_of(const struct mc_meta *m, int rank, enum mc_state state)
{
    int low = 0, high = m->regions, which = mc_region_of((enum mc_layout)m->layout, state);

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (m->region[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m->regions && m->region[low].rank == rank; low++)
        if (m->layout != MC_DEEPSPEED || (strncmp(m->region[low].file, "optimizer-", 10) == 0) == (which == 1))
            return low;
    return -1;
}

/* The pieces of a saved part that are needed, and gaps of --sieve bytes at most between them, from aligned places on. */
static int plan_pieces(struct mc_test *t, const struct mc_part *need, const struct mc_source *s, int region, struct weir_err *err)
{
    uint64_t align = (uint64_t)t->meta.align, most = (uint64_t)t->o->transfer, begin = 0, end = 0, have, at, len;
    uint32_t part = (uint32_t)t->load.parts;
    struct mc_pieces it;

    if (mc_plan_part(&t->load, &s->part, err) < 0)
        return -1;
    mc_pieces_begin(&it, &s->part, need);
    while (mc_pieces_next(&it, &have, &at, &len)) {
        uint64_t first = have / align * align;

        if (end > 0 && first > end + (uint64_t)t->o->sieve) {
            if (mc_plan_moves(&t->load, region, part, begin, end, 0, most, err) < 0)
                return -1;
            end = 0;
        }
        begin = end > 0 ? begin : first;
        end = mc_aligned(have + len, align);
    }
    return mc_plan_moves(&t->load, region, part, begin, end, 0, most, err);
}

/* All that a part needs of the saved ones. */
static int plan_part(struct mc_test *t, const struct mc_part *need, struct weir_err *err)
{
    struct mc_sources it;
    struct mc_source s;
    uint64_t got = 0;

    mc_sources_begin(&it, &t->meta.job, need);
    while (mc_sources_next(&it, &s)) {
        int region = region_of(&t->meta, s.rank, need->state);

        if (s.bytes == 0)
            continue;
        if (region < 0)
            return weir_refuse(err, WEIR_EDATA, "'%s': the metadata have no file of rank %d", weir_str_text(&t->from), s.rank);
        got += s.bytes;
        if (plan_pieces(t, need, &s, region, err) < 0)
            return -1;
    }
    t->asked += mc_part_bytes(need);
    if (got != mc_part_bytes(need))
        return weir_refuse(err, WEIR_EBUG, "the saved parts have %" PRIu64 " of %" PRIu64 " bytes of tensor %" PRIu64, got,
                           mc_part_bytes(need), need->tensor);
    return 0;
}

/* Of an array a rank reads what it needs, whoever saved it. */
static int plan_box(struct mc_test *t, const struct mc_part *need, struct weir_err *err)
{
    t->asked += mc_part_bytes(need);
    return mc_arrays_plan(&t->load, need, &t->load_bytes, err);
}

/* All parts of these states that a rank of the shape that loads has. */
static int plan_states(struct mc_test *t, int role, unsigned states, struct weir_err *err)
{
    struct mc_parts it;
    struct mc_part p;

    mc_parts_begin(&it, &t->load_job, role, states, false);
    while (mc_parts_next(&it, &p))
        if (mc_part_bytes(&p) > 0 && (t->layout == MC_ARRAYS ? plan_box : plan_part)(t, &p, err) < 0)
            return -1;
    return 0;
}

static int compare_moves(const void *a, const void *b)
{
    const struct mc_move *x = a, *y = b;

    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void sort(struct mc_move *m, size_t n)
{
    if (n > 1)
        qsort(m, n, sizeof(*m), compare_moves);
}

/* In the order of files and places, also in memory. */
static void order_moves(struct mc_test *t)
{
    sort(t->load.move, t->same);
    sort(t->load.move + t->same, t->load.moves - t->same);
    for (size_t i = 0; i < t->load.moves; i++) {
        t->load.move[i].memory = t->load_bytes;
        t->load_bytes += t->load.move[i].len;
    }
}

/* The states that all ranks of a data-parallel group load alike. */
static unsigned same_states(const struct mc_test *t, unsigned states)
{
    int64_t zero = t->load_job.shape.zero;

    if (!t->o->broadcast || t->load_job.shape.dp == 1)
        return 0;
    return zero == 0 ? states : zero < 3 ? states & MC_ONLY_PARAMETERS : 0;
}

static int plan_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    unsigned same;

    (void)run;
    mc_plan_free(&t->load);
    t->states = strcasecmp(t->o->load, "parameters") == 0 ? MC_ONLY_PARAMETERS : MC_ALL_STATES;
    t->same = 0;
    t->asked = t->load_bytes = 0;
    if (t->role < 0)
        return 0;
    same = same_states(t, t->states);
    if (same && plan_states(t, t->role, same, err) < 0)
        return -1;
    t->same = t->load.moves;
    if (t->states & ~same && plan_states(t, t->role, t->states & ~same, err) < 0)
        return -1;
    if (t->layout != MC_ARRAYS)
        order_moves(t);
    return mc_memory(&t->memory, &t->memory_room, t->load_bytes, err);
}

/* Files of arrays are those of one backend, which the test has begun with. */
static int check_layout(const struct mc_test *t, struct weir_err *err)
{
    bool has = t->meta.layout == MC_ARRAYS, wants = t->layout == MC_ARRAYS;

    if (has == wants && (!has || strcmp(t->meta.api, t->session.be->name) == 0))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "'%s' was saved with --layout=%s by %s: load it with %s%s", weir_str_text(&t->from),
                       mc_layout_names[t->meta.layout], t->meta.api, has ? "--layout=arrays -a " : "another --layout than arrays",
                       has ? t->meta.api : "");
}

int mc_load_shape(struct mc_test *t, const struct mc_job *saved, const char *dtype, const char *optimizer, int size,
                  struct weir_err *err)
{
    const struct mc_options *o = t->o;
    struct mc_shape x = saved->shape;
    int64_t ranks;

    x.tp = o->load_tp > 0 ? o->load_tp : x.tp;
    x.pp = o->load_pp > 0 ? o->load_pp : x.pp;
    x.ep = o->load_ep > 0 ? o->load_ep : x.ep;
    x.dp = o->load_dp;
    ranks = x.dp > 0 ? x.tp * x.pp * x.dp : size;
    if (ranks > size)
        return weir_refuse(err, WEIR_EUSAGE, "--load-tp, --load-pp and --load-dp need %" PRId64 " ranks, there %s %d", ranks,
                           size == 1 ? "is" : "are", size);
    if (mc_job_init(&t->load_job, &saved->model, &x, dtype, optimizer, (int)ranks, err) < 0)
        return weir_err_within(err, "the shape that loads");
    t->load_ranks = (int)ranks;
    return 0;
}

/* The rank whose part this one loads; -1: it loads nothing. */
static int take_shape(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    if (mc_load_shape(t, &t->meta.job, t->meta.dtype, t->meta.optimizer, run->par.size, err) < 0)
        return -1;
    t->role = t->place_of < t->load_ranks ? t->place_of : -1;
    return 0;
}

int mc_load_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    int most;

    t->place_of = run->par.rank;
    if (strcasecmp(t->o->read_back, "elsewhere") != 0)
        return 0;
    most = weir_circle_most(&run->par);
    if (weir_elsewhere_check(most, run->par.size, 1, err) < 0)
        return weir_err_within(err, "option --read-back=elsewhere");
    weir_circle_ranks(&run->par, most, 1, &t->place_of);
    return 0;
}

/* Groups of ranks that need the same, once a test; and memory for tables of contents. */
static int begin_load(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct mc_place place = mc_job_place(&t->load_job, t->role < 0 ? 0 : t->role);
    const struct mc_shape *x = &t->load_job.shape;
    uint64_t head = 0;
    void *toc = NULL;
    int color = t->role < 0 ? (int)(x->tp * x->pp * x->ep) : (int)(place.tp + x->tp * (place.pp + x->pp * place.ep));

    if (t->o->broadcast && t->copies.group.size == 0 && weir_test_roots(run, &t->copies, color, err) < 0)
        return -1;
    for (int i = 0; i < t->meta.regions; i++)
        head = t->meta.region[i].head > head ? t->meta.region[i].head : head;
    free(t->toc);
    t->toc = NULL;
    if (weir_agree(&run->par, weir_mem_aligned(&toc, 4096, head + 1, err), err) < 0)
        return -1;
    t->toc = toc;
    return 0;
}

static void do_file(const char *dir, const char *file, void (*what)(const char *path, struct weir_below *b),
                    struct weir_below *below)
{
    struct weir_str path = { 0 };

    weir_str_addf(&path, "%s/%s", dir, file);
    if (!path.failed)
        what(weir_str_text(&path), below);
    weir_str_free(&path);
}

/* The files that this rank has saved, and those that it will load. */
static void do_files(const struct mc_test *t, void (*what)(const char *path, struct weir_below *b), bool loads)
{
    struct weir_below below = { .known = false };
    const char *last = "", *dir = weir_str_text(&t->from);

    for (int k = 0; k < t->regions; k++)
        if (t->region[k].lines > 0 && t->step == t->load_step)
            do_file(dir, t->region[k].file, what, &below);
    for (size_t i = 0; loads && i < t->load.moves; i++) {
        const char *file = t->meta.region[t->load.move[i].region].file;

        if (strcmp(file, last) != 0)
            do_file(dir, file, what, &below);
        last = file;
    }
}

/* As --drop-cache of the engine, which knows one file of a rank: all is written back before anything is dropped, and that is
 * done twice, because two ranks that drop the same pages at one time can keep each other from it. */
static int drop_files(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    if (!t->o->run.drop_cache) /* objects are in no page cache */
        return 0;
    do_files(t, weir_cache_clean, false);
    for (int i = 0; i < 2; i++) {
        if (weir_agree(&run->par, 0, err) < 0)
            return -1;
        do_files(t, weir_cache_drop, true);
    }
    return weir_agree(&run->par, 0, err);
}

int mc_before_load(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int64_t most;

    (void)stage;
    if (weir_local(run, find_newest, t, err) < 0)
        return -1;
    weir_bcast(&run->par, &t->load_step, sizeof(t->load_step), 0);
    if (read_meta(run, t, err) < 0 ||
        weir_agree_check(&run->par, check_layout(t, err), err) < 0 || weir_agree_check(&run->par, take_shape(run, t, err), err) < 0)
        return -1;
    most = (int64_t)(weir_now_ns() - begin_ns);
    weir_allmax_i64(&run->par, &most, 1);
    t->times.find_s = (double)most / WEIR_NS_PER_S;
    if (begin_load(run, t, err) < 0 || weir_local(run, plan_load, t, err) < 0)
        return -1;
    return drop_files(run, t, err);
}

void mc_load_timing(const void *state, const struct weir_stage *stage, struct weir_timing *timing)
{
    const struct mc_test *t = state;

    (void)stage;
    if (!t->o->broadcast)
        return;
    timing->lock_step = true;
    timing->lock_par = &t->copies.group;
    timing->op_bytes = (uint64_t)t->o->transfer;
}

/* The file of the first transfer; a rank that loads nothing takes a byte of any. */
bool mc_load_range(const struct mc_test *t, struct weir_str *path, struct weir_cache_range *range)
{
    int region = t->load.moves > 0 ? t->load.move[0].region : 0;

    if (t->meta.regions == 0)
        return false;
    *range = (struct weir_cache_range) { 0, t->load.moves > 0 ? UINT64_MAX : 1, 0, 1 };
    weir_str_addf(path, "%s/%s", weir_str_text(&t->from), t->meta.region[region].file);
    return true;
}
