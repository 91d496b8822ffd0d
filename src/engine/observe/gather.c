/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - what every rank has, on rank 0: lines and the operations of a phase */
#include "engine/observe/gather.h"

#include <stdio.h>
#include <string.h>

#include "base/text/wholefile.h"
#include "par/agree.h"
#include "par/reduce.h"

#define PIECE 256 /* records on their way, on the stack */

/* ---- lines ---- */

static void show_lines(void *report, const char *bytes, size_t len)
{
    weir_report_line(report, "%.*s", (int)len - 1, bytes); /* without the last newline */
}

void weir_ranks_lines(struct weir_run *run, const struct weir_str *mine)
{
    run->report.lost |= weir_pieces(&run->par, mine, show_lines, &run->report) < 0;
}

static void put_lines(void *file, const char *bytes, size_t len)
{
    if (file)
        fwrite(bytes, 1, len, file);
}

int weir_ranks_rows(struct weir_run *run, const struct weir_str *mine, struct weir_err *err)
{
    const char *path = run->test->plan.options->rank_csv;
    FILE *f = NULL;
    int rc = 0;

    if (!path)
        return 0;
    if (run->par.rank == 0 && !(f = weir_open_now(path, "a")))
        rc = weir_fail(err, WEIR_ESETUP, "open '%s' for the results of the ranks", path);
    if (weir_pieces(&run->par, mine, put_lines, f) < 0 && rc == 0)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the rows of the ranks in '%s'", path);
    if (!weir_close_written(f) && rc == 0)
        rc = weir_fail(err, WEIR_ESETUP, "write the results of the ranks to '%s'", path);
    return weir_agree(&run->par, rc, err);
}

/* ---- from all ranks ---- */

/* The records of another rank reach rank 0, chunk by chunk. */
static void fetch(struct weir_run *run, int from, uint64_t origin_ns, weir_records_fn *each,
                  void *arg)
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
                         weir_records_fn *each, void *arg)
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
