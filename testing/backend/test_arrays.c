/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrays.c - the contract of array.h, against every backend that keeps arrays.
 *
 *   test_arrays [BACKEND]                      the whole matrix
 *   test_arrays write BACKEND DIR [OPTION]     write DIR/arrays and tell what is in it, for other readers
 *   test_arrays read BACKEND DIR [OPTION]      read it again
 *
 * Element i of array number k holds i * 7919 + k * 31, of bytes its remainder by 127. */
#include "backends/plugin.h"
#include "backends/registry.h"
#include "backends/session/session-array.h"
#include "backends/session/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/array-cases.h"
#include "backend/setup.h"
#include "backend/tap.h"
#include "base/size.h"

struct trial {
    struct tap *tap;
    const struct weir_par *par;
    struct weir_log log;
    const struct weir_backend *be;
    struct weir_backend_opt opt;
    struct weir_access access;
    struct weir_session s;
    struct weir_err err;
    const char *dir;
    char path[4096];
};

static bool ok(struct trial *t, int rc, const char *claim)
{
    return tap_ok(t->tap, rc == 0, &t->err, "%s", claim);
}

/* It must have failed on this rank, with these words. */
static void refused(struct trial *t, int rc, enum weir_code code, const char *words,
                    const char *claim)
{
    bool good = rc < 0 && t->err.code == code && strstr(t->err.text, words);

    tap_ok(t->tap, good, rc < 0 ? &t->err : NULL, "%s", claim);
}

static bool has_groups(const struct trial *t)
{
    return t->be->array->group;
}

static void name_file(struct trial *t, const char *name)
{
    int n = t->access.file_per_task
                ? snprintf(t->path, sizeof(t->path), "%s/%s.%d", t->dir, name, t->par->rank)
                : snprintf(t->path, sizeof(t->path), "%s/%s", t->dir, name);

    if (n < 0 || (size_t)n >= sizeof(t->path))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static bool can(struct trial *t, const struct array_case *c)
{
    struct weir_array_spec spec = spec_of(c);

    if (c->grouped && !has_groups(t))
        return false;
    return weir_session_can_array(&t->s, &spec, &t->err) == 0;
}

/* ---- the parts of a rank ---- */

/* Rows of the first dimension for task i of n: uneven, and none for some where there are few. */
static void part_of(const struct array_case *c, int i, int n, struct weir_slab *slab)
{
    uint64_t rows = c->shape.len[0];

    weir_slab_all(slab, &c->shape);
    slab->start[0] = rows * (uint64_t)i / (uint64_t)n;
    slab->count[0] = rows * (uint64_t)(i + 1) / (uint64_t)n - slab->start[0];
}

/* Half 0 or 1 of the last dimension of the part, so that rows are in pieces. */
static void half_of(const struct array_case *c, int i, int n, int half, struct weir_slab *slab)
{
    int last = c->shape.rank - 1;
    uint64_t len;

    part_of(c, i, n, slab);
    len = slab->count[last];
    slab->count[last] = half ? len - len / 2 : len / 2;
    slab->start[last] += half ? len / 2 : 0;
}

static int put_half(struct trial *t, struct weir_array *a, size_t k, int half, enum layout layout)
{
    bool shared = !t->access.file_per_task;
    struct weir_slab slab;
    struct weir_memory mem;
    unsigned char *buf;
    uint64_t bytes;
    int rc;

    half_of(&cases[k], shared ? t->par->rank : 0, shared ? t->par->size : 1, half, &slab);
    buf = make_memory(&slab, layout, a->elem, &mem, &bytes);
    fill(k, &slab, &mem, a->elem, buf);
    rc = weir_array_move(a, WEIR_DIR_WRITE, &slab, layout == IN_ONE_PIECE ? NULL : &mem, buf, &t->err);
    free(buf);
    return rc;
}

/* Read a slab and compare; what lies between the elements in memory must be left alone. */
static int get_slab(struct trial *t, struct weir_array *a, size_t k, const struct weir_slab *slab,
                    enum layout layout)
{
    struct weir_memory mem;
    uint64_t bytes;
    unsigned char *want = make_memory(slab, layout, a->elem, &mem, &bytes);
    unsigned char *have = make_memory(slab, layout, a->elem, &mem, &bytes);
    int rc = weir_array_move(a, WEIR_DIR_READ, slab, layout == IN_ONE_PIECE ? NULL : &mem, have, &t->err);

    fill(k, slab, &mem, a->elem, want);
    blank_gaps(cases[k].elem, want, bytes);
    blank_gaps(cases[k].elem, have, bytes);
    if (rc == 0 && memcmp(want, have, bytes) != 0)
        rc = weir_refuse(&t->err, WEIR_EDATA, "wrong data in '%s'", a->name);
    free(want);
    free(have);
    return rc;
}

/* ---- attributes ---- */

static int64_t years[3] = { 1987, 1988, INT64_MAX };
static double tide[2] = { 0.25, -1e300 };
static int32_t answer[1] = { 42 };
static char title[] = "heights of the sea";

/* In this order on the file, and a group where there are groups. */
static const struct weir_attr attrs[] = {
    { "years", WEIR_ELEM_INT64, 3, years },
    { "tide", WEIR_ELEM_FLOAT64, 2, tide },
    { "answer", WEIR_ELEM_INT32, 1, answer },
    { "title", WEIR_ELEM_BYTE, sizeof(title) - 1, title },
};

static const char *const attr_objects[] = { "/", "group" };

static int each_attr(struct trial *t, struct weir_array_file *f, bool puts)
{
    static const size_t sizes[] = { sizeof(years), sizeof(tide), sizeof(answer),
                                    sizeof(title) - 1 };
    int64_t room[8];
    int rc = 0;

    for (size_t o = 0; o < 1u + has_groups(t); o++)
        for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
            struct weir_attr got = attrs[i];

            got.data = room;
            memset(room, 0, sizeof(room));
            if (puts)
                rc = rc < 0 ? rc : weir_arrays_move_attr(f, WEIR_DIR_WRITE, attr_objects[o], &attrs[i], &t->err);
            else if (rc == 0)
                rc = weir_arrays_move_attr(f, WEIR_DIR_READ, attr_objects[o], &got, &t->err);
            if (rc == 0 && !puts && memcmp(room, attrs[i].data, sizes[i]) != 0)
                rc = weir_refuse(&t->err, WEIR_EDATA, "wrong attribute '%s'", attrs[i].name);
        }
    return rc;
}

