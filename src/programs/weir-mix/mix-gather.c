/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-gather.c - what some groups have done and said, brought to rank 0: rates, warnings, failures */
#include "programs/weir-mix/mix-run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/reduce.h"

#define PHASES_TEXT 512
#define WHOLE 0.9 /* percentiles count where so much of a phase was while all groups ran */

/* ---- rates ---- */

void mix_side_window(const struct mix_side *s, int64_t window[2])
{
    const int64_t *all = s->numbers.all;
    bool has_begun = true;
    int64_t end = 0;

    window[0] = 0;
    for (int g = 0; g < s->t->plan.n; g++) {
        int64_t began = all[mix_at(g, MIX_BEGAN)], ended = all[mix_at(g, MIX_ENDED)];

        if (!s->in[g])
            continue;
        has_begun &= began != 0;
        window[0] = began > window[0] ? began : window[0];
        if (ended && (!end || (s->end == MIX_END_REPEAT ? ended > end : ended < end)))
            end = ended;
    }
    window[1] = s->with == MIX_ALONE ? INT64_MAX : has_begun && end > window[0] ? end : window[0];
}

/* The work of all ranks of the group in each phase, on its leader. NULL: no memory. */
static struct weir_work *sum_work(const struct mix_side *s, int n, const int64_t window[2])
{
    struct weir_work *work = calloc((size_t)n + 1, sizeof(*work));
    int64_t failed = !work || s->series.failed;

    weir_allmax_i64(&s->t->leaders.group, &failed, 1);
    if (failed) {
        free(work);
        return NULL;
    }
    for (int i = 0; i < n && i < s->series.n; i++)
        work[i] = weir_worklog_work(&s->series, i, window[0], window[1]);
    weir_sum_u64(&s->t->leaders.group, (uint64_t *)(void *)work, sizeof(*work) / sizeof(uint64_t) * (size_t)n);
    return work;
}

/* Work that was not counted while it was done is even over its time. */
static double share_of(uint64_t some, uint64_t all, double time)
{
    return time >= 1 ? 1 : all ? (double)some / (double)all : time;
}

static struct mix_rate *rate_of(const struct mix_side *s, const struct mix_phase_result *entry, struct mix_rate *rate,
                                int *n)
{
    const struct weir_result *result = &entry->result;
    /* the work on whole files and directories is a number of operations */
    bool bytes = result->bytes > 0 && memcmp(&result->operation_time, &result->transfer_time,
                                             sizeof(result->operation_time)) == 0;
    int64_t begin_ns = s->series.phase[entry->phase].begin_ns;

    for (int i = 0; i < *n; i++)
        if (strcmp(rate[i].operation, result->operation) == 0)
            return &rate[i];
    rate[*n] = (struct mix_rate) { .group = s->t->group,
                                   .with = s->with < 0 ? s->with : s->with - s->t->group,
                                   .repetition = s->run->repetition,
                                   .bytes = bytes,
                                   .p99 = NAN,
                                   .began_s = (double)(begin_ns - s->start_ns) / WEIR_NS_PER_S };
    snprintf(rate[*n].operation, sizeof(rate[*n].operation), "%s", result->operation);
    return &rate[(*n)++];
}

/* A whole phase counts with its own numbers, a part of one with that part of them: not one in which no
 * operation could have been done. */
static void add_result(const struct mix_side *s, const struct mix_phase_result *entry, const struct weir_work *work,
                       const int64_t window[2], struct mix_rate *rate)
{
    const struct weir_result *r = &entry->result;
    double time = weir_worklog_share(&s->series, entry->phase, window[0], window[1]);
    double done = rate->bytes ? share_of(work->bytes, work->all_bytes, time)
                              : share_of(work->operations, work->all_operations, time);
    double seconds = rate->bytes ? r->seconds : r->work_seconds;

    rate->whole_seconds += seconds;
    if (time * (double)r->operations < 1)
        return;
    rate->amount += done * (double)(rate->bytes ? r->bytes : r->operations);
    rate->seconds += time * seconds;
    rate->operations += time * (double)r->operations;
}

/* The median of the percentiles of all phases of an operation that were almost whole. */
static double p99_of(const struct mix_side *s, const char *operation, const int64_t window[2])
{
    double *v = calloc((size_t)s->n_results + 1, sizeof(*v)), median;
    int n = 0;

    for (int i = 0; v && i < s->n_results; i++) {
        const struct weir_result *r = &s->results[i].result;

        if (strcmp(r->operation, operation) == 0 && r->operation_time.n > 0 &&
            weir_worklog_share(&s->series, s->results[i].phase, window[0], window[1]) >= WHOLE)
            v[n++] = r->operation_time.p99;
    }
    median = mix_center_of(v, n).median;
    free(v);
    return median;
}

/* The rates of our group, on its leader. Collective over the group. */
static void make_rates(struct mix_side *s, struct weir_str *out)
{
    int64_t window[2];
    int phases = s->series.n, n = 0;
    struct weir_work *work;
    struct mix_rate *rate;

    if (s->is_leader)
        mix_side_window(s, window);
    weir_bcast(&s->t->leaders.group, window, sizeof(window), 0);
    weir_bcast(&s->t->leaders.group, &phases, sizeof(phases), 0);
    work = sum_work(s, phases, window);
    rate = calloc((size_t)s->n_results + 1, sizeof(*rate));
    for (int i = 0; work && rate && i < s->n_results; i++)
        add_result(s, &s->results[i], &work[s->results[i].phase], window,
                   rate_of(s, &s->results[i], rate, &n));
    for (int i = 0; i < n; i++)
        rate[i].p99 = p99_of(s, rate[i].operation, window);
    weir_str_add(out, (const char *)rate, sizeof(*rate) * (size_t)n);
    out->failed |= !work || !rate || s->lost;
    free(work);
    free(rate);
}

