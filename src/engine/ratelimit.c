/* SPDX-License-Identifier: BSD-3-Clause */
/* ratelimit.c - the operations of a phase at a rate */
#include "engine/ratelimit.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/size.h"

/* ---- the schedule ---- */

void weir_schedule_begin(struct weir_schedule *s, const struct weir_load *load, int task, int tasks,
                         int repetition)
{
    *s = (struct weir_schedule) { .load = *load };
    s->key = weir_rng_at((uint64_t)task + 1, (uint64_t)repetition);
    if (load->arrivals == WEIR_ARRIVE_SHIFTED)
        s->shift = (double)task / tasks;
    if (!load->bytes)
        s->units = s->shift;
}

uint64_t weir_schedule_due(const struct weir_schedule *s)
{
    return s->base_ns + (uint64_t)(s->units / s->load.rate * WEIR_NS_PER_S + 0.5);
}

/* A random number with the mean 1, of which the distance of two operations is a multiple. */
static double draw(const struct weir_schedule *s)
{
    double u = (double)(weir_rng_at(s->key, s->n) >> 11) + 0.5; /* of 2^53 */

    return -log(u * 0x1p-53);
}

void weir_schedule_take(struct weir_schedule *s, uint64_t len)
{
    const struct weir_load *load = &s->load;
    double whole;

    s->units += (load->bytes ? (double)len : 1) *
                (load->arrivals == WEIR_ARRIVE_POISSON ? draw(s) : 1);
    if (load->bytes && s->n == 0) /* a distance is known from here on */
        s->units += s->shift * (double)len;
    if (s->units >= load->rate) {
        whole = floor(s->units / load->rate);
        s->units = fmax(0, fma(-whole, load->rate, s->units));
        s->base_ns += (uint64_t)(whole * WEIR_NS_PER_S);
    }
    s->n++;
    if (load->burst > 0 && s->n % load->burst == 0)
        s->base_ns += load->pause_ns;
}

double weir_load_mean(const struct weir_load *load, double len)
{
    double unit = load->bytes ? len : 1, burst = (double)load->burst;
    double pause_s = (double)load->pause_ns / WEIR_NS_PER_S;

    if (load->burst == 0)
        return load->rate;
    return burst * unit / ((load->rate > 0 ? burst * unit / load->rate : 0) + pause_s);
}

/* ---- options ---- */

#define LEAST_RATE 1e-6 /* operations a second: one in twelve days */
#define MOST_RATE 1e9

bool weir_load_parse_rate(const char *text, struct weir_load *out)
{
    const char *end = weir_real_scan(text, &out->rate);
    int64_t bytes;

    out->bytes = false;
    if (end != text && strcasecmp(end, "ops") == 0)
        return out->rate >= LEAST_RATE && out->rate <= MOST_RATE;
    out->bytes = true;
    if (strcasecmp(end, "b") == 0)
        return end != text && out->rate >= 1 && out->rate < 0x1p62;
    if (!*end || weir_size_parse(text, 1, INT64_MAX / 2, &bytes, NULL) < 0)
        return false;
    out->rate = (double)bytes;
    return true;
}

/* A number and "%"; returns where they end, NULL where there are none. */
static const char *scan_percent(const char *text, double *out)
{
    const char *end = weir_real_scan(text, out);

    return end != text && *end == '%' && *out >= 0.1 && *out <= 1000 ? end + 1 : NULL;
}

bool weir_load_parse_points(const char *text, struct weir_load_points *out)
{
    const char *end = scan_percent(text, &out->from);
    int64_t n;

    out->n = 1;
    out->to = out->from;
    if (!end || !*end)
        return end != NULL;
    if (strncmp(end, "..", 2) != 0 || !(end = scan_percent(end + 2, &out->to)) || *end != ':' ||
        weir_size_parse(end + 1, 2, 1000, &n, NULL) < 0)
        return false;
    out->n = (int)n;
    return true;
}

#define MOST_PAUSE_S 31536000.0 /* a year */

bool weir_load_parse_burst(const char *text, struct weir_load *out)
{
    const char *colon = strchr(text, ':'), *end;
    char number[32];
    int64_t n;
    double s;

    if (!colon || (size_t)(colon - text) >= sizeof(number))
        return false;
    memcpy(number, text, (size_t)(colon - text));
    number[colon - text] = '\0';
    if (weir_size_parse(number, 1, INT64_MAX, &n, NULL) < 0)
        return false;
    end = weir_real_scan(colon + 1, &s);
    if (end == colon + 1 || *end || !(s > 0 && s <= MOST_PAUSE_S))
        return false;
    out->burst = (uint64_t)n;
    out->pause_ns = (uint64_t)(s * WEIR_NS_PER_S + 0.5);
    return true;
}

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

int weir_ratelimit_parse(const struct weir_run_options *o, int tasks, struct weir_load *out,
                         struct weir_load_points *points, struct weir_err *err)
{
    *out = (struct weir_load) { 0 };
    if (parse_rates(o, tasks, out, points, err) < 0)
        return -1;
    if (o->burst && !weir_load_parse_burst(o->burst, out))
        return weir_refuse(err, WEIR_EUSAGE, "option --burst: '%s' is not N:PAUSE, like 100:0.5 "
                                             "(operations, seconds)", o->burst);
    if (o->arrivals)
        out->arrivals = (enum weir_arrivals)weir_opt_choice(weir_arrivals, o->arrivals);
    if (out->rate == 0 && points->n == 0 && out->arrivals != WEIR_ARRIVE_EVEN)
        return weir_refuse(err, WEIR_EUSAGE, "option --arrivals needs --rate");
    return 0;
}

/* ---- a phase ---- */

void weir_ratelimit_advance(struct weir_ratelimit *p, uint64_t len)
{
    if (p->plan.load.rate > 0)
        weir_schedule_take(&p->plan, len);
    else if (++p->plan.n % (p->plan.load.burst ? p->plan.load.burst : UINT64_MAX) == 0)
        p->rests = true;
}

uint64_t weir_ratelimit_take(struct weir_ratelimit *p, uint64_t len)
{
    if (!p->rounds)
        weir_ratelimit_advance(p, len);
    return p->due_ns;
}

uint64_t weir_ratelimit_count(struct weir_ratelimit *p, int op, uint64_t begin_ns, uint64_t end_ns,
                              uint64_t len)
{
    uint64_t due_ns = p->flown_ns, late_ns;

    if (due_ns == 0 && p->over)
        return 0;
    if (due_ns == 0)
        due_ns = weir_ratelimit_take(p, len);
    p->flown_ns = 0;
    late_ns = begin_ns > due_ns ? begin_ns - due_ns : 0;
    p->late += late_ns > WEIR_RATELIMIT_LATE_NS;
    if (late_ns > p->max_late_ns)
        p->max_late_ns = late_ns;
    if (begin_ns >= p->last_begin_ns) {
        p->last_begin_ns = begin_ns;
        p->last_late_ns = late_ns;
    }
    weir_hist_add(&p->service[op], end_ns - begin_ns);
    weir_hist_add(&p->response[op], end_ns > due_ns ? end_ns - due_ns : 0);
    return late_ns;
}
