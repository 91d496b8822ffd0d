/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - the progress of the whole job in a long phase (--progress).
 *
 * Only rank 0 shows it, first after three seconds: one line, once a second, on a terminal, its
 * own or that of its launcher. Elsewhere it prints a line every 30 seconds, or every ten with
 * --progress=always. None are printed beside JSON or CSV on standard output, which batch
 * systems merge with standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/launcher.h"
#include "engine/observe/all.h"
#include "par/rollsum.h"

#define TERMINAL_NS ((uint64_t)WEIR_NS_PER_S)
#define ALWAYS_NS (10 * (uint64_t)WEIR_NS_PER_S)
#define AUTO_NS (30 * (uint64_t)WEIR_NS_PER_S)
/* No line comes before this time of a phase. */
#define FIRST_NS (3 * (uint64_t)WEIR_NS_PER_S)
/* Numbers of all tasks that are older than this are not those of now. */
#define OLD_NS (5 * (uint64_t)WEIR_NS_PER_S)
#define COLUMNS 80 /* where the terminal does not say */

/* State of the phase that runs. */
struct progress {
    const char *key, *unit; /* of the phase; unit: what is counted, in the plural */
    const struct weir_turn *turn; /* of which it is a part; NULL: none */
    struct weir_bounds bounds;
    bool wanted, shown;  /* is a line to come? Was there one? */
    bool placed;         /* is it known where it goes? */
    int terminal;        /* a descriptor of the terminal, -1: lines */
    uint64_t lines_ns;   /* from line to line where it is no terminal; 0: none */
    uint64_t begin_ns, next_ns;
    uint64_t before_ns; /* the line before: when, and what had been done */
    uint64_t steps_before, bytes_before;
    uint64_t none_ns, first_ns; /* no task was done until then; the first numbers with one that is,
                                 * 0: none yet */
    uint64_t received_ns[2]; /* when the last numbers came, and those before */
    int width;         /* of the line on the terminal */
    uint64_t p99_ns;   /* of the operations in the last rounds; 0: not known */
};

/* The times of operations, where --interval keeps them: of each round of an interval, or a
 * second, a sum over all ranks. Each rank has its own rounds; no rank waits. */
struct times {
    struct weir_rollsum rollsum;
    bool on; /* in the test that runs */
    uint64_t round_ns, next_ns; /* length; when this rank gives its next one */
    struct weir_hist then, now; /* of this rank: until its last round, and now */
    struct weir_hist since;     /* rank 0: of all ranks since the line before */
};

struct state {
    struct progress line;
    struct times times;
};

static bool is_mode(const struct weir_run *run, int mode)
{
    const char *mode_name = run->test ? run->test->plan.options->progress : NULL;

    return mode_name ? strcasecmp(mode_name, weir_progress_modes[mode]) == 0 : mode == 0;
}

/* ---- latency ---- */

static int test_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct times *t = &((struct state *)state)->times;

    t->on = run->records.intervals && !is_mode(run, 2);
    if (!t->on)
        return 0;
    t->round_ns = run->records.intervals->asked_ns;
    if (t->round_ns < TERMINAL_NS)
        t->round_ns = TERMINAL_NS;
    return weir_rollsum_begin(&t->rollsum, &run->par, WEIR_HIST_BINS, err);
}

static void test_free(struct weir_run *run, void *state)
{
    struct times *t = &((struct state *)state)->times;

    if (t->on)
        weir_rollsum_free(&t->rollsum);
    *t = (struct times) { .on = false };
}

static void tick_times(const struct weir_run *run, struct times *t, uint64_t now_ns)
{
    if (weir_rollsum_poll(&t->rollsum)) {
        weir_hist_add_bins(&t->since, t->rollsum.sum);
    } else if (!t->rollsum.pending && now_ns >= t->next_ns) {
        weir_intervals_until_now(run->records.intervals, &t->now);
        weir_hist_since(&t->then, &t->now, t->rollsum.mine);
        weir_rollsum_start(&t->rollsum);
        t->next_ns += (now_ns - t->next_ns) / t->round_ns * t->round_ns + t->round_ns;
    }
}

/* ---- a phase ---- */

