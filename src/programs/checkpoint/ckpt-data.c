/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-data.c - fields on a cubed sphere: how they are cut into patches, what they hold, how a file
 * says so, and whether it has what it says */
#include "programs/checkpoint/ckpt.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"

#define MARK "weir_checkpoint" /* attribute of a file: four numbers */
#define FORM 1

/* Values of ckpt_mark.kind. */
enum { OF_CELLS, OF_RANKS };

/* ---- the cube ---- */

/* Return the size of part i of 'parts' parts of n cells. The first ones may have one more. */
static uint64_t part(uint64_t n, int parts, int i, uint64_t *begin)
{
    uint64_t each = n / (uint64_t)parts, more = n % (uint64_t)parts, at = (uint64_t)i;

    *begin = at * each + (at < more ? at : more);
    return each + (at < more);
}

/* The part in which cell c of n is. */
static uint64_t part_of(uint64_t n, int parts, uint64_t c)
{
    uint64_t each = n / (uint64_t)parts, more = n % (uint64_t)parts, longer = more * (each + 1);

    return c < longer ? c / (each + 1) : more + (c - longer) / each;
}

void weir_cube_patch(const struct weir_cube *l, int rank, struct weir_box *out)
{
    int row = rank / l->nx, face = row / l->ny;

    out->nx = part(l->im, l->nx, rank % l->nx, &out->x);
    out->ny = part(l->im, l->ny, row % l->ny, &out->y);
    out->y += (uint64_t)face * l->im;
}

int weir_cube_owner(const struct weir_cube *l, uint64_t y, uint64_t x)
{
    uint64_t row = y / l->im * (uint64_t)l->ny + part_of(l->im, l->ny, y % l->im);

    return (int)(row * (uint64_t)l->nx + part_of(l->im, l->nx, x));
}

int weir_cube_row(const struct weir_cube *l, int w)
{
    return (int)(((int64_t)w * l->rows + l->groups - 1) / l->groups);
}

int weir_cube_group_of(const struct weir_cube *l, int rank)
{
    return (int)((int64_t)(rank / l->nx) * l->groups / l->rows);
}

void weir_cube_group(const struct weir_cube *l, int w, struct weir_box *out)
{
    struct weir_box last;

    weir_cube_patch(l, weir_cube_row(l, w) * l->nx, out);
    weir_cube_patch(l, (weir_cube_row(l, w + 1) - 1) * l->nx, &last);
    out->x = 0;
    out->nx = l->im;
    out->ny = last.y + last.ny - out->y;
}

float weir_cube_value(const struct weir_cube *l, uint64_t plane, uint64_t y, uint64_t x)
{
    uint64_t cell = (plane * WEIR_CUBE_FACES * l->im + y) * l->im + x;

    return (float)(weir_rng_at(0, cell) >> 40) / (float)(1 << 24);
}

void weir_cube_reorder(const struct weir_cube *l, int w, uint64_t levels, float *patches,
                       float *block, bool to_block)
{
    int end = weir_cube_row(l, w + 1) * l->nx;
    struct weir_box all, p;

    weir_cube_group(l, w, &all);
    for (int r = weir_cube_row(l, w) * l->nx; r < end; r++) {
        weir_cube_patch(l, r, &p);
        for (uint64_t k = 0; k < levels * p.ny; k++, patches += p.nx) {
            uint64_t row = k / p.ny * all.ny + p.y - all.y + k % p.ny;
            float *at = block + row * l->im + p.x;

            memcpy(to_block ? at : patches, to_block ? patches : at, p.nx * sizeof(*at));
        }
    }
}

/* ---- values ---- */

static float value_at(const struct ckpt *t, const struct ckpt_mark *m, uint64_t plane, uint64_t y,
                      uint64_t x)
{
    struct weir_cube writer = t->layout;

    if (m->kind == OF_CELLS)
        return weir_cube_value(&t->layout, plane, y, x);
    writer.nx = m->nx;
    writer.ny = m->ny;
    return (float)weir_cube_owner(&writer, y, x);
}

static void fill(struct ckpt *t)
{
    uint64_t planes = t->layout.lm * (uint64_t)t->o->arrays;
    float *at = t->data;

    for (uint64_t p = 0; p < planes; p++)
        for (uint64_t y = 0; y < t->mine.ny; y++)
            for (uint64_t x = 0; x < t->mine.nx; x++)
                *at++ = value_at(t, &t->mark, p, t->mine.y + y, t->mine.x + x);
}

