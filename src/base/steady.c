/* SPDX-License-Identifier: BSD-3-Clause */
/* steady.c - is a series steady in a window of rounds */
#include "base/steady.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

#define NAME "steady"
#define ROUNDS_MAX 25 /* SNIA's number, for phases without a limit of their duration */
#define EXACT 1e-9     /* of a limit: what is on it is not above it */

/* ---- arithmetic ---- */

struct weir_steady_fit weir_steady_fit_of(const double *y, int n)
{
    double mean = 0, low = INFINITY, high = -INFINITY, rise = 0, squares = 0, middle = (n - 1) / 2.0;

    for (int i = 0; i < n; i++) {
        mean += y[i] / n;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
        rise += (i - middle) * y[i];
        squares += (i - middle) * (i - middle);
    }
    if (n < 2 || !isfinite(mean) || !(mean > 0))
        return (struct weir_steady_fit) { NAN, NAN, NAN };
    return (struct weir_steady_fit) { mean, (high - low) / mean, rise / squares * (n - 1) / mean };
}

void weir_steady_add(struct weir_steady *s, double rate, double p99)
{
    const double y[WEIR_STEADY_SERIES] = { rate, p99 };
    int64_t window = s->choice.window, at = s->rounds < window ? s->rounds : window - 1;

    for (int k = 0; k < WEIR_STEADY_SERIES; k++) {
        if (s->rounds >= window)
            memmove(s->y[k], s->y[k] + 1, sizeof(**s->y) * (size_t)at);
        s->y[k][at] = y[k];
    }
    s->rounds++;
}

/* One criterion: it is the worst where it is the largest part of its limit. */
static void weigh(struct weir_steady_verdict *v, const char *name, double value, double limit)
{
    value = fabs(value);
    if (!(value <= limit * (1 + EXACT)))
        v->steady = false;
    if (!v->worst || value * v->limit > v->value * limit) {
        v->worst = name;
        v->value = value;
        v->limit = limit;
    }
}

void weir_steady_judge(const struct weir_steady *s, struct weir_steady_verdict *out)
{
    static const char *const names[WEIR_STEADY_SERIES][2] = {
        { "excursion of the rate", "slope of the rate" },
        { "excursion of p99", "slope of p99" },
    };
    const struct weir_steady_choice *c = &s->choice;
    const bool counts[WEIR_STEADY_SERIES] = { c->rate, c->p99 };
    bool known = true;

    *out = (struct weir_steady_verdict) { .whole = s->rounds >= c->window, .rounds = s->rounds,
                                          .window = c->window, .value = NAN, .limit = NAN };
    out->steady = out->whole;
    for (int k = 0; k < WEIR_STEADY_SERIES; k++) {
        out->fit[k] = weir_steady_fit_of(s->y[k], out->whole ? (int)c->window : 0);
        if (!out->whole || !counts[k])
            continue;
        known &= !isnan(out->fit[k].mean);
        weigh(out, names[k][0], out->fit[k].excursion, c->excursion);
        weigh(out, names[k][1], out->fit[k].slope, c->slope);
    }
    if (!known) {
        out->worst = NULL;
        out->value = out->limit = NAN;
    }
}

const char *weir_steady_why(const struct weir_steady_verdict *v, char out[WEIR_STEADY_TEXT])
{
    if (!v->whole)
        (void)snprintf(out, WEIR_STEADY_TEXT,
                       "it had %" PRId64 " of the %" PRId64 " rounds that are needed", v->rounds,
                       v->window);
    else if (!v->worst)
        (void)snprintf(out, WEIR_STEADY_TEXT, "nothing was done in a round of the last %" PRId64,
                       v->window);
    else
        (void)snprintf(out, WEIR_STEADY_TEXT,
                       "in the last %" PRId64 " of %" PRId64 " rounds the %s is %.4g %%, and "
                       "%.4g %% is the most that is steady", v->window, v->rounds, v->worst,
                       100 * v->value, 100 * v->limit);
    return out;
}

/* ---- words ---- */

/* A word: key=number, which is at least min and at most max; of a percentage 100 times the field.
 * unit 0: a whole number. */
