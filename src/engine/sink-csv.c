/* SPDX-License-Identifier: BSD-3-Clause */
/* sink-csv.c - the rows of a table as comma-separated values, one heading for the run */
#include "config.h"
#include "engine/report.h"

#include "base/str.h"

static void print_head(struct weir_sink *s, const struct weir_table *t)
{
    struct weir_str line = { 0 };

    if (s->priv)
        return;
    weir_col_csv_head(&line, t->cols);
    fputs(weir_str_text(&line), s->out);
    weir_str_free(&line);
    s->priv = s; /* the heading is out */
}

static void print_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct weir_str line = { 0 };

    print_head(s, t);
    weir_col_csv(&line, t->cols, record);
    fputs(weir_str_text(&line), s->out);
    weir_str_free(&line);
}

const struct weir_sink_ops weir_sink_csv = {
    .name = "CSV",
    .reader = WEIR_FOR_CSV,
    .head = print_head,
    .row = print_row,
};

const struct weir_sink_ops weir_sink_csv_full = {
    .name = "CSV, full table",
    .reader = WEIR_FOR_CSV_FULL,
    .head = print_head,
    .row = print_row,
};
