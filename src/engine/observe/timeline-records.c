/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-records.c - the file of a timeline */
#include "config.h"
#include "engine/observe/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/observe/gather.h"
#include "engine/picks.h"
#include "par/io/mpioutput.h"
#include "par/reduce.h"

#define PREAMBLE 10 /* magic, version, length of the text after it */

static const char dtype[] = "[('begin', '<i8'), ('end', '<i8'), ('offset', '<i8'), "
                            "('bytes', '<i8'), ('rank', '<u4'), ('repetition', '<u4'), "
                            "('phase', '<u2'), ('operation', '<u2'), ('error', '<i4')";
static const char dtype_picked[] = ", ('number', '<i8'), ('chosen', '<i8')";

/* ---- its form ---- */

static unsigned char *put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

/* Blanks fill what the text leaves; a newline ends it. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n, size_t size)
{
    static const unsigned char magic[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    char text[WEIR_NPY_HEADER];
    int len =
        snprintf(text, sizeof(text),
                 "{'descr': %s%s], 'fortran_order': False, 'shape': (%" PRIu64 ",), }", dtype,
                 size > WEIR_NPY_RECORD ? dtype_picked : "", n);

    memset(out, ' ', WEIR_NPY_HEADER);
    memcpy(out, magic, sizeof(magic));
    put((unsigned char *)out + sizeof(magic), WEIR_NPY_HEADER - PREAMBLE, 2);
    memcpy(out + PREAMBLE, text, (size_t)len);
    out[WEIR_NPY_HEADER - 1] = '\n';
}

void weir_npy_record(unsigned char *out, const struct weir_npy_record *r, size_t size)
{
    const int64_t longs[] = { r->begin, r->end, r->offset, r->bytes };

    for (size_t i = 0; i < sizeof(longs) / sizeof(*longs); i++)
        out = put(out, (uint64_t)longs[i], 8);
    out = put(out, r->rank, 4);
    out = put(out, r->repetition, 4);
    out = put(out, r->phase, 2);
    out = put(out, r->operation, 2);
    out = put(out, (uint32_t)r->error, 4);
    if (size == WEIR_NPY_RECORD)
        return;
    out = put(out, r->number, 8);
    put(out, r->chosen, 8);
}

int weir_timeline_make(const char *path, size_t size, struct weir_err *err)
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

/* ---- the records of a phase ---- */

/* The operations of this rank that are records of the phase. */
static size_t count_records(const struct weir_run *run)
{
    return run->records.picks ? run->records.picks->n : run->records.n;
}

static void encode(const struct weir_run *run, const struct weir_phase_rec *rec, int phase,
                   size_t from, size_t n, unsigned char *out, size_t size)
{
    const struct weir_picks *p = run->records.picks;

    for (size_t i = 0; i < n; i++) {
        const struct weir_record *r = p ? &p->pick[from + i].op : &run->records.rec[from + i];
        struct weir_npy_record one = { .begin = weir_records_time(run, r->begin_ns),
                                       .end = weir_records_time(run, r->end_ns),
                                       .offset = (int64_t)r->off,
                                       .bytes = (int64_t)r->len,
                                       .rank = (uint32_t)run->par.rank,
                                       .repetition = (uint32_t)rec->repetition,
                                       .phase = (uint16_t)phase,
                                       .operation = r->op,
                                       .error = r->error,
                                       .number = p ? p->pick[from + i].number : 0,
                                       .chosen = p ? p->pick[from + i].why : 0 };

        weir_npy_record(out + i * size, &one, size);
    }
}

int weir_timeline_write(struct weir_run *run, struct weir_mpi_output *file,
                        const struct weir_phase_rec *rec, int phase, uint64_t before,
                        unsigned char *piece, size_t size, struct weir_err *err)
{
    size_t all = count_records(run);
    uint64_t place = before + weir_before_u64(&run->par, all);

    for (size_t from = 0; from < all; from += WEIR_TIMELINE_PIECE) {
        size_t n = all - from < WEIR_TIMELINE_PIECE ? all - from : WEIR_TIMELINE_PIECE;

        encode(run, rec, phase, from, n, piece, size);
        if (weir_mpi_output_write(file, WEIR_NPY_HEADER + (place + from) * size, piece, n * size,
                                  err) < 0)
            return -1;
    }
    return 0;
}

struct weir_timeline_sums weir_timeline_finish(struct weir_run *run)
{
    struct weir_records *r = &run->records;
    uint64_t v[3] = { r->n + r->dropped, 0, r->dropped };

    if (r->picks) {
        weir_picks_finish(r->picks);
        v[0] = r->picks->seen;
        v[2] = r->picks->dropped;
    } else {
        weir_records_sort(r);
    }
    v[1] = count_records(run);
    weir_allsum_u64(&run->par, v, 3);
    return (struct weir_timeline_sums) { v[0], v[1], v[2] };
}
