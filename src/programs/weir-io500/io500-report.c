/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-report.c - lines for people, the files of the results, and rows for programs */
#include "programs/weir-io500/io500-run.h"

#include <inttypes.h>

#include "base/text/columns.h"
#include "base/text/wholefile.h"
#include "engine/about/banner.h"
#include "par/agree.h"

#define DATE "%Y-%m-%d %H:%M:%S"

/* ---- lines ---- */

void io500_print(struct weir_run *run, struct io500 *t, const char *fmt, ...)
{
    struct weir_str line = { 0 };
    va_list ap;

    va_start(ap, fmt);
    weir_str_vaddf(&line, fmt, ap);
    va_end(ap);
    weir_report_line(&run->report, "%s", weir_str_words(&line));
    weir_report_flush(&run->report);
    if (run->par.rank == 0)
        weir_str_addf(&t->summary, "%s\n", weir_str_words(&line));
    weir_str_free(&line);
}

static const char *mode_of(const struct io500 *t)
{
    return t->extended ? "extended" : "standard";
}

static const char *kind_of(const struct io500 *t)
{
    return t->o->forecast ? "forecast" : "rehearsal";
}

struct setting {
    const char *section, *key, *value;
};

static const struct weir_col setting_cols[] = {
    COL_STR(struct setting, section, "section", "Of the configuration"),
    COL_STR(struct setting, key, "key", "The same"),
    COL_STR(struct setting, value, "value", "That was given, or the default"),
    WEIR_COL_END
};

static const struct weir_table settings = { .key = "settings", .cols = setting_cols, .readers = WEIR_FOR_DATA, .in_line = -1 };

void io500_report_begin(struct weir_run *run, struct io500 *t)
{
    struct weir_report *r = &run->report;

    weir_report_str(r, WEIR_FOR_DATA, "mode", mode_of(t));
    weir_report_str(r, WEIR_FOR_DATA, "kind", kind_of(t));
    weir_report_real(r, WEIR_FOR_DATA, "stonewall", t->place.stonewall_s);
    weir_report_real(r, WEIR_FOR_DATA, "minimum", io500_minimum(t));
    weir_report_str(r, WEIR_FOR_DATA, "dataDirectory", t->place.data);
    weir_report_str(r, WEIR_FOR_DATA, "resultDirectory", t->place.results);
    weir_report_int(r, WEIR_FOR_DATA, "clientNodes", run->par.kernels > 0 ? run->par.kernels : run->par.nodes);
    weir_report_int(r, WEIR_FOR_DATA, "tasks", run->par.size);
    io500_print(run, t, "IO500 %s by weir " PACKAGE_VERSION " (%s): no submission, there is no hash", kind_of(t), mode_of(t));
    for (const struct io500_key *k = io500_keys; k->section; k++)
        weir_report_row(r, &settings, &(struct setting) { k->section, k->name, io500_text(&t->config, k->section, k->name) });
}

/* ---- rows of phases ---- */

struct row {
    const char *phase, *group, *unit, *began, *ended, *command, *verdict, *standard, *valid, *resumed;
    double stonewall, found, total;
    struct io500_done d;
};

#define S(f, k, h) COL_STR(struct row, f, k, h)
#define D(f, k, h) COL_REAL(struct row, f, k, h)
#define N(f, k, h) COL_INT(struct row, f, k, h)

static const struct weir_col cols[] = {
    S(phase, "phase", "Its name"),
    S(group, "group", "What the score is a part of: bw, md or none"),
    S(standard, "standard", "yes: of the standard mode, too"),
    D(d.score, "score", "In the unit"),
    S(unit, "unit", "GiB/s or kIOPS"),
    D(d.low, "low", "95 % interval of the score, by tenths of the phase: from here; null: not known"),
    D(d.high, "high", "to here"),
    D(d.seconds, "seconds", "Of the phase with all that belongs to it, as its line has it"),
    D(d.measured, "measured", "Seconds that the score is of"),
    S(began, "began", "Time of day"),
    S(ended, "ended", "The same"),
    N(d.bytes, "bytes", "Moved"),
    N(d.operations, "operations", "Transfers, files, or entries that a find has looked at"),
    N(d.wrong, "wrong", "Operations whose data were not right"),
    D(stonewall, "stonewallSeconds", "When the stonewall ended the work; null: it did not"),
    D(found, "found", "Of a find; else null"),
    D(total, "total", "Looked at by a find; else null"),
    S(command, "command", "As in result.txt; empty: there is none"),
    S(valid, "valid", "no: the phase makes the score invalid"),
    S(verdict, "verdict", "By the io500 rules; empty: not judged"),
    S(resumed, "resumed", "yes: an earlier run has done it"),
    WEIR_COL_END
};

