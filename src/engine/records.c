/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - every operation of a phase */
#include "config.h"
#include "engine/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The phase forgets what was there; memory is kept for the next one. */
int weir_records_reserve(struct weir_records *r, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < r->limit ? (size_t)steps : (size_t)r->limit;
    void *room;

    r->n = r->cap = 0;
    r->dropped = 0;
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
    free(r->rec);
    weir_intervals_free(&r->intervals);
    memset(r, 0, sizeof(*r));
}

void weir_records_add_failed(struct weir_records *r, int op, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t off, const struct weir_err *err)
{
    weir_records_put(r, &(struct weir_record) { begin_ns, end_ns, off, 0, (uint16_t)op,
                                                err->sys ? err->sys : EIO });
}
