/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-find.c - before a load: the newest checkpoint, its shape, and which bytes each rank needs */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/place/pagecache.h"
#include "engine/test.h"
#include "par/agree.h"
#include "par/textfile.h"

/* ---- which one ---- */

/* The path of its metadata; its directory is then t->load.from. */
static const char *metadata_of(struct mc_test *t, struct weir_err *err)
{
    struct mc_loading *l = &t->load;

    weir_str_clear(&l->from);
    mc_place_name(t, MC_PUBLISHED, l->step, &l->from);
    if (!l->from.failed)
        return mc_path(t, weir_str_text(&l->from), MC_METADATA, err);
    weir_refuse(err, WEIR_ESETUP, "no memory for a name");
    return NULL;
}

/* Read the text of the metadata of the newest one. Rank 0. */
static int read_newest(struct mc_test *t, struct weir_str *text, struct weir_err *err)
{
    struct mc_found f;
    const char *path;
    int rc = mc_place_scan(t, &f, err);

    if (rc == 0 && f.published == 0)
        rc = weir_refuse(err, WEIR_EIO, "'%s' has no published checkpoint", t->o->path);
    t->load.step = f.published > 0 ? f.at[f.published - 1].step : -1;
    free(f.at);
    path = rc == 0 ? metadata_of(t, err) : NULL;
    if (!path || t->store->read(t, path, text, err) < 0)
        return -1;
    weir_str_add(text, "", 0); /* also an empty one is a text */
    return text->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for metadata '%s'", path) : 0;
}

/* The newest checkpoint: the names of its files and the shape, on all ranks. */
static int read_meta(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    struct weir_shared_text all = { .what = "metadata" };
    struct weir_str text = { 0 };
    int rc = weir_agree(&run->par, run->par.rank == 0 ? read_newest(t, &text, err) : 0, err);

    if (rc == 0) {
        weir_bcast(&run->par, &l->step, sizeof(l->step), 0);
        all.path = metadata_of(t, err);
        rc = weir_agree(&run->par, all.path ? 0 : -1, err);
    }
    all.text = text.text;
    all.len = text.len;
    if (rc < 0 || weir_shared_text_bcast(&run->par, &all, err) < 0) {
        free(all.text);
        return -1;
    }
    mc_meta_free(&l->meta);
    rc = mc_meta_read(&l->meta, all.text, all.len, all.path, err);
    if (rc == 0 && l->meta.step != l->step) /* the metadata are those of another directory */
        rc = weir_refuse(err, WEIR_EDATA, "'%s' has step %" PRId64 ", but its directory has step "
                                          "%" PRId64, all.path, l->meta.step, l->step);
    return weir_agree_check(&run->par, rc, err);
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
        if (m->layout != MC_DEEPSPEED || mc_region_is_second(&m->region[low]) == (which == 1))
            return low;
    return -1;
}

/* The pieces of a saved part that are needed, and gaps of --sieve bytes at most between them, from aligned places on. */
static int plan_pieces(struct mc_test *t, const struct mc_part *need, const struct mc_source *s, int region, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    uint64_t align = (uint64_t)l->meta.align, most = (uint64_t)t->o->transfer, begin = 0, end = 0, have, at, len;
    uint32_t part = (uint32_t)l->plan.parts;
    struct mc_pieces it;

    if (mc_plan_part(&l->plan, &s->part, err) < 0)
        return -1;
    mc_pieces_begin(&it, &s->part, need);
    while (mc_pieces_next(&it, &have, &at, &len)) {
        uint64_t first = have / align * align;

        if (end > 0 && first > end + (uint64_t)t->o->sieve) {
            if (mc_plan_moves(&l->plan, region, part, begin, end, 0, most, err) < 0)
                return -1;
            end = 0;
        }
        begin = end > 0 ? begin : first;
        end = mc_aligned(have + len, align);
    }
    return mc_plan_moves(&l->plan, region, part, begin, end, 0, most, err);
}

/* All that a part needs of the saved ones. */
static int plan_part(struct mc_test *t, const struct mc_part *need, struct weir_err *err)
{
    struct mc_sources it;
    struct mc_source s;
    uint64_t got = 0;

    mc_sources_begin(&it, &t->load.meta.job, need);
    while (mc_sources_next(&it, &s)) {
        int region = region_of(&t->load.meta, s.rank, need->state);

        if (region < 0)
            return weir_refuse(err, WEIR_EDATA, "'%s': the metadata list no file of rank %d", weir_str_text(&t->load.from), s.rank);
        got += s.bytes;
        if (plan_pieces(t, need, &s, region, err) < 0)
            return -1;
    }
    if (got != mc_part_bytes(need))
        return weir_refuse(err, WEIR_EBUG, "the saved parts have %" PRIu64 " of %" PRIu64 " bytes of tensor %" PRIu64, got,
                           mc_part_bytes(need), need->tensor);
    return 0;
}

