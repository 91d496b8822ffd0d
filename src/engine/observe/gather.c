/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - what every rank has, on rank 0: numbers, lines and the operations of a phase */
#include "config.h"
#include "engine/observe/gather.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/wholefile.h"
#include "par/agree.h"
#include "par/reduce.h"

#define PIECE 256 /* records on their way, on the stack */

/* ---- numbers and lines ---- */

int weir_rank_lines_put(const char *path, bool fresh, const struct weir_str *lines,
                        struct weir_err *err)
{
    FILE *f = weir_open_now(path, fresh ? "w" : "a");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open '%s' for the ranks", path);
    bad = fputs(weir_str_text(lines), f) == EOF;
    if (fclose(f) != 0 || bad || lines->failed)
        return weir_fail(err, WEIR_ESETUP, "write the ranks to '%s'", path);
    return 0;
}

int weir_ranks_gather(struct weir_run *run, const void *mine, size_t size, void **all,
                      struct weir_err *err)
{
    int rc = 0;

    *all = NULL;
    if (run->par.rank == 0 && !(*all = malloc(size * (size_t)run->par.size)))
        rc = weir_fail(err, WEIR_ESETUP, "memory for the times of %d ranks", run->par.size);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_gather(&run->par, mine, size, *all);
    return 0;
}

void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine)
{
    uint64_t total = mine->len;
    char *all = NULL;
    int64_t got[2]; /* room for the lines; lines are missing */
    int n;

    weir_allsum_u64(&run->par, &total, 1);
    if (run->par.rank == 0 && total < INT_MAX)
        all = malloc(total + 1);
    got[0] = all ? (int64_t)total : 0; /* nobody reads 2 GiB of them */
    got[1] = mine->failed || (run->par.rank == 0 && total < INT_MAX && !all);
    weir_allmax_i64(&run->par, got, 2);
    run->report.lost |= got[1] != 0;
    n = weir_collect(&run->par, weir_str_text(mine), (int)mine->len, 1, (int)got[0], all);
    if (n > 0) {
        all[n - 1] = '\0'; /* in place of the last newline */
        weir_report_line(&run->report, "%s", all);
    }
    free(all);
}

int weir_ranks_rows(struct weir_run *run, const void *mine, size_t size,
                    void (*add)(const struct weir_run *run, const void *arg, const void *all,
                                struct weir_str *lines),
                    const void *arg, struct weir_err *err)
{
    const char *path = run->test->plan.options->rank_csv;
    struct weir_str lines = { 0 };
    void *all;
    int rc = 0;

    if (!path)
        return 0;
    if (weir_ranks_gather(run, mine, size, &all, err) < 0)
        return -1;
    if (all) {
        add(run, arg, all, &lines);
        rc = weir_rank_lines_put(path, false, &lines, err);
    }
    weir_str_free(&lines);
    free(all);
    return weir_agree(&run->par, rc, err);
}

/* ---- from all ranks ---- */

/* The records of another rank reach rank 0, chunk by chunk. */
static void
fetch(struct weir_run *run, int from, uint64_t origin_ns,
      void (*each)(void *arg, const struct weir_record *r, size_t n, uint64_t origin_ns), void *arg)
{
    struct weir_record piece[PIECE];
    uint64_t head[2] = { run->records.n, origin_ns };

    weir_fetch_bytes(&run->par, head, sizeof(head), from);
    for (uint64_t at = 0; at < head[0]; at += PIECE) {
        size_t n = head[0] - at < PIECE ? (size_t)(head[0] - at) : PIECE;

        if (run->par.rank == from)
            memcpy(piece, run->records.rec + at, n * sizeof(*piece));
        weir_fetch_bytes(&run->par, piece, n * sizeof(*piece), from);
        if (run->par.rank == 0)
            each(arg, piece, n, head[1]);
    }
}

void weir_records_gather(struct weir_run *run, const struct weir_phase_rec *rec, bool all,
                         void (*each)(void *arg, const struct weir_record *r, size_t n,
                                      uint64_t origin_ns),
                         void *arg)
{
    uint64_t origin_ns = rec->mark[WEIR_MARK_WORK];

    if (run->par.rank == 0)
        each(arg, run->records.rec, run->records.n, origin_ns);
    for (int k = 1; all && k < run->par.size; k++)
        if (run->par.rank == 0 || run->par.rank == k)
            fetch(run, k, origin_ns, each, arg);
}

int64_t weir_records_time(const struct weir_run *run, uint64_t local_ns)
{
    return weir_clock_common(&run->clock, local_ns) - run->records.zero_ns;
}
