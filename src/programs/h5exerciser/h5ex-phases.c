/* SPDX-License-Identifier: BSD-3-Clause */
/* h5ex-phases.c - the operations, each timed by itself, and the two phases that are made of them */
#include "engine/phase.h"
#include "programs/h5exerciser/h5ex.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/about/banner.h"
#include "par/agree.h"

#define GROUP "Data"
#define DERIVED_GROUP GROUP "/derivedData"

/* An operation on the file and, where it concerns one, a dataset. Collective. */
typedef int op_fn(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err);

/* ---- files, groups, attributes ---- */

static int create_file(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    int rc = weir_arrays_open(&t->session, t->path,
                              WEIR_OPEN_READ | WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC,
                              &t->file, err);

    t->removes |= rc == 0;
    return rc;
}

static int open_file(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_arrays_open(&t->session, t->path, WEIR_OPEN_READ | WEIR_OPEN_WRITE, &t->file, err);
}

static int flush_file(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_arrays_sync(t->file, err);
}

static int close_file(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    struct weir_array_file *f = t->file;

    t->file = NULL;
    t->array = NULL;
    return weir_arrays_close(f, err);
}

static int create_group(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_arrays_group(t->file, d->which == H5EX_RECORDS ? DERIVED_GROUP : GROUP, true, err);
}

static int open_group(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_arrays_group(t->file, GROUP, false, err);
}

/* Write all, or read and compare them. The work between the calls counts for no operation. */
static int use_attrs(struct h5ex_test *t, bool writes, struct weir_err *err)
{
    struct weir_attr a = { .elem = WEIR_ELEM_BYTE, .count = H5EX_ATTR_BYTES };
    char want[H5EX_ATTR_BYTES] = "", text[H5EX_ATTR_BYTES], name[32];
    int rc = 0;

    for (int i = 0; i < H5EX_ATTRS && rc == 0; i++) { /* all fit */
        snprintf(name, sizeof(name), "Attribute %d Name", i);
        snprintf(want, sizeof(want), "This is my attribute string number %d", i);
        a.name = name;
        a.data = writes ? want : text;
        rc = weir_arrays_move_attr(t->file, writes ? WEIR_DIR_WRITE : WEIR_DIR_READ, GROUP, &a,
                                   err);
        t->wrong_attrs += !writes && rc == 0 && memcmp(text, want, sizeof(text)) != 0;
    }
    return rc;
}

static int put_attrs(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return use_attrs(t, true, err);
}

static int get_attrs(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return use_attrs(t, false, err);
}

/* ---- datasets ---- */

/* Creates a dataset and selects its elements, outside the time of the transfer. */
static int create_set(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    if (weir_array_open(t->file, weir_str_text(&d->name), true, &d->spec, &t->array, err) < 0 ||
        weir_arrays_commit(t->file, err) < 0)
        return -1;
    return weir_array_select(t->array, &d->put.slab, d->memory, err);
}

static int open_set(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    if (weir_array_open(t->file, weir_str_text(&d->name), false, &d->spec, &t->array, err) < 0)
        return -1;
    return weir_array_select(t->array, &d->get.slab, d->memory, err);
}

static int close_set(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    struct weir_array *a = t->array;

    t->array = NULL;
    return weir_array_close(a, err);
}

static int write_set(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_array_move(t->array, WEIR_DIR_WRITE, &d->put.slab, d->memory, d->put.buf, err);
}

static int read_set(struct h5ex_test *t, struct h5ex_set *d, struct weir_err *err)
{
    return weir_array_move(t->array, WEIR_DIR_READ, &d->get.slab, d->memory, d->get.buf, err);
}

/* ---- the table ---- */

/* Which tests have an operation. */
enum need { ALWAYS, GROUPS, ATTRIBUTES, DERIVED, DERIVED_GROUPS };

#define AS_ROW(op, f, col, n, k, t) [H5EX_##op] = { f, n },

#define AS_OPERATION(op, f, col, n, k, t)                                                          \
    [H5EX_##op] = { .key = (k),                                                                    \
                    .title = (t),                                                                  \
                    .unit = "operations",                                                          \
                    .moves_bytes = (f) == write_set || (f) == read_set },