/* Rates of some groups, on rank 0. */
static void take_rates(void *arg, const char *bytes, size_t len)
{
    struct mix_side *s = arg;
    const struct mix_rate *rate = (const void *)bytes, *end = rate + len / sizeof(*rate);

    s->lost |= mix_rates_add(&s->t->rates, rate, (int)(end - rate)) < 0;
    for (const struct mix_rate *next; rate < end; rate = next) {
        for (next = rate + 1; next < end && next->group == rate->group;)
            next++;
        mix_report_rates(s->run, s->t, rate, (int)(next - rate));
    }
}

int mix_side_gather(struct mix_side *s, struct weir_err *err)
{
    struct weir_str mine = { 0 };
    int rc = 0;

    if (s->active)
        make_rates(s, &mine);
    if (weir_pieces(&s->run->par, &mine, take_rates, s) < 0 || s->lost)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for all rates");
    weir_str_free(&mine);
    return weir_agree(&s->run->par, rc, err);
}

/* ---- what went wrong, and what was said ---- */

/* Print messages, each with its NUL, that were not printed before. Rank 0. */
static void warn_once(void *arg, const char *line, size_t len)
{
    struct mix_side *s = arg;

    for (const char *end = line + len; line < end; line += strlen(line) + 1) {
        size_t before = s->t->reported.n;

        weir_set_add(&s->t->reported, line, strlen(line));
        if (s->t->reported.n > before)
            weir_warn(&s->run->log, NULL, "%s", line);
    }
}

void mix_side_words(const struct mix_side *s, int g, struct weir_str *out)
{
    if (s->with == MIX_ALONE) {
        weir_str_addf(out, "alone");
        return;
    }
    for (int other = 0; other < s->t->plan.n; other++)
        if (other != g && s->in[other])
            weir_str_addf(out, "%s'%s'", out->len ? ", " : "beside ", s->t->plan.group[other].name);
}

bool mix_side_done(const struct mix_side *s, struct weir_str *out)
{
    const int64_t *all = s->numbers.all;
    bool done = true;

    for (int g = 0; g < s->t->plan.n; g++) {
        if (!s->in[g] || all[mix_at(g, MIX_DONE)])
            continue;
        weir_str_addf(out, "%s'%s'%s", done ? "" : ", ", s->t->plan.group[g].name,
                      all[mix_at(g, MIX_BEGAN)] ? "" : " (not begun)");
        done = false;
    }
    return done;
}

/* Fill err with the message of the group g, which has failed with this status. Collective. */
static void blame(struct mix_side *s, int g, int status, struct weir_err *err)
{
    const struct mix_group *group = &s->t->plan.group[g];
    const bool is_its_leader = s->t->leader_of[g] == s->run->par.rank;
    char phases[PHASES_TEXT] = "";
    struct weir_str how = { 0 };

    if (group->start == MIX_AFTER_PHASE) {
        snprintf(phases, sizeof(phases), "%.*s", PHASES_TEXT - 1, weir_str_text(&s->phases));
        weir_bcast(&s->run->par, phases, sizeof(phases), s->t->leader_of[group->after]);
    }
    mix_side_words(s, g, &how);
    if (is_its_leader && !s->error)
        weir_refuse(
            err, WEIR_EUSAGE,
            "group '%s' starts after the phase '%s' of '%s', which ended without this phase%s%s",
            group->name, group->phase, group->after_name, *phases ? "; its phases were " : "",
            phases);
    else if (is_its_leader)
        weir_refuse(err, (enum weir_code)status, "group '%s' (%s) ended %s with status %d: %s", group->name,
                    mix_program_of(group), weir_str_text(&how), status, s->error);
    if (is_its_leader && s->t->text && ferror(s->t->text))
        weir_err_within(err, "'%s' (option --output)", weir_str_text(&s->t->path));
    weir_str_free(&how);
    weir_bcast(&s->run->par, err, sizeof(*err), s->t->leader_of[g]);
    err->agreed = true;
}

/* A launcher turns Ctrl-C into a signal of its own. */
static int refuse_signal(const struct mix_side *s, int number, struct weir_err *err)
{
    const char *word = number == SIGINT    ? " (Ctrl-C)"
                       : number == SIGTERM ? " (SIGTERM: mpirun sends it for Ctrl-C)"
                                           : "";
    struct weir_str waited = { 0 };

    if (s->run->par.rank == 0) {
        mix_side_done(s, &waited);
        weir_refuse(err, WEIR_EINTR, "interrupted by signal %d%s%s%s", number, word,
                    waited.len ? "; groups that had not ended: " : "", weir_str_words(&waited));
    }
    weir_str_free(&waited);
    weir_bcast(&s->run->par, err, sizeof(*err), 0);
    return -1;
}

int mix_side_judge(struct mix_side *s, struct weir_err *err)
{
    int64_t status[MIX_GROUPS + 1] = { 0 };
    const int n = s->t->plan.n;

    if (s->active && s->is_leader)
        status[s->t->group] = s->status;
    if (s->run->interrupt.signal > 0)
        status[n] = NSIG - s->run->interrupt.signal; /* of two signals SIGINT is the first one */
    weir_allmax_i64(&s->run->par, status, n + 1);
    for (int g = 0; g < n; g++)
        if (status[g] && status[g] != WEIR_EINTR) {
            blame(s, g, (int)status[g], err);
            return -1;
        }
    if (!s->stopped)
        return 0;
    return refuse_signal(s, NSIG - (int)status[n], err);
}

void mix_side_warn(struct mix_side *s)
{
    s->run->report.lost |= weir_pieces(&s->run->par, &s->messages, warn_once, s) < 0;
}
