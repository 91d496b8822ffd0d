/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.h - one number from another rank, whoever asks whom */
#ifndef WEIR_PAR_FETCH_H
#define WEIR_PAR_FETCH_H

#include "par/comm.h"

/* The 'mine' of rank 'whom', for any choice of whom on each rank: a one-sided read, constant
 * memory. Collective. */
uint64_t weir_fetch_u64(const struct weir_par *par, uint64_t mine, int whom);

#endif
