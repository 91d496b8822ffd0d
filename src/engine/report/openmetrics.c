/* SPDX-License-Identifier: BSD-3-Clause */
/* openmetrics.c - the last result of a job as metrics, for the text collector of node_exporter.
 *
 * All are gauges, and no sample has a time. So the file is OpenMetrics, and the older text form
 * of Prometheus, which that collector reads. */
#include "engine/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text/json.h"
#include "base/text/quote.h"

/* Samples of a metric with the same labels become one: the last one, the highest, or their sum. */
enum merge { LAST, MOST, SUM };

enum metric {
    RUN_INFO, RUN_STATUS, RUN_BEGIN, RUN_END, RUN_TASKS, RUN_NODES, TEST_INFO, TEST_FINDINGS, RATE_BYTES, RATE_BYTES_LOW,
    RATE_BYTES_HIGH, RATE_OPS, RATE_OPS_LOW, RATE_OPS_HIGH, PHASE_TIME, WRONG, CALL_TIME, METRICS
};

/* The name ends with the unit, which may be "". */
static const struct {
    const char *name, *unit, *help;
    enum merge merge;
} metrics[METRICS] = {
    [RUN_INFO] = { "weir_run_info", "", "What ran, and with what: always 1", LAST },
    [RUN_STATUS] = { "weir_run_status", "", "Exit status of the last run: 0 it is well", LAST },
    [RUN_BEGIN] = { "weir_run_begin_timestamp_seconds", "seconds", "When the last run began, since 1970", LAST },
    [RUN_END] = { "weir_run_end_timestamp_seconds", "seconds", "When the last run ended, since 1970", LAST },
    [RUN_TASKS] = { "weir_run_tasks", "", "Tasks of the run", LAST },
    [RUN_NODES] = { "weir_run_nodes", "", "Nodes of the run", LAST },
    [TEST_INFO] = { "weir_test_info", "", "What was tested, where, and what it is worth: always 1", LAST },
    [TEST_FINDINGS] = { "weir_test_findings", "", "Findings of the judgement by rules, of this severity", SUM },
    [RATE_BYTES] = { "weir_rate_bytes_per_second", "bytes_per_second", "Median rate of the repetitions", LAST },
    [RATE_BYTES_LOW] = { "weir_rate_low_bytes_per_second", "bytes_per_second", "Lower end of the 95 % interval of that median", LAST },
    [RATE_BYTES_HIGH] = { "weir_rate_high_bytes_per_second", "bytes_per_second", "Upper end of that interval", LAST },
    [RATE_OPS] = { "weir_rate_operations_per_second", "operations_per_second", "Median rate of the repetitions, of phases that move no bytes", LAST },
    [RATE_OPS_LOW] = { "weir_rate_low_operations_per_second", "operations_per_second", "Lower end of the 95 % interval of that median", LAST },
    [RATE_OPS_HIGH] = { "weir_rate_high_operations_per_second", "operations_per_second", "Upper end of that interval", LAST },
    [PHASE_TIME] = { "weir_phase_time_seconds", "seconds", "First open to last close, of the slowest repetition", MOST },
    [WRONG] = { "weir_wrong_transfers", "", "Transfers whose data were not right, of all repetitions", SUM },
    [CALL_TIME] = { "weir_call_time_seconds", "seconds", "Times of single calls of all tasks: the highest of the repetitions at each quantile", MOST },
};

/* Facts that are samples or labels, by the objects they are in: those with a label belong to a metric whose value is 1. */
static const struct {
    const char *path, *key;
    enum metric metric;
    const char *label;
} facts[] = {
    { "", "status", RUN_STATUS, NULL },
    { "/provenance", "tasks", RUN_TASKS, NULL },
    { "/provenance", "nodes", RUN_NODES, NULL },
    { "", "Version", RUN_INFO, "version" },
    { "", "Machine", RUN_INFO, "machine" },
    { "/provenance", "mpi", RUN_INFO, "mpi" },
    { "/provenance/environment", "kernel", RUN_INFO, "kernel" },
    { "/tests/", "verdict", TEST_INFO, "verdict" },
    { "/tests//configuration", "hash", TEST_INFO, "configuration" },
    { "/tests//configuration", "backend", TEST_INFO, "backend" },
    { "/tests//provenance", "mount", TEST_INFO, "mount" },
    { "/tests//provenance", "fileSystem", TEST_INFO, "file_system" },
};