void ckpt_fill(struct ckpt *t)
{
    const struct ckpt_options *o = t->o;

    t->mark = (struct ckpt_mark) {
        .form = FORM,
        .kind = o->random && !o->constant ? OF_CELLS : OF_RANKS,
        .nx = o->nx,
        .ny = o->ny,
    };
    fill(t);
}

/* ---- the mark of a file ---- */

/* Files that are nothing but their arrays have no attributes. */
static bool is_plain(const struct ckpt *t)
{
    return !t->be->array->move_attr;
}

static struct weir_attr attr_of(struct ckpt_mark *m)
{
    return (struct weir_attr) {
        .name = MARK, .elem = WEIR_ELEM_INT32, .count = sizeof(*m) / sizeof(int32_t), .data = m
    };
}

int ckpt_put_mark(struct ckpt *t, struct weir_err *err)
{
    const struct weir_attr attr = attr_of(&t->mark);

    return is_plain(t) ? 0 : weir_arrays_move_attr(t->file, WEIR_DIR_WRITE, "/", &attr, err);
}

static bool is_layout(const struct ckpt *t, int64_t nx, int64_t ny)
{
    return nx >= 1 && ny >= 1 && (uint64_t)nx <= t->layout.im && (uint64_t)ny <= t->layout.im;
}

/* A file without the mark is no error; one that cannot be read is. */
static int read_mark(struct ckpt *t, struct ckpt_mark *out, struct weir_err *err)
{
    struct ckpt_mark m = { .form = 0 };
    const struct weir_attr attr = attr_of(&m);
    struct weir_err why = WEIR_ERR_INIT;

    if (weir_arrays_move_attr(t->file, WEIR_DIR_READ, "/", &attr, &why) < 0) {
        if (why.sys == 0)
            return 0;
        *err = why;
        return -1;
    }
    if (m.form == FORM && (m.kind == OF_CELLS || m.kind == OF_RANKS) && is_layout(t, m.nx, m.ny))
        *out = m;
    return 0;
}

/* ---- a file without attributes: its first and its last row decide ---- */

struct rows {
    const float *v; /* n rows of a plane, im values each */
    int n;
    uint64_t y[2];
};

/* True when most of the rows have these values. Some of them may be damaged. */
static bool resemble(const struct ckpt *t, const struct rows *r, const struct ckpt_mark *m)
{
    uint64_t im = t->layout.im, same = 0, all = im * (uint64_t)r->n;

    for (uint64_t i = 0; i < all; i++)
        same += r->v[i] == value_at(t, m, 0, r->y[i / im], i % im);
    return m->kind == OF_CELLS ? 2 * same >= all : 2 * same > all;
}

/* A number of a rank, or -1. */
static int64_t rank_in(float v)
{
    return v >= 0 && v < 1 << 24 && v == (float)(int32_t)v ? (int32_t)v : -1;
}

/* The layout of a run that wrote numbers of ranks: those of the first row, and of the last. */
static bool guess_layout(const struct ckpt *t, const struct rows *r, struct ckpt_mark *m)
{
    uint64_t im = t->layout.im;
    int64_t first = rank_in(r->v[0]), last = rank_in(r->v[im - 1]);
    int64_t end = rank_in(r->v[im * (uint64_t)(r->n - 1)]);

    if (first < 0 || end < 0 || !is_layout(t, last - first + 1, 1))
        return false;
    m->nx = (int32_t)(last - first + 1);
    for (m->ny = 1; is_layout(t, m->nx, m->ny); m->ny++)
        if (value_at(t, m, 0, r->y[0], 0) == (float)first &&
            value_at(t, m, 0, r->y[r->n - 1], 0) == (float)end && resemble(t, r, m))
            return true;
    return false;
}

static void judge_rows(const struct ckpt *t, const struct rows *r, struct ckpt_mark *out)
{
    struct ckpt_mark m = t->mark;

    for (m.kind = OF_CELLS; m.kind <= OF_RANKS; m.kind++)
        if (resemble(t, r, &m)) {
            *out = m;
            return;
        }
    m.kind = OF_RANKS;
    if (guess_layout(t, r, &m))
        *out = m;
}

static int read_rows(struct ckpt *t, struct ckpt_mark *out, struct weir_err *err)
{
    uint64_t lat = t->spec.shape.len[1], begin = t->o->split ? t->block.y : 0;
    struct rows r = { .v = t->rows, .n = lat > 1 ? 2 : 1, .y = { begin, begin + lat - 1 } };
    const uint64_t count[3] = { 1, (uint64_t)r.n, t->layout.im };
    struct weir_slab slab;

    weir_slab_box(&slab, 3, NULL, count);
    slab.stride[1] = lat > 1 ? lat - 1 : 1;
    if (weir_array_move(t->array[0], WEIR_DIR_READ, &slab, NULL, t->rows, err) < 0)
        return -1;
    judge_rows(t, &r, out);
    t->file_bytes = t->file->next_at;
    return weir_session_size(&t->session, weir_str_text(&t->name), &t->there, err);
}