/* Give the terminal back without the line. It is written directly: through a launcher it could come
 * after the rows that the program prints then. */
static void wipe(struct progress *p)
{
    if (!p->placed || p->terminal < 0)
        return;
    if (p->width > 0)
        dprintf(p->terminal, "\r%*s\r", p->width, "");
    close(p->terminal);
    p->terminal = -1;
    p->shown = false;
}

static const struct weir_turn *turn_of(const struct weir_phase_rec *rec)
{
    return rec->again ? rec->again->turn : NULL;
}

static struct progress begin_line(const struct weir_run *run, const struct weir_phase_rec *rec, uint64_t now_ns)
{
    const struct weir_phase *ph = rec->phase;

    return (struct progress) { .key = ph->key,
                               .unit = ph->unit ? ph->unit : "transfers",
                               .turn = turn_of(rec),
                               .bounds = rec->bounds,
                               .wanted = run->par.rank == 0 && !is_mode(run, 2),
                               .terminal = -1,
                               .lines_ns = is_mode(run, 1) ? ALWAYS_NS : run->report.is_data ? 0 : AUTO_NS,
                               .begin_ns = now_ns,
                               .none_ns = now_ns,
                               .before_ns = now_ns,
                               .next_ns = now_ns + FIRST_NS };
}

static void start(struct weir_run *run, void *state, const struct weir_phase_rec *rec)
{
    const struct weir_turn *turn = turn_of(rec);
    struct times *t = &((struct state *)state)->times;
    struct progress *p = &((struct state *)state)->line;
    uint64_t now = turn ? turn->begin_ns : weir_now_ns();

    weir_hist_clear(&t->then);
    weir_hist_clear(&t->since);
    t->rollsum.started = 0;
    t->next_ns = weir_now_ns() + t->round_ns;
    if (p->turn && turn && p->begin_ns == now) { /* the line of the phase before goes on */
        p->turn = turn;
        p->key = rec->phase->key;
        return;
    }
    if (p->turn) /* its series ended early */
        wipe(p);
    *p = begin_line(run, rec, now);
}

/* Find out where lines go. Called when the first line is due: most phases have none. */
static void place(struct progress *p)
{
    p->placed = true;
    p->terminal = isatty(STDERR_FILENO) ? dup(STDERR_FILENO) : weir_launch_terminal();
    if (p->terminal >= 0)
        return;
    p->wanted = p->lines_ns > 0;
    if (p->lines_ns == AUTO_NS)
        p->next_ns = p->begin_ns + AUTO_NS;
}

/* ---- the line ---- */

static double seconds(uint64_t ns)
{
    return (double)ns / WEIR_NS_PER_S;
}

/* Which part of the phase is over: of its steps, or of its time where that ends it earlier, or
 * does not let it end yet. */
static double share_of(const struct progress *p, const struct weir_ranks_progress *n,
                       uint64_t elapsed_ns)
{
    const struct weir_bounds *b = &p->bounds;
    double share = n->target > 0 ? (double)n->steps / (double)n->target : 1;
    double elapsed_s = seconds(elapsed_ns);

    if (b->min_s > elapsed_s)
        share = elapsed_s / b->min_s;
    if (b->max_s > 0 && !b->wears_out && elapsed_s / b->max_s > share)
        share = elapsed_s / b->max_s;
    return share < 1 ? share : 1;
}

/* The unit in which a value is shown, of those that are 'step' times as large each. */
static const char *unit_of(double *value, double step, const char *const *units)
{
    for (; *value >= step && units[1]; units++)
        *value /= step;
    return *units;
}

static void add_bytes(struct weir_str *out, uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", NULL };
    double value = (double)bytes;
    const char *unit = unit_of(&value, 1024, units);

    weir_str_addf(out, "%.*f %s", unit == units[0] ? 0 : 2, value, unit);
}

static double rate(double n, uint64_t ns)
{
    return ns > 0 ? n / seconds(ns) : 0;
}

/* Adds the work that was done, how fast on average, and while the phase runs how fast since the line
 * before. */