static const struct {
    op_fn *run;
    enum need need;
} ops[H5EX_OPS] = { H5EX_OPERATIONS(AS_ROW) };

const struct weir_operation h5ex_operations[H5EX_OPS + 1] = { H5EX_OPERATIONS(AS_OPERATION) };

bool h5ex_has(const struct h5ex_test *t, enum h5ex_op op)
{
    bool groups = t->be->array->group, derived = t->o->derived;
    const bool has[] = { [ALWAYS] = true,
                         [GROUPS] = groups,
                         [ATTRIBUTES] = t->o->attributes,
                         [DERIVED] = derived,
                         [DERIVED_GROUPS] = derived && groups };

    return has[ops[op].need];
}

struct h5ex_set *h5ex_set_of(struct h5ex_test *t, enum h5ex_op op)
{
    bool derived = op >= H5EX_DERIVED_GROUP && op <= H5EX_DERIVED_CLOSE;

    return &t->set[derived ? H5EX_RECORDS : H5EX_DOUBLES];
}

/* ---- phases ---- */

int h5ex_make_file(struct weir_run *run, void *state, const struct weir_stage *s,
                   struct weir_err *err)
{
    struct h5ex_test *t = state;

    if (create_file(t, NULL, err) < 0)
        return -1;
    weir_banner_array_facts(run, t->file);
    return close_file(t, NULL, err);
}

static void list_ops(struct h5ex_test *t, enum h5ex_op first, enum h5ex_op last)
{
    t->ops = 0;
    for (enum h5ex_op op = first; op <= last; op++)
        if (h5ex_has(t, op))
            t->op[t->ops++] = op;
}

static void forget_failure(struct h5ex_test *t)
{
    t->has_failed = false;
    t->failure = (struct weir_err)WEIR_ERR_INIT;
}

/* A rank that has no memory for a dataset must not be missed where the others make it. */
static int reserve(struct h5ex_test *t, int sets, struct weir_err *err)
{
    const char *const names[] = { [H5EX_DOUBLES] = weir_str_text(&t->set[H5EX_DOUBLES].name),
                                  [H5EX_RECORDS] = weir_str_text(&t->set[H5EX_RECORDS].name) };

    return weir_arrays_reserve(&t->session, t->path, names, sets, err);
}

static int prepare_write(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;
    struct weir_str *name = &t->set[H5EX_DOUBLES].name;

    forget_failure(t);
    memset(t->ns, 0, sizeof(t->ns));
    weir_str_clear(name);
    weir_str_addf(name, "%shdf5DataSet1-iter%d-size%llu", t->be->array->group ? GROUP "/" : "",
                  run->repetition, (unsigned long long)t->size.buffer);
    h5ex_fill(&t->set[H5EX_DOUBLES].put, run->repetition);
    list_ops(t, H5EX_FILE_CREATE, H5EX_FILE_CLOSE);
    return name->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a name")
                        : reserve(t, 1, err);
}

static int prepare_read(struct weir_run *run, void *state, struct weir_err *err)
{
    struct h5ex_test *t = state;

    forget_failure(t);
    t->wrong_attrs = 0;
    for (int i = 0; i <= t->o->derived; i++)
        t->set[i].wrong.n = 0;
    h5ex_invalidate(&t->set[H5EX_DOUBLES].get);
    if (t->o->derived)
        h5ex_fill(&t->set[H5EX_RECORDS].put, run->repetition);
    list_ops(t, H5EX_FILE_OPEN, H5EX_READ_FILE_CLOSE);
    return reserve(t, 1 + t->o->derived, err);
}

static uint64_t count_ops(struct weir_run *run, void *state)
{
    return (uint64_t)((struct h5ex_test *)state)->ops;
}

static uint64_t bytes_of(struct h5ex_test *t, enum h5ex_op op)
{
    bool moves = h5ex_operations[op].moves_bytes;

    return moves ? t->size.file.elements * h5ex_set_of(t, op)->put.size : 0;
}

