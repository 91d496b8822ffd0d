/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-foresee.c - a forecast: each phase is run shortly; what would a whole run be? */
#include "programs/weir-io500/io500-run.h"

#include <sys/statvfs.h>

#include "base/text/columns.h"
#include "par/agree.h"

#define HARD_BYTES 47008
#define FILE_BYTES 4096 /* of a file of 3901 bytes, in blocks */
#define MDW_SETS 10
#define WALL(t)                                                                                    \
    ((double)io500_number(&(t)->config, "debug",                                                   \
                          "stonewall-time")) /* of a run with this configuration */

/* The whole run, phase by phase. */
struct outlook {
    struct io500_range units[IO500_FAMILIES]; /* bytes, or files, that a family has written */
    struct io500_range seconds;               /* of all phases */
    struct io500_range bytes, inodes;         /* at the fullest */
    double mdw_scale;                         /* files of md-workbench over those of the short run */
    int short_phases;
    bool unknown;                             /* a phase that takes time has no interval */
    bool mended;                              /* with the remedies, without rows */
};

struct row {
    const char *phase, *unit, *length, *remedy;
    struct io500_range rate, seconds;
    double wanted, amount;
};

#define S(f, k, h, ...) COL_STR(struct row, f, k, h, __VA_ARGS__)
#define D(f, k, h, ...) COL_REAL(struct row, f, k, h, .none = "-", .gap = 1, __VA_ARGS__)

static const struct weir_col cols[] = {
    S(phase, "phase", "Its name", .head = "Phase", .width = -20, .gap = 1),
    D(rate.value, "rate", "Of the short phase, in the unit", .head = "Rate", .width = 12, .digits = 6),
    D(rate.low, "low", "95 % interval of the rate, by tenths of the phase: from here", .head = "95 % from", .width = 11, .digits = 5),
    D(rate.high, "high", "to here; null: not known", .head = "to", .width = 11, .digits = 5),
    S(unit, "unit", "GiB/s or kIOPS", .head = "Unit", .width = -6, .gap = 1),
    D(seconds.value, "seconds", "That it would take", .head = "Seconds", .width = 9, .prec = 1),
    D(seconds.low, "secondsLow", "With the interval of the rate: from here", .head = "from", .width = 9, .prec = 1),
    D(seconds.high, "secondsHigh", "to here", .head = "to", .width = 9, .prec = 1),
    D(wanted, "wanted", "Seconds that it must take; null: any time will do"),
    D(amount, "amount", "Bytes or files that it would write; null: none"),
    S(length, "length", "long enough, perhaps too short, too short; empty: any time will do", .head = "Length", .width = -17, .gap = 1),
    S(remedy, "remedy", "What to change in the configuration; empty: nothing", .head = "Remedy"),
    WEIR_COL_END
};

static const struct weir_table table = { .key = "forecast", .cols = cols, .readers = WEIR_FOR_DATA };

/* ---- numbers of the short phases ---- */

/* Where no interval is known, the value alone. */
static struct io500_range rate_of(const struct io500_phase *p, const struct io500_done *d)
{
    struct io500_range rate = { d->score, isnan(d->low) ? d->score : d->low, isnan(d->high) ? d->score : d->high };

    return io500_range_times(rate, io500_in_bytes(p) ? WEIR_GIB : 1000);
}

/* An end of an interval, rounded outwards by floor or ceil. */
static double two_digits(double x, double to(double))
{
    double step = x > 0 ? pow(10, floor(log10(x)) - 1) : 1;

    return to(x / step) * step;
}

static struct io500_range outwards(struct io500_range r)
{
    return (struct io500_range) { r.value, two_digits(r.low, floor), two_digits(r.high, ceil) };
}

/* Files that there would be below the directory of a find. */
static struct io500_range files_of(const struct io500_phase *p, const struct outlook *out)
{
    if (strcmp(p->name, "find-easy") == 0)
        return out->units[IO500_MDTEST_EASY];
    if (strcmp(p->name, "find-hard") == 0)
        return out->units[IO500_MDTEST_HARD];
    return io500_range_sum(io500_range_sum(out->units[IO500_MDTEST_EASY], out->units[IO500_MDTEST_HARD]), out->units[IO500_MDW]);
}

/* ---- a phase ---- */

