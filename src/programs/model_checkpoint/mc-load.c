/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-load.c - load what mc-find.c has planned, and is every byte right? */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>

#include "base/node/machine.h"
#include "engine/transfer.h"

/* ---- timed ---- */

static int prepare_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_loading *l = &t->load;
    struct weir_machine_use use;

    l->in = NULL;
    l->in_region = -1;
    l->used.opens = l->used.metadata_ns = l->used.read = 0;
    weir_machine_use(&use, true);
    l->used.io_known = use.io_known;
    l->used.io_before = use.read;
    return 0;
}

/* Its transfers: a file of arrays reads each by itself. */
static uint64_t count_load(struct weir_run *run, void *state)
{
    const struct mc_test *t = state;

    return t->layout == MC_ARRAYS ? t->load.plan.moves : t->load.reads.moves;
}

static int close_in(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = mc_arrays_close(t, err);

    if (weir_session_close(t->load.in, rc < 0 ? NULL : err) < 0)
        rc = -1;
    t->load.in = NULL;
    t->load.in_region = -1;
    return rc;
}

static struct weir_flow flow_of(void *state)
{
    struct mc_test *t = state;

    return (struct weir_flow) { .queue = &t->queue, .file = t->load.in };
}

static int open_in(struct weir_run *run, struct mc_test *t, const struct mc_region *r, struct weir_err *err)
{
    const char *path;

    if (close_in(run, t, err) < 0)
        return -1;
    t->load.used.opens++;
    path = mc_path(t, weir_str_text(&t->load.from), r->file, err);
    return path ? weir_session_open(&t->session, path, WEIR_OPEN_READ, NULL, &t->load.in, err) : -1;
}

/* Open a file of the layout of arrays, on all ranks together. */
static int open_load(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc;

    if (t->layout != MC_ARRAYS)
        return 0;
    rc = mc_arrays_open(t, false, err);
    t->load.used.opens++;
    t->load.used.metadata_ns += weir_now_ns() - begin_ns;
    return rc;
}

/* The table of contents of the region is read when the first of its parts is, and compared after the load. */
static int enter_region(struct weir_run *run, struct mc_test *t, int region, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    struct mc_region *r = &l->meta.region[region];
    bool same = l->in_region >= 0 && strcmp(r->file, l->meta.region[l->in_region].file) == 0;
    uint64_t begin_ns = *clock_ns, most = (uint64_t)t->o->transfer;
    const struct weir_flow flow = flow_of(t);

    if (weir_flow_drain(run, &flow, clock_ns, err) < 0 || (!same && open_in(run, t, r, err) < 0))
        return -1;
    for (uint64_t at = 0; at < r->head; at += most) {
        uint64_t len = r->head - at < most ? r->head - at : most;
        const struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->memory.at + r->toc + at, .len = len, .off = r->at + at };

        if (weir_session_xfer(l->in, &io, clock_ns, err) < 0)
            return -1;
        l->used.read += len;
    }
    r->has_toc = true;
    l->in_region = region;
    *clock_ns = weir_now_ns();
    l->used.metadata_ns += *clock_ns - begin_ns;
    return 0;
}

static int step_own(struct weir_run *run, struct mc_test *t, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    const struct mc_move *m = &l->reads.move[i];
    const struct weir_io io = { .dir = WEIR_DIR_READ, .buf = t->memory.at + m->memory, .len = m->len, .off = m->off };

    if (m->region != l->in_region && enter_region(run, t, m->region, clock_ns, err) < 0)
        return -1;
    l->used.read += m->len;
    if (i < l->same)
        return weir_transfer(run, l->in, &io, clock_ns, err);
    return mc_transfer(run, t, l->in, &io, clock_ns, err);
}

/* The first of its group, which has read, tells the others how that went, and sends what it has. */
static void share(const struct mc_test *t, uint64_t i, bool is_read, uint64_t *clock_ns)
{
    const struct mc_move *m = &t->load.reads.move[i];
    const struct weir_par *group = &t->load.copies.group;
    uint64_t good = is_read;

    weir_bcast(group, &good, sizeof(good), 0);
    if (good)
        weir_bcast(group, t->memory.at + m->memory, m->len, 0);
    *clock_ns = weir_now_ns();
}

static int step_load(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    bool is_same = i < t->load.same;
    int rc = 0;

    if (t->arrays.file) {
        t->load.used.read += t->load.plan.move[i].len;
        return mc_arrays_move(run, t, false, i, clock_ns, err);
    }
    if (!is_same || t->load.copies.is_leader)
        rc = step_own(run, t, i, clock_ns, err);
    if (is_same)
        share(t, i, rc == 0, clock_ns);
    return rc;
}

/* A rank that has failed tells the others so, or takes what they have. */
static int idle(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns, struct weir_err *err)
{
    const struct mc_test *t = state;

    if (round < t->load.same)
        share(t, round, false, clock_ns);
    else
        *clock_ns = weir_now_ns();
    return 0;
}

const struct weir_phase mc_load = {
    .key = "load",
    .flags = WEIR_PHASE_BYTES | WEIR_PHASE_BARRIERS,
    .prepare = prepare_load,
    .count = count_load,
    .open = open_load,
    .step = step_load,
    .idle = idle,
    .flow = flow_of,
    .close = close_in,
};