/* ---- write all, read all ---- */

static int make_all(struct trial *t, struct weir_array_file *f, struct weir_array **a)
{
    int rc = has_groups(t) ? weir_arrays_group(f, "group", true, &t->err) : 0;

    if (has_groups(t) && rc == 0) {
        rc = weir_arrays_group(f, "missing", false, &t->err);
        refused(t, rc, WEIR_EIO, "open group 'missing'", "a group that is not there is not opened");
        rc = weir_arrays_group(f, "group", false, &t->err);
    }
    for (size_t k = 0; k < CASES && rc == 0; k++) {
        struct weir_array_spec spec = spec_of(&cases[k]);

        a[k] = NULL;
        if (can(t, &cases[k]))
            rc = weir_array_open(f, cases[k].name, true, &spec, &a[k], &t->err);
    }
    if (rc == 0 && t->be->array->move_attr)
        rc = each_attr(t, f, true);
    return rc == 0 ? weir_arrays_commit(f, &t->err) : rc;
}

/* The layouts of memory that the backend can move. */
static int layouts_of(const struct trial *t)
{
    return t->be->array->only_boxes ? 1 : LAYOUTS;
}

/* A failed rank goes on: others may be waiting in a collective call. */
static int put_all(struct trial *t, struct weir_array **a, enum layout layout)
{
    int rc = 0;

    for (int half = 0; half < 2; half++)
        for (size_t k = 0; k < CASES; k++)
            if (a[k] && put_half(t, a[k], k, half, layout) < 0)
                rc = -1;
    return rc;
}

static bool write_file(struct trial *t, enum layout layout)
{
    struct weir_array_file *f;
    struct weir_array *a[CASES] = { 0 };
    int rc = weir_arrays_open(&t->s, t->path,
                              WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC,
                              &f, &t->err);

    if (!ok(t, rc, "a file of arrays is made"))
        return false;
    if (ok(t, make_all(t, f, a), "arrays are made in it"))
        ok(t, put_all(t, a, layout), "every rank writes its parts");
    ok(t, weir_arrays_sync(f, &t->err), "they are flushed to stable storage");
    return ok(t, weir_arrays_close(f, &t->err), "the file is closed");
}

