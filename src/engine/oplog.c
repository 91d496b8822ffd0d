/* SPDX-License-Identifier: BSD-3-Clause */
/* oplog.c - every operation of a phase */
#include "config.h"
#include "engine/oplog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

int weir_oplog_reserve(struct weir_oplog *log, uint64_t steps, struct weir_err *err)
{
    size_t cap = steps < WEIR_OPLOG_MOST ? (size_t)steps : WEIR_OPLOG_MOST;
    void *room;

    log->n = 0;
    log->dropped = 0;
    if (cap <= log->cap && log->rec)
        return 0;
    weir_oplog_free(log);
    if (cap == 0)
        return 0;
    if (weir_mem_aligned(&room, 64, cap * sizeof(*log->rec), err) < 0)
        return -1;
    log->rec = room;
    log->cap = cap;
    return 0;
}

void weir_oplog_free(struct weir_oplog *log)
{
    free(log->rec);
    memset(log, 0, sizeof(*log));
}

static void print_record(FILE *f, const struct weir_oprec *r, const struct weir_oplog_where *w)
{
    uint64_t ns = r->end_ns - r->begin_ns;
    double seconds = (double)(ns ? ns : 1) / WEIR_NS_PER_S;

    fprintf(f, "%.8e,%.8e,%e,%s,%d,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            ((double)r->begin_ns - (double)w->origin_ns) / WEIR_NS_PER_S, seconds,
            (double)r->len / seconds, w->access, w->test, w->repetition, w->rank, r->off, r->len,
            r->begin_ns - w->origin_ns, ns);
}

int weir_oplog_write(const struct weir_oplog *log, const char *path, bool fresh,
                     const struct weir_oplog_where *where, struct weir_err *err)
{
    FILE *f = fopen(path, fresh ? "w" : "a");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the operations", path);
    if (fresh)
        fputs("time,runtime,tp,access,test,iter,rank,offset,bytes,begin_ns,ns\n", f);
    for (size_t i = 0; i < log->n; i++)
        print_record(f, &log->rec[i], where);
    bad = ferror(f) != 0;
    if (fclose(f) != 0 || bad)
        return weir_fail(err, WEIR_ESETUP, "write the operations to '%s'", path);
    return 0;
}
