/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - every operation of every rank in one file, --timeline (doc/timeline.md).
 *
 * The file grows after each phase: each rank writes its records at its own place, then rank 0
 * writes the header with the new number. So the file can be read at any time, also after a
 * failure. An error ends the timeline, not the run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/observe/timeline.h"
#include "par/agree.h"
#include "par/io/mpioutput.h"

#define PHASES_SMALL 16      /* number of phases up to which the document is written after each ... */
#define DOC_NS WEIR_NS_PER_S /* ... and then not more often than this */

/* The state of the files. Ranks that took no part in an earlier test get it from rank 0. */
struct common {
    struct weir_timeline_sums all;
    int phases;
    bool failed; /* nothing is written any more; the reason was reported */
};

/* Zero: none. All numbers are the same on all ranks of the test that runs. */
struct state {
    struct weir_timeline_choice choice; /* path NULL: none was asked for */
    size_t size;                        /* of a record */
    bool entered;                       /* the test that runs has begun to write */
    struct common now;
    struct weir_timeline_sums test; /* of the test that runs */
    struct weir_sampled sampled; /* of this rank, where not all operations of all ranks are kept */
    unsigned char *piece; /* of the test that runs: records on their way to the file */
    struct weir_mpi_output file;
    struct weir_timeline_doc doc; /* rank 0 */
};

static bool is_on(const struct state *t)
{
    return t->choice.path && !t->now.failed;
}

/* ---- both files ---- */

/* The name of the document: .npy becomes .timeline.json, for .json is left to the results. */
static const char *doc_name(const char *path, struct weir_arena *arena, struct weir_err *err)
{
    size_t len = strlen(path);

    if (len < 5 || strcmp(path + len - 4, ".npy") != 0) {
        weir_refuse(err, WEIR_EUSAGE,
                    "option --timeline: the name of the file in '%s' must end in .npy; its document has "
                    "the same name with .timeline.json",
                    path);
        return NULL;
    }
    return weir_arena_textf(arena, err, "%.*s.timeline.json", (int)len - 4, path);
}

/* The first test adds the document: both files are those of the run. The name ends in .npy, and words may
 * follow it. */
static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    struct weir_timeline_choice choice;
    const char *name;

    if (!o->timeline || files->test > 0)
        return 0;
    if (weir_timeline_choice_read(o->timeline, files->arena, &choice, err) < 0)
        return -1;
    name = doc_name(choice.path, files->arena, err);
    return name ? weir_files_add(files, "--timeline (the document beside it)", name,
                                 WEIR_FILE_WRITE, err)
                : -1;
}

static int write_document(struct weir_run *run, struct state *t, bool complete, struct weir_err *err)
{
    return weir_timeline_doc_write(&t->doc, run, &t->now.all, complete, err);
}

static bool document_is_due(const struct state *t)
{
    return t->now.phases <= PHASES_SMALL || weir_now_ns() - t->doc.written_ns > DOC_NS;
}

/* Make a file without records, of which each will have this size. */
static int make_file(const char *path, size_t size, struct weir_err *err)
{
    char header[WEIR_NPY_HEADER];
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666), rc = 0;

    if (fd < 0 && errno == ENXIO)
        return weir_refuse(err, WEIR_ESETUP, "timeline '%s' is not a regular file", path);
    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "open timeline '%s'", path);
    weir_npy_header(header, 0, size);
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        rc = weir_refuse(err, WEIR_ESETUP, "timeline '%s' is not a regular file", path);
    else if (write(fd, header, sizeof(header)) != (ssize_t)sizeof(header))
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    if (close(fd) < 0 && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    return rc;
}

static int begin(struct weir_run *run, struct state *t, struct weir_err *err)
{
    t->doc.choice = &t->choice;
    t->doc.path = doc_name(t->choice.path, &run->arena, err);
    return t->doc.path && make_file(t->choice.path, t->size, err) == 0
               ? write_document(run, t, false, err)
               : -1;
}

/* The tasks of the largest test. */
static int most_tasks(const struct weir_test *tests, int n)
{
    int most = 1;

    for (int i = 0; i < n; i++)
        most = tests[i].plan.tasks > most ? tests[i].plan.tasks : most;
    return most;
}

/* Make both files, in place of existing ones. Any test of a script may name the outputs; the
 * last test decides. */