/* All of each array by every rank; in turn what the ranks wrote. */
static int get_all(struct trial *t, struct weir_array **a, enum layout layout)
{
    bool shared = !t->access.file_per_task;
    struct weir_slab slab;
    int rc = 0;

    for (size_t k = 0; k < CASES; k++) {
        if (!a[k])
            continue;
        weir_slab_all(&slab, &cases[k].shape);
        if (get_slab(t, a[k], k, &slab, layout) < 0)
            rc = -1;
        part_of(&cases[k], shared ? (t->par->rank + 1) % t->par->size : 0,
                shared ? t->par->size : 1, &slab);
        if (get_slab(t, a[k], k, &slab, ((int)layout + 1) % layouts_of(t)) < 0)
            rc = -1;
    }
    return rc;
}

static int open_all(struct trial *t, struct weir_array_file *f, struct weir_array **a)
{
    int rc = 0;

    for (size_t k = 0; k < CASES && rc == 0; k++) {
        struct weir_array_spec spec = spec_of(&cases[k]);

        a[k] = NULL;
        if (can(t, &cases[k]) && !(cases[k].elem == WEIR_ELEM_COMPOUND && t->be->flags & WEIR_BE_CONTAINER))
            rc = weir_array_open(f, cases[k].name, false, &spec, &a[k], &t->err);
    }
    return rc;
}

static void read_file(struct trial *t, enum layout layout)
{
    struct weir_array_file *f;
    struct weir_array *a[CASES] = { 0 };

    if (!ok(t, weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err),
            "it is opened again for reading"))
        return;
    if (ok(t, open_all(t, f, a), "and its arrays")) {
        ok(t, get_all(t, a, layout), "every rank reads what all wrote");
        if (t->be->array->move_attr)
            ok(t, each_attr(t, f, false), "attributes are what they were");
    }
    ok(t, weir_arrays_close(f, &t->err), "it is closed with its arrays");
}

/* ---- strides, blocks ---- */

/* Every rank writes blocks of its rows; between them are the zeros that rank 0 has written. */
static void stripes_of(struct trial *t, struct weir_slab *slab)
{
    uint64_t ranks = t->access.file_per_task ? 1 : (uint64_t)t->par->size;
    uint64_t rank = t->access.file_per_task ? 0 : (uint64_t)t->par->rank;

    *slab = (struct weir_slab) { .rank = 2 };
    slab->start[0] = rank;
    slab->count[0] = 3;
    slab->stride[0] = ranks + 1;
    slab->block[0] = 1;
    slab->start[1] = 1;
    slab->count[1] = 3;
    slab->stride[1] = 4;
    slab->block[1] = 2;
}

/* Number of wrong elements of the whole array after all have written ones. */
static int count_wrong(const struct trial *t, const int32_t *have, const struct weir_shape *shape)
{
    uint64_t ranks = t->access.file_per_task ? 1 : (uint64_t)t->par->size;
    int wrong = 0;

    for (uint64_t r = 0; r < shape->len[0]; r++)
        for (uint64_t c = 0; c < shape->len[1]; c++) {
            bool written = r % (ranks + 1) < ranks && r / (ranks + 1) < 3 && c > 0 &&
                           (c - 1) % 4 < 2 && (c - 1) / 4 < 3;

            wrong += have[r * shape->len[1] + c] != written;
        }
    return wrong;
}

/* A file with an array of zeros, which rank 0 of the file has written. */
static bool make_zeros(struct trial *t, const struct weir_array_spec *spec, void *zeros)
{
    bool writes = t->access.file_per_task || t->par->rank == 0;
    struct weir_array_file *f;
    struct weir_array *a;
    struct weir_slab slab;
    int rc;

    weir_slab_none(&slab, spec->shape.rank);
    if (writes)
        weir_slab_all(&slab, &spec->shape);
    rc = weir_arrays_open(&t->s, t->path,
                          WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f,
                          &t->err);
    if (!ok(t, rc, "a file for stripes is made"))
        return false;
    rc = weir_array_open(f, "stripes", true, spec, &a, &t->err);
    rc = rc == 0 ? weir_arrays_commit(f, &t->err) : rc;
    rc = rc == 0 ? weir_array_move(a, WEIR_DIR_WRITE, &slab, NULL, zeros, &t->err) : rc;
    ok(t, rc, "an array of zeros is made");
    return ok(t, weir_arrays_close(f, &t->err), "the file of zeros is closed");
}

