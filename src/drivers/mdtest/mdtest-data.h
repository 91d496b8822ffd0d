/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-data.h - what stands in the files (mdtest.md 3.6) */
#ifndef WEIR_DRIVERS_MDTEST_DATA_H
#define WEIR_DRIVERS_MDTEST_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pattern.h"

struct mdtest_data {
    enum weir_packet packet;
    int64_t seed; /* -G, sign extended */
};

/* Is the content of each file of a task different? */
bool mdtest_data_varies(const struct mdtest_data *d, size_t len);

/* The content of every file of a task that does not vary; the part of the others that does not.
 * buf is 8-byte aligned. */
void mdtest_data_base(const struct mdtest_data *d, int rank, void *buf, size_t len);

/* The rest of the content of one file, on a buffer with the base of that task. */
void mdtest_data_file(const struct mdtest_data *d, int rank, uint64_t item, void *buf, size_t len);

#endif