struct sample {
    enum metric metric;
    struct weir_str labels; /* name="value",name="value" */
    double value;
};

struct exposition {
    struct sample *sample;
    size_t n, capacity;
    bool failed;             /* memory ran out for a sample */
    struct weir_str path;    /* keys of the open objects */
    struct weir_str program; /* labels that all samples of the run have, */
    struct weir_str info[METRICS]; /* of RUN_INFO and TEST_INFO */
    unsigned known;          /* the rows of 'facts' that are in them, a bit each */
    int tests;               /* that were begun */
};

/* ---- labels ---- */

/* After a comma where there are others; a byte that is not UTF-8 becomes U+FFFD. */
static void add_label(struct weir_str *labels, const char *name, const char *value)
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

/* The name of its file tells this output from those of other jobs: the directory has it once. */
static void add_name(struct weir_str *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = strlen(base), end = len > 5 && strcmp(base + len - 5, ".prom") == 0 ? 5 : 0;
    char *name = strndup(base, len - end);

    if (name)
        add_label(out, "name", name);
    out->failed |= !name;
    free(name);
}

/* The labels of every sample of the test that is open, else of the run. */
static void begin_labels(const struct exposition *e, struct weir_str *out)
{
    weir_str_add(out, weir_str_text(&e->program), e->program.len);
    if (strncmp(weir_str_text(&e->path), "/tests/", 7) == 0)
        weir_str_addf(out, "%stest=\"%d\"", out->len > 0 ? "," : "", e->tests - 1);
}

/* ---- samples ---- */

/* The sample with these labels, which it takes. NULL: memory ran out. */
static struct sample *sample_of(struct exposition *e, enum metric metric, struct weir_str *labels)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->sample[i].metric == metric &&
            strcmp(weir_str_text(&e->sample[i].labels), weir_str_text(labels)) == 0) {
            weir_str_free(labels);
            return &e->sample[i];
        }
    if (labels->failed || !weir_mem_reserve(&e->sample, e->n, &e->capacity, sizeof(*e->sample))) {
        weir_str_free(labels);
        e->failed = true;
        return NULL;
    }
    e->sample[e->n] = (struct sample) { metric, *labels, NAN };
    return &e->sample[e->n++];
}

/* Takes the labels. A value that is not finite was not measured, and is left out. */
static void take_sample(struct exposition *e, enum metric metric, struct weir_str *labels, double value)
{
    const enum merge how = metrics[metric].merge;
    struct sample *s;

    if (!isfinite(value)) {
        weir_str_free(labels);
        return;
    }
    s = sample_of(e, metric, labels);
    if (s && how == SUM && !isnan(s->value))
        s->value += value;
    else if (s && (how != MOST || !(value <= s->value)))
        s->value = value;
}

/* label NULL: with no label of its own. */
static void add_sample(struct exposition *e, enum metric metric, const char *label, const char *of,
                       double value)
{
    struct weir_str labels = { 0 };

    begin_labels(e, &labels);
    if (label)
        add_label(&labels, label, of);
    take_sample(e, metric, &labels, value);
}

/* The sample of a metric whose labels were collected. */
static void add_info(struct exposition *e, enum metric metric)
{
    struct weir_str labels = { 0 }, *info = &e->info[metric];

    begin_labels(e, &labels);
    weir_str_addf(&labels, "%s%s", labels.len > 0 && info->len > 0 ? "," : "", weir_str_text(info));
    labels.failed |= info->failed;
    take_sample(e, metric, &labels, 1);
    weir_str_free(info);
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        e->known &= ~((unsigned)(facts[i].metric == metric) << i);
}

