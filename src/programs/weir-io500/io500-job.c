/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-job.c - a phase that a benchmark of libweir does */
#include "config.h"
#include "programs/weir-io500/io500-run.h"

#include <string.h>

#include "base/clock.h"
#include "base/text/wholefile.h"
#include "par/agree.h"

#define GIB 1073741824.0

/* A rank while a job runs. */
struct side {
    struct weir_run *run;
    struct io500 *t;
    int phase;
    uint64_t begin_ns;
};

static bool is_ior(const struct io500_phase *p)
{
    return p->family == IO500_IOR_EASY || p->family == IO500_IOR_HARD;
}

static void before_phase(void *arg, const char *phase)
{
    struct side *s = arg;

    (void)phase;
    s->begin_ns = weir_now_ns();
    s->t->slices = (struct io500_slices) { .n = 0 };
}

/* Called some 20 times a second. */
static int ask(void *arg, const struct weir_progress *now)
{
    struct side *s = arg;
    const struct io500_phase *p = &io500_phases[s->phase];

    if (now->phase)
        io500_slices_add(&s->t->slices, (double)(weir_now_ns() - s->begin_ns) / WEIR_NS_PER_S,
                         (double)(is_ior(p) ? now->bytes : now->operations));
    return weir_interrupt_poll(&s->run->interrupt);
}

static void keep_message(void *arg, const char *kind, const char *text)
{
    struct side *s = arg;

    if (s->t->phase_text)
        fprintf(s->t->phase_text, "%s: %s\n", kind, text);
}

/* ---- results ---- */

/* The time that the rate in the benchmark's own text is of: tasks of md-workbench may begin at different times. */
static double seconds_of(const struct io500_phase *p, const struct weir_result *r)
{
    return is_ior(p) ? r->seconds : p->family == IO500_MDW ? r->slowest_seconds : r->work_seconds;
}

static double rate_of(const struct io500_phase *p, const struct weir_result *r)
{
    double seconds = seconds_of(p, r), amount = is_ior(p) ? (double)r->bytes / GIB : (double)r->operations / 1000;

    return seconds > 0 ? amount / seconds : 0;
}

/* How much more the fastest rank had done than the mean, when the stonewall came. */
static double spread_of(const struct weir_result *r)
{
    double mean = r->tasks > 0 ? (double)r->stonewall_operations / r->tasks : 0;

    return r->stonewalled && mean > 0 ? (double)r->stonewall_operations_max / mean : 1;
}

static void keep_result(const struct io500_phase *p, const struct weir_result *r, struct io500_done *d)
{
    double rate = rate_of(p, r);

    d->bytes += r->bytes;
    d->operations += r->operations;
    if (d->measured > 0 && !(rate < d->score)) /* of two, the smaller one */
        return;
    d->score = rate;
    d->measured = seconds_of(p, r);
    d->stonewall_s = r->stonewalled ? r->stonewall_seconds : 0;
    d->spread = spread_of(r);
}

/* Numbers of the operation that the phase is about: md-workbench has two, of which the smaller one is the score. */
static int keep_results(struct weir_run *run, struct io500 *t, int phase, const struct weir_job *job, struct io500_done *d,
                        struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    double least = INFINITY, most = 0;
    const struct weir_result *r;

    for (int i = 0; (r = weir_job_result(job, i)); i++) {
        d->wrong += r->wrong;
        if (strcmp(r->operation, p->operation) != 0)
            continue;
        keep_result(p, r, d);
        least = fmin(least, rate_of(p, r));
        most = fmax(most, rate_of(p, r));
    }
    if (most > 2 * least && least > 0)
        return io500_reason_add(run, t, &(struct io500_reason) { .phase = phase, .kind = "WARNING",
                                         .text = "The results of both md-workbench differs by 2x." }, err);
    return 0;
}

