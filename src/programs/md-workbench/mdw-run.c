/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-run.c - the order of the phases, where the objects are after each of them, and the file that
 * keeps that from run to run */
#include "programs/md-workbench/mdw.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/text/path.h"
#include "base/text/wholefile.h"
#include "par/agree.h"
#include "par/reduce.h"

#define MODE 0775
#define LONGEST_NS (60ull * WEIR_NS_PER_S) /* of the removal after a failure */

/* ---- the run-info file ---- */

/* One line "<key>: <number>". 0, or -1 and err. */
static int read_number(FILE *f, const char *path, const char *key, int64_t *out,
                       struct weir_err *err)
{
    char text[128] = "";
    size_t len = strlen(key);

    if (!fgets(text, sizeof(text), f) || strncmp(text, key, len) != 0 || text[len] != ':')
        return weir_refuse(err, WEIR_EUSAGE, "run-info file '%s' has no line '%s: <number>'", path,
                           key);
    text[strcspn(text, "\r\n")] = '\0';
    if (weir_size_parse(text + len + 1, 0, INT64_MAX / 4, out, err) == 0)
        return 0;
    return weir_err_within(err, "run-info file '%s', line '%s'", path, key);
}

int mdw_position_load(const char *path, int64_t v[3], struct weir_err *err)
{
    FILE *f = weir_open_now(path, "r");
    int rc, c;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open run-info file '%s' for restart", path);
    rc = read_number(f, path, "pos", &v[0], err);
    c = rc == 0 ? getc(f) : EOF;
    if (c != EOF) {
        ungetc(c, f);
        rc = read_number(f, path, "first", &v[1], err);
        if (rc == 0)
            rc = read_number(f, path, "end", &v[2], err);
        if (rc == 0 && v[2] < v[1])
            rc = weir_refuse(err, WEIR_EUSAGE,
                             "run-info file '%s': 'end' (%" PRId64 ") is before 'first' (%" PRId64
                             ")",
                             path, v[2], v[1]);
    }
    fclose(f);
    return rc;
}

static int read_position(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    int64_t v[3] = { 0, -1, -1 };
    int rc = run->par.rank == 0 ? mdw_position_load(t->o->position_file, v, err) : 0;

    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, v, sizeof(v), 0);
    t->pos = t->low = (uint64_t)v[0];
    t->high = t->pos + (uint64_t)t->o->population;
    t->first = t->pos;
    if (v[1] < 0)
        return 0;
    t->lost = t->ragged = true;
    t->low = t->first = (uint64_t)v[1];
    t->high = (uint64_t)v[2];
    if (!t->o->benchmark)
        return 0;
    return weir_warn(&run->log, err,
                     "in the run that wrote '%s' objects were missing, or tasks stopped at "
                     "different objects; some objects can be missing now", t->o->position_file);
}