/* ---- what is reported ---- */

static int begin(struct weir_sink *s, struct weir_err *err)
{
    struct exposition *e = calloc(1, sizeof(*e));

    if (!e)
        return weir_fail(err, WEIR_ESETUP, "memory for the metrics of %s", s->path);
    if (!s->standard)
        add_name(&e->program, s->path);
    s->priv = e;
    return 0;
}

static void enter(struct weir_sink *s, const char *key, bool list)
{
    struct exposition *e = s->priv;

    e->tests += strcmp(weir_str_text(&e->path), "/tests") == 0;
    weir_str_addf(&e->path, "/%s", key ? key : "");
}

static void leave(struct weir_sink *s)
{
    struct exposition *e = s->priv;
    char *slash = e->path.len > 0 ? strrchr(e->path.text, '/') : NULL;

    if (strcmp(weir_str_text(&e->path), "/tests/") == 0)
        add_info(e, TEST_INFO);
    if (slash) {
        *slash = '\0';
        e->path.len = (size_t)(slash - e->path.text);
    }
}

static void put_fact(struct weir_sink *s, const struct weir_fact *f)
{
    struct exposition *e = s->priv;
    const char *path = weir_str_text(&e->path);

    if (*path == '\0' && strcmp(f->key, "program") == 0) {
        add_label(&e->program, "program", f->str);
        add_sample(e, RUN_BEGIN, NULL, NULL, (double)time(NULL));
    }
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        if (strcmp(facts[i].path, path) != 0 || strcmp(facts[i].key, f->key) != 0)
            continue;
        if (!facts[i].label)
            add_sample(e, facts[i].metric, NULL, NULL,
                       f->type == WEIR_FACT_INT ? (double)f->num : f->real);
        else if (f->type == WEIR_FACT_STR && f->str && !(e->known & 1u << i))
            add_label(&e->info[facts[i].metric], facts[i].label, f->str);
        e->known |= (unsigned)(f->type == WEIR_FACT_STR && f->str) << i;
    }
}

/* ---- rows of tables ---- */

struct row {
    const struct weir_table *table;
    const void *record;
};

static const struct weir_col *column(const struct row *row, const char *key)
{
    const struct weir_col *c = row->table->cols;

    while (!weir_col_is_end(c) && !(c->key && strcmp(c->key, key) == 0))
        c++;
    return weir_col_is_end(c) ? NULL : c;
}

/* NaN: it is not there, or was not measured. */
static double number(const struct row *row, const char *key)
{
    const struct weir_col *c = column(row, key);

    return c && c->type != WEIR_COL_STR ? weir_col_number(c, row->record) : NAN;
}

static const char *text(const struct row *row, const char *key)
{
    const struct weir_col *c = column(row, key);
    const char *found = c && c->type == WEIR_COL_STR ? weir_col_string(c, row->record) : NULL;

    return found ? found : "";
}

static void take_rates(struct exposition *e, const struct row *row)
{
    static const char *const keys[] = { "median", "low", "high" };
    enum metric first = strcmp(text(row, "unit"), "bytes/s") == 0 ? RATE_BYTES : RATE_OPS;

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        add_sample(e, first + (enum metric)i, "operation", text(row, "operation"),
                   number(row, keys[i]));
}

static void take_calls(struct exposition *e, const struct row *row, const char *call)
{
    static const char *const quantiles[][2] = {
        { "P50", "0.5" }, { "P90", "0.9" }, { "P99", "0.99" }, { "P999", "0.999" }, { "Max", "1" }
    };
    struct weir_str key = { 0 }, labels;

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
        weir_str_clear(&key);
        weir_str_addf(&key, "%s%s", call, quantiles[i][0]);
        labels = (struct weir_str) { 0 };
        begin_labels(e, &labels);
        add_label(&labels, "operation", text(row, "operation"));
        add_label(&labels, "call", call);
        add_label(&labels, "quantile", quantiles[i][1]);
        take_sample(e, CALL_TIME, &labels, number(row, weir_str_text(&key)));
    }
    e->failed |= key.failed;
    weir_str_free(&key);
}