static void test_stripes(struct trial *t, bool chunked)
{
    uint64_t ranks = t->access.file_per_task ? 1 : (uint64_t)t->par->size;
    struct weir_array_spec spec = { .type = { .elem = WEIR_ELEM_INT32 },
                                    .shape = { 2, { 3 * (ranks + 1) + 1, 13 } } };
    int32_t ones[27], *have = calloc(spec.shape.len[0] * spec.shape.len[1], sizeof(*have));
    struct weir_array_file *f;
    struct weir_array *a;
    struct weir_slab slab, all;
    struct weir_memory mem;
    int rc;

    if (chunked)
        spec.chunk = (struct weir_shape) { 2, { 2, 5 } };
    if (weir_session_can_array(&t->s, &spec, &t->err) < 0) {
        free(have);
        return;
    }
    /* nine blocks of two in memory, too */
    for (int i = 0; i < 27; i++)
        ones[i] = i % 3 < 2 ? 1 : 77;
    mem =
        (struct weir_memory) { .shape = { 1, { 27 } }, .slab = { 1, { 0 }, { 9 }, { 3 }, { 2 } } };
    stripes_of(t, &slab);
    weir_slab_all(&all, &spec.shape);
    name_file(t, "stripes");
    if (!make_zeros(t, &spec, have) ||
        !ok(t, weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ | WEIR_OPEN_WRITE, &f, &t->err),
            "it is opened again")) {
        free(have);
        return;
    }
    if (ok(t, weir_array_open(f, "stripes", false, &spec, &a, &t->err), "with its array")) {
        rc = weir_array_move(a, WEIR_DIR_WRITE, &slab, &mem, ones, &t->err);
        if (t->be->array->only_boxes)
            refused(t, rc, WEIR_EUSAGE, "cannot move blocks with gaps", "blocks with gaps are refused");
        else
            ok(t, rc, "blocks with gaps are written");
    }
    ok(t, weir_arrays_close(f, &t->err), "the file of stripes is closed");
    if (t->be->array->only_boxes) {
        free(have);
        return;
    }
    rc = weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err);
    if (ok(t, rc, "and opened")) {
        rc = weir_array_open(f, "stripes", false, &spec, &a, &t->err);
        rc = rc == 0 ? weir_array_move(a, WEIR_DIR_READ, &all, NULL, have, &t->err) : rc;
        tap_ok(t->tap, rc == 0 && count_wrong(t, have, &spec.shape) == 0, &t->err,
               "it holds the blocks, and zeros between them%s", chunked ? " (chunked)" : "");
        memset(ones, 0, sizeof(ones));
        rc = rc == 0 ? weir_array_move(a, WEIR_DIR_READ, &slab, NULL, ones, &t->err) : rc;
        for (int i = 0; i < 27 && rc == 0; i++)
            if (ones[i] != (i < 18))
                rc = weir_refuse(&t->err, WEIR_EDATA, "element %d is %d", i, (int)ones[i]);
        ok(t, rc, "the blocks are read as they were written");
        ok(t, weir_arrays_close(f, &t->err), "and closed");
    }
    free(have);
}

/* ---- 32 dimensions ---- */

static void test_deepest(struct trial *t)
{
    struct weir_array_spec spec = { .type = { .elem = WEIR_ELEM_INT32 },
                                    .shape = { .rank = WEIR_RANK_MAX } };
    int rows = t->access.file_per_task ? 1 : t->par->size;
    int row = t->access.file_per_task ? 0 : t->par->rank;
    int32_t mine[16], have[16] = { 0 };
    struct weir_array_file *f;
    struct weir_array *a;
    struct weir_slab slab;
    int rc;

    for (int d = 0; d < WEIR_RANK_MAX; d++)
        spec.shape.len[d] = d == 0 ? (uint64_t)rows : d % 8 == 7 ? 2 : 1;
    for (int i = 0; i < 16; i++)
        mine[i] = row * 100 + i;
    weir_slab_all(&slab, &spec.shape);
    slab.start[0] = (uint64_t)row;
    slab.count[0] = 1;
    name_file(t, "deepest");
    rc = weir_arrays_open(&t->s, t->path,
                          WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC, &f,
                          &t->err);
    if (!ok(t, rc, "a file for 32 dimensions is made"))
        return;
    rc = weir_array_open(f, "deepest", true, &spec, &a, &t->err);
    rc = rc == 0 ? weir_arrays_commit(f, &t->err) : rc;
    if (ok(t, rc, "an array of 32 dimensions is made")) {
        rc = weir_array_move(a, WEIR_DIR_WRITE, &slab, NULL, mine, &t->err);
        rc = weir_array_move(a, WEIR_DIR_READ, &slab, NULL, have, rc == 0 ? &t->err : NULL) < 0 ? -1 : rc;
        tap_ok(t->tap, rc == 0 && memcmp(mine, have, sizeof(mine)) == 0, &t->err,
               "every rank reads what it wrote there");
    }
    ok(t, weir_arrays_close(f, &t->err), "the deep file is closed");
}

