/* SPDX-License-Identifier: BSD-3-Clause */
/* sink-text.c - the result as people and old parsers read it (ior.md section 7) */
#include "config.h"
#include "engine/report.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"

/* Which table's heading stands above the current row; reset when an object begins or ends. */
static void forget_heading(struct weir_sink *s, const char *key, bool list)
{
    (void)key;
    (void)list;
    s->priv = NULL;
}

static void forget_behind(struct weir_sink *s)
{
    s->priv = NULL;
}

static void print_fact(struct weir_sink *s, const struct weir_fact *f)
{
    if (!(f->readers & s->ops->reader))
        return;
    switch (f->type) {
    case WEIR_FACT_STR:
        fprintf(s->out, "%-20s: %s\n", f->key, f->str);
        break;
    case WEIR_FACT_INT:
        fprintf(s->out, "%-20s: %" PRId64 "\n", f->key, f->num);
        break;
    case WEIR_FACT_REAL:
        if (isfinite(f->real))
            fprintf(s->out, "%-20s: %.4f\n", f->key, f->real);
        else
            fprintf(s->out, "%-20s: -\n", f->key);
        break;
    }
}

static void print_head(struct weir_sink *s, const struct weir_table *t)
{
    if (s->priv != t && t->head)
        fprintf(s->out, "%s\n", t->head);
    if (t->head)
        s->priv = (void *)(uintptr_t)t; /* only compared */
}

static void print_row(struct weir_sink *s, const struct weir_table *t, const void *record)
{
    struct weir_str line = { 0 };

    print_head(s, t);
    weir_col_text(&line, t->cols, record);
    fprintf(s->out, "%s\n", weir_str_text(&line));
    weir_str_free(&line);
}

static void print_line(struct weir_sink *s, const char *text)
{
    fprintf(s->out, "%s\n", text);
}

const struct weir_sink_ops weir_sink_text = {
    .name = "text",
    .reader = WEIR_FOR_TEXT,
    .enter = forget_heading,
    .leave = forget_behind,
    .fact = print_fact,
    .head = print_head,
    .row = print_row,
    .line = print_line,
};