static const struct weir_table phases = { .key = "phases", .cols = cols, .readers = WEIR_FOR_DATA };

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static void report_row(struct weir_run *run, const struct io500_phase *p, const struct io500_done *d)
{
    static const char *const groups[] = { [IO500_NONE] = "none", [IO500_BW] = "bw", [IO500_MD] = "md" };
    bool finds = p->family == IO500_FIND;
    char began[32], ended[32];
    const struct row row = { .phase = p->name, .group = groups[p->group],
                             .standard = yes(p->standard),
                             .unit = io500_in_bytes(p) ? "GiB/s" : "kIOPS",
                             .began = weir_banner_when(d->began, began, DATE),
                             .ended = weir_banner_when(d->ended, ended, DATE),
                             .stonewall = d->stonewall_s > 0 ? d->stonewall_s : NAN,
                             .found = finds ? (double)d->found : NAN,
                             .total = finds ? (double)d->total : NAN,
                             .command = d->command ? d->command : "", .valid = yes(d->valid),
                             .verdict = d->verdict, .resumed = yes(d->resumed), .d = *d };

    weir_report_row(&run->report, &phases, &row);
}

void io500_report_phase(struct weir_run *run, struct io500 *t, int phase)
{
    struct io500_done *d = &t->done[phase];
    const struct io500_phase *p = &io500_phases[phase];
    struct io500_command command;
    struct weir_str line = { 0 };

    if (!d->command && io500_families[p->family].benchmark &&
        io500_command_make(&t->place, p, &run->arena, &command, weir_run_second(run)) == 0)
        d->command = command.text;
    io500_line(p, d->score, d->seconds, d->valid, &line);
    io500_print(run, t, "%s", weir_str_words(&line));
    weir_str_free(&line);
    report_row(run, p, d);
}

/* ---- the end ---- */

#define R(f, h) COL_STR(struct io500_reason, f, #f, h)

static const struct weir_col reason_cols[] = {
    COL_STR(struct io500_reason, where, "phase", "Or configuration"),
    R(kind, "INVALID, SUSPECT, WARNING or NOTE"),
    R(rule, "Of the io500 rules; empty: none"),
    R(text, "Words"),
    R(remedy, "What to do; may be empty"),
    WEIR_COL_END
};

static const struct weir_table reasons = { .key = "reasons", .cols = reason_cols, .readers = WEIR_FOR_DATA };

struct score_row {
    const char *name, *valid;
    double bw, iops, total;
};

static const struct weir_col score_cols[] = {
    COL_STR(struct score_row, name, "name", "SCORE, or SCOREX of the extended mode"),
    COL_REAL(struct score_row, bw, "bandwidth", "Geometric mean of the phases of bw, GiB/s"),
    COL_REAL(struct score_row, iops, "iops", "Of those of md, kIOPS"),
    COL_REAL(struct score_row, total, "total", "The square root of their product"),
    COL_STR(struct score_row, valid, "valid", "no: there are reasons"),
    WEIR_COL_END
};

static const struct weir_table scores = { .key = "scores", .cols = score_cols, .readers = WEIR_FOR_DATA };

static struct io500_score score_of(const struct io500 *t, bool extended)
{
    double score[IO500_PHASES] = { 0 };

    for (int i = 0; io500_phases[i].name; i++)
        score[i] = t->done[i].done ? t->done[i].score : 0;
    return io500_score_of(score, extended);
}

void io500_report_end(struct weir_run *run, struct io500 *t)
{
    for (int i = 0; i < t->reasons; i++)
        weir_report_row(&run->report, &reasons, &t->reason[i]);
    if (t->o->forecast)
        return;
    for (int x = 0; t->ended && x <= t->extended; x++) {
        const struct io500_score s = score_of(t, x);
        const struct score_row row = { x ? "SCOREX" : "SCORE", yes(io500_judge_all(t)), s.bw, s.iops,
                                       s.total };
        struct weir_str line = { 0 };

        io500_score_line(x ? "SCOREX" : "SCORE ", &s, io500_judge_all(t), &line);
        io500_print(run, t, "%s", weir_str_words(&line));
        weir_str_free(&line);
        weir_report_row(&run->report, &scores, &row);
    }
    if (t->ended)
        io500_judge_sum_up(run, t);
    weir_report_line(&run->report, "\nThe result files are stored in the directory: %s", t->place.results);
}

/* ---- the plan ---- */

static void add_plan(struct weir_run *run, const struct io500 *t, int phase, struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    struct io500_done d = { .valid = true, .score = NAN, .seconds = NAN, .measured = NAN, .low = NAN, .high = NAN };
    struct io500_command command = { .text = "" };

    if (io500_families[p->family].benchmark && io500_command_make(&t->place, p, &run->arena, &command, err) < 0)
        return;
    weir_report_line(&run->report, "\n[%s]\nexe             = %s", p->name, command.text);
    d.command = command.text;
    report_row(run, p, &d);
}