/* ---- what must be refused ---- */

static void test_wrong_array(struct trial *t, struct weir_array_file *f)
{
    struct weir_array_spec spec = spec_of(&cases[0]);
    struct weir_array *a;
    int rc;

    if (t->be->flags & WEIR_BE_CONTAINER) { /* others do not know the names */
        rc = weir_array_open(f, "nowhere", false, &spec, &a, &t->err);
        refused(t, rc, WEIR_EIO, "'nowhere'", "an array that is not there is not opened");
        spec.type.elem = WEIR_ELEM_FLOAT64;
        rc = weir_array_open(f, "line", false, &spec, &a, &t->err);
        refused(t, rc, WEIR_EIO, "it is int64 37, but this test needs float64 37", "nor one of another type");
        spec.type.elem = WEIR_ELEM_INT64;
        spec.shape.len[0] = 38;
    } else {
        spec.shape.len[0] = 1ull << 40;
    }
    rc = weir_array_open(f, "line", false, &spec, &a, &t->err);
    refused(t, rc, WEIR_EIO, "'line'", "an array of another shape is not opened");
    spec.shape.len[0] = 0;
    rc = weir_array_open(f, "line", false, &spec, &a, &t->err);
    refused(t, rc, WEIR_EUSAGE, "dimension 1", "an empty shape is refused");
    rc = weir_array_open(f, "a//b", false, &spec, &a, &t->err);
    refused(t, rc, WEIR_EUSAGE, "'a//b'", "a name with an empty part is refused");
}

/* One rank alone asks for what cannot be; the others do their part. */
static void test_wrong_slab(struct trial *t, struct weir_array_file *f)
{
    struct weir_array_spec spec = spec_of(&cases[0]);
    bool is_odd = t->par->rank == t->par->size - 1;
    int64_t *buf = calloc(37, sizeof(*buf));
    struct weir_array *a;
    struct weir_slab slab;
    struct weir_memory mem = { .shape = { 1, { 37 } } };
    int rc;

    if (!ok(t, weir_array_open(f, "line", false, &spec, &a, &t->err), "an array is opened")) {
        free(buf);
        return;
    }
    weir_slab_all(&slab, &cases[0].shape);
    slab.start[0] = is_odd;
    rc = weir_array_move(a, WEIR_DIR_READ, &slab, NULL, buf, &t->err);
    tap_ok(t->tap,
           is_odd ? rc < 0 && strstr(t->err.text, "out of bounds") && strstr(t->err.text, t->path)
                  : rc == 0 && buf[36] == value_at(0, 36),
           &t->err, "a slab out of bounds is refused on one rank, the others read theirs");
    slab.start[0] = 0;
    weir_slab_all(&mem.slab, &mem.shape);
    mem.slab.count[0] = is_odd ? 36 : 37;
    rc = weir_array_move(a, WEIR_DIR_READ, &slab, &mem, buf, &t->err);
    tap_ok(t->tap,
           is_odd                     ? rc < 0 && strstr(t->err.text, "37 elements")
           : t->be->array->only_boxes ? rc < 0 && strstr(t->err.text, "blocks with gaps")
                                      : rc == 0,
           &t->err, "so is memory for less");
    rc = weir_array_move(a, WEIR_DIR_WRITE, &slab, NULL, buf, &t->err);
    refused(t, rc, WEIR_EUSAGE, "open for reading", "a file that is read is not written");
    weir_slab_none(&slab, 1);
    if (!is_odd)
        weir_slab_all(&slab, &cases[0].shape);
    rc = weir_array_move(a, WEIR_DIR_READ, &slab, NULL, is_odd ? NULL : buf, &t->err);
    ok(t, rc, "a rank takes part with nothing");
    free(buf);
}

static void test_refusals(struct trial *t)
{
    struct weir_array_file *f;
    int rc;

    name_file(t, "arrays");
    rc = weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err);
    if (ok(t, rc, "the file is opened once more")) {
        test_wrong_array(t, f);
        test_wrong_slab(t, f);
        ok(t, weir_arrays_close(f, &t->err), "and closed after what was refused");
    }
    name_file(t, "missing");
    rc = weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err);
    refused(t, rc, WEIR_EIO, "missing", "a file that is not there is not opened");
    tap_ok(t->tap, access(t->path, F_OK) != 0, NULL, "and not made");
}

