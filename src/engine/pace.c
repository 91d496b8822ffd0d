/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c - the operations of a phase at a rate */
#include "config.h"
#include "engine/pace.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "par/reduce.h"

#define SPIN_NS 100000u  /* before an operation is due: a sleep may end so much too late */
#define NAP_NS 200000u   /* a shorter sleep is not worth it while something is in flight */
#define NAP_SHARE 64     /* of the shortest service time: such an error does not show in a histogram */
#define MARGIN_NS 1000000u

/* ---- options ---- */

static int parse_rate(const char *option, const char *text, struct weir_load *out,
                      struct weir_err *err)
{
    if (weir_load_parse_rate(text, out))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --%s: '%s' is no rate, like 100m (bytes a second) or 500ops (operations "
                       "a second, up to 1e9)%s",
                       option, text, strcmp(option, "rate") == 0 ? ", or 10%..90%:5 of the maximum" : "");
}

static int parse_rates(const struct weir_run_options *o, int tasks, struct weir_load *out,
                       struct weir_load_points *points, struct weir_err *err)
{
    points->n = 0;
    if (o->rate && o->rate_total)
        return weir_refuse(err, WEIR_EUSAGE,
                           "options --rate and --rate-total: one is for each task, the other for all; "
                           "give one of them");
    if (o->rate && weir_load_parse_points(o->rate, points))
        return 0;
    points->n = 0;
    if (o->rate && parse_rate("rate", o->rate, out, err) < 0)
        return -1;
    if (o->rate_total && parse_rate("rate-total", o->rate_total, out, err) < 0)
        return -1;
    if (o->rate_total)
        out->rate /= tasks;
    return 0;
}

int weir_pace_parse(const struct weir_run_options *o, int tasks, struct weir_load *out,
                    struct weir_load_points *points, struct weir_err *err)
{
    *out = (struct weir_load) { 0 };
    if (parse_rates(o, tasks, out, points, err) < 0)
        return -1;
    if (o->burst && !weir_load_parse_burst(o->burst, out))
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --burst: '%s' is no N:PAUSE, like 100:0.5 (operations, seconds)",
                           o->burst);
    for (int i = 0; o->arrivals && weir_arrivals[i]; i++)
        if (strcasecmp(o->arrivals, weir_arrivals[i]) == 0)
            out->arrivals = (enum weir_arrivals)i;
    if (out->rate == 0 && points->n == 0 && out->arrivals != WEIR_ARRIVE_EVEN)
        return weir_refuse(err, WEIR_EUSAGE, "option --arrivals does nothing without --rate");
    return 0;
}

/* ---- a phase ---- */

void weir_pace_begin(struct weir_pace *p, int kinds, const struct weir_load *load, int task,
                     int tasks, int repetition)
{
    *p = (struct weir_pace) { .response = p->response, .service = p->service, .kinds = kinds };
    memset(p->response, 0, sizeof(*p->response) * (size_t)kinds);
    memset(p->service, 0, sizeof(*p->service) * (size_t)kinds);
    weir_schedule_begin(&p->plan, load, task, tasks, repetition);
}

void weir_pace_start(struct weir_pace *p, const struct weir_par *par, const struct weir_clock *clock)
{
    int64_t start = weir_clock_common(clock, weir_now_ns()) + MARGIN_NS;

    weir_allmax_i64(par, &start, 1);
    p->start_ns = weir_clock_local(clock, start);
}

void weir_pace_next(struct weir_pace *p, uint64_t now_ns)
{
    uint64_t last_ns = p->plan.n > 0 ? p->due_ns : p->start_ns;

    if (p->plan.load.rate > 0) {
        p->due_ns = p->start_ns + weir_schedule_due(&p->plan);
        p->gap_ns = p->due_ns - last_ns;
        return;
    }
    p->gap_ns = p->rests ? p->plan.load.pause_ns : 0;
    p->due_ns = (p->plan.n > 0 ? now_ns : p->start_ns) + p->gap_ns;
    p->rests = false;
}

/* Of the operations of this phase until now; 0: there is none. */
static uint64_t shortest_service(const struct weir_pace *p)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < p->kinds; i++)
        if (p->service[i].n > 0 && p->service[i].min_ns < least)
            least = p->service[i].min_ns;
    return least == UINT64_MAX ? 0 : least;
}

void weir_pace_rest(struct weir_pace *p, uint64_t until_ns, bool flying, uint64_t *clock_ns)
{
    uint64_t begin_ns = *clock_ns, left_ns = until_ns - begin_ns;
    uint64_t nap_ns = left_ns > SPIN_NS ? left_ns - SPIN_NS : 0;
    uint64_t most_ns = flying ? shortest_service(p) / NAP_SHARE : nap_ns;

    if (nap_ns > most_ns)
        nap_ns = most_ns;
    if (flying && nap_ns < NAP_NS)
        nap_ns = 0;
    if (nap_ns > 0)
        weir_sleep_ns(nap_ns);
    else if (flying)
        sched_yield(); /* threads of a queue may need the processor */
    *clock_ns = weir_now_ns();
    *(nap_ns > 0 ? &p->slept_ns : &p->spun_ns) += *clock_ns - begin_ns;
}

static void advance(struct weir_pace *p, uint64_t len)
{
    if (p->plan.load.rate > 0)
        weir_schedule_take(&p->plan, len);
    else if (++p->plan.n % (p->plan.load.burst ? p->plan.load.burst : UINT64_MAX) == 0)
        p->rests = true;
}

uint64_t weir_pace_take(struct weir_pace *p, uint64_t len)
{
    if (!p->rounds)
        advance(p, len);
    return p->due_ns;
}

void weir_pace_round(struct weir_pace *p, uint64_t len)
{
    advance(p, len);
}

uint64_t weir_pace_count(struct weir_pace *p, int op, uint64_t begin_ns, uint64_t end_ns,
                         uint64_t len)
{
    uint64_t due_ns = p->flown_ns, late_ns;

    if (due_ns == 0 && p->over)
        return 0;
    if (due_ns == 0)
        due_ns = weir_pace_take(p, len);
    p->flown_ns = 0;
    late_ns = begin_ns > due_ns ? begin_ns - due_ns : 0;
    p->late += late_ns > WEIR_PACE_LATE_NS;
    if (late_ns > p->most_late_ns)
        p->most_late_ns = late_ns;
    if (begin_ns >= p->last_begin_ns) {
        p->last_begin_ns = begin_ns;
        p->last_late_ns = late_ns;
    }
    weir_hist_add(&p->service[op], end_ns - begin_ns);
    weir_hist_add(&p->response[op], end_ns > due_ns ? end_ns - due_ns : 0);
    return late_ns;
}