static const struct word {
    const char *key, *form;
    size_t offset;
    double min, max, unit;
} words[] = {
#define FIELD(f) offsetof(struct weir_steady_choice, f)
    { "round", "round=SECONDS, from 0.05 to 1000000", FIELD(round_s), 0.05, 1e6, 1 },
    { "window", "window=N, a whole number of rounds from 2 to 100", FIELD(window), 2,
      WEIR_STEADY_WINDOW_MAX, 0 },
    { "most", "most=SECONDS, from 0.1 to 2147483647", FIELD(max_s), 0.1, INT32_MAX, 1 },
    { "excursion", "excursion=P%, above 0 and at most 1000", FIELD(excursion), 1e-9, 1000, 100 },
    { "slope", "slope=P%, above 0 and at most 1000", FIELD(slope), 1e-9, 1000, 100 },
};
#define N_WORDS (sizeof(words) / sizeof(*words))

bool weir_steady_asked(const char *value)
{
    size_t len = strlen(NAME);

    return value && strncmp(value, NAME, len) == 0 && (!value[len] || value[len] == ',' || value[len] == '+');
}

/* Bytes of a word: up to a comma, or a + before another word (there is none in 1e+3). */
static size_t length_of(const char *at)
{
    size_t n = strcspn(at, ",+");

    while (at[n] == '+' && !isalpha((unsigned char)at[n + 1]))
        n += 1 + strcspn(at + n + 1, ",+");
    return n;
}

static bool is_word(const char *at, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(at, text, len) == 0;
}

static int refuse(const char *at, size_t len, const char *form, struct weir_err *err)
{
    return weir_refuse(err, WEIR_EUSAGE, "option --until: '%.*s' is not %s", (int)len, at, form);
}

/* The number after the key, up to the end of the word. */
static int read_number(const char *at, size_t len, const struct word *w, void *out,
                       struct weir_err *err)
{
    double n;
    const char *value = at + strlen(w->key) + 1, *end = weir_real_scan(value, &n);

    if (end > value && w->unit > 1 && *end == '%')
        end++;
    if (end == value || end != at + len || !(n >= w->min && n <= w->max) ||
        (w->unit == 0 && n != floor(n)))
        return refuse(at, len, w->form, err);
    if (w->unit == 0)
        *(int64_t *)out = (int64_t)n;
    else
        *(double *)out = n / w->unit;
    return 0;
}

static int read_word(const char *at, size_t len, struct weir_steady_choice *out, struct weir_err *err)
{
    size_t key = strcspn(at, "=");

    if (key >= len) /* none */
        key = 0;
    for (size_t i = 0; i < N_WORDS; i++)
        if (is_word(at, key, words[i].key))
            return read_number(at, len, &words[i], (char *)out + words[i].offset, err);
    if (!is_word(at, key, "of"))
        return refuse(at, len, "one of the words that can follow 'steady': round=SECONDS, window=N, most=SECONDS, "
                               "excursion=P%, slope=P%, of=rate, of=p99, of=both", err);
    out->rate = is_word(at, len, "of=rate");
    out->p99 = is_word(at, len, "of=p99");
    if (is_word(at, len, "of=both"))
        out->rate = out->p99 = true;
    return out->rate || out->p99 ? 0 : refuse(at, len, "of=rate, of=p99 or of=both", err);
}

int weir_steady_read(const char *value, struct weir_steady_choice *out, struct weir_err *err)
{
    uint32_t given = 0; /* a bit for the first letter, which tells the words apart */
    size_t len;

    *out = (struct weir_steady_choice) { .round_s = 60, .window = 5, .excursion = 0.2, .slope = 0.1,
                                         .rate = true, .p99 = true };
    for (const char *at = value + strlen(NAME); *at; at += len) {
        len = length_of(++at);
        if (read_word(at, len, out, err) < 0)
            return -1;
        if (given & 1u << (*at - 'a'))
            return refuse(at, len, "allowed twice (for rate and p99: of=both)", err);
        given |= 1u << (*at - 'a');
    }
    return 0;
}

double weir_steady_bound(const struct weir_steady_choice *c, double deadline_s)
{
    double most = c->max_s > 0 ? c->max_s : deadline_s > 0 ? deadline_s : ROUNDS_MAX * c->round_s;

    return deadline_s > 0 && deadline_s < most ? deadline_s : most;
}