static int run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                     struct weir_err *err)
{
    const char *path = tests[n - 1].plan.options->timeline;
    struct state *t = state;
    int rc = 0;

    if (!path)
        return 0;
    if (run->world.without_mpi)
        return weir_refuse(err, WEIR_EUSAGE, "option --timeline needs MPI, which was not started");
    rc = weir_timeline_choice_read(path, &run->arena, &t->choice, err);
    if (weir_agree(&run->world, rc, err) < 0 ||
        weir_timeline_check_ranks(&t->choice, most_tasks(tests, n), err) < 0) {
        t->choice.path = NULL;
        return -1;
    }
    t->size = weir_timeline_samples(&t->choice) ? WEIR_NPY_SAMPLED : WEIR_NPY_RECORD;
    if (run->world.rank == 0)
        rc = begin(run, t, err);
    t->now.failed = weir_agree(&run->world, rc, err) < 0;
    return t->now.failed ? -1 : 0;
}

/* ---- a failure ---- */

/* Report why, the same on all ranks of the test, and free the space that a part has taken. */
static void give_up(struct weir_run *run, struct state *t, const struct weir_err *why)
{
    off_t good = WEIR_NPY_HEADER + (off_t)(t->now.all.records * t->size);
    struct weir_err err = *why;

    t->now.failed = true;
    if (run->par.rank != 0)
        return;
    weir_err_within(&err, "timeline '%s' ends here; the run continues", t->choice.path);
    weir_run_refuse(run, &err);
    if (truncate(t->choice.path, good) < 0)
        weir_note(&run->log, "the timeline could not be truncated after its last complete record, "
                             "at byte %lld", (long long)good);
}

/* True when all ranks were good. Collective over run->par. */
static bool all_good(struct weir_run *run, struct state *t, int rc, struct weir_err *err)
{
    if (weir_agree(&run->par, rc, err) == 0)
        return true;
    give_up(run, t, err);
    return false;
}

/* ---- a test ---- */

/* All operations of a rank are the records of the test; of others, some are picked, or none. */
static int test_begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct state *t = state;
    bool here = weir_timeline_has_rank(&t->choice, &run->par);

    t->test = (struct weir_timeline_sums) { 0 };
    t->sampled = (struct weir_sampled) { .here = here && weir_timeline_samples(&t->choice),
                                         .one_of = (uint64_t)t->choice.sample,
                                         .slowest = (uint32_t)t->choice.slowest,
                                         .limit = run->records.limit };
    if (here && !t->sampled.here)
        run->records.wanted = true;
    else
        run->records.sampled = &t->sampled;
    return 0;
}

static int test_start(struct weir_run *run, void *state, struct weir_err *unused)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    if (!run->test->plan.is_run)
        return 0;
    weir_bcast(&run->par, &t->now, sizeof(t->now), 0);
    t->entered = true;
    if (t->now.failed)
        return 0;
    weir_timeline_doc_test(&t->doc, run);
    if (weir_timeline_has_rank(&t->choice, &run->par) && /* others write nothing */
        !(t->piece = weir_arena_alloc(&run->test->arena, WEIR_TIMELINE_PIECE * t->size, &err)))
        rc = -1;
    if (!all_good(run, t, rc, &err))
        return 0;
    if (weir_mpi_output_open(&t->file, &run->par, t->choice.path, &err) < 0)
        give_up(run, t, &err);
    return 0;
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    run->records.sampled = NULL;
    weir_sampled_free(&t->sampled);
    if (!t->entered)
        return;
    t->entered = false;
    if (t->file.open)
        rc = weir_mpi_output_close(&t->file, !t->now.failed, &err);
    if (t->now.failed)
        return;
    if (rc == 0 && run->par.rank == 0 && document_is_due(t))
        rc = write_document(run, t, false, &err);
    all_good(run, t, rc, &err);
}

/* ---- a phase ---- */

/* Rank 0: make what all ranks have written a part of the file. */
static int write_header(struct weir_run *run, struct state *t, const struct weir_phase_rec *rec,
                        const struct weir_timeline_sums *sums, struct weir_err *err)
{
    char header[WEIR_NPY_HEADER];

    weir_npy_header(header, t->now.all.records + sums->records, t->size);
    if (weir_mpi_output_write(&t->file, 0, header, sizeof(header), err) < 0)
        return -1;
    weir_timeline_doc_phase(&t->doc, run, rec, t->now.phases, sums);
    return 0;
}

/* The draw of a phase depends on the seed, the rank and the number of the phase, and on nothing else. */
static int before(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                  struct weir_err *err)
{
    struct state *t = state;

    t->sampled.key = weir_rng_at(weir_rng_at((uint64_t)t->choice.seed, (uint64_t)run->par.rank),
                                 (uint64_t)t->now.phases);
    return 0;
}

