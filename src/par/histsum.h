/* SPDX-License-Identifier: BSD-3-Clause */
/* histsum.h - histograms of all ranks as one */
#ifndef WEIR_PAR_HISTSUM_H
#define WEIR_PAR_HISTSUM_H

#include "base/hist.h"
#include "par/comm.h"

/* Sum every rank's histogram into rank 0's own; the others keep theirs. Collective over par->comm:
 * two reductions. */
void weir_hist_sum(const struct weir_par *par, struct weir_hist *h);

#endif
