/* SPDX-License-Identifier: BSD-3-Clause */
/* banner.c - what every program prints before its results */
#include "engine/about/banner.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "backends/session/session-array.h"
#include "engine/about/provenance.h"
#include "engine/program.h"

#define NODEMAP_MAX 4096 /* tasks that are shown one by one */

const char *weir_banner_when(int64_t seconds, char out[32], const char *form)
{
    time_t at = (time_t)seconds;
    struct tm tm;

    if (!localtime_r(&at, &tm) || strftime(out, 32, form, &tm) == 0)
        out[0] = '\0';
    return out;
}

const char *weir_banner_now(char out[32], const char *form)
{
    return weir_banner_when((int64_t)time(NULL), out, form);
}

void weir_banner_fakes(struct weir_run *run)
{
    if (run->world.fake_nodes)
        weir_report_line(&run->report, "Fake number of node: using %d", run->world.fake_nodes);
    if (run->world.fake_per_node)
        weir_report_line(&run->report, "Fake tasks per node: using %d", run->world.fake_per_node);
}

void weir_banner_program(struct weir_run *run)
{
    enum weir_deviation deviation = weir_output_of(run->program)->deviation;

    weir_report_str(&run->report, WEIR_FOR_DATA, "Version", "4.1.0+weir-" PACKAGE_VERSION);
    weir_report_int(&run->report, WEIR_FOR_DATA, "schema_version", WEIR_SCHEMA_VERSION);
    weir_report_str(&run->report, WEIR_FOR_DATA, "program", run->program->name);
    if (deviation != WEIR_DEVIATION_NONE)
        weir_report_str(&run->report, WEIR_FOR_DATA, "deviationDivisor",
                        deviation == WEIR_DEVIATION_POPULATION ? "n" : "n-1");
}

void weir_banner_command(struct weir_run *run, unsigned readers)
{
    const struct weir_command_line *line = &run->report.line;
    struct weir_str words = { 0 };

    for (int i = 0; i < line->argc; i++)
        weir_str_addf(&words, "%s%s", i ? " " : "", line->argv[i]);
    weir_report_str(&run->report, readers, "Command line", weir_str_text(&words));
    weir_report_free(&run->report, &words);
}

void weir_banner_words(struct weir_run *run, const char *heading, char quote, int most)
{
    const struct weir_command_line *line = &run->report.line;
    struct weir_str text = { 0 };

    weir_str_addf(&text, "%s%s", heading, line->argv[0]);
    for (int i = 1; i < line->argc; i++)
        weir_str_addf(&text, " %c%s%c", quote, line->argv[i], quote);
    weir_report_line(&run->report, "%.*s", most, weir_str_text(&text));
    weir_report_free(&run->report, &text);
}

void weir_banner_machine(struct weir_run *run, unsigned readers)
{
    struct weir_str text = { 0 };
    struct utsname u;

    if (uname(&u) < 0)
        return;
    weir_str_addf(&text, "%s %s", u.sysname, u.nodename);
    if (run->log.verbose >= 2)
        weir_str_addf(&text, " %s %s %s", u.release, u.version, u.machine);
    weir_report_str(&run->report, readers, "Machine", weir_str_text(&text));
    weir_report_free(&run->report, &text);
}

void weir_banner_nodemap(struct weir_run *run, unsigned readers)
{
    char mine = run->world.node == 0 ? '1' : '0', all[NODEMAP_MAX];
    uint64_t same = run->world.node == 0;

    if (run->world.size <= NODEMAP_MAX) {
        weir_gather(&run->world, &mine, 1, all);
        weir_report_line_for(&run->report, readers, "Nodemap: %.*s", run->world.size, all);
        return;
    }
    weir_sum_u64(&run->world, &same, 1);
    weir_report_line_for(&run->report, readers, "Nodemap: %d of %d tasks on the node of task 0",
                         (int)same, run->world.size);
}

void weir_banner_time(struct weir_run *run, unsigned readers, const char *key)
{
    char now[32];

    weir_report_str(&run->report, readers, key, weir_banner_now(now, WEIR_BANNER_CTIME));
}