/* Plan all parts of these states that a rank of the loading shape has. It reads what it needs of an array, whoever saved it. */
static int plan_states(struct mc_test *t, unsigned states, struct weir_err *err)
{
    struct mc_parts it;
    struct mc_part p;

    mc_parts_begin(&it, &t->load.job, t->load.role, states, t->play.tasks > 0);
    while (mc_parts_next(&it, &p)) {
        t->load.used.asked += mc_part_bytes(&p);
        if ((t->layout == MC_ARRAYS ? mc_arrays_plan(&t->load.plan, &p, &t->load.bytes, err) : plan_part(t, &p, err)) < 0)
            return -1;
    }
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

/* In the order of regions from number 'first' on, and around. */
static void sort(struct mc_move *m, size_t n, int first, int regions)
{
    for (size_t i = 0; i < n; i++)
        m[i].region = (m[i].region - first + regions) % regions;
    if (n > 1)
        qsort(m, n, sizeof(*m), compare_moves);
    for (size_t i = 0; i < n; i++)
        m[i].region = (m[i].region + first) % regions;
}

/* Places in files, by what the saved ranks have, and in memory: tables of contents first, then the moves in their order. */
static int place_moves(struct mc_test *t, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    const struct mc_form form = mc_meta_form(&l->meta);
    struct mc_region *r = NULL;
    struct mc_walk walk;
    uint64_t memory = 0;

    for (size_t i = 0; i < l->plan.moves; i++) {
        struct mc_move *m = &l->plan.move[i];
        const struct mc_part *p = &l->plan.part[m->part];

        if (r != &l->meta.region[m->region]) {
            r = &l->meta.region[m->region];
            r->toc = l->bytes;
            l->bytes += r->head;
            mc_walk_begin(&walk, &form, r);
        }
        if (!mc_walk_to(&walk, p, &m->off))
            return weir_refuse(err, WEIR_EDATA, "'%s/%s': rank %d has no tensor %" PRIu64, weir_str_text(&l->from), r->file,
                               r->rank, p->tensor);
        m->off += m->at;
    }
    for (size_t i = 0; i < l->plan.moves; memory += l->plan.move[i++].len)
        l->plan.move[i].memory = l->bytes + memory;
    l->bytes += memory;
    return 0;
}

/* Neighbours in a file are neighbours in memory, and are read together as far as a transfer reaches. The first 'same' ones, which
 * one rank reads for others, are apart; t->load.same becomes the number of their transfers. */
static int join_moves(struct mc_test *t, size_t same, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    struct mc_plan *reads = &l->reads;

    for (size_t i = 0; i < l->plan.moves; i++) {
        const struct mc_move *m = &l->plan.move[i];
        struct mc_move *last = reads->moves > 0 ? &reads->move[reads->moves - 1] : NULL;

        if (i == same)
            l->same = reads->moves;
        if (i != same && last && last->region == m->region && last->off + last->len == m->off &&
            last->len + m->len <= (uint64_t)t->o->transfer) {
            last->len += m->len;
            continue;
        }
        if (!weir_mem_reserve(&reads->move, reads->moves, &reads->move_capacity, sizeof(*m)))
            return weir_refuse(err, WEIR_ESETUP, "no memory for a list of %zu transfers", reads->moves);
        reads->move[reads->moves++] = *m;
    }
    if (same == l->plan.moves)
        l->same = reads->moves;
    return 0;
}

/* The first 'same' moves, and the others, in the order of files and places. The others begin with
 * what a rank of this number has saved, so that ranks are not all in one file at a time. */
static int order_moves(struct mc_test *t, size_t same, struct weir_err *err)
{
    const struct mc_meta *m = &t->load.meta;
    int own = 0;

    while (own < m->regions - 1 && m->region[own].rank < t->load.role)
        own++;
    sort(t->load.plan.move, same, 0, m->regions);
    sort(t->load.plan.move + same, t->load.plan.moves - same, own, m->regions);
    return place_moves(t, err) < 0 ? -1 : join_moves(t, same, err);
}

/* The states that all ranks of a data-parallel group load alike. */
static unsigned same_states(const struct mc_test *t, unsigned states)
{
    int64_t zero = t->load.job.shape.zero;

    if (!t->o->broadcast || t->load.job.shape.dp == 1)
        return 0;
    return zero == 0 ? states : zero < 3 ? states & MC_ONLY_PARAMETERS : 0;
}

/* No open waits for a pipe, or follows a link. */
static int admit_files(struct mc_test *t, struct weir_err *err)
{
    const char *last = "", *path;

    for (size_t i = 0; i < t->load.plan.moves; i++) {
        const char *file = t->load.meta.region[t->load.plan.move[i].region].file;

        if (strcmp(file, last) == 0)
            continue;
        last = file;
        path = mc_path(t, weir_str_text(&t->load.from), file, err);
        if (!path || weir_session_admit(&t->session, path, WEIR_INTENT_READ, err) < 0)
            return -1;
    }
    return 0;
}

static int plan_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_loading *l = &t->load;
    unsigned same;
    size_t first;

    mc_plan_free(&l->plan);
    mc_plan_free(&l->reads);
    l->same = 0;
    l->used.asked = l->bytes = 0;
    if (l->role < 0)
        return 0;
    same = same_states(t, l->states);
    if (plan_states(t, same, err) < 0)
        return -1;
    first = l->plan.moves;
    if (plan_states(t, l->states & ~same, err) < 0)
        return -1;
    if ((t->layout == MC_ARRAYS ? mc_arrays_reserve(t, false, err) : order_moves(t, first, err)) < 0)
        return -1;
    /* a table of contents without an end would be read beyond its own */
    if (mc_memory_take(&t->memory, l->bytes + 1, err) < 0)
        return -1;
    t->memory.at[l->bytes] = '\0';
    return admit_files(t, err);
}

