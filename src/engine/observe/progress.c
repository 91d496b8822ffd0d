/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - how far the whole job is while a phase takes long, and a bar of stars */
#include "config.h"
#include "engine/observe/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/launcher.h"
#include "engine/options.h"
#include "engine/test.h"

#define TERMINAL_NS ((uint64_t)WEIR_NS_PER_S)
#define ALWAYS_NS (10 * (uint64_t)WEIR_NS_PER_S)
#define AUTO_NS (30 * (uint64_t)WEIR_NS_PER_S)
#define COLUMNS 80 /* where the terminal does not say */
#define MIB 1048576.0

static bool is_mode(const struct weir_run *run, int mode)
{
    const char *said = run->test ? run->test->plan.options->progress : NULL;

    return said ? strcasecmp(said, weir_progress_modes[mode]) == 0 : mode == 0;
}

void weir_progress_begin(struct weir_progress *p, const struct weir_run *run, const char *key,
                         const char *unit, const struct weir_progress_limits *limits)
{
    uint64_t now = weir_now_ns();

    *p = (struct weir_progress) { .key = key,
                                  .unit = unit,
                                  .limits = *limits,
                                  .terminal = -1,
                                  .begin_ns = now,
                                  .before_ns = now,
                                  .next_ns = now + WEIR_PROGRESS_FIRST_NS };
    p->wanted = run->par.rank == 0 && !is_mode(run, 2);
    if (is_mode(run, 1))
        p->lines_ns = ALWAYS_NS;
    else if (!weir_report_is_for_programs(&run->report))
        p->lines_ns = AUTO_NS;
}

/* Where does it go? Asked when the first line is due: most phases have none. */
static void place(struct weir_progress *p)
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
static double share_of(const struct weir_progress *p, const struct weir_progress_news *n,
                       uint64_t elapsed_ns)
{
    double share = n->target > 0 ? (double)n->steps / (double)n->target : 1;

    if (p->limits.least_ns > elapsed_ns)
        share = (double)elapsed_ns / (double)p->limits.least_ns;
    if (p->limits.most_ns > 0 && (double)elapsed_ns / (double)p->limits.most_ns > share)
        share = (double)elapsed_ns / (double)p->limits.most_ns;
    return share < 1 ? share : 1;
}

static void add_bytes(struct weir_str *out, uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    double value = (double)bytes;
    int u = 0;

    for (; value >= 1024 && u < 5; u++)
        value /= 1024;
    weir_str_addf(out, "%.*f %s", u ? 2 : 0, value, units[u]);
}

static double rate(uint64_t n, uint64_t ns)
{
    return ns > 0 ? (double)n / seconds(ns) : 0;
}

/* What was done, how fast since the line before, and how fast on average. */
static void add_rates(const struct weir_progress *p, const struct weir_progress_news *n,
                      uint64_t now_ns, struct weir_str *out)
{
    uint64_t since = now_ns - p->before_ns, all = now_ns - p->begin_ns;

    if (n->bytes > 0) {
        add_bytes(out, n->bytes);
        weir_str_addf(out, ", %.1f MiB/s (mean %.1f)",
                      rate(n->bytes - p->bytes_before, since) / MIB, rate(n->bytes, all) / MIB);
    } else {
        weir_str_addf(out, "%" PRIu64 " %s, %.1f/s (mean %.1f)", n->steps, p->unit,
                      rate(n->steps - p->steps_before, since), rate(n->steps, all));
    }
}

static void add_mean(const struct weir_progress *p, const struct weir_progress_news *n, uint64_t ns,
                     struct weir_str *out)
{
    if (n->bytes > 0) {
        add_bytes(out, n->bytes);
        weir_str_addf(out, ", mean %.1f MiB/s", rate(n->bytes, ns) / MIB);
    } else {
        weir_str_addf(out, "%" PRIu64 " %s, mean %.1f/s", n->steps, p->unit, rate(n->steps, ns));
    }
}

