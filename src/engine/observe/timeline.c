/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - every operation of every rank in one file, --timeline (doc/timeline.md)
 *
 * The file grows after each phase: each rank writes its records at its own place, then rank 0
 * writes the header with the new number. So what is there can be read at any time, also after a
 * failure. What goes wrong with it ends the timeline, not the run. */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/observe/all.h"
#include "engine/observe/gather.h"
#include "engine/observe/timeline-doc.h"
#include "par/agree.h"
#include "par/io/mpioutput.h"
#include "par/reduce.h"

#define PIECE ((size_t)8192) /* records that are written at a time: 384 KiB */
#define PHASES_SMALL 16      /* so many phases the document is written after each ... */
#define DOC_NS WEIR_NS_PER_S /* ... and then not more often than this */

/* Zero: none. All numbers are the same on all ranks of the test that runs. */
struct state {
    const char *path; /* NULL: none was asked for */
    bool failed;      /* nothing is written any more; why was said */
    bool entered;     /* the test that runs has begun to write */
    uint64_t records; /* in the file */
    uint64_t dropped; /* that are not */
    int phases;
    unsigned char *piece; /* records on their way to the file; NULL between tests */
    struct weir_mpi_output file;
    struct weir_timeline_doc doc; /* rank 0 */
};

static bool is_on(const struct state *t)
{
    return t->path && !t->failed;
}

/* ---- both files ---- */

static bool wanted(const struct weir_test *t)
{
    return t->plan.options->timeline != NULL;
}

/* The first test adds the document: both files are those of the run. The name ends in .npy. */
static int check(const struct weir_run_options *o, struct weir_files *files,
                 struct weir_err *err)
{
    const char *name;

    if (!o->timeline || files->test > 0)
        return 0;
    name = weir_timeline_doc_name(o->timeline, files->arena, err);
    return name ? weir_files_add(files, "--timeline (the document beside it)", name,
                                 WEIR_FILE_WRITE, err)
                : -1;
}

/* A file without records. */
static int make_file(const char *path, struct weir_err *err)
{
    char header[WEIR_NPY_HEADER];
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666), rc = 0;

    if (fd < 0 && errno == ENXIO)
        return weir_refuse(err, WEIR_ESETUP, "timeline '%s' is not a regular file", path);
    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "open timeline '%s'", path);
    weir_npy_header(header, 0);
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        rc = weir_refuse(err, WEIR_ESETUP, "timeline '%s' is not a regular file", path);
    else if (write(fd, header, sizeof(header)) != (ssize_t)sizeof(header))
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    if (close(fd) < 0 && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    return rc;
}

static int write_document(struct weir_run *run, struct state *t, bool complete, struct weir_err *err)
{
    return weir_timeline_doc_write(&t->doc, run, t->records, t->dropped, complete, err);
}

static int begin(struct weir_run *run, struct state *t, struct weir_err *err)
{
    t->doc.path = weir_timeline_doc_name(t->path, &run->arena, err);
    return t->doc.path && make_file(t->path, err) == 0 ? write_document(run, t, false, err) : -1;
}

/* Makes both files, in place of what is there. A script may say anywhere where the results go: the
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
    t->path = path;
    if (run->world.rank == 0)
        rc = begin(run, t, err);
    if (weir_agree(&run->world, rc, err) == 0)
        return 0;
    t->failed = true;
    return -1;
}

/* ---- a failure ---- */

/* The same on all ranks of the test: say it, and free the space that a part has taken. */
static void give_up(struct weir_run *run, struct state *t, const struct weir_err *why)
{
    off_t good = WEIR_NPY_HEADER + (off_t)t->records * WEIR_NPY_RECORD;
    struct weir_err err = *why;

    t->failed = true;
    if (run->par.rank != 0)
        return;
    weir_err_within(&err, "timeline '%s' ends here, the run goes on", t->path);
    weir_run_refuse(run, &err);
    if (truncate(t->path, good) < 0)
        weir_note(&run->log, "the timeline could not be shortened to its %lld bytes that are whole",
                  (long long)good);
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

/* Copies rank 0's counters to ranks that took no part in an earlier test. */
static void learn_state(struct weir_run *run, struct state *t)
{
    uint64_t v[4] = { t->records, t->dropped, (uint64_t)t->phases, t->failed };

    weir_bcast(&run->par, v, sizeof(v), 0);
    t->records = v[0];
    t->dropped = v[1];
    t->phases = (int)v[2];
    t->failed = v[3] != 0;
}

static int test_start(struct weir_run *run, void *state, struct weir_err *unused)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    (void)unused;
    if (!run->test->plan.is_run)
        return 0;
    learn_state(run, t);
    t->entered = true;
    if (t->failed)
        return 0;
    weir_timeline_doc_test(&t->doc, run);
    t->piece = malloc(PIECE * WEIR_NPY_RECORD);
    if (!t->piece)
        rc = weir_fail(&err, WEIR_ESETUP, "memory for records that are being written");
    if (!all_good(run, t, rc, &err))
        return 0;
    if (weir_mpi_output_open(&t->file, &run->par, t->path, &err) < 0)
        give_up(run, t, &err);
    return 0;
}