/* Whole or as it was: a later run must not begin at a part of a position. */
static int write_file(const struct mdw_test *t, uint64_t pos, struct weir_err *err)
{
    struct weir_str text = { 0 };
    int rc;

    weir_str_addf(&text, "pos: %" PRIu64 "\n", pos);
    if (t->ragged)
        weir_str_addf(&text, "first: %" PRIu64 "\nend: %" PRIu64 "\n", t->low, t->high);
    rc = weir_wholefile_put(t->o->position_file, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc < 0 ? weir_err_within(err, "run-info file '%s'", t->o->position_file) : 0;
}

/* A file, or where there is none the place where a link leads to: make it, and leave no trace of
 * that. A device or a pipe is not touched. */
static int try_file(const char *path, const char *what, struct weir_err *err)
{
    struct weir_str place = { 0 };
    struct stat st;
    bool there = stat(path, &st) == 0;
    int fd, rc;

    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0;
    rc = weir_link_follow(path, &place, err);
    if (rc == 0) {
        fd = open(weir_str_text(&place), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || close(fd) < 0)
            rc = weir_fail(err, WEIR_ESETUP, "create %s '%s'", what, path);
        else if (!there)
            unlink(weir_str_text(&place));
    }
    weir_str_free(&place);
    return rc;
}

/* Before hours of work, check that the files can be written that this run is to leave. */
static int try_files(const struct mdw_options *o, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    if (!o->cleanup)
        rc = try_file(o->position_file, "run-info file", err);
    if (rc == 0 && o->latency) {
        weir_str_addf(&path, "%s-try.csv", o->latency);
        rc = try_file(weir_str_text(&path), "latency file", err);
    }
    weir_str_free(&path);
    return rc;
}

static int write_position(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    int64_t lowest = -(int64_t)t->pos;
    int rc;

    weir_allmax_i64(&run->par, &lowest, 1);
    rc = run->par.rank == 0 ? write_file(t, (uint64_t)-lowest, err) : 0;
    return weir_agree(&run->par, rc, err);
}

/* ---- positions ---- */

/* After a phase that made or took objects. */
static void update_positions(struct weir_run *run, struct mdw_test *t,
                             const struct weir_phase_rec *rec)
{
    const uint64_t *failed = t->m->failed;
    uint64_t missing =
        failed[MDW_STAT] + failed[MDW_DELETE] + failed[MDW_CREATE] + failed[MDW_SET_CREATE];
    int64_t v[2];

    weir_allsum_u64(&run->par, &missing, 1);
    if (missing > 0)
        t->lost = true; /* t->low stays below all that may be there */
    if (t->m->phase == MDW_BENCHMARK && !t->o->read_only)
        t->pos += rec->steps;
    v[0] = -(int64_t)t->pos;
    v[1] = (int64_t)t->pos;
    weir_allmax_i64(&run->par, v, 2);
    if (!t->lost)
        t->low = (uint64_t)-v[0];
    if ((uint64_t)v[1] + (uint64_t)t->o->population > t->high)
        t->high = (uint64_t)v[1] + (uint64_t)t->o->population;
    t->ragged = t->lost || -v[0] != v[1];
}

/* Finds the objects that cleanup will meet in our sets: those that the reader has left, and those
 * that the writer has added. */
static void find_objects(struct weir_run *run, struct mdw_test *t)
{
    for (int d = 0; d < t->period; d++) {
        struct mdw_set *s = &t->set[d];

        s->low = t->low;
        s->high = t->high;
        if (t->ragged && !t->lost) {
            s->low = weir_fetch_u64(&run->par, t->pos, s->reader);
            s->high = weir_fetch_u64(&run->par, t->pos, s->writer) + (uint64_t)t->o->population;
        }
    }
}

static int begin_positions(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    const struct mdw_options *o = t->o;

    if (!o->precreate && o->start == 0)
        return read_position(run, t, err);
    t->first = t->pos = t->low = (uint64_t)o->start;
    t->high = t->low + (uint64_t)o->population;
    return 0;
}

/* A single mkdir. Whatever is wrong with it, the sets will show whether it matters. */
static int make_prefix(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->fs.ns->mkdir(&t->fs.session, t->o->prefix, MODE, &why) == 0)
        return 0;
    t->prefix_was_there = why.sys == EEXIST;
    return weir_warn(&run->log, err, "Unable to create test directory %s: %s", t->o->prefix,
                     strerror(why.sys));
}

static int remove_prefix(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;

    if (run->par.rank > 0 || t->prefix_was_there ||
        t->fs.ns->rmdir(&t->fs.session, t->o->prefix, &why) == 0)
        return 0;
    return weir_warn(&run->log, err, "Unable to remove directory %s: %s", t->o->prefix,
                     strerror(why.sys));
}

/* ---- what is left ---- */

static uint64_t sweep_set(struct weir_run *run, struct mdw_test *t, int d, uint64_t from,
                          uint64_t to, uint64_t until)
{
    struct weir_err why = WEIR_ERR_INIT;

    for (; from < to && weir_now_ns() < until; from++)
        t->fs.ns->unlink(&t->fs.session, mdw_name_object(&t->own, run->par.rank, d, from), &why);
    if (weir_now_ns() >= until)
        return 1;
    return t->fs.ns->rmdir(&t->fs.session, mdw_name_dir(&t->own, run->par.rank, d), &why) < 0 &&
           why.sys != ENOENT;
}

/* Remove the sets that this run made, for at most a minute. */
static void sweep(struct weir_run *run, struct mdw_test *t)
{
    uint64_t left = 0, until = weir_now_ns() + LONGEST_NS;
    int64_t to = (int64_t)t->reached; /* others put objects into our sets */

    weir_allmax_i64(&run->par, &to, 1);
    for (int d = 0; d < t->o->sets; d++)
        if (t->made && t->made[d / 8] & 1u << d % 8)
            left += sweep_set(run, t, d, t->low, (uint64_t)to, until);
    weir_allsum_u64(&run->par, &left, 1);
    if (left > 0)
        weir_note(&run->log, "%llu data sets below '%s' could not be removed",
                  (unsigned long long)left, t->o->prefix);
    else if (!t->prefix_was_there && run->par.rank == 0)
        t->fs.ns->rmdir(&t->fs.session, t->o->prefix, &(struct weir_err)WEIR_ERR_INIT);
}

/* ---- stages ---- */

/* A benchmark with the waiting factor of the options has the index PLAIN; those of -T are counted
 * from 0 on. */
#define PLAIN (-1)

double mdw_factor(const struct mdw_options *o, int index)
{
    if (index == 0)
        return 0;
    return index == PLAIN ? o->wait : ldexp(MDW_MIN_WAIT, index - 1);
}