/* What the backend does not have is said before anything is opened. */
static void test_cannot(struct trial *t)
{
    struct weir_attr attr = attrs[0];
    struct weir_array_spec spec;
    struct weir_array_file *f;
    int rc;

    for (size_t k = 0; k < CASES; k++) {
        spec = spec_of(&cases[k]);
        if (weir_session_can_array(&t->s, &spec, &t->err) < 0)
            refused(t, -1, WEIR_EUSAGE, t->be->name, "an array that it cannot keep is refused");
    }
    spec = spec_of(&cases[0]);
    spec.shape.rank = 33;
    rc = weir_session_can_array(&t->s, &spec, &t->err);
    refused(t, rc, WEIR_EUSAGE, "1 to 32", "33 dimensions are refused");
    if (has_groups(t) && t->be->array->move_attr)
        return;
    name_file(t, "arrays");
    rc = weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err);
    if (!ok(t, rc, "the file is opened again"))
        return;
    if (!has_groups(t)) {
        rc = weir_arrays_group(f, "group", true, &t->err);
        refused(t, rc, WEIR_EUSAGE, "cannot", "groups are refused where there are none");
    }
    if (!t->be->array->move_attr) {
        rc = weir_arrays_move_attr(f, WEIR_DIR_WRITE, "/", &attr, &t->err);
        refused(t, rc, WEIR_EUSAGE, "cannot", "so are attributes");
    }
    ok(t, weir_arrays_close(f, &t->err), "and closed again");
}

/* Two files at once, of which one is read and one written. */
static void test_two_files(struct trial *t)
{
    struct weir_array_spec spec = spec_of(&cases[1]);
    struct weir_array_file *from, *to;
    struct weir_array *a = NULL, *b = NULL, *all[CASES];
    double buf[13 * 7] = { 0 };
    struct weir_slab slab;
    int rc;

    weir_slab_all(&slab, &spec.shape);
    name_file(t, "arrays");
    if (!ok(t, weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &from, &t->err),
            "a source is opened"))
        return;
    name_file(t, "copy");
    rc = weir_arrays_open(&t->s, t->path,
                          WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL, &to,
                          &t->err);
    if (ok(t, rc, "and a target, which is new")) {
        rc = open_all(t, from, all);
        a = all[1];
        rc = rc == 0 ? weir_array_open(to, "plane", true, &spec, &b, &t->err) : rc;
        rc = rc == 0 ? weir_arrays_commit(to, &t->err) : rc;
        if (ok(t, rc, "both have the array")) {
            rc = weir_array_move(a, WEIR_DIR_READ, &slab, NULL, buf, &t->err);
            if (t->par->rank > 0 && !t->access.file_per_task)
                weir_slab_none(&slab, 2);
            rc = rc == 0 ? weir_array_move(b, WEIR_DIR_WRITE, &slab, NULL, buf, &t->err) : rc;
            ok(t, rc, "which is copied");
            weir_barrier(t->par);
            memset(buf, 0, sizeof(buf));
            weir_slab_all(&slab, &spec.shape);
            rc = weir_array_move(b, WEIR_DIR_READ, &slab, NULL, buf, &t->err);
            tap_ok(t->tap, rc == 0 && buf[90] == (double)value_at(1, 90), &t->err,
                   "and read from the copy");
        }
        ok(t, weir_arrays_close(to, &t->err), "the target is closed");
        rc = weir_arrays_open(&t->s, t->path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL,
                              &to, &t->err);
        refused(t, rc, WEIR_EIO, "copy", "it is not made a second time");
    }
    ok(t, weir_arrays_close(from, &t->err), "the source is closed");
}

