/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-job.c - a phase that a benchmark of libweir does */
#include "programs/weir-io500/io500-run.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/text/wholefile.h"
#include "par/agree.h"

/* A rank while a job runs. */
struct side {
    struct weir_run *run;
    struct io500 *t;
    int phase;
};

static void before_phase(void *arg, const char *phase)
{
    struct side *s = arg;

    weir_worklog_free(&s->t->work);
    weir_worklog_begin(&s->t->work, (int64_t)weir_now_ns());
}

/* Called some 20 times a second. */
static int ask(void *arg, const struct weir_progress *now)
{
    struct side *s = arg;

    if (now->phase)
        weir_worklog_add(&s->t->work, (int64_t)weir_now_ns(), now->bytes, now->operations);
    return weir_interrupt_poll(&s->run->interrupt);
}

/* A note on an option that an earlier phase has, too, is left out: phases have the same ones. */
static void keep_message(void *arg, const char *kind, const char *text)
{
    struct io500 *t = ((struct side *)arg)->t;
    bool on_option = strcmp(kind, "note") == 0 && *text == '-';
    size_t before = t->noted.n;

    if (t->phase_text && on_option)
        weir_set_add(&t->noted, text, strlen(text));
    if (t->phase_text && (!on_option || t->noted.n > before))
        fprintf(t->phase_text, "%s: %s\n", kind, text);
}

/* ---- results ---- */

/* The time that the rate in the benchmark's own text is of: tasks of md-workbench may begin at different times. */
static double seconds_of(const struct io500_phase *p, const struct weir_result *r)
{
    return io500_in_bytes(p) ? r->seconds : p->family == IO500_MDW ? r->slowest_seconds : r->work_seconds;
}

static double rate_of(const struct io500_phase *p, const struct weir_result *r)
{
    double seconds = seconds_of(p, r), amount = io500_in_bytes(p) ? (double)r->bytes / WEIR_GIB : (double)r->operations / 1000;

    return seconds > 0 ? amount / seconds : 0;
}

static void keep_result(const struct io500_phase *p, const struct weir_result *r, struct io500_done *d)
{
    double rate = rate_of(p, r);
    double mean = r->tasks > 0 ? (double)r->stonewall_operations / r->tasks : 0;

    d->bytes += r->bytes;
    d->operations += r->operations;
    *(d->iteration1 > 0 ? &d->iteration2 : &d->iteration1) = rate;
    d->longest_s = fmax(d->longest_s, r->operation_time.max);
    if (d->measured > 0 && !(rate < d->score)) /* of two, the smaller one */
        return;
    d->score = rate;
    d->measured = seconds_of(p, r);
    d->stonewall_s = r->stonewalled ? r->stonewall_seconds : 0;
    d->stonewall_rate = d->stonewall_s > 0 ? (io500_in_bytes(p) ? (double)r->stonewall_bytes / WEIR_GIB
                                                        : (double)r->stonewall_operations / 1000) /
                                                 d->stonewall_s
                                           : rate;
    d->spread = r->stonewalled && mean > 0 ? (double)r->stonewall_operations_max / mean : 1;
}

/* Numbers of the operation that the phase is about: md-workbench has two, of which the smaller one is the score. */
static int keep_results(struct weir_run *run, struct io500 *t, int phase, const struct weir_job *job, struct io500_done *d,
                        struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    const struct weir_result *r;

    for (int i = 0; (r = weir_job_result(job, i)); i++) {
        d->wrong += r->wrong;
        if (strcmp(r->operation, p->operation) == 0)
            keep_result(p, r, d);
    }
    if (fmax(d->iteration1, d->iteration2) > 2 * d->score && d->iteration2 > 0)
        return io500_reason_add(run, t, &(struct io500_reason) { phase, NULL, "WARNING", "",
                                 "The results of both md-workbench differs by 2x.", "" }, err);
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

        reason.rule = weir_arena_strdup(&run->arena, m->rule, err);
        reason.text = weir_arena_strdup(&run->arena, m->text, err);
        reason.remedy = weir_arena_strdup(&run->arena, m->remedy, err);
        rc = reason.rule && reason.text && reason.remedy
                 ? io500_reason_add(run, t, &reason, err)
                 : -1;
    }
    return rc;
}

/* Slices of all ranks give the interval of the score. Collective. */
static void keep_interval(struct weir_run *run, struct io500 *t, int phase, struct io500_done *d)
{
    double low, high, seconds = d->stonewall_s > 0 ? d->stonewall_s : d->measured;
    uint64_t slice[IO500_SLICES + 1] = { 0 }; /* the last one: ranks with too few samples */

    if (t->work.failed || t->work.n == 0 || t->work.phase[0].n < IO500_SLICES)
        slice[IO500_SLICES] = 1;
    else
        io500_slices_of(&t->work, io500_in_bytes(&io500_phases[phase]), seconds, slice);
    weir_allsum_u64(&run->par, slice, IO500_SLICES + 1);
    if (slice[IO500_SLICES] || !io500_slices_interval(slice, &low, &high))
        return;
    d->low = fmin(d->score, d->score * low);
    d->high = fmax(d->score, d->score * high);
}

/* ---- a job ---- */

