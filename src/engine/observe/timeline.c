/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - every operation of every rank in one file */
#include "config.h"
#include "engine/observe/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/driver.h"
#include "engine/observe/gather.h"
#include "engine/observe/timeline-doc.h"
#include "par/agree.h"
#include "par/reduce.h"

#define PIECE ((size_t)8192) /* records that are written at a time: 384 KiB */
#define PHASES_SMALL 16      /* so many phases the document is written after each ... */
#define DOC_NS WEIR_NS_PER_S /* ... and then not more often than this */

static bool is_on(const struct weir_timeline *t)
{
    return t->path && !t->failed;
}

/* ---- both files ---- */

int weir_timeline_files(const char *path, struct weir_files *files, struct weir_err *err)
{
    struct weir_str name = { 0 };
    const char *kept = NULL;
    int rc = path ? weir_timeline_doc_name(path, &name, err) : 0;

    if (rc == 0 && path) {
        kept = weir_arena_strdup(files->arena, weir_str_text(&name), err);
        rc = kept ? weir_files_add(files, "--timeline (the document beside it)", kept,
                                   WEIR_FILE_WRITE, err)
                  : -1;
    }
    weir_str_free(&name);
    return rc;
}

static int write_all(int fd, const char *buf, size_t len)
{
    ssize_t n = write(fd, buf, len);

    return n == (ssize_t)len ? 0 : -1;
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
    else if (write_all(fd, header, sizeof(header)) < 0)
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    if (close(fd) < 0 && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write timeline '%s'", path);
    return rc;
}

static int begin(struct weir_run *run, const struct weir_driver *driver, int argc,
                 char *const *argv, struct weir_err *err)
{
    struct weir_timeline *t = &run->timeline;

    if (weir_timeline_doc_name(t->path, &t->doc.path, err) < 0 || make_file(t->path, err) < 0)
        return -1;
    weir_timeline_doc_command(&t->doc, &run->anonymous, argc, argv);
    return weir_timeline_doc_write(&t->doc, driver, 0, 0, false, err);
}

int weir_timeline_begin(struct weir_run *run, const char *path, const struct weir_driver *driver,
                        int argc, char *const *argv, struct weir_err *err)
{
    struct weir_timeline *t = &run->timeline;
    int rc = 0;

    if (!path)
        return 0;
    if (run->world.without_mpi)
        return weir_refuse(err, WEIR_EUSAGE, "option --timeline needs MPI, which was not started");
    t->path = path;
    if (run->world.rank == 0)
        rc = begin(run, driver, argc, argv, err);
    if (weir_agree(&run->world, rc, err) == 0)
        return 0;
    t->failed = true;
    return -1;
}

/* ---- a failure ---- */

/* The same on all ranks of the test: say it, and free the space that a part has taken. */
static void give_up(struct weir_run *run, const struct weir_err *why)
{
    struct weir_timeline *t = &run->timeline;
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
static bool all_good(struct weir_run *run, int rc, struct weir_err *err)
{
    if (weir_agree(&run->par, rc, err) == 0)
        return true;
    give_up(run, err);
    return false;
}

/* ---- a test ---- */

/* What ranks do not know that took no part until now. */
static void learn_state(struct weir_run *run)
{
    struct weir_timeline *t = &run->timeline;
    uint64_t v[4] = { t->records, t->dropped, (uint64_t)t->phases, t->failed };

    weir_bcast(&run->par, v, sizeof(v), 0);
    t->records = v[0];
    t->dropped = v[1];
    t->phases = (int)v[2];
    t->failed = v[3] != 0;
}

void weir_timeline_enter(struct weir_run *run)
{
    struct weir_timeline *t = &run->timeline;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    if (!t->path)
        return;
    learn_state(run);
    if (t->failed)
        return;
    weir_timeline_doc_test(&t->doc, run);
    t->piece = malloc(PIECE * WEIR_NPY_RECORD);
    if (!t->piece)
        rc = weir_fail(&err, WEIR_ESETUP, "memory for records that are being written");
    if (!all_good(run, rc, &err))
        return;
    if (weir_mpi_output_open(&t->file, &run->par, t->path, &err) < 0)
        give_up(run, &err);
}

static int write_document(struct weir_run *run, bool complete, struct weir_err *err)
{
    struct weir_timeline *t = &run->timeline;

    return weir_timeline_doc_write(&t->doc, run->driver, t->records, t->dropped, complete, err);
}

void weir_timeline_leave(struct weir_run *run)
{
    struct weir_timeline *t = &run->timeline;
    struct weir_err err = WEIR_ERR_INIT;
    int rc = 0;

    if (!t->path)
        return;
    if (t->file.open)
        rc = weir_mpi_output_close(&t->file, !t->failed, &err);
    free(t->piece);
    t->piece = NULL;
    if (t->failed)
        return;
    if (rc == 0 && run->par.rank == 0)
        rc = write_document(run, false, &err);
    all_good(run, rc, &err);
}

/* ---- a phase ---- */

static bool is_before(const struct weir_record *a, const struct weir_record *b)
{
    return a->begin_ns < b->begin_ns;
}

/* Records come in the order of their ends. Only those of a queue are not in the order of their
 * begin, and these nearly: each goes back to its place, without more memory. */
static void sort_records(struct weir_records *r)
{
    for (size_t i = 1; i < r->n; i++) {
        struct weir_record one = r->rec[i];
        size_t low = 0, high = i;

        if (!is_before(&one, &r->rec[i - 1]))
            continue;
        while (low < high) {
            size_t mid = low + (high - low) / 2;

            if (is_before(&one, &r->rec[mid]))
                high = mid;
            else
                low = mid + 1;
        }
        memmove(&r->rec[low + 1], &r->rec[low], (i - low) * sizeof(one));
        r->rec[low] = one;
    }
}

static void encode(const struct weir_run *run, const struct weir_phase_rec *rec, size_t from,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct weir_record *r = &run->records.rec[from + i];
        struct weir_npy_record out = { .begin = weir_records_time(run, r->begin_ns),
                                       .end = weir_records_time(run, r->end_ns),
                                       .offset = (int64_t)r->off,
                                       .bytes = (int64_t)r->len,
                                       .rank = (uint32_t)run->par.rank,
                                       .repetition = (uint32_t)rec->repetition,
                                       .phase = (uint16_t)run->timeline.phases,
                                       .operation = r->op,
                                       .error = r->error };

        weir_npy_record(run->timeline.piece + i * WEIR_NPY_RECORD, &out);
    }
}

/* Write the records of this rank at their place in the file. Local. */
static int write_records(struct weir_run *run, const struct weir_phase_rec *rec, uint64_t place,
                         struct weir_err *err)
{
    struct weir_timeline *t = &run->timeline;
    size_t all = run->records.n;

    sort_records(&run->records);
    for (size_t from = 0; from < all; from += PIECE) {
        size_t n = all - from < PIECE ? all - from : PIECE;

        encode(run, rec, from, n);
        if (weir_mpi_output_write(&t->file, WEIR_NPY_HEADER + (place + from) * WEIR_NPY_RECORD,
                                  t->piece, n * WEIR_NPY_RECORD, err) < 0)
            return -1;
    }
    return 0;
}

/* Rank 0: make what all ranks have written a part of the file. */
static int write_header(struct weir_run *run, const struct weir_phase_rec *rec, bool failed,
                        struct weir_err *err)
{
    struct weir_timeline *t = &run->timeline;
    char header[WEIR_NPY_HEADER];

    weir_npy_header(header, t->records + rec->records_sum);
    if (weir_mpi_output_write(&t->file, 0, header, sizeof(header), err) < 0)
        return -1;
    weir_timeline_doc_phase(&t->doc, run, rec, t->phases, failed);
    return 0;
}

static bool document_is_due(const struct weir_timeline *t)
{
    return t->phases <= PHASES_SMALL || weir_now_ns() - t->doc.written_ns > DOC_NS;
}

void weir_timeline_phase(struct weir_run *run, const struct weir_phase_rec *rec, bool failed)
{
    struct weir_timeline *t = &run->timeline;
    struct weir_err err = WEIR_ERR_INIT;
    bool is_root = run->par.rank == 0;
    uint64_t place;

    if (!is_on(t) || !run->stage)
        return;
    t->dropped += rec->dropped_sum;
    if (t->phases > UINT16_MAX) { /* more than the records can tell apart */
        t->dropped += rec->records_sum;
        return;
    }
    place = t->records + weir_before_u64(&run->par, run->records.n);
    if (!all_good(run, write_records(run, rec, place, &err), &err) ||
        !all_good(run, is_root ? write_header(run, rec, failed, &err) : 0, &err))
        return;
    t->records += rec->records_sum;
    t->phases++;
    all_good(run, is_root && document_is_due(t) ? write_document(run, false, &err) : 0, &err);
}

/* ---- the end ---- */

enum weir_code weir_timeline_end(struct weir_run *run, enum weir_code code)
{
    struct weir_timeline *t = &run->timeline;
    struct weir_err err = WEIR_ERR_INIT;
    bool good = weir_code_is_whole(code);

    if (run->world.rank == 0 && t->path && t->phases > UINT16_MAX)
        weir_note(&run->log, "the timeline has the first %d phases", t->phases);
    if (run->world.rank == 0 && is_on(t) && write_document(run, good, &err) < 0) {
        weir_run_refuse(run, &err);
        t->failed = true;
    }
    weir_timeline_doc_free(&t->doc);
    return t->failed ? weir_code_worse(code, WEIR_ESETUP) : code;
}
