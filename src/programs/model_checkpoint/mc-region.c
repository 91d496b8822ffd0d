/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-region.c - what a rank writes, and where: its regions of files, their tables of contents, and the transfers */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/test.h"
#include "par/agree.h"
#include "par/reduce.h"

const char *const mc_layout_names[] = { "torch", "megatron", "deepspeed", "shared", "arrays", NULL };

/* ---- lists that grow ---- */

int mc_plan_part(struct mc_plan *p, const struct mc_part *part, struct weir_err *err)
{
    if (!weir_mem_reserve(&p->part, p->parts, &p->part_capacity, sizeof(*p->part)))
        return weir_refuse(err, WEIR_ESETUP, "no memory for a list of %zu parts", p->parts);
    p->part[p->parts++] = *part;
    return 0;
}

int mc_plan_moves(struct mc_plan *p, int region, uint32_t part, uint64_t begin, uint64_t end, uint64_t off,
                  uint64_t most, struct weir_err *err)
{
    for (uint64_t at = begin; at < end; at += most) {
        if (!weir_mem_reserve(&p->move, p->moves, &p->move_capacity, sizeof(*p->move)))
            return weir_refuse(err, WEIR_ESETUP, "no memory for a list of %zu transfers", p->moves);
        p->move[p->moves++] = (struct mc_move) {
            .region = region, .part = part, .at = at, .len = end - at < most ? end - at : most, .off = off + at
        };
    }
    return 0;
}

void mc_plan_free(struct mc_plan *p)
{
    free(p->part);
    free(p->move);
    *p = (struct mc_plan) { .part = NULL };
}

/* ---- files ---- */

/* True when the layout has a file for this rank alone. */
static bool has_own_file(const struct mc_test *t, int region)
{
    return t->layout == MC_TORCH || (t->layout == MC_DEEPSPEED && (region > 0 || t->job.shape.zero == 3));
}

/* Ranks with the same number share the file of their first region. */
static int file_color(const struct mc_test *t, int rank)
{
    struct mc_place place = mc_job_place(&t->job, rank);

    if (t->layout == MC_SHARED || t->layout == MC_ARRAYS)
        return 0;
    return has_own_file(t, 0) ? rank : (int)(place.tp + t->job.shape.tp * place.pp);
}

static void name_file(const struct mc_test *t, int region, int rank, char out[MC_FILE_TEXT])
{
    struct mc_place place = mc_job_place(&t->job, rank);
    const char *what = t->layout != MC_DEEPSPEED ? "" : region == 0 ? "parameters-" : "optimizer-";

    if (t->layout == MC_ARRAYS)
        snprintf(out, MC_FILE_TEXT, MC_ARRAYS_FILE);
    else if (t->layout == MC_SHARED)
        snprintf(out, MC_FILE_TEXT, "checkpoint.data");
    else if (has_own_file(t, region))
        snprintf(out, MC_FILE_TEXT, "%srank-%06d.data", what, rank);
    else
        snprintf(out, MC_FILE_TEXT, "%stp-%03d-pp-%03d.data", what, (int)place.tp, (int)place.pp);
}

/* ---- tables of contents ---- */

#define TITLE "# weir model_checkpoint 1"

/* Fill the rest of a line. Where it is too long the end is cut, and the last character is a line break. */
static void end_line(struct weir_str *s, size_t line)
{
    while (s->len < (line + 1) * MC_LINE - 1 && !s->failed)
        weir_str_addc(s, ' ');
    if (s->failed)
        return;
    s->len = (line + 1) * MC_LINE - 1;
    weir_str_addc(s, '\n');
}

