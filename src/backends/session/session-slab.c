/* SPDX-License-Identifier: BSD-3-Clause */
/* session-slab.c - slabs of arrays: what is selected, moved, and said when that fails */
#include "backends/session/session-array.h"

#include <inttypes.h>
#include <string.h>

#include "backends/session/complete.h"
#include "backends/session/session-array-call.h"

#define SLAB_TEXT 1024

/* ---- selection ---- */

static bool same_shape(const struct weir_shape *a, const struct weir_shape *b)
{
    return a->rank == b->rank && memcmp(a->len, b->len, (size_t)a->rank * sizeof(a->len[0])) == 0;
}

/* Memory in one piece. */
static void whole_memory(struct weir_memory *m, uint64_t elements)
{
    m->shape.rank = 1;
    m->shape.len[0] = elements;
    weir_slab_all(&m->slab, &m->shape);
}

static int check_memory(const struct weir_memory *m, uint64_t elem, uint64_t elements,
                        struct weir_err *err)
{
    uint64_t bytes, n;

    if (weir_shape_bytes(&m->shape, elem, &bytes, err) < 0 ||
        weir_slab_check(&m->slab, &m->shape, &n, err) < 0)
        return weir_err_within(err, "memory");
    if (n != elements)
        return weir_refuse(err, WEIR_EUSAGE,
                           "the array's slab has %" PRIu64 " elements, but that of the memory "
                           "has %" PRIu64, elements, n);
    return 0;
}

/* The elements asked for are selected already: nothing was changed since the last call. */
static bool is_selected(const struct weir_array *a, const struct weir_slab *slab,
                        const struct weir_memory *mem)
{
    if (!a->is_selected || !weir_slab_same(&a->slab, slab))
        return false;
    if (!mem)
        return a->mem_whole;
    return !a->mem_whole && same_shape(&a->mem.shape, &mem->shape) &&
           weir_slab_same(&a->mem.slab, &mem->slab);
}

int weir_session_can_select(const struct weir_session *s, const struct weir_slab *slab,
                            const struct weir_memory *mem, struct weir_err *err)
{
    bool gaps = mem;

    for (int d = 0; d < slab->rank; d++)
        gaps |= slab->count[d] > 1 && slab->stride[d] != slab->block[d];
    return gaps && s->be->array->only_boxes ? cannot(s, "move blocks with gaps", err) : 0;
}

int weir_array_select(struct weir_array *a, const struct weir_slab *slab,
                      const struct weir_memory *mem, struct weir_err *err)
{
    uint64_t elements;

    if (is_selected(a, slab, mem))
        return 0;
    a->is_selected = false;
    if (weir_slab_check(slab, &a->spec.shape, &elements, err) < 0 ||
        (mem && check_memory(mem, a->elem, elements, err) < 0) ||
        weir_session_can_select(a->file->s, slab, mem, err) < 0)
        return -1;
    a->slab = *slab;
    a->elements = elements;
    a->mem_whole = !mem;
    if (mem)
        a->mem = *mem;
    else
        whole_memory(&a->mem, elements);
    if (!a->file->dry_run && ops_of(a->file)->select(a, err) < 0)
        return -1;
    a->is_selected = true;
    return 0;
}

/* ---- transfers ---- */

static int name_slab(const struct weir_array *a, enum weir_dir dir, const struct weir_slab *slab,
                     struct weir_err *err)
{
    char text[SLAB_TEXT];

    return weir_err_within(err, "%s array '%s' of '%s' (%s)",
                           dir == WEIR_DIR_WRITE ? "write" : "read", a->name, a->file->path,
                           weir_slab_text(slab, text, sizeof(text)));
}

static int call_move(struct weir_array *a, enum weir_dir dir, void *buf, struct weir_err *err)
{
    const struct weir_io io = { .dir = dir, .len = a->elements * a->elem, .off = a->at };
    struct weir_session *s = a->file->s;
    uint64_t ns;
    int rc;

    weir_session_enter_xfer(s, a->file->path, &io);
    begin_timed(s);
    rc = s->be->array->move(a, dir, buf, err);
    ns = end_timed(s);
    if (rc == 0 && a->elements > 0)
        weir_hist_add(&s->stats->hist[WEIR_OP_XFER], ns);
    return weir_session_leave(s, rc);
}

/* This rank has nothing to move after all, and the others do not know. */
static void take_part(struct weir_array *a, enum weir_dir dir)
{
    struct weir_slab nothing;
    uint64_t word = 0;

    if (!a->file->collective || a->file->dry_run)
        return;
    weir_slab_none(&nothing, a->spec.shape.rank);
    if (weir_array_select(a, &nothing, NULL, NULL) == 0)
        call_move(a, dir, &word, NULL);
    a->is_selected = false;
}

int weir_array_move(struct weir_array *a, enum weir_dir dir, const struct weir_slab *slab,
                    const struct weir_memory *mem, void *buf, struct weir_err *err)
{
    uint64_t word = 0; /* for libraries that look at the address of nothing */
    int rc;

    if (dir == WEIR_DIR_WRITE && !a->file->writes)
        rc = weir_refuse(err, WEIR_EUSAGE, "the file is open for reading");
    else
        rc = weir_array_select(a, slab, mem, err);
    if (rc < 0) {
        take_part(a, dir);
        return name_slab(a, dir, slab, err);
    }
    if (a->file->dry_run || (a->elements == 0 && !a->file->collective))
        return 0;
    if (call_move(a, dir, buf ? buf : &word, err) == 0)
        return 0;
    if (dir == WEIR_DIR_WRITE)
        weir_explain_write(a->file->s, a->file->path, a->elements * a->elem, err);
    return name_slab(a, dir, slab, err);
}
