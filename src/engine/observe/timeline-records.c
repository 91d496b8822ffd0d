/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-records.c - the file of a timeline */
#include "engine/observe/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/observe/gather.h"
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

/* ---- the records of a phase ---- */

/* The operations of this rank that are records of the phase. */
static size_t count_records(const struct weir_run *run)
{
    return run->records.sampled ? run->records.sampled->n : run->records.n;
}

static void encode(const struct weir_run *run, const struct weir_phase_rec *rec, int phase,
                   size_t from, size_t n, unsigned char *out, size_t size)
{
    const struct weir_sampled *p = run->records.sampled;

    for (size_t i = 0; i < n; i++) {
        const struct weir_record *r = p ? &p->ops[from + i].op : &run->records.rec[from + i];
        struct weir_npy_record one = { .begin = weir_records_time(run, r->begin_ns),
                                       .end = weir_records_time(run, r->end_ns),
                                       .offset = (int64_t)r->off,
                                       .bytes = (int64_t)r->len,
                                       .rank = (uint32_t)run->par.rank,
                                       .repetition = (uint32_t)rec->repetition,
                                       .phase = (uint16_t)phase,
                                       .operation = r->op,
                                       .error = r->error,
                                       .number = p ? p->ops[from + i].number : 0,
                                       .chosen = p ? p->ops[from + i].why : 0 };

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

static bool is_before(const struct weir_record *a, const struct weir_record *b)
{
    return a->begin_ns < b->begin_ns;
}

/* Sort by the begin. Records come in the order of their ends. Only those of a queue are not in the order of their
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

struct weir_timeline_sums weir_timeline_finish(struct weir_run *run)
{
    struct weir_records *r = &run->records;
    uint64_t v[3] = { r->n + r->dropped, 0, r->dropped };

    if (r->sampled) {
        weir_sampled_finish(r->sampled);
        v[0] = r->sampled->seen;
        v[2] = r->sampled->dropped;
    } else {
        sort_records(r);
    }
    v[1] = count_records(run);
    weir_allsum_u64(&run->par, v, 3);
    return (struct weir_timeline_sums) { v[0], v[1], v[2] };
}
