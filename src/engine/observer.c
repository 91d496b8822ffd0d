/* SPDX-License-Identifier: BSD-3-Clause */
/* observer.c - one loop for each hook of the rows that watch a run */
#include "engine/observer.h"

#include <string.h>

typedef struct weir_observed_row one;

/* Loops over all rows, in the order of the list, or backwards to give back what was taken. */
#define EACH(o) for (one *o = run->observed.of; o < run->observed.of + run->observed.n; o++)
#define EACH_BACK(o) for (one *o = run->observed.of + run->observed.n; o-- > run->observed.of;)
#define HAS(o, hook) ((o)->row->hook)
#define TAKES(o, hook) ((o)->on && (o)->row->hook)

/* Call a hook of all rows; of those that can fail, up to the first error. */
#define CALL(has, hook, ...)                                                                       \
    EACH(o)                                                                                        \
        if (has(o, hook))                                                                          \
            o->row->hook(run, o->state, ##__VA_ARGS__)
#define FIRST_ERROR(has, hook, ...)                                                                \
    EACH(o)                                                                                        \
        if (has(o, hook) && o->row->hook(run, o->state, __VA_ARGS__) < 0)                          \
            return -1;                                                                             \
    return 0

/* ---- rows and states ---- */

void weir_observers_hand_in(struct weir_run *run, const struct weir_observer *row, void *state)
{
    run->observed.of[run->observed.n++] = (one) { .row = row, .state = state };
}

int weir_observers_begin(struct weir_run *run, struct weir_err *err)
{
    int maxima = 0, sums = 0;
    void *state;

    for (const struct weir_observer *const *row = weir_observers; *row; row++) {
        maxima += (*row)->maxima;
        sums += (*row)->sums;
        if (maxima > WEIR_MAXIMA_MAX || sums > WEIR_SUMS_MAX)
            return weir_refuse(err, WEIR_EBUG, "too many observers, at '%s'", (*row)->name);
        state = weir_arena_alloc(&run->arena, (*row)->state_size + 1, err);
        if (!state)
            return -1;
        weir_observers_hand_in(run, *row, state);
    }
    return 0;
}

void weir_observers_release(struct weir_run *run)
{
    EACH_BACK(o)
        if (HAS(o, release))
            o->row->release(run, o->state);
    run->observed.n = 0;
}

/* ---- the run ---- */

void weir_observers_help(const char *what, struct weir_str *out)
{
    for (const struct weir_observer *const *row = weir_observers; *row; row++)
        if ((*row)->help)
            (*row)->help(what, out);
}

int weir_observers_check(const struct weir_run_options *o, struct weir_files *files,
                         struct weir_err *err)
{
    for (const struct weir_observer *const *row = weir_observers; *row; row++)
        if ((*row)->check && (*row)->check(o, files, err) < 0)
            return -1;
    return 0;
}

void weir_observers_run_read(struct weir_run *run, const struct weir_values *values, int n)
{
    CALL(HAS, run_read, values, n);
}

int weir_observers_run_begin(struct weir_run *run, struct weir_test *tests, int n,
                             struct weir_err *err)
{
    FIRST_ERROR(HAS, run_begin, tests, n, err);
}

void weir_observers_run_open(struct weir_run *run)
{
    CALL(HAS, run_open);
}

void weir_observers_summary(struct weir_run *run)
{
    CALL(HAS, summary);
}

enum weir_code weir_observers_run_end(struct weir_run *run, enum weir_code code)
{
    EACH_BACK(o)
        if (HAS(o, run_end))
            code = o->row->run_end(run, o->state, code);
    return code;
}

/* ---- a test ---- */

void weir_observers_choose(struct weir_run *run)
{
    run->records.wanted = false;
    run->records.sampled = NULL;
    EACH(o) {
        const char *at = (const char *)run->test->plan.options + o->row->option;

        o->on = (!o->row->option || *(const char *const *)(const void *)at) &&
                (!o->row->wanted || o->row->wanted(run->test));
    }
}

int weir_observers_test_begin(struct weir_run *run, struct weir_err *err)
{
    FIRST_ERROR(TAKES, test_begin, err);
}

int weir_observers_test_start(struct weir_run *run, struct weir_err *err)
{
    FIRST_ERROR(TAKES, test_start, err);
}

void weir_observers_test_open(struct weir_run *run)
{
    CALL(TAKES, test_open);
}

int weir_observers_repetition(struct weir_run *run, struct weir_err *err)
{
    FIRST_ERROR(TAKES, repetition, err);
}

int weir_observers_extra(struct weir_run *run, struct weir_err *err)
{
    FIRST_ERROR(TAKES, extra, err);
}

bool weir_observers_enough(struct weir_run *run)
{
    bool enough = false;

    EACH(o)
        enough |= TAKES(o, is_enough) && o->row->is_enough(run, o->state);
    return enough;
}

void weir_observers_command(struct weir_run *run, const char *line, pid_t child)
{
    CALL(TAKES, command, line, child);
}

/* The texts of a row, and in *n how many. */
static struct weir_str *texts_of(const one *o, int *n)
{
    *n = !TAKES(o, text) ? 0 : o->row->texts ? o->row->texts : 1;
    return (void *)((char *)o->state + o->row->text);
}

void weir_observers_test_end(struct weir_run *run)
{
    EACH(o) {
        int n;
        const struct weir_str *text = texts_of(o, &n);

        for (; n > 0; n--, text++)
            if (text->len > 0)
                weir_report_line(&run->report, "%s", text->text);
        if (TAKES(o, test_end))
            o->row->test_end(run, o->state);
    }
}

void weir_observers_test_free(struct weir_run *run)
{
    EACH_BACK(o) {
        int n;
        struct weir_str *text = texts_of(o, &n);

        for (; n > 0; n--)
            weir_report_free(&run->report, text++);
        if (TAKES(o, test_free))
            o->row->test_free(run, o->state);
    }
    weir_arena_free(&run->test->arena);
}

/* ---- a phase ---- */

int weir_observers_before(struct weir_run *run, struct weir_phase_rec *rec, struct weir_err *err)
{
    FIRST_ERROR(TAKES, before, rec, err);
}

void weir_observers_start(struct weir_run *run, const struct weir_phase_rec *rec)
{
    CALL(TAKES, start, rec);
}

bool weir_observers_tick(struct weir_run *run, const struct weir_ranks_progress *progress,
                         uint64_t now_ns)
{
    bool enough = false;

    EACH(o)
        enough |= TAKES(o, tick) && o->row->tick(run, o->state, progress, now_ns);
    return enough;
}

int weir_observers_max(struct weir_run *run, const struct weir_phase_rec *rec, int64_t *max)
{
    int n = 0;

    memset(max, 0, sizeof(*max) * WEIR_MAXIMA_MAX);
    EACH(o) {
        if (TAKES(o, max) && !rec->failed)
            o->row->max(run, o->state, rec, max + n);
        n += o->row->maxima;
    }
    return n;
}

int weir_observers_add(struct weir_run *run, const struct weir_phase_rec *rec, uint64_t *sum)
{
    int n = 0;

    memset(sum, 0, sizeof(*sum) * WEIR_SUMS_MAX);
    EACH(o) {
        if (TAKES(o, add) && !rec->failed)
            o->row->add(run, o->state, rec, sum + n);
        n += o->row->sums;
    }
    return n;
}

int weir_observers_after(struct weir_run *run, struct weir_phase_rec *rec, struct weir_err *err)
{
    int rc = 0;

    EACH(o) {
        if (TAKES(o, after) &&
            o->row->after(run, o->state, rec, rc < 0 ? weir_run_second(run) : err) < 0)
            rc = -1;
        rec->maxima += o->row->maxima;
        rec->sums += o->row->sums;
    }
    return rc;
}

void weir_observers_opened(struct weir_run *run, struct weir_session *s, struct weir_file *f)
{
    CALL(TAKES, opened, s, f);
}

void weir_observers_measured(struct weir_run *run, struct weir_session *s,
                             const struct weir_phase_rec *rec)
{
    CALL(TAKES, measured, s, rec);
}
