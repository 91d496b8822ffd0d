/* SPDX-License-Identifier: BSD-3-Clause */
/* configuration.c - what a test is: the values that change what is measured */
#include "engine/about/configuration.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/options/option.h"
#include "base/rng.h"
#include "engine/about/provenance.h"
#include "engine/program.h"

/* The report, and the sum of the hashes of the parts: their order does not matter. */
struct parts {
    struct weir_report *report;
    uint64_t sum;
};

/* The hash of both with their zeros, then mixed, so that sums of parts are as good. */
static void add(struct parts *p, const char *name, const char *value)
{
    uint64_t h = weir_hash(WEIR_HASH_BEGIN, name, strlen(name) + 1);

    p->sum += weir_rng_at(weir_hash(h, value, strlen(value) + 1), 0);
}

static void emit_text(struct parts *p, const char *name, const char *value)
{
    add(p, name, value);
    weir_report_str(p->report, WEIR_FOR_DATA, name, value);
}

static void emit_number(struct parts *p, const char *name, int64_t value)
{
    struct weir_str text = { 0 };

    weir_str_addf(&text, "%" PRId64, value);
    add(p, name, weir_str_text(&text));
    weir_report_int(p->report, WEIR_FOR_DATA, name, value);
    weir_report_free(p->report, &text);
}

/* ---- options ---- */

/* Values of a table, size bytes. */
struct table {
    const char *prefix;
    const struct weir_opt *rows;
    const void *values;
    size_t size;
};

static void emit_row(struct parts *p, const struct table *t, const void *defaults,
                     const struct weir_opt *row)
{
    struct weir_str name = { 0 }, value = { 0 }, usual = { 0 };

    weir_str_addf(&name, "%s%s", t->prefix, row->name ? row->name : row->key);
    weir_opt_show(row, t->values, &value);
    weir_opt_show(row, defaults, &usual);
    if (row->flags & WEIR_OPT_PLACES) {
        int n = weir_places_count(weir_str_text(&value));

        if (n > 1)
            emit_number(p, weir_str_text(&name), n);
    } else if (strcmp(weir_str_text(&value), weir_str_text(&usual)) != 0) {
        emit_text(p, weir_str_text(&name), weir_str_text(&value));
    }
    weir_report_free(p->report, &name);
    weir_report_free(p->report, &value);
    weir_report_free(p->report, &usual);
}

/* True when its value changes what is measured. */
static bool is_configuration(const struct weir_opt *row)
{
    const unsigned neutral =
        WEIR_OPT_NEUTRAL | WEIR_OPT_PLACES | WEIR_OPT_READS | WEIR_OPT_WRITES | WEIR_OPT_ADDS;

    return row->type < WEIR_OPT_DIRECTIVES && !(row->flags & neutral);
}

/* Only what differs from the default: an option that a later version adds changes no hash. */
static void emit_table(struct weir_run *run, struct parts *p, struct table t)
{
    struct weir_opts opts = { .n = 1, .arena = &run->arena };
    void *defaults;

    if (!t.rows || !t.values)
        return;
    defaults = weir_arena_alloc(&run->arena, t.size, NULL);
    opts.set[0] = (struct weir_optset) {
        .prefix = t.prefix, .rows = t.rows, .values = defaults, .size = t.size
    };
    if (!defaults || weir_opts_defaults(&opts, NULL) < 0) {
        p->report->lost = true;
        return;
    }
    for (const struct weir_opt *row = t.rows; !weir_opt_is_end(row); row++)
        if ((row->name || row->key) &&
            (is_configuration(row) || (row->flags & WEIR_OPT_PLACES)))
            emit_row(p, &t, defaults, row);
}

static void emit_options(struct weir_run *run, struct parts *p)
{
    const struct weir_test *t = run->test;

    weir_report_enter(p->report, "options", false);
    emit_table(run, p, (struct table) { "", t->values->rows, t->chosen, t->program->opt_size });
    for (int i = 0; i < t->n_used; i++) {
        const struct weir_backend *be = t->used[i].be, *base = be->base;
        const struct weir_backend_opt *o = &t->used[i].opt;

        emit_table(run, p, (struct table) { be->prefix, be->opts, o->own, be->opt_size });
        if (base)
            emit_table(run, p,
                       (struct table) { base->prefix, base->opts, o->base, base->opt_size });
    }
    weir_report_leave(p->report);
}

/* ---- the whole ---- */

static void emit_backends(struct weir_run *run, struct parts *p)
{
    const struct weir_test *t = run->test;
    struct weir_str names = { 0 };

    for (int i = 0; i < t->n_used; i++)
        weir_str_addf(&names, "%s%s", i ? "+" : "", t->used[i].be->name);
    emit_text(p, "backend", weir_str_text(&names));
    weir_report_free(p->report, &names);
}

/* Report the parts of the configuration to p->report, and return the hash of all. */
static uint64_t emit_all(struct weir_run *run, struct parts *p)
{
    emit_text(p, "program", run->test->program->name);
    emit_number(p, "tasks", run->par.size);
    emit_number(p, "nodes", run->par.nodes);
    emit_number(p, "tasksPerNode", run->par.per_node_max);
    emit_text(p, "placement", weir_placement_name(run->par.placement));
    emit_number(p, "variant", run->test->variant);
    emit_backends(run, p);
    emit_options(run, p);
    return weir_rng_at(p->sum, 0);
}

void weir_configuration_hash(struct weir_run *run, struct weir_str *out)
{
    struct weir_report nobody = { .n = 0 };
    struct parts p = { .report = &nobody };

    weir_str_addf(out, "%016" PRIx64, emit_all(run, &p));
}

void weir_configuration_report(struct weir_run *run)
{
    struct parts p = { .report = &run->report };
    struct weir_str hash = { 0 };

    if (!run->report.details || run->report.n == 0)
        return;
    weir_report_enter(p.report, "configuration", false);
    weir_str_addf(&hash, "%016" PRIx64, emit_all(run, &p));
    weir_report_str(p.report, WEIR_FOR_DATA, "hash", weir_str_text(&hash));
    weir_report_leave(p.report);
    weir_report_free(p.report, &hash);
}