static void add_rates(const struct progress *p, uint64_t bytes, uint64_t steps, bool runs,
                      uint64_t now_ns, struct weir_str *out)
{
    bool moves = bytes > 0;
    const char *unit = moves ? " MiB/s" : "/s";
    double n = moves ? (double)bytes / WEIR_MIB : (double)steps;
    double before = moves ? (double)p->bytes_before / WEIR_MIB : (double)p->steps_before;
    double mean = rate(n, now_ns - p->begin_ns);

    if (moves)
        add_bytes(out, bytes);
    else
        weir_str_addf(out, "%" PRIu64 " %s", steps, p->unit);
    if (runs)
        weir_str_addf(out, ", %.1f%s (mean %.1f)", rate(n - before, now_ns - p->before_ns), unit,
                      mean);
    else
        weir_str_addf(out, ", mean %.1f%s", mean, unit);
}

static void add_time(struct weir_str *out, uint64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s", NULL };
    double value = (double)ns;
    const char *unit = unit_of(&value, 1000, units);

    weir_str_addf(out, ", p99 %.3g %s", value, unit);
}

/* Append the rounds of a series that are over, and the phase of the one that runs. */
static void add_turn(const struct progress *p, uint64_t now_ns, struct weir_str *out)
{
    const struct weir_turn *t = p->turn;
    double elapsed = seconds(now_ns - p->begin_ns);

    weir_str_addf(out, "%s: %.0f s, phase %d of %d (%s), ", t->name, elapsed, t->done + 1, t->all,
                  p->key);
    if (t->done > 0)
        weir_str_addf(out, "%.0f s left", elapsed * (t->all - t->done) / t->done);
    else
        weir_str_addf(out, "the first");
}

/* Between two numbers of all tasks, which are far apart where a task was stopped. */
static void add_first(const struct progress *p, struct weir_str *out)
{
    weir_str_addf(out, ", the first after ");
    if (p->first_ns - p->none_ns > WEIR_NS_PER_S)
        weir_str_addf(out, "%.1f to ", seconds(p->none_ns - p->begin_ns));
    weir_str_addf(out, "%.1f s", seconds(p->first_ns - p->begin_ns));
}

/* A task is stopped, or in a long call: the last numbers of all tasks, as such. */
static void add_old(const struct progress *p, const struct weir_ranks_progress *n, uint64_t now_ns,
                    struct weir_str *out)
{
    weir_str_addf(out, "%s: %.0f s, no numbers of all tasks for %.0f s; before: %.1f %%, ", p->key,
                  seconds(now_ns - p->begin_ns), seconds(now_ns - n->at_ns),
                  100 * share_of(p, n, n->at_ns - p->begin_ns));
    add_rates(p, n->bytes, n->steps, false, n->at_ns, out);
    weir_str_addf(out, ", %d of %d tasks done", n->done, n->tasks);
}

static void add_line(const struct progress *p, const struct weir_ranks_progress *n,
                     uint64_t now_ns, struct weir_str *out)
{
    uint64_t elapsed = now_ns - p->begin_ns;
    double share = share_of(p, n, elapsed);

    if (p->turn) {
        add_turn(p, now_ns, out);
        return;
    }
    if (now_ns > n->at_ns + OLD_NS) {
        add_old(p, n, now_ns, out);
        return;
    }
    weir_str_addf(out, "%s: %.0f s, %.1f %%, ", p->key, seconds(elapsed), 100 * share);
    if (n->done == n->tasks)
        weir_str_addf(out, "ends, ");
    else if (share > 0)
        weir_str_addf(out, "%.0f s left%s, ", seconds(elapsed) * (1 - share) / share,
                      p->bounds.observed ? " at most" : "");
    add_rates(p, n->bytes, n->steps, true, now_ns, out);
    if (p->p99_ns > 0)
        add_time(out, p->p99_ns);
    weir_str_addf(out, ", %d of %d tasks done", n->done, n->tasks);
    if (p->first_ns > 0)
        add_first(p, out);
}

/* ---- where it goes ---- */

/* Over the line before; what is too long for the terminal is cut off. */
static void show_on_terminal(struct progress *p, const char *line)
{
    struct winsize w;
    bool known = ioctl(p->terminal, TIOCGWINSZ, &w) == 0 && w.ws_col > 1;
    int len = (int)strlen(line), most = (known ? w.ws_col : COLUMNS) - 1;

    if (len > most)
        len = most;
    dprintf(p->terminal, "\r%.*s%*s", len, line, p->width > len ? p->width - len : 0, "");
    p->width = len;
}