/* Numbers first, so that a name that is too long takes nothing else away. */
static void add_line(const struct mc_job *job, const struct mc_part *p, uint64_t off, size_t line, struct weir_str *s)
{
    weir_str_addf(s, "%d %6" PRIu64 " %14" PRIu64 " %12" PRIu64 " %d", (int)p->state, p->tensor, off, mc_part_bytes(p), p->elem);
    if (p->dims == 2)
        weir_str_addf(s, " %" PRIu64 ",%" PRIu64 " %" PRIu64 ",%" PRIu64 " %" PRIu64 ",%" PRIu64, p->len[0], p->len[1],
                      p->start[0], p->start[1], p->count[0], p->count[1]);
    else
        weir_str_addf(s, " %" PRIu64 " %" PRIu64 " %" PRIu64, p->len[0], p->start[0], p->count[0]);
    weir_str_addf(s, " %" PRIu64 " %" PRIu64 " ", p->from, p->to);
    mc_part_name(job, p, s);
    end_line(s, line);
}

void mc_walk_begin(struct mc_walk *w, const struct mc_form *form, const struct mc_region *r)
{
    *w = (struct mc_walk) { .form = *form, .r = r, .off = r->at + r->head };
    mc_parts_begin(&w->it, form->job, r->rank, MC_ALL_STATES, true);
}

bool mc_walk_next(struct mc_walk *w)
{
    int k = mc_region_is_second(w->r);

    w->off += w->bytes;
    do {
        w->is_at = mc_parts_next(&w->it, &w->part);
    } while (w->is_at && mc_region_of(w->form.layout, w->part.state) != k);
    w->bytes = w->is_at ? mc_aligned(mc_part_bytes(&w->part), w->form.align) : 0;
    return w->is_at;
}

bool mc_walk_to(struct mc_walk *w, const struct mc_part *p, uint64_t *off)
{
    for (int turn = 0; turn < 2; turn++) {
        do {
            if (w->is_at && w->part.state == p->state && w->part.tensor == p->tensor) {
                *off = w->off;
                return true;
            }
        } while (mc_walk_next(w));
        mc_walk_begin(w, &w->form, w->r);
    }
    return false;
}

int mc_region_head(const struct mc_form *form, const struct mc_region *r, struct weir_str *out, struct weir_err *err)
{
    struct mc_walk w;

    weir_str_addf(out,
                  TITLE ": rank %d of %d, %" PRIu64 " tensors. State, tensor, offset, bytes, bytes "
                        "of an element, shape, start, count, elements from, to, name",
                  r->rank, (int)mc_job_ranks(form->job), r->lines);
    end_line(out, 0);
    mc_walk_begin(&w, form, r);
    for (size_t line = 1; mc_walk_next(&w); line++)
        add_line(form->job, &w.part, w.off, line, out);
    while (out->len + 1 < r->head && !out->failed)
        weir_str_addc(out, ' ');
    if (out->len < r->head)
        weir_str_addc(out, '\n');
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a table of contents") : 0;
}

/* ---- of a rank ---- */

/* A tensor's parts in a region: how many, and bytes from the first to the end of the last. */
static void size_region(const struct mc_form *form, struct mc_region *r)
{
    struct mc_walk w;

    mc_walk_begin(&w, form, r);
    while (mc_walk_next(&w))
        r->lines++;
    if (r->lines == 0)
        return;
    if (form->layout != MC_ARRAYS) /* its library has a table of its own */
        r->head = mc_aligned((r->lines + 1) * MC_LINE, form->align);
    r->bytes = r->head + w.off;
}

/* Several ranks write one object: each in whole transfers, which are its parts. */
static void fit_upload(struct mc_test *t, struct mc_region *r)
{
    uint64_t writers = r->lines > 0;

    if (!t->is_objects)
        return;
    weir_allsum_u64(&t->save.sharers.group, &writers, 1);
    t->save.is_shared_upload = writers > 1;
    if (t->save.is_shared_upload)
        r->bytes = mc_aligned(r->bytes, (uint64_t)t->o->transfer);
}

struct weir_extent mc_region_extent(const struct mc_test *t, int k)
{
    const struct mc_region *r = &t->save.region[k];
    const uint64_t transfer = (uint64_t)t->o->transfer;
    bool shared = k == 0 && t->save.is_shared_upload;

    return (struct weir_extent) { .transfer = transfer,
                                  .block = shared ? 0 : r->bytes,
                                  .segments = shared ? r->bytes / transfer : 1,
                                  .file_bytes = r->file_bytes,
                                  .sharers = shared ? &t->save.sharers.group : NULL };
}