void weir_banner_option(struct weir_run *run, unsigned readers, const char *name,
                        const struct weir_opt *row, const void *values)
{
    struct weir_str text = { 0 };
    int64_t whole;
    double real;

    if (row->type == WEIR_OPT_STR || row->type == WEIR_OPT_LIST) {
        weir_opt_show(row, values, &text);
        weir_report_str(&run->report, readers, name, weir_str_text(&text));
    } else if (weir_opt_number(row, values, &whole, &real)) {
        weir_report_int(&run->report, readers, name, whole);
    } else {
        weir_report_real(&run->report, readers, name, real);
    }
    weir_report_free(&run->report, &text);
}

void weir_banner_parameters(struct weir_run *run)
{
    const struct weir_opt *row = run->test->values->rows;
    const void *values = run->test->chosen;

    weir_report_enter(&run->report, "Parameters", false);
    for (; row->name || row->letter || row->key; row++)
        if (row->name && row->type != WEIR_OPT_ALIAS && row->type != WEIR_OPT_GONE)
            weir_banner_option(run, WEIR_FOR_DATA, row->name, row, values);
    weir_report_leave(&run->report);
}

static void report_values(struct weir_run *run, const char *prefix, const struct weir_opt *rows,
                          const void *values)
{
    struct weir_str name = { 0 };

    for (; rows && !weir_opt_is_end(rows); rows++) {
        if (rows->type > WEIR_OPT_STR)
            continue;
        weir_str_clear(&name);
        weir_str_addf(&name, "%s%s", prefix, rows->name ? rows->name : rows->key);
        weir_banner_option(run, WEIR_FOR_DATA, weir_str_text(&name), rows, values);
    }
    weir_report_free(&run->report, &name);
}

void weir_banner_values(struct weir_run *run)
{
    const struct weir_test *t = run->test;

    weir_report_enter(&run->report, "optionValues", false);
    report_values(run, "", t->values->rows, t->chosen);
    for (int i = 0; i < t->n_used; i++) {
        const struct weir_backend *be = t->used[i].be;

        report_values(run, be->prefix, be->opts, t->used[i].opt.own);
        if (be->base)
            report_values(run, be->base->prefix, be->base->opts, t->used[i].opt.base);
    }
    weir_report_leave(&run->report);
}

void weir_banner_data(struct weir_run *run)
{
    weir_banner_program(run);
    weir_banner_command(run, WEIR_FOR_DATA);
    weir_banner_machine(run, WEIR_FOR_DATA);
    if (run->report.details)
        weir_provenance_run(run);
}

/* ---- tests ---- */

void weir_banner_test(struct weir_run *run)
{
    const struct weir_test *t = run->test;
    const char *path = t->plan.path ? t->plan.path : ".";
    struct weir_str first = { 0 };

    weir_report_int(&run->report, WEIR_FOR_DATA, "TestID", t->id);
    weir_str_add(&first, path, strcspn(path, t->plan.between));
    if (run->report.details && t->n_used > 0)
        weir_provenance_test(run, t->used[0].be, weir_str_text(&first));
    weir_report_free(&run->report, &first);
    weir_banner_parameters(run);
    weir_report_int(&run->report, WEIR_FOR_DATA, "tasks", run->par.size);
}

void weir_banner_facts(struct weir_run *run, struct weir_str *facts)
{
    run->report.lost |= facts->failed;
    if (facts->len == 0)
        return;
    while (facts->len > 0 && facts->text[facts->len - 1] == '\n')
        facts->text[--facts->len] = '\0';
    weir_report_line(&run->report, "%s", weir_str_text(facts));
    weir_report_str(&run->report, WEIR_FOR_DATA, "hints", weir_str_text(facts));
    weir_str_clear(facts);
}

void weir_banner_array_facts(struct weir_run *run, struct weir_array_file *file)
{
    struct weir_str facts = { 0 };

    if (run->par.rank == 0)
        weir_arrays_describe(file, &facts);
    weir_banner_facts(run, &facts);
    weir_report_free(&run->report, &facts);
}