/* ---- the look at a file, before it is read ---- */

void ckpt_scan(struct weir_run *run, struct ckpt *t)
{
    struct ckpt_mark seen = { .form = 0 };
    uint64_t begin = weir_now_ns();

    if (!t->moves || run->repetition > 0)
        return;
    if (t->file)
        (is_plain(t) ? read_rows : read_mark)(t, &seen, &t->look);
    weir_bcast(&t->ranks.group, &seen, sizeof(seen), 0);
    t->is_ours = seen.form == FORM;
    if (t->is_ours && memcmp(&seen, &t->mark, sizeof(seen)) != 0) {
        t->mark = seen;
        fill(t);
    }
    t->ns[CKPT_LOOK] = weir_now_ns() - begin;
}

static bool wants(const struct ckpt *t, const char *word)
{
    return strcmp(t->o->verify, word) == 0;
}

/* "'checkpoint.bin' was", or of several files how many. */
static void name_files(const struct ckpt *t, uint64_t n, const char *one, const char *many,
                       struct weir_str *out)
{
    if (t->o->split)
        weir_str_addf(out, "%" PRIu64 " of %d files %s", n, t->number, many);
    else
        weir_str_addf(out, "'%s' %s", weir_str_text(&t->name), one);
}

/* Once a test: what was not verified, and what was not read. */
void ckpt_note_scan(struct weir_run *run, struct ckpt *t)
{
    bool leader = t->ranks.is_leader, longer = t->there > t->file_bytes;
    uint64_t n[2] = { leader && !t->is_ours, leader && longer };
    struct weir_str text = { 0 };

    if (!t->moves || run->repetition > 0)
        return;
    weir_allsum_u64(&run->par, n, 2);
    t->foreign = (int)n[0];
    if (n[0] > 0 && wants(t, "auto")) {
        weir_str_addf(&text, "not verified: ");
        name_files(t, n[0], "was", "were", &text);
        weir_str_addf(&text, " not written by weir (--verify=yes compares nevertheless)");
    }
    if (n[1] > 0) {
        weir_str_addf(&text, "%s", text.len > 0 ? "; " : "");
        name_files(t, n[1], "has", "have", &text);
        weir_str_addf(&text,
                      " more bytes than are read, %" PRIu64 " of %" PRIu64 ": were lm, num_arrays "
                      "or im_world others when it was written?", t->file_bytes, t->there);
    }
    if (text.len > 0)
        weir_note(&run->log, "%s", weir_str_text(&text));
    weir_str_free(&text);
}

/* ---- what was read ---- */

const char *ckpt_verified(const struct ckpt *t)
{
    if (!t->moves || wants(t, "no") || (wants(t, "auto") && t->foreign == t->number))
        return "no";
    return wants(t, "auto") && t->foreign > 0 ? "partly" : "yes";
}

static void keep_place(struct ckpt *t, uint64_t i, uint64_t at)
{
    uint64_t plane = t->mine.nx * t->mine.ny;
    const float *want = ckpt_patch(t, i);

    weir_refuse(&t->wrong, WEIR_EDATA,
                "wrong data in '%s': variable VAR%03" PRIu64 ", level %" PRIu64 ", row %" PRIu64
                ", column %" PRIu64 " is %.9g, should be %.9g",
                weir_str_text(&t->name), i / t->steps + 1, i % t->steps * t->levels + at / plane,
                t->mine.y + at % plane / t->mine.nx, t->mine.x + at % t->mine.nx,
                (double)t->got[at], (double)want[at]);
}

void ckpt_verify(struct ckpt *t, struct weir_run *run, uint64_t i)
{
    uint64_t n = t->mine.nx * t->mine.ny * t->levels, at = 0;
    const float *want = ckpt_patch(t, i);

    if (wants(t, "no") || (wants(t, "auto") && !t->is_ours) ||
        memcmp(t->got, want, n * sizeof(*want)) == 0)
        return;
    while (memcmp(&t->got[at], &want[at], sizeof(*want)) == 0)
        at++;
    run->counters.wrong++;
    if (t->wrong.code == WEIR_OK)
        keep_place(t, i, at);
}