/* Objects are written in transfers of one length; in files the table of contents and each part have
 * their own. Requests that a service would not take are refused before anything is asked of it. */
static int plan_region(struct mc_test *t, int k, struct weir_err *err)
{
    const struct mc_region *r = &t->save.region[k];
    const struct weir_extent extent = mc_region_extent(t, k);
    const struct weir_backend *be = t->session.be;
    struct mc_plan *p = &t->save.plan;
    uint64_t most = (uint64_t)t->o->transfer, memory = 0;
    struct mc_walk w;
    int rc;

    if (t->is_objects && be->check && be->check(&t->session, &extent, err) < 0)
        return weir_err_within(err, "file '%s' of a checkpoint (--layout=%s)", r->file, mc_layout_names[t->layout]);
    if (t->is_objects)
        return mc_plan_moves(p, k, 0, 0, r->bytes, r->at, most, err);
    rc = mc_plan_moves(p, k, 0, 0, r->head, r->at, most, err);
    mc_walk_begin(&w, &t->save.form, r);
    while (rc == 0 && mc_walk_next(&w))
        rc = t->layout == MC_ARRAYS ? mc_arrays_plan(p, &w.part, &memory, err)
                                    : mc_plan_moves(p, k, 0, 0, w.bytes, w.off, most, err);
    return rc;
}

/* Bytes that a rank of the shape that loads needs, without those that another data-parallel rank reads alike. Tensors that
 * tensor-parallel ranks have alike are read by each. */
static uint64_t bytes_once(const struct mc_test *t, int rank)
{
    int64_t zero = t->load.job.shape.zero;
    unsigned states = MC_ALL_STATES;

    if (rank >= t->load.ranks)
        return 0;
    if (t->play.tasks > 0)
        return mc_parts_bytes(&t->load.job, rank, states, true, (uint64_t)t->o->align);
    if (mc_job_place(&t->load.job, rank).dp >= t->load.job.shape.ep)
        states = zero == 0 ? 0 : zero < 3 ? MC_ALL_STATES & ~MC_ONLY_PARAMETERS : MC_ALL_STATES;
    return mc_parts_bytes(&t->load.job, rank, states, false, (uint64_t)t->o->align);
}

int mc_regions_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct mc_saving *s = &t->save;
    int rank = t->play.first + run->par.rank, rc = 0;
    uint64_t sum[4];

    s->form = (struct mc_form) { &t->job, t->layout,
                                 t->layout == MC_ARRAYS ? MC_ARRAYS_ALIGN : (uint64_t)t->o->align };
    s->regions = t->layout == MC_DEEPSPEED ? 2 : 1;
    if (weir_test_leaders(run, &s->sharers, file_color(t, rank), err) < 0)
        return -1;
    for (int k = 0; k < s->regions; k++) {
        struct mc_region *r = &s->region[k];

        r->rank = rank;
        name_file(t, k, rank, r->file);
        size_region(&s->form, r);
        if (k == 0)
            fit_upload(t, r);
        r->file_bytes = r->bytes;
        if (k == 0 && t->layout != MC_ARRAYS) {
            r->at = weir_before_u64(&s->sharers.group, r->bytes);
            weir_allsum_u64(&s->sharers.group, &r->file_bytes, 1);
        }
        if (rc == 0 && r->lines > 0)
            rc = plan_region(t, k, err);
    }
    sum[0] = (s->region[0].lines > 0) + (s->region[1].lines > 0);
    sum[1] = (s->region[0].bytes > 0 && s->region[0].at == 0 && (t->layout != MC_ARRAYS || rank == 0)) +
             (s->region[1].lines > 0);
    sum[2] = s->region[0].bytes + s->region[1].bytes;
    sum[3] = t->is_objects ? bytes_once(t, rank) : 0;
    weir_allsum_u64(&run->par, sum, 4);
    s->once_bytes = sum[2] > sum[3] ? sum[2] : sum[3];
    s->opens = sum[0];
    s->files = sum[1];
    return weir_agree(&run->par, rc, err);
}