static void test_dry_run(struct trial *t)
{
    struct weir_access dry = t->access;
    struct weir_session s;
    struct weir_array_file *f;
    struct weir_array *a = NULL;
    struct weir_slab slab;
    struct weir_array_spec spec = spec_of(&cases[0]);
    int rc;

    dry.dry_run = true;
    name_file(t, "dry");
    weir_slab_all(&slab, &spec.shape);
    rc = weir_session_begin(&s, t->be, t->opt, &dry, t->par, &t->log, &t->err);
    if (!ok(t, rc, "a dry session begins"))
        return;
    rc = weir_arrays_open(&s, t->path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE, &f, &t->err);
    rc = rc == 0 ? weir_array_open(f, "line", true, &spec, &a, &t->err) : rc;
    rc = rc == 0 ? weir_arrays_commit(f, &t->err) : rc;
    rc = rc == 0 ? weir_array_move(a, WEIR_DIR_WRITE, &slab, NULL, NULL, &t->err) : rc;
    ok(t, rc, "everything succeeds");
    slab.start[0] = 1;
    rc = weir_array_move(a, WEIR_DIR_WRITE, &slab, NULL, NULL, &t->err);
    refused(t, rc, WEIR_EUSAGE, "out of bounds", "but what is wrong");
    ok(t, weir_arrays_close(f, &t->err), "the dry file is closed");
    ok(t, weir_session_end(&s, &t->err), "the dry session ends");
    tap_ok(t->tap, access(t->path, F_OK) != 0, NULL, "no file is made");
}

/* ---- what ends early, what is too large ---- */

/* A plain file is cut after its arrays were opened. */
static void test_cut(struct trial *t)
{
    struct weir_array_spec spec = spec_of(&cases[0]);
    int64_t *buf = calloc(37, sizeof(*buf));
    struct weir_array_file *f;
    struct weir_array *a;
    struct weir_slab slab;
    int rc;

    name_file(t, "arrays");
    if (strcmp(t->be->name, "POSIX") != 0 || !buf ||
        !ok(t, weir_arrays_open(&t->s, t->path, WEIR_OPEN_READ, &f, &t->err),
            "a file is opened that will be cut")) {
        free(buf);
        return;
    }
    if (ok(t, weir_array_open(f, "line", false, &spec, &a, &t->err), "with an array")) {
        weir_barrier(t->par);
        tap_ok(t->tap, truncate(t->path, 16) == 0, NULL, "it is cut after two elements");
        weir_barrier(t->par);
        weir_slab_all(&slab, &cases[0].shape);
        rc = weir_array_move(a, WEIR_DIR_READ, &slab, NULL, buf, &t->err);
        refused(t, rc, WEIR_EIO, "end of file at byte 16 of the file",
                "the array is not read to its end, and the end is named");
    }
    ok(t, weir_arrays_close(f, &t->err), "the file that was cut is closed");
    free(buf);
}

/* HDF5 keeps an attribute in the header of its object, which has 64 KiB. */
static void test_large_attr(struct trial *t)
{
    static int64_t numbers[10000];
    const struct weir_attr large = {
        .name = "large", .elem = WEIR_ELEM_INT64, .count = 10000, .data = numbers
    };
    struct weir_array_file *f;
    int rc;

    name_file(t, "arrays");
    if (strcmp(t->be->name, "HDF5") != 0 ||
        !ok(t,
            weir_arrays_open(&t->s, t->path, WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC,
                             &f, &t->err),
            "a file is made"))
        return;
    rc = weir_arrays_move_attr(f, WEIR_DIR_WRITE, "/", &large, &t->err);
    refused(t, rc, WEIR_EIO, "write attribute 'large'",
            "an attribute that is too large is not written");
    tap_ok(t->tap, strstr(t->err.text, "H5Acreate2"), &t->err, "the call that failed is named");
    ok(t, weir_arrays_move_attr(f, WEIR_DIR_WRITE, "/", &attrs[0], &t->err), "another attribute is written then");
    weir_arrays_close(f, NULL);
}

/* ---- the matrix ---- */

static void remove_files(struct trial *t)
{
    static const char *const names[] = { "arrays", "stripes", "copy", "deepest" };

    weir_barrier(t->par);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        name_file(t, names[i]);
        if (t->access.file_per_task || t->par->rank == 0)
            unlink(t->path);
    }
    weir_barrier(t->par);
}

static void run_trial(struct trial *t)
{
    if (!ok(t, weir_session_begin(&t->s, t->be, t->opt, &t->access, t->par, &t->log, &t->err),
            "a session begins"))
        return;
    for (int layout = 0; layout < layouts_of(t); layout++) {
        name_file(t, "arrays");
        if (t->par->rank == 0)
            printf("# memory %s\n", layout_names[layout]);
        if (write_file(t, (enum layout)layout))
            read_file(t, (enum layout)layout);
    }
    test_refusals(t);
    test_cannot(t);
    test_two_files(t);
    test_stripes(t, false);
    test_stripes(t, true);
    test_deepest(t);
    test_dry_run(t);
    test_cut(t);
    test_large_attr(t);
    remove_files(t);
    ok(t, weir_session_end(&t->s, &t->err), "the session ends");
}

