/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-board.c - numbers that ranks show each other while each goes its own way: a rolling maximum */
#include "config.h"
#include "programs/weir-mix/mix-board.h"

#include <stdlib.h>
#include <string.h>

int mix_board_begin(struct mix_board *w, const struct weir_par *par, int n, struct weir_err *err)
{
    size_t each = (size_t)n + 1; /* the last one: does a rank work? */

    *w = (struct mix_board) { .par = par, .n = n, .request = MPI_REQUEST_NULL };
    w->mine = calloc(4 * each, sizeof(*w->mine));
    if (!w->mine)
        return weir_fail(err, WEIR_ESETUP, "memory for %d numbers that ranks show each other", n);
    w->all = w->mine + each;
    w->sent = w->all + each;
    w->got = w->sent + each;
    return 0;
}

void mix_board_free(struct mix_board *w)
{
    free(w->mine);
    w->mine = w->all = w->sent = w->got = NULL;
}

bool mix_board_tick(struct mix_board *w, bool working)
{
    int complete = 0;

    if (w->over)
        return false;
    if (!w->pending) {
        w->mine[w->n] = working;
        memcpy(w->sent, w->mine, sizeof(*w->mine) * ((size_t)w->n + 1));
        weir_mpi_must(w->par,
                      MPI_Iallreduce(w->sent, w->got, w->n + 1, MPI_INT64_T, MPI_MAX,
                                     w->par->watch_comm, &w->request),
                      "MPI_Iallreduce");
        w->pending = true;
    }
    weir_mpi_must(w->par, MPI_Test(&w->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (!complete)
        return false;
    w->pending = false;
    memcpy(w->all, w->got, sizeof(*w->all) * ((size_t)w->n + 1));
    w->over = w->all[w->n] == 0;
    return true;
}