/* Whatever IO500 prescribes is no reason for a doubt about the storage: the contents of files, and random blocks that can come twice. */
static bool is_prescribed(const struct io500 *t, int phase, const char *rule)
{
    return (strcmp(rule, "H13") == 0 && strcmp(io500_text(&t->config, "global", "dataPacketType"), "timestamp") == 0) ||
           (strcmp(rule, "H12") == 0 && strncmp(io500_phases[phase].name, "ior-rnd4K", 9) == 0);
}

/* Keep the findings about them. */
static int keep_remarks(struct weir_run *run, struct io500 *t, int phase, const struct weir_job *job, struct weir_err *err)
{
    const struct weir_remark *m;
    int rc = 0;

    for (int i = 0; (m = weir_job_remark(job, i)) && rc == 0; i++) {
        struct io500_reason reason = { .phase = phase, .kind = is_prescribed(t, phase, m->rule) ? "NOTE"
                                                                : strcmp(m->severity, "INVALID") == 0 ? "INVALID"
                                                                : strcmp(m->severity, "SUSPECT") == 0 ? "SUSPECT" : "NOTE" };

        memcpy(reason.rule, m->rule, sizeof(reason.rule));
        reason.text = weir_arena_strdup(&run->arena, m->text, err);
        reason.remedy = weir_arena_strdup(&run->arena, m->remedy, err);
        rc = reason.text && reason.remedy ? io500_reason_add(run, t, &reason, err) : -1;
    }
    return rc;
}

/* Slices of all ranks give the interval of the score. Collective. */
static void keep_interval(struct weir_run *run, struct io500 *t, struct io500_done *d)
{
    double mine[IO500_SLICES], all[IO500_SLICES], low, high, seconds = d->stonewall_s > 0 ? d->stonewall_s : d->measured;
    uint64_t sum[IO500_SLICES], too_few = t->slices.n < IO500_SLICES;

    io500_slices_of(&t->slices, seconds, mine);
    for (int i = 0; i < IO500_SLICES; i++)
        sum[i] = mine[i] > 0 ? (uint64_t)(mine[i] * 1000) : 0;
    weir_allsum_u64(&run->par, sum, IO500_SLICES);
    weir_allsum_u64(&run->par, &too_few, 1);
    for (int i = 0; i < IO500_SLICES; i++)
        all[i] = (double)sum[i];
    if (too_few || !io500_slices_interval(all, &low, &high))
        return;
    d->low = fmin(d->score, d->score * low);
    d->high = fmax(d->score, d->score * high);
}

/* ---- a job ---- */

static int open_text(struct weir_run *run, struct io500 *t, const char *name, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    if (run->par.rank == 0) {
        weir_str_addf(&path, "%s/%s.txt", t->place.results, name);
        t->phase_text = weir_open_now(weir_str_text(&path), "w");
        if (!t->phase_text)
            rc = weir_fail(err, WEIR_ESETUP, "create '%s'", weir_str_text(&path));
        weir_str_free(&path);
    }
    return weir_agree(&run->par, rc, err);
}

