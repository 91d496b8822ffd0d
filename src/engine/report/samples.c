/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c - samples of metrics in the text form of OpenMetrics */
#include "config.h"
#include "engine/report/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/json.h"
#include "base/text/quote.h"

/* ---- labels ---- */

void weir_label_add(struct weir_str *labels, const char *name, const char *value)
{
    const char *c;
    size_t len;

    weir_str_addf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
    while ((c = weir_utf8_next(&value, &len))) {
        if (*c == '\n')
            weir_str_add(labels, "\\n", 2);
        else if (*c == '"' || *c == '\\')
            weir_str_addf(labels, "\\%c", *c);
        else
            weir_str_add(labels, c, len);
    }
    weir_str_addc(labels, '"');
}

/* ---- samples ---- */

static struct weir_sample *find(const struct weir_samples *s, size_t metric, const char *labels)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->sample[i].metric == metric && strcmp(s->sample[i].labels, labels) == 0)
            return &s->sample[i];
    return NULL;
}

static void add_new(struct weir_samples *s, size_t metric, const struct weir_str *labels, double value)
{
    char *text = labels->failed ? NULL : strdup(weir_str_text(labels));

    if (!text || !weir_mem_room(&s->sample, s->n, &s->room, sizeof(*s->sample))) {
        s->failed = true;
        free(text);
        return;
    }
    s->sample[s->n++] = (struct weir_sample) { metric, text, value };
}

void weir_samples_add(struct weir_samples *s, const struct weir_metric *metrics, size_t metric,
                      const struct weir_str *labels, double value)
{
    struct weir_sample *same = isfinite(value) ? find(s, metric, weir_str_text(labels)) : NULL;

    if (!isfinite(value))
        return;
    if (!same)
        add_new(s, metric, labels, value);
    else if (metrics[metric].merge == WEIR_SUM)
        same->value += value;
    else if (metrics[metric].merge == WEIR_LAST || value > same->value)
        same->value = value;
}

static void write_sample(const struct weir_sample *s, const char *name, FILE *out)
{
    struct weir_str value = { 0 };
    struct weir_json j = { .out = &value };

    weir_json_real(&j, NULL, s->value); /* a text that reads back as the same number */
    fprintf(out, *s->labels ? "%s{%s} %s\n" : "%s%s %s\n", name, s->labels, weir_str_text(&value));
    weir_str_free(&value);
}

static void write_head(const struct weir_metric *m, FILE *out)
{
    fprintf(out, "# TYPE %s gauge\n", m->name);
    if (*m->unit)
        fprintf(out, "# UNIT %s %s\n", m->name, m->unit);
    fprintf(out, "# HELP %s %s.\n", m->name, m->help);
}

void weir_samples_write(const struct weir_samples *s, const struct weir_metric *metrics, size_t n, FILE *out)
{
    for (size_t m = 0; m < n; m++) {
        bool begun = false;

        for (size_t i = 0; i < s->n; i++) {
            if (s->sample[i].metric != m)
                continue;
            if (!begun)
                write_head(&metrics[m], out);
            begun = true;
            write_sample(&s->sample[i], metrics[m].name, out);
        }
    }
    fprintf(out, "# EOF\n");
}

void weir_samples_free(struct weir_samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->sample[i].labels);
    free(s->sample);
    *s = (struct weir_samples) { 0 };
}
