/* SPDX-License-Identifier: BSD-3-Clause */
/* rankcsv.c - files about single ranks */
#include "config.h"
#include "engine/rankcsv.h"

#include <inttypes.h>
#include <stdio.h>

int weir_rankcsv_put(const char *path, bool fresh, const struct weir_str *lines,
                     struct weir_err *err)
{
    FILE *f = fopen(path, fresh ? "w" : "a");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the ranks", path);
    bad = fputs(weir_str_text(lines), f) == EOF;
    if (fclose(f) != 0 || bad || lines->failed)
        return weir_fail(err, WEIR_ESETUP, "write the ranks to '%s'", path);
    return 0;
}

int weir_rankcsv_begin_operations(const char *path, struct weir_err *err)
{
    const struct weir_oplog none = { 0 };
    const struct weir_oplog_where where = { .access = "" };

    return weir_oplog_write(&none, path, true, &where, err);
}

int weir_rankcsv_operations(const struct weir_run *run, const struct weir_phase_rec *rec, int test,
                            const char *path, struct weir_err *err)
{
    const struct weir_oplog_where where = { .access = rec->phase->key,
                                            .test = test,
                                            .repetition = rec->repetition,
                                            .rank = run->par.rank,
                                            .origin_ns = rec->mark[WEIR_MARK_WORK] };

    if (weir_oplog_write(&run->oplog, path, false, &where, err) < 0)
        return -1;
    if (run->oplog.dropped == 0)
        return 0;
    return weir_warn(&run->log, err,
                     "savePerOpDataCSV keeps %u operations of a phase; %" PRIu64
                     " more are not in the file",
                     WEIR_OPLOG_MOST, run->oplog.dropped);
}
