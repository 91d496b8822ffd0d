/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - every operation of a phase */
#include "config.h"
#include "engine/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int weir_records_begin(struct weir_records *r, int kinds, int calls, struct weir_err *err)
{
    r->hist = calloc((size_t)(2 * kinds + calls + 3), sizeof(*r->hist));
    if (!r->hist)
        return weir_fail(err, WEIR_ESETUP, "memory for the latencies of %d operations", kinds);
    return 0;
}

/* The phase forgets what was there; memory is kept for the next one. */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < r->limit ? (size_t)steps : (size_t)r->limit;
    void *room;

    r->n = r->cap = 0;
    r->dropped = 0;
    r->kept = r->wanted || r->intervals || r->picks || r->mixed;
    if (r->picks && weir_picks_reserve(r->picks, steps, err) < 0)
        return -1;
    if (!r->wanted || cap == 0)
        return 0;
    if (cap > r->taken) {
        free(r->rec);
        r->rec = NULL;
        r->taken = 0;
        if (weir_mem_aligned(&room, 64, cap * sizeof(*r->rec), err) < 0)
            return weir_err_within(err, "records of %zu operations", cap);
        r->rec = room;
        r->taken = cap;
    }
    r->cap = cap;
    return 0;
}

void weir_records_free(struct weir_records *r)
{
    free(r->hist);
    free(r->rec);
    *r = (struct weir_records) { .zero_ns = r->zero_ns };
}

void weir_records_put(struct weir_records *r, const struct weir_record *one)
{
    if (r->n < r->cap)
        r->rec[r->n++] = *one;
    else if (r->wanted)
        r->dropped++;
    if (r->intervals && one->error == 0)
        weir_intervals_add(r->intervals, one->op, one->begin_ns, one->end_ns, one->len,
                           r->late_ns);
    if (r->picks)
        weir_picks_put(r->picks, one);
}

void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err)
{
    weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, 0, (uint16_t)op,
                                                err->sys ? err->sys : EIO });
}

static bool is_before(const struct weir_record *a, const struct weir_record *b)
{
    return a->begin_ns < b->begin_ns;
}

/* Records come in the order of their ends. Only those of a queue are not in the order of their
 * begin, and these nearly: each goes back to its place, without more memory. */
void weir_records_sort(struct weir_records *r)
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
