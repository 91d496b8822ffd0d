/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-gather.c - what some groups have done and said, brought to rank 0: rates, warnings, failures */
#include "config.h"
#include "programs/weir-mix/mix-side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "par/reduce.h"

#define PHASES_TEXT 512
#define WHOLE 0.9 /* percentiles count where so much of a phase was while all groups ran */

/* ---- rates ---- */

void mix_side_window(const struct mix_side *s, int64_t window[2])
{
    const int64_t *all = s->board.all;
    bool has_begun = true;
    int64_t end = 0;

    window[0] = 0;
    for (int g = 0; g < s->t->plan.n; g++) {
        int64_t began = all[mix_at(g, MIX_BEGAN)], ended = all[mix_at(g, MIX_ENDED)];

        if (!s->set->in[g])
            continue;
        has_begun &= began != 0;
        window[0] = began > window[0] ? began : window[0];
        if (ended && (!end || (s->set->end == MIX_END_REPEAT ? ended > end : ended < end)))
            end = ended;
    }
    window[1] = s->set->with == MIX_ALONE ? INT64_MAX : has_begun && end > window[0] ? end : window[0];
}

/* The work of all ranks of the group in each phase, on its root. NULL: no memory. */
static struct mix_work *sum_work(const struct mix_side *s, int n, const int64_t window[2])
{
    struct mix_work *work = calloc((size_t)n + 1, sizeof(*work));
    int64_t failed = !work || s->series.failed;

    weir_allmax_i64(&s->t->roots.group, &failed, 1);
    if (failed) {
        free(work);
        return NULL;
    }
    for (int i = 0; i < n && i < s->series.n; i++)
        work[i] = mix_series_work(&s->series, i, window[0], window[1]);
    weir_sum_u64(&s->t->roots.group, (uint64_t *)(void *)work, sizeof(*work) / sizeof(uint64_t) * (size_t)n);
    return work;
}

static double share_of(uint64_t some, uint64_t all)
{
    return all ? (double)some / (double)all : 0;
}

/* Bytes are the work of transfers; of what is done to whole files and directories there are so many operations. */
static bool moves_bytes(const struct weir_result *r)
{
    return r->bytes > 0 && memcmp(&r->operation_time, &r->transfer_time, sizeof(r->operation_time)) == 0;
}

static struct mix_rate *rate_of(const struct mix_side *s, const struct mix_told *told, struct mix_rate *rate,
                                int *n)
{
    const struct weir_result *result = &told->result;
    int64_t begin_ns = s->series.phase[told->phase].begin_ns;

    for (int i = 0; i < *n; i++)
        if (strcmp(rate[i].operation, result->operation) == 0)
            return &rate[i];
    rate[*n] = (struct mix_rate) { .group = s->t->group,
                                   .with = s->set->with < 0 ? s->set->with : s->set->with - s->t->group,
                                   .repetition = s->run->repetition,
                                   .bytes = moves_bytes(result),
                                   .p99 = NAN,
                                   .began_s = (double)(begin_ns - s->start_ns) / WEIR_NS_PER_S };
    snprintf(rate[*n].operation, sizeof(rate[*n].operation), "%s", result->operation);
    return &rate[(*n)++];
}

/* A whole phase counts with its own numbers, a part of one with that part of them. */
static void add_result(const struct mix_side *s, const struct mix_told *told, const struct mix_work *work,
                       const int64_t window[2], struct mix_rate *rate)
{
    const struct weir_result *r = &told->result;
    double time = mix_series_share(&s->series, told->phase, window[0], window[1]);
    double done = time >= 1 ? 1
                  : rate->bytes ? share_of(work->bytes, work->all_bytes)
                                : share_of(work->operations, work->all_operations);
    double seconds = rate->bytes ? r->seconds : r->work_seconds;

    rate->amount += done * (double)(rate->bytes ? r->bytes : r->operations);
    rate->seconds += time * seconds;
    rate->whole_seconds += seconds;
}

/* The median of the percentiles of all phases of an operation that were almost whole. */
static double p99_of(const struct mix_side *s, const char *operation, const int64_t window[2])
{
    double *v = calloc((size_t)s->n_told + 1, sizeof(*v)), median;
    int n = 0;

    for (int i = 0; v && i < s->n_told; i++) {
        const struct weir_result *r = &s->told[i].result;

        if (strcmp(r->operation, operation) == 0 && r->operation_time.n > 0 &&
            mix_series_share(&s->series, s->told[i].phase, window[0], window[1]) >= WHOLE)
            v[n++] = r->operation_time.p99;
    }
    median = mix_center_of(v, n).median;
    free(v);
    return median;
}

/* The rates of our group. Returns how many; -1: no memory. Collective over the group. */
static int make_rates(struct mix_side *s, struct mix_rate **out, int64_t window[2])
{
    int phases, n = 0;
    struct mix_work *work;
    struct mix_rate *rate;

    if (s->is_root)
        mix_side_window(s, window);
    weir_bcast(&s->t->roots.group, window, 2 * sizeof(*window), 0);
    phases = s->series.n;
    weir_bcast(&s->t->roots.group, &phases, sizeof(phases), 0);
    work = sum_work(s, phases, window);
    *out = rate = calloc((size_t)s->n_told + 1, sizeof(*rate));
    for (int i = 0; work && rate && i < s->n_told; i++)
        add_result(s, &s->told[i], &work[s->told[i].phase], window,
                   rate_of(s, &s->told[i], rate, &n));
    for (int i = 0; i < n; i++)
        rate[i].p99 = p99_of(s, rate[i].operation, window);
    free(work);
    return work && rate && !s->lost ? n : -1;
}