/* The rank whose part this one loads; -1: it loads nothing. */
static int take_shape(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    int role = t->play.first + l->place_of;
    int ranks = t->play.tasks > 0 ? (int)l->meta.ranks : run->par.size;

    if (mc_load_shape(t, &l->meta.job, l->meta.dtype, l->meta.optimizer, ranks, err) < 0)
        return -1;
    l->role = role < l->ranks ? role : -1;
    return 0;
}

int mc_load_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    int most;

    t->load.place_of = run->par.rank;
    if (strcasecmp(t->o->read_back, "elsewhere") != 0)
        return 0;
    most = weir_circle_most(&run->par);
    if (weir_elsewhere_check(most, run->par.size, 1, err) < 0)
        return weir_err_within(err, "option --read-back=elsewhere");
    weir_circle_ranks(&run->par, most, 1, &t->load.place_of);
    return 0;
}

/* Groups of ranks that need the same, once a test. */
static int begin_load(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    struct mc_place place = mc_job_place(&l->job, l->role < 0 ? 0 : l->role);
    const struct mc_shape *x = &l->job.shape;
    int color = l->role < 0 ? (int)(x->tp * x->pp * x->ep) : (int)(place.tp + x->tp * (place.pp + x->pp * place.ep));

    return t->o->broadcast && l->copies.group.size == 0 ? weir_test_leaders(run, &l->copies, color, err) : 0;
}

typedef void cache_fn(const char *path, struct weir_underlying *underlying);

/* The files that this rank has saved, and those that it will load. */
static void do_files(struct mc_test *t, cache_fn *what, bool loads)
{
    struct mc_loading *l = &t->load;
    struct weir_underlying underlying = { .known = false };
    const char *last = "", *path, *dir = weir_str_text(&l->from);

    for (int k = 0; k < t->save.regions; k++)
        if (t->save.region[k].lines > 0 && t->pub.step == l->step &&
            (path = mc_path(t, dir, t->save.region[k].file, NULL)))
            what(path, &underlying);
    for (size_t i = 0; loads && i < l->plan.moves; i++) {
        const char *file = l->meta.region[l->plan.move[i].region].file;

        if (strcmp(file, last) != 0 && (path = mc_path(t, dir, file, NULL)))
            what(path, &underlying);
        last = file;
    }
}

/* Drop the files from the page cache, since --drop-cache of the engine knows one file of a rank. All is written back before.
 * It is dropped twice: two ranks that drop the same pages at one time can keep each other from it. */
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

    if (read_meta(run, t, err) < 0 ||
        weir_agree_check(&run->par, mc_check_saved(run->test->values, t, err), err) < 0 ||
        weir_agree_check(&run->par, take_shape(run, t, err), err) < 0)
        return -1;
    most = (int64_t)(weir_now_ns() - begin_ns);
    weir_allmax_i64(&run->par, &most, 1);
    t->load.find_s = (double)most / WEIR_NS_PER_S;
    if (t->save.bytes == 0 && mc_need_check(run, &run->par, t, err) < 0) /* not known before */
        return -1;
    if (begin_load(run, t, err) < 0 || weir_local(run, plan_load, t, err) < 0)
        return -1;
    return drop_files(run, t, err);
}