static void add_line(const struct weir_progress *p, const struct weir_progress_news *n,
                     uint64_t now_ns, struct weir_str *out)
{
    uint64_t elapsed = now_ns - p->begin_ns;
    double share = share_of(p, n, elapsed);

    weir_str_addf(out, "%s: %.0f s, %.1f %%, ", p->key, seconds(elapsed), 100 * share);
    if (n->done == n->tasks)
        weir_str_addf(out, "ends, ");
    else if (share > 0)
        weir_str_addf(out, "%.0f s left, ", seconds(elapsed) * (1 - share) / share);
    add_rates(p, n, now_ns, out);
    weir_str_addf(out, ", %d of %d tasks done", n->done, n->tasks);
    if (p->first_ns > 0)
        weir_str_addf(out, ", the first after %.1f s", seconds(p->first_ns - p->begin_ns));
}

/* ---- where it goes ---- */

static int columns(int terminal)
{
    struct winsize w;

    return ioctl(terminal, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col : COLUMNS;
}

/* Over the line before; what is too long for the terminal is cut off. */
static void show_on_terminal(struct weir_progress *p, const char *line)
{
    int len = (int)strlen(line), most = columns(p->terminal) - 1;

    if (len > most)
        len = most;
    fprintf(stderr, "\r%.*s%*s", len, line, p->width > len ? p->width - len : 0, "");
    p->width = len;
}

void weir_progress_show(struct weir_progress *p, const struct weir_progress_news *news,
                        uint64_t now_ns)
{
    struct weir_str line = { 0 };

    if (!p->wanted)
        return;
    if (p->first_ns == 0 && news->done > 0)
        p->first_ns = now_ns;
    if (now_ns < p->next_ns)
        return;
    if (!p->placed) {
        place(p);
        weir_progress_show(p, news, now_ns);
        return;
    }
    add_line(p, news, now_ns, &line);
    p->shown = true;
    if (p->terminal >= 0)
        show_on_terminal(p, weir_str_text(&line));
    else
        fprintf(stderr, "%s\n", weir_str_text(&line));
    weir_str_free(&line);
    p->before_ns = now_ns;
    p->steps_before = news->steps;
    p->bytes_before = news->bytes;
    p->next_ns = now_ns + (p->terminal >= 0 ? TERMINAL_NS : p->lines_ns);
}

void weir_progress_end(struct weir_progress *p, const struct weir_progress_news *news)
{
    uint64_t now = weir_now_ns();
    struct weir_str line = { 0 };

    if (p->terminal >= 0) {
        if (p->width > 0)
            fprintf(stderr, "\r%*s\r", p->width, "");
        close(p->terminal);
        return;
    }
    if (!p->shown)
        return;
    add_mean(p, news, now - p->begin_ns, &line);
    fprintf(stderr, "%s: over after %.1f s, %s", p->key, seconds(now - p->begin_ns),
            weir_str_text(&line));
    if (p->first_ns > 0)
        fprintf(stderr, "; the first task was done after %.1f s",
                seconds(p->first_ns - p->begin_ns));
    fprintf(stderr, "\n");
    weir_str_free(&line);
}

/* ---- a bar of stars ---- */

static uint64_t by_steps(const struct weir_bar *b, uint64_t steps)
{
    return b->steps ? (uint64_t)((double)b->width * (double)steps / (double)b->steps) : 0;
}

static double by_time(const struct weir_bar *b, double seconds)
{
    return b->seconds > 0 ? b->width * seconds / b->seconds : 0;
}

int weir_bar_stars(const struct weir_bar *b, uint64_t steps, double seconds)
{
    const uint64_t end = (uint64_t)b->width - 1;
    uint64_t last = b->steps ? (end * b->steps - 1) / (uint64_t)b->width : 0;
    uint64_t stars = by_steps(b, steps < last ? steps : last);
    double timed = by_time(b, seconds);

    if (timed >= (double)end)
        return b->width - 2;
    return (int)(timed > (double)stars ? (uint64_t)timed : stars);
}

static void show(struct weir_report *r, struct weir_bar *b, int stars)
{
    for (; b->shown < stars; b->shown++)
        weir_report_piece(r, "*");
}

void weir_bar_grow(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds)
{
    if (by_steps(b, steps) < (uint64_t)b->width - 1 && by_time(b, seconds) < b->width - 1)
        show(r, b, weir_bar_stars(b, steps, seconds));
}

void weir_bar_end(struct weir_report *r, struct weir_bar *b, uint64_t steps, double seconds)
{
    show(r, b, weir_bar_stars(b, steps, seconds));
    weir_report_line(r, "%s", "");
}
