/* SPDX-License-Identifier: BSD-3-Clause */
/* histsum.c - histograms of all ranks as one */
#include "config.h"
#include "par/histsum.h"

void weir_hist_sum(const struct weir_par *par, struct weir_hist *h)
{
    int64_t ends[2] = { h->n ? -(int64_t)h->min_ns : INT64_MIN, (int64_t)h->max_ns };
    uint64_t sums[2] = { h->n, h->sum_ns };

    weir_allmax_i64(par, ends, 2);
    weir_sum_u64(par, sums, 2);
    weir_sum_u64(par, h->bin, WEIR_HIST_BINS);
    if (par->rank != 0)
        return;
    h->n = sums[0];
    h->sum_ns = sums[1];
    h->min_ns = h->n ? (uint64_t)-ends[0] : 0;
    h->max_ns = (uint64_t)ends[1];
}