static void set_access(struct trial *t, bool per_task, bool collective)
{
    t->access = (struct weir_access) {
        .file_per_task = per_task,
        .collective = collective,
        .tasks = t->par->size,
        .nodes = t->par->nodes,
    };
}

static void run_layouts(struct trial *t)
{
    for (int i = 0; i < 4; i++) {
        bool per_task = i & 1, collective = i & 2;

        if ((collective && !(t->be->flags & WEIR_BE_COLLECTIVE_XFER)) ||
            (per_task && (t->be->flags & WEIR_BE_SHARED_ONLY)))
            continue;
        set_access(t, per_task, collective);
        if (snprintf(t->tap->about, sizeof(t->tap->about), "%s, %s, %s: ", t->be->name,
                     per_task ? "file per task" : "shared file",
                     collective ? "collective" : "independent") < 0)
            t->tap->about[0] = '\0';
        run_trial(t);
    }
    t->tap->about[0] = '\0';
}

/* Write DIR/arrays once and say what is in it, or read it; collective where that can be. */
static void run_once(struct trial *t, bool writes)
{
    set_access(t, false, t->be->flags & WEIR_BE_COLLECTIVE_XFER);
    if (!ok(t, weir_session_begin(&t->s, t->be, t->opt, &t->access, t->par, &t->log, &t->err),
            "a session begins"))
        return;
    name_file(t, "arrays");
    if (writes)
        write_file(t, IN_ONE_PIECE);
    else
        read_file(t, IN_ONE_PIECE);
    for (size_t k = 0; k < CASES && t->par->rank == 0; k++) {
        if (!can(t, &cases[k]))
            continue;
        printf("array\t%s\t%s\t%zu\t", cases[k].name, weir_elem_name(cases[k].elem), k);
        for (int d = 0; d < cases[k].shape.rank; d++)
            printf("%s%" PRIu64, d ? "," : "", cases[k].shape.len[d]);
        printf("\t");
        for (int d = 0; d < cases[k].chunk.rank; d++)
            printf("%s%" PRIu64, d ? "," : "", cases[k].chunk.len[d]);
        printf("\n");
    }
    ok(t, weir_session_end(&t->s, &t->err), "the session ends");
}

/* ---- backends and their options ---- */

/* What to do with a backend: "write", "read", or NULL for the matrix. option: a flag to set, or NULL. */
static void run_backend(struct trial *t, const char *what, const char *option)
{
    struct setup u = { 0 };
    int rc = setup_options(&u, t->be, option, &t->err);

    t->opt = u.opt;
    if (ok(t, rc, t->be->name)) {
        if (what)
            run_once(t, strcmp(what, "write") == 0);
        else
            run_layouts(t);
    }
    setup_free(&u);
}

static void run_backends(struct trial *t, const char *only, const char *what, const char *option)
{
    for (const struct weir_backend *const *be = weir_backends(); *be; be++) {
        if (only && weir_backend_find(only) != *be)
            continue;
        t->be = *be;
        if (!ok(t, weir_backend_load(&t->be, NULL, &t->err), (*be)->name))
            continue;
        if (t->be->array)
            run_backend(t, what, option);
    }
}

int main(int argc, char **argv)
{
    bool once = argc > 3 && (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "read") == 0);
    struct tap tap = { .failed = 0 };
    struct trial t = { .tap = &tap };
    struct weir_par par;
    char dir[2048] = "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tap.rank);
    t.log = (struct weir_log) { .fd = 2, .rank = tap.rank };
    if (ok(&t, weir_par_init(&par, MPI_COMM_WORLD, &t.err), "the ranks meet")) {
        t.par = &par;
        t.dir = once ? argv[3] : dir;
        if (once) {
            run_backends(&t, argv[2], argv[1], argc > 4 ? argv[4] : NULL);
        } else if (tap_ok(&tap, setup_dir(&par, dir, sizeof(dir)), NULL, "there is a place")) {
            run_backends(&t, argc > 1 ? argv[1] : NULL, NULL, NULL);
            tap_ok(&tap, par.rank > 0 || rmdir(dir) == 0, NULL, "nothing is left");
        }
        weir_par_free(&par);
    }
    MPI_Finalize();
    return tap.failed ? 1 : 0;
}