static void show(struct progress *p, const struct weir_ranks_progress *progress, uint64_t now_ns)
{
    struct weir_str line = { 0 };

    add_line(p, progress, now_ns, &line);
    p->shown = true;
    if (p->terminal >= 0)
        show_on_terminal(p, weir_str_text(&line));
    else
        fprintf(stderr, "%s\n", weir_str_text(&line));
    weir_str_free(&line);
    p->before_ns = now_ns;
    p->steps_before = progress->steps;
    p->bytes_before = progress->bytes;
    p->next_ns = now_ns + (p->terminal >= 0 ? TERMINAL_NS : p->lines_ns);
}

/* A task gives its numbers when it has received the sum before, to which this rank has given its
 * own after it had received the one before that. */
static void take_numbers(struct progress *p, const struct weir_ranks_progress *n)
{
    if (n->at_ns == p->received_ns[0])
        return;
    if (n->done > 0 && p->first_ns == 0)
        p->first_ns = n->at_ns;
    else if (n->done == 0 && p->received_ns[1] > p->begin_ns)
        p->none_ns = p->received_ns[1];
    p->received_ns[1] = p->received_ns[0];
    p->received_ns[0] = n->at_ns;
}

static bool tick(struct weir_run *run, void *state, const struct weir_ranks_progress *progress,
                 uint64_t now_ns)
{
    struct times *t = &((struct state *)state)->times;
    struct progress *p = &((struct state *)state)->line;

    if (t->on)
        tick_times(run, t, now_ns);
    if (!p->wanted)
        return false;
    take_numbers(p, progress);
    if (now_ns >= p->next_ns && !p->placed)
        place(p);
    if (p->wanted && now_ns >= p->next_ns) {
        if (t->since.n > 0) /* else no round has ended since the line before */
            p->p99_ns = weir_hist_quantile(&t->since, 0.99);
        weir_hist_clear(&t->since);
        show(p, progress, now_ns);
    }
    return false;
}

/* Write to a file that the phase, or the series of phases, is over. The time at which the first
 * task was done follows from the times of all tasks. The numbers received during the phase may
 * be later, or those before a flush of all. */
static void show_end(const struct progress *p, const struct weir_phase_rec *rec, int64_t begin_ns,
                     uint64_t now_ns)
{
    uint64_t first_ns = (uint64_t)(rec->first[WEIR_MARK_WORKED] - begin_ns);
    uint64_t seen_ns = p->first_ns - p->begin_ns;
    struct weir_str line = { 0 };

    weir_str_addf(&line, "%s: over after %.1f s", p->turn ? p->turn->name : p->key, seconds(now_ns - p->begin_ns));
    if (!p->turn) {
        weir_str_addf(&line, ", ");
        add_rates(p, rec->sum.bytes, rec->sum.steps, false, now_ns, &line);
        if (p->first_ns > 0)
            weir_str_addf(&line, "; the first task was done after %.1f s",
                          seconds(first_ns < seen_ns ? first_ns : seen_ns));
    }
    fprintf(stderr, "%s\n", weir_str_text(&line));
    weir_str_free(&line);
}

/* Wipe the line on the terminal, or show the end where there was a line. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec, struct weir_err *err)
{
    struct times *t = &((struct state *)state)->times;
    struct progress *p = &((struct state *)state)->line;

    if (t->on)
        weir_rollsum_finish(&t->rollsum);
    if (p->turn && p->turn->done + 1 < p->turn->all && !rec->failed && !rec->interrupted)
        return 0; /* the next phase of the series goes on with it */
    wipe(p);
    if (p->shown)
        show_end(p, rec, weir_clock_common(&run->clock, p->begin_ns), weir_now_ns());
    return 0;
}

const struct weir_observer weir_progress = {
    .name = "progress",
    .state_size = sizeof(struct state),
    .test_start = test_start,
    .test_free = test_free,
    .start = start,
    .tick = tick,
    .after = after,
};
