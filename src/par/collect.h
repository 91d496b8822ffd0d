/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.h - the first few things that ranks have to say, in rank order */
#ifndef WEIR_PAR_COLLECT_H
#define WEIR_PAR_COLLECT_H

#include "base/err.h"
#include "par/comm.h"

/* Every rank has n items of 'size' bytes. Bring the first 'most' of them, in rank order, to rank
 * 0: out has room for most*size bytes there (ignored elsewhere). Returns their number on rank 0, 0
 * elsewhere, and -1 without memory for an int a rank. Collective over par->comm. */
int weir_collect(const struct weir_par *par, const void *mine, int n, size_t size, int most,
                 void *out);

#endif
