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

int weir_rankcsv_operations(struct weir_run *run, const struct weir_phase_rec *rec, int test,
                            const char *path, struct weir_err *err)
{
    const struct weir_oplog_where where = { .access = rec->phase->key,
                                            .test = test,
                                            .repetition = rec->repetition,
                                            .rank = run->par.rank,
                                            .origin_ns = rec->mark[WEIR_MARK_WORK] };

    uint64_t all[2] = { run->oplog.n, run->oplog.dropped };
    int rc = weir_oplog_write(&run->oplog, path, false, &where, err);

    weir_allsum_u64(&run->par, all, 2);
    if (rc < 0 || all[1] == 0)
        return rc;
    return weir_warn(&run->log, err,
                     "savePerOpDataCSV has no room for all operations of the %s phase: %" PRIu64
                     " are in the files, %" PRIu64 " are not",
                     rec->phase->key, all[0], all[1]);
}