/* "[mdtest-easy] n = 2400000" */
static const char *remedy_of(struct weir_run *run, const struct io500 *t, const struct io500_phase *p, double wanted, struct weir_err *err)
{
    const struct io500_family_row *f = &io500_families[p->family];
    double transfer = (double)io500_number(&t->config, "ior-easy", "transferSize");
    bool mib = fmod(transfer, WEIR_MIB) == 0;

    if (p->family == IO500_IOR_EASY)
        wanted = ceil(wanted / transfer) * transfer / (mib ? WEIR_MIB : 1);
    else if (p->family == IO500_IOR_HARD)
        wanted = io500_round_up(wanted / HARD_BYTES);
    return weir_arena_textf(&run->arena, err, "[%s] %s = %.0f%s", f->section, f->limit, wanted,
                       p->family == IO500_IOR_EASY && mib ? "m" : "");
}

static int foresee_write(struct weir_run *run, struct io500 *t, int phase, struct outlook *out, struct row *row, struct weir_err *err)
{
    static const char *const lengths[] = { "long enough", "perhaps too short", "too short" };
    const struct io500_phase *p = &io500_phases[phase];
    const struct io500_done *d = &t->done[phase];
    const struct io500_family_row *f = &io500_families[p->family];
    double each = p->family == IO500_IOR_HARD ? HARD_BYTES : 1;
    double limit = (double)io500_number(&t->config, f->section, f->limit) * each;
    struct io500_writes w = { .rate = rate_of(p, d), .spread = d->spread, .limit = limit,
                              .ranks = run->par.size, .stonewall_s = WALL(t) };
    struct io500_written r = io500_forecast_writes(&w);

    if (out->mended && r.length != IO500_LONG_ENOUGH) {
        w.limit = r.wanted;
        r = io500_forecast_writes(&w);
    }
    out->units[p->family] = r.units;
    out->short_phases += r.length == IO500_TOO_SHORT;
    row->seconds = r.seconds;
    row->wanted = w.stonewall_s;
    row->amount = r.units.value;
    row->length = lengths[r.length];
    row->remedy = r.length == IO500_LONG_ENOUGH ? "" : remedy_of(run, t, p, r.wanted, err);
    return row->remedy ? 0 : -1;
}

/* Foresee the number of files of md-workbench, which follows from the rate of mdtest-easy-write. */
static void foresee_mdw(struct weir_run *run, const struct io500 *t, struct outlook *out)
{
    double rate = t->done[io500_phase_find("mdtest-easy-write")].score * 1000;
    int64_t given = io500_number(&t->config, "mdworkbench", "precreatePerSet");
    int64_t files = given > 0 ? given : io500_mdw_files(rate, WALL(t), run->par.size);
    double all = (double)files * MDW_SETS * run->par.size;

    out->mdw_scale = given > 0 ? 1 : (double)files / (double)t->place.mdw_files;
    out->units[IO500_MDW] = (struct io500_range) { all, all, all };
}

/* The time of what is not a phase that writes with a stonewall. */
static struct io500_range time_of(struct weir_run *run, const struct io500 *t, int phase, struct outlook *out)
{
    const struct io500_phase *p = &io500_phases[phase];
    const struct io500_done *d = &t->done[phase];
    struct io500_range r = { d->seconds, d->seconds, d->seconds };

    if (strncmp(p->name, "ior-rnd4K", 9) == 0)
        return (struct io500_range) { WALL(t), WALL(t), WALL(t) };
    if (p->family == IO500_FIND)
        return io500_forecast_time(files_of(p, out), rate_of(p, d));
    if (p->family == IO500_STAMP)
        return r;
    if (p->family != IO500_MDW)
        return io500_forecast_time(out->units[p->family], rate_of(p, d));
    if (p->makes)
        foresee_mdw(run, t, out);
    return io500_range_times(r, out->mdw_scale);
}

static int foresee_phase(struct weir_run *run, struct io500 *t, int phase, struct outlook *out, struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    const struct io500_done *d = &t->done[phase];
    struct row row = { .phase = p->name, .unit = io500_in_bytes(p) ? "GiB/s" : "kIOPS", .rate = { d->score, d->low, d->high },
                       .wanted = NAN, .amount = NAN, .length = "", .remedy = "" };
    struct weir_str line = { 0 };

    if (!p->verify)
        row.seconds = time_of(run, t, phase, out);
    else if (foresee_write(run, t, phase, out, &row, err) < 0)
        return -1;
    out->seconds = io500_range_sum(out->seconds, row.seconds);
    if (out->mended)
        return 0;
    row.rate = outwards(row.rate);
    row.seconds = outwards(row.seconds);
    out->unknown |= isnan(d->low) && row.seconds.value > 1;
    weir_report_row(&run->report, &table, &row);
    weir_col_text(&line, cols, &row);
    io500_print(run, t, "%s", weir_str_words(&line));
    weir_str_free(&line);
    return 0;
}

/* ---- the whole ---- */

