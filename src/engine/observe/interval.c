/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.c - bandwidth, operations and their latency in a phase in intervals of time */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "engine/observe/all.h"
#include "engine/observe/latency.h"

#define LEAST_S 0.001
#define MOST_S 1e6
#define US 1e3 /* ns in one */

/* One interval of a phase, summed over the ranks. Times in ns, rates a second. */
struct interval_row {
    const char *operation, *call;
    int64_t test, iter, bytes, ops, stalled;
    double begin, width, rate, ops_rate;
    struct weir_latency lat;
};

#define ROW struct interval_row
#define INT(f, k, h, ...) COL_INT(ROW, f, k, h, .csv = k, .gap = 1, __VA_ARGS__)
#define REAL(f, k, h, ...) COL_REAL(ROW, f, k, h, .csv = k, .gap = 1, __VA_ARGS__)
#define LATENCY(f, h)                                                                              \
    COL_REAL(ROW, lat.f, #f, h, .csv = #f, .unit = WEIR_NS_PER_S)
#define SHOWN_LATENCY(f, h)                                                                        \
    COL_REAL(ROW, lat.f, NULL, NULL, .head = (h), .none = "-", .unit = US, .width = 12,            \
             .prec = 3, .gap = 1)
#define OF_TIMES " of their times (response times at a rate), seconds; 3.2 % too high at most"

static const struct weir_col cols[] = {
    COL_INT(ROW, test, "test", "Number of the test, from 0", .csv = "test"),
    COL_STR(ROW, operation, "operation", "Phase", .csv = "operation", .head = "phase", .width = -21,
            .gap = 1),
    COL_STR(ROW, call, "call", "Operation, where a row is about one of several; else all of them",
            .csv = "call", .optional = true),
    INT(iter, "iter", "Repetition, from 0", .head = "iter", .width = 4),
    REAL(begin, "begin", "Begin of the interval after that of the phase, seconds",
         .head = "begin(s)", .unit = WEIR_NS_PER_S, .width = 11, .prec = 3),
    REAL(width, "seconds", "Its width; of the last one up to the end of the work, seconds",
         .head = "width(s)", .unit = WEIR_NS_PER_S, .width = 9, .prec = 3),
    INT(bytes, "bytes",
        "Bytes moved in it by all tasks; those of an operation are distributed by time",
        .head = "bytes", .width = 16),
    REAL(rate, "bwMiB", "Bytes over its width", .head = "bw(MiB/s)", .unit = WEIR_MIB, .width = 12,
         .prec = 2),
    INT(ops, "operations", "Operations of all tasks that ended in it", .head = "operations",
        .width = 12),
    REAL(ops_rate, "opsPerSecond", "Operations over its width", .head = "ops/s", .width = 14,
         .prec = 2),
    LATENCY(p50, "p50" OF_TIMES),
    LATENCY(p99, "p99" OF_TIMES),
    LATENCY(p999, "p99.9" OF_TIMES),
    LATENCY(max, "Longest of them, seconds"),
    SHOWN_LATENCY(p99, "p99(us)"),
    SHOWN_LATENCY(max, "max(us)"),
    COL_INT(ROW, stalled, "stalled",
            "Tasks that stood still: during all of it in one operation, and none ended",
            .csv = "stalled", .head = "stalled", .width = 8),
    WEIR_COL_END
};

#define READERS (WEIR_FOR_DATA | WEIR_FOR_CSV_INTERVALS)

static const struct weir_table table = { .key = "intervals",
                                         .cols = cols,
                                         .readers = READERS,
                                         .in_line = -1 };

/* Columns of one operation of several. */
static const struct weir_table call_table = { .key = "intervalCalls",
                                              .cols = cols,
                                              .readers = READERS,
                                              .in_line = -1 };

/* Number of words of a message with which intervals go to rank 0, unless they go one at a time. */
#define PIECE_WORDS ((size_t)16384)

/* An operation that happened in a phase, and the bins of a histogram that its times have on any rank. */
struct call {
    int op;
    unsigned first, count;
};

/* Intervals as messages. An interval is the number of stalled tasks, then for each operation
 * its bytes, its count and the count of each bin, then the longest time of each operation. */
struct scratch {
    struct weir_hist all, one; /* of an interval, on rank 0 */
    int calls;
    size_t words; /* of an interval */
    struct call *call;
    int64_t *ends; /* of all ranks: width, end, first and last bin of each operation */
    int64_t *max_ns;
    uint64_t *word;
};

struct state {
    struct weir_intervals bins; /* of this rank; on rank 0 after a phase those of kind 0 have the bytes and the
                                 * operations of all kinds and ranks */
    struct scratch scratch;
    struct weir_str text; /* rank 0: tables that wait for the end of the test */
};

/* The width that --interval asks for, in ns; 0 for NULL and "0": none. */
static int parse(const char *text, uint64_t *ns, struct weir_err *err)
{
    const char *end;
    double s;

    *ns = 0;
    if (!text)
        return 0;
    end = weir_real_scan(text, &s);
    if (end == text || *end || !(s == 0 || (s >= LEAST_S && s <= MOST_S)))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --interval: '%s' is not a time from %g to %g seconds, or 0 for "
                           "no intervals", text, LEAST_S, MOST_S);
    *ns = (uint64_t)(s * WEIR_NS_PER_S + 0.5);
    return 0;
}