static bool wants(const void *state, const struct weir_stage *s)
{
    const struct mdw_options *o = ((const struct mdw_test *)state)->o;

    if (s->phase == &mdw_phases[MDW_PRECREATE])
        return o->precreate;
    if (s->phase == &mdw_phases[MDW_CLEANUP])
        return o->cleanup;
    return o->benchmark && o->adaptive == (s->index != PLAIN);
}

static int before_phase(struct weir_run *run, void *state, const struct weir_stage *s,
                        struct weir_err *err)
{
    struct mdw_test *t = state;

    memset(t->m, 0, sizeof(*t->m));
    t->m->phase = (enum mdw_phase)(s->phase - mdw_phases);
    t->m->iteration = run->repetition;
    t->m->lat = run->records.hist;
    t->m->wait = t->factor = t->m->phase == MDW_BENCHMARK ? mdw_factor(t->o, s->index) : 0;
    if (t->m->phase == MDW_PRECREATE)
        return weir_agree(&run->par, make_prefix(run, t, err), err);
    if (t->m->phase == MDW_CLEANUP) {
        t->cleaning = true;
        t->failed_before = t->failed;
        find_objects(run, t);
    }
    return 0;
}

static int after_phase(struct weir_run *run, void *state, const struct weir_stage *s,
                       struct weir_phase_rec *rec, struct weir_err *err)
{
    struct mdw_test *t = state;
    int rc = mdw_measure(run, t, rec, err);

    if (t->m->phase != MDW_CLEANUP)
        update_positions(run, t, rec);
    else if (rc == 0 && !rec->interrupted && t->failed > t->failed_before && t->o->precreate)
        sweep(run, t); /* what could not be removed before may be removable now */
    else if (rc == 0 && !rec->interrupted)
        rc = weir_agree(&run->par, remove_prefix(run, t, err), err);
    return rc;
}

#define STAGE(p, text, f, i)                                                                       \
    {                                                                                              \
        .key = (text), .flags = WEIR_STAGE_DELAY | (f), .index = (i), .phase = &mdw_phases[p],     \
        .wanted = wants, .before = before_phase, .after = after_phase                              \
    }

const struct weir_stage mdw_stages[] = { STAGE(MDW_PRECREATE, "precreate", WEIR_STAGE_FIRST, PLAIN),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, PLAIN),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 0),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 1),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 2),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 3),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 4),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 5),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 6),
                                         STAGE(MDW_BENCHMARK, "benchmark", WEIR_STAGE_MAKES, 7),
                                         STAGE(MDW_CLEANUP, "cleanup", WEIR_STAGE_LAST, PLAIN),
                                         { .key = NULL } };
_Static_assert(sizeof(mdw_stages) / sizeof(*mdw_stages) == MDW_WAITS + 3, "see mdw.h");

/* ---- a test ---- */

int mdw_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;
    size_t len = (size_t)t->o->size;

    if (t->o->latency && (run->par.rank == 0 || t->o->latency_all))
        run->records.wanted = true;
    if (mdw_sets_init(t, run, err) < 0)
        return -1;
    return weir_small_files_begin(&t->fs, run->gpu, len, len, len, err);
}

void mdw_end(void *state)
{
    struct mdw_test *t = state;

    mdw_sets_free(t);
    free(t->outcome);
    weir_small_files_end(&t->fs);
}

int mdw_start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;
    int rc;

    if (weir_small_files_start(&t->fs, run, err) < 0 || begin_positions(run, t, err) < 0)
        return -1;
    weir_small_files_learn_seed(&t->fs, run, (size_t)t->o->size, (size_t)t->o->size, t->o->verify,
                                mdw_name_read, t);
    rc = run->par.rank == 0 ? try_files(t->o, err) : 0;
    t->ready = weir_agree(&run->par, rc, err) == 0;
    return t->ready ? 0 : -1;
}

void mdw_clean_up(struct weir_run *run, void *state)
{
    struct mdw_test *t = state;

    if (t->ready && t->o->precreate)
        sweep(run, t);
}

/* Counted errors do not end the run, but its status tells of them; the engine judges wrong data. */
static int judge(const struct mdw_test *t, uint64_t wrong, struct weir_err *err)
{
    if (t->failed <= wrong)
        return 0;
    *err = t->why;
    err->code = WEIR_EIO;
    return weir_err_within(err, "%llu operation%s failed, the first", (unsigned long long)t->failed,
                           t->failed == 1 ? "" : "s");
}

int mdw_conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mdw_test *t = state;
    bool stays = run->test->failed ? !t->o->precreate && !t->cleaning : !t->o->cleanup;
    int rc = stays ? write_position(run, t, err) : 0;

    weir_report_int(&run->report, WEIR_FOR_DATA, "operationErrors", (int64_t)t->failed);
    weir_report_int(&run->report, WEIR_FOR_DATA, "verificationErrors", (int64_t)run->test->wrong);
    return rc < 0 || run->test->failed ? rc : judge(t, run->test->wrong, err);
}