static void add_up(struct weir_timeline_sums *to, const struct weir_timeline_sums *more)
{
    to->seen += more->seen;
    to->records += more->records;
    to->dropped += more->dropped;
}

/* Warn of missing sampled operations, the same on all ranks; phase.c warns of those of all readers. */
static int warn(struct weir_run *run, const struct state *t, const struct weir_phase_rec *rec,
                const struct weir_timeline_sums *sums, struct weir_err *err)
{
    if (!weir_timeline_samples(&t->choice) || sums->dropped == 0)
        return 0;
    return weir_warn(&run->log, err,
                     "the timeline buffer is too small for the sampled operations of the %s phase: "
                     "%" PRIu64 " are recorded, %" PRIu64 " are not; give a larger "
                     "--timeline-limit", rec->phase->key, sums->records, sums->dropped);
}

/* Writes the records of a phase that has run, well or not; they are in the order of their begin
 * afterwards. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *err)
{
    struct state *t = state;
    struct weir_err own = WEIR_ERR_INIT;
    bool is_root = run->par.rank == 0;
    struct weir_timeline_sums sums;
    int rc;

    if (!is_on(t) || !run->stage)
        return 0;
    sums = weir_timeline_finish(run);
    if (t->now.phases > UINT16_MAX) { /* more than the records can tell apart */
        sums.dropped += sums.records;
        sums.records = 0;
        add_up(&t->now.all, &sums);
        return 0;
    }
    rc = weir_timeline_write(run, &t->file, rec, t->now.phases, t->now.all.records, t->piece,
                             t->size, &own);
    if (!all_good(run, t, rc, &own) ||
        !all_good(run, t, is_root ? write_header(run, t, rec, &sums, &own) : 0, &own))
        return 0;
    add_up(&t->now.all, &sums);
    add_up(&t->test, &sums);
    t->now.phases++;
    all_good(run, t, is_root && document_is_due(t) ? write_document(run, t, false, &own) : 0, &own);
    return warn(run, t, rec, &sums, err);
}

/* In the results: which part of the operations of the test is in the timeline. */
static void test_end(struct weir_run *run, void *state)
{
    const struct state *t = state;
    const struct weir_timeline_choice *c = &t->choice;
    struct weir_report *r = &run->report;

    if (!t->entered)
        return;
    weir_report_enter(r, "timeline", false);
    weir_report_int(r, WEIR_FOR_DATA, "operations", (int64_t)t->test.seen);
    weir_report_int(r, WEIR_FOR_DATA, "records", (int64_t)t->test.records);
    weir_report_int(r, WEIR_FOR_DATA, "dropped", (int64_t)t->test.dropped);
    if (c->sample)
        weir_report_int(r, WEIR_FOR_DATA, "sample", c->sample);
    if (c->ranks)
        weir_report_str(r, WEIR_FOR_DATA, "ranks", c->ranks);
    if (c->slowest)
        weir_report_int(r, WEIR_FOR_DATA, "slowest", c->slowest);
    weir_report_leave(r);
}

/* ---- the end ---- */

/* Used on rank 0. WEIR_ESETUP where only the timeline has failed. */
static enum weir_code run_end(struct weir_run *run, void *state, enum weir_code code)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    bool good = weir_code_is_whole(code);

    if (run->world.rank == 0 && t->choice.path && t->now.phases > UINT16_MAX)
        weir_note(&run->log, "the timeline has only the first %d phases", t->now.phases);
    if (run->world.rank == 0 && is_on(t) && write_document(run, t, good, &err) < 0) {
        weir_run_refuse(run, &err);
        t->now.failed = true;
    }
    return t->now.failed ? weir_code_worse(code, WEIR_ESETUP) : code;
}

static void release(struct weir_run *run, void *state)
{
    struct state *t = state;

    weir_str_free(&t->doc.tests);
    weir_str_free(&t->doc.phases);
}

const struct weir_observer weir_timeline = {
    .name = "timeline",
    .state_size = sizeof(struct state),
    .option = offsetof(struct weir_run_options, timeline),
    .check = check,
    .run_begin = run_begin,
    .run_end = run_end,
    .release = release,
    .test_begin = test_begin,
    .test_start = test_start,
    .test_end = test_end,
    .test_free = test_free,
    .before = before,
    .after = after,
};