static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    uint64_t ns;

    return parse(o->interval, &ns, err);
}

static int make_scratch(struct scratch *r, size_t kinds, struct weir_arena *a, struct weir_err *err)
{
    size_t most = 1 + kinds * (2 + WEIR_HIST_BINS);

    r->call = weir_arena_alloc(a, kinds * sizeof(*r->call), err);
    r->ends = weir_arena_alloc(a, (2 + 2 * kinds) * sizeof(*r->ends), err);
    r->max_ns = weir_arena_alloc(a, PIECE_WORDS * sizeof(*r->max_ns), err);
    r->word = weir_arena_alloc(a, (most > PIECE_WORDS ? most : PIECE_WORDS) * sizeof(*r->word), err);
    return r->call && r->ends && r->max_ns && r->word ? 0 : -1;
}

static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    int kinds = weir_operations_count(run->program);
    struct state *s = state;
    uint64_t ns;

    if (parse(run->test->plan.options->interval, &ns, err) < 0)
        return -1;
    if (ns == 0) {
        weir_note(&run->log, "option --interval: 0 shows no intervals; a width is at least %g s",
                  LEAST_S);
        return 0;
    }
    if (weir_intervals_init(&s->bins, ns, kinds, err) < 0 ||
        make_scratch(&s->scratch, (size_t)kinds, &run->test->arena, err) < 0)
        return -1;
    run->records.intervals = &s->bins;
    return 0;
}

/* ---- around a phase ---- */

/* All ranks begin to count at one time, on rank 0's clock, which is the common one. */
static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    struct state *s = state;
    int64_t now = (int64_t)weir_now_ns();

    if (!s->bins.bytes)
        return;
    weir_bcast(&run->par, &now, sizeof(now), 0);
    weir_intervals_begin(&s->bins, weir_clock_local(&run->clock, now));
}

/* All ranks' bins are as wide as the widest. Two bins become one, so the last bin of all follows from
 * the end of the last bin of each rank. */
static void align(struct weir_run *run, struct weir_intervals *s, struct scratch *r)
{
    unsigned first, last;

    weir_intervals_flush(s);
    r->ends[0] = (int64_t)s->width_ns;
    r->ends[1] = (int64_t)(s->used * s->width_ns);
    for (int k = 0; k < s->kinds; k++) {
        bool any = weir_histpack_range(&s->times, weir_intervals_row(k, 0), s->used, &first, &last);

        r->ends[2 + 2 * k] = any ? -(int64_t)first : INT64_MIN;
        r->ends[3 + 2 * k] = any ? (int64_t)last : INT64_MIN;
    }
    weir_allmax_i64(&run->par, r->ends, 2 + 2 * s->kinds);
    weir_intervals_widen(s, (uint64_t)r->ends[0]);
    s->used = (unsigned)((r->ends[1] + r->ends[0] - 1) / r->ends[0]);
}

/* The operations that happened on any rank. */
static void choose_calls(const struct weir_intervals *s, struct scratch *r)
{
    r->calls = 0;
    r->words = 1;
    for (int k = 0; k < s->kinds; k++) {
        const int64_t *ends = r->ends + 2 + 2 * k;
        struct call *c = &r->call[r->calls];

        if (ends[1] == INT64_MIN)
            continue;
        *c = (struct call) { k, (unsigned)-ends[0], (unsigned)(ends[1] + ends[0] + 1) };
        r->words += 2 + c->count;
        r->calls++;
    }
}

/* An interval of this rank. */
static void pack(const struct weir_intervals *s, unsigned i, struct scratch *r, uint64_t *word,
                 int64_t *max_ns)
{
    *word++ = weir_intervals_stalled(s, i);
    for (int k = 0; k < r->calls; k++) {
        const struct call *c = &r->call[k];
        size_t row = weir_intervals_row(c->op, i);

        *word++ = s->bytes[row];
        *word++ = s->ops[row];
        weir_hist_clear(&r->one);
        weir_histpack_get(&s->times, row, &r->one);
        memcpy(word, r->one.bin + c->first, c->count * sizeof(*word));
        word += c->count;
        max_ns[k] = (int64_t)r->one.max_ns;
    }
}

