/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c - the operations of a phase at a rate */
#include "config.h"
#include "engine/pace.h"

#include <string.h>
#include <strings.h>

/* ---- options ---- */

static int parse_rate(const char *option, const char *text, struct weir_load *out,
                      struct weir_err *err)
{
    if (weir_load_parse_rate(text, out))
        return 0;
    if (text[strspn(text, "0123456789.")] == '\0' && *text)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --%s: '%s' has no unit; %sops are operations/s, %sb, k, m or g "
                           "are bytes/s", option, text, text, text);
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --%s: '%s' is not a rate like 100m (bytes/s) or 500ops "
                       "(operations/s, up to 1e9)%s",
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
        return weir_refuse(err, WEIR_EUSAGE, "option --burst: '%s' is not N:PAUSE, like 100:0.5 "
                                             "(operations, seconds)", o->burst);
    for (int i = 0; o->arrivals && weir_arrivals[i]; i++)
        if (strcasecmp(o->arrivals, weir_arrivals[i]) == 0)
            out->arrivals = (enum weir_arrivals)i;
    if (out->rate == 0 && points->n == 0 && out->arrivals != WEIR_ARRIVE_EVEN)
        return weir_refuse(err, WEIR_EUSAGE, "option --arrivals needs --rate");
    return 0;
}

/* ---- a phase ---- */

void weir_pace_begin(struct weir_pace *p, int kinds, const struct weir_load *load, int task,
                     int tasks, int repetition)
{
    *p = (struct weir_pace) { .response = p->response, .kinds = kinds, .ends = p->ends };
    p->service = p->response + kinds;
    memset(p->response, 0, 2 * sizeof(*p->response) * (size_t)kinds);
    weir_schedule_begin(&p->plan, load, task, tasks, repetition);
}

void weir_pace_advance(struct weir_pace *p, uint64_t len)
{
    if (p->plan.load.rate > 0)
        weir_schedule_take(&p->plan, len);
    else if (++p->plan.n % (p->plan.load.burst ? p->plan.load.burst : UINT64_MAX) == 0)
        p->rests = true;
}

uint64_t weir_pace_take(struct weir_pace *p, uint64_t len)
{
    if (!p->rounds)
        weir_pace_advance(p, len);
    return p->due_ns;
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
