/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.h - the forms of results: words of --report, their sinks, and the texts that name them */
#ifndef WEIR_ENGINE_REPORT_FORMS_H
#define WEIR_ENGINE_REPORT_FORMS_H

/* FORM(word, sink), the one of people first. */
#define WEIR_REPORT_FORMS(FIRST, FORM)                                                             \
    FIRST("text", weir_sink_text)                                                                  \
    FORM("text-3.3", weir_sink_text_33)                                                            \
    FORM("json", weir_sink_json)                                                                   \
    FORM("jsonl", weir_sink_jsonl)                                                                 \
    FORM("csv", weir_sink_csv_full)                                                                \
    FORM("csv-intervals", weir_sink_csv_intervals)                                                 \
    FORM("csv-load", weir_sink_csv_load)                                                           \
    FORM("openmetrics", weir_sink_openmetrics)

/* The names for an error; the values for help, and for completion. */
#define WEIR_FORM_FIRST_NAME(word, sink) word
#define WEIR_FORM_NAME(word, sink) ", " word
#define WEIR_FORM_NAMES WEIR_REPORT_FORMS(WEIR_FORM_FIRST_NAME, WEIR_FORM_NAME)

#define WEIR_FORM_FIRST_HELP(word, sink) word ":-"
#define WEIR_FORM_HELP(word, sink) ", " word ":FILE"
#define WEIR_FORMS_HELP WEIR_REPORT_FORMS(WEIR_FORM_FIRST_HELP, WEIR_FORM_HELP)

#define WEIR_FORM_FIRST_VALUE(word, sink) word ":-",
#define WEIR_FORM_VALUE(word, sink) word ":",
#define WEIR_FORM_VALUES WEIR_REPORT_FORMS(WEIR_FORM_FIRST_VALUE, WEIR_FORM_VALUE) NULL

#endif