/* ---- what was read ---- */

/* Keep the message of the first wrong byte of this rank. */
static void keep_wrong(const struct mc_test *t, const struct mc_move *m, uint64_t wrong, enum weir_damage kind,
                       struct weir_err *err)
{
    const struct mc_part *p = &t->load.plan.part[m->part];
    const struct mc_region *r = &t->load.meta.region[m->region];
    struct weir_str name = { 0 }, place = { 0 };

    mc_part_name(&t->load.meta.job, p, &name);
    if (t->layout == MC_ARRAYS)
        weir_str_addf(&place, "tensor %s, from element %" PRIu64 ",%" PRIu64 " on", weir_str_words(&name), p->start[0],
                      p->start[1]);
    else
        weir_str_addf(&place, "at offset %" PRIu64 ": tensor %s, saved by rank %d", m->off + (wrong - m->at),
                      weir_str_words(&name), r->rank);
    weir_refuse(err, WEIR_EDATA, "wrong data in '%s/%s' %s, byte %" PRIu64 " %s %" PRIu64 ": %s", weir_str_text(&t->load.from), r->file,
                weir_str_words(&place), wrong, wrong < mc_part_bytes(p) ? "of" : "in the zeros after its", mc_part_bytes(p),
                weir_damage_name(kind));
    weir_str_free(&name);
    weir_str_free(&place);
}

/* The table of contents of a region is that with which the rank of the job has begun it. */
static bool has_right_head(const struct mc_test *t, const struct mc_region *r, struct weir_err *err)
{
    const struct mc_form form = mc_meta_form(&t->load.meta);
    const char *got = t->memory.at + r->toc;
    struct weir_str want = { 0 };
    uint64_t at = 0;
    int rc = mc_region_head(&form, r, &want, err);

    while (rc == 0 && at < r->head && at < want.len && got[at] == want.text[at])
        at++;
    if (rc == 0 && (at < r->head || at < want.len))
        rc = weir_refuse(err, WEIR_EDATA, "wrong data in '%s/%s' at offset %" PRIu64
                         ": the table of contents of rank %d has other text in line %" PRIu64, weir_str_text(&t->load.from), r->file,
                         r->at + at, r->rank, at / MC_LINE + 1);
    weir_str_free(&want);
    return rc == 0;
}

/* Only the first error has words. */
static struct weir_err *first(uint64_t wrong, struct weir_err *err)
{
    return wrong == 0 ? err : NULL;
}

/* The file of a region ends where its last region does, and one of arrays where it did after the save.
 * A length that cannot be asked for is no wrong data. */
static int check_length(struct mc_test *t, const struct mc_region *r, uint64_t *wrong, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    const char *path = mc_path(t, weir_str_text(&l->from), r->file, err);
    uint64_t want = 0, bytes;

    if (t->layout == MC_ARRAYS)
        want = (uint64_t)l->meta.file_bytes;
    for (int i = 0; i < l->meta.regions && t->layout != MC_ARRAYS; i++)
        if (strcmp(l->meta.region[i].file, r->file) == 0 && l->meta.region[i].at + l->meta.region[i].bytes > want)
            want = l->meta.region[i].at + l->meta.region[i].bytes;
    if (!path || weir_session_size(&t->session, path, &bytes, first(*wrong, err)) < 0)
        return -1;
    if (bytes != want && (*wrong)++ == 0)
        weir_refuse(err, WEIR_EDATA, "wrong data in '%s': it has %" PRIu64 " bytes, and was saved with %" PRIu64, path, bytes, want);
    return 0;
}

int mc_load_verify(struct mc_test *t, uint64_t *n, struct weir_err *err)
{
    struct mc_loading *l = &t->load;
    const struct mc_region *last = NULL;
    const struct mc_data data = { l->meta.sequence, l->meta.data.ratio };
    enum weir_damage kind;
    uint64_t wrong;
    int rc = 0;

    weir_gpu_wanted(t->memory.gpu, t->memory.at, l->bytes);
    if (weir_gpu_lost(t->memory.gpu, err) < 0)
        return -1;
    for (int i = 0; i < l->meta.regions; i++)
        if (l->meta.region[i].has_toc)
            *n += !has_right_head(t, &l->meta.region[i], first(*n, err));
    for (size_t i = 0; i < l->plan.moves; i++) {
        const struct mc_move *m = &l->plan.move[i];

        if (!mc_data_check(&l->plan.part[m->part], &data, m->at, t->memory.at + m->memory, m->len, &wrong,
                           &kind) &&
            (*n)++ == 0)
            keep_wrong(t, m, wrong, kind, err);
    }
    if (t->layout == MC_ARRAYS && l->meta.file_bytes > 0 && t->session.par->rank == 0)
        rc = check_length(t, &l->meta.region[0], n, err);
    for (int i = 0; i < l->meta.regions && rc == 0; i++) {
        const struct mc_region *r = &l->meta.region[i];

        if (r->has_toc && !(last && strcmp(last->file, r->file) == 0))
            rc = check_length(t, last = r, n, err);
    }
    return *n > 0 ? -1 : rc;
}