static int close_text(struct weir_run *run, struct io500 *t, const char *name, int rc, struct weir_err *err)
{
    bool failed = t->phase_text && ferror(t->phase_text);

    if (t->phase_text && fclose(t->phase_text) == EOF)
        failed = true;
    t->phase_text = NULL;
    if (failed && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write '%s/%s.txt'", t->place.results, name);
    return weir_agree(&run->par, rc, err);
}

/* The same on all ranks. Wrong data are a result, too. */
static int judge_status(const struct weir_job *job, const char *name, int status, struct weir_err *err)
{
    if (status == WEIR_OK || status == WEIR_EDATA)
        return 0;
    weir_refuse(err, (enum weir_code)status, "phase %s: %s", name, weir_job_error(job));
    err->agreed = true;
    return -1;
}

static int run_job(struct side *s, struct weir_job *job, struct io500_done *d, struct weir_err *err)
{
    struct weir_run *run = s->run;
    struct io500 *t = s->t;
    int rc, status;

    weir_job_set(job, "rules", "io500");
    weir_job_before(job, before_phase, s);
    weir_job_until(job, ask, s);
    weir_job_watch(job, NULL, keep_message, s);
    weir_job_stream(job, t->phase_text);
    status = weir_job_run(job);
    rc = judge_status(job, io500_phases[s->phase].name, status, err);
    if (rc == 0)
        rc = keep_results(run, t, s->phase, job, d, err);
    if (rc == 0)
        rc = keep_remarks(run, t, s->phase, job, err);
    if (rc == 0)
        memcpy(d->verdict, weir_job_verdict(job), strnlen(weir_job_verdict(job), sizeof(d->verdict) - 1));
    return rc;
}

/* ---- before anything runs ---- */

/* The words of a command line from -a on name a backend and its options. */
static int check_backend(const struct io500_command *c, struct weir_err *err)
{
    struct weir_storage *storage;
    int at = 0, n = 0, rc = 0;

    while (at < c->argc && strcmp(c->argv[at], "-a") != 0)
        at++;
    if (at + 1 >= c->argc)
        return 0;
    for (n = 0; at + 2 + n < c->argc && strncmp(c->argv[at + 2 + n], "--", 2) == 0 && strchr(c->argv[at + 2 + n], '.');)
        n++;
    storage = weir_storage_open(c->argv[at + 1], n, c->argv + at + 2);
    if (!storage || *weir_storage_error(storage))
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", storage ? weir_storage_error(storage) : "no memory for a backend");
    weir_storage_close(storage);
    return rc;
}

static int check_phase(struct weir_run *run, struct io500 *t, const struct io500_phase *p, struct weir_err *err)
{
    struct weir_job *job = weir_job_new(io500_families[p->family].benchmark, &run->world.comm);
    struct io500_command command;
    int rc = io500_command_make(&t->place, p, &run->arena, &command, err);

    if (rc == 0)
        rc = check_backend(&command, err);
    if (rc == 0 && weir_job_words(job, command.argc, command.argv) != 0)
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", weir_job_error(job));
    rc = weir_agree_check(&run->world, rc, err);
    if (rc == 0 && weir_job_check(job) == WEIR_EUSAGE) {
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", weir_job_error(job));
        err->agreed = true;
    }
    weir_job_free(job);
    return rc < 0 ? weir_err_within(err, "phase %s", p->name) : 0;
}

int io500_job_check(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    int rc = 0;

    for (const struct io500_phase *p = io500_phases; p->name && rc == 0; p++)
        if (io500_phase_wanted(&t->config, p, t->extended) && io500_families[p->family].benchmark)
            rc = check_phase(run, t, p, err);
    return rc;
}

/* ---- a phase ---- */

int io500_job_run(struct weir_run *run, struct io500 *t, int phase, struct io500_done *done, struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    struct side s = { .run = run, .t = t, .phase = phase };
    struct weir_job *job = weir_job_new(io500_families[p->family].benchmark, &run->par.comm);
    struct io500_command command;
    int rc = job ? io500_command_make(&t->place, p, &run->arena, &command, err) : weir_refuse(err, WEIR_ESETUP, "%s", weir_job_error(job));

    if (rc == 0 && weir_job_words(job, command.argc, command.argv) != 0)
        rc = weir_refuse(err, WEIR_EUSAGE, "phase %s: %s", p->name, weir_job_error(job));
    rc = weir_agree_check(&run->par, rc, err);
    if (rc == 0) {
        done->command = command.text;
        rc = open_text(run, t, p->name, err);
    }
    if (rc == 0) {
        rc = run_job(&s, job, done, err);
        rc = close_text(run, t, p->name, rc, err);
    }
    if (rc == 0)
        keep_interval(run, t, done);
    weir_job_free(job);
    return rc;
}
