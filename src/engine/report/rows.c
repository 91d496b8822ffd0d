/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - results that are written as they come: text as people and old parsers read it
 *, and the rows of a table as comma-separated values */
#include "engine/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void print_fact(struct weir_sink *s, const struct weir_fact *f)
{
    switch (f->type) {
    case WEIR_FACT_STR:
        fprintf(s->out, "%-20s: %s\n", f->key, f->str);
        break;
    case WEIR_FACT_INT:
        fprintf(s->out, "%-20s: %" PRId64 "\n", f->key, f->num);
        break;
    case WEIR_FACT_REAL:
        if (!isfinite(f->real))
            fprintf(s->out, "%-20s: -\n", f->key);
        else if (f->real != 0 && fabs(f->real) < 1e-4) /* 0.0000 would read as 0 */
            fprintf(s->out, "%-20s: %.4g\n", f->key, f->real);
        else
            fprintf(s->out, "%-20s: %.4f\n", f->key, f->real);
        break;
    }
}

/* A text that was made for the sink, and what stands after it. */
static void print_text(struct weir_sink *s, struct weir_str *text, const char *end)
{
    if (text->failed && s->sys == 0)
        s->sys = ENOMEM; /* comes back from the end */
    fprintf(s->out, "%s%s", weir_str_text(text), end);
    weir_str_free(text);
}

static void print_head(struct weir_sink *s, const struct weir_table *t)
{
    struct weir_str lines = { 0 };

    if (!t->headed || s->headed == t)
        return;
    weir_col_heading(&lines, t->cols);
    print_text(s, &lines, "\n");
    s->headed = t;
}

static void print_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct weir_str line = { 0 };

    print_head(s, t);
    weir_col_text(&line, t->cols, record);
    print_text(s, &line, "\n");
}

#define TEXT .fact = print_fact, .head = print_head, .row = print_row

const struct weir_sink_ops weir_sink_text = { TEXT, .reader = WEIR_FOR_TEXT_4 };
const struct weir_sink_ops weir_sink_text_33 = { TEXT, .reader = WEIR_FOR_TEXT_33 };

/* ---- CSV: one heading for the run ---- */

/* The last columns, where anything is judged: readers of CSV know no other place, and take a
 * comment for a row. */
static const struct weir_col verdict_cols[] = {
    COL_STR(struct weir_verdict, name, NULL, "What the test is worth by all its rows until this one",
            .csv = "verdict"),
    COL_STR(struct weir_verdict, findings, NULL, "The findings that make it less than SOUND",
            .csv = "findings"),
    WEIR_COL_END
};

/* Remarks after these. When messages go to standard output, a line is completed when the next
 * one comes: it may be the last, and then has the messages after it, too. */
struct remarks {
    const char *text;
};

static const struct weir_col remark_cols[] = {
    COL_STR(struct remarks, text, NULL, "NOTEs and WARNINGs until this row; on standard output the last row has those after it, too", .csv = "remarks"),
    WEIR_COL_END
};

struct csv {
    bool headed, open;
    struct weir_str own, next; /* remarks of the open line; those since then */
};

static int begin_csv(struct weir_sink *s, struct weir_err *err)
{
    s->priv = calloc(1, sizeof(struct csv));
    return s->priv ? 0 : weir_fail(err, WEIR_ESETUP, "memory for the rows of %s", s->path);
}

/* True when a row has a verdict and remarks; one of a part of a phase has none. */
static bool is_judged(const struct weir_sink *s)
{
    return s->verdict->name && !(s->ops->reader & (WEIR_FOR_CSV_INTERVALS | WEIR_FOR_CSV_LOAD));
}

/* Go on with a line that has ended. */
static bool continue_line(const struct weir_sink *s, struct weir_str *line)
{
    if (!is_judged(s) || line->failed)
        return false;
    line->text[line->len - 1] = ',';
    return true;
}

static void print_csv_head(struct weir_sink *s, const struct weir_table *t)
{
    struct csv *c = s->priv;
    struct weir_str line = { 0 };

    if (c->headed)
        return;
    weir_col_csv(&line, t->cols, NULL);
    if (continue_line(s, &line))
        weir_col_csv(&line, verdict_cols, NULL);
    if (continue_line(s, &line))
        weir_col_csv(&line, remark_cols, NULL);
    print_text(s, &line, "");
    c->headed = true;
}

static void end_line(struct weir_sink *s, struct csv *c)
{
    const struct remarks cell = { weir_str_text(&c->own) };
    struct weir_str line = { .failed = c->own.failed };

    if (c->open)
        weir_col_csv(&line, remark_cols, &cell);
    print_text(s, &line, "");
    weir_str_free(&c->own);
    c->open = false;
}

static void print_csv_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct csv *c = s->priv;
    struct weir_str line = { 0 };

    print_csv_head(s, t);
    end_line(s, c);
    weir_col_csv(&line, t->cols, record);
    if (continue_line(s, &line)) {
        weir_col_csv(&line, verdict_cols, s->verdict);
        c->open = continue_line(s, &line);
    }
    print_text(s, &line, "");
    c->own = c->next;
    c->next = (struct weir_str) { 0 };
    if (!s->standard)
        end_line(s, c);
}

static void add_remark(struct weir_sink *s, const char *kind, const char *text)
{
    struct csv *c = s->priv;

    if (!is_judged(s))
        return;
    weir_str_addf(&c->next, "%s%s: ", c->next.len > 0 ? "; " : "", strcmp(kind, "note") == 0 ? "NOTE" : "WARNING");
    for (; *text; text++) /* one row is one line */
        weir_str_addc(&c->next, (unsigned char)*text < ' ' ? ' ' : *text);
}

/* No row comes, or something else into the same file. */
static void end_last_line(struct weir_sink *s)
{
    struct csv *c = s->priv;

    if (c->next.len > 0)
        weir_str_addf(&c->own, "%s%s", c->own.len > 0 ? "; " : "", c->next.text);
    c->own.failed |= c->next.failed;
    weir_str_free(&c->next);
    end_line(s, c);
}

/* Where there were no rows, the table has remarks alone. */
static void end_csv(struct weir_sink *s, const struct weir_fact *facts, int n, FILE *out)
{
    struct csv *c = s->priv;
    struct weir_str line = { 0 };

    if (s->standard && !c->headed && c->next.len > 0) {
        weir_col_csv(&line, remark_cols, NULL);
        print_text(s, &line, "");
        c->open = true;
    }
    end_last_line(s);
    free(c);
    s->priv = NULL;
}

#define CSV                                                                                        \
    .begin = begin_csv, .head = print_csv_head, .row = print_csv_row, .message = add_remark,       \
    .fail = end_last_line, .end = end_csv

const struct weir_sink_ops weir_sink_csv = { CSV, .reader = WEIR_FOR_CSV };
const struct weir_sink_ops weir_sink_csv_full = { CSV, .reader = WEIR_FOR_CSV_FULL };
const struct weir_sink_ops weir_sink_csv_intervals = { CSV, .reader = WEIR_FOR_CSV_INTERVALS };
const struct weir_sink_ops weir_sink_csv_load = { CSV, .reader = WEIR_FOR_CSV_LOAD };