/* Compares the data that were read, unless they are longer than --maxcheck. */
static void verify(struct weir_run *run, const struct h5ex_test *t, struct h5ex_set *d)
{
    uint64_t begin_ns = weir_now_ns();
    int64_t limit = t->o->max_check;

    if (limit >= 0 && t->size.buffer * sizeof(double) > (uint64_t)limit)
        return;
    h5ex_check(&d->get, run->repetition, &d->wrong);
    run->counters.wrong += d->wrong.n > 0;
    run->counters.verify_ns += weir_now_ns() - begin_ns;
}

/* The work after an operation that counts for no operation. */
static int finish_op(struct weir_run *run, struct h5ex_test *t, enum h5ex_op op)
{
    struct h5ex_set *d = h5ex_set_of(t, op);

    run->counters.bytes += bytes_of(t, op);
    if (ops[op].run == read_set)
        verify(run, t, d);
    if (op != H5EX_DERIVED_WRITE)
        return 0;
    h5ex_invalidate(&d->get);
    return weir_array_select(t->array, &d->get.slab, d->memory, &t->failure);
}

/* Its time is that of the calls of the library, without what the session does around them. */
static int run_op(struct weir_run *run, struct h5ex_test *t, enum h5ex_op op)
{
    uint64_t before_ns = t->session.timed.sum_ns, begin_ns = weir_now_ns();
    int rc = ops[op].run(t, h5ex_set_of(t, op), &t->failure);

    t->ns[op] = t->session.timed.sum_ns - before_ns;
    if (rc < 0) {
        weir_records_add_failed(&run->records, (int)op, begin_ns, weir_now_ns(), 0, &t->failure);
        return rc;
    }
    weir_records_add(&run->records, (int)op, begin_ns, begin_ns + t->ns[op], 0, bytes_of(t, op));
    return finish_op(run, t, op);
}

/* A rank that has failed stays out of calls in which no other rank waits for it. The file is open on
 * all ranks or on none. */
static void do_op(struct weir_run *run, struct h5ex_test *t, enum h5ex_op op)
{
    bool needs_all = ops[op].run == flush_file || ops[op].run == close_file;

    if (!t->has_failed)
        t->has_failed = run_op(run, t, op) < 0;
    else if (needs_all)
        ops[op].run(t, NULL, NULL);
}

/* True when all ranks must learn the outcome of the i-th operation before the next one. Data are
 * moved by all ranks together, and what the dataset is, all must have. */
static bool is_agreed(const struct h5ex_test *t, uint64_t i)
{
    bool last = i + 1 == (uint64_t)t->ops;

    return t->access.collective_metadata || last || h5ex_operations[t->op[i + 1]].moves_bytes;
}

/* All ranks begin an operation together. They know of failures and signals at the next
 * agreement. */
static int step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                struct weir_err *err)
{
    struct h5ex_test *t = state;
    enum h5ex_op op = t->op[i];
    int rc;

    weir_barrier_call(&run->par, t->has_failed ? -1 : 0, &t->failure); /* of the pattern */
    do_op(run, t, op);
    *clock_ns = weir_now_ns();
    if (!is_agreed(t, i))
        return 0;
    if (!t->has_failed && weir_interrupt_poll(&run->interrupt))
        t->has_failed = weir_phase_interrupted(run, run->stage->key, &t->failure) < 0;
    rc = weir_agree_call(&run->par, t->has_failed ? -1 : 0, &t->failure);
    if (rc < 0)
        *err = t->failure;
    *clock_ns = weir_now_ns();
    return rc;
}

/* Closes the objects that a failure or a signal has left open. */
static int close_left(struct weir_run *run, void *state, struct weir_err *err)
{
    return close_file(state, NULL, err);
}

#define PHASE(k, p)                                                                                \
    {                                                                                              \
        .key = (k), .unit = "operations", .flags = WEIR_PHASE_BYTES, .prepare = (p),               \
        .count = count_ops, .step = step, .close = close_left                                    \
    }

const struct weir_phase h5ex_write_phase = PHASE("write", prepare_write);
const struct weir_phase h5ex_read_phase = PHASE("read", prepare_read);