/* The rates of a group, on rank 0. */
static int receive_rates(struct mix_side *s, int g, const struct mix_rate *mine, int n, struct weir_err *err)
{
    const int root = s->t->root_of[g], rank = s->run->par.rank;
    struct mix_rate *rate = NULL;
    int rc = 0;

    if (rank != 0 && rank != root)
        return 0;
    weir_fetch_bytes(&s->run->par, &n, sizeof(n), root);
    if (rank != 0) {
        if (n > 0)
            weir_fetch_bytes(&s->run->par, (void *)(uintptr_t)mine, sizeof(*mine) * (size_t)n, root);
        return 0;
    }
    if (n < 0)
        return weir_refuse(err, WEIR_ESETUP, "no memory for all rates");
    rate = calloc((size_t)n + 1, sizeof(*rate));
    if (!rate)
        return weir_fail(err, WEIR_ESETUP, "memory for %d rates", n);
    if (n > 0 && root == 0)
        memcpy(rate, mine, sizeof(*rate) * (size_t)n);
    else if (n > 0)
        weir_fetch_bytes(&s->run->par, rate, sizeof(*rate) * (size_t)n, root);
    rc = mix_rates_add(&s->t->rates, rate, n, err);
    mix_report_rates(s->run, s->t, rate, n);
    free(rate);
    return rc;
}

int mix_side_gather(struct mix_side *s, struct weir_err *err)
{
    struct mix_rate *mine = NULL;
    int64_t window[2] = { 0, 0 };
    int n = s->active ? make_rates(s, &mine, window) : 0, rc = 0;

    for (int g = 0; g < s->t->plan.n; g++)
        if (s->set->in[g] && receive_rates(s, g, mine, s->t->group == g ? n : 0, rc < 0 ? NULL : err) < 0)
            rc = -1;
    free(mine);
    return weir_agree(&s->run->par, rc, err);
}

/* ---- what went wrong, and what was said ---- */

/* Lines that were not told before. Rank 0; the text is changed. */
static void warn_once(struct mix_side *s, char *line)
{
    for (char *next; line && *line; line = next) {
        size_t before = s->t->said.n;

        next = strchr(line, '\n');
        *next++ = '\0';
        weir_set_add(&s->t->said, line, strlen(line));
        if (s->t->said.n > before)
            weir_warn(&s->run->log, NULL, "%s", line);
    }
}

/* Warnings of a group, once each. */
static void tell_of(struct mix_side *s, int g)
{
    const int root = s->t->root_of[g], rank = s->run->par.rank;
    size_t len = s->t->group == g ? s->messages.len : 0;
    char *text;

    if (rank != 0 && rank != root)
        return;
    weir_fetch_bytes(&s->run->par, &len, sizeof(len), root);
    text = len ? calloc(1, len + 1) : NULL;
    if (rank == root && len) {
        if (rank != 0)
            weir_fetch_bytes(&s->run->par, s->messages.text, len, root);
        else if (text)
            memcpy(text, s->messages.text, len);
    } else if (len && text) {
        weir_fetch_bytes(&s->run->par, text, len, root);
    }
    if (rank == 0)
        warn_once(s, text);
    free(text);
}

void mix_side_words(const struct mix_side *s, int g, struct weir_str *out)
{
    if (s->set->with == MIX_ALONE) {
        weir_str_addf(out, "alone");
        return;
    }
    for (int other = 0; other < s->t->plan.n; other++)
        if (other != g && s->set->in[other])
            weir_str_addf(out, "%s'%s'", out->len ? ", " : "beside ", s->t->plan.group[other].name);
}

/* The words of the group g, which has failed with this status. Collective. */
static void blame(struct mix_side *s, int g, int status, struct weir_err *err)
{
    const struct mix_group *group = &s->t->plan.group[g];
    const bool is_its_root = s->t->root_of[g] == s->run->par.rank;
    char phases[PHASES_TEXT] = "";
    struct weir_str how = { 0 };

    if (group->start == MIX_AFTER_PHASE) {
        snprintf(phases, sizeof(phases), "%.*s", PHASES_TEXT - 1, weir_str_text(&s->phases));
        weir_bcast(&s->run->par, phases, sizeof(phases), s->t->root_of[group->after]);
    }
    mix_side_words(s, g, &how);
    if (is_its_root && !s->error)
        weir_refuse(err, WEIR_EUSAGE,
                    "group '%s' starts after the phase '%s' of '%s', which has ended without it; its phases were %s",
                    group->name, group->phase, group->after_name, phases);
    else if (is_its_root)
        weir_refuse(err, (enum weir_code)status, "group '%s' (%s) ended %s with status %d: %s", group->name,
                    mix_program_of(group), weir_str_text(&how), status, s->error);
    weir_str_free(&how);
    weir_bcast(&s->run->par, err, sizeof(*err), s->t->root_of[g]);
    err->agreed = true;
}

int mix_side_judge(struct mix_side *s, struct weir_err *err)
{
    int64_t status[MIX_GROUPS + 1] = { 0 };
    const int n = s->t->plan.n;

    if (s->active && s->is_root)
        status[s->t->group] = s->status;
    status[n] = s->run->interrupt.signal;
    weir_allmax_i64(&s->run->par, status, n + 1);
    for (int g = 0; g < n; g++)
        if (status[g] && status[g] != WEIR_EINTR) {
            blame(s, g, (int)status[g], err);
            return -1;
        }
    if (!s->stopped)
        return 0;
    return weir_refuse(err, WEIR_EINTR, "interrupted by signal %d", (int)status[n]);
}

void mix_side_tell(struct mix_side *s)
{
    for (int g = 0; g < s->t->plan.n; g++)
        if (s->set->in[g])
            tell_of(s, g);
}