/* Facts of the run with the remedies have names of their own. */
static void report_value(struct weir_run *run, const struct outlook *out, const char *name,
                         const char *end, double value)
{
    struct weir_str key = { 0 };

    weir_str_addf(&key, "%s%s%s", out->mended ? "mended" : "all", name, end);
    weir_report_real(&run->report, WEIR_FOR_DATA, weir_str_text(&key), value);
    weir_str_free(&key);
}

static void print_range(struct weir_run *run, struct io500 *t, const struct outlook *out, const char *what, struct io500_range r, double unit, const char *name)
{
    const struct io500_range shown = outwards(io500_range_times(r, 1 / unit));

    io500_print(run, t, "%-28s %12.6g %s (%.6g to %.6g)", what, shown.value, name, shown.low,
              shown.high);
    report_value(run, out, what, "", r.value);
    report_value(run, out, what, "Low", r.low);
    report_value(run, out, what, "High", r.high);
}

/* "fit", "perhaps do not fit", "do not fit" */
static const char *fit_of(struct io500_range r, double free)
{
    return r.high <= free ? "fit" : r.low > free ? "do not fit" : "perhaps do not fit";
}

/* Rank 0. */
static void print_space(struct weir_run *run, struct io500 *t, const struct outlook *out, const struct statvfs *v)
{
    double bytes = (double)v->f_bavail * (double)v->f_frsize, inodes = v->f_files ? (double)v->f_favail : INFINITY;

    io500_print(run, t, "%-28s %12.6g GiB: the bytes %s", "Free", bytes / WEIR_GIB,
                fit_of(out->bytes, bytes));
    if (v->f_files)
        io500_print(run, t, "%-28s %12.6g inodes: the files %s", "", inodes, fit_of(out->inodes, inodes));
    weir_report_str(&run->report, WEIR_FOR_DATA, out->mended ? "mendedRoom" : "allRoom",
                    out->bytes.high > bytes ? fit_of(out->bytes, bytes) : fit_of(out->inodes, inodes));
}

static void print_all(struct weir_run *run, struct io500 *t, struct outlook *out,
                      const struct statvfs *v)
{
    const struct io500_range files = io500_range_sum(out->units[IO500_MDTEST_HARD], out->units[IO500_MDW]);
    const struct io500_range iors = { run->par.size + 1, run->par.size + 1, run->par.size + 1 };

    out->bytes = io500_range_sum(io500_range_sum(out->units[IO500_IOR_EASY], out->units[IO500_IOR_HARD]), io500_range_times(files, FILE_BYTES));
    out->inodes = io500_range_sum(io500_range_sum(files, out->units[IO500_MDTEST_EASY]), iors);
    io500_print(run, t, "\n%s", out->mended ? "With the remedies:" : "With this configuration:");
    print_range(run, t, out, "Seconds", out->seconds, 1, "s");
    print_range(run, t, out, "Bytes", out->bytes, WEIR_GIB, "GiB");
    print_range(run, t, out, "Files", out->inodes, 1, "files");
    if (run->par.rank == 0 && v)
        print_space(run, t, out, v);
}

static int foresee_all(struct weir_run *run, struct io500 *t, struct outlook *out, struct weir_err *err)
{
    int rc = 0;

    for (int i = 0; io500_phases[i].name && rc == 0; i++)
        if (t->done[i].done)
            rc = foresee_phase(run, t, i, out, err);
    return weir_agree(&run->par, rc, err);
}

int io500_foresee(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    struct outlook out = { .mdw_scale = 1 }, mended = { .mdw_scale = 1, .mended = true };
    struct weir_str head = { 0 };
    struct statvfs v;
    const struct statvfs *space = run->par.rank == 0 && statvfs(t->place.data, &v) == 0 ? &v : NULL; /* before the first file */

    if (io500_run_all(run, t, err) < 0)
        return -1;
    weir_col_heading(&head, cols);
    io500_print(run, t, "\nWhat a run of %g s would be:\n%s", WALL(t), weir_str_words(&head));
    weir_str_free(&head);
    if (foresee_all(run, t, &out, err) < 0 || foresee_all(run, t, &mended, err) < 0)
        return -1;
    print_all(run, t, &out, space);
    if (out.short_phases)
        print_all(run, t, &mended, space);
    io500_print(run, t, "\n%s", out.short_phases ? "A run with this configuration would be INVALID: a phase that writes is too short"
                                              : "No phase is surely too short");
    if (out.unknown)
        io500_print(run, t, "An interval '-' was not measured, because its phase was too short, and is ignored: use a longer --forecast-time");
    io500_print(run, t, "Rates and their intervals are measured in %g s: a cache of the storage can "
                      "absorb that, but not a run of %g s", t->place.stonewall_s, WALL(t));
    return 0;
}
