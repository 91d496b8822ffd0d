/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-data.h - what stands in the objects: the same bytes as in the files of mdtest (mdtest.md
 * 3.6) */
#ifndef WEIR_DRIVERS_MDW_DATA_H
#define WEIR_DRIVERS_MDW_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pattern.h"

struct mdw_data {
    enum weir_packet packet;
    int64_t seed; /* -G, sign extended */
};

/* Is the content of each file of a task different? */
bool mdw_data_varies(const struct mdw_data *d, size_t len);

/* The content of every file of a task that does not vary; the part of the others that does not.
 * buf is 8-byte aligned. */
void mdw_data_base(const struct mdw_data *d, int rank, void *buf, size_t len);

/* The rest of the content of one file, on a buffer with the base of that task. */
void mdw_data_file(const struct mdw_data *d, int rank, uint64_t item, void *buf, size_t len);

#endif