static void take_phase(struct exposition *e, const struct row *row)
{
    static const char *const calls[] = { "open", "transfer", "sync", "close" };

    add_sample(e, PHASE_TIME, "operation", text(row, "operation"), number(row, "totalTime"));
    add_sample(e, WRONG, "operation", text(row, "operation"), number(row, "wrong"));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        take_calls(e, row, calls[i]);
}

static void take_finding(struct exposition *e, const struct row *row)
{
    if (strcmp(text(row, "outcome"), "found") == 0)
        add_sample(e, TEST_FINDINGS, "severity", text(row, "severity"), 1);
}

static void add_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    static const struct {
        const char *key;
        void (*take)(struct exposition *, const struct row *);
    } tables[] = { { "rates", take_rates }, { "phases", take_phase }, { "findings", take_finding } };
    const struct row row = { t, record };
    struct exposition *e = s->priv;

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strcmp(t->key, tables[i].key) == 0)
            tables[i].take(e, &row);
}

/* ---- the end ---- */

/* The samples of one metric, below its head. */
static void write_metric(const struct exposition *e, enum metric metric, FILE *out)
{
    const char *name = metrics[metric].name;
    struct weir_str value = { 0 };
    struct weir_json j = { .out = &value };
    bool begun = false;

    for (const struct sample *s = e->sample; s < e->sample + e->n; s++) {
        if (s->metric != metric)
            continue;
        if (!begun) {
            fprintf(out, "# TYPE %s gauge\n", name);
            if (*metrics[metric].unit)
                fprintf(out, "# UNIT %s %s\n", name, metrics[metric].unit);
            fprintf(out, "# HELP %s %s.\n", name, metrics[metric].help);
        }
        begun = true;
        weir_str_clear(&value);
        weir_json_real(&j, NULL, s->value); /* a text that reads back as the same number */
        fprintf(out, s->labels.len > 0 ? "%s{%s} %s\n" : "%s%s %s\n", name,
                weir_str_text(&s->labels), weir_str_text(&value));
    }
    weir_str_free(&value);
}

/* A test that is open ends here. */
static void end(struct weir_sink *s, const struct weir_fact *facts_of_run, int n, FILE *out)
{
    struct exposition *e = s->priv;

    if (strncmp(weir_str_text(&e->path), "/tests/", 7) == 0)
        add_info(e, TEST_INFO);
    weir_str_clear(&e->path);
    for (int i = 0; i < n; i++)
        put_fact(s, &facts_of_run[i]);
    add_sample(e, RUN_END, NULL, NULL, (double)time(NULL));
    add_info(e, RUN_INFO);
    for (enum metric m = 0; m < METRICS; m++)
        write_metric(e, m, out);
    fprintf(out, "# EOF\n");
    if ((e->failed || e->program.failed || e->path.failed) && s->sys == 0)
        s->sys = ENOMEM; /* comes back from the end */
}

static void release(struct weir_sink *s, bool whole)
{
    struct exposition *e = s->priv;

    for (size_t i = 0; i < e->n; i++)
        weir_str_free(&e->sample[i].labels);
    free(e->sample);
    for (int i = 0; i < METRICS; i++)
        weir_str_free(&e->info[i]);
    weir_str_free(&e->path);
    weir_str_free(&e->program);
    free(e);
    s->priv = NULL;
}

const struct weir_sink_ops weir_sink_openmetrics = {
    .reader = WEIR_FOR_DATA,
    .document = true,
    .keeps = true,
    .begin = begin,
    .enter = enter,
    .leave = leave,
    .fact = put_fact,
    .row = add_row,
    .end = end,
    .release = release,
};