int io500_report_plan(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    for (int i = 0; io500_phases[i].name && err->code == WEIR_OK; i++)
        if (io500_phase_wanted(&t->config, &io500_phases[i], t->extended))
            add_plan(run, t, i, err);
    return weir_agree(&run->par, err->code == WEIR_OK ? 0 : -1, err);
}

/* ---- files ---- */

/* Reasons why a phase is invalid; -1: why the whole is. */
static void add_errors(const struct io500 *t, int phase, struct weir_str *out)
{
    for (int i = 0; i < t->reasons; i++)
        if (t->reason[i].phase == phase && io500_reason_counts(&t->reason[i]))
            weir_str_addf(out, "; ERROR INVALID %s\n", t->reason[i].text);
}

static void add_phase(const struct weir_run *run, const struct io500 *t, int phase,
                      struct weir_str *out)
{
    const struct io500_phase *p = &io500_phases[phase];
    const struct io500_done *d = &t->done[phase];
    int64_t nproc = io500_number(&t->config, p->name, "nproc"), files;
    char when[32];

    weir_str_addf(out, "\n[%s]\nt_start         = %s\n", p->name,
                  weir_banner_when(d->began, when, DATE));
    if (d->command)
        weir_str_addf(out, "exe             = %s\n", d->command);
    add_errors(t, phase, out);
    if (p->verify)
        weir_str_addf(out, "%s = %f\n",
                      p->group == IO500_BW ? "throughput-stonewall" : "rate-stonewall ",
                      d->stonewall_rate);
    if (p->family == IO500_MDW && p->makes && d->command &&
        sscanf(strstr(d->command, " -P="), " -P=%" SCNd64 " -I=%" SCNd64, &files, &nproc) == 2)
        weir_str_addf(out, "filesPerProc    = %" PRId64 "\nprecreatePerSet = %" PRId64 "\n", nproc,
                      files);
    if (d->iteration2 > 0)
        weir_str_addf(out, "maxOpTime       = %f\nscoreIteration1 = %f\nscoreIteration2 = %f\n",
                      d->longest_s, d->iteration1, d->iteration2);
    if (p->family == IO500_FIND)
        weir_str_addf(out,
                      "nproc           = %" PRId64 "\nfound           = %" PRIu64
                      "\ntotal-files     = %" PRIu64 "\n",
                      nproc > 0 && nproc < run->par.size ? nproc : run->par.size, d->found,
                      d->total);
    weir_str_addf(out, "score           = %f\nt_delta         = %.4f\nt_end           = %s\n", d->score, d->seconds,
                  weir_banner_when(d->ended, when, DATE));
}

static void add_results(const struct weir_run *run, const struct io500 *t, struct weir_str *out)
{
    char now[32];

    weir_str_addf(out, "; START %s\n[run]\nprocs           = %d\n",
                  weir_banner_when(t->began, now, DATE), run->par.size);
    add_errors(t, -1, out);
    weir_str_addf(out, "version         = weir " PACKAGE_VERSION ": a rehearsal, no submission\nmode            = %s\nresult-dir      = %s\n", mode_of(t),
                  t->place.results);
    for (int i = 0; io500_phases[i].name; i++)
        if (t->done[i].done)
            add_phase(run, t, i, out);
    for (int x = 0; t->ended && x <= t->extended; x++) {
        const struct io500_score s = score_of(t, x);

        weir_str_addf(
            out,
            "\n[SCORE%s]\nMD              = %f\nBW              = %f\nSCORE           = %f%s\n",
            x ? "X" : "", s.iops, s.bw, s.total, io500_judge_all(t) ? "" : " [INVALID]");
    }
    if (t->ended)
        weir_str_addf(out, "\n; END %s\n", weir_banner_now(now, DATE));
}

int io500_put(const struct io500 *t, const char *name, const struct weir_str *text,
              struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc;

    weir_str_addf(&path, "%s/%s", t->place.results, name);
    rc = text->failed || path.failed
             ? weir_refuse(err, WEIR_ESETUP, "no memory for '%s/%s'", t->place.results, name)
             : weir_wholefile_put(weir_str_text(&path), weir_str_text(text), err);
    weir_str_free(&path);
    return rc;
}

int io500_report_files(const struct weir_run *run, const struct io500 *t, struct weir_err *err)
{
    struct weir_str results = { 0 }, config = { 0 }, original = { 0 };
    int rc = 0;

    if (run->par.rank != 0)
        return 0;
    add_results(run, t, &results);
    io500_config_show(&t->config, &config);
    weir_str_addf(&original, "%s", t->text);
    if (io500_put(t, "result.txt", &results, err) < 0 ||
        io500_put(t, "result_summary.txt", &t->summary, err) < 0 ||
        io500_put(t, "config.ini", &config, err) < 0 ||
        io500_put(t, "config-orig.ini", &original, err) < 0)
        rc = -1;
    weir_str_free(&results);
    weir_str_free(&config);
    weir_str_free(&original);
    return rc;
}