static void fill_row(const struct weir_run *run, const struct weir_phase_rec *rec,
                     const struct weir_intervals *s, unsigned i, struct interval_row *row)
{
    double worked = (double)(rec->last[WEIR_MARK_WORKED] - (int64_t)s->origin_ns);

    row->operation = rec->phase->key;
    row->test = run->test->id;
    row->iter = rec->repetition;
    row->begin = (double)i * (double)s->width_ns;
    row->width = (double)s->width_ns;
    if (i + 1 == s->used && worked > row->begin && worked < row->begin + row->width)
        row->width = worked - row->begin;
    row->rate = (double)row->bytes * WEIR_NS_PER_S / row->width;
    row->ops_rate = (double)row->ops * WEIR_NS_PER_S / row->width;
}

/* The times of an operation in an interval of all ranks. */
static const uint64_t *unpack(struct scratch *r, const struct call *c, const uint64_t *word,
                              int64_t max_ns, struct interval_row *row)
{
    row->bytes = (int64_t)*word++;
    row->ops = (int64_t)*word++;
    weir_hist_clear(&r->one);
    memcpy(r->one.bin + c->first, word, c->count * sizeof(*word));
    r->one.n = (uint64_t)row->ops;
    r->one.max_ns = (uint64_t)max_ns;
    weir_latency_of(&r->one, &row->lat);
    return word + c->count;
}

/* Rows of an interval of all ranks. */
static void report(struct weir_run *run, const struct weir_phase_rec *rec, struct state *s,
                   unsigned i, const uint64_t *word, const int64_t *max_ns)
{
    struct interval_row all = { .stalled = (int64_t)*word++ };
    struct scratch *r = &s->scratch;

    weir_hist_clear(&r->all);
    for (int k = 0; k < r->calls; k++) {
        struct interval_row row = { .call = run->program->operations[r->call[k].op].key,
                                    .stalled = all.stalled };

        word = unpack(r, &r->call[k], word, max_ns[k], &row);
        weir_hist_merge(&r->all, &r->one);
        all.bytes += row.bytes;
        all.ops += row.ops;
        fill_row(run, rec, &s->bins, i, &row);
        if (r->calls > 1)
            weir_report_row(&run->report, &call_table, &row);
    }
    weir_latency_of(&r->all, &all.lat);
    fill_row(run, rec, &s->bins, i, &all);
    weir_report_row(&run->report, &table, &all);
    weir_col_keep(&s->text, "Intervals", cols, &all);
    s->bins.bytes[i] = (uint64_t)all.bytes;
    s->bins.ops[i] = (uint64_t)all.ops;
}

/* All intervals, in pieces. */
static void sum_up(struct weir_run *run, const struct weir_phase_rec *rec, struct state *s)
{
    struct scratch *r = &s->scratch;
    unsigned each = (unsigned)(r->words < PIECE_WORDS ? PIECE_WORDS / r->words : 1), n;

    for (unsigned i = 0; i < s->bins.used; i += n) {
        n = s->bins.used - i < each ? s->bins.used - i : each;
        for (unsigned k = 0; k < n; k++)
            pack(&s->bins, i + k, r, r->word + k * r->words, r->max_ns + k * (unsigned)r->calls);
        weir_sum_u64(&run->par, r->word, n * r->words);
        weir_allmax_i64(&run->par, r->max_ns, (int)n * r->calls);
        for (unsigned k = 0; k < n && run->par.rank == 0; k++)
            report(run, rec, s, i + k, r->word + k * r->words,
                   r->max_ns + k * (unsigned)r->calls);
    }
}

static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct state *s = state;

    if (!s->bins.bytes || !run->stage || rec->failed)
        return 0;
    align(run, &s->bins, &s->scratch);
    choose_calls(&s->bins, &s->scratch);
    sum_up(run, rec, s);
    if (s->bins.width_ns > s->bins.asked_ns)
        weir_note(&run->log,
                  "--interval: the %s phase has too many intervals of %g s for the buffer; their "
                  "width is now %g s", rec->phase->key, (double)s->bins.asked_ns / WEIR_NS_PER_S,
                  (double)s->bins.width_ns / WEIR_NS_PER_S);
    return 0;
}

/* ---- the end ---- */

static void test_free(struct weir_run *run, void *state)
{
    struct state *s = state;

    run->records.intervals = NULL;
    weir_intervals_free(&s->bins);
    *s = (struct state) { .bins = { 0 } };
}

const struct weir_observer weir_interval = {
    .name = "interval",
    .state_size = sizeof(struct state),
    .option = offsetof(struct weir_run_options, interval),
    .check = check,
    .test_begin = test_begin,
    .start = start,
    .after = after,
    .text = offsetof(struct state, text),
    .test_free = test_free,
};
