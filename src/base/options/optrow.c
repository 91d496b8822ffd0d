/* SPDX-License-Identifier: BSD-3-Clause */
/* optrow.c - one option row as text for people: for the pages of help */
#include "base/options/optrow.h"
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/options/optset.h"

enum { COLUMN = 30 }; /* where the sentence of an option begins */

/* ---- text ---- */

void weir_optrow_wrap(struct weir_str *out, size_t at, size_t indent, const char *text)
{
    bool first = true;

    while (*text != '\0') {
        size_t len = strcspn(text, " ");

        if (!first && at + 1 + len > WEIR_OPTROW_WIDTH) {
            weir_str_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            weir_str_addc(out, ' ');
            at++;
        }
        weir_str_add(out, text, len);
        at += len;
        text += len + strspn(text + len, " ");
        first = false;
    }
    weir_str_addc(out, '\n');
}

/* Bytes as people write them, where that is exact: "1m" for 1048576. */
static void add_size(struct weir_str *out, int64_t bytes)
{
    static const char suffixes[] = "kmgt";
    int suffix = -1;

    while (suffix < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        suffix++;
    }
    weir_str_addf(out, "%" PRId64, bytes);
    if (suffix >= 0)
        weir_str_addc(out, suffixes[suffix]);
}

/* The value of a row now; nothing where it has none. */
static void add_value(const struct weir_optset *set, const struct weir_opt *row,
                      struct weir_str *out)
{
    if (weir_opt_stands_for(row))
        return;
    if (row->type == WEIR_OPT_SIZE && set->values != NULL)
        add_size(out, *(const int64_t *)((const char *)set->values + row->offset));
    else
        weir_opt_show(row, set->values, out);
}

/* ---- one row ---- */

static bool is_flag(const struct weir_opt *row)
{
    return row->type == WEIR_OPT_FLAG || row->type == WEIR_OPT_COUNT ||
           (row->type == WEIR_OPT_ALIAS && !weir_opt_takes_value(row));
}

bool weir_optrow_has_only_key(const struct weir_opt *row)
{
    return row->letter == 0 && row->name == NULL;
}

static void add_names(const struct weir_optset *set, const struct weir_opt *row,
                      struct weir_str *out)
{
    if (row->letter != 0)
        weir_str_addf(out, "-%c%s", row->letter, row->name != NULL ? ", " : "");
    if (row->name != NULL)
        weir_str_addf(out, "--%s%s", set->prefix, row->name);
    if (weir_optrow_has_only_key(row))
        weir_str_addf(out, "-O %s%s", set->prefix, row->key);
}

void weir_optrow_names(const struct weir_optset *set, const struct weir_opt *row,
                       struct weir_str *out)
{
    struct weir_str value = { 0 };

    add_names(set, row, out);
    add_value(set, row, &value);
    if (is_flag(row) && value.len > 0 && strcmp(weir_str_text(&value), "0") != 0)
        weir_str_addf(out, " (%s)", weir_str_text(&value));
    else if (!is_flag(row) && (row->flags & WEIR_OPT_OPTARG))
        weir_str_addf(out, "[=%s]", weir_opt_meta(row));
    else if (!is_flag(row))
        weir_str_addf(out, "=%s", value.len > 0 ? weir_str_text(&value) : weir_opt_meta(row));
    out->failed = out->failed || value.failed;
    weir_str_free(&value);
}

void weir_optrow_add(const struct weir_optset *set, const struct weir_opt *row,
                     struct weir_str *out)
{
    struct weir_str text = { 0 };
    size_t start = out->len, used;

    weir_str_addf(out, "  ");
    weir_optrow_names(set, row, out);
    used = out->len - start;
    if (used < COLUMN)
        weir_str_addf(out, "%*s", (int)(COLUMN - used), "");
    else
        weir_str_addf(out, "\n%*s", COLUMN, "");
    weir_str_addf(&text, "%s", row->help);
    weir_opt_add_choices(row, " (", ")", &text);
    weir_optrow_wrap(out, COLUMN, COLUMN, weir_str_text(&text));
    out->failed = out->failed || text.failed;
    weir_str_free(&text);
}

/* ---- examples ---- */

/* A value to show, by the word that stands for values of its kind. */
static const char *sample_of(const struct weir_opt *row)
{
    static const struct {
        const char *meta, *value;
    } samples[] = {
        { "SIZE", "16m" },
        { "N", "4" },
        { "SECONDS", "30" },
        { "MINUTES", "10" },
        { "MICROSECONDS", "500" },
        { "FILE", "file" },
        { "FILE.npy", "ops.npy" },
        { "PATH", "/scratch/f" },
        { "DIR", "/scratch/d" },
        { "DIR[@DIR...]", "/scratch/d" },
        { "PREFIX", "ops" },
        { "NAME", "MPIIO" },
        { "PERCENT", "5" },
        { "SIZE|NN%", "50%" },
        { "NODES", "2" },
        { "FORMAT:PATH,...", "text:-,json:r.json" },
        { "ID:NUMBER,...", "H01:30" },
        { "FACTOR", "0.5" },
        { "N,N,...", "1,2,4" },
        { "TYPE", "random" },
        { "USEC", "100" },
        { "COMMAND", "sync" },
        { "BYTES", "1m" },
        { "KEY=VALUE,...", "blockSize=4k,transferSize=4k" },
    };

    if (row->example != NULL)
        return row->example;
    for (int i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
        if (row->def == NULL || strcasecmp(row->choices[i], row->def) != 0)
            return row->choices[i];
    if (row->choices != NULL)
        return row->choices[0];
    if (row->meta != NULL && strcmp(row->meta, "N") == 0 && row->def != NULL &&
        strcmp(row->def, "0") != 0 && strcmp(row->def, "-1") != 0)
        return row->def; /* in its range */
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (row->meta != NULL && strcmp(row->meta, samples[i].meta) == 0)
            return samples[i].value;
    return row->def != NULL ? row->def : "1";
}

void weir_optrow_sample(const struct weir_optset *set, const struct weir_opt *row,
                        struct weir_str *out)
{
    const bool has_value = weir_opt_takes_value(row);

    if (row->letter != 0)
        weir_str_addf(out, "-%c%s%s", row->letter, has_value ? " " : "",
                      has_value ? sample_of(row) : "");
    else if (row->name != NULL)
        weir_str_addf(out, "--%s%s%s%s", set->prefix, row->name, has_value ? "=" : "",
                      has_value ? sample_of(row) : "");
    else
        weir_str_addf(out, "-O %s%s=%s", set->prefix, row->key, has_value ? sample_of(row) : "1");
}