static int open_text(struct weir_run *run, struct io500 *t, const char *name, struct weir_err *err)
{
    const char *path = weir_arena_textf(&run->arena, err, "%s/%s.txt", t->place.results, name);
    int rc = path ? 0 : -1;

    if (path && run->par.rank == 0 && !(t->phase_text = weir_open_now(path, "w")))
        rc = weir_fail(err, WEIR_ESETUP, "create '%s'", path);
    return weir_agree(&run->par, rc, err);
}

static int close_text(struct weir_run *run, struct io500 *t, const char *name, int rc, struct weir_err *err)
{
    if (!weir_close_written(t->phase_text) && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write '%s/%s.txt'", t->place.results, name);
    t->phase_text = NULL;
    return weir_agree(&run->par, rc, err);
}

static int run_job(struct side *s, struct weir_job *job, struct io500_done *d, struct weir_err *err)
{
    struct weir_run *run = s->run;
    struct io500 *t = s->t;
    int rc = 0, status;

    weir_job_set(job, "rules", "io500");
    weir_job_before(job, before_phase, s);
    weir_job_until(job, ask, s);
    weir_job_watch(job, NULL, keep_message, s);
    weir_job_stream(job, t->phase_text);
    status = weir_job_run(job); /* the same on all ranks; wrong data are a result, too */
    if (status != WEIR_OK && status != WEIR_EDATA) {
        rc = weir_refuse(err, (enum weir_code)status, "phase %s: %s", io500_phases[s->phase].name,
                         weir_job_error(job));
        err->agreed = true;
    }
    if (rc == 0)
        rc = keep_results(run, t, s->phase, job, d, err);
    if (rc == 0)
        rc = keep_remarks(run, t, s->phase, job, err);
    if (rc == 0)
        memcpy(d->verdict, weir_job_verdict(job), strnlen(weir_job_verdict(job), sizeof(d->verdict) - 1));
    return rc;
}

/* ---- before anything runs ---- */

/* In a dry run files and directories may be others than in the run. */
static int fail_or_warn(struct weir_run *run, const struct io500 *t, const struct io500_phase *p,
                        const char *text, struct weir_err *err)
{
    return t->o->run.dry_run ? weir_warn(&run->log, err, "phase %s: %s", p->name, text)
                             : weir_refuse(err, WEIR_EUSAGE, "%s", text);
}

/* Write one piece of a hard phase in the directory of the data or above it; n words of a backend, the first is not read. On one rank. */
static int try_piece(struct weir_run *run, const struct io500 *t, const struct io500_phase *p,
                     int n, char **words, struct weir_err *err)
{
    static const char *const ior[] = { "w", NULL, "t", "47008", "b", "47008", "o", NULL };
    static const char *const mdtest[] = { "C", NULL, "r", NULL,   "F", NULL,
                                          "n", "1",  "w", "3901", "d", NULL };
    MPI_Comm self = MPI_COMM_SELF;
    const char *const *set = p->family == IO500_MDTEST_HARD ? mdtest : ior, *why;
    const char *path = io500_places_trial(run, t, err);
    struct weir_job *job = path ? weir_job_new(io500_families[p->family].benchmark, &self) : NULL;
    int rc;

    if (!path)
        return -1;
    rc = weir_job_words(job, n, words);
    for (int i = 0; rc == 0 && i < (set == mdtest ? 12 : 8); i += 2)
        rc = weir_job_set(job, set[i], strchr("od", *set[i]) ? path : set[i + 1]);
    rc = rc ? rc : weir_job_run(job);
    why = weir_job_error(job);
    if (rc)
        rc = fail_or_warn(
            run, t, p,
            strncmp(why, "rank ", 5) == 0 && strstr(why, ": ") ? strstr(why, ": ") + 2 : why, err);
    unlink(path);
    weir_job_free(job);
    return rc;
}

/* Check the backend and its options, which are the arguments of the command line from -a on. */
static int check_backend(struct weir_run *run, const struct io500 *t, const struct io500_phase *p,
                         const struct io500_command *c, struct weir_err *err)
{
    bool hard = p->family == IO500_IOR_HARD || p->family == IO500_MDTEST_HARD,
         moves = !strstr(p->operation, "stat") && !strstr(p->operation, "remove");
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
        rc = fail_or_warn(run, t, p,
                          storage ? weir_storage_error(storage) : "no memory for a backend", err);
    weir_storage_close(storage);
    if (rc == 0 && hard && moves && run->world.rank == 0 && strstr(c->text, "odirect"))
        rc = try_piece(run, t, p, n + 3, c->argv + at - 1, err);
    return rc;
}

static int check_phase(struct weir_run *run, struct io500 *t, const struct io500_phase *p, struct weir_err *err)
{
    struct weir_job *job = weir_job_new(io500_families[p->family].benchmark, &run->world.comm);
    struct io500_command command;
    int rc = io500_command_make(&t->place, p, &run->arena, &command, err);

    if (rc == 0 && weir_job_words(job, command.argc, command.argv) != 0)
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", weir_job_error(job));
    rc = weir_agree_check(&run->world, rc, err);
    if (rc == 0 && weir_job_check(job) == WEIR_EUSAGE)
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", weir_job_error(job));
    if (rc == 0)
        rc = check_backend(run, t, p, &command, err);
    rc = weir_agree_check(&run->world, rc, err);
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
        keep_interval(run, t, phase, done);
    weir_job_free(job);
    return rc;
}