static void test_free(struct weir_run *run, void *state)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    if (!t->entered)
        return;
    t->entered = false;
    if (t->file.open)
        rc = weir_mpi_output_close(&t->file, !t->failed, &err);
    free(t->piece);
    t->piece = NULL;
    if (t->failed)
        return;
    if (rc == 0 && run->par.rank == 0)
        rc = write_document(run, t, false, &err);
    all_good(run, t, rc, &err);
}

/* ---- a phase ---- */

static void encode(const struct weir_run *run, const struct state *t,
                   const struct weir_phase_rec *rec, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct weir_record *r = &run->records.rec[from + i];
        struct weir_npy_record out = { .begin = weir_records_time(run, r->begin_ns),
                                       .end = weir_records_time(run, r->end_ns),
                                       .offset = (int64_t)r->off,
                                       .bytes = (int64_t)r->len,
                                       .rank = (uint32_t)run->par.rank,
                                       .repetition = (uint32_t)rec->repetition,
                                       .phase = (uint16_t)t->phases,
                                       .operation = r->op,
                                       .error = r->error };

        weir_npy_record(t->piece + i * WEIR_NPY_RECORD, &out);
    }
}

/* Write the records of this rank at their place in the file. Local. */
static int write_records(struct weir_run *run, struct state *t, const struct weir_phase_rec *rec,
                         uint64_t place, struct weir_err *err)
{
    size_t all = run->records.n;

    weir_records_sort(&run->records);
    for (size_t from = 0; from < all; from += PIECE) {
        size_t n = all - from < PIECE ? all - from : PIECE;

        encode(run, t, rec, from, n);
        if (weir_mpi_output_write(&t->file, WEIR_NPY_HEADER + (place + from) * WEIR_NPY_RECORD,
                                  t->piece, n * WEIR_NPY_RECORD, err) < 0)
            return -1;
    }
    return 0;
}

/* Rank 0: make what all ranks have written a part of the file. */
static int write_header(struct weir_run *run, struct state *t, const struct weir_phase_rec *rec,
                        struct weir_err *err)
{
    char header[WEIR_NPY_HEADER];

    weir_npy_header(header, t->records + rec->records_sum);
    if (weir_mpi_output_write(&t->file, 0, header, sizeof(header), err) < 0)
        return -1;
    weir_timeline_doc_phase(&t->doc, run, rec, t->phases);
    return 0;
}

static bool document_is_due(const struct state *t)
{
    return t->phases <= PHASES_SMALL || weir_now_ns() - t->doc.written_ns > DOC_NS;
}

/* Writes the records of a phase that has run, well or not; they are in the order of their begin
 * afterwards. */
static int after(struct weir_run *run, void *state, struct weir_phase_rec *rec,
                 struct weir_err *unused)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    bool is_root = run->par.rank == 0;
    uint64_t place;

    (void)unused;
    if (!is_on(t) || !run->stage)
        return 0;
    t->dropped += rec->dropped_sum;
    if (t->phases > UINT16_MAX) { /* more than the records can tell apart */
        t->dropped += rec->records_sum;
        return 0;
    }
    place = t->records + weir_before_u64(&run->par, run->records.n);
    if (!all_good(run, t, write_records(run, t, rec, place, &err), &err) ||
        !all_good(run, t, is_root ? write_header(run, t, rec, &err) : 0, &err))
        return 0;
    t->records += rec->records_sum;
    t->phases++;
    all_good(run, t, is_root && document_is_due(t) ? write_document(run, t, false, &err) : 0, &err);
    return 0;
}

/* ---- the end ---- */

/* Used on rank 0. WEIR_ESETUP where only the timeline has failed. */
static enum weir_code run_end(struct weir_run *run, void *state, enum weir_code code)
{
    struct state *t = state;
    struct weir_err err = WEIR_ERR_INIT;
    bool good = weir_code_is_whole(code);

    if (run->world.rank == 0 && t->path && t->phases > UINT16_MAX)
        weir_note(&run->log, "the timeline has the first %d phases", t->phases);
    if (run->world.rank == 0 && is_on(t) && write_document(run, t, good, &err) < 0) {
        weir_run_refuse(run, &err);
        t->failed = true;
    }
    return t->failed ? weir_code_worse(code, WEIR_ESETUP) : code;
}

static void release(struct weir_run *run, void *state)
{
    struct state *t = state;

    (void)run;
    weir_str_free(&t->doc.tests);
    weir_str_free(&t->doc.phases);
}

const struct weir_observer weir_timeline = {
    .name = "timeline",
    .state_size = sizeof(struct state),
    .operations = true,
    .wanted = wanted,
    .check = check,
    .run_begin = run_begin,
    .run_end = run_end,
    .release = release,
    .test_start = test_start,
    .test_free = test_free,
    .after = after,
};
