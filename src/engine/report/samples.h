/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h - samples of metrics in the text form of OpenMetrics, all of them gauges */
#ifndef WEIR_ENGINE_REPORT_SAMPLES_H
#define WEIR_ENGINE_REPORT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/str.h"

/* Samples of a metric with the same labels become one: the last one, the highest, or their sum. */
enum weir_merge { WEIR_LAST, WEIR_MOST, WEIR_SUM };

/* The name ends with the unit, which may be "". */
struct weir_metric {
    const char *name, *unit, *help;
    enum weir_merge merge;
};

struct weir_sample {
    size_t metric; /* place in the list of the metrics */
    char *labels;  /* name="value",name="value" */
    double value;
};

/* Zero-initialise; release with weir_samples_free. */
struct weir_samples {
    struct weir_sample *sample;
    size_t n, room;
    bool failed; /* memory ran out for one */
};

/* Append a label, with a comma after those that are there; a byte that is not UTF-8 becomes U+FFFD. Local. */
void weir_label_add(struct weir_str *labels, const char *name, const char *value);

/* Add a sample of metrics[metric]; one that is not finite was not measured and is left out. Local. */
void weir_samples_add(struct weir_samples *s, const struct weir_metric *metrics, size_t metric,
                      const struct weir_str *labels, double value);

/* Write all samples, metric by metric of n metrics, and the mark of the end. Local. */
void weir_samples_write(const struct weir_samples *s, const struct weir_metric *metrics, size_t n, FILE *out);

void weir_samples_free(struct weir_samples *s);

#endif
